//! Folders: runs, studies, ratings, learning curves, shards, checkpoints, exports.

use std::fs;
use std::path::Path;

use anyhow::{Context, bail};
use latrunculi_data::ShardSummary;
use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_eval::learning::{LearningRun, Round};
use latrunculi_eval::study::saved_study;
use latrunculi_train::files::read_text;
use latrunculi_train::folders::{FolderKind, RATING, SUMMARY};
use latrunculi_train::{curves, rulesets, run_dir};
use serde_json::{Value, json};

use super::report::Report;
use super::tensors::{self, CHECKPOINT, SHARD};
use super::texts::{TEXT_BYTES_MAX, read_json, study};
use crate::quoted;
use crate::train::command_to_resume;

pub(super) fn inspect(path: &Path) -> anyhow::Result<Report> {
    match FolderKind::of(path) {
        Some(FolderKind::Run) => return run(path),
        Some(FolderKind::Study) if path.join(SUMMARY).is_file() => return study(&path.join(SUMMARY)),
        Some(FolderKind::Study) => return study_under_way(path),
        Some(FolderKind::Rating) => return super::texts::json(&path.join(RATING)),
        Some(FolderKind::Curves) => {
            let mut report = Report::new("learning curves", path);
            let matches = read_text(&path.join(curves::TABLE), TEXT_BYTES_MAX)?.lines().count().saturating_sub(1);
            report.add("matches", matches);
            report.add("pages", json!(files(path, &["html", "csv"])?));
            return Ok(report);
        }
        None => {}
    }
    let found = files(path, &["onnx", "pt", "safetensors", "npz"])?;
    if found.is_empty() {
        bail!(
            "{} is none of our folders: a run has config.toml and rulesets/, a study study.json, a rating rating.json, \
             learning curves learning.csv; folders of shards, checkpoints, models and exports have .npz, .safetensors, \
             .onnx or .pt files",
            path.display()
        );
    }
    networks(path, &found)
}

/// Inspects a folder of shards, checkpoints, models or exports.
fn networks(path: &Path, found: &serde_json::Map<String, Value>) -> anyhow::Result<Report> {
    let kinds: Vec<Result<String, String>> =
        found.keys().map(|name| tensors::kind(&path.join(name)).map_err(|error| format!("{error:#}"))).collect();
    let are_all = |wanted: &str| kinds.iter().all(|kind| kind.as_ref().is_ok_and(|kind| kind == wanted));
    let kind = if are_all(SHARD) {
        "folder of shards"
    } else if are_all(CHECKPOINT) {
        "folder of checkpoints"
    } else {
        "folder of models or exports"
    };
    let mut report = Report::new(kind, path);
    if are_all(SHARD) {
        let summaries =
            found.keys().map(|name| ShardSummary::read(&path.join(name))).collect::<Result<Vec<ShardSummary>, _>>()?;
        let mut rulesets: Vec<&str> = summaries.iter().map(|summary| summary.ruleset.as_str()).collect();
        rulesets.sort_unstable();
        rulesets.dedup();
        report.add("ruleset", rulesets.join(", "));
        report.add("shards", summaries.len());
        report.add("samples", summaries.iter().map(|summary| summary.samples).sum::<u64>());
    }
    let told: serde_json::Map<String, Value> = found
        .iter()
        .zip(&kinds)
        .map(|((name, size), kind)| {
            let kind = kind.as_ref().unwrap_or_else(|fault| fault);
            (name.clone(), json!(format!("{}, {kind}", size.as_str().unwrap_or_default())))
        })
        .collect();
    report.add("files", told);
    Ok(report)
}

/// Inspects a study that has been killed before it had summed up anything.
fn study_under_way(path: &Path) -> anyhow::Result<Report> {
    let (settings, rulesets) = saved_study(path)?;
    let mut report = Report::new("study", path);
    report.add("is_complete", false);
    report.add("agents", settings.agents);
    report.add("rulesets", rulesets.len());
    report.add("not_finished", format!("`latrunculi balance --resume {}` goes on", quoted(path)));
    Ok(report)
}

/// Returns names and sizes of the files in a folder that end in one of these, by name.
fn files(folder: &Path, extensions: &[&str]) -> anyhow::Result<serde_json::Map<String, Value>> {
    let mut found = Vec::new();
    let entries = fs::read_dir(folder).with_context(|| format!("cannot look into {}", folder.display()))?;
    for entry in entries {
        let path = entry.with_context(|| format!("cannot look into {}", folder.display()))?.path();
        let is_wanted =
            path.extension().and_then(|extension| extension.to_str()).is_some_and(|found| extensions.contains(&found));
        if is_wanted && let (Some(name), Ok(about)) = (path.file_name(), fs::metadata(&path)) {
            found.push((name.to_string_lossy().into_owned(), json!(format!("{} bytes", about.len()))));
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found.into_iter().collect())
}

fn run(root: &Path) -> anyhow::Result<Report> {
    let mut report = Report::new("run", root);
    let mut fingerprints = serde_json::Map::new();
    for path in run_dir::ruleset_paths(root) {
        let rules = rulesets::load(&path.to_string_lossy())?;
        let ruleset = rules.ruleset();
        fingerprints.insert(ruleset.id.clone(), json!(ruleset_fingerprint(ruleset)));
    }
    report.add("rulesets", fingerprints);
    let provenance = root.join(run_dir::PROVENANCE);
    if provenance.is_file() {
        let provenance = read_json(&provenance)?;
        report.add_those_of(&provenance, &["version", "commit", "seed", "device"]);
    }
    let count = |folder: &str, extension| files(&root.join(folder), &[extension]).map_or(0, |files| files.len());
    report.add("shards", count("shards", "npz"));
    report.add("checkpoints", count("checkpoints", "safetensors"));
    match newest_checkpoint(root) {
        Ok(Some(name)) => report.add("latest", name),
        Ok(None) => {}
        Err(fault) => report.add("warning", format!("{fault:#}")),
    }
    let curve = curves::read(root)?;
    if root.join(run_dir::METRICS).is_file() {
        add_course(&mut report, root, &curve);
    }
    let measured = curve.measured();
    if !measured.is_empty() {
        let place = |ruleset: &str| if curve.rulesets.len() > 1 { format!("{ruleset}, ") } else { String::new() };
        let told = measured
            .iter()
            .map(|found| format!("{}minute {:.1}: {}", place(&found.ruleset), found.minutes, found.verdict));
        report.add("strength", told.collect::<Vec<_>>());
    }
    let result = root.join(run_dir::RESULT);
    if result.is_file() {
        report.add_data("result", json!(curve.result));
    } else {
        report.add("not_finished", format!("continue with: {}", command_to_resume(root)));
    }
    Ok(report)
}

/// Returns the name of the newest whole checkpoint, if there is one.
///
/// # Errors
/// When another file or none at all is named so.
pub(super) fn newest_checkpoint(root: &Path) -> anyhow::Result<Option<String>> {
    let Some(path) = run_dir::latest(root)? else { return Ok(None) };
    if !path.is_file() {
        bail!(
            "{}: it names {}, which is not there; write the name of the newest file of checkpoints/ into it",
            root.join(run_dir::LATEST).display(),
            path.display()
        );
    }
    Ok(path.file_name().map(|name| name.to_string_lossy().into_owned()))
}

/// Adds how far a run has come.
fn add_course(report: &mut Report, root: &Path, run: &LearningRun) {
    // The round after the last generation only trains.
    report.add("generations", run.played().count());
    if let Some(last) = run.rounds.last() {
        report.add_those_of(&json!(last), &["samples_total", "steps_total", "losses"]);
    }
    if let Some(all) = run.played().last().and_then(Round::all_games) {
        report.add_known("draw_rate", all.draw_rate);
        report.add_known("first_player_score", all.first_player_score);
    }
    if let Some(round) = run.rounds.iter().rfind(|round| !round.verdicts.is_empty()) {
        report.add_data("verdicts", json!(round.verdicts));
    }
    if run.is_cut {
        let path = root.join(run_dir::METRICS);
        report.add("warning", format!("{}: its last line is cut off; it does not count", path.display()));
    }
}

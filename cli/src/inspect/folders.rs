//! Folders: runs, studies, ratings, learning curves, shards, checkpoints, exports.

use std::fs;
use std::path::Path;

use anyhow::{Context, bail};
use latrunculi_data::ShardSummary;
use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_eval::study::saved_study;
use latrunculi_train::files::read_text;
use latrunculi_train::rulesets;
use latrunculi_train::{curves, run_dir};
use serde_json::{Value, json};

use super::report::Report;
use super::tensors::{self, CHECKPOINT, SHARD};
use super::texts::{TEXT_BYTES_MAX, read_json, study};
use crate::quoted;
use crate::train::command_to_resume;

/// Inspects a folder by what lies in it.
pub(super) fn inspect(path: &Path) -> anyhow::Result<Report> {
    if path.join(run_dir::CONFIG).is_file() && !run_dir::ruleset_paths(path).is_empty() {
        return run(path);
    }
    let summary = path.join("summary.json");
    if summary.is_file() {
        return study(&summary);
    }
    if path.join("study.json").is_file() {
        return study_under_way(path);
    }
    let rating = path.join("rating.json");
    if rating.is_file() {
        return super::texts::json(&rating);
    }
    let table = path.join(curves::TABLE);
    if table.is_file() {
        let mut report = Report::new("learning curves", path);
        report.add("matches", read_text(&table, TEXT_BYTES_MAX)?.lines().count().saturating_sub(1));
        report.add("pages", json!(files(path, &["html", "csv"])?));
        return Ok(report);
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
        for name in ["version", "commit", "seed", "device"] {
            report.add_known(name, provenance.get(name).filter(|value| !value.is_null()).cloned());
        }
    }
    let count = |folder: &str, extension| files(&root.join(folder), &[extension]).map_or(0, |files| files.len());
    report.add("shards", count("shards", "npz"));
    report.add("checkpoints", count("checkpoints", "safetensors"));
    match newest_checkpoint(root) {
        Ok(Some(name)) => report.add("latest", name),
        Ok(None) => {}
        Err(fault) => report.add("warning", format!("{fault:#}")),
    }
    let course = root.join(run_dir::METRICS);
    if course.is_file() {
        add_course(&mut report, &course)?;
    }
    let curve = curves::read(root)?;
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

/// Adds how far a run has come. A last line that a kill has left half written is no line.
fn add_course(report: &mut Report, path: &Path) -> anyhow::Result<()> {
    let text = read_text(path, TEXT_BYTES_MAX)?;
    let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
    let rounds: Vec<Value> = whole
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()
        .with_context(|| format!("{}: a line of it", path.display()))?;
    let mut add = |name, value: Option<&Value>| report.add_known(name, value.filter(|value| !value.is_null()).cloned());
    // The round after the last generation only trains.
    let played: Vec<&Value> = rounds.iter().filter(|round| round.get("games").is_some()).collect();
    add("generations", Some(&json!(played.len())));
    for name in ["samples_total", "steps_total", "losses"] {
        add(name, rounds.last().and_then(|round| round.get(name)));
    }
    for name in ["draw_rate", "first_player_score"] {
        add(name, played.last().and_then(|round| round.get(name)));
    }
    if let Some(verdicts) = rounds.iter().rev().find_map(|round| round.get("verdicts")) {
        report.add_data("verdicts", verdicts.clone());
    }
    if whole.len() < text.len() {
        report.add("warning", format!("{}: its last line is cut off; it does not count", path.display()));
    }
    Ok(())
}

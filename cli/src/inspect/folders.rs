//! Folders: runs, studies, exports.

use std::fs;
use std::path::Path;

use anyhow::{Context, bail};
use latrunculi_engine::record::ruleset_fingerprint;
use serde_json::{Value, json};

use super::records::add_metrics;
use super::report::Report;
use super::texts::{TEXT_BYTES_MAX, read_json, study};
use crate::curves;
use crate::rulesets_source::{self, read_text};
use crate::run_dir;

/// Inspects a folder by what lies in it.
pub(super) fn inspect(path: &Path) -> anyhow::Result<Report> {
    if path.join(run_dir::CONFIG).is_file() && path.join(run_dir::RULESET).is_file() {
        return run(path);
    }
    let summary = path.join("summary.json");
    if summary.is_file() {
        return study(&summary);
    }
    let rating = path.join("rating.json");
    if rating.is_file() {
        return super::texts::json(&rating);
    }
    let networks = files(path, &["onnx", "pt", "safetensors", "npz"])?;
    if networks.is_empty() {
        bail!(
            "{} is none of our folders: a run has config.toml and ruleset.toml, a study has summary.json, a rating rating.json, an export has \
             .onnx, .pt, .safetensors or .npz files",
            path.display()
        );
    }
    let mut report = Report::new("folder of models or exports", path);
    report.add("files", json!(networks));
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
    let rules = rulesets_source::load(&root.join(run_dir::RULESET).to_string_lossy())?;
    let mut report = Report::new("run", root);
    report.add("ruleset", rules.ruleset().id.clone());
    report.add("ruleset_fingerprint", ruleset_fingerprint(rules.ruleset()));
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
    if root.join(run_dir::LATEST).is_file() {
        report.add("latest", read_text(&root.join(run_dir::LATEST), TEXT_BYTES_MAX)?.trim());
    }
    let metrics = root.join(run_dir::METRICS);
    if metrics.is_file() {
        let text = read_text(&metrics, TEXT_BYTES_MAX)?;
        let lines: Vec<Value> = text
            .lines()
            .map(serde_json::from_str)
            .collect::<Result<_, _>>()
            .with_context(|| format!("{}: a line of it", metrics.display()))?;
        // The round after the last generation only trains.
        if let Some(last) = lines.iter().rev().find(|line| line.get("games").is_some()) {
            add_metrics(&mut report, last);
        }
    }
    let measured = curves::read(root)?.measured();
    if !measured.is_empty() {
        let told = measured.iter().map(|found| format!("minute {:.1}: {}", found.minutes, found.verdict));
        report.add("strength", told.collect::<Vec<_>>());
    }
    let result = root.join(run_dir::RESULT);
    if result.is_file() {
        report.add("result", read_json(&result)?["verdict"].clone());
    } else {
        report.add("not_finished", format!("`latrunculi train --resume {}` goes on", root.display()));
    }
    Ok(report)
}

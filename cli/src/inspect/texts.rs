//! Rulesets, configurations, descriptions, results.

use std::path::Path;

use anyhow::{Context, bail};
use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_eval::study::{StudySettings, StudySummary};
use serde_json::{Value, json};

use super::report::Report;
use crate::rulesets_source::{self, read_text};
use crate::train_config::TrainConfig;

/// Texts of ours are smaller.
pub(super) const TEXT_BYTES_MAX: u64 = 1 << 28;

/// Inspects a TOML file: a ruleset, the configuration of a training run, the settings of a study.
pub(super) fn toml(path: &Path) -> anyhow::Result<Report> {
    let text = read_text(path, TEXT_BYTES_MAX)?;
    let table: toml::Table =
        text.parse().map_err(|error: toml::de::Error| anyhow::anyhow!("{}: {error}", path.display()))?;
    if table.contains_key("selfplay") || table.contains_key("training") {
        let config: TrainConfig = toml::from_str(&text)
            .map_err(|error| anyhow::anyhow!("{}: not a training configuration: {error}", path.display()))?;
        let mut report = Report::new("training configuration", path);
        report.add("ruleset", config.ruleset);
        report.add("seed", config.seed);
        report.add("network", json!(config.network));
        report.add("budget", json!(config.budget));
        report.add("games", json!(config.games));
        report.add("selfplay", json!(config.selfplay));
        report.add("training", json!(config.training));
        return Ok(report);
    }
    if table.contains_key("rulesets") {
        let settings: StudySettings = toml::from_str(&text)
            .map_err(|error| anyhow::anyhow!("{}: not the settings of a study: {error}", path.display()))?;
        let mut report = Report::new("study settings", path);
        report.add("settings", json!(settings));
        return Ok(report);
    }
    let rules = rulesets_source::load(&path.to_string_lossy())?;
    let ruleset = rules.ruleset();
    let mut report = Report::new("ruleset", path);
    report.add("id", ruleset.id.clone());
    report.add("name", ruleset.name.clone());
    report.add("fingerprint", ruleset_fingerprint(ruleset));
    report.add("board", format!("{}x{}", rules.files(), rules.ranks()));
    Ok(report)
}

/// Inspects a JSON file: a description of an exported network, the summary of a study, the result or the
/// provenance of a run.
pub(super) fn json(path: &Path) -> anyhow::Result<Report> {
    let value = read_json(path)?;
    if value["format"] == "latrunculi network" {
        let mut report = Report::new("description of an exported network", path);
        describe(&mut report, &value);
        return Ok(report);
    }
    if value.get("rank_agreements").is_some() {
        return study(path);
    }
    let kind = if value.get("verdict").is_some() {
        "result of a run"
    } else if value.get("program").is_some() && value.get("seed").is_some() {
        "provenance of a run"
    } else {
        bail!(
            "{}: JSON, but nothing that this program writes: a description of an exported network, the summary of a \
             study, the result or provenance of a run",
            path.display()
        );
    };
    let mut report = Report::new(kind, path);
    report.add("content", value);
    Ok(report)
}

pub(super) fn read_json(path: &Path) -> anyhow::Result<Value> {
    let text = read_text(path, TEXT_BYTES_MAX)?;
    serde_json::from_str(&text).with_context(|| format!("{}: not JSON, or cut off", path.display()))
}

/// Adds what the description beside an exported network says.
pub(super) fn add_description(report: &mut Report, path: &Path) -> anyhow::Result<()> {
    report.add("described_in", path.display().to_string());
    describe(report, &read_json(path)?);
    Ok(())
}

fn describe(report: &mut Report, value: &Value) {
    report.add_known("format_version", value.get("format_version").cloned());
    report.add_known("ruleset", value["ruleset"]["name"].as_str());
    report.add_known("ruleset_fingerprint", value["ruleset"]["fingerprint"].as_str());
    report.add_known("training", value.get("training").cloned());
    report.add_known("network", value.get("network").cloned());
    let ports = |name: &str| -> Option<Value> {
        let list = value[name].as_array()?;
        let port = |port: &Value| (port["name"].as_str().unwrap_or_default().to_owned(), port["shape"].clone());
        Some(Value::Object(list.iter().map(port).collect()))
    };
    report.add_known("inputs", ports("inputs"));
    report.add_known("outputs", ports("outputs"));
}

/// Inspects the summary of a study.
pub(super) fn study(path: &Path) -> anyhow::Result<Report> {
    let summary: StudySummary = serde_json::from_value(read_json(path)?)
        .with_context(|| format!("{}: not the summary of a study of this version", path.display()))?;
    let mut report = Report::new("study", path);
    report.add("format_version", summary.format);
    report.add("program_version", summary.program_version);
    report.add("command", summary.command);
    report.add("is_complete", summary.is_complete);
    report.add("agents", summary.agents.iter().map(|agent| agent.agent.clone()).collect::<Vec<_>>());
    report.add("rulesets", summary.rulesets.len());
    if !summary.notes.is_empty() {
        report.add("notes", summary.notes);
    }
    Ok(report)
}

//! Rulesets, configurations, descriptions, results.

use std::path::Path;

use anyhow::{Context, bail, ensure};
use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_eval::Number;
use latrunculi_eval::study::{StudySettings, StudySummary};
use latrunculi_train::TrainConfig;
use latrunculi_train::events;
use latrunculi_train::files::read_text;
use latrunculi_train::{rulesets, run_dir};
use serde_json::{Value, json};

use super::report::Report;

pub(super) const TEXT_BYTES_MAX: u64 = 1 << 28;

/// Inspects a TOML file: a ruleset, the configuration of a training run, the settings of a study.
pub(super) fn toml(path: &Path) -> anyhow::Result<Report> {
    let text = read_text(path, TEXT_BYTES_MAX)?;
    let table: toml::Table =
        text.parse().map_err(|error: toml::de::Error| anyhow::anyhow!("{}: {error}", path.display()))?;
    if TrainConfig::is_meant(&table) {
        // The file of a run may be older than this program.
        let config = match path.file_name() {
            Some(name) if name == run_dir::CONFIG => TrainConfig::read_of_run(path, &[])?,
            _ => TrainConfig::read(&path.into(), &[])?,
        };
        let mut report = Report::new("training configuration", path);
        report.add("rulesets", config.rulesets.names().join(", "));
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
    let rules = rulesets::load(&path.to_string_lossy())?;
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
    if value.get("pairings").is_some() {
        return Ok(rating(path, &value));
    }
    if value.get("verdicts").is_some() {
        return Ok(result(path, &value));
    }
    if value.get("of").is_some() && value.get("matches").is_some() {
        let mut report = Report::new("final matches of a run that has not played all", path);
        report.add_known("matches", value.get("matches").cloned());
        return Ok(report);
    }
    let kind = if value.get("settings").is_some() && value.get("networks").is_some() {
        "plan of a study"
    } else if value.get("program").is_some() && value.get("seed").is_some() {
        "provenance of a run"
    } else {
        bail!(
            "{}: JSON, but nothing that this program writes: a description of an exported network, the plan or summary \
             of a study, a rating, the result or provenance of a run",
            path.display()
        );
    };
    let mut report = Report::new(kind, path);
    report.add("content", value);
    Ok(report)
}

/// Tells how a run ended: its final match, and how far it had come.
fn result(path: &Path, value: &Value) -> Report {
    let mut report = Report::new("result of a run", path);
    report.add_known("final_matches", value.get("verdicts").cloned());
    let state = &value["state"];
    report.add_those_of(state, &["generations", "games", "samples", "steps", "elapsed_secs", "precision"]);
    report
}

/// Tells a joint rating: who is how strong.
fn rating(path: &Path, value: &Value) -> Report {
    let mut report = Report::new("rating", path);
    report.add_those_of(value, &["ruleset", "ruleset_fingerprint", "seed", "opening_length", "games", "games_played"]);
    report.add_those_of(value, &["openings_distinct", "is_interrupted", "refused"]);
    let agents = value["table"]["agents"].as_array().into_iter().flatten();
    let told: serde_json::Map<String, Value> = agents
        .filter_map(|agent| {
            let elo = |value: &Value| value.as_f64().map(|elo| format!("{:+.1}", Number(elo)));
            let interval = &agent["elo"]["interval"];
            let [value, lower, upper] = [&agent["elo"]["value"], &interval["lower"], &interval["upper"]].map(elo);
            let told = format!("{} Elo [{}, {}]", value?, lower?, upper?);
            Some((agent["agent"].as_str()?.to_owned(), json!(told)))
        })
        .collect();
    report.add("agents", Value::Object(told));
    report
}

/// Inspects a table: its columns, and how many rows there are.
pub(super) fn csv(path: &Path) -> anyhow::Result<Report> {
    let text = read_text(path, TEXT_BYTES_MAX)?;
    let shown = path.display();
    let header = text.lines().next().unwrap_or_default();
    let kind = match header.split(',').next() {
        Some("ruleset") => "table of a study",
        Some("rank") => "table of a rating",
        Some("run") => "table of learning curves",
        _ => bail!(
            "{shown}: none of our tables: those of studies begin with ruleset, those of ratings with rank, learning \
             curves with run"
        ),
    };
    ensure!(text.ends_with('\n'), "{shown} is cut off: its last line has no end");
    let columns = fields(header);
    for (index, line) in text.lines().enumerate() {
        let found = fields(line);
        ensure!(found == columns, "{shown}, line {}: {found} fields under {columns} columns", index + 1);
    }
    let mut report = Report::new(kind, path);
    report.add("rows", text.lines().count() - 1);
    report.add("columns", header.split(',').collect::<Vec<_>>());
    Ok(report)
}

/// Counts the fields of a line; commas within quotation marks part none.
fn fields(line: &str) -> usize {
    let outside = line.split('"').step_by(2);
    outside.map(|part| part.matches(',').count()).sum::<usize>() + 1
}

/// Inspects a page for people: the report of a study or its picture, the card of a model.
pub(super) fn page(path: &Path) -> anyhow::Result<Report> {
    let text = read_text(path, TEXT_BYTES_MAX)?;
    let html = text.split_once("<title>").and_then(|(_, rest)| Some(rest.split_once("</title>")?.0));
    let title = html.or_else(|| text.lines().find_map(|line| line.strip_prefix("# ")));
    let title = title.with_context(|| format!("{} has no title: it is none of our pages", path.display()))?;
    let is_whole = html.is_none() || ["</html>", "</svg>"].iter().any(|end| text.trim_end().ends_with(end));
    ensure!(is_whole, "{} is cut off: it does not end as a page does", path.display());
    let mut report = Report::new("page for people", path);
    report.add("bytes", text.len());
    report.add("title", title);
    Ok(report)
}

pub(super) const TENSORBOARD: &str = "TensorBoard events";

/// Inspects a file of TensorBoard's: every event is read and its checksums compared.
pub(super) fn tensorboard(path: &Path) -> anyhow::Result<Report> {
    let count = events::count(path)?;
    let mut report = Report::new(TENSORBOARD, path);
    report.add("bytes", std::fs::metadata(path)?.len());
    // The first names the version.
    report.add("events", count.saturating_sub(1));
    report.add("verified", "every checksum is right");
    Ok(report)
}

pub(super) fn read_json(path: &Path) -> anyhow::Result<Value> {
    let text = read_text(path, TEXT_BYTES_MAX)?;
    serde_json::from_str(&text).with_context(|| format!("{}: not JSON, or cut off", path.display()))
}

/// Adds what the description of an exported network says.
pub(super) fn describe(report: &mut Report, value: &Value) {
    report.add_those_of(value, &["format_version"]);
    let ruleset = |ruleset: &Value| json!({ "name": ruleset["name"], "fingerprint": ruleset["fingerprint"] });
    report.add_known("rulesets", value["rulesets"].as_array().map(|all| all.iter().map(ruleset).collect::<Vec<_>>()));
    report.add_those_of(value, &["training", "network"]);
    let ports = |name: &str| -> Option<Value> {
        let list = value[name].as_array()?;
        let port = |port: &Value| (port["name"].as_str().unwrap_or_default().to_owned(), port["shape"].clone());
        Some(Value::Object(list.iter().map(port).collect()))
    };
    report.add_known("inputs", ports("inputs"));
    report.add_known("outputs", ports("outputs"));
}

pub(super) fn study(path: &Path) -> anyhow::Result<Report> {
    let text = read_text(path, TEXT_BYTES_MAX)?;
    let summary = StudySummary::from_json(&text).with_context(|| path.display().to_string())?;
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

//! Models, checkpoints, weights, shards, exported networks.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail};
use latrunculi_data::{
    ExportFormat, ModelInfo, ShardSummary, StoredCheckpoint, TensorFileHeader, TrainedRuleset, read_exported,
    read_shard, verify_check_data,
};
use latrunculi_engine::{Rules, RulesetFile};
use latrunculi_selfplay::states_from_bytes;
use latrunculi_train::model_card::measurement;
use latrunculi_train::models;
use serde_json::{Value, json};

use super::report::Report;
use super::texts::describe;

pub(super) const SHARD: &str = "shard";
pub(super) const CHECKPOINT: &str = "checkpoint";
const ONNX: &str = "ONNX network";
const TORCHSCRIPT: &str = "TorchScript network";

/// What `--verify` has found out.
const AS_THE_NETWORK_NEEDS: &str = "every number is finite and every tensor as the network needs it";
const PLAYS: &str = "every number is finite, every tensor as the network needs it, and it answers as play needs it";
const FINITE: &str = "every number is finite; the format has no checksum";
const CHECKSUMS: &str = "every checksum is right";

/// Inspects a safetensors file: a model, a checkpoint, weights for other programs.
pub(super) fn safetensors(path: &Path, verify: bool) -> anyhow::Result<Report> {
    let header = TensorFileHeader::read(path)?;
    let kind = kind_of_weights(&header);
    let mut report = Report::new(&kind, path);
    report.add("bytes", header.file_bytes);
    report.add("tensors", header.tensors.len());
    report.add("numbers", header.entry_count());
    let described = |key: &str| -> anyhow::Result<Option<Value>> {
        let Some(text) = header.metadata.get(key) else { return Ok(None) };
        serde_json::from_str(text).map(Some).with_context(|| {
            format!("{}: what it says of itself under {key:?} is unreadable; write the file anew", path.display())
        })
    };
    if !header.metadata.contains_key("description") {
        report.add_known("format_version", header.metadata.get("format_version").cloned());
    }
    report.add_known("network", described("network")?);
    report.add_known("shape", described("shape")?);
    if let Some(info) = described("info")? {
        add_model(&mut report, path, info)?;
    }
    report.add_known("counters", described("counters")?);
    report.add_known("training", described("training")?);
    if let Some(description) = described("description")? {
        describe(&mut report, &description);
    }
    if verify {
        let told = match kind.as_str() {
            "model" => models::verify(path).map(|()| PLAYS)?,
            CHECKPOINT => StoredCheckpoint::read(path).map(|_| AS_THE_NETWORK_NEEDS)?,
            "weights" => read_exported(ExportFormat::Safetensors, path, true).map(|_| FINITE)?,
            _ => bail!("{}: only files of this program can be verified", path.display()),
        };
        report.add("verified", told);
    }
    Ok(report)
}

fn kind_of_weights(header: &TensorFileHeader) -> String {
    match header.kind() {
        Some(kind) => kind.strip_prefix("latrunculi ").unwrap_or(kind).to_owned(),
        None if header.metadata.contains_key("description") => "exported weights".to_owned(),
        None => "weights of another program".to_owned(),
    }
}

/// Returns what a file of weights, samples or a network is, by its beginning alone.
///
/// # Errors
/// When that is damaged, or of none of these kinds.
pub(super) fn kind(path: &Path) -> anyhow::Result<String> {
    Ok(match path.extension().and_then(|extension| extension.to_str()) {
        Some("safetensors") => kind_of_weights(&TensorFileHeader::read(path)?),
        Some("onnx") => ONNX.to_owned(),
        Some("pt") => TORCHSCRIPT.to_owned(),
        _ => kind_of_archive(path, &array_names(path)?)?.to_owned(),
    })
}

/// Returns what an archive is that holds arrays of these names.
fn kind_of_archive(path: &Path, names: &[String]) -> anyhow::Result<&'static str> {
    let has = |name: &str| names.iter().any(|found| found == name);
    Ok(match (has("run_seed"), has("description"), has("planes")) {
        (true, _, _) => SHARD,
        (_, true, _) => "exported weights",
        (_, _, true) => "positions to check an exported network with",
        _ => bail!(
            "{}: an archive, but neither a shard nor exported weights; it holds {}",
            path.display(),
            names.join(", ")
        ),
    })
}

/// Adds what a model says of its ruleset, its making and its strength.
fn add_model(report: &mut Report, path: &Path, info: Value) -> anyhow::Result<()> {
    let info: ModelInfo = serde_json::from_value(info)
        .with_context(|| format!("{}: what it says of its making is unreadable", path.display()))?;
    let ruleset = |trained: &TrainedRuleset| json!({ "name": trained.name, "fingerprint": trained.fingerprint, "share": trained.share });
    report.add("rulesets", info.rulesets.iter().map(ruleset).collect::<Vec<_>>());
    report.add("steps", info.training.steps);
    report.add("positions", info.training.samples);
    let history = &info.history;
    report.add_known("games", history.games);
    report.add_known("generations", history.generations);
    report.add_known("seed", history.seed);
    report.add_known("program", history.program.clone());
    report.add_known("commit", history.commit.clone());
    if !history.strength.is_empty() {
        report.add("strength", history.strength.iter().map(measurement).collect::<Vec<_>>());
    }
    report.add_known("first_player", history.first_player.as_ref().map(measurement));
    report.add_data("measured", json!({ "strength": history.strength, "first_player": history.first_player }));
    if !info.notes.is_empty() {
        report.add("notes", json!(info.notes));
    }
    Ok(())
}

/// Inspects a numpy archive: a shard, or what export wrote.
pub(super) fn npz(path: &Path, verify: bool, named: Option<&Arc<Rules>>) -> anyhow::Result<Report> {
    let names = array_names(path)?;
    let kind = kind_of_archive(path, &names)?;
    if kind != SHARD {
        let mut report = Report::new(kind, path);
        report.add("bytes", std::fs::metadata(path)?.len());
        if names.iter().any(|name| name == "description") {
            describe(&mut report, &read_exported(ExportFormat::Npz, path, verify)?);
        } else if verify {
            verify_check_data(path)?;
        }
        report.add("arrays", names);
        if verify {
            report.add("verified", CHECKSUMS);
        }
        return Ok(report);
    }
    let summary = ShardSummary::read(path)?;
    let mut report = Report::new(SHARD, path);
    report.add("bytes", std::fs::metadata(path)?.len());
    report.add("ruleset", summary.ruleset.clone());
    report.add("ruleset_fingerprint", summary.fingerprint.clone());
    let [files, ranks, planes, scalars] = summary.shape;
    report.add("shape", json!({ "files": files, "ranks": ranks, "planes": planes, "scalars": scalars }));
    report.add("run_seed", summary.run_seed);
    report.add("generation", summary.generation);
    report.add("samples", summary.samples);
    report.add("actions_a_sample", rounded(summary.actions as f64 / summary.samples.max(1) as f64, 10.0));
    if verify {
        let own = || -> anyhow::Result<_> {
            let file = RulesetFile::parse(&summary.ruleset_text);
            Ok(Arc::new(file.with_context(|| format!("{}: the ruleset in it", path.display()))?.rules()))
        };
        let rules = named.cloned().map_or_else(own, Ok)?;
        let (_, samples) = read_shard(path, &rules)?;
        let games: std::collections::BTreeSet<_> = samples.games.iter().collect();
        report.add("games", games.len());
        let scores = samples.win_draw_loss.iter().map(|value| f64::from(value[0] + value[1] / 2.0));
        report.add("score_of_who_acts", rounded(scores.sum::<f64>() / samples.len().max(1) as f64, 1000.0));
        report.add("verified", "every number is finite and every array as the format has it");
    }
    Ok(report)
}

fn rounded(value: f64, parts: f64) -> f64 {
    (value * parts).round() / parts
}

/// Returns the names of the arrays in an archive, without reading them.
fn array_names(path: &Path) -> anyhow::Result<Vec<String>> {
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let archive = zip::ZipArchive::new(std::io::BufReader::new(file))
        .with_context(|| format!("{}: not an archive, or cut off; write it anew", path.display()))?;
    let mut names: Vec<String> =
        archive.file_names().map(|name| name.strip_suffix(".npy").unwrap_or(name).to_owned()).collect();
    names.sort();
    Ok(names)
}

/// Inspects the games in flight of a run.
pub(super) fn pools(path: &Path) -> anyhow::Result<Report> {
    let shown = || path.display().to_string();
    states_from_bytes(&std::fs::read(path).with_context(shown)?).with_context(shown)?;
    Ok(Report::new("games in flight", path))
}

/// Inspects an exported network, by the description that it holds.
pub(super) fn network(path: &Path, verify: bool) -> anyhow::Result<Report> {
    let is_onnx = path.extension().is_some_and(|extension| extension == "onnx");
    let (kind, format) = match is_onnx {
        true => (ONNX, ExportFormat::Onnx),
        false => (TORCHSCRIPT, ExportFormat::TorchScript),
    };
    let description = read_exported(format, path, verify)?;
    let mut report = Report::new(kind, path);
    report.add("bytes", std::fs::metadata(path)?.len());
    describe(&mut report, &description);
    if verify {
        report.add("verified", if is_onnx { FINITE } else { CHECKSUMS });
    }
    Ok(report)
}

//! `inspect`: what a file or folder of the program holds.
//!
//! A summary reads no more than it needs: of files of weights and shards only what stands before the
//! entries. `--verify` reads everything and checks it, of a folder every file; games that are not too many are played
//! over in any case, and what they are like is measured.

mod folders;
mod games;
mod records;
mod report;
mod tensors;
mod texts;
mod verify;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;

use report::Report;

/// How names of TensorBoard's files begin.
const EVENTS_NAME: &str = "events.out.tfevents";

#[derive(Args)]
pub(crate) struct InspectArgs {
    /// A run, study, rating or export folder, a folder of shards, checkpoints or learning curves, shard or weights
    /// (.npz), model, checkpoint or weights (.safetensors), game records, ledger or metrics (.jsonl), ruleset or
    /// configuration (.toml), description, result, rating or study (.json), table (.csv), network (.onnx, .pt),
    /// TensorBoard events
    path: PathBuf,
    /// Reads everything and checks it: every number of weights and samples, every action of games (files of games
    /// that are not large are checked in any case); of a folder every file in it
    #[arg(long)]
    verify: bool,
    /// The ruleset to verify a shard or games under, where it is not a shipped one
    #[arg(long)]
    ruleset: Option<String>,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: InspectArgs) -> anyhow::Result<()> {
    let report = inspect(&args.path, &args)?;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&report.to_json())?);
    } else {
        print!("{}", report.to_text());
    }
    Ok(())
}

fn inspect(path: &Path, args: &InspectArgs) -> anyhow::Result<Report> {
    let shown = path.display();
    let about = std::fs::metadata(path).with_context(|| format!("cannot look at {shown}"))?;
    if about.is_dir() {
        let mut report = folders::inspect(path)?;
        if args.verify {
            verify::add(&mut report, path, args.ruleset.as_deref())?;
        }
        else_not_verified(&mut report, args.verify);
        return Ok(report);
    }
    if !about.is_file() {
        bail!("{shown} is neither a file nor a folder");
    }
    let (verify, ruleset) = (args.verify, args.ruleset.as_deref());
    if is_tensorboard(path) {
        return texts::tensorboard(path);
    }
    match path.extension().and_then(|extension| extension.to_str()) {
        Some(extension @ ("safetensors" | "npz" | "onnx" | "pt")) => {
            let mut report = match extension {
                "safetensors" => tensors::safetensors(path, verify),
                "npz" => tensors::npz(path, verify, ruleset),
                _ => tensors::network(path, verify),
            }?;
            else_not_verified(&mut report, verify);
            Ok(report)
        }
        Some("jsonl") => records::inspect(path, verify, ruleset),
        Some("toml") => texts::toml(path),
        Some("json") => texts::json(path),
        Some("csv") => texts::csv(path),
        Some("html" | "md") => texts::page(path),
        _ => bail!(
            "{shown}: nothing is known of files of this name; this program writes .safetensors, .npz, .onnx, .pt, \
             .jsonl, .toml, .json, .csv, .html, .md and {EVENTS_NAME} (rename the file if it is one of them)"
        ),
    }
}

/// Says of what was not read whole that it was not.
fn else_not_verified(report: &mut Report, verify: bool) {
    if !verify {
        report.add("verified", "no; --verify reads everything and checks it");
    }
}

/// Tells whether a file has a name of TensorBoard's.
fn is_tensorboard(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(EVENTS_NAME))
}

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
use latrunculi_train::{rulesets, run_dir};

use games::KnownRules;
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
        print_json(&report.to_json())?;
    } else {
        print!("{}", report.to_text());
    }
    Ok(())
}

/// What is known for the reading of files, and how closely they are read.
struct Known {
    verify: bool,
    /// Whether a folder is read file by file.
    in_folder: bool,
    rules: KnownRules,
}

/// A form of files that this program writes, by their names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Events,
    Weights,
    Archive,
    Network,
    Lines,
    Toml,
    Json,
    Table,
    Page,
    Pools,
}

impl Format {
    fn of(path: &Path) -> Option<Format> {
        if path.file_name()?.to_string_lossy().starts_with(EVENTS_NAME) {
            return Some(Format::Events);
        }
        Some(match path.extension()?.to_str()? {
            "safetensors" => Format::Weights,
            "npz" => Format::Archive,
            "onnx" | "pt" => Format::Network,
            "jsonl" => Format::Lines,
            "toml" => Format::Toml,
            "json" => Format::Json,
            "csv" => Format::Table,
            "html" | "md" | "svg" => Format::Page,
            run_dir::POOLS_EXTENSION => Format::Pools,
            _ => return None,
        })
    }

    fn describe(self, path: &Path, known: &mut Known) -> anyhow::Result<Report> {
        let verify = known.verify;
        match self {
            Format::Events => texts::tensorboard(path),
            Format::Weights => tensors::safetensors(path, verify),
            // A shard holds its rules, and the shards of a folder may be of several rulesets.
            Format::Archive => tensors::npz(path, verify, known.rules.named.as_ref().filter(|_| !known.in_folder)),
            Format::Network => tensors::network(path, verify),
            Format::Lines => records::inspect(path, known),
            Format::Toml => texts::toml(path),
            Format::Json => texts::json(path),
            Format::Table => texts::csv(path),
            Format::Page => texts::page(path),
            Format::Pools => tensors::pools(path),
        }
    }
}

fn inspect(path: &Path, args: &InspectArgs) -> anyhow::Result<Report> {
    let shown = path.display();
    let about = std::fs::metadata(path).with_context(|| format!("cannot look at {shown}"))?;
    let named = args.ruleset.as_deref().map(rulesets::load).transpose()?;
    let rules = KnownRules { named, ..KnownRules::default() };
    let mut known = Known { verify: args.verify, in_folder: false, rules };
    if about.is_dir() {
        let mut report = folders::inspect(path)?;
        if args.verify {
            verify::add(&mut report, path, known)?;
        } else {
            report.add("verified", NOT_VERIFIED);
        }
        return Ok(report);
    }
    if !about.is_file() {
        bail!("{shown} is neither a file nor a folder");
    }
    let Some(format) = Format::of(path) else {
        bail!(
            "{shown}: nothing is known of files of this name; this program writes .safetensors, .npz, .onnx, .pt, \
             .jsonl, .toml, .json, .csv, .html, .md, .pools and {EVENTS_NAME} (rename the file if it is one of them)"
        )
    };
    let mut report = format.describe(path, &mut known)?;
    if !args.verify && matches!(format, Format::Weights | Format::Archive | Format::Network) {
        report.add("verified", NOT_VERIFIED);
    }
    Ok(report)
}

/// What is said of that which was not read whole.
const NOT_VERIFIED: &str = "no; --verify reads everything and checks it";
use crate::lines::print_json;

//! `inspect`: what a file or run directory of the program holds.

use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use latrunculi_engine::GameRecord;
use latrunculi_engine::presets;
use latrunculi_engine::record::read_records;
use latrunculi_eval::metrics::{MetricsConfig, measure};
use latrunculi_model::{Device, Model, Trainer};
use latrunculi_selfplay::read_shard;

use crate::model_card;
use crate::rulesets_source::{self, read_text};

/// Result files and lines of metrics are small.
const TEXT_BYTES_MAX: u64 = 1 << 28;

#[derive(Args)]
pub(crate) struct InspectArgs {
    /// A run directory, shard (.npz), model or checkpoint (.safetensors), game records (.jsonl) or ruleset (.toml)
    path: PathBuf,
    /// The ruleset of a shard that does not lie in a run directory, or of games under a ruleset of one's own
    #[arg(long)]
    ruleset: Option<String>,
}

pub(crate) fn run(args: InspectArgs) -> anyhow::Result<()> {
    let path = &args.path;
    if path.is_dir() {
        return inspect_run(path);
    }
    if !path.exists() {
        bail!("there is no {}", path.display());
    }
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("npz") => inspect_shard(path, args.ruleset.as_deref()),
        Some("safetensors") => inspect_weights(path),
        Some("jsonl") => inspect_records(path, args.ruleset.as_deref()),
        Some("toml") => {
            let rules = rulesets_source::load(&path.to_string_lossy())?;
            println!("ruleset {}: {}x{}", rules.ruleset().id, rules.files(), rules.ranks());
            Ok(())
        }
        _ => bail!(
            "{} is none of what this program writes: a run directory, .npz, .safetensors, .jsonl or .toml",
            path.display()
        ),
    }
}

fn count_files(folder: &Path, extension: &str) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|entry| entry.path().extension().is_some_and(|found| found == extension)).count()
}

fn inspect_run(root: &Path) -> anyhow::Result<()> {
    if !root.join("config.toml").is_file() || !root.join("ruleset.toml").is_file() {
        bail!("{} is not a run directory: it has no config.toml and ruleset.toml", root.display());
    }
    let rules = rulesets_source::load(&root.join("ruleset.toml").to_string_lossy())?;
    println!("run directory {}", root.display());
    println!("ruleset       {} ({}x{})", rules.ruleset().id, rules.files(), rules.ranks());
    println!("shards        {}", count_files(&root.join("shards"), "npz"));
    println!("checkpoints   {}", count_files(&root.join("checkpoints"), "safetensors"));
    let metrics = root.join("metrics.jsonl");
    if metrics.is_file() {
        let text = read_text(&metrics, TEXT_BYTES_MAX)?;
        let lines: Vec<serde_json::Value> = text
            .lines()
            .map(serde_json::from_str)
            .collect::<Result<_, _>>()
            .with_context(|| format!("{}: a line of it", metrics.display()))?;
        // The round after the last generation only trains.
        let played: Vec<&serde_json::Value> = lines.iter().filter(|line| line.get("games").is_some()).collect();
        println!("generations   {}", played.len());
        if let Some(last) = played.last() {
            for name in ["games", "samples_total", "steps_total", "draw_rate", "first_player_score"] {
                if let Some(value) = last.get(name) {
                    println!("  {name:<20} {value}");
                }
            }
        }
    }
    let result = root.join("result.json");
    if !result.is_file() {
        println!("not finished: `latrunculi train --resume {}` goes on", root.display());
        return Ok(());
    }
    let result: serde_json::Value = serde_json::from_str(&read_text(&result, TEXT_BYTES_MAX)?)
        .with_context(|| format!("{} is not JSON", result.display()))?;
    println!("finished; final match: {}", result["verdict"]);
    Ok(())
}

fn inspect_shard(path: &Path, ruleset: Option<&str>) -> anyhow::Result<()> {
    let beside = path.parent().and_then(Path::parent).map(|root| root.join("ruleset.toml"));
    let ruleset = match (ruleset, beside) {
        (Some(name), _) => name.to_owned(),
        (None, Some(file)) if file.is_file() => file.to_string_lossy().into_owned(),
        _ => bail!("{} does not lie in a run directory: name its ruleset with --ruleset", path.display()),
    };
    let rules = rulesets_source::load(&ruleset)?;
    let (info, samples) = read_shard(path, &rules)?;
    let count = samples.weights.len();
    println!("shard         {}", path.display());
    println!("ruleset       {} (fingerprint {})", info.ruleset, info.fingerprint);
    println!("generation    {} of the run with seed {}", info.generation, info.run_seed);
    println!(
        "samples       {count} from {} games",
        samples.games.iter().collect::<std::collections::BTreeSet<_>>().len()
    );
    println!("actions       {:.1} legal ones a sample", samples.action_indices.len() as f64 / count.max(1) as f64);
    let wins: f64 = samples.win_draw_loss.iter().map(|value| f64::from(value[0] + value[1] / 2.0)).sum();
    println!("result        {:.3} for the player to act, on average", wins / count.max(1) as f64);
    Ok(())
}

fn inspect_weights(path: &Path) -> anyhow::Result<()> {
    match Model::load(path, Device::CPU) {
        Ok(model) => {
            println!("model         {}", path.display());
            for (name, value) in model_card::facts(&model) {
                println!("{name:<13} {value}");
            }
            Ok(())
        }
        Err(as_model) => match Trainer::load(path, Device::CPU) {
            Ok((trainer, _)) => {
                let counters = trainer.counters();
                println!("checkpoint    {}", path.display());
                println!("trained       {} steps on {} positions", counters.steps, counters.samples);
                Ok(())
            }
            Err(as_checkpoint) => {
                bail!("neither a model ({as_model}) nor a checkpoint ({as_checkpoint})")
            }
        },
    }
}

/// Plays every game over: each action, result and reason is checked against the rules.
fn inspect_records(path: &Path, ruleset: Option<&str>) -> anyhow::Result<()> {
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let records = read_records(BufReader::new(file)).with_context(|| path.display().to_string())?;
    println!("game records  {}", path.display());
    println!("games         {}", records.len());
    let Some(first) = records.first() else { return Ok(()) };
    println!("ruleset       {}", first.ruleset);
    println!("agents        {} and {}", first.agents[0], first.agents[1]);
    let name = ruleset.unwrap_or(&first.ruleset);
    if ruleset.is_none() && !presets::NAMES.contains(&name) {
        println!("checked       not at all: {name} is no shipped ruleset; name its file with --ruleset");
        return Ok(());
    }
    let rules = rulesets_source::load(name)?;
    let mut finished = 0;
    for (index, record) in records.iter().enumerate() {
        let game = record.replay(&rules).with_context(|| format!("{}: game {}", path.display(), index + 1))?;
        finished += usize::from(game.outcome().is_some());
    }
    println!("checked       every action is legal; {finished} games were played to the end, which is as recorded");
    // Games that are all unfinished have nothing to tell.
    let games: Vec<&GameRecord> = records.iter().collect();
    if let Ok(metrics) = measure(&rules, &games, &MetricsConfig::default()) {
        println!("what they are like, with 95 % intervals:");
        for (name, text) in metrics.headlines() {
            println!("{name:<13} {text}");
        }
    }
    Ok(())
}

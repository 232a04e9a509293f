//! `selfplay`: games into shards, from a model or, where there is none, from the teacher.

use std::path::{Path, PathBuf};
use std::slice;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::{Context, bail};
use latrunculi_data::{Precision, ShardInfo, read_shard, write_shard};
use latrunculi_eval::learning::GameMetrics;
use latrunculi_selfplay::{Progress, SelfPlayError};
use latrunculi_train::fair_gate::FairGate;
use latrunculi_train::generation::Playing;
use latrunculi_train::networks::{NetworkLoader, Processor};
use latrunculi_train::run_rulesets;
use latrunculi_train::{PrecisionChoice, choose_precision, files, generation, metrics, models};
use serde_json::json;

use crate::config_args::ConfigArgs;
use crate::display::Display;
use crate::interrupt::{Stopped, stop_on_signals};
use crate::libtorch::{self, Libtorch};
use crate::train::games_text;

/// Arguments of `selfplay`
#[derive(clap::Args)]
pub(crate) struct SelfplayArgs {
    #[command(flatten)]
    config: ConfigArgs,
    /// Folder of the shards; existing ones are not played again
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The model that plays, or the folder of its run; without one, alpha-beta plays with the settings in `[teacher]`
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// Number of the first shard; number and seed determine the games
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Number of shards, each of `games.per_generation` games, or `teacher.games` where alpha-beta plays
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    shards: u64,
    /// Prints one JSON object per shard and nothing else
    #[arg(long)]
    json: bool,
    /// Shows no progress
    #[arg(long)]
    quiet: bool,
}

/// Runs `selfplay`.
///
/// # Errors
/// Everything that keeps the games from being played or written.
pub(crate) fn run(args: &SelfplayArgs, libtorch: Option<&Libtorch>) -> anyhow::Result<()> {
    let end =
        args.first.checked_add(args.shards).context("--first plus --shards exceeds the largest number of a shard")?;
    let mut config = args.config.read()?;
    let rulesets = run_rulesets::load(&config.rulesets)?;
    let [only] = &rulesets[..] else {
        bail!("the configuration has {}; choose one with --set rulesets=NAME", config.rulesets);
    };
    let rules = Arc::clone(&only.rules);
    // Mixes belong to runs; without them games may be counted.
    config.mixes.fraction = 0.0;
    config.validate(rulesets.len())?;
    let gpu = libtorch::gpu(config.device.parse()?, args.model.is_some(), libtorch)?;
    let loader: &dyn NetworkLoader = gpu.as_deref().unwrap_or(&Processor);
    let stop = stop_on_signals()?;
    // The arguments determine who plays, not the number of the shard.
    config.teacher.generations = if args.model.is_none() { u64::MAX } else { 0 };
    if args.model.is_none() && config.teacher.games == 0 {
        bail!("teacher.games = 0 must be at least 1 without --model");
    }
    let network = match &args.model {
        Some(path) => {
            if config.games.per_generation == 0 {
                bail!(
                    "games.per_generation = 0 must be at least 1 with --model; add --set games.per_generation=256 \
                     --set games.samples_per_generation=0"
                );
            }
            Some(models::load(path, loader)?)
        }
        None => None,
    };
    let choice = match &network {
        Some(loaded) => choose_precision(&*loaded.network, config.precision, &rules)?,
        None => PrecisionChoice { precision: Precision::F32, difference: None },
    };
    let precision = choice.precision;
    let fingerprint = network.as_ref().map(|loaded| loaded.fingerprint.as_str());
    let kernel = network.as_ref().map_or_else(String::new, |loaded| loaded.network.kernel(precision));
    std::fs::create_dir_all(&args.out).with_context(|| format!("{}: making the folder", args.out.display()))?;
    let _lock = files::lock(&args.out)?;
    let display = Display::new(args.quiet || args.json);
    for number in args.first..end {
        let path = args.out.join(format!("{number:06}.npz"));
        let mut list = generation::list(&config, &rules, number);
        let players = generation::players(&list.plan, list.games, fingerprint, precision);
        let info = ShardInfo::new(&rules, config.seed, number, players);
        if path.exists() {
            let (found, samples) = read_shard(&path, &rules)?;
            if found != info {
                let differs = match (found.run_seed, found.generation) == (config.seed, number) {
                    true => "games of another player or of other settings".to_owned(),
                    false => format!("the games of seed {}, number {}", found.run_seed, found.generation),
                };
                bail!("{}: the shard holds {differs}; choose another folder with --out", path.display());
            }
            // It is left where the program was killed after it had written the shard.
            _ = std::fs::remove_file(path.with_extension("journal"));
            report(args, &display, &path, samples.len(), None);
            continue;
        }
        let actors = config.games.actors;
        // What a network plays may depend on the batch in its last digits: such a shard is played as a whole.
        if network.is_none() {
            list.open_journal(&path.with_extension("journal"), &info)?;
        }
        let mut evaluators = match &network {
            Some(loaded) => loaded.network.evaluators(actors, precision)?,
            None => generation::idle_evaluators(actors),
        };
        let (games, found) = (list.games, list.found.len() as u64);
        let work = display.begin(&format!("shard {number}"), games, "games", None);
        let goes_on = |progress: &Progress| {
            work(found + progress.games.load(Ordering::Relaxed));
            !stop.load(Ordering::Relaxed)
        };
        let gate = &FairGate::new(actors);
        let playing = Playing { parallel_trees: config.games.parallel_trees, gate, goes_on: &goes_on, until: None };
        let played = match generation::play_lists(slice::from_mut(&mut list), &mut evaluators, &playing) {
            Err(SelfPlayError::Stopped) => {
                drop(work);
                let lost = match list.journal {
                    Some(_) => String::new(),
                    None => format!("; it plays shard {number} again from its beginning"),
                };
                return Err(Stopped::telling(format!("stopped; run the same command to continue{lost}")).into());
            }
            played => played?,
        };
        drop(work);
        let samples = played.rulesets[0].samples();
        write_shard(&path, &info, &samples)?;
        if let Some(journal) = list.journal {
            journal.remove()?;
        }
        let metrics = metrics::of_games(&played, &rulesets, actors, choice, kernel.clone());
        report(args, &display, &path, samples.len(), Some(&metrics));
    }
    Ok(())
}

/// Reports a shard; `games` is `None` if it existed before.
fn report(args: &SelfplayArgs, display: &Display, path: &Path, samples: usize, games: Option<&GameMetrics>) {
    if args.json {
        let mut line = games.map_or_else(|| json!({}), |games| json!(games));
        line["samples"] = json!(samples);
        line["is_new"] = json!(games.is_some());
        line["path"] = json!(path.display().to_string());
        display.say(&line.to_string());
        return;
    }
    let games = games.map_or_else(|| "existed before".to_owned(), games_text);
    display.say(&format!("{}: {samples} samples · {games}", path.display()));
}

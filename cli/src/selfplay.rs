//! `selfplay`: games into shards, from a model or, where there is none, from the teacher.

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use anyhow::{Context, bail};
use latrunculi_engine::encoding::Shape;
use latrunculi_model::{Device, InferenceNetwork, Precision};
use latrunculi_selfplay::{Journal, Samples, SelfPlayError, ShardInfo, read_shard, write_shard};
use serde_json::{Map, Value, json};

use crate::interrupt::{Stopped, stop_on_signals};
use crate::network;
use crate::rulesets_source;
use crate::run_dir;
use crate::train::display::Display;
use crate::train::turnstile::Turnstile;
use crate::train::{player, report};
use crate::train_config::TrainConfig;

/// Arguments of `selfplay`
#[derive(clap::Args)]
pub(crate) struct SelfplayArgs {
    /// The configuration, as of `train`: ruleset, seed, device, games, selfplay, teacher
    config: PathBuf,
    /// Folder of the shards; those that are there are not played again
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The model that plays, or the folder of its run; without one alpha-beta does, as `[teacher]` has it
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// Number of the first shard; with the seed it says which games are played
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Shards, each of `games.per_generation` games, or `teacher.games` where alpha-beta plays
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    shards: u64,
    /// Sets one value of the configuration, as games.lanes=1; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// Prints one JSON object a shard and nothing else
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
pub(crate) fn run(args: &SelfplayArgs) -> anyhow::Result<()> {
    let stop = stop_on_signals()?;
    let end = args
        .first
        .checked_add(args.shards)
        .context("--first and --shards together go beyond the last number that a shard can have")?;
    let mut config = TrainConfig::read(&args.config, &args.settings)?;
    let rules = rulesets_source::load(&config.ruleset)?;
    config.validate(&Shape::of(&rules))?;
    let device = Device::open(config.device.parse()?)?;
    // Who plays is said by the arguments and not by the number of the shard.
    config.teacher.generations = if args.model.is_none() { u64::MAX } else { 0 };
    if args.model.is_none() && config.teacher.games == 0 {
        bail!("teacher.games = 0 must be at least 1 where no model plays");
    }
    let network = match &args.model {
        Some(path) => {
            let (_, model) = network::load_model(path, device)?;
            if *model.network.shape() != Shape::of(&rules) {
                bail!("{}: it is for another board than that of {}", path.display(), config.ruleset);
            }
            Some(model.network)
        }
        None => None,
    };
    let precision = match &network {
        Some(network) => InferenceNetwork::new(network, device, config.precision)?.precision(),
        None => Precision::F32,
    };
    std::fs::create_dir_all(&args.out).with_context(|| format!("{}: making the folder", args.out.display()))?;
    let _lock = run_dir::lock(&args.out)?;
    let display = Display::new(args.quiet || args.json);
    for number in args.first..end {
        let path = args.out.join(format!("{number:06}.npz"));
        let plan = player::plan(&config, &rules, number);
        let players = player::players(&plan, network.as_ref(), precision)?;
        let info = ShardInfo::new(&rules, config.seed, number, players);
        if path.exists() {
            let (found, samples) = read_shard(&path, &rules)?;
            if found != info {
                let differs = match (found.run_seed, found.generation) == (config.seed, number) {
                    true => "games that another player, or the same with other settings, played".to_owned(),
                    false => format!("the games of seed {}, number {}", found.run_seed, found.generation),
                };
                bail!("{}: it holds {differs}; choose another folder with --out", path.display());
            }
            tell(args, &display, &path, report::object(json!({ "samples": samples.len(), "is_new": false })));
            continue;
        }
        let lanes = config.games.lanes;
        let journal = match player::may_be_split(&plan, lanes, device, precision) {
            true => Some(Journal::open(&path.with_extension("journal"), &rules, &info)?),
            false => None,
        };
        let (journal, found) = journal.unzip();
        let evaluators = match &network {
            Some(network) => player::evaluators(network, lanes, device, precision)?,
            None => Vec::new(),
        };
        let work = display.begin(&format!("shard {number}"), plan.games, None);
        let watch = |games| {
            work.set(games);
            !stop.load(Ordering::Relaxed)
        };
        let turnstile = Turnstile::new(lanes);
        let played = match player::play(plan, lanes, evaluators, journal.as_ref().zip(found), &turnstile, &watch) {
            Err(SelfPlayError::Stopped) => {
                drop(work);
                return Err(Stopped::telling("stopped; the same command goes on").into());
            }
            played => played?,
        };
        drop(work);
        let mut samples = Samples::new(Shape::of(&rules));
        for game in &played.games {
            samples.append(&game.samples);
        }
        write_shard(&path, &info, &samples)?;
        if let Some(journal) = journal {
            journal.remove()?;
        }
        let mut metrics = report::of_games(&played, rules.ruleset().first_player, lanes, config.games.in_flight);
        metrics.insert("is_new".to_owned(), json!(true));
        tell(args, &display, &path, metrics);
    }
    Ok(())
}

/// Says what a shard holds.
fn tell(args: &SelfplayArgs, display: &Display, path: &std::path::Path, mut metrics: Map<String, Value>) {
    metrics.insert("path".to_owned(), json!(path.display().to_string()));
    if args.json {
        println!("{}", Value::Object(metrics));
        return;
    }
    let samples = metrics.get("samples").and_then(Value::as_u64).unwrap_or(0);
    let games = match metrics.get("is_new") {
        Some(Value::Bool(true)) => report::say_games(&metrics),
        _ => "it was there".to_owned(),
    };
    display.say(&format!("{}: {samples} samples · {games}", path.display()));
}

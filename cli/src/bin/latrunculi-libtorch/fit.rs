//! `fit`: training steps on existing shards.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::{Context, bail};
use latrunculi_cli::display::Display;
use latrunculi_cli::fit::FitArgs;
use latrunculi_cli::interrupt::{Stopped, stop_on_signals};
use latrunculi_cli::origin;
use latrunculi_cli::train::steps_text;
use latrunculi_data::{EncodingNames, ModelHistory, ModelInfo, ReplayPart, ReplayWindows, ShardSummary, read_shard};
use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_learner::play_network::load_model;
use latrunculi_learner::{StepPlan, train_steps};
use latrunculi_model::{Device, Model, Network, Trainer};
use latrunculi_selfplay::GameKey;
use latrunculi_train::run_rulesets::{self, RunRuleset};
use latrunculi_train::{TrainConfig, files, models, run_dir};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// What the steps depend on besides the weights; stored in the checkpoint.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FitState {
    steps: u64,
    checkpoint_every: u64,
    samples: u64,
    model: Option<String>,
    config: String,
}

/// Runs `fit`.
///
/// # Errors
/// Everything that keeps the training from going on.
pub(crate) fn run(args: &FitArgs) -> anyhow::Result<()> {
    let stop = stop_on_signals()?;
    args.config.set.check_beside_from(args.from.as_deref(), &[])?;
    let mut config = args.config.read()?;
    let rulesets = run_rulesets::load(&config.rulesets)?;
    config.validate(rulesets.len())?;
    let device = Device::open(config.device.parse()?)?;
    let first = match &args.from {
        None => None,
        Some(path) => {
            let Model { network, info } = load_model(path, device)?.1;
            config.network = network.config().clone();
            Some((network, info.training.all_steps()))
        }
    };
    let (windows, left_out) = windows(&args.shards, &rulesets, &config)?;
    let batch_size = config.games.batch_size;
    let steps = args.steps.unwrap_or_else(|| config.replay.steps_allowed(windows.len(), 0, batch_size));
    fs::create_dir_all(&args.out).with_context(|| format!("{}: making the folder", args.out.display()))?;
    let _lock = files::lock(&args.out)?;
    let checkpoint = args.out.join("checkpoint.safetensors");
    let state = FitState {
        steps,
        checkpoint_every: args.checkpoint_every,
        samples: windows.len(),
        model: args.from.as_ref().map(|path| models::checksum(&path.to_string_lossy())).transpose()?,
        config: config.to_text()?,
    };
    let extra = serde_json::to_string(&state).context("describing the training")?;
    let mut trainer = if checkpoint.exists() {
        let (trainer, found) = Trainer::load(&checkpoint, device)?;
        let found: FitState = serde_json::from_str(&found)
            .with_context(|| format!("{}: not a checkpoint of fit", checkpoint.display()))?;
        // Parsed and written again, so that values added since have their defaults.
        let found = FitState { config: TrainConfig::from_text(&found.config)?.to_text()?, ..found };
        if found != state {
            bail!(
                "{}: the training was begun with another model, other shards, steps or settings; choose another folder with --out",
                checkpoint.display()
            );
        }
        trainer
    } else {
        let (network, steps_before) = match first {
            Some(first) => first,
            None => (Network::new(&config.network, config.seed, device).context("making the network")?, 0),
        };
        Trainer::new(&network, &config.training)?.after(steps_before)
    };
    let display = Display::new(args.quiet || args.json);
    if left_out > 0 && !args.json {
        display.say(&format!("leaves out {left_out} shards of random mixes of rules"));
    }
    let begun_at = trainer.counters().steps;
    let work = display.begin("training", steps, "steps", None);
    while trainer.counters().steps < steps {
        let made = trainer.counters().steps;
        // Each part has a random stream of its own, so that interrupted training draws the same samples.
        let part = made / args.checkpoint_every;
        let fraction = |step: u64| step as f64 / steps as f64;
        let count = args.checkpoint_every.min(steps - made);
        let plan = StepPlan {
            windows: &windows,
            key: GameKey { run_seed: config.seed, series: part, game: 0 },
            steps: count,
            batch_size,
            batches: config.games.batches_per_step,
            progress: (fraction(made), fraction(made + count)),
            free_threads: &|_| usize::MAX,
            until: None,
        };
        let results = train_steps(&mut trainer, &plan, &|done| {
            work(made + done);
            !stop.load(Ordering::Relaxed)
        });
        let metrics = match results {
            Err(error) if error.is_stopped() => {
                drop(work);
                return Err(
                    Stopped::telling(format!("stopped after {made} steps; run the same command to continue")).into()
                );
            }
            results => results?,
        };
        trainer.save(&checkpoint, &extra)?;
        if args.json {
            let mut line = json!(metrics);
            line["steps_total"] = json!(trainer.counters().steps);
            display.say(&line.to_string());
        } else {
            display.say(&format!("step {made:>6} · {}", steps_text(&metrics)));
        }
    }
    drop(work);
    let model_path = args.out.join("model.safetensors");
    model(&trainer, &config, &rulesets, windows.len())?.save(&model_path)?;
    if args.json {
        let made = json!({ "model": model_path.display().to_string(), "steps_total": trainer.counters().steps });
        display.say(&made.to_string());
    } else {
        let made = trainer.counters().steps - begun_at;
        display.say(&format!("{made} steps on {} samples; wrote {}", windows.len(), model_path.display()));
    }
    Ok(())
}

/// Reads the shards of a folder, or of the run in it, in the order of their names. Also returns the number of shards of random
/// mixes, which it leaves out.
fn windows(folder: &Path, rulesets: &[RunRuleset], config: &TrainConfig) -> anyhow::Result<(ReplayWindows, usize)> {
    let of_run = folder.join(run_dir::SHARDS);
    let is_run = folder.join(run_dir::CONFIG).is_file() && of_run.is_dir();
    let folder = if is_run { of_run.as_path() } else { folder };
    let entries = fs::read_dir(folder).with_context(|| format!("{}: reading the folder", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "npz"))
        .collect();
    paths.sort();
    let part = |known: &RunRuleset| ReplayPart { rules: Arc::clone(&known.rules), share: known.share, earlier: 0 };
    let mut windows = ReplayWindows::new(config.replay, rulesets.iter().map(part), 0.0, 0);
    let mut left_out = 0;
    for (number, path) in (0..).zip(&paths) {
        let summary = ShardSummary::read(path)?;
        let is_of = |known: &&RunRuleset| ruleset_fingerprint(known.rules.ruleset()) == summary.fingerprint;
        let found = rulesets.iter().find(is_of);
        if found.is_none() && is_mix_of(&summary.ruleset, rulesets) {
            left_out += 1;
            continue;
        }
        // Where none is meant, the first says what is wrong with the shard.
        let rules = &found.unwrap_or(&rulesets[0]).rules;
        windows.add(rules, number, read_shard(path, rules)?.1);
    }
    if windows.is_empty() {
        bail!("{}: the folder holds no shard with a sample", folder.display());
    }
    Ok((windows, left_out))
}

/// Tells whether a name is that of a random mix of these rulesets (`train/src/mixes.rs`). Mixes have no share of their own
/// here, and their samples are not trained on.
fn is_mix_of(name: &str, rulesets: &[RunRuleset]) -> bool {
    let base = name.rsplit_once("-mix-").map(|(base, _)| base);
    rulesets.iter().any(|known| base == Some(known.id()))
}

fn model(trainer: &Trainer, config: &TrainConfig, rulesets: &[RunRuleset], samples: u64) -> anyhow::Result<Model> {
    let info = ModelInfo {
        rulesets: run_rulesets::of_model(rulesets, 1.0),
        encoding: EncodingNames::default(),
        training: trainer.counters(),
        history: ModelHistory {
            program: Some(format!("latrunculi {}", env!("CARGO_PKG_VERSION"))),
            commit: origin::COMMIT.map(str::to_owned),
            seed: Some(config.seed),
            samples: Some(samples),
            ..ModelHistory::default()
        },
        search: Some(serde_json::json!(config.selfplay.search)),
        notes: BTreeMap::new(),
    };
    Ok(Model { network: trainer.averaged_network()?, info })
}

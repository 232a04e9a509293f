//! `fit`: training steps on shards that are there.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::{Context, bail};
use latrunculi_engine::Rules;
use latrunculi_engine::encoding::Shape;
use latrunculi_model::{Device, EncodingNames, Model, ModelHistory, ModelInfo, Network, Trainer};
use latrunculi_selfplay::{GameKey, ReplayWindow, SelfPlayError, read_shard};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::interrupt::{Stopped, stop_on_signals};
use crate::network;
use crate::provenance;
use crate::rulesets_source;
use crate::run_dir;
use crate::train::display::Display;
use crate::train::learner::{Lesson, learn};
use crate::train::report;
use crate::train_config::TrainConfig;

/// Arguments of `fit`
#[derive(clap::Args)]
pub(crate) struct FitArgs {
    /// The configuration, as of `train`: ruleset, seed, device, network, replay, training, games.batch_size
    config: PathBuf,
    /// Folder of the shards, as `selfplay` and `train` write them, or of a run
    #[arg(long, value_name = "DIR")]
    shards: PathBuf,
    /// Folder of what comes of it; what is unfinished there is gone on with
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Begins with the weights of this model (or of the model of this run), and not with fresh ones
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// Steps in all [default: what replay.reuse allows]
    #[arg(long)]
    steps: Option<u64>,
    /// Steps from one checkpoint to the next
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u64).range(1..))]
    checkpoint_every: u64,
    /// Sets one value of the configuration, as training.threads=2; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// Prints one JSON object a checkpoint and nothing else
    #[arg(long)]
    json: bool,
    /// Shows no progress
    #[arg(long)]
    quiet: bool,
}

/// What the steps depend on besides the weights; kept in the checkpoint.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FitState {
    steps: u64,
    checkpoint_every: u64,
    samples: u64,
    ruleset: String,
    config: String,
}

/// Runs `fit`.
///
/// # Errors
/// Everything that keeps the training from going on.
pub(crate) fn run(args: &FitArgs) -> anyhow::Result<()> {
    let stop = stop_on_signals()?;
    let config = TrainConfig::read(&args.config, &args.settings)?;
    let rules = rulesets_source::load(&config.ruleset)?;
    config.validate(&Shape::of(&rules))?;
    let device = Device::open(config.device.parse()?)?;
    let window = window(&args.shards, &rules, &config)?;
    let batch_size = config.games.batch_size;
    let steps = args.steps.unwrap_or_else(|| config.replay.steps_allowed(window.total(), 0, batch_size));
    fs::create_dir_all(&args.out).with_context(|| format!("{}: making the folder", args.out.display()))?;
    let _lock = run_dir::lock(&args.out)?;
    let checkpoint = args.out.join("checkpoint.safetensors");
    let state = FitState {
        steps,
        checkpoint_every: args.checkpoint_every,
        samples: window.total(),
        ruleset: rules.ruleset().id.clone(),
        config: config.to_text()?,
    };
    let extra = serde_json::to_string(&state).context("describing the training")?;
    let mut trainer = if checkpoint.exists() {
        let (trainer, found) = Trainer::load(&checkpoint, device)?;
        let found: FitState = serde_json::from_str(&found)
            .with_context(|| format!("{}: it is no checkpoint of fit", checkpoint.display()))?;
        if found != state {
            bail!(
                "{}: it was begun with other shards, steps or settings; choose another folder with --out",
                checkpoint.display()
            );
        }
        trainer
    } else {
        Trainer::new(&first_network(args, &config, &rules, device)?, &config.training)?
    };
    let display = Display::new(args.quiet || args.json);
    let begun_at = trainer.counters().steps;
    let work = display.begin("training", steps, None);
    while trainer.counters().steps < steps {
        let made = trainer.counters().steps;
        // Each part draws by a stream of its own, so that a training that was interrupted draws the same.
        let part = made / args.checkpoint_every;
        let share = |step: u64| step as f64 / steps as f64;
        let count = args.checkpoint_every.min(steps - made);
        let lesson = Lesson {
            window: &window,
            key: GameKey { run_seed: config.seed, generation: part, game: 0 },
            steps: count,
            batch_size,
            progress: (share(made), share(made + count)),
        };
        let learnt = learn(&mut trainer, &lesson, &|done| {
            work.set(made + done);
            !stop.load(Ordering::Relaxed)
        });
        let learnt = match learnt {
            Err(error) if matches!(error.downcast_ref(), Some(SelfPlayError::Stopped)) => {
                drop(work);
                return Err(Stopped::telling(format!("stopped after {made} steps; the same command goes on")).into());
            }
            learnt => learnt?,
        };
        trainer.save(&checkpoint, &extra)?;
        let mut metrics = report::of_training(&learnt);
        metrics.insert("steps_total".to_owned(), json!(trainer.counters().steps));
        if args.json {
            println!("{}", Value::Object(metrics));
        } else {
            display.say(&format!("step {made:>6} · {}", report::say_training(&learnt, &config)));
        }
    }
    drop(work);
    let model_path = args.out.join("model.safetensors");
    model(&trainer, &config, &rules, window.total())?.save(&model_path)?;
    if args.json {
        println!("{}", json!({ "model": model_path.display().to_string(), "steps_total": trainer.counters().steps }));
    } else {
        let made = trainer.counters().steps - begun_at;
        display.say(&format!("{made} steps on {} samples; wrote {}", window.total(), model_path.display()));
    }
    Ok(())
}

/// Returns the network that the training begins with.
fn first_network(args: &FitArgs, config: &TrainConfig, rules: &Rules, device: Device) -> anyhow::Result<Network> {
    let Some(path) = &args.model else {
        return Network::new(&config.network, &Shape::of(rules), config.seed, device).context("making the network");
    };
    let network = network::load_model(path, device)?.1.network;
    if *network.shape() != Shape::of(rules) || *network.config() != config.network {
        bail!("{}: its network or its board is not that of the configuration", path.display());
    }
    Ok(network)
}

/// Reads the shards of a folder, or of the run in it, in the order of their names.
fn window(folder: &Path, rules: &Arc<Rules>, config: &TrainConfig) -> anyhow::Result<ReplayWindow> {
    let of_run = folder.join(run_dir::SHARDS);
    let is_run = folder.join(run_dir::CONFIG).is_file() && of_run.is_dir();
    let folder = if is_run { of_run.as_path() } else { folder };
    let entries = fs::read_dir(folder).with_context(|| format!("{}: reading the folder", folder.display()))?;
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "npz"))
        .collect();
    paths.sort();
    let mut window = ReplayWindow::new(Arc::clone(rules), config.replay, 0);
    for (number, path) in (0..).zip(&paths) {
        window.add(number, read_shard(path, rules)?.1);
    }
    if window.is_empty() {
        bail!("{}: there is no shard with a sample in it", folder.display());
    }
    Ok(window)
}

fn model(trainer: &Trainer, config: &TrainConfig, rules: &Rules, samples: u64) -> anyhow::Result<Model> {
    let info = ModelInfo {
        ruleset: rules.ruleset().id.clone(),
        ruleset_text: rules.ruleset().to_toml(),
        encoding: EncodingNames::default(),
        training: trainer.counters(),
        history: ModelHistory {
            program: Some(format!("latrunculi {}", env!("CARGO_PKG_VERSION"))),
            commit: provenance::COMMIT.map(str::to_owned),
            seed: Some(config.seed),
            samples: Some(samples),
            ..ModelHistory::default()
        },
        notes: BTreeMap::new(),
    };
    Ok(Model { network: trainer.averaged_network()?, info })
}

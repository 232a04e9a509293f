//! A run from its beginning, or from where it was interrupted, to its end.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::{Context, bail};
use latrunculi_engine::Rules;
use latrunculi_engine::encoding::Shape;
use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_eval::learning::Verdict;
use latrunculi_model::{Device, InferenceNetwork, NetEvaluator, Network, TrainError, Trainer};
use latrunculi_selfplay::{ReplayWindow, Samples, SelfPlayError, read_shard};
use serde_json::json;

use super::display::Display;
use super::events::Events;
use super::judge::Judge;
use super::state::RunState;
use crate::provenance;
use crate::rulesets_source;
use crate::run_dir::{RunDir, write_whole};
use crate::train_config::TrainConfig;

/// A run in progress.
pub(super) struct TrainingRun {
    pub(super) config: TrainConfig,
    pub(super) folder: RunDir,
    pub(super) rules: Arc<Rules>,
    pub(super) ruleset_text: String,
    pub(super) device: Device,
    pub(super) trainer: Trainer,
    pub(super) window: ReplayWindow,
    pub(super) state: RunState,
    pub(super) judge: Judge,
    /// Of the matches against others at the end.
    pub(super) anchors: Vec<Judge>,
    pub(super) events: Events,
    pub(super) display: Display,
    pub(super) stop: Arc<AtomicBool>,
    since: Instant,
}

impl TrainingRun {
    /// Begins a run in a new folder.
    pub(super) fn begin(
        config_path: &Path,
        folder: Option<PathBuf>,
        settings: &[String],
        display: Display,
        stop: Arc<AtomicBool>,
    ) -> anyhow::Result<TrainingRun> {
        let config = TrainConfig::read(config_path, settings)?;
        let rules = rulesets_source::load(&config.ruleset)?;
        let shape = Shape::of(&rules);
        config.validate(&shape)?;
        let (judge, anchors) = judges(&rules, &config)?;
        let device = Device::open(config.device.parse()?)?;
        let folder = RunDir::create(&folder.unwrap_or_else(|| free_folder(config_path, &config)))?;
        let ruleset_text = rules.ruleset().to_toml();
        write_whole(&folder.ruleset_path(), ruleset_text.as_bytes())?;
        let network = Network::new(&config.network, &shape, config.seed, device).context("making the network")?;
        let trainer = Trainer::new(&network, &config.training).context("setting up the training")?;
        let inference = InferenceNetwork::new(&network, device, config.precision)?;
        let precision = inference.precision();
        let mut provenance = provenance::of(device);
        provenance["config"] = json!(config_path.display().to_string());
        provenance["settings"] = json!(settings);
        provenance["seed"] = json!(config.seed);
        provenance["precision"] = json!(precision);
        if let Some(measured) = inference.measured() {
            display.say(&format!("precision of play: {precision} (measured: {measured}, one thread)"));
            provenance["precision_measured"] = json!(measured);
        }
        write_whole(&folder.provenance_path(), format!("{provenance:#}\n").as_bytes())?;
        let state = RunState::new(&config, &rules, precision)?;
        state.save(&folder, &trainer)?;
        // The configuration comes last: a folder without it holds no run.
        write_whole(&folder.config_path(), config.to_text()?.as_bytes())?;
        let window = ReplayWindow::new(Arc::clone(&rules), config.replay, 0);
        let events = Events::open(&folder.events_path(), 0)?;
        let since = Instant::now();
        Ok(TrainingRun {
            config,
            folder,
            rules,
            ruleset_text,
            device,
            trainer,
            window,
            state,
            judge,
            anchors,
            events,
            display,
            stop,
            since,
        })
    }

    /// Goes on with the run in a folder, with what `settings` change.
    pub(super) fn resume(
        root: &Path,
        settings: &[String],
        display: Display,
        stop: Arc<AtomicBool>,
    ) -> anyhow::Result<TrainingRun> {
        let folder = RunDir::open(root)?;
        let Some(path) = folder.latest()? else {
            bail!("{}: the run has no checkpoint; begin it anew in another folder", root.display());
        };
        let config = TrainConfig::read(&folder.config_path(), settings)?;
        let ruleset_path = folder.ruleset_path();
        let rules = rulesets_source::load(&ruleset_path.display().to_string())?;
        config.validate(&Shape::of(&rules))?;
        let device = Device::open(config.device.parse()?)?;
        let (mut trainer, extra) = Trainer::load(&path, device).context("reading the last checkpoint")?;
        let mut state: RunState =
            serde_json::from_str(&extra).with_context(|| format!("{}: state of the run", path.display()))?;
        state.allow(&config, settings).with_context(|| root.display().to_string())?;
        if ruleset_fingerprint(rules.ruleset()) != state.ruleset {
            bail!("{}: the rules are not those that the run began with; put them back", ruleset_path.display());
        }
        let (judge, anchors) = judges(&rules, &config)?;
        folder.forget_unfinished(state.generations);
        trainer.set_config(&config.training)?;
        let mut resumption = provenance::of(device);
        resumption["settings"] = json!(settings);
        resumption["after_generations"] = json!(state.generations);
        provenance::add_resumption(&folder.provenance_path(), resumption)?;
        if !settings.is_empty() {
            state.config = config.to_text()?;
            write_whole(&folder.config_path(), state.config.as_bytes())?;
            state.save(&folder, &trainer)?;
        }
        folder.cut_metrics(state.metrics_bytes)?;
        let events = Events::open(&folder.events_path(), state.events_bytes)?;
        let window = window(&folder, &rules, &config, &state)?;
        let ruleset_text = fs::read_to_string(&ruleset_path)?;
        let since = Instant::now();
        Ok(TrainingRun {
            config,
            folder,
            rules,
            ruleset_text,
            device,
            trainer,
            window,
            state,
            judge,
            anchors,
            events,
            display,
            stop,
            since,
        })
    }

    /// Makes round after round until the budget is spent, then the final match and the exported files.
    pub(super) fn go(&mut self) -> anyhow::Result<()> {
        let parameters = self.trainer.averaged_network()?.parameter_count();
        self.display.say(&format!(
            "run {} · ruleset {} · network {} blocks x {} channels, {parameters} weights · {}, {} in play",
            self.folder.root().display(),
            self.rules.ruleset().id,
            self.config.network.blocks,
            self.config.network.channels,
            self.device,
            self.state.precision,
        ));
        if self.state.generations > 0 {
            self.display.say(&format!(
                "continued after {} generations, {} games, {} samples",
                self.state.generations, self.state.games, self.state.samples
            ));
        }
        self.since = Instant::now();
        let made = loop {
            if self.state.is_trained && self.is_over() {
                break self.conclude();
            }
            if let Err(error) = self.round() {
                break Err(error);
            }
        };
        match made {
            Err(error) if is_stop(&error) => {
                let root = self.folder.root().display();
                self.display.say(&format!("stopped; go on with: latrunculi train --resume {root}"));
                Ok(())
            }
            Err(error) if matches!(error.downcast_ref(), Some(TrainError::NotFinite { .. })) => {
                let root = self.folder.root().display();
                Err(error.context(format!(
                    "the training has run out of bounds; the checkpoint after {} generations is good: go on from it with a \
                     lower rate, as with train --resume {root} --set training.learning_rate={}",
                    self.state.generations,
                    self.config.training.learning_rate / 2.0
                )))
            }
            made => made,
        }
    }

    /// Returns the seconds that the run has taken, those before a break included.
    pub(super) fn elapsed_secs(&self) -> f64 {
        self.state.elapsed_secs + self.since.elapsed().as_secs_f64()
    }

    /// Counts from now on anew: what has passed is in the state.
    pub(super) fn restart_clock(&mut self) {
        self.since = Instant::now();
    }

    /// Returns the seconds that are left of the budget, if it is limited.
    pub(super) fn secs_left(&self) -> Option<f64> {
        let minutes = self.config.budget.minutes;
        (minutes > 0.0).then(|| (minutes * 60.0 - self.elapsed_secs()).max(0.0))
    }

    /// Tells whether no further generation is to be played: with the training that follows the last one it would end
    /// more than half outside the budget.
    pub(super) fn is_over(&self) -> bool {
        let (budget, state) = (&self.config.budget, &self.state);
        let ends = self.elapsed_secs() + state.last_secs / 2.0 + state.last_training_secs;
        budget.generations > 0 && state.generations >= budget.generations
            || budget.minutes > 0.0 && state.generations > 0 && ends > budget.minutes * 60.0
    }

    /// Plays a match of the network as it is now.
    pub(super) fn measure(&self, judge: &Judge, pairs: u64, number: u64) -> anyhow::Result<Verdict> {
        let network = InferenceNetwork::new(&self.trainer.averaged_network()?, self.device, self.state.precision)?;
        let stop = &self.stop;
        let work = self.display.begin(&format!("match against {}", judge.opponent()), 2 * pairs, self.secs_left());
        let watch = |games: Option<u64>| {
            games.into_iter().for_each(|games| work.set(games));
            !stop.load(Ordering::Relaxed)
        };
        judge.judge(NetEvaluator::new(network), pairs, match_seed(self.config.seed, number), &watch)
    }
}

/// Returns the seed of the match before generation `number`.
pub(super) fn match_seed(seed: u64, number: u64) -> u64 {
    seed ^ (number + 1) << 32
}

pub(super) fn is_stop(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(SelfPlayError::Stopped))
}

/// Returns who judges by the baseline, and who by the anchors.
fn judges(rules: &Arc<Rules>, config: &TrainConfig) -> anyhow::Result<(Judge, Vec<Judge>)> {
    let judge = |opponent: &str| Judge::new(Arc::clone(rules), config, opponent);
    let baseline = judge(&config.evaluation.baseline).context("evaluation.baseline")?;
    let anchors = config.evaluation.anchors.iter().map(|anchor| judge(anchor)).collect::<anyhow::Result<_>>();
    Ok((baseline, anchors.context("evaluation.anchors")?))
}

/// Reads the newest shards that fill the window.
fn window(folder: &RunDir, rules: &Arc<Rules>, config: &TrainConfig, state: &RunState) -> anyhow::Result<ReplayWindow> {
    let wanted = config.replay.window_len(state.samples);
    let mut shards: Vec<(u64, Samples)> = Vec::new();
    let mut held = 0;
    for generation in (0..state.generations).rev() {
        if held >= wanted {
            break;
        }
        let (_, samples) = read_shard(&folder.shard_path(generation), rules).context("filling the window")?;
        held += samples.len() as u64;
        shards.push((generation, samples));
    }
    let mut window = ReplayWindow::new(Arc::clone(rules), config.replay, state.samples - held.min(state.samples));
    // In the order in which they were played.
    for (generation, samples) in shards.into_iter().rev() {
        window.add(generation, samples);
    }
    Ok(window)
}

/// Returns a folder under runs/ that is not there yet, named by configuration, ruleset and seed.
fn free_folder(config_path: &Path, config: &TrainConfig) -> PathBuf {
    let stem = |path: &Path| path.file_stem().map_or("run".into(), |stem| stem.to_string_lossy().into_owned());
    let ruleset = stem(Path::new(&config.ruleset));
    let name = format!("{}-{ruleset}-seed{}", stem(config_path), config.seed);
    let runs = PathBuf::from("runs");
    let mut folder = runs.join(&name);
    let mut number = 2;
    while folder.exists() {
        folder = runs.join(format!("{name}-{number}"));
        number += 1;
    }
    folder
}

//! A run from its beginning, or from its last checkpoint, to its end.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use latrunculi_data::{ReplayWindow, Samples, Shape, read_shard};
use latrunculi_engine::Rules;
use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_eval::learning::Verdict;
use latrunculi_model::{Device, Network, Trainer, choose_precision};
use serde_json::json;

use crate::config::TrainConfig;
use crate::error::{Context, Error, bail};
use crate::evaluation::EvaluationMatch;
use crate::events::Events;
use crate::files::write_whole;
use crate::observer::{Event, Observer, Totals};
use crate::play_network;
use crate::provenance::{self, Origin};
use crate::run_dir::RunDir;
use crate::state::RunState;
use crate::{rulesets, runs};

/// Set from another thread or a signal handler, it stops a run.
pub type StopFlag = Arc<AtomicBool>;

/// How [`TrainingRun::run`] ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// The budget is spent; the result and the exported files are written.
    Finished,
    /// The stop flag was set; the run can be resumed from its last checkpoint.
    Stopped,
}

/// A training run. While it lives, it holds the lock of its folder.
pub struct TrainingRun<'o> {
    pub(crate) config: TrainConfig,
    pub(crate) folder: RunDir,
    pub(crate) rules: Arc<Rules>,
    pub(crate) ruleset_text: String,
    /// The commit of the program's source, for the model card.
    pub(crate) commit: Option<String>,
    pub(crate) device: Device,
    pub(crate) trainer: Trainer,
    pub(crate) window: ReplayWindow,
    pub(crate) state: RunState,
    pub(crate) baseline: EvaluationMatch,
    /// The further matches at the end.
    pub(crate) anchors: Vec<EvaluationMatch>,
    pub(crate) events: Events,
    pub(crate) observer: &'o dyn Observer,
    pub(crate) stop: StopFlag,
    since: Instant,
}

impl<'o> TrainingRun<'o> {
    /// Begins a run in a folder that holds no run. It is made if needed.
    ///
    /// # Errors
    /// When the configuration or the device cannot be used, or the folder holds a run or cannot be written.
    pub fn begin(
        config: TrainConfig,
        folder: &Path,
        origin: &Origin,
        stop: StopFlag,
        observer: &'o dyn Observer,
    ) -> Result<TrainingRun<'o>, Error> {
        TrainingRun::begin_in(config, || Ok(folder.to_owned()), origin, stop, observer)
    }

    fn begin_in(
        config: TrainConfig,
        folder: impl FnOnce() -> Result<PathBuf, Error>,
        origin: &Origin,
        stop: StopFlag,
        observer: &'o dyn Observer,
    ) -> Result<TrainingRun<'o>, Error> {
        let rules = rulesets::load(&config.ruleset)?;
        let shape = Shape::of(&rules);
        config.validate(&shape)?;
        let (baseline, anchors) = evaluation_matches(&rules, &config)?;
        let device = Device::open(config.device.parse()?)?;
        let folder = RunDir::create(&folder()?)?;
        let ruleset_text = rules.ruleset().to_toml();
        write_whole(&folder.ruleset_path(), ruleset_text.as_bytes())?;
        let network = Network::new(&config.network, &shape, config.seed, device).context("making the network")?;
        let trainer = Trainer::new(&network, &config.training).context("setting up the training")?;
        let precision = config.precision.on(device);
        let mut provenance = origin.describe(device);
        provenance["config"] = json!(origin.config);
        provenance["seed"] = json!(config.seed);
        provenance["precision"] = json!(precision);
        provenance["kernel"] = json!(play_network::kernel_name(device, precision));
        write_whole(&folder.provenance_path(), format!("{provenance:#}\n").as_bytes())?;
        let state = RunState::new(&config, &rules, precision)?;
        state.save(&folder, &trainer)?;
        // The configuration comes last: a folder without it holds no run.
        write_whole(&folder.config_path(), config.to_text()?.as_bytes())?;
        let window = ReplayWindow::new(Arc::clone(&rules), config.replay, 0);
        let events = Events::open(&folder.events_path(), 0)?;
        Ok(TrainingRun {
            config,
            folder,
            rules,
            ruleset_text,
            commit: origin.commit.clone(),
            device,
            trainer,
            window,
            state,
            baseline,
            anchors,
            events,
            observer,
            stop,
            since: Instant::now(),
        })
    }

    /// Begins a run in the next free folder `runs/NAME-N`, as [`TrainingRun::begin`] does.
    ///
    /// # Errors
    /// As [`TrainingRun::begin`]. No folder is made when the configuration or the device cannot be used.
    pub fn begin_next(
        config: TrainConfig,
        runs: &Path,
        name: &str,
        origin: &Origin,
        stop: StopFlag,
        observer: &'o dyn Observer,
    ) -> Result<TrainingRun<'o>, Error> {
        TrainingRun::begin_in(config, || runs::make_next(runs, name), origin, stop, observer)
    }

    /// Opens the run in a folder at its last checkpoint, with its configuration changed by the settings of `origin`.
    ///
    /// # Errors
    /// When there is no run, a file of it is damaged, or a setting cannot be changed.
    pub fn resume(
        root: &Path,
        origin: &Origin,
        stop: StopFlag,
        observer: &'o dyn Observer,
    ) -> Result<TrainingRun<'o>, Error> {
        let folder = RunDir::open(root)?;
        let Some(path) = folder.latest()? else {
            bail!("{}: the run has no checkpoint; begin a new run in another folder", root.display());
        };
        let settings = &origin.settings;
        let config = TrainConfig::read_of_run(&folder.config_path(), settings)?;
        let ruleset_path = folder.ruleset_path();
        let rules = rulesets::load(&ruleset_path.display().to_string())?;
        config.validate(&Shape::of(&rules))?;
        let device = Device::open(config.device.parse()?)?;
        let (mut trainer, extra) = Trainer::load(&path, device).context("reading the last checkpoint")?;
        let mut state: RunState =
            serde_json::from_str(&extra).with_context(|| format!("{}: state of the run", path.display()))?;
        state.allow(&config, settings).with_context(|| root.display().to_string())?;
        if ruleset_fingerprint(rules.ruleset()) != state.ruleset {
            bail!("{}: the rules are not those that the run began with; restore them", ruleset_path.display());
        }
        let (baseline, anchors) = evaluation_matches(&rules, &config)?;
        folder.remove_unfinished(state.generations);
        trainer.set_config(&config.training)?;
        let mut resumption = origin.describe(device);
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
        let ruleset_text = std::fs::read_to_string(&ruleset_path)?;
        Ok(TrainingRun {
            config,
            folder,
            rules,
            ruleset_text,
            commit: origin.commit.clone(),
            device,
            trainer,
            window,
            state,
            baseline,
            anchors,
            events,
            observer,
            stop,
            since: Instant::now(),
        })
    }

    /// Makes round after round until the budget is spent, then plays the final matches and writes the exported files.
    ///
    /// # Errors
    /// What keeps the run from going on. The last checkpoint is whole.
    pub fn run(&mut self) -> Result<RunEnd, Error> {
        let parameters = self.trainer.averaged_network()?.parameter_count();
        self.observer.event(Event::Started {
            folder: self.folder.root(),
            ruleset: &self.rules.ruleset().id,
            config: &self.config,
            parameters,
            device: self.device,
            precision: self.state.precision,
            done: self.totals(),
        });
        self.since = Instant::now();
        let ended = loop {
            if self.state.is_trained && self.is_over() {
                break self.conclude();
            }
            if let Err(error) = self.round() {
                break Err(error);
            }
        };
        match ended {
            Ok(()) => Ok(RunEnd::Finished),
            Err(error) if error.is_stopped() => Ok(RunEnd::Stopped),
            Err(error) if error.is_divergence() => {
                let root = self.folder.root().display();
                Err(error.context(format!(
                    "training diverged; the checkpoint after {} generations is good: resume it with a lower learning rate, \
                     for example train --resume {root} --set training.learning_rate={}",
                    self.state.generations,
                    self.config.training.learning_rate / 2.0
                )))
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the folder of the run.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.root()
    }

    /// Returns what the run has done so far.
    pub(crate) fn totals(&self) -> Totals {
        let RunState { generations, games, samples, .. } = self.state;
        Totals { generations, games, samples }
    }

    /// Returns the seconds that the run has taken, without breaks.
    pub(crate) fn elapsed_secs(&self) -> f64 {
        self.state.elapsed_secs + self.since.elapsed().as_secs_f64()
    }

    /// Starts the clock again at zero, because the seconds so far are in the state.
    pub(crate) fn restart_clock(&mut self) {
        self.since = Instant::now();
    }

    /// Returns the seconds left of the budget, if it limits the time.
    pub(crate) fn secs_left(&self) -> Option<f64> {
        let minutes = self.config.budget.minutes;
        (minutes > 0.0).then(|| (minutes * 60.0 - self.elapsed_secs()).max(0.0))
    }

    /// Returns whether no further generation is to be played, because it and the training after it would end more than
    /// half a generation after the budget.
    pub(crate) fn is_over(&self) -> bool {
        let (budget, state) = (&self.config.budget, &self.state);
        let ends = self.elapsed_secs() + state.last_secs / 2.0 + state.last_training_secs;
        budget.generations > 0 && state.generations >= budget.generations
            || budget.minutes > 0.0 && state.generations > 0 && ends > budget.minutes * 60.0
    }

    /// Plays a match of the network as it is now.
    pub(crate) fn measure(&self, evaluation: &EvaluationMatch, pairs: u64, number: u64) -> Result<Verdict, Error> {
        let network = self.trainer.averaged_network()?;
        let precision = choose_precision(&network, self.device, self.config.precision, &self.rules)?.precision;
        let evaluator = play_network::evaluator(&network, self.device, precision)?;
        let stop = &self.stop;
        let work =
            self.observer.begin(&format!("match against {}", evaluation.opponent()), 2 * pairs, self.secs_left());
        let watch = |games: Option<u64>| {
            games.into_iter().for_each(|games| work.set(games));
            !stop.load(Ordering::Relaxed)
        };
        evaluation.play(evaluator, pairs, match_seed(self.config.seed, number), &watch)
    }
}

/// Returns the seed of the match before generation `number`.
pub(crate) fn match_seed(seed: u64, number: u64) -> u64 {
    seed ^ (number + 1) << 32
}

/// Returns the match against the baseline and those against the anchors.
fn evaluation_matches(
    rules: &Arc<Rules>,
    config: &TrainConfig,
) -> Result<(EvaluationMatch, Vec<EvaluationMatch>), Error> {
    let evaluation = |opponent: &str| EvaluationMatch::new(Arc::clone(rules), config, opponent);
    let baseline = evaluation(&config.evaluation.baseline).context("evaluation.baseline")?;
    let anchors = config.evaluation.anchors.iter().map(|anchor| evaluation(anchor)).collect::<Result<_, Error>>();
    Ok((baseline, anchors.context("evaluation.anchors")?))
}

/// Reads the newest shards that fill the window.
fn window(folder: &RunDir, rules: &Arc<Rules>, config: &TrainConfig, state: &RunState) -> Result<ReplayWindow, Error> {
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

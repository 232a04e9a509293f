//! A run from its beginning, or from its last checkpoint, to its end.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use latrunculi_data::files::checksum;
use latrunculi_data::{DeviceChoice, Precision, ReplayPart, ReplayWindows, Samples, ShardSummary, read_shard};
use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_engine::{Rules, RulesetFile};
use latrunculi_eval::learning::RunMatch;
use latrunculi_model::device::libtorch_version;
use latrunculi_model::{Device, Model, Network, Trainer};
use latrunculi_selfplay::{Pool, states_from_bytes};
use serde_json::{Value, json};

use crate::conclude::model_info;
use crate::confirm;
use crate::state::{MixWindow, RulesetState, RunState};
use latrunculi_train::config::{GamesDevice, TrainConfig};
use latrunculi_train::error::{Context, Error, bail};
use latrunculi_train::evaluation::EvaluationMatch;
use latrunculi_train::events::Events;
use latrunculi_train::files::{file_name, write_whole};
use latrunculi_train::models::NetworkOpener;
use latrunculi_train::networks::{FusedNetwork, NetworkLoader, PlayNetwork, Processor};
use latrunculi_train::observer::{Event, Observer, Totals};
use latrunculi_train::provenance::{self, Origin};
use latrunculi_train::run_dir::{CONFIG, EVENTS, METRICS, PROVENANCE, RunDir};
use latrunculi_train::run_rulesets::{self, RunRuleset};
use latrunculi_train::workers::Leader;
use latrunculi_train::{PrecisionChoice, choose_precision, models, rulesets};

use crate::error::{OfLibtorch, is_divergence};
use crate::play_network::{LibtorchNetwork, OnDevice, check_precision, load_model};
use crate::run_pools;

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
    /// The rulesets that the run trains on.
    pub(crate) rulesets: Vec<RunRuleset>,
    /// The rules of the mixes that are played, in the order of the state.
    pub(crate) mixes: Vec<Arc<Rules>>,
    /// The commit of the program's source, for the model card.
    pub(crate) commit: Option<String>,
    /// Where the network is trained.
    pub(crate) device: Device,
    /// Where it plays.
    pub(crate) play_device: Device,
    pub(crate) trainer: Trainer,
    pub(crate) windows: ReplayWindows,
    /// The games in flight; empty before the first generation that a network plays.
    pub(crate) pools: Vec<Pool>,
    pub(crate) state: RunState,
    pub(crate) events: Events,
    pub(crate) observer: &'o dyn Observer,
    pub(crate) stop: StopFlag,
    /// Who plays the games instead of this program.
    pub(crate) workers: Option<Leader>,
    since: Instant,
}

impl<'o> TrainingRun<'o> {
    /// Begins a run in the folder that `folder` returns, which holds no run and is made if needed.
    /// Fails when the configuration or the device cannot be used, before a folder is asked for; when the folder holds a run or
    /// cannot be written.
    pub fn begin(
        mut config: TrainConfig,
        folder: impl FnOnce() -> Result<PathBuf, Error>,
        origin: &Origin,
        stop: StopFlag,
        observer: &'o dyn Observer,
    ) -> Result<TrainingRun<'o>, Error> {
        let rulesets = run_rulesets::load(&config.rulesets)?;
        config.validate(rulesets.len())?;
        let device = training_device(&config)?;
        let play_device = play_device(&config, device);
        check_precision(config.precision, play_device)?;
        check_opponents(&rulesets, &config, play_device)?;
        let (network, steps_before) = match &origin.from {
            Some(path) => {
                let Model { network, info } = load_model(path, device)?.1;
                config.network = network.config().clone();
                // The network's own games teach it more than those of alpha-beta.
                config.teacher.generations = 0;
                (network, info.training.all_steps())
            }
            None => {
                let network = Network::new(&config.network, config.seed, device).of_libtorch();
                (network.context("making the network")?, 0)
            }
        };
        let folder = RunDir::create(&folder()?)?;
        for trained in &rulesets {
            let text = trained.rules.ruleset().to_toml();
            write_whole(&folder.ruleset_path(trained.id()), text.as_bytes())?;
        }
        let trainer = Trainer::new(&network, &config.training).of_libtorch().context("setting up the training")?;
        let trainer = trainer.after(steps_before);
        let playing = LibtorchNetwork { network, device: play_device };
        let precision = playing.precision(config.precision);
        let mut provenance = describe(origin, device);
        provenance["config"] = json!(origin.config);
        provenance["seed"] = json!(config.seed);
        provenance["precision"] = json!(precision);
        provenance["kernel"] = json!(playing.kernel(precision));
        if let Some(path) = &origin.from {
            let checksum = models::checksum(&path.to_string_lossy())?;
            provenance["from"] = json!({ "model": path.display().to_string(), "checksum": checksum });
        }
        write_whole(&folder.path(PROVENANCE), format!("{provenance:#}\n").as_bytes())?;
        let mut state = RunState::new(&config, &rulesets, precision)?;
        if steps_before > 0 && config.evaluation.earlier_opening_pairs > 0 {
            // The first match in each ruleset tells how far the network has come from where it began.
            write_whole(&folder.network_path(0), &playing.file(model_info(&config, &rulesets))?)?;
            state.rulesets.iter_mut().for_each(|known| known.measured = Some(0));
        }
        state.save(&folder, &trainer)?;
        // The configuration comes last: a folder without it holds no run.
        write_whole(&folder.path(CONFIG), config.to_text()?.as_bytes())?;
        let (windows, _) = windows(&folder, &rulesets, &config, &state)?;
        let events = Events::open(&folder.path(EVENTS), 0)?;
        Ok(TrainingRun {
            config,
            folder,
            rulesets,
            mixes: Vec::new(),
            commit: origin.commit.clone(),
            device,
            play_device,
            trainer,
            windows,
            pools: Vec::new(),
            state,
            events,
            observer,
            stop,
            workers: None,
            since: Instant::now(),
        })
    }

    /// Opens the run in a folder at its last checkpoint, with its configuration changed by the settings of `origin`.
    /// Fails when there is no run, a file of it is damaged, or a setting cannot be changed.
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
        let config = TrainConfig::read_of_run(&folder.path(CONFIG), settings)?;
        let device = training_device(&config)?;
        let (mut trainer, extra) = Trainer::load(&path, device).of_libtorch().context("reading the last checkpoint")?;
        let mut state: RunState =
            serde_json::from_str(&extra).with_context(|| format!("{}: state of the run", path.display()))?;
        let rulesets = rulesets_of_run(&folder, &state)?;
        let has_metrics = confirm::counters(&folder, &path, &state, trainer.counters())?;
        config.validate(rulesets.len())?;
        state.allow(&config, settings).with_context(|| root.display().to_string())?;
        let play_device = play_device(&config, device);
        check_precision(config.precision, play_device)?;
        check_opponents(&rulesets, &config, play_device)?;
        folder.remove_unfinished(state.generations);
        trainer.set_config(&config.training).of_libtorch()?;
        let (windows, shards) = windows(&folder, &rulesets, &config, &state)?;
        let mixes: Vec<Arc<Rules>> =
            state.mixes.iter().map(|mix| rules_of_text(&mix.text)).collect::<Result<_, _>>().context("the mixes")?;
        let pools = pools(&folder, &rulesets, &mixes, &config, &state)?;
        state.shards = shards;
        // All is there: from here on the run changes.
        let mut resumption = describe(origin, device);
        resumption["after_generations"] = json!(state.generations);
        provenance::add_resumption(&folder.path(PROVENANCE), resumption)?;
        if !settings.is_empty() {
            let was = TrainConfig::from_text(&state.config).context("the configuration in the checkpoint")?;
            if was.replay.reuse != config.replay.reuse {
                let (counted, batch_size) = (trainer.counters().samples, config.games.batch_size);
                let (played, trained) = state.reuse_since;
                let (played, trained) = (state.samples.saturating_sub(played), counted.saturating_sub(trained));
                // The steps that the newest generation is still owed are made, as many as before.
                let owed = (was.replay.steps_allowed(played, trained, batch_size) * batch_size as u64) as f64;
                let still_new = (owed / config.replay.reuse).ceil() as u64;
                state.reuse_since = (state.samples.saturating_sub(still_new), counted);
            }
            state.config = config.to_text()?;
            write_whole(&folder.path(CONFIG), state.config.as_bytes())?;
            state.save(&folder, &trainer)?;
        }
        match has_metrics {
            true => folder.cut_metrics(state.metrics_bytes)?,
            false => observer.event(Event::MetricsMissing { path: &folder.path(METRICS) }),
        }
        let events = Events::open(&folder.path(EVENTS), state.events_bytes)?;
        Ok(TrainingRun {
            config,
            folder,
            rulesets,
            mixes,
            commit: origin.commit.clone(),
            device,
            play_device,
            trainer,
            windows,
            pools,
            state,
            events,
            observer,
            stop,
            workers: None,
            since: Instant::now(),
        })
    }

    /// Makes round after round until the budget is spent, then plays the final matches and writes the exported files.
    /// Error: what keeps the run from going on. The last checkpoint is whole.
    pub fn run(&mut self) -> Result<RunEnd, Error> {
        let parameters = self.trainer.averaged_network().of_libtorch()?.parameter_count();
        self.observer.event(Event::Started {
            folder: self.folder.root(),
            config: &self.config,
            parameters,
            device: match self.device == self.play_device {
                true => self.device.to_string(),
                false => format!("{}, games on {}", self.device, self.play_device),
            },
            precision: self.state.precision,
            done: self.totals(),
        });
        self.since = Instant::now();
        if !(self.state.is_trained && self.is_over()) {
            self.folder.remove_result()?;
        }
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
            Err(error) if is_divergence(&error) => {
                let root = self.folder.root().display();
                Err(error.context(format!(
                    "training diverged; the checkpoint after {} generations is good: resume it with a lower learning rate, \
                     for example latrunculi train --resume {root} --set training.learning_rate={}",
                    self.state.generations,
                    self.config.training.learning_rate / 2.0
                )))
            }
            Err(error) => Err(error),
        }
    }

    /// Lets workers play the games. Without them, all is played here. Games in flight, which a run without workers has, are
    /// dropped.
    pub fn set_workers(&mut self, leader: Leader) {
        self.workers = Some(leader);
    }

    /// Returns the folder of the run.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.root()
    }

    pub(crate) fn totals(&self) -> Totals {
        let RunState { generations, games, samples, .. } = self.state;
        Totals { generations, games, samples }
    }

    /// Returns the seconds since the last checkpoint. A run that is stopped now repeats what it did in them, but for the games
    /// of alpha-beta that have ended.
    #[must_use]
    pub fn secs_since_checkpoint(&self) -> f64 {
        self.since.elapsed().as_secs_f64()
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

    /// Plays a match of `network` in one ruleset at the end of the run.
    pub(crate) fn measure(
        &self,
        network: &LibtorchNetwork,
        precision: Precision,
        rules: &Arc<Rules>,
        opponent: &str,
        pairs: u64,
    ) -> Result<RunMatch, Error> {
        let networks = opponent_networks(&self.config, self.play_device);
        let evaluation = EvaluationMatch::new(Arc::clone(rules), &self.config, opponent, networks)?;
        let evaluator = network.evaluators(1, precision)?.remove(0);
        let stop = &self.stop;
        let work = self.observer.begin(&match_name(rules), 2 * pairs, "games", self.secs_left());
        let watch = |games: Option<u64>| {
            games.into_iter().for_each(&work);
            !stop.load(Ordering::Relaxed)
        };
        evaluation.play(evaluator, pairs, self.config.seed, &watch)
    }

    /// Returns the network as it is now, ready to play.
    pub(crate) fn playing(&self) -> Result<LibtorchNetwork, Error> {
        Ok(LibtorchNetwork { network: self.trainer.averaged_network().of_libtorch()?, device: self.play_device })
    }

    /// Chooses the precision of a network in play: fewer than 32 bits only where the answers agree on a board of every size.
    pub(crate) fn choose_precision(&self, network: &LibtorchNetwork) -> Result<PrecisionChoice, Error> {
        choose_precision_of(network, &self.config, &self.rulesets)
    }
}

/// As [`TrainingRun::choose_precision`].
pub(crate) fn choose_precision_of(
    network: &LibtorchNetwork,
    config: &TrainConfig,
    rulesets: &[RunRuleset],
) -> Result<PrecisionChoice, Error> {
    let mut sizes = Vec::new();
    let mut chosen: Option<PrecisionChoice> = None;
    for RunRuleset { rules, .. } in rulesets {
        let size = (rules.files(), rules.ranks());
        if sizes.contains(&size) {
            continue;
        }
        sizes.push(size);
        let choice = choose_precision(network, config.precision, rules)?;
        // Of two, the one that is more exact: its difference is the reason.
        let exactness = |choice: &PrecisionChoice| match choice.precision {
            Precision::Int8 => 0,
            Precision::Bf16 | Precision::Auto => 1,
            Precision::F32 => 2,
        };
        chosen = chosen.into_iter().chain([choice]).max_by_key(exactness);
    }
    chosen.context("a run has a ruleset")
}

pub(crate) fn match_name(rules: &Rules) -> String {
    format!("match in {}", rules.ruleset().id)
}

/// Returns the seed of the match before generation `number`.
pub(crate) fn match_seed(seed: u64, number: u64) -> u64 {
    seed ^ (number + 1) << 32
}

fn describe(origin: &Origin, device: Device) -> Value {
    origin.describe(&device.to_string(), libtorch_version())
}

/// Opens where the network is trained. `auto` takes the processor for networks of fewer than 64 channels where it plays them: a GPU
/// waits for the many small operations of a step. Of `quick` two cores with AVX-512 learned 25,000 samples/s, an H200 24,000.
fn training_device(config: &TrainConfig) -> Result<Device, Error> {
    let auto = GamesDevice::Auto;
    let choice = match config.device.parse()? {
        DeviceChoice::Auto if config.network.channels < 64 && is_processor(auto, config) => DeviceChoice::Cpu,
        choice => choice,
    };
    Device::open(choice).of_libtorch()
}

fn is_processor(device: GamesDevice, config: &TrainConfig) -> bool {
    let has_bf16 = FusedNetwork::kernel_of(Precision::Bf16).is_available();
    device.is_processor(config.network.channels, config.games.actors, has_bf16)
}

/// Returns where a network plays that is trained on `device`.
fn play_device(config: &TrainConfig, device: Device) -> Device {
    match is_processor(config.games.device, config) {
        true => Device::CPU,
        // Libtorch computes where the network is.
        false => device,
    }
}

pub(crate) fn opponent_networks(config: &TrainConfig, device: Device) -> NetworkOpener {
    let loader: Arc<dyn NetworkLoader> = if device.is_gpu() { Arc::new(OnDevice(device)) } else { Arc::new(Processor) };
    NetworkOpener { loader, precision: config.precision, notice: Arc::new(|_: &str| ()) }
}

fn check_opponents(rulesets: &[RunRuleset], config: &TrainConfig, device: Device) -> Result<(), Error> {
    let evaluation = &config.evaluation;
    let opponents = std::iter::once(("evaluation.baseline", &evaluation.baseline))
        .chain(evaluation.anchors.iter().map(|anchor| ("evaluation.anchors", anchor)));
    for (key, opponent) in opponents {
        for trained in rulesets {
            EvaluationMatch::new(Arc::clone(&trained.rules), config, opponent, opponent_networks(config, device))
                .context(key)?;
        }
    }
    Ok(())
}

/// Reads the rulesets of a run, with their shares.
fn rulesets_of_run(folder: &RunDir, state: &RunState) -> Result<Vec<RunRuleset>, Error> {
    let ruleset = |known: &RulesetState| {
        let path = folder.ruleset_path(&known.name);
        let rules = rulesets::load(&path.display().to_string())?;
        if ruleset_fingerprint(rules.ruleset()) != known.fingerprint {
            bail!("{}: the rules are not those that the run began with; restore them", path.display());
        }
        Ok(RunRuleset { rules, family: known.family.clone(), share: known.share })
    };
    state.rulesets.iter().map(ruleset).collect()
}

/// Reads the rules of a text that [`latrunculi_engine::Ruleset::to_toml`] wrote.
fn rules_of_text(text: &str) -> Result<Arc<Rules>, Error> {
    Ok(Arc::new(RulesetFile::parse(text)?.rules()))
}

/// Reads the games in flight at the checkpoint. Where there are other pools now, because the configuration has been
/// changed, the games of those that are gone are dropped; new ones are made when they are first needed.
fn pools(
    folder: &RunDir,
    rulesets: &[RunRuleset],
    mixes: &[Arc<Rules>],
    config: &TrainConfig,
    state: &RunState,
) -> Result<Vec<Pool>, Error> {
    if state.pools == 0 {
        return Ok(Vec::new());
    }
    let path = folder.pools_path(state.generations);
    let shown = || path.display().to_string();
    let bytes = std::fs::read(&path).with_context(shown)?;
    if state.pools_checksum != Some(checksum(&bytes[..])?) {
        bail!("{}: it is not the file that was written with the checkpoint; restore it", path.display());
    }
    let states = states_from_bytes(&bytes).with_context(shown)?;
    if states.len() != state.pools {
        bail!("{}: it has {} pools, where the checkpoint has {}", path.display(), states.len(), state.pools);
    }
    let numbered = state.mixes.iter().map(|mix| mix.number).zip(mixes);
    let plans = run_pools::plans(config, rulesets, numbered);
    let restored = states.into_iter().filter_map(|state| {
        let plan = plans.iter().find(|plan| plan.name == state.name())?;
        Some(Pool::restore(plan.clone(), state))
    });
    restored.collect::<Result<_, _>>().with_context(shown)
}

/// Reads the shards that were in the replay windows at the checkpoint; returns them with their checksums.
fn windows(
    folder: &RunDir,
    rulesets: &[RunRuleset],
    config: &TrainConfig,
    state: &RunState,
) -> Result<(ReplayWindows, BTreeMap<String, String>), Error> {
    let mut shards: Vec<(Arc<Rules>, u64, Samples)> = Vec::new();
    let mut checksums = BTreeMap::new();
    let mut read = |rules: &Arc<Rules>, generation: u64, name: &str| -> Result<u64, Error> {
        let path = folder.shard_path(generation, name);
        let (samples, checksum) = read_own_shard(&path, rules, generation, config, state)?;
        checksums.insert(file_name(&path), checksum);
        let count = samples.len() as u64;
        shards.push((Arc::clone(rules), generation, samples));
        Ok(count)
    };
    let mut parts = Vec::new();
    let mixes_share = config.mixes.fraction;
    let too_many = |name: &str, counted: u64| {
        format!("the checkpoint counts {counted} samples of {name}, and the shards in its window have more")
    };
    for (RunRuleset { rules, share, .. }, known) in rulesets.iter().zip(&state.rulesets) {
        let mut earlier = known.samples;
        for &generation in &known.window {
            let count = read(rules, generation, &known.name).context("filling the replay window")?;
            earlier = earlier.checked_sub(count).with_context(|| too_many(&known.name, known.samples))?;
        }
        parts.push(ReplayPart { rules: Arc::clone(rules), share: share * (1.0 - mixes_share), earlier });
    }
    let mut mixes_earlier = state.mixes_samples;
    for MixWindow { name, generations } in &state.mix_windows {
        let mut rules: Option<Arc<Rules>> = None;
        for &generation in generations {
            let path = folder.shard_path(generation, name);
            let rules = match &mut rules {
                Some(rules) => rules,
                none => {
                    let text = ShardSummary::read(&path).context("filling the replay window")?.ruleset_text;
                    none.insert(rules_of_text(&text).with_context(|| path.display().to_string())?)
                }
            };
            let count = read(rules, generation, name).context("filling the replay window")?;
            mixes_earlier = mixes_earlier.checked_sub(count).with_context(|| too_many("mixes", state.mixes_samples))?;
        }
    }
    let mut windows = ReplayWindows::new(config.replay, parts, mixes_share, mixes_earlier);
    for (rules, generation, samples) in shards {
        windows.add(&rules, generation, samples);
    }
    Ok((windows, checksums))
}

/// Reads a shard that this run has written; returns its samples and its checksum.
fn read_own_shard(
    path: &Path,
    rules: &Rules,
    generation: u64,
    config: &TrainConfig,
    state: &RunState,
) -> Result<(Samples, String), Error> {
    let shown = path.display();
    let (info, samples) = read_shard(path, rules)?;
    for (what, found, wanted) in
        [("generation", info.generation, generation), ("a run with the seed", info.run_seed, config.seed)]
    {
        if found != wanted {
            bail!("{shown}: its games are of {what} {found}, not {wanted}; restore the file that this run wrote");
        }
    }
    let checksum = File::open(path).and_then(checksum).with_context(|| shown.to_string())?;
    if state.shards.get(&file_name(path)) != Some(&checksum) {
        bail!("{shown}: its checksum is not the one in the checkpoint; restore the file that this run wrote");
    }
    Ok((samples, checksum))
}

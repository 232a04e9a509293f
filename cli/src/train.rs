//! `latrunculi train`: self-play, training, evaluation, generation after generation.

mod display;
mod judge;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::{Context, bail};
use latrunculi_engine::encoding::Shape;
use latrunculi_engine::{Player, Rules};
use latrunculi_eval::statistics::{Confidence, GameResult, Trinomial};
use latrunculi_model::{
    Device, EncodingNames, ExportFormat, InferenceNetwork, Measurement, Model, ModelHistory, ModelInfo, NetEvaluator,
    Network, Precision, StepReport, Trainer,
};
use latrunculi_search::evaluators::Uniform;
use latrunculi_selfplay::games::LaneEvaluator;
use latrunculi_selfplay::{
    GameKey, PlayedGame, Progress, Purpose, ReplayWindow, Samples, SelfPlayError, SelfPlayPlan, SelfPlaySettings,
    ShardInfo, play_games, read_shard, write_shard,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::export::Exports;
use crate::rulesets_source;
use crate::run_dir::{RunDir, write_whole};
use crate::train_config::TrainConfig;
use display::Display;
use judge::{Judge, Verdict};

/// The commit of the source that the program was made from, where that is known.
const COMMIT: Option<&str> = option_env!("LATRUNCULI_COMMIT");

/// Arguments of `train`
#[derive(clap::Args)]
pub(crate) struct TrainArgs {
    /// The configuration (see configs/train)
    #[arg(required_unless_present = "resume", conflicts_with = "resume")]
    config: Option<PathBuf>,
    /// Folder of the run; by default a new one under runs/
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    run: Option<PathBuf>,
    /// Sets one value of the configuration, as budget.minutes=5; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// Continues the run in this folder from its last checkpoint
    #[arg(long, value_name = "DIR")]
    resume: Option<PathBuf>,
    /// Shows no progress, only a line per generation and the result
    #[arg(long)]
    quiet: bool,
}

/// How far a run has come; kept in the checkpoint beside the weights.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RunState {
    /// Generations made.
    generations: u64,
    /// Games played.
    games: u64,
    /// Samples played.
    samples: u64,
    /// Seconds that the generations took.
    elapsed_secs: f64,
    /// Seconds of the last generation of self-play, by which the end is planned.
    last_secs: f64,
    /// Length of the metrics at this moment.
    metrics_bytes: u64,
    /// The precision that was chosen for play at the beginning.
    precision: Precision,
    /// The last measured strength.
    verdict: Option<Verdict>,
    /// The score of whoever begins in the last generation of self-play.
    #[serde(default)]
    first_player: Option<Measurement>,
}

/// Runs `train`.
///
/// # Errors
/// Everything that keeps the run from going on, with what was being attempted.
pub(crate) fn run(args: TrainArgs) -> anyhow::Result<()> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        // The second one ends the program at once: this is looked at before the flag is set.
        signal_hook::flag::register_conditional_shutdown(signal, 1, Arc::clone(&stop))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&stop)))
            .context("listening for Ctrl-C")?;
    }
    let mut run = match (&args.config, &args.resume) {
        (_, Some(folder)) => TrainingRun::resume(folder.clone(), &args.settings, stop)?,
        (Some(config), None) => TrainingRun::begin(config, args.run.clone(), &args.settings, stop)?,
        (None, None) => bail!("a configuration or --resume DIR is needed"),
    };
    run.display = Display::new(args.quiet);
    run.go()
}

/// A run in progress.
struct TrainingRun {
    config: TrainConfig,
    folder: RunDir,
    rules: Arc<Rules>,
    ruleset_text: String,
    device: Device,
    trainer: Trainer,
    window: ReplayWindow,
    state: RunState,
    judge: Judge,
    display: Display,
    stop: Arc<AtomicBool>,
    since: Instant,
}

/// What training of one generation found.
#[derive(Default)]
struct Fit {
    steps: u64,
    /// Means over the steps.
    report: StepReport,
    secs: f64,
}

impl TrainingRun {
    fn begin(
        config_path: &std::path::Path,
        folder: Option<PathBuf>,
        settings: &[String],
        stop: Arc<AtomicBool>,
    ) -> anyhow::Result<TrainingRun> {
        let config = TrainConfig::read(config_path, settings)?;
        let rules = rulesets_source::load(&config.ruleset)?;
        let shape = Shape::of(&rules);
        config.validate(&shape)?;
        let judge =
            Judge::new(Arc::clone(&rules), &config, &config.evaluation.baseline).context("evaluation.baseline")?;
        let device = Device::open(config.device.parse()?)?;
        let root = match folder {
            Some(folder) => folder,
            None => free_folder(config_path, &config),
        };
        let folder = RunDir::create(&root)?;
        let ruleset_text = rules.ruleset().to_toml();
        write_whole(&folder.ruleset_path(), ruleset_text.as_bytes())?;
        let provenance = json!({
            "program": env!("CARGO_PKG_NAME"),
            "version": env!("CARGO_PKG_VERSION"),
            "commit": COMMIT,
            "config": config_path.display().to_string(),
            "settings": settings,
            "seed": config.seed,
            "device": device.to_string(),
            "system": format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
            "threads": std::thread::available_parallelism().map_or(1, usize::from),
        });
        write_whole(&folder.provenance_path(), format!("{provenance:#}\n").as_bytes())?;
        let network = Network::new(&config.network, &shape, config.seed, device).context("making the network")?;
        let mut trainer = Trainer::new(&network, &config.training).context("setting up the training")?;
        let precision = InferenceNetwork::new(&network, device, config.precision)?.precision();
        let state = RunState { precision, ..RunState::default() };
        save(&folder, &mut trainer, &state)?;
        // The configuration comes last: a folder without it holds no run.
        write_whole(&folder.config_path(), config.to_text()?.as_bytes())?;
        let window = ReplayWindow::new(Arc::clone(&rules), config.replay, 0);
        Ok(TrainingRun::new(config, folder, rules, ruleset_text, device, trainer, window, state, judge, stop))
    }

    fn resume(root: PathBuf, settings: &[String], stop: Arc<AtomicBool>) -> anyhow::Result<TrainingRun> {
        let folder = RunDir::open(&root)?;
        let config = TrainConfig::read(&folder.config_path(), settings)?;
        let ruleset_path = folder.ruleset_path();
        let rules = rulesets_source::load(&ruleset_path.display().to_string())?;
        config.validate(&Shape::of(&rules))?;
        let judge =
            Judge::new(Arc::clone(&rules), &config, &config.evaluation.baseline).context("evaluation.baseline")?;
        let device = Device::open(config.device.parse()?)?;
        let Some(path) = folder.latest()? else {
            bail!("{}: the run has no checkpoint yet; begin it anew", root.display());
        };
        let (trainer, extra) = Trainer::load(&path, device).context("reading the last checkpoint")?;
        let state: RunState =
            serde_json::from_str(&extra).with_context(|| format!("{}: state of the run", path.display()))?;
        if !settings.is_empty() {
            write_whole(&folder.config_path(), config.to_text()?.as_bytes())?;
        }
        folder.cut_metrics(state.metrics_bytes)?;
        // The newest shards that fill the window, then in the order in which they were played.
        let wanted = config.replay.window_len(state.samples);
        let mut shards: Vec<(u64, Samples)> = Vec::new();
        let mut held = 0;
        for generation in (0..state.generations).rev() {
            if held >= wanted {
                break;
            }
            let (_, samples) = read_shard(&folder.shard_path(generation), &rules).context("filling the window")?;
            held += samples.len() as u64;
            shards.push((generation, samples));
        }
        let mut window = ReplayWindow::new(Arc::clone(&rules), config.replay, state.samples - held.min(state.samples));
        for (generation, samples) in shards.into_iter().rev() {
            window.add(generation, samples);
        }
        let ruleset_text = fs::read_to_string(&ruleset_path)?;
        Ok(TrainingRun::new(config, folder, rules, ruleset_text, device, trainer, window, state, judge, stop))
    }

    #[expect(clippy::too_many_arguments, reason = "the one place where the parts of a run come together")]
    fn new(
        config: TrainConfig,
        folder: RunDir,
        rules: Arc<Rules>,
        ruleset_text: String,
        device: Device,
        trainer: Trainer,
        window: ReplayWindow,
        state: RunState,
        judge: Judge,
        stop: Arc<AtomicBool>,
    ) -> TrainingRun {
        TrainingRun {
            config,
            folder,
            rules,
            ruleset_text,
            device,
            trainer,
            window,
            state,
            judge,
            display: Display::new(true),
            stop,
            since: Instant::now(),
        }
    }

    fn go(&mut self) -> anyhow::Result<()> {
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
        while !self.is_over() {
            match self.generation() {
                Ok(()) => {}
                Err(error) if is_stop(&error) => {
                    self.display.finish();
                    self.display.say(&format!(
                        "stopped; the last checkpoint is saved. Go on with: latrunculi train --resume {}",
                        self.folder.root().display()
                    ));
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
        match self.conclude() {
            Err(error) if is_stop(&error) => {
                self.display.finish();
                self.display.say(&format!(
                    "stopped before the final match; go on with: latrunculi train --resume {}",
                    self.folder.root().display()
                ));
                Ok(())
            }
            concluded => concluded,
        }
    }

    /// Returns the seconds that the generations have taken, those before a break included.
    fn elapsed_secs(&self) -> f64 {
        self.state.elapsed_secs + self.since.elapsed().as_secs_f64()
    }

    /// Returns the share of the budget that is spent, in `[0, 1]`.
    fn spent(&self) -> f64 {
        let budget = &self.config.budget;
        let time = if budget.minutes > 0.0 { self.elapsed_secs() / (budget.minutes * 60.0) } else { 0.0 };
        let generations = match budget.generations {
            0 => 0.0,
            count => self.state.generations as f64 / count as f64,
        };
        time.max(generations).min(1.0)
    }

    /// Tells whether no further generation is to be begun: it would end more than half outside the budget.
    fn is_over(&self) -> bool {
        let budget = &self.config.budget;
        let ends = self.elapsed_secs() + self.state.last_secs / 2.0;
        budget.generations > 0 && self.state.generations >= budget.generations
            || budget.minutes > 0.0 && self.state.generations > 0 && ends > budget.minutes * 60.0
    }

    /// Makes one generation: games, shard, training, evaluation, checkpoint.
    fn generation(&mut self) -> anyhow::Result<()> {
        let begun = Instant::now();
        let elapsed_before = self.elapsed_secs();
        let generation = self.state.generations;
        let is_taught = generation < self.config.teacher.generations;
        let progress = Progress::default();
        let games = self.play(generation, is_taught, &progress)?;
        let play_secs = begun.elapsed().as_secs_f64();

        let mut samples = Samples::new(Shape::of(&self.rules));
        for game in &games {
            samples.append(&game.samples);
        }
        let info = ShardInfo::new(&self.rules, self.config.seed, generation);
        write_shard(&self.folder.shard_path(generation), &info, &samples)?;
        self.state.games += games.len() as u64;
        self.state.samples += samples.len() as u64;
        let sample_count = samples.len();
        self.window.add(generation, samples);

        if !is_taught {
            self.state.first_player = Some(self.first_player(&games));
        }

        let fit = self.fit(generation)?;
        self.state.generations += 1;
        let every = self.config.evaluation.every;
        let mut verdict = None;
        if every > 0 && self.state.generations.is_multiple_of(every) {
            verdict = Some(self.measure(self.config.evaluation.pairs, generation)?);
            self.state.verdict.clone_from(&verdict);
        }

        let mut metrics = describe_games(&games, play_secs, &progress);
        metrics.insert("generation".to_owned(), json!(generation));
        metrics.insert("teacher".to_owned(), json!(is_taught));
        metrics.insert("samples".to_owned(), json!(sample_count));
        metrics.insert("samples_total".to_owned(), json!(self.state.samples));
        metrics.insert("window".to_owned(), json!(self.window.len()));
        metrics.insert("steps".to_owned(), json!(fit.steps));
        metrics.insert("steps_total".to_owned(), json!(self.trainer.counters().steps));
        metrics.insert("losses".to_owned(), json!(fit.report));
        metrics.insert("play_secs".to_owned(), json!(play_secs));
        metrics.insert("train_secs".to_owned(), json!(fit.secs));
        metrics.insert("elapsed_secs".to_owned(), json!(self.elapsed_secs()));
        if let Some(verdict) = &verdict {
            metrics.insert("verdict".to_owned(), json!(verdict));
        }
        self.say_generation(&metrics, &fit, verdict.as_ref());
        self.folder.add_metrics(&Value::Object(metrics))?;
        self.state.metrics_bytes = self.folder.metrics_bytes();
        self.state.last_secs = self.elapsed_secs() - elapsed_before;
        let state = RunState { elapsed_secs: self.elapsed_secs(), ..self.state.clone() };
        save(&self.folder, &mut self.trainer, &state)
    }

    fn play(&mut self, generation: u64, is_taught: bool, progress: &Progress) -> anyhow::Result<Vec<PlayedGame>> {
        let config = &self.config;
        let teacher = &config.teacher;
        let settings = if is_taught {
            SelfPlaySettings {
                opening_share: teacher.opening_share,
                opening_actions_max: teacher.opening_actions_max,
                ..config.selfplay.clone()
            }
        } else {
            config.selfplay.clone()
        };
        let plan = SelfPlayPlan {
            rules: Arc::clone(&self.rules),
            settings,
            run_seed: config.seed,
            generation,
            played: BTreeSet::new(),
            games: if is_taught { teacher.games } else { config.games.per_generation },
            in_flight: config.games.in_flight,
            teaching: is_taught.then_some(teacher.alphabeta),
            parallel_trees: config.games.parallel_trees,
        };
        let name = if is_taught { "teacher's games" } else { "self-play" };
        self.display.begin(&format!("generation {generation}: {name}"), plan.games, self.time_left());
        let display = &self.display;
        let stop = &self.stop;
        let watch = |progress: &Progress| {
            display.set(progress.games.load(Ordering::Relaxed));
            !stop.load(Ordering::Relaxed)
        };
        let played = if is_taught {
            let mut idle = vec![Uniform; config.games.lanes];
            let mut lanes: Vec<LaneEvaluator<'_>> = idle.iter_mut().map(|idle| -> LaneEvaluator<'_> { idle }).collect();
            play_games(&plan, &mut lanes, progress, &watch)
        } else {
            let mut evaluators = self.evaluators()?;
            let mut lanes: Vec<LaneEvaluator<'_>> =
                evaluators.iter_mut().map(|evaluator| -> LaneEvaluator<'_> { evaluator }).collect();
            play_games(&plan, &mut lanes, progress, &watch)
        };
        self.display.finish();
        Ok(played?)
    }

    /// Returns one evaluator per lane, with the averaged weights.
    fn evaluators(&self) -> anyhow::Result<Vec<NetEvaluator>> {
        let network = self.trainer.averaged_network()?;
        (0..self.config.games.lanes)
            .map(|_| Ok(NetEvaluator::new(InferenceNetwork::new(&network, self.device, self.state.precision)?)))
            .collect()
    }

    fn fit(&mut self, generation: u64) -> anyhow::Result<Fit> {
        let begun = Instant::now();
        let batch_size = self.config.games.batch_size;
        let trained = self.trainer.counters().samples;
        let steps = self.config.replay.steps_allowed(self.state.samples, trained, batch_size);
        let key = GameKey { run_seed: self.config.seed, generation, game: 0 };
        let window =
            std::mem::replace(&mut self.window, ReplayWindow::new(Arc::clone(&self.rules), self.config.replay, 0));
        let mut draw = window.draw(key.stream(Purpose::Training));
        let mut reports = Vec::new();
        self.display.begin(&format!("generation {generation}: training"), steps, self.time_left());
        for step in 0..steps {
            if self.stop.load(Ordering::Relaxed) {
                return Err(SelfPlayError::Stopped.into());
            }
            let spent = match self.config.budget.generations {
                0 => self.spent(),
                count => self.spent().max((generation as f64 + step as f64 / steps as f64) / count as f64),
            };
            let batch = draw.batch(batch_size);
            reports.push(self.trainer.step(&batch, spent).context("a training step")?);
            self.display.set(step + 1);
        }
        self.display.finish();
        drop(draw);
        self.window = window;
        Ok(Fit { steps, report: mean(&reports), secs: begun.elapsed().as_secs_f64() })
    }

    fn measure(&mut self, pairs: u64, generation: u64) -> anyhow::Result<Verdict> {
        let network = InferenceNetwork::new(&self.trainer.averaged_network()?, self.device, self.state.precision)?;
        self.display.begin(&format!("match against {}", self.judge.opponent()), 2 * pairs, self.time_left());
        let display = &self.display;
        let stop = &self.stop;
        let watch = |games: Option<u64>| {
            games.into_iter().for_each(|games| display.set(games));
            !stop.load(Ordering::Relaxed)
        };
        let seed = self.config.seed ^ (generation + 1) << 32;
        let verdict = self.judge.judge(NetEvaluator::new(network), pairs, seed, &watch);
        self.display.finish();
        verdict
    }

    /// Plays the final match and writes the exported files.
    fn conclude(&mut self) -> anyhow::Result<()> {
        let begun = Instant::now();
        let verdict = self.measure(self.config.evaluation.final_pairs, u64::from(u32::MAX))?;
        let match_secs = begun.elapsed().as_secs_f64();
        let mut strength = vec![self.measurement(&verdict)];
        for anchor in self.config.evaluation.anchors.clone() {
            self.judge = Judge::new(Arc::clone(&self.rules), &self.config, &anchor).context("evaluation.anchors")?;
            let verdict = self.measure(self.config.evaluation.pairs, u64::from(u32::MAX))?;
            strength.push(self.measurement(&verdict));
        }
        let model = self.model(strength)?;
        let model_path = self.folder.export_path("model.safetensors");
        model.save(&model_path)?;
        let mut written = vec![format!("wrote {}", model_path.display())];
        let exports = Exports {
            folder: self.folder.export_path(""),
            name: "model".to_owned(),
            formats: ExportFormat::ALL.to_vec(),
            check_positions: 0,
            overwrite: true,
        };
        exports.write(&model, &mut |line| written.push(line)).context("exporting the model")?;
        let result = json!({ "verdict": verdict, "match_secs": match_secs, "state": self.state });
        write_whole(&self.folder.root().join("result.json"), format!("{result:#}\n").as_bytes())?;
        self.display.say(&format!(
            "finished: {} generations, {} games, {} samples, {} steps, {:.1} min; final match {:.0} s",
            self.state.generations,
            self.state.games,
            self.state.samples,
            self.trainer.counters().steps,
            self.elapsed_secs() / 60.0 - match_secs / 60.0,
            match_secs,
        ));
        self.display.say(&format!("score against {verdict}"));
        for line in written {
            self.display.say(&line);
        }
        Ok(())
    }

    fn model(&self, strength: Vec<Measurement>) -> anyhow::Result<Model> {
        let history = ModelHistory {
            program: Some(format!("latrunculi {}", env!("CARGO_PKG_VERSION"))),
            commit: COMMIT.map(str::to_owned),
            seed: Some(self.config.seed),
            generations: Some(self.state.generations),
            games: Some(self.state.games),
            samples: Some(self.state.samples),
            strength,
            first_player: self.state.first_player.clone(),
        };
        let info = ModelInfo {
            ruleset: self.rules.ruleset().id.clone(),
            ruleset_text: self.ruleset_text.clone(),
            encoding: EncodingNames::default(),
            training: self.trainer.counters(),
            history,
            notes: BTreeMap::new(),
        };
        Ok(Model { network: self.trainer.averaged_network()?, info })
    }

    /// Returns a verdict of the final matches with the command that plays such a match again.
    fn measurement(&self, verdict: &Verdict) -> Measurement {
        let Verdict { opponent, simulations, wins, draws, losses, score, lower, upper } = verdict.clone();
        let command = format!(
            "latrunculi match net:model.safetensors,sims={simulations} {opponent} --ruleset {} --games {} --opening {} \
             --seed {}",
            self.config.ruleset,
            wins + draws + losses,
            self.config.evaluation.opening_actions,
            self.config.seed
        );
        let what = format!("against {opponent}, with {simulations} simulations");
        Measurement { what, wins, draws, losses, score, lower, upper, command }
    }

    /// Returns the score of whoever begins in games of self-play. They share no openings, so the interval is that
    /// of independent games.
    fn first_player(&self, games: &[PlayedGame]) -> Measurement {
        let mut results = Trinomial::default();
        for game in games {
            results.record(GameResult::for_player(game.outcome.winner, Player::First));
        }
        let simulations = self.config.selfplay.simulations;
        let interval = results.credible_interval(Confidence::NINETY_FIVE);
        let agent = |seed| format!("net:model.safetensors,sims={simulations},seed={seed}");
        Measurement {
            what: format!("for the player who begins, in self-play with {simulations} simulations"),
            wins: results.wins,
            draws: results.draws,
            losses: results.losses,
            score: results.mean().unwrap_or(0.5),
            lower: interval.lower,
            upper: interval.upper,
            command: format!(
                "latrunculi match {} {} --ruleset {} --games {}",
                agent(1),
                agent(2),
                self.config.ruleset,
                games.len()
            ),
        }
    }

    /// Returns a text for the time that is left, if it is limited.
    fn time_left(&self) -> Option<f64> {
        let minutes = self.config.budget.minutes;
        (minutes > 0.0).then(|| (minutes * 60.0 - self.elapsed_secs()).max(0.0))
    }

    fn say_generation(&self, metrics: &Map<String, Value>, fit: &Fit, verdict: Option<&Verdict>) {
        let number = |name: &str| metrics.get(name).and_then(Value::as_f64).unwrap_or(0.0);
        let strength = match verdict {
            Some(verdict) => format!(" · against {verdict}"),
            None => String::new(),
        };
        let left = self.time_left().map(|secs| format!(" · {:.1} min left", secs / 60.0)).unwrap_or_default();
        let report = &fit.report;
        self.display.say(&format!(
            "gen {:>3}{} · {:.0} games, {:.1}/s, {:.1}k evals/s ({:.0}% net), {:.0} actions, draws {:.2}, first {:.2} · \
             window {:.0}k · {} steps, {:.0} s, loss {:.3} = policy {:.3} (target {:.3}) value {:.3} margin {:.4}, \
             entropy {:.2}{strength}{left}",
            number("generation"),
            if metrics.get("teacher") == Some(&Value::Bool(true)) { " taught" } else { "" },
            number("games"),
            number("games_per_sec"),
            number("evaluations_per_sec") / 1e3,
            number("evaluator_share") * 100.0,
            number("actions_mean"),
            number("draw_rate"),
            number("first_player_score"),
            number("window") / 1e3,
            fit.steps,
            fit.secs,
            report.loss,
            report.policy,
            report.target_entropy,
            report.value,
            report.margin,
            report.policy_entropy,
        ));
    }
}

/// Writes a checkpoint and makes it the newest.
fn save(folder: &RunDir, trainer: &mut Trainer, state: &RunState) -> anyhow::Result<()> {
    let extra = serde_json::to_string(state).context("writing the state of the run")?;
    trainer.save(&folder.checkpoint_path(state.generations), &extra)?;
    folder.set_latest(state.generations)
}

fn is_stop(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref(), Some(SelfPlayError::Stopped))
}

/// Returns a folder under runs/ that is not there yet, named by configuration, ruleset and seed.
fn free_folder(config_path: &std::path::Path, config: &TrainConfig) -> PathBuf {
    let stem =
        |path: &std::path::Path| path.file_stem().map_or("run".into(), |stem| stem.to_string_lossy().into_owned());
    let ruleset = stem(std::path::Path::new(&config.ruleset));
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

/// Sums up the games of a generation.
fn describe_games(games: &[PlayedGame], secs: f64, progress: &Progress) -> Map<String, Value> {
    let count = games.len().max(1) as f64;
    let share = |is_so: &dyn Fn(&PlayedGame) -> bool| games.iter().filter(|game| is_so(game)).count() as f64 / count;
    let draw_rate = share(&|game| game.outcome.winner.is_none());
    let first_wins = share(&|game| game.outcome.winner == Some(Player::First));
    let mut reasons: Map<String, Value> = Map::new();
    for game in games {
        let entry = reasons.entry(game.outcome.reason.as_str()).or_insert(json!(0));
        *entry = json!(entry.as_u64().unwrap_or(0) + 1);
    }
    let load = |number: &std::sync::atomic::AtomicU64| number.load(Ordering::Relaxed) as f64;
    let evaluations = load(&progress.evaluations);
    let described = json!({
        "games": games.len(),
        "games_per_sec": count / secs,
        "evaluations_per_sec": evaluations / secs,
        "batch_mean": if evaluations > 0.0 { evaluations / load(&progress.batches) } else { 0.0 },
        "evaluator_share": if evaluations > 0.0 { load(&progress.evaluator_nanos) / load(&progress.lane_nanos) } else { 0.0 },
        "draw_rate": draw_rate,
        "first_player_score": first_wins + draw_rate / 2.0,
        "actions_mean": games.iter().map(|game| f64::from(game.action_count)).sum::<f64>() / count,
        "turns_mean": games.iter().map(|game| f64::from(game.turn_count)).sum::<f64>() / count,
        "end_reasons": reasons,
    });
    match described {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

fn mean(reports: &[StepReport]) -> StepReport {
    let count = reports.len().max(1) as f64;
    let of = |part: fn(&StepReport) -> f64| reports.iter().map(part).sum::<f64>() / count;
    StepReport {
        loss: of(|report| report.loss),
        policy: of(|report| report.policy),
        value: of(|report| report.value),
        margin: of(|report| report.margin),
        survival: of(|report| report.survival),
        reply: of(|report| report.reply),
        turns_left: of(|report| report.turns_left),
        policy_entropy: of(|report| report.policy_entropy),
        target_entropy: of(|report| report.target_entropy),
        gradient_norm: of(|report| report.gradient_norm),
        learning_rate: of(|report| report.learning_rate),
    }
}

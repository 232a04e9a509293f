//! A round: the games of a generation, and beside them the training on all generations before.
//! Round `g` plays generation `g` with the averaged weights at the beginning of the round, and makes the steps that the
//! samples of generations `0..g` allow. Both depend on the checkpoint before the round alone, whichever ends first. The
//! round after the last generation only trains. The training comes before the games in two cases: before the first
//! generation that a new network plays, which would otherwise be untrained, and where the configuration says so. A network
//! that was trained before is not trained on its first games alone.
//! A game that a network plays belongs to the generation in which it ends. Games in flight are part of the checkpoint and
//! go on in the next round with its network. A round that is interrupted is repeated from the checkpoint; only the games
//! that alpha-beta had finished are kept, in the journal.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use latrunculi_data::files::checksum;
use latrunculi_data::{
    MatchScore, Measurement, ModelInfo, Precision, ReplayWindow, ReplayWindows, ShardInfo, StepReport, write_shard,
};
use latrunculi_engine::Rules;
use latrunculi_eval::learning::{self, EarlierMatch, RunMatch, TrainingMetrics};
use latrunculi_infer::GROUP;
use latrunculi_model::{Device, Trainer};
use latrunculi_selfplay::{GameKey, Pool, PoolState, Progress, Purpose, states_to_bytes};
use latrunculi_stats::{Confidence, GameResult, WinDrawLoss};
use latrunculi_train::error::{Context, bail};
use latrunculi_train::evaluation::EvaluationMatch;
use latrunculi_train::fair_gate::FairGate;
use latrunculi_train::files::{file_name, write_whole};
use latrunculi_train::generation::{self, GameList, GenerationGames, Playing, RulesetGames};
use latrunculi_train::metrics::{self, ratio};
use latrunculi_train::networks::{PlayEvaluator, PlayNetwork};
use latrunculi_train::observer::{Event, Observer};
use latrunculi_train::run_dir::MODEL;
use latrunculi_train::run_rulesets::RunRuleset;
use latrunculi_train::workers::{GenerationHead, Leader};
use latrunculi_train::{Error, PrecisionChoice, TrainConfig};

use crate::conclude::model_info;
use crate::error::OfLibtorch;
use crate::play_network::LibtorchNetwork;
use crate::run::{TrainingRun, choose_precision_of, match_name, match_seed, opponent_networks};
use crate::run_pools::PoolTasks;
use crate::shared_cores::SharedCores;
use crate::state::{MixWindow, teacher_games};

/// The generation with which a run that begins with a trained network begins to train it.
const SETTLED_FROM: u64 = 3;

#[derive(Clone, Debug, PartialEq, Eq)]
struct Round {
    /// The generation to be played, if any.
    plays: Option<u64>,
    /// Whether the training comes before the games rather than beside them.
    learns_first: bool,
    /// The rulesets, by index, in which the network that plays also plays an evaluation match.
    measures: Vec<usize>,
}

#[derive(Default)]
struct RoundResults {
    played: Option<GenerationGames>,
    /// The checksum of the weights that played; empty where alpha-beta did.
    network: String,
    trained: TrainingMetrics,
    /// The matches, by index of the ruleset.
    verdicts: Vec<(usize, RunMatch)>,
    /// The file of the network that played them, where later ones are to be measured against it.
    measured: Option<Vec<u8>>,
}

impl TrainingRun<'_> {
    pub(crate) fn round(&mut self) -> Result<(), Error> {
        let begun = Instant::now();
        let round = self.next_round();
        let generation = self.state.generations;
        let network = self.playing()?;
        // Where the network is trained first, the precision is chosen after that.
        let mut choice = PrecisionChoice { precision: self.state.precision, difference: None };
        if self.uses_network(&round) && !round.learns_first {
            choice = self.choose_precision(&network)?;
        }
        self.state.precision = choice.precision;
        let mut games = round.plays.map(|generation| self.games_of(generation)).transpose()?;
        let mut results = self.play_and_train(&round, &mut games, &mut choice)?;

        let (mut teacher, mut metrics) = (None, None);
        if let Some(played) = &mut results.played {
            let teacher_plays = generation::teacher_plays(&self.config, generation);
            teacher = Some(teacher_plays);
            let (computed, kernel) = match played.kernels.is_empty() {
                true => (choice, network.kernel(choice.precision)),
                false => (PrecisionChoice { precision: Precision::Auto, difference: None }, played.kernels.join(", ")),
            };
            metrics = Some(metrics::of_games(played, &self.rulesets, self.config.games.actors, computed, kernel));
            // Before the samples are counted, on which they depend.
            let teacher_games = if teacher_plays { self.teacher_games() } else { Vec::new() };
            for ruleset in &played.rulesets {
                let is_its = |trained: &RunRuleset| Arc::ptr_eq(&trained.rules, &ruleset.rules);
                let index = self.rulesets.iter().position(is_its).filter(|_| teacher_plays);
                let games = index.map_or(self.config.games.per_generation, |index| teacher_games[index]);
                self.keep_samples(ruleset, games, &results.network, choice.precision)?;
            }
            self.state.generations += 1;
            if !teacher_plays {
                self.state.precision = choice.precision;
            }
        }
        self.state.is_trained = round.plays.is_none();
        let count = self.rulesets.len();
        self.state.next_measured = (self.state.next_measured + round.measures.len()) % count;
        if let Some(bytes) = &results.measured {
            write_whole(&self.folder.network_path(generation), bytes)?;
        }
        let mut verdicts = BTreeMap::new();
        for (index, verdict) in results.verdicts {
            verdicts.insert(self.rulesets[index].id().to_owned(), verdict);
            self.state.rulesets[index].measured = results.measured.as_ref().map(|_| generation);
        }
        self.note_windows();
        let secs = begun.elapsed().as_secs_f64();
        let metrics = learning::Round {
            generation,
            learns_first: round.learns_first,
            training: results.trained,
            teacher,
            games: metrics,
            verdicts,
            round_secs: secs,
            samples_total: self.state.samples,
            window: self.windows.len(),
            steps_total: self.trainer.counters().steps,
            elapsed_secs: self.elapsed_secs(),
        };
        if round.plays.is_some() {
            // The last training after the budget is no measure of a generation, and must not make it look unspent.
            self.state.last_secs = secs;
            self.state.last_training_secs = results.trained.train_secs;
        }
        self.save_round(&metrics)?;
        let (config, secs_left) = (&self.config, self.secs_left());
        self.observer.event(Event::RoundEnded { metrics: &metrics, config, secs_left });
        if let Some(Games::Lists(lists)) = games {
            for journal in lists.into_iter().filter_map(|list| list.journal) {
                journal.remove()?;
            }
        }
        Ok(())
    }

    /// Writes the samples of a generation's games under one ruleset as a shard, counts them, and adds them to the replay
    /// windows. `games` is how many were asked for, 0 where samples are counted.
    fn keep_samples(
        &mut self,
        played: &RulesetGames,
        games: u64,
        network: &str,
        precision: Precision,
    ) -> Result<(), Error> {
        let samples = played.samples();
        if samples.is_empty() {
            return Ok(());
        }
        let generation = self.state.generations;
        let teacher_plays = generation::teacher_plays(&self.config, generation);
        let plan = match teacher_plays {
            true => generation::list(&self.config, &played.rules, generation).plan,
            false => generation::pool_plan(&self.config, &played.rules, String::new(), 1),
        };
        // Each worker computes in what it has.
        let precision = if self.workers.is_some() { Precision::Auto } else { precision };
        let players = generation::players(&plan, games, Some(network), precision);
        let info = ShardInfo::new(&played.rules, self.config.seed, generation, players);
        let name = &played.rules.ruleset().id;
        let path = self.folder.shard_path(generation, name);
        let checksum = write_shard(&path, &info, &samples)?;
        self.state.shards.insert(file_name(&path), checksum);
        self.state.games += played.games.len() as u64;
        self.state.samples += samples.len() as u64;
        if let Some(known) = self.state.rulesets.iter_mut().find(|known| known.name == *name) {
            if teacher_plays {
                known.samples += samples.len() as u64;
                known.teacher_games += played.games.len() as u64;
            } else {
                known.first_player = first_player(played, self.config.selfplay.simulations);
            }
        }
        self.windows.add(&played.rules, generation, samples);
        Ok(())
    }

    fn next_round(&self) -> Round {
        let generation = self.state.generations;
        if self.is_over() {
            return Round { plays: None, learns_first: true, measures: Vec::new() };
        }
        let teacher_plays = generation::teacher_plays(&self.config, generation);
        let is_first_of_network = generation > 0 && generation == self.config.teacher.generations.max(1);
        let is_new = self.trainer.counters().steps_before == 0;
        let learns_first = self.config.games.actors_beside_training == 0 || is_first_of_network && is_new;
        let evaluation = &self.config.evaluation;
        let measures =
            evaluation.every > 0 && generation > 0 && generation.is_multiple_of(evaluation.every) && !teacher_plays;
        let count = self.rulesets.len();
        let at_once = if measures { evaluation.rulesets_at_once.min(count) } else { 0 };
        let measures = (0..at_once).map(|turn| (self.state.next_measured + turn) % count).collect();
        Round { plays: Some(generation), learns_first, measures }
    }

    /// Tells whether the network plays in a round, games or matches.
    fn uses_network(&self, round: &Round) -> bool {
        let plays = round.plays.is_some_and(|generation| !generation::teacher_plays(&self.config, generation));
        plays || !round.measures.is_empty()
    }

    /// Plays and trains, one after the other or both at once. After an error the games in flight are gone.
    fn play_and_train(
        &mut self,
        round: &Round,
        games: &mut Option<Games>,
        choice: &mut PrecisionChoice,
    ) -> Result<RoundResults, Error> {
        let (begun, generation) = (Instant::now(), self.state.generations);
        let counts = &self.config.games;
        let (played_before, trained_before) = self.state.reuse_since;
        let steps = self.config.replay.steps_allowed(
            self.state.samples.saturating_sub(played_before),
            self.trainer.counters().samples.saturating_sub(trained_before),
            counts.batch_size,
        );
        // All games begin at once, so the first generations of a run have more than their share of short ones. A trained
        // network would unlearn by them what long games are like; one that alpha-beta teaches has seen others.
        let is_unsettled =
            self.trainer.counters().steps_before > 0 && generation < SETTLED_FROM && round.plays.is_some();
        let steps = if self.windows.is_empty() || is_unsettled { 0 } else { steps };
        let chooses_precision = round.learns_first && self.uses_network(round);
        // Cores that no game needs compute the training.
        let are_games_over = AtomicBool::new(round.learns_first || round.plays.is_none() || self.workers.is_some());
        let gate = FairGate::new(counts.actors);
        let games_made = AtomicU64::new(0);
        // The kernels of training compute two groups of samples together.
        let chunks = if self.trainer.is_on_gpu() { 1 } else { counts.batch_size.div_ceil(2 * GROUP) };
        let step_parts = chunks.min(self.config.training.threads.next_multiple_of(counts.batches_per_step));
        let cores = SharedCores::new(counts.actors, counts.actors_beside_training, step_parts);
        let free_threads = |trained: f64| match are_games_over.load(Ordering::Relaxed) {
            true => counts.actors,
            false => cores.for_training(trained, f64::from_bits(games_made.load(Ordering::Relaxed)), &gate),
        };
        // Beyond the budget by less than a tenth: first the games end, then, after them, the training on them.
        let after = |share: f64, less: f64| {
            let secs = self.config.budget.minutes * 60.0 * share - less - self.elapsed_secs();
            // A time beyond what the clock can tell is no limit.
            let left = Duration::try_from_secs_f64(secs.max(0.0)).ok().filter(|_| self.config.budget.minutes > 0.0)?;
            begun.checked_add(left)
        };
        let step_plan = StepPlan {
            windows: &self.windows,
            // The training on the generations up to `g` has the random stream of `g`.
            key: GameKey { run_seed: self.config.seed, series: generation.saturating_sub(1), game: 0 },
            steps,
            batch_size: counts.batch_size,
            batches: counts.batches_per_step,
            progress: self.progress(round.plays.is_none()),
            free_threads: &free_threads,
            until: after(1.08, 0.0).filter(|_| round.plays.is_none()),
        };
        // Set by the part that fails, so that the other one ends too.
        let halt = AtomicBool::new(false);
        let stop = &self.stop;
        let goes_on = || !stop.load(Ordering::Relaxed) && !halt.load(Ordering::Relaxed);
        let parts = RoundParts {
            config: &self.config,
            rulesets: &self.rulesets,
            generation,
            device: self.play_device,
            workers: self.workers.as_ref(),
            observer: self.observer,
            secs_left: self.secs_left(),
            goes_on: &goes_on,
            made: &games_made,
            until: after(1.04, self.state.last_training_secs),
        };
        let RoundParts { config, observer, .. } = parts;
        let trainer = &mut self.trainer;
        let train = |trainer: &mut _| {
            let work = (steps > 0).then(|| observer.begin("training", steps, "steps", parts.secs_left));
            train_steps(trainer, &step_plan, &|done| {
                work.iter().for_each(|work| work(done));
                goes_on()
            })
        };
        // The networks of the matches before, by ruleset.
        let earlier: Vec<Option<(u64, PathBuf)>> = self
            .state
            .rulesets
            .iter()
            .map(|known| known.measured.map(|measured| (measured, self.folder.network_path(measured))))
            .collect();

        let first = if round.learns_first { train(trainer)? } else { TrainingMetrics::default() };
        let Some(games) = games else {
            return Ok(RoundResults { trained: first, ..RoundResults::default() });
        };
        let network = LibtorchNetwork { network: trainer.averaged_network().of_libtorch()?, device: self.play_device };
        if chooses_precision {
            *choice = choose_precision_of(&network, config, parts.rulesets)?;
        }
        let precision = choice.precision;
        if let (Precision::F32, Some(difference)) = (precision, choice.difference) {
            observer.event(Event::RoundingRefused { generation, difference });
        }
        let mut measured = Vec::new();
        for &index in &round.measures {
            let mut evaluators = network.evaluators(2, precision)?;
            measured.push((index, [evaluators.remove(0), evaluators.remove(0)]));
        }
        let keeps_network = !measured.is_empty() && config.evaluation.earlier_opening_pairs > 0;
        let kept = keeps_network.then(|| network.file(model_info(config, parts.rulesets))).transpose()?;
        let has_work = !measured.is_empty() || !round.learns_first && steps > 0;
        if has_work {
            gate.set_capacity(counts.actors_beside_training);
        }
        // Beside the games, the network that plays them is measured and then trained on.
        let beside = || -> Result<(Vec<(usize, RunMatch)>, TrainingMetrics), Error> {
            let verdicts = measured
                .into_iter()
                .map(|(index, evaluators)| {
                    Ok((index, parts.measure(index, earlier[index].as_ref(), precision, evaluators)?))
                })
                .collect::<Result<_, Error>>()?;
            let trained = if round.learns_first { first } else { train(trainer)? };
            Ok((verdicts, trained))
        };
        let (played, beside) = thread::scope(|scope| {
            let beside = scope.spawn(|| {
                let done = beside();
                halt.fetch_or(done.is_err(), Ordering::Relaxed);
                gate.open();
                done
            });
            let played = parts.play(games, &network, precision, &gate);
            are_games_over.store(true, Ordering::Relaxed);
            halt.fetch_or(played.is_err(), Ordering::Relaxed);
            (played, beside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
        let ((pools, played), (verdicts, trained)) = match (played, beside) {
            (Ok(played), Ok(beside)) => (played, beside),
            // Of two errors, the one that is not `Stopped` is the cause.
            (Err(error), Ok(_)) => return Err(error),
            (Err(error), Err(other)) if other.is_stopped() => return Err(error),
            (_, Err(error)) => return Err(error),
        };
        let network = match (&*games, parts.workers) {
            (Games::Workers(_), Some(leader)) => leader.network_of(generation)?,
            (Games::Lists(_), _) => String::new(),
            _ => network.network.fingerprint().of_libtorch()?,
        };
        if let Games::Pools(planned) | Games::Workers(WorkersGames { planned: Some(planned), .. }) = games {
            self.take_pools(pools, planned, &played);
        }
        Ok(RoundResults { played: Some(played), network, trained, verdicts, measured: kept })
    }

    fn note_windows(&mut self) {
        for (known, window) in self.state.rulesets.iter_mut().zip(self.windows.windows()) {
            known.window = window.generations().collect();
        }
        let mix = |window: &ReplayWindow| MixWindow {
            name: window.rules().ruleset().id.clone(),
            generations: window.generations().collect(),
        };
        self.state.mix_windows = self.windows.mixes().map(mix).collect();
        let rulesets = self.state.rulesets.iter().map(|known| (&known.name, &known.window));
        let mixes = self.state.mix_windows.iter().map(|mix| (&mix.name, &mix.generations));
        let name = |(name, generations): (&String, &Vec<u64>)| -> Vec<String> {
            generations.iter().map(|&generation| file_name(&self.folder.shard_path(generation, name))).collect()
        };
        let named: BTreeSet<String> = rulesets.chain(mixes).flat_map(name).collect();
        self.state.shards.retain(|name, _| named.contains(name));
    }

    /// Returns which fractions of the whole training, in `[0, 1]`, are over before and after the steps of this round. They
    /// depend on the checkpoint alone.
    fn progress(&self, is_last: bool) -> (f64, f64) {
        let (budget, state) = (&self.config.budget, &self.state);
        let mut fractions = (0.0_f64, 0.0_f64);
        if budget.generations > 0 {
            let (made, all) = (state.generations as f64, budget.generations as f64);
            fractions = ((made - 1.0).max(0.0) / all, made / all);
        }
        if budget.minutes > 0.0 {
            let fraction = |secs: f64| secs / (budget.minutes * 60.0);
            let from = fraction(state.elapsed_secs);
            let to = if is_last { 1.0 } else { fraction(state.elapsed_secs + state.last_secs) };
            fractions = (fractions.0.max(from), fractions.1.max(to));
        }
        (fractions.0.min(1.0), fractions.1.min(1.0))
    }

    /// Writes the metrics of a round, then the checkpoint, which records their length.
    fn save_round(&mut self, metrics: &learning::Round) -> Result<(), Error> {
        let line = serde_json::to_value(metrics)?;
        self.events.add(metrics.generation, &line)?;
        self.folder.add_metrics(&line)?;
        self.state.metrics_bytes = self.folder.metrics_bytes();
        self.state.events_bytes = self.events.bytes();
        self.state.elapsed_secs = self.elapsed_secs();
        self.restart_clock();
        if metrics.games.is_some() {
            // Without games they are as they lie there, beside the checkpoint that this one replaces.
            self.save_pools()?;
        }
        self.state.save(&self.folder, &self.trainer)?;
        if self.trainer.counters().steps > 0 {
            // So that others can play against the network before the end of the run.
            self.model(Vec::new())?.save(&self.folder.path(MODEL)).of_libtorch()?;
        }
        Ok(())
    }

    /// Writes the games in flight beside the checkpoint that is about to be written.
    fn save_pools(&mut self) -> Result<(), Error> {
        self.state.pools = self.pools.len();
        self.state.pools_checksum = None;
        if self.pools.is_empty() {
            return Ok(());
        }
        let states: Vec<&PoolState> = self.pools.iter().map(Pool::state).collect();
        let bytes = states_to_bytes(&states)?;
        self.state.pools_checksum = Some(checksum(&bytes[..])?);
        write_whole(&self.folder.pools_path(self.state.generations), &bytes)
    }
}

/// Half of the most games that alpha-beta plays in a unit of work: each takes a second or some.
const TEACHER_UNIT: usize = 8;

enum Games {
    /// By alpha-beta, to the end.
    Lists(Vec<GameList>),
    /// By the network, from the games in flight on.
    Pools(PoolTasks),
    /// By workers, each game from its beginning to its end.
    Workers(WorkersGames),
}

struct WorkersGames {
    /// The games of each ruleset, and how many of them a unit has.
    games: Vec<(Arc<Rules>, u64, u64)>,
    /// What the pools of a network would have had to play; `None` where alpha-beta plays.
    planned: Option<PoolTasks>,
    /// How many games, or samples where these are counted, are asked for.
    parts: (u64, &'static str),
}

impl TrainingRun<'_> {
    fn games_of(&mut self, generation: u64) -> Result<Games, Error> {
        Ok(match generation::teacher_plays(&self.config, generation) {
            _ if self.workers.is_some() => Games::Workers(self.workers_games(generation)?),
            true => Games::Lists(self.lists(generation)?),
            false => Games::Pools(self.pool_tasks()?),
        })
    }

    /// Returns how many games alpha-beta plays in each ruleset in the next generation.
    fn teacher_games(&self) -> Vec<u64> {
        teacher_games(self.config.teacher.games, self.state.generations, &self.state.rulesets)
    }

    /// Returns the games of alpha-beta, with their journals.
    fn lists(&self, generation: u64) -> Result<Vec<GameList>, Error> {
        let listed = |(trained, games): (&RunRuleset, u64)| {
            let mut list =
                GameList { games, pools: games, ..generation::list(&self.config, &trained.rules, generation) };
            let players = generation::players(&list.plan, list.games, None, Precision::F32);
            let info = ShardInfo::new(&trained.rules, self.config.seed, generation, players);
            list.open_journal(&self.folder.journal_path(generation, trained.id()), &info)?;
            Ok(list)
        };
        self.rulesets.iter().zip(self.teacher_games()).map(listed).collect()
    }

    fn workers_games(&mut self, generation: u64) -> Result<WorkersGames, Error> {
        let Some(leader) = self.workers.clone() else { bail!("there are no workers") };
        if generation::teacher_plays(&self.config, generation) {
            let units = leader.units_for(generation, self.rulesets.len())?;
            let games = self.rulesets.iter().zip(self.teacher_games()).map(|(trained, count)| {
                (Arc::clone(&trained.rules), count, Leader::per_unit(count, TEACHER_UNIT, units))
            });
            let games: Vec<_> = games.collect();
            let parts = (games.iter().map(|(_, count, _)| count).sum(), "games");
            return Ok(WorkersGames { games, planned: None, parts });
        }
        let planned = self.pool_tasks()?;
        let units = leader.units_for(generation, planned.wanted().filter(|(_, owed)| *owed > 0).count())?;
        let counts_samples = self.config.games.samples_per_generation > 0;
        let mut games: Vec<(Arc<Rules>, u64, u64)> = Vec::new();
        for (rules, owed) in planned.wanted() {
            let count = match counts_samples && owed > 0 {
                true => leader.games_for(generation, rules, owed)?,
                false => owed,
            };
            let per_unit = Leader::per_unit(count, self.config.games.in_flight, units);
            games.push((Arc::clone(rules), count, per_unit));
        }
        let parts = planned.parts();
        Ok(WorkersGames { games, planned: Some(planned), parts })
    }
}

/// What the games and the matches of a round depend on, besides the network that plays them.
struct RoundParts<'a> {
    config: &'a TrainConfig,
    rulesets: &'a [RunRuleset],
    generation: u64,
    device: Device,
    workers: Option<&'a Leader>,
    observer: &'a dyn Observer,
    secs_left: Option<f64>,
    /// Tells whether the round is still wanted.
    goes_on: &'a (dyn Fn() -> bool + Sync),
    /// Is told what fraction of the games has been played, as the bits of a number.
    made: &'a AtomicU64,
    /// When the games end with what has then been played.
    until: Option<Instant>,
}

impl RoundParts<'_> {
    /// Plays the games of the generation. Returns the pools as they are then, where there are any, and what has ended.
    fn play(
        &self,
        games: &mut Games,
        network: &LibtorchNetwork,
        precision: Precision,
        gate: &FairGate,
    ) -> Result<(Vec<Pool>, GenerationGames), Error> {
        let (config, generation) = (self.config, self.generation);
        let (name, (count, unit), mut evaluators) = match games {
            Games::Lists(lists) => {
                let count = lists.iter().map(|list| list.games).sum();
                ("teacher's games", (count, "games"), generation::idle_evaluators(config.games.actors))
            }
            Games::Pools(pools) => ("self-play", pools.parts(), network.evaluators(config.games.actors, precision)?),
            Games::Workers(asked) => ("games by workers", asked.parts, Vec::new()),
        };
        let work = self.observer.begin(&format!("generation {generation}: {name}"), count, unit, self.secs_left);
        let watch = |done| {
            work(done);
            (self.goes_on)()
        };
        let found: u64 = match games {
            Games::Lists(lists) => lists.iter().map(|list| list.found.len() as u64).sum(),
            _ => 0,
        };
        let goes_on = |progress: &Progress| {
            let counted = if unit == "samples" { &progress.samples } else { &progress.games };
            let made = found + counted.load(Ordering::Relaxed);
            self.made.store((made as f64 / count.max(1) as f64).to_bits(), Ordering::Relaxed);
            watch(made)
        };
        let (parallel_trees, until) = (config.games.parallel_trees, self.until);
        let playing = Playing { parallel_trees, gate, goes_on: &goes_on, until };
        match games {
            Games::Lists(lists) => Ok((Vec::new(), generation::play_lists(lists, &mut evaluators, &playing)?)),
            Games::Pools(pools) => {
                Ok(generation::play_generation(mem::take(&mut pools.tasks), &mut evaluators, &playing)?)
            }
            Games::Workers(asked) => {
                let Some(leader) = self.workers else { bail!("there are no workers") };
                let fingerprint = match asked.planned {
                    Some(_) => network.network.fingerprint().of_libtorch()?,
                    None => String::new(),
                };
                let head = GenerationHead::new(leader, generation, config, &fingerprint, &asked.games)?;
                let rules: Vec<Arc<Rules>> = asked.games.iter().map(|(rules, ..)| Arc::clone(rules)).collect();
                let model = || network.file(ModelInfo::default());
                let counts_samples = asked.planned.is_some() && config.games.samples_per_generation > 0;
                Ok((Vec::new(), leader.play(head, &rules, &model, (counts_samples, &watch))?))
            }
        }
    }

    /// Plays the matches of the network in the ruleset of that index, each on one thread: with the opponent of the
    /// configuration, and with the network of the match before, if there is one; `earlier` is the number of generations
    /// before that match, and the file of its network.
    fn measure(
        &self,
        index: usize,
        earlier: Option<&(u64, PathBuf)>,
        precision: Precision,
        [evaluator, again]: [PlayEvaluator; 2],
    ) -> Result<RunMatch, Error> {
        let (config, rules) = (self.config, &self.rulesets[index].rules);
        let play = |evaluation: EvaluationMatch, evaluator, pairs| {
            let work = self.observer.begin(&match_name(rules), 2 * pairs, "games", self.secs_left);
            let watch = |games: Option<u64>| {
                games.into_iter().for_each(&work);
                (self.goes_on)()
            };
            evaluation.on_one_thread().play(evaluator, pairs, match_seed(config.seed, self.generation), &watch)
        };
        let evaluation = &config.evaluation;
        let networks = || opponent_networks(config, self.device);
        let with_baseline = EvaluationMatch::new(Arc::clone(rules), config, &evaluation.baseline, networks())?;
        let mut verdict = play(with_baseline, evaluator, evaluation.opening_pairs)?;
        if let (pairs @ 1.., Some((generation, path))) = (evaluation.earlier_opening_pairs, earlier) {
            let opponent = (path.as_path(), precision);
            let with_earlier = EvaluationMatch::against_network(Arc::clone(rules), config, opponent, networks())
                .context("evaluation.earlier_opening_pairs = 0 goes on without this match")?;
            let result = play(with_earlier, again, pairs)?.result;
            verdict.earlier = Some(EarlierMatch { generation: *generation, result });
        }
        Ok(verdict)
    }
}

/// Returns the score of the player who begins in the games of self-play that count, if any do. They share no openings, so
/// the interval is that of independent games. No match has their beginnings and their noise, so no command plays them again.
fn first_player(played: &RulesetGames, simulations: u32) -> Option<Measurement> {
    let ruleset = played.rules.ruleset();
    let mut results = WinDrawLoss::default();
    for game in played.games.iter().filter(|game| game.is_counted()) {
        results.record(GameResult::for_player(game.outcome.winner, ruleset.first_player));
    }
    let score = results.mean()?;
    let interval = results.mean_test().interval(Confidence::NINETY_FIVE);
    let others = played.games.len() as u64 - (results.wins + results.draws + results.losses);
    let measured = Measurement {
        what: format!(
            "for the player who begins, in the training games of the last generation that began evenly and have samples, with \
             {simulations} simulations and their random openings; {others} other games are not counted"
        ),
        result: MatchScore {
            wins: results.wins,
            draws: results.draws,
            losses: results.losses,
            score,
            lower: interval.lower,
            upper: interval.upper,
        },
        margin: None,
        command: None,
    };
    Some(measured.rounded())
}

/// Some training steps to make. What they learn depends on nothing else, in particular not on the clock.
pub struct StepPlan<'a> {
    /// The samples to draw from.
    pub windows: &'a ReplayWindows,
    /// Names the random stream that draws the samples.
    pub key: GameKey,
    /// Number of steps.
    pub steps: u64,
    /// Positions of a step.
    pub batch_size: usize,
    /// Batches in which it draws them, each of one ruleset; a divisor of `batch_size`.
    pub batches: usize,
    /// Fraction of the whole training, in `[0, 1]`, that is over before the first and after the last step; it sets the
    /// learning rate.
    pub progress: (f64, f64),
    /// Tells before each step how many threads are free for it, given the fraction of the steps that are made. The weights do not
    /// depend on it.
    pub free_threads: &'a (dyn Fn(f64) -> usize + Sync),
    /// When the steps end, although some are left.
    pub until: Option<Instant>,
}

/// Makes the steps of a plan, at least one. `watch` receives the number of steps made and returns whether to go on.
/// Fails with [`Error::Stopped`] when `watch` returns false; the error of a step that fails.
pub fn train_steps(
    trainer: &mut Trainer,
    plan: &StepPlan<'_>,
    watch: &dyn Fn(u64) -> bool,
) -> Result<TrainingMetrics, Error> {
    let begun = Instant::now();
    if plan.steps == 0 {
        return Ok(TrainingMetrics::default());
    }
    let mut draws = plan.windows.draw(plan.key.stream(Purpose::Training));
    let mut reports = Vec::new();
    for step in 0..plan.steps {
        if !watch(step) {
            return Err(Error::Stopped);
        }
        if step > 0 && plan.until.is_some_and(|until| Instant::now() >= until) {
            break;
        }
        let (from, to) = plan.progress;
        let made = step as f64 / plan.steps as f64;
        let progress = from + (to - from) * made;
        trainer.set_free_threads((plan.free_threads)(made));
        let batches = draws.batches(plan.batch_size / plan.batches, plan.batches);
        reports.push(trainer.step(&batches, progress).of_libtorch().context("a training step")?);
    }
    let steps = reports.len() as u64;
    watch(steps);
    let train_secs = begun.elapsed().as_secs_f64();
    let samples = steps * plan.batch_size as u64;
    let training_samples_per_sec = ratio(samples as f64, train_secs);
    Ok(TrainingMetrics { steps, training_samples_per_sec, losses: mean(&reports), train_secs })
}

/// Returns the mean of each number; zeros where there is no report.
fn mean(reports: &[StepReport]) -> StepReport {
    let count = reports.len().max(1) as f64;
    let of = |part: &dyn Fn(&StepReport) -> f64| reports.iter().map(part).sum::<f64>() / count;
    StepReport {
        loss: of(&|report| report.loss),
        heads: std::array::from_fn(|head| of(&|report| report.heads[head])),
        clipped: of(&|report| report.clipped),
        policy_entropy: of(&|report| report.policy_entropy),
        target_entropy: of(&|report| report.target_entropy),
        gradient_norm: of(&|report| report.gradient_norm),
        learning_rate: of(&|report| report.learning_rate),
    }
}

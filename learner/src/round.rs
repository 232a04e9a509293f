//! A round: the games of a generation, and beside them the training on all generations before.
//!
//! Round `g` plays generation `g` with the averaged weights at the beginning of the round, and makes the steps that the
//! samples of generations `0..g` allow. Both depend on the checkpoint before the round alone, whichever ends first. The
//! round after the last generation only trains. The training comes before the games in two cases: before the first
//! generation that a new network plays, which would otherwise be untrained, and where the configuration says so. A network
//! that was trained before is not trained on its first games alone.
//!
//! A game that a network plays belongs to the generation in which it ends. Games in flight are part of the checkpoint and
//! go on in the next round with its network. A round that is interrupted is repeated from the checkpoint; only the games
//! that alpha-beta had finished are kept, in the journal.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use latrunculi_data::files::checksum;
use latrunculi_data::{Measurement, ModelInfo, Precision, ReplayWindow, ShardInfo, write_shard};
use latrunculi_engine::Rules;
use latrunculi_eval::learning::{Earlier, Verdict};
use latrunculi_selfplay::{GameKey, Journal, PlayedGame, Pool, PoolState, Quota, states_to_bytes};
use latrunculi_stats::{Confidence, GameResult, WinDrawLoss};

use latrunculi_train::Error;
use latrunculi_train::PrecisionChoice;
use latrunculi_train::error::Context;
use latrunculi_train::error::bail;
use latrunculi_train::evaluation::EvaluationMatch;
use latrunculi_train::fair_gate::FairGate;
use latrunculi_train::files::{file_name, write_whole};
use latrunculi_train::generation::{self, GameList, GenerationGames, ListedGames, Playing, RulesetGames};
use latrunculi_train::metrics::StepResults;
use latrunculi_train::networks::{PlayEvaluator, PlayNetwork};
use latrunculi_train::shared::{GenerationHead, Leader};

use crate::conclude::model_info;
use crate::error::OfLibtorch;
use crate::learner::{StepPlan, train_steps};
use crate::play_network::LibtorchNetwork;
use crate::run::{TrainingRun, choose_precision_of, match_name, match_seed, opponent_networks};
use crate::run_pools::PoolTasks;
use crate::state::MixWindow;
use latrunculi_train::metrics::{GameMetrics, RoundMetrics, TrainingMetrics};
use latrunculi_train::observer::Event;
use latrunculi_train::run_rulesets::RunRuleset;

/// Half of the most games that alpha-beta plays in a unit of work: each takes a second or some.
const TEACHER_UNIT: usize = 8;
/// The generation with which a run that begins with a trained network begins to train it.
const SETTLED_FROM: u64 = 3;

/// The parts of a round.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Round {
    /// The generation to be played, if any.
    plays: Option<u64>,
    /// Whether the training comes before the games rather than beside them.
    learns_first: bool,
    /// The rulesets, by index, in which the network that plays also plays an evaluation match.
    measures: Vec<usize>,
}

/// What a round came to.
#[derive(Default)]
struct RoundResults {
    played: Option<GenerationGames>,
    /// The checksum of the weights that played; empty where alpha-beta did.
    network: String,
    trained: StepResults,
    /// The matches, by index of the ruleset.
    verdicts: Vec<(usize, Verdict)>,
    /// The file of the network that played them, where later ones are to be measured against it.
    measured: Option<Vec<u8>>,
}

/// A bootstrap generation of one ruleset, with its journal.
struct Listed {
    list: GameList,
    journal: Journal,
    found: Vec<PlayedGame>,
}

/// What is played in a round.
enum Games {
    /// By alpha-beta, to the end.
    Lists(Vec<Listed>),
    /// By the network, from the games in flight on.
    Pools(PoolTasks),
    /// By workers, each game from its beginning to its end.
    Shared(SharedGames),
}

/// A generation that workers play.
struct SharedGames {
    /// The games of each ruleset, and how many of them a unit has.
    games: Vec<(Arc<Rules>, u64, u64)>,
    /// What the pools of a network would have had to play; `None` where alpha-beta plays.
    planned: Option<PoolTasks>,
    /// How many games, or samples where these are counted, are asked for.
    parts: (u64, &'static str),
}

impl TrainingRun<'_> {
    /// Makes the next round and the checkpoint after it.
    pub(crate) fn round(&mut self) -> Result<(), Error> {
        let begun = Instant::now();
        let round = self.next_round();
        let generation = self.state.generations;
        let network = self.playing()?;
        let mut choice = self.choose_precision(&network)?;
        self.state.precision = choice.precision;
        let mut games = match round.plays {
            Some(generation) if self.workers.is_some() => Some(Games::Shared(self.shared_games(generation)?)),
            Some(generation) if generation::is_bootstrap(&self.config, generation) => {
                Some(Games::Lists(self.lists(generation)?))
            }
            Some(_) => Some(Games::Pools(self.pool_tasks()?)),
            None => None,
        };
        let mut results = self.play_and_train(&round, &mut games, &mut choice)?;

        let (mut teacher, mut metrics) = (None, None);
        if let Some(played) = &mut results.played {
            let is_bootstrap = generation::is_bootstrap(&self.config, generation);
            teacher = Some(is_bootstrap);
            let kernel = network.kernel(choice.precision);
            metrics = Some(GameMetrics::new(played, &self.rulesets, self.config.games.actors, choice, kernel));
            for ruleset in &played.rulesets {
                let samples = ruleset.samples();
                if samples.is_empty() {
                    continue;
                }
                let plan = generation::pool_plan(&self.config, &ruleset.rules, String::new());
                let list = self.list(&ruleset.rules, generation);
                let plan = if is_bootstrap { &list.plan } else { &plan };
                // Each worker computes in what it has.
                let precision = if self.workers.is_some() { Precision::Auto } else { choice.precision };
                let players = generation::players(plan, list.games, Some(&results.network), precision);
                let info = ShardInfo::new(&ruleset.rules, self.config.seed, generation, players);
                let name = &ruleset.rules.ruleset().id;
                let path = self.folder.shard_path(generation, name);
                let checksum = write_shard(&path, &info, &samples)?;
                self.state.shards.insert(file_name(&path), checksum);
                self.state.games += ruleset.games.len() as u64;
                self.state.samples += samples.len() as u64;
                let known = self.state.rulesets.iter_mut().find(|known| known.name == *name);
                if let Some(known) = known {
                    if is_bootstrap {
                        known.samples += samples.len() as u64;
                    } else {
                        known.first_player = Some(first_player(ruleset, self.config.selfplay.simulations));
                    }
                }
                self.windows.add(&ruleset.rules, generation, samples);
            }
            self.state.generations += 1;
            if !is_bootstrap {
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
        let metrics = RoundMetrics {
            generation,
            learns_first: round.learns_first,
            training: TrainingMetrics::new(&results.trained),
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
            self.state.last_training_secs = results.trained.secs;
        }
        self.save_round(&metrics)?;
        let (config, secs_left) = (&self.config, self.secs_left());
        self.observer.event(Event::RoundEnded { metrics: &metrics, config, secs_left });
        if let Some(Games::Lists(lists)) = games {
            for Listed { journal, .. } in lists {
                journal.remove()?;
            }
        }
        Ok(())
    }

    fn next_round(&self) -> Round {
        let generation = self.state.generations;
        if self.is_over() {
            return Round { plays: None, learns_first: true, measures: Vec::new() };
        }
        let is_bootstrap = generation::is_bootstrap(&self.config, generation);
        let is_first_of_network = generation > 0 && generation == self.config.teacher.generations.max(1);
        let is_new = self.trainer.counters().steps_before == 0;
        let learns_first = self.config.games.actors_beside_training == 0 || is_first_of_network && is_new;
        let evaluation = &self.config.evaluation;
        let measures =
            evaluation.every > 0 && generation > 0 && generation.is_multiple_of(evaluation.every) && !is_bootstrap;
        let count = self.rulesets.len();
        let at_once = if measures { evaluation.rulesets_at_once.min(count) } else { 0 };
        let measures = (0..at_once).map(|turn| (self.state.next_measured + turn) % count).collect();
        Round { plays: Some(generation), learns_first, measures }
    }

    /// Returns the games of a generation under one ruleset. Those of alpha-beta are divided among the rulesets by share, as
    /// the samples of training are, so that those of no ruleset are seen far more often than those of another.
    fn list(&self, rules: &Arc<Rules>, generation: u64) -> GameList {
        let list = generation::list(&self.config, rules, generation);
        let trained = self.rulesets.iter().find(|trained| Arc::ptr_eq(&trained.rules, rules));
        match trained {
            Some(trained) if generation::is_bootstrap(&self.config, generation) => {
                let games = trained.part_of_games(list.games, self.rulesets.len());
                GameList { games, pools: games, ..list }
            }
            _ => list,
        }
    }

    /// Opens the journals of a bootstrap generation.
    fn lists(&self, generation: u64) -> Result<Vec<Listed>, Error> {
        let listed = |trained: &RunRuleset| {
            let list = self.list(&trained.rules, generation);
            let players = generation::players(&list.plan, list.games, None, Precision::F32);
            let info = ShardInfo::new(&trained.rules, self.config.seed, generation, players);
            let path = self.folder.journal_path(generation, trained.id());
            let (journal, found) = Journal::open(&path, &trained.rules, &info)?;
            Ok(Listed { list, journal, found })
        };
        self.rulesets.iter().map(listed).collect()
    }

    /// Returns what workers have to play in a generation.
    fn shared_games(&mut self, generation: u64) -> Result<SharedGames, Error> {
        let Some(leader) = self.workers.clone() else { bail!("there are no workers") };
        if generation::is_bootstrap(&self.config, generation) {
            let units = leader.units_for(generation, self.rulesets.len())?;
            let games = self.rulesets.iter().map(|trained| {
                let count = self.list(&trained.rules, generation).games;
                (Arc::clone(&trained.rules), count, Leader::per_unit(count, TEACHER_UNIT, units))
            });
            let games: Vec<_> = games.collect();
            let parts = (games.iter().map(|(_, count, _)| count).sum(), "games");
            return Ok(SharedGames { games, planned: None, parts });
        }
        let planned = self.pool_tasks()?;
        let mut games: Vec<(Arc<Rules>, u64, u64)> = Vec::new();
        let quotas = planned.quotas_by_rules();
        let units = leader.units_for(generation, quotas.len())?;
        for (rules, quota) in quotas {
            let count = match quota {
                Quota::Samples(samples) => leader.games_for(generation, &rules, samples)?,
                Quota::Games(games) => games,
                Quota::PlayOut { .. } | Quota::Given => 0,
            };
            let per_unit = Leader::per_unit(count, self.config.games.in_flight, units);
            games.push((rules, count, per_unit));
        }
        let parts = planned.parts();
        Ok(SharedGames { games, planned: Some(planned), parts })
    }

    /// Plays and trains, one after the other or both at once. After an error the games in flight are gone.
    fn play_and_train(
        &mut self,
        round: &Round,
        games: &mut Option<Games>,
        choice: &mut PrecisionChoice,
    ) -> Result<RoundResults, Error> {
        let generation = self.state.generations;
        let counts = &self.config.games;
        let steps =
            self.config.replay.steps_allowed(self.state.samples, self.trainer.counters().samples, counts.batch_size);
        // All games begin at once, so the first generations of a run have more than their share of short ones. A trained
        // network would unlearn by them what long games are like; one that alpha-beta teaches has seen others.
        let is_unsettled =
            self.trainer.counters().steps_before > 0 && generation < SETTLED_FROM && round.plays.is_some();
        let steps = if self.windows.is_empty() || is_unsettled { 0 } else { steps };
        let step_plan = StepPlan {
            windows: &self.windows,
            // The training on the generations up to `g` has the random stream of `g`.
            key: GameKey { run_seed: self.config.seed, series: generation.saturating_sub(1), game: 0 },
            steps,
            batch_size: counts.batch_size,
            batches: counts.batches_per_step,
            progress: self.progress(round.plays.is_none()),
        };
        let left = self.secs_left();
        let (config, rulesets, observer) = (&self.config, &self.rulesets, self.observer);
        let (device, stop, workers) = (self.device, &self.stop, self.workers.as_ref());
        // Set by the part that fails, so that the other one ends too.
        let halt = AtomicBool::new(false);
        let goes_on = || !stop.load(Ordering::Relaxed) && !halt.load(Ordering::Relaxed);
        let trainer = &mut self.trainer;

        let train = |trainer: &mut _| {
            let work = (steps > 0).then(|| observer.begin("training", steps, "steps", left));
            train_steps(trainer, &step_plan, &|done| {
                work.iter().for_each(|work| work.set(done));
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
        let earlier_pairs = config.evaluation.earlier_opening_pairs;
        let measure = |index: usize, precision, [evaluator, again]: [PlayEvaluator; 2]| -> Result<Verdict, Error> {
            let rules = &rulesets[index].rules;
            let play = |evaluation: EvaluationMatch, evaluator, pairs| {
                let work = observer.begin(&match_name(rules), 2 * pairs, "games", left);
                let watch = |games: Option<u64>| {
                    games.into_iter().for_each(|games| work.set(games));
                    goes_on()
                };
                evaluation.play(evaluator, pairs, match_seed(config.seed, generation), &watch)
            };
            let (opponent, networks) = (&config.evaluation.baseline, || opponent_networks(config, device));
            let evaluation = EvaluationMatch::new(Arc::clone(rules), config, opponent, networks())?.on_one_thread();
            let mut verdict = play(evaluation, evaluator, config.evaluation.opening_pairs)?;
            if let (true, Some((generation, path))) = (earlier_pairs > 0, &earlier[index]) {
                let opponent = (path.as_path(), precision);
                let evaluation = EvaluationMatch::against_network(Arc::clone(rules), config, opponent, networks())
                    .context("evaluation.earlier_opening_pairs = 0 goes on without this match")?
                    .on_one_thread();
                let Verdict { wins, draws, losses, score, lower, upper, .. } = play(evaluation, again, earlier_pairs)?;
                verdict.earlier = Some(Earlier { generation: *generation, wins, draws, losses, score, lower, upper });
            }
            Ok(verdict)
        };

        let first = if round.learns_first { train(trainer)? } else { StepResults::default() };
        let Some(games) = games else {
            return Ok(RoundResults { trained: first, ..RoundResults::default() });
        };
        let network = LibtorchNetwork { network: trainer.averaged_network().of_libtorch()?, device };
        if round.learns_first {
            *choice = choose_precision_of(&network, config, rulesets)?;
        }
        let precision = choice.precision;
        if let (Precision::F32, Some(difference)) = (precision, choice.difference) {
            observer.event(Event::RoundingRefused { generation, difference });
        }
        let mut play = |gate: &FairGate| -> Result<(Vec<Pool>, GenerationGames), Error> {
            let (name, count, unit, evaluators) = match games {
                Games::Lists(lists) => {
                    let count = lists.iter().map(|listed| listed.list.games).sum();
                    ("teacher's games", count, "games", generation::idle_evaluators(config.games.actors))
                }
                Games::Pools(pools) => {
                    let evaluators = network.evaluators(config.games.actors, precision)?;
                    let (count, unit) = pools.parts();
                    ("self-play", count, unit, evaluators)
                }
                Games::Shared(shared) => {
                    let (count, unit) = shared.parts;
                    ("games by workers", count, unit, Vec::new())
                }
            };
            let work = observer.begin(&format!("generation {generation}: {name}"), count, unit, left);
            let watch = |done| {
                work.set(done);
                goes_on()
            };
            let playing = Playing { evaluators, parallel_trees: config.games.parallel_trees, gate, watch: &watch };
            Ok(match games {
                Games::Lists(lists) => {
                    let listed = lists.iter_mut().map(|Listed { list, journal, found }| ListedGames {
                        list: list.clone(),
                        journal: Some(&*journal),
                        found: mem::take(found),
                    });
                    let lists = listed.collect();
                    (Vec::new(), generation::play_lists(lists, playing)?)
                }
                Games::Pools(pools) => generation::play_generation(mem::take(&mut pools.tasks), playing)?,
                Games::Shared(shared) => {
                    let Some(leader) = workers else { bail!("there are no workers") };
                    let fingerprint = match shared.planned {
                        Some(_) => network.network.fingerprint().of_libtorch()?,
                        None => String::new(),
                    };
                    let head = GenerationHead::new(leader, generation, config, &fingerprint, &shared.games)?;
                    let rules: Vec<Arc<Rules>> = shared.games.iter().map(|(rules, ..)| Arc::clone(rules)).collect();
                    let model = || network.file(ModelInfo::default());
                    let counts_samples = shared.planned.is_some() && counts.samples_per_generation > 0;
                    (Vec::new(), leader.play(head, &rules, &model, (counts_samples, &watch))?)
                }
            })
        };
        let mut measured = Vec::new();
        for &index in &round.measures {
            let mut evaluators = network.evaluators(2, precision)?;
            measured.push((index, [evaluators.remove(0), evaluators.remove(0)]));
        }
        let keeps_network = !measured.is_empty() && earlier_pairs > 0;
        let kept = keeps_network.then(|| network.file(model_info(config, rulesets))).transpose()?;
        let has_work = !measured.is_empty() || !round.learns_first && steps > 0;
        let gate = FairGate::new(if has_work { counts.actors_beside_training.max(1) } else { counts.actors });
        // Beside the games, the network that plays them is measured and then trained on.
        let beside = || -> Result<(Vec<(usize, Verdict)>, StepResults), Error> {
            let verdicts = measured
                .into_iter()
                .map(|(index, evaluators)| Ok((index, measure(index, precision, evaluators)?)))
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
            let played = play(&gate);
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
        let network = match (&*games, workers) {
            (Games::Shared(_), Some(leader)) => leader.network_of(generation)?,
            (Games::Lists(_), _) => String::new(),
            _ => network.network.fingerprint().of_libtorch()?,
        };
        if let Games::Pools(planned) | Games::Shared(SharedGames { planned: Some(planned), .. }) = games {
            self.take_pools(pools, planned, &played);
        }
        Ok(RoundResults { played: Some(played), network, trained, verdicts, measured: kept })
    }

    /// Notes which shards are in the replay windows.
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
    fn save_round(&mut self, metrics: &RoundMetrics) -> Result<(), Error> {
        let line = metrics.to_json()?;
        self.events.add(metrics.generation, &line)?;
        self.folder.add_metrics(&line)?;
        self.state.metrics_bytes = self.folder.metrics_bytes();
        self.state.events_bytes = self.events.bytes();
        self.state.elapsed_secs = self.elapsed_secs();
        self.restart_clock();
        self.save_pools()?;
        self.state.save(&self.folder, &self.trainer)?;
        if self.trainer.counters().steps > 0 {
            // So that others can play against the network before the end of the run.
            self.model(Vec::new())?.save(&self.folder.model_path()).of_libtorch()?;
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

/// Returns the score of the player who begins in games of self-play. They share no openings, so the interval is that of
/// independent games. No match has their beginnings and their noise, so no command plays them again.
fn first_player(played: &RulesetGames, simulations: u32) -> Measurement {
    let ruleset = played.rules.ruleset();
    let mut results = WinDrawLoss::default();
    for game in &played.games {
        results.record(GameResult::for_player(game.outcome.winner, ruleset.first_player));
    }
    let interval = results.mean_test().interval(Confidence::NINETY_FIVE);
    Measurement {
        what: format!(
            "for the player who begins, in the training games of the last generation, with {simulations} simulations and \
             their random openings"
        ),
        wins: results.wins,
        draws: results.draws,
        losses: results.losses,
        score: results.mean().unwrap_or(0.5),
        lower: interval.lower,
        upper: interval.upper,
        margin: None,
        command: None,
    }
    .rounded()
}

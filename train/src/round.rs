//! A round: the games of a generation, and beside them the training on all generations before.
//!
//! Round `g` plays generation `g` with the averaged weights at the beginning of the round, and makes the steps that the
//! samples of generations `0..g` allow. Both depend on the checkpoint before the round alone, whichever ends first. The
//! round after the last generation only trains. The training comes before the games in two cases: before the first
//! generation that a network plays, which would otherwise be untrained, and where the configuration says so.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use latrunculi_data::{Samples, Shape, ShardInfo, write_shard};
use latrunculi_eval::learning::Verdict;
use latrunculi_model::{Measurement, Precision, PrecisionChoice, choose_precision};
use latrunculi_selfplay::{GameKey, Journal, PlayedGame};
use latrunculi_stats::{Confidence, GameResult, WinDrawLoss};

use crate::error::Error;
use crate::fair_gate::FairGate;
use crate::generation::{self, GenerationGames};
use crate::learner::{StepPlan, StepResults, train_steps};
use crate::metrics::{GameMetrics, RoundMetrics, TrainingMetrics};
use crate::observer::Event;
use crate::play_network::{self, PlayEvaluator};
use crate::run::{TrainingRun, match_seed};

/// The parts of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Round {
    /// The generation to be played, if any.
    plays: Option<u64>,
    /// Whether the training comes before the games rather than beside them.
    learns_first: bool,
    /// Whether the network that plays also plays an evaluation match.
    measures: bool,
}

impl TrainingRun<'_> {
    /// Makes the next round and the checkpoint after it.
    pub(crate) fn round(&mut self) -> Result<(), Error> {
        let begun = Instant::now();
        let round = self.next_round();
        let generation = self.state.generations;
        let plan = generation::plan(&self.config, &self.rules, generation);
        let network = self.trainer.averaged_network()?;
        let mut choice = choose_precision(&network, self.device, self.config.precision, &self.rules)?;
        self.state.precision = choice.precision;
        let players = generation::players(&plan, Some(&network), self.state.precision)?;
        let info = ShardInfo::new(&self.rules, self.config.seed, generation, players);
        let journal = match round.plays {
            Some(generation)
                if generation::may_be_split(&plan, self.config.games.actors, self.device, self.state.precision) =>
            {
                Some(Journal::open(&self.folder.journal_path(generation), &self.rules, &info)?)
            }
            _ => None,
        };
        let (journal, found) = journal.unzip();
        let journal_and_found = journal.as_ref().zip(found);
        let (played, trained, verdict) = self.play_and_train(round, journal_and_found, &mut choice)?;

        let (mut teacher, mut games) = (None, None);
        if let Some(played) = &played {
            let mut samples = Samples::new(Shape::of(&self.rules));
            for game in &played.games {
                samples.append(&game.samples);
            }
            write_shard(&self.folder.shard_path(generation), &info, &samples)?;
            self.state.games += played.games.len() as u64;
            self.state.samples += samples.len() as u64;
            self.state.generations += 1;
            self.window.add(generation, samples);
            let is_bootstrap = generation::is_bootstrap(&self.config, generation);
            teacher = Some(is_bootstrap);
            let (first_player, counts) = (self.rules.ruleset().first_player, &self.config.games);
            games = Some(GameMetrics::new(played, first_player, counts.actors, counts.in_flight, choice, self.device));
            if !is_bootstrap {
                self.state.precision = choice.precision;
                self.state.first_player = Some(self.first_player(&played.games));
            }
        }
        self.state.is_trained = round.plays.is_none();
        if let Some(verdict) = &verdict {
            self.state.verdict = Some(verdict.clone());
        }
        let secs = begun.elapsed().as_secs_f64();
        let metrics = RoundMetrics {
            generation,
            learns_first: round.learns_first,
            training: TrainingMetrics::new(&trained),
            teacher,
            games,
            verdict,
            round_secs: secs,
            samples_total: self.state.samples,
            window: self.window.len(),
            steps_total: self.trainer.counters().steps,
            elapsed_secs: self.elapsed_secs(),
        };
        self.state.last_secs = secs;
        self.state.last_training_secs = trained.secs;
        self.save_round(&metrics)?;
        let (config, secs_left) = (&self.config, self.secs_left());
        self.observer.event(Event::RoundEnded { metrics: &metrics, config, secs_left });
        if let Some(journal) = journal {
            journal.remove()?;
        }
        Ok(())
    }

    fn next_round(&self) -> Round {
        let generation = self.state.generations;
        if self.is_over() {
            return Round { plays: None, learns_first: true, measures: false };
        }
        let is_bootstrap = generation::is_bootstrap(&self.config, generation);
        let is_first_of_network = generation > 0 && generation == self.config.teacher.generations.max(1);
        let learns_first = self.config.games.actors_beside_training == 0 || is_first_of_network;
        let every = self.config.evaluation.every;
        let measures = every > 0 && generation > 0 && generation.is_multiple_of(every) && !is_bootstrap;
        Round { plays: Some(generation), learns_first, measures }
    }

    /// Plays and trains, one after the other or both at once.
    fn play_and_train(
        &mut self,
        round: Round,
        journal: Option<(&Journal, Vec<PlayedGame>)>,
        choice: &mut PrecisionChoice,
    ) -> Result<(Option<GenerationGames>, StepResults, Option<Verdict>), Error> {
        let generation = self.state.generations;
        let games = &self.config.games;
        let steps =
            self.config.replay.steps_allowed(self.state.samples, self.trainer.counters().samples, games.batch_size);
        let steps = if self.window.is_empty() { 0 } else { steps };
        let step_plan = StepPlan {
            window: &self.window,
            // The training on the generations up to `g` has the random stream of `g`.
            key: GameKey { run_seed: self.config.seed, generation: generation.saturating_sub(1), game: 0 },
            steps,
            batch_size: games.batch_size,
            progress: self.progress(round.plays.is_none()),
        };
        let left = self.secs_left();
        let (config, rules, observer) = (&self.config, &self.rules, self.observer);
        let (device, stop) = (self.device, &self.stop);
        // Set by the part that fails, so that the other one ends too.
        let halt = AtomicBool::new(false);
        let goes_on = || !stop.load(Ordering::Relaxed) && !halt.load(Ordering::Relaxed);
        let trainer = &mut self.trainer;

        let train = |trainer: &mut _| {
            let work = (steps > 0).then(|| observer.begin("training", steps, left));
            train_steps(trainer, &step_plan, &|done| {
                work.iter().for_each(|work| work.set(done));
                goes_on()
            })
        };
        let measure = |evaluator: PlayEvaluator| {
            let pairs = config.evaluation.opening_pairs;
            let work = observer.begin(&format!("match against {}", self.baseline.opponent()), 2 * pairs, left);
            let watch = |games: Option<u64>| {
                games.into_iter().for_each(|games| work.set(games));
                goes_on()
            };
            self.baseline.play(evaluator, pairs, match_seed(config.seed, generation), &watch)
        };
        let play = |network, precision, gate: &FairGate, journal| -> Result<GenerationGames, Error> {
            let plan = generation::plan(config, rules, generation);
            let is_bootstrap = plan.teacher.is_some();
            let evaluators = match is_bootstrap {
                true => Vec::new(),
                false => play_network::evaluators(network, config.games.actors, device, precision)?,
            };
            let name = if is_bootstrap { "bootstrap games" } else { "self-play" };
            let work = observer.begin(&format!("generation {generation}: {name}"), plan.games, left);
            let watch = |games| {
                work.set(games);
                goes_on()
            };
            Ok(generation::play(plan, config.games.actors, evaluators, journal, gate, &watch)?)
        };

        let first = if round.learns_first { train(trainer)? } else { StepResults::default() };
        if round.plays.is_none() {
            return Ok((None, first, None));
        }
        let network = trainer.averaged_network()?;
        if round.learns_first {
            *choice = choose_precision(&network, device, config.precision, rules)?;
        }
        let precision = choice.precision;
        if let (Precision::F32, Some(difference)) = (precision, choice.difference) {
            observer.event(Event::Bf16Refused { generation, difference });
        }
        let measured = match round.measures {
            true => Some(play_network::evaluator(&network, device, precision)?),
            false => None,
        };
        let has_work = measured.is_some() || !round.learns_first && steps > 0;
        let gate = FairGate::new(if has_work { games.actors_beside_training.max(1) } else { games.actors });
        // Beside the games, the network that plays them is measured and then trained on.
        let beside = || -> Result<(Option<Verdict>, StepResults), Error> {
            let verdict = measured.map(measure).transpose()?;
            let trained = if round.learns_first { first } else { train(trainer)? };
            Ok((verdict, trained))
        };
        let (played, beside) = thread::scope(|scope| {
            let beside = scope.spawn(|| {
                let done = beside();
                halt.fetch_or(done.is_err(), Ordering::Relaxed);
                gate.open();
                done
            });
            let played = play(&network, precision, &gate, journal);
            halt.fetch_or(played.is_err(), Ordering::Relaxed);
            (played, beside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
        match (played, beside) {
            (Ok(played), Ok((verdict, trained))) => Ok((Some(played), trained, verdict)),
            // Of two errors, the one that is not `Stopped` is the cause.
            (Err(error), Ok(_)) => Err(error),
            (Err(error), Err(other)) if other.is_stopped() => Err(error),
            (_, Err(error)) => Err(error),
        }
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
        self.state.save(&self.folder, &self.trainer)?;
        if self.trainer.counters().steps > 0 {
            // So that others can play against the network before the end of the run.
            self.model(Vec::new())?.save(&self.folder.model_path())?;
        }
        Ok(())
    }

    /// Returns the score of the player who begins in games of self-play. They share no openings, so the interval is that
    /// of independent games.
    fn first_player(&self, games: &[PlayedGame]) -> Measurement {
        let mut results = WinDrawLoss::default();
        for game in games {
            results.record(GameResult::for_player(game.outcome.winner, self.rules.ruleset().first_player));
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
            margin: None,
            command: format!(
                "latrunculi match {} {} --ruleset {} --games {}",
                agent(1),
                agent(2),
                self.config.ruleset,
                games.len()
            ),
        }
        .rounded()
    }
}

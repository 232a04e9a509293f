//! A round: the games of a generation, and beside them the training on all generations before.
//!
//! Round `g` plays generation `g` with the averaged weights that the run has at its beginning, and makes the steps that
//! the samples of generations `0..g` allow. Both are a function of the checkpoint before the round, whichever ends
//! first. The round after the last generation only trains. Where waiting is better, the training comes first: before the
//! first generation that a network plays, which otherwise would play untrained, and where the configuration says so.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use latrunculi_engine::encoding::Shape;
use latrunculi_eval::learning::Verdict;
use latrunculi_eval::statistics::{Confidence, GameResult, Trinomial};
use latrunculi_model::{InferenceNetwork, Measurement, NetEvaluator};
use latrunculi_selfplay::{GameKey, Journal, PlayedGame, Samples, ShardInfo, write_shard};
use serde_json::{Map, Value, json};

use super::learner::{Learnt, Lesson, learn};
use super::player::{self, Played};
use super::report;
use super::run::{TrainingRun, is_stop, match_seed};
use super::turnstile::Turnstile;

/// What a round is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Round {
    /// The generation to be played, if any.
    plays: Option<u64>,
    /// Whether the training comes before the games, and not beside them.
    learns_first: bool,
    /// Whether the network that plays is measured.
    measures: bool,
}

impl TrainingRun {
    /// Makes a round and the checkpoint after it.
    pub(super) fn round(&mut self) -> anyhow::Result<()> {
        let begun = Instant::now();
        let round = self.next_round();
        let generation = self.state.generations;
        let plan = player::plan(&self.config, &self.rules, generation);
        let players = player::players(&plan, Some(&self.trainer.averaged_network()?), self.state.precision)?;
        let info = ShardInfo::new(&self.rules, self.config.seed, generation, players);
        let journal = match round.plays {
            Some(generation)
                if player::may_be_split(&plan, self.config.games.lanes, self.device, self.state.precision) =>
            {
                Some(Journal::open(&self.folder.journal_path(generation), &self.rules, &info)?)
            }
            _ => None,
        };
        let (journal, found) = journal.unzip();
        let journal_and_found = journal.as_ref().zip(found);
        let (played, learnt, verdict) = self.play_and_learn(round, journal_and_found)?;

        let mut metrics = report::of_training(&learnt);
        metrics.insert("generation".to_owned(), json!(generation));
        metrics.insert("learns_first".to_owned(), json!(round.learns_first));
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
            let is_taught = player::is_taught(&self.config, generation);
            metrics.insert("teacher".to_owned(), json!(is_taught));
            let (first_player, games) = (self.rules.ruleset().first_player, &self.config.games);
            metrics.append(&mut report::of_games(played, first_player, games.lanes, games.in_flight));
            if !is_taught {
                self.state.first_player = Some(self.first_player(&played.games));
            }
        }
        self.state.is_trained = round.plays.is_none();
        if let Some(verdict) = &verdict {
            metrics.insert("verdict".to_owned(), json!(verdict));
            self.state.verdict = Some(verdict.clone());
        }
        let secs = begun.elapsed().as_secs_f64();
        metrics.insert("round_secs".to_owned(), json!(secs));
        metrics.insert("samples_total".to_owned(), json!(self.state.samples));
        metrics.insert("window".to_owned(), json!(self.window.len()));
        metrics.insert("steps_total".to_owned(), json!(self.trainer.counters().steps));
        metrics.insert("elapsed_secs".to_owned(), json!(self.elapsed_secs()));
        self.say_round(&metrics, &learnt, verdict.as_ref());
        self.state.last_secs = secs;
        self.state.last_training_secs = learnt.secs;
        self.save_round(generation, metrics)?;
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
        let is_taught = player::is_taught(&self.config, generation);
        let is_first_of_network = generation > 0 && generation == self.config.teacher.generations.max(1);
        let learns_first = self.config.games.lanes_beside_training == 0 || is_first_of_network;
        let every = self.config.evaluation.every;
        let measures = every > 0 && generation > 0 && generation.is_multiple_of(every) && !is_taught;
        Round { plays: Some(generation), learns_first, measures }
    }

    /// Plays and learns, one after the other or both at once.
    fn play_and_learn(
        &mut self,
        round: Round,
        journal: Option<(&Journal, Vec<PlayedGame>)>,
    ) -> anyhow::Result<(Option<Played>, Learnt, Option<Verdict>)> {
        let generation = self.state.generations;
        let games = &self.config.games;
        let steps =
            self.config.replay.steps_allowed(self.state.samples, self.trainer.counters().samples, games.batch_size);
        let steps = if self.window.is_empty() { 0 } else { steps };
        let lesson = Lesson {
            window: &self.window,
            // The training on what was played up to a generation draws by that generation.
            key: GameKey { run_seed: self.config.seed, generation: generation.saturating_sub(1), game: 0 },
            steps,
            batch_size: games.batch_size,
            progress: self.progress(round.plays.is_none()),
        };
        let left = self.secs_left();
        let (config, rules, display) = (&self.config, &self.rules, &self.display);
        let (device, precision, stop) = (self.device, self.state.precision, &self.stop);
        // Set by the half that fails, so that the other one does not go on in vain.
        let halt = AtomicBool::new(false);
        let goes_on = || !stop.load(Ordering::Relaxed) && !halt.load(Ordering::Relaxed);
        let trainer = &mut self.trainer;

        let learn_steps = |trainer: &mut _| {
            let work = (steps > 0).then(|| display.begin("training", steps, left));
            learn(trainer, &lesson, &|done| {
                work.iter().for_each(|work| work.set(done));
                goes_on()
            })
        };
        let measure = |evaluator: NetEvaluator| {
            let pairs = config.evaluation.pairs;
            let work = display.begin(&format!("match against {}", self.judge.opponent()), 2 * pairs, left);
            let watch = |games: Option<u64>| {
                games.into_iter().for_each(|games| work.set(games));
                goes_on()
            };
            self.judge.judge(evaluator, pairs, match_seed(config.seed, generation), &watch)
        };
        let play = |network, turnstile: &Turnstile, journal| -> anyhow::Result<Played> {
            let plan = player::plan(config, rules, generation);
            let is_taught = plan.teaching.is_some();
            let evaluators = match is_taught {
                true => Vec::new(),
                false => player::evaluators(network, config.games.lanes, device, precision)?,
            };
            let name = if is_taught { "teacher's games" } else { "self-play" };
            let work = display.begin(&format!("generation {generation}: {name}"), plan.games, left);
            let watch = |games| {
                work.set(games);
                goes_on()
            };
            Ok(player::play(plan, config.games.lanes, evaluators, journal, turnstile, &watch)?)
        };

        let first = if round.learns_first { learn_steps(trainer)? } else { Learnt::default() };
        if round.plays.is_none() {
            return Ok((None, first, None));
        }
        let network = trainer.averaged_network()?;
        let measured = match round.measures {
            true => Some(NetEvaluator::new(InferenceNetwork::new(&network, device, precision)?)),
            false => None,
        };
        let has_work = measured.is_some() || !round.learns_first && steps > 0;
        let turnstile = Turnstile::new(if has_work { games.lanes_beside_training.max(1) } else { games.lanes });
        // What is done beside the games: the network that plays them is measured, and learnt on from.
        let beside = || -> anyhow::Result<(Option<Verdict>, Learnt)> {
            let verdict = measured.map(measure).transpose()?;
            let learnt = if round.learns_first { first } else { learn_steps(trainer)? };
            Ok((verdict, learnt))
        };
        let (played, beside) = thread::scope(|scope| {
            let beside = scope.spawn(|| {
                let done = beside();
                halt.fetch_or(done.is_err(), Ordering::Relaxed);
                turnstile.open();
                done
            });
            let played = play(&network, &turnstile, journal);
            halt.fetch_or(played.is_err(), Ordering::Relaxed);
            (played, beside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
        match (played, beside) {
            (Ok(played), Ok((verdict, learnt))) => Ok((Some(played), learnt, verdict)),
            // The half that was only told to stop says less than the one that failed.
            (Err(error), Ok(_)) => Err(error),
            (Err(error), Err(other)) if is_stop(&other) => Err(error),
            (_, Err(error)) => Err(error),
        }
    }

    /// Returns the shares of the whole training, in `[0, 1]`, between which the steps of this round lie. They follow
    /// from the checkpoint alone.
    fn progress(&self, is_last: bool) -> (f64, f64) {
        let (budget, state) = (&self.config.budget, &self.state);
        let mut shares = (0.0_f64, 0.0_f64);
        if budget.generations > 0 {
            let (made, all) = (state.generations as f64, budget.generations as f64);
            shares = ((made - 1.0).max(0.0) / all, made / all);
        }
        if budget.minutes > 0.0 {
            let share = |secs: f64| secs / (budget.minutes * 60.0);
            let from = share(state.elapsed_secs);
            let to = if is_last { 1.0 } else { share(state.elapsed_secs + state.last_secs) };
            shares = (shares.0.max(from), shares.1.max(to));
        }
        (shares.0.min(1.0), shares.1.min(1.0))
    }

    /// Writes the metrics of a round, then the checkpoint, which knows how far they go.
    fn save_round(&mut self, generation: u64, metrics: Map<String, Value>) -> anyhow::Result<()> {
        self.events.add(generation, &metrics)?;
        self.folder.add_metrics(&Value::Object(metrics))?;
        self.state.metrics_bytes = self.folder.metrics_bytes();
        self.state.events_bytes = self.events.bytes();
        self.state.elapsed_secs = self.elapsed_secs();
        self.restart_clock();
        self.state.save(&self.folder, &self.trainer)?;
        if self.trainer.counters().steps > 0 {
            // For whoever wants to play against the run before its end.
            self.model(Vec::new())?.save(&self.folder.model_path())?;
        }
        Ok(())
    }

    fn say_round(&self, metrics: &Map<String, Value>, learnt: &Learnt, verdict: Option<&Verdict>) {
        let number = |name: &str| metrics.get(name).and_then(Value::as_f64).unwrap_or(0.0);
        let name = match metrics.get("teacher") {
            Some(Value::Bool(true)) => format!("gen {:>3} taught", number("generation")),
            Some(_) => format!("gen {:>3}", number("generation")),
            None => "closing".to_owned(),
        };
        let mut parts = vec![name];
        if metrics.contains_key("games") {
            parts.push(report::say_games(metrics));
        }
        if learnt.steps > 0 {
            parts.push(report::say_training(learnt, &self.config));
        }
        parts.push(format!("window {:.0}k", number("window") / 1e3));
        let left = self.secs_left().map(|secs| format!(" · {:.1} min left", secs / 60.0)).unwrap_or_default();
        self.display.say(&format!("{}{}{left}", parts.join(" · "), report::say_verdict(verdict)));
    }

    /// Returns the score of whoever begins in games of self-play. They share no openings, so the interval is that
    /// of independent games.
    fn first_player(&self, games: &[PlayedGame]) -> Measurement {
        let mut results = Trinomial::default();
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

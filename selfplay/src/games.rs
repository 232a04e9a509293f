//! Many games at once: one leaf per tree per batch.
//!
//! The games of a generation are distributed over actors, one per evaluator and each on a thread of its own: while one
//! actor's trees move, another's network computes. In an actor every game selects one leaf, the evaluator evaluates all
//! leaves as one batch, and every tree receives its evaluation. A game depends on its key and on the evaluations alone:
//! neither the actor nor the number of games in flight changes it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use latrunculi_data::Samples;
use latrunculi_engine::{GameState, Outcome, Player, Rules};
use latrunculi_search::Evaluator;
use latrunculi_search::mcts::LeafBatch;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::active_game::{ActiveGame, PlaySettings};
use crate::cache::EvaluationCache;
use crate::error::SelfPlayError;
use crate::openings::{Start, random_opening};
use crate::seeds::{GameKey, Purpose};
use crate::settings::SelfPlaySettings;
use crate::teacher::{Teacher, TeacherSettings};

/// The evaluator of an actor, used on its thread.
pub type ActorEvaluator<'a> = &'a mut (dyn Evaluator<GameState> + Send);

/// Which games to play, and how.
#[derive(Clone, Debug)]
pub struct SelfPlayPlan {
    /// The rules.
    pub rules: Arc<Rules>,
    /// How the games are played.
    pub settings: SelfPlaySettings,
    /// Seed of the run.
    pub run_seed: u64,
    /// Generation, from 0.
    pub generation: u64,
    /// Number of games.
    pub games: u64,
    /// Games that have been played before and are left out, by number.
    pub played: BTreeSet<u64>,
    /// Games in flight in each actor; at least 1.
    pub in_flight: usize,
    /// Set for bootstrap games, in which alpha-beta plays both sides; the evaluators then only count the actors.
    pub teacher: Option<TeacherSettings>,
    /// Whether rayon's threads move the trees of an actor; of use where there are more cores than actors.
    pub parallel_trees: bool,
}

/// A finished game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlayedGame {
    /// Its number in the generation.
    pub index: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// Actions played, random ones at the start included.
    pub action_count: u32,
    /// Turns played.
    pub turn_count: u32,
    /// The player who would have resigned first, where resignation is on; the game was played to its end.
    pub resigned: Option<Player>,
    /// Its samples, in the order of play.
    pub samples: Samples,
}

/// Progress of all actors together.
#[derive(Debug, Default)]
pub struct Progress {
    /// Games finished.
    pub games: AtomicU64,
    /// Positions evaluated.
    pub evaluations: AtomicU64,
    /// Positions whose evaluation was in the cache; not among those evaluated.
    pub cache_hits: AtomicU64,
    /// Batches evaluated.
    pub batches: AtomicU64,
    /// Nanoseconds of the evaluators, summed over actors.
    pub evaluator_nanos: AtomicU64,
    /// Nanoseconds of the actors, waiting excluded, summed over actors.
    pub actor_nanos: AtomicU64,
}

/// An observer of the actors, called on their threads. A closure is one that only decides whether to go on.
pub trait Watch: Sync {
    /// Tells, after every batch, whether to go on.
    fn goes_on(&self, progress: &Progress) -> bool;

    /// Is called before an actor moves its trees and evaluates a batch; may block the actor.
    fn begin_round(&self) {}

    /// Is called after that, also when it failed.
    fn end_round(&self) {}

    /// Takes every game that has ended.
    ///
    /// # Errors
    /// [`SelfPlayError`], which ends self-play.
    fn take(&self, _game: &PlayedGame) -> Result<(), SelfPlayError> {
        Ok(())
    }
}

impl<F: Fn(&Progress) -> bool + Sync> Watch for F {
    fn goes_on(&self, progress: &Progress) -> bool {
        self(progress)
    }
}

/// Plays the games of `plan` with one actor per evaluator; returns them by number.
///
/// # Errors
/// [`SelfPlayError::Settings`] when a setting is out of range, [`SelfPlayError::Evaluation`] when an evaluator
/// fails, [`SelfPlayError::Stopped`] when `watch` says not to go on, and the error of [`Watch::take`]. Only the games
/// that `watch` took are then known.
///
/// # Panics
/// When there is no evaluator.
pub fn play_games(
    plan: &SelfPlayPlan,
    evaluators: &mut [ActorEvaluator<'_>],
    progress: &Progress,
    watch: &dyn Watch,
) -> Result<Vec<PlayedGame>, SelfPlayError> {
    let settings = &plan.settings;
    let mut reasons = settings.validate();
    if plan.in_flight == 0 {
        reasons.push("in_flight = 0 must be at least 1".to_owned());
    }
    reasons.extend(plan.teacher.iter().flat_map(TeacherSettings::validate));
    if !reasons.is_empty() {
        return Err(SelfPlayError::Settings(reasons));
    }
    let play_settings = PlaySettings { settings: settings.clone(), teacher: plan.teacher };
    // Alpha-beta needs no batches, so its games are played one after the other.
    let in_flight = if plan.teacher.is_some() { 1 } else { plan.in_flight };
    let run = Run { plan, play_settings: &play_settings, in_flight, progress, watch, stop: AtomicBool::new(false) };
    let mut games = run.play(evaluators)?;
    games.sort_by_key(|game| game.index);
    Ok(games)
}

/// What all actors share.
struct Run<'a> {
    plan: &'a SelfPlayPlan,
    play_settings: &'a PlaySettings,
    in_flight: usize,
    progress: &'a Progress,
    watch: &'a dyn Watch,
    /// Set by the first actor that fails or is stopped.
    stop: AtomicBool,
}

/// The state of one actor.
struct Actor {
    games: Vec<ActiveGame>,
    batch: LeafBatch,
    cache: EvaluationCache,
    played: Vec<PlayedGame>,
}

impl Run<'_> {
    /// Distributes the games over the actors and plays them.
    fn play(&self, evaluators: &mut [ActorEvaluator<'_>]) -> Result<Vec<PlayedGame>, SelfPlayError> {
        assert!(!evaluators.is_empty(), "self-play needs an evaluator");
        let actor_count = evaluators.len();
        let actors: Vec<Result<Vec<PlayedGame>, SelfPlayError>> = thread::scope(|scope| {
            let handles: Vec<_> = evaluators
                .iter_mut()
                .enumerate()
                .map(|(actor, evaluator)| {
                    scope.spawn(move || {
                        let open = (0..self.plan.games).filter(|game| !self.plan.played.contains(game));
                        let played = self.play_actor(open.skip(actor).step_by(actor_count), &mut **evaluator);
                        if played.is_err() {
                            self.stop.store(true, Ordering::Relaxed);
                        }
                        played
                    })
                })
                .collect();
            handles
                .into_iter()
                .map(|handle| handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        });
        let mut all = Vec::new();
        let mut error = None;
        for actor in actors {
            match actor {
                Ok(played) => all.extend(played),
                // What made the other actors stop says more than that they did.
                Err(SelfPlayError::Stopped) if error.is_some() => {}
                Err(reason) => error = Some(reason),
            }
        }
        error.map_or(Ok(all), Err)
    }

    /// Plays the games `mine`, a round at a time.
    fn play_actor(
        &self,
        mut mine: impl Iterator<Item = u64>,
        evaluator: &mut (dyn Evaluator<GameState> + Send),
    ) -> Result<Vec<PlayedGame>, SelfPlayError> {
        let first = GameState::new(Arc::clone(&self.plan.rules));
        let mut actor = Actor {
            games: Vec::new(),
            batch: LeafBatch::default(),
            cache: EvaluationCache::new(self.play_settings.settings.cache_entries),
            played: Vec::new(),
        };
        for game in mine.by_ref().take(self.in_flight) {
            let mut active = ActiveGame::new(self.play_settings, &first);
            self.begin(&mut active, game);
            actor.games.push(active);
        }
        while !actor.games.is_empty() {
            self.watch.begin_round();
            let since = Instant::now();
            let done = self.play_round(&mut actor, &mut mine, evaluator);
            self.progress.actor_nanos.fetch_add(since.elapsed().as_nanos() as u64, Ordering::Relaxed);
            self.watch.end_round();
            done?;
            if self.stop.load(Ordering::Relaxed) || !self.watch.goes_on(self.progress) {
                return Err(SelfPlayError::Stopped);
            }
        }
        Ok(actor.played)
    }

    /// Moves every tree to its next leaf, replaces games that have ended by new ones, and evaluates the leaves.
    fn play_round(
        &self,
        actor: &mut Actor,
        mine: &mut impl Iterator<Item = u64>,
        evaluator: &mut (dyn Evaluator<GameState> + Send),
    ) -> Result<(), SelfPlayError> {
        let Actor { games, batch, cache, played } = actor;
        self.on_each(games, |active| active.advance(self.play_settings, cache));
        let hits = games.iter_mut().map(|active| std::mem::take(&mut active.cache_hits)).sum();
        self.progress.cache_hits.fetch_add(hits, Ordering::Relaxed);
        let games_before = played.len();
        games.retain_mut(|active| {
            let Some(outcome) = active.outcome() else { return true };
            played.push(self.finish(active, outcome));
            mine.next().is_some_and(|game| {
                self.begin(active, game);
                true
            })
        });
        if played.len() > games_before {
            for game in &played[games_before..] {
                self.progress.games.fetch_add(1, Ordering::Relaxed);
                self.watch.take(game)?;
            }
            // The new games must reach their first leaf.
            return Ok(());
        }
        let before = Instant::now();
        let evaluations = batch.evaluate(games.iter().map(|active| active.search.leaf()), evaluator)?;
        self.progress.evaluator_nanos.fetch_add(before.elapsed().as_nanos() as u64, Ordering::Relaxed);
        self.progress.evaluations.fetch_add(games.len() as u64, Ordering::Relaxed);
        self.progress.batches.fetch_add(1, Ordering::Relaxed);
        for (active, evaluation) in games.iter_mut().zip(evaluations) {
            std::mem::swap(&mut active.evaluation, evaluation);
            cache.insert(active.leaf_key, &active.evaluation);
        }
        self.on_each(games, ActiveGame::receive);
        Ok(())
    }

    fn on_each(&self, games: &mut [ActiveGame], work: impl Fn(&mut ActiveGame) + Sync + Send) {
        if self.plan.parallel_trees {
            games.par_iter_mut().with_min_len(4).for_each(work);
        } else {
            games.iter_mut().for_each(work);
        }
    }

    /// Sets `active` to the start of game `game`.
    fn begin(&self, active: &mut ActiveGame, game: u64) {
        let SelfPlayPlan { rules, settings, run_seed, generation, .. } = self.plan;
        let key = GameKey { run_seed: *run_seed, generation: *generation, game };
        let mut stream = key.stream(Purpose::Opening);
        let mut start = Start::draw(settings, &mut stream);
        let (opening, random_actions) = random_opening(rules, start.random_actions, &mut stream);
        start.random_actions = random_actions;
        active.begin(key, &opening, start);
        active.noisy_player = self.plan.teacher.and_then(|teacher| teacher.draw_noisy_player(&mut stream));
        active.teacher = self.plan.teacher.map(|_| Box::new(Teacher::new(rules)));
    }

    /// Returns the finished game.
    fn finish(&self, active: &mut ActiveGame, outcome: Outcome) -> PlayedGame {
        PlayedGame {
            index: active.index,
            outcome,
            action_count: active.action_count,
            turn_count: u32::from(active.search.game().position().turns()),
            resigned: active.resigned,
            samples: active.take_samples(outcome, self.play_settings),
        }
    }
}

//! Actors: threads that play pools, one leaf per tree per batch.
//!
//! Each actor has an evaluator and takes one pool after the other from a list, the largest first. In a pool every game
//! selects one leaf, the evaluator evaluates all leaves as one batch, and every tree receives its evaluation. A place whose
//! game has ended gets the next game at once, so that the batches stay full. While one actor's trees move, another's
//! network computes. Batches and games are a function of the pool alone: neither the number of actors nor which of them
//! plays a pool changes them.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use latrunculi_data::Samples;
use latrunculi_engine::{GameState, Outcome};
use latrunculi_search::Evaluator;
use latrunculi_search::mcts::LeafBatch;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::active_game::ActiveGame;
use crate::ended::EndedGame;
use crate::error::SelfPlayError;
use crate::pool::{Pool, PoolPlan};

/// The evaluator of an actor, used on its thread. Each batch holds positions of one ruleset.
pub type ActorEvaluator<'a> = &'a mut (dyn Evaluator<GameState> + Send);

/// When a pool is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quota {
    /// When the games that have ended make so many samples. The other games go on at the next call.
    Samples(u64),
    /// When so many games have ended. The other games go on at the next call.
    Games(u64),
    /// When all its games have ended; games below this number are begun, so that 0 only ends those in flight.
    PlayOut {
        /// The number after that of the last game to begin.
        until: u64,
    },
    /// When [`Watch::next_game`] gives no further game and all have ended. [`Watch::take`] receives the games; the result has
    /// none of them, since a stream of games may be long.
    Given,
}

/// A pool to be played.
#[derive(Clone, Debug)]
pub struct PoolTask {
    /// The pool.
    pub pool: Pool,
    /// How far.
    pub quota: Quota,
}

/// A pool that has been played.
#[derive(Clone, Debug)]
pub struct PoolResult {
    /// The pool with the games that go on.
    pub pool: Pool,
    /// The games that have ended, in the order of their ends; those of one round by place.
    pub games: Vec<PlayedGame>,
}

/// A finished game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlayedGame {
    /// Its number in the pool.
    pub index: u64,
    /// How it ended.
    pub outcome: Outcome,
    /// Actions played, random ones at the start included.
    pub action_count: u32,
    /// Turns played.
    pub turn_count: u32,
    /// Whether it began evenly: neither player was noisy.
    pub is_even: bool,
    /// Its samples, in the order of play.
    pub samples: Samples,
}

impl PlayedGame {
    /// Tells whether its result says something of the rules: it began evenly, and searches decided it.
    #[must_use]
    pub fn is_counted(&self) -> bool {
        self.is_even && !self.samples.is_empty()
    }

    /// Gives the game another number, in its samples too: games of several pools have the same numbers.
    pub fn renumber(&mut self, index: u64) {
        self.index = index;
        self.samples.games.fill(index as u32);
    }
}

/// Progress of all actors together.
#[derive(Debug, Default)]
pub struct Progress {
    /// Games finished.
    pub games: AtomicU64,
    /// Positions evaluated.
    pub evaluations: AtomicU64,
    /// Batches evaluated.
    pub batches: AtomicU64,
    /// Positions that the batches had room for: the games in flight of their pools.
    pub places: AtomicU64,
    /// Nanoseconds of the evaluators, summed over actors.
    pub evaluator_nanos: AtomicU64,
    /// Nanoseconds of the actors, waiting excluded, summed over actors.
    pub actor_nanos: AtomicU64,
}

/// An observer of the actors, called on their threads. A closure is one that only decides whether to go on.
pub trait Watch: Sync {
    /// Tells, after every batch, whether to go on.
    fn goes_on(&self, progress: &Progress) -> bool;

    /// Gives the number of the next game of a pool with [`Quota::Given`], which is task `_task`; after `None` it may be asked
    /// again.
    ///
    /// # Errors
    /// [`SelfPlayError`], which ends self-play.
    fn next_game(&self, _task: usize) -> Result<Option<u64>, SelfPlayError> {
        Ok(None)
    }

    /// Is called before an actor moves its trees and evaluates a batch; may block the actor.
    fn begin_round(&self) {}

    /// Is called after that, also when it failed.
    fn end_round(&self) {}

    /// Returns whether [`Watch::take_record`] wants the records of games.
    fn wants_records(&self) -> bool {
        false
    }

    /// Takes the record of every game that has ended, before [`Watch::take`] takes the game.
    fn take_record(&self, _task: usize, _record: EndedGame) {}

    /// Takes every game that has ended; `task` is the index of its pool among the tasks.
    ///
    /// # Errors
    /// [`SelfPlayError`], which ends self-play.
    fn take(&self, _task: usize, _game: &PlayedGame) -> Result<(), SelfPlayError> {
        Ok(())
    }
}

impl<F: Fn(&Progress) -> bool + Sync> Watch for F {
    fn goes_on(&self, progress: &Progress) -> bool {
        self(progress)
    }
}

/// Plays pools with one actor per evaluator; returns them in the order of the tasks. With `parallel_trees` rayon's threads
/// move the trees of an actor; of use where there are more cores than actors.
///
/// # Errors
/// [`SelfPlayError::Stopped`] when `watch` says not to go on, and
/// the error of [`Watch::take`]. The pools are then lost with all that was played in this call, except the games that
/// `watch` took: go on from the states of the pools before it.
///
/// # Panics
/// When there is no evaluator.
pub fn play_pools(
    tasks: Vec<PoolTask>,
    evaluators: &mut [ActorEvaluator<'_>],
    parallel_trees: bool,
    progress: &Progress,
    watch: &dyn Watch,
) -> Result<Vec<PoolResult>, SelfPlayError> {
    assert!(!evaluators.is_empty(), "self-play needs an evaluator");
    let mut queue: Vec<(usize, PoolTask)> = tasks.into_iter().enumerate().collect();
    queue.sort_by_key(|(_, task)| Reverse(task.work()));
    let queue = Mutex::new(VecDeque::from(queue));
    let run = Run { queue, parallel_trees, progress, watch, stop: AtomicBool::new(false) };
    let actors: Vec<Result<Vec<(usize, PoolResult)>, SelfPlayError>> = thread::scope(|scope| {
        let act = |evaluator| {
            let played = run.act(evaluator);
            if played.is_err() {
                run.stop.store(true, Ordering::Relaxed);
            }
            played
        };
        let handles: Vec<_> =
            evaluators.iter_mut().map(|evaluator| scope.spawn(move || act(&mut **evaluator))).collect();
        handles
            .into_iter()
            .map(|handle| handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    let mut results = Vec::new();
    let mut error = None;
    for actor in actors {
        match actor {
            Ok(played) => results.extend(played),
            // What made the other actors stop says more than that they did.
            Err(SelfPlayError::Stopped) if error.is_some() => {}
            Err(reason) => error = Some(reason),
        }
    }
    if let Some(error) = error {
        return Err(error);
    }
    results.sort_by_key(|(task, _)| *task);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

impl PoolTask {
    /// Returns roughly how much there is to play, to begin with the most.
    fn work(&self) -> u64 {
        /// Samples of a game, where nothing better is known.
        const GAME_SAMPLES: u64 = 64;
        let Pool { plan, state } = &self.pool;
        let samples = match self.quota {
            Quota::Samples(samples) => samples,
            Quota::Games(games) => games.saturating_mul(GAME_SAMPLES),
            Quota::PlayOut { until } => {
                (state.games.len() as u64 + until.saturating_sub(state.next_game)).saturating_mul(GAME_SAMPLES)
            }
            Quota::Given => plan.in_flight as u64 * GAME_SAMPLES,
        };
        let position = u64::from(plan.settings.simulations) * plan.rules.square_count() as u64;
        samples.saturating_mul(position)
    }
}

/// Games in turn without a sample after which no more are begun.
const GAMES_WITHOUT_SAMPLES_MAX: u64 = 1000;

/// What all actors share.
struct Run<'a> {
    queue: Mutex<VecDeque<(usize, PoolTask)>>,
    parallel_trees: bool,
    progress: &'a Progress,
    watch: &'a dyn Watch,
    /// Set by the first actor that fails or is stopped.
    stop: AtomicBool,
}

/// A pool that an actor plays.
struct ActivePool<'a> {
    /// Its index among the tasks.
    task: usize,
    plan: &'a PoolPlan,
    quota: Quota,
    next_game: u64,
    games: Vec<ActiveGame>,
    ended: Vec<PlayedGame>,
    samples: u64,
    /// Games in turn that gave no samples.
    without_samples: u64,
}

impl ActivePool<'_> {
    fn is_done(&self) -> bool {
        match self.quota {
            Quota::Samples(samples) => self.samples >= samples,
            Quota::Games(games) => self.ended.len() as u64 >= games,
            Quota::PlayOut { .. } | Quota::Given => self.games.is_empty(),
        }
    }

    /// Returns the number of a further game, if one is to be begun where `others` are in flight.
    fn next_number(&mut self, others: usize, watch: &dyn Watch) -> Result<Option<u64>, SelfPlayError> {
        if others >= self.plan.in_flight {
            return Ok(None);
        }
        match self.quota {
            Quota::Given => return watch.next_game(self.task),
            Quota::PlayOut { until } if self.next_game >= until => return Ok(None),
            Quota::Samples(_) | Quota::Games(_) | Quota::PlayOut { .. } => {}
        }
        self.next_game += 1;
        Ok(Some(self.next_game - 1))
    }
}

impl Run<'_> {
    /// Plays pools until there is none left.
    fn act(
        &self,
        evaluator: &mut (dyn Evaluator<GameState> + Send),
    ) -> Result<Vec<(usize, PoolResult)>, SelfPlayError> {
        let mut results = Vec::new();
        let mut batch = LeafBatch::default();
        // The memory of games, trees above all, from one pool to the next.
        let mut spare = Vec::new();
        loop {
            let next = self.queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            let Some((index, task)) = next else { return Ok(results) };
            results.push((index, self.play_pool(index, task, evaluator, &mut batch, &mut spare)?));
        }
    }

    fn play_pool(
        &self,
        task: usize,
        PoolTask { pool: Pool { plan, mut state }, quota }: PoolTask,
        evaluator: &mut (dyn Evaluator<GameState> + Send),
        batch: &mut LeafBatch,
        spare: &mut Vec<ActiveGame>,
    ) -> Result<PoolResult, SelfPlayError> {
        let (next_game, ended) = (state.next_game, Vec::new());
        let mut pool = ActivePool {
            task,
            plan: &plan,
            quota,
            next_game,
            games: Vec::new(),
            ended,
            samples: 0,
            without_samples: 0,
        };
        for record in state.games.drain(..) {
            let mut game = spare.pop().unwrap_or_else(|| ActiveGame::new(&plan));
            game.resume(&plan, record);
            pool.games.push(game);
        }
        while let Some(number) = pool.next_number(pool.games.len(), self.watch)? {
            let mut game = spare.pop().unwrap_or_else(|| ActiveGame::new(&plan));
            game.begin(&plan, number);
            pool.games.push(game);
        }
        while !pool.is_done() {
            self.watch.begin_round();
            let since = Instant::now();
            let done = self.play_round(&mut pool, evaluator, batch, spare);
            self.progress.actor_nanos.fetch_add(since.elapsed().as_nanos() as u64, Ordering::Relaxed);
            self.watch.end_round();
            done?;
            if self.stop.load(Ordering::Relaxed) || !self.watch.goes_on(self.progress) {
                return Err(SelfPlayError::Stopped);
            }
        }
        let ActivePool { next_game, mut games, ended, .. } = pool;
        state.next_game = next_game;
        state.games.extend(games.iter_mut().map(ActiveGame::suspend));
        spare.append(&mut games);
        Ok(PoolResult { pool: Pool { plan, state }, games: ended })
    }

    /// Moves every tree to its next leaf, replaces games that have ended by new ones, and evaluates the leaves.
    fn play_round(
        &self,
        pool: &mut ActivePool<'_>,
        evaluator: &mut (dyn Evaluator<GameState> + Send),
        batch: &mut LeafBatch,
        spare: &mut Vec<ActiveGame>,
    ) -> Result<(), SelfPlayError> {
        let plan = pool.plan;
        self.on_each(&mut pool.games, |game| game.advance(plan));
        let ended_before = pool.ended.len();
        let mut place = 0;
        while place < pool.games.len() {
            let Some(outcome) = pool.games[place].outcome() else {
                place += 1;
                continue;
            };
            if self.watch.wants_records() {
                self.watch.take_record(pool.task, EndedGame(pool.games[place].copy()));
            }
            pool.ended.push(pool.games[place].finish(plan, outcome));
            match pool.next_number(pool.games.len() - 1, self.watch)? {
                Some(number) => {
                    pool.games[place].begin(plan, number);
                    place += 1;
                }
                None => spare.push(pool.games.remove(place)),
            }
        }
        if pool.ended.len() > ended_before {
            for game in &pool.ended[ended_before..] {
                pool.samples += game.samples.len() as u64;
                pool.without_samples = if game.samples.is_empty() { pool.without_samples + 1 } else { 0 };
                self.progress.games.fetch_add(1, Ordering::Relaxed);
                self.watch.take(pool.task, game)?;
            }
            if pool.quota == Quota::Given {
                pool.ended.clear();
            }
            if pool.without_samples >= GAMES_WITHOUT_SAMPLES_MAX {
                return Err(SelfPlayError::Failed(format!(
                    "{} games of {} in turn gave no samples: hardly any action of theirs is a choice, or their beginnings \
                     are too long (selfplay.starts); shorten these, or train on another ruleset",
                    pool.without_samples,
                    plan.rules.ruleset().id
                )));
            }
            // The new games must reach their first leaf.
            return Ok(());
        }
        let before = Instant::now();
        let evaluations = batch.evaluate(pool.games.iter().map(ActiveGame::leaf), evaluator)?;
        self.progress.evaluator_nanos.fetch_add(before.elapsed().as_nanos() as u64, Ordering::Relaxed);
        self.progress.evaluations.fetch_add(pool.games.len() as u64, Ordering::Relaxed);
        self.progress.batches.fetch_add(1, Ordering::Relaxed);
        self.progress.places.fetch_add(plan.in_flight as u64, Ordering::Relaxed);
        for (game, evaluation) in pool.games.iter_mut().zip(evaluations) {
            std::mem::swap(&mut game.evaluation, evaluation);
        }
        self.on_each(&mut pool.games, ActiveGame::receive);
        Ok(())
    }

    fn on_each(&self, games: &mut [ActiveGame], work: impl Fn(&mut ActiveGame) + Sync + Send) {
        if self.parallel_trees {
            games.par_iter_mut().with_min_len(4).for_each(work);
        } else {
            games.iter_mut().for_each(work);
        }
    }
}

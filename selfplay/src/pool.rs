//! Pools of games in flight, and the actors that play them.
//! An actor plays one pool at a time, and leaves it for another between two batches. Between two calls of [`play_pools`]
//! a pool holds records of its games and no trees. What it plays depends on its plan, its state and the evaluations alone:
//! not on the actors, nor on whether it was saved and read again in between.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use latrunculi_data::Samples;
use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_engine::{GameState, Outcome, Rules};
use latrunculi_search::Evaluator;
use latrunculi_search::mcts::LeafBatch;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::active_game::ActiveGame;
use crate::error::SelfPlayError;
use crate::finished::FinishedGame;
use crate::journal::Journal;
use crate::record::GameRecord;
use crate::seeds::{GameKey, series_of};
use crate::settings::SelfPlaySettings;
use crate::teacher::TeacherSettings;
use crate::turns::{Pace, TURN, Turns};

/// Most games in flight in a pool.
pub const IN_FLIGHT_MAX: usize = 1 << 16;

/// What a pool plays. A game is a function of the rules, the settings, the seed, the name, its number and the evaluations;
/// an evaluator whose rounding depends on the batch makes it depend on the other games of the pool too.
#[derive(Clone, Debug)]
pub struct PoolPlan {
    /// The rules.
    pub rules: Arc<Rules>,
    /// How the games are played.
    pub settings: SelfPlaySettings,
    /// Set where alpha-beta plays both sides; evaluators are then not asked.
    pub teacher: Option<TeacherSettings>,
    /// Seed of the run.
    pub run_seed: u64,
    /// Name of the pool; names its random streams, and so must be the only one of its kind in the run.
    pub name: String,
    /// Games in flight, 1 to [`IN_FLIGHT_MAX`]: the size of its batches.
    pub in_flight: usize,
    /// Number of the first game: 0 except where several pools share the games of one name.
    pub first_game: u64,
}

impl PoolPlan {
    pub(crate) fn key(&self, game: u64) -> GameKey {
        GameKey { run_seed: self.run_seed, series: series_of(&self.name), game }
    }

    fn validate(&self) -> Result<(), SelfPlayError> {
        let mut reasons = self.settings.validate();
        if !(1..=IN_FLIGHT_MAX).contains(&self.in_flight) {
            reasons.push(format!("in_flight = {} must be 1 to {IN_FLIGHT_MAX}", self.in_flight));
        }
        reasons.extend(self.teacher.iter().flat_map(TeacherSettings::validate));
        if reasons.is_empty() {
            return Ok(());
        }
        Err(SelfPlayError::Failed(format!("the games cannot be set up: {}", reasons.join("; "))))
    }
}

/// A pool between two networks.
#[derive(Clone, Debug)]
pub struct Pool {
    pub(crate) plan: PoolPlan,
    pub(crate) state: PoolState,
    /// Nanoseconds of a sample when it was played last; no part of its state.
    nanos_per_sample: Option<f64>,
}

impl Pool {
    /// Creates a pool that has not played yet.
    /// Error: every setting that is out of range.
    pub fn new(plan: PoolPlan) -> Result<Pool, SelfPlayError> {
        plan.validate()?;
        let ruleset = ruleset_fingerprint(plan.rules.ruleset());
        let PoolPlan { run_seed, first_game, ref name, .. } = plan;
        let state = PoolState { name: name.clone(), run_seed, ruleset, next_game: first_game, games: Vec::new() };
        Ok(Pool { plan, state, nanos_per_sample: None })
    }

    /// Creates a pool that goes on from a state, which may come from a file. The settings may be others than before; games
    /// beyond `in_flight` are played to their end and not replaced.
    /// Fails as for a new pool; when the state is that of another pool, seed or ruleset, or a game of it cannot be continued.
    pub fn restore(plan: PoolPlan, state: PoolState) -> Result<Pool, SelfPlayError> {
        plan.validate()?;
        let fault =
            |reason: String| SelfPlayError::Failed(format!("the games in flight of pool {}: {reason}", plan.name));
        if state.name != plan.name || state.run_seed != plan.run_seed {
            return Err(fault(format!("the games are those of pool {}, seed {}", state.name, state.run_seed)));
        }
        if state.ruleset != ruleset_fingerprint(plan.rules.ruleset()) {
            return Err(fault("the games were begun under other rules".to_owned()));
        }
        if state.games.len() > IN_FLIGHT_MAX {
            return Err(fault(format!("{} games are more than {IN_FLIGHT_MAX}", state.games.len())));
        }
        for game in &state.games {
            game.check(&plan.rules).map_err(fault)?;
            if game.number >= state.next_game {
                return Err(fault(format!("game {} has not been begun", game.number)));
            }
        }
        Ok(Pool { plan, state, nanos_per_sample: None })
    }

    /// Returns what the pool plays.
    #[must_use]
    pub fn plan(&self) -> &PoolPlan {
        &self.plan
    }

    /// Returns the games in flight, to be saved.
    #[must_use]
    pub fn state(&self) -> &PoolState {
        &self.state
    }
}

/// The games in flight of a pool: the actions of each, its targets so far and the positions of its random streams.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PoolState {
    name: String,
    run_seed: u64,
    /// Fingerprint of the rules.
    ruleset: String,
    pub(crate) next_game: u64,
    /// The games in flight, by place.
    pub(crate) games: Vec<GameRecord>,
}

impl PoolState {
    /// Returns the name of the pool.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns how many samples the games in flight have made.
    #[must_use]
    pub fn samples_in_flight(&self) -> u64 {
        self.games.iter().map(GameRecord::samples_count).sum()
    }

    /// Returns the number of games in flight.
    #[must_use]
    pub fn games_in_flight(&self) -> usize {
        self.games.len()
    }
}

/// The first bytes of the states of pools. The digit is the version of the format.
const MAGIC: &[u8; 8] = b"latrpls2";

/// Returns the states of pools as the bytes of a file: the format's name, a checksum (CRC-32, u32 in little-endian order)
/// of the rest, and the states (postcard). Equal states give equal bytes.
pub fn states_to_bytes(states: &[&PoolState]) -> Result<Vec<u8>, SelfPlayError> {
    let body = postcard::to_stdvec(states).map_err(|error| refused(&error.to_string()))?;
    Ok([&MAGIC[..], &crc32fast::hash(&body).to_le_bytes(), &body].concat())
}

fn refused(reason: &str) -> SelfPlayError {
    SelfPlayError::Failed(format!("the games in flight: {reason}"))
}

/// Reads what [`states_to_bytes`] wrote. The games are checked by [`Pool::restore`].
pub fn states_from_bytes(bytes: &[u8]) -> Result<Vec<PoolState>, SelfPlayError> {
    let Some(body) = bytes.strip_prefix(MAGIC) else {
        return Err(refused("they are of another kind, or of another version of this program"));
    };
    match body.split_first_chunk() {
        Some((checksum, body)) if crc32fast::hash(body) == u32::from_le_bytes(*checksum) => {
            postcard::from_bytes(body).map_err(|error| refused(&error.to_string()))
        }
        _ => Err(refused("they are cut off or damaged")),
    }
}

/// The evaluator of an actor, used on its thread. Each batch holds positions of one ruleset.
pub type ActorEvaluator<'a> = &'a mut (dyn Evaluator<GameState> + Send);

/// When a pool is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quota {
    /// When so many samples have been made, those of the games in flight included. These go on at the next call. All pools of one
    /// ruleset with the same quota take about as long, however long their games are.
    Samples(u64),
    /// When so many games have ended. The other games go on at the next call.
    Games(u64),
    /// When all its games have ended; games below this number are begun, so that 0 only ends those in flight.
    PlayOut {
        /// The number after that of the last game to begin.
        until: u64,
    },
    /// When [`Watch::next_game`] gives no further game and all have ended. [`Watch::take`] receives their records; no samples
    /// are made.
    Stream,
}

/// A pool to be played.
#[derive(Clone, Debug)]
pub struct PoolTask<'a> {
    /// The pool.
    pub pool: Pool,
    /// How far.
    pub quota: Quota,
    /// Where each game is written as it ends.
    pub journal: Option<&'a Journal>,
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
    /// Samples made, those of games in flight included, where samples are the quota.
    pub samples: AtomicU64,
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

/// Watches the actors, called on their threads. A closure only decides whether to go on.
pub trait Watch: Sync {
    /// Tells, after every batch, whether to go on.
    fn goes_on(&self, progress: &Progress) -> bool;

    /// Tells, after every batch, whether all pools end now although they owe more, as if they had played their quotas.
    fn is_time_over(&self, _progress: &Progress) -> bool {
        false
    }

    /// Is called before an actor moves its trees and evaluates a batch; may block the actor.
    fn begin_batch(&self) {}

    /// Is called after that, also when it failed.
    fn end_batch(&self) {}

    /// Gives the number of the next game of [`Quota::Stream`]; after `None` it may be asked again.
    fn next_game(&self) -> Result<Option<u64>, SelfPlayError> {
        Ok(None)
    }

    /// Takes the record of every game of [`Quota::Stream`] that has ended.
    fn take(&self, _game: FinishedGame) -> Result<(), SelfPlayError> {
        Ok(())
    }
}

impl<F: Fn(&Progress) -> bool + Sync> Watch for F {
    fn goes_on(&self, progress: &Progress) -> bool {
        self(progress)
    }
}

/// Pools that have been played, each with its games that have ended.
pub type PlayedPools = Vec<(Pool, Vec<PlayedGame>)>;

/// Plays pools with one actor per evaluator. Returns them in the order of the tasks, each with the games that have ended, in
/// the order of their ends, those of one batch by place. With `parallel_trees` rayon's threads move the trees of an actor; of
/// use where there are more cores than actors.
/// Fails with [`SelfPlayError::Stopped`] when `watch` says not to go on; when an evaluator fails; and the errors of [`Watch`]
/// and of the journals. The pools are then lost with all that was played in this call, except the games in journals and those
/// that `watch` took: go on from the states of the pools before it.
/// Panics when there is no evaluator.
pub fn play_pools(
    tasks: Vec<PoolTask<'_>>,
    evaluators: &mut [ActorEvaluator<'_>],
    parallel_trees: bool,
    progress: &Progress,
    watch: &dyn Watch,
) -> Result<PlayedPools, SelfPlayError> {
    assert!(!evaluators.is_empty(), "self-play needs an evaluator");
    let begin = |(index, task)| ActivePool::new(index, task);
    let turns = Mutex::new(Turns::new(tasks.into_iter().enumerate().map(begin).collect()));
    let (stop, is_time_over) = Default::default();
    let run = Run { turns, parallel_trees, progress, watch, stop, is_time_over };
    let actors: Vec<Result<Vec<_>, SelfPlayError>> = thread::scope(|scope| {
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
    results.sort_by_key(|(index, ..)| *index);
    Ok(results.into_iter().map(|(_, pool, games)| (pool, games)).collect())
}

/// A pool that was played: its index, the pool, and the games that ended.
type PlayedPool = (usize, Pool, Vec<PlayedGame>);

/// Games in turn without a sample after which no more are begun.
const GAMES_WITHOUT_SAMPLES_MAX: u64 = 1000;

struct Run<'a> {
    turns: Mutex<Turns<ActivePool<'a>>>,
    parallel_trees: bool,
    progress: &'a Progress,
    watch: &'a dyn Watch,
    /// Set by the first actor that fails or is stopped.
    stop: AtomicBool,
    /// Set by the first actor that is told so.
    is_time_over: AtomicBool,
}

/// Samples that a game counts for where games are to be played.
const GAME_SAMPLES: f64 = 64.0;

struct ActivePool<'a> {
    index: usize,
    plan: PoolPlan,
    /// Its games are those of before as long as it has not begun.
    state: PoolState,
    quota: Quota,
    journal: Option<&'a Journal>,
    has_begun: bool,
    games: Vec<ActiveGame>,
    ended: Vec<PlayedGame>,
    pace: Pace,
    /// Samples of the games that have ended.
    samples: u64,
    /// Samples that the games in flight had at the beginning.
    samples_before: u64,
    /// Games in turn that gave no samples.
    without_samples: u64,
}

impl<'a> ActivePool<'a> {
    fn new(index: usize, task: PoolTask<'a>) -> ActivePool<'a> {
        let PoolTask { pool: Pool { plan, state, nanos_per_sample: usual }, quota, journal } = task;
        let games = match quota {
            Quota::Samples(samples) => samples as f64 / GAME_SAMPLES,
            Quota::Games(games) => games as f64,
            Quota::PlayOut { until } => state.games.len() as f64 + until.saturating_sub(state.next_game) as f64,
            Quota::Stream => plan.in_flight as f64,
        };
        let cost = f64::from(plan.settings.simulations) * plan.rules.square_count() as f64;
        let pace = Pace { quota: games * GAME_SAMPLES, done: 0.0, nanos: 0.0, usual, cost };
        let (games, ended) = Default::default();
        let (has_begun, samples, without_samples) = Default::default();
        let samples_before = state.samples_in_flight();
        ActivePool {
            index,
            plan,
            state,
            quota,
            journal,
            has_begun,
            games,
            ended,
            pace,
            samples,
            samples_before,
            without_samples,
        }
    }

    /// Takes up the games in flight and begins those that are missing, with the memory of games that have ended.
    fn begin(&mut self, spare: &mut Vec<ActiveGame>, watch: &dyn Watch) -> Result<(), SelfPlayError> {
        if std::mem::replace(&mut self.has_begun, true) {
            return Ok(());
        }
        for record in std::mem::take(&mut self.state.games) {
            let mut game = spare.pop().unwrap_or_else(|| ActiveGame::new(&self.plan));
            game.resume(&self.plan, record);
            self.games.push(game);
        }
        while let Some(number) = self.next_number(self.games.len(), watch)? {
            let mut game = spare.pop().unwrap_or_else(|| ActiveGame::new(&self.plan));
            game.begin(&self.plan, number);
            self.games.push(game);
        }
        Ok(())
    }

    /// Suspends the games in flight, whose memory goes to `spare`.
    fn suspend(mut self, spare: &mut Vec<ActiveGame>) -> PlayedPool {
        if self.has_begun {
            self.state.games.extend(self.games.iter_mut().map(ActiveGame::suspend));
        }
        spare.append(&mut self.games);
        let nanos_per_sample = if self.pace.done > 0.0 { Some(self.pace.per_sample(0.0)) } else { self.pace.usual };
        (self.index, Pool { plan: self.plan, state: self.state, nanos_per_sample }, self.ended)
    }

    fn is_done(&self) -> bool {
        match self.quota {
            Quota::Samples(samples) => self.made() >= samples,
            Quota::Games(games) => self.ended.len() as u64 >= games,
            Quota::PlayOut { .. } | Quota::Stream => self.games.is_empty(),
        }
    }

    /// Returns how many samples have been made.
    fn made(&self) -> u64 {
        let in_flight: u64 = self.games.iter().map(ActiveGame::samples_count).sum();
        (self.samples + in_flight).saturating_sub(self.samples_before)
    }

    /// Returns the number of a further game, if one is to be begun where `others` are in flight.
    fn next_number(&mut self, others: usize, watch: &dyn Watch) -> Result<Option<u64>, SelfPlayError> {
        if others >= self.plan.in_flight {
            return Ok(None);
        }
        match self.quota {
            Quota::Stream => return watch.next_game(),
            Quota::PlayOut { until } if self.state.next_game >= until => return Ok(None),
            Quota::Samples(_) | Quota::Games(_) | Quota::PlayOut { .. } => {}
        }
        self.state.next_game += 1;
        Ok(Some(self.state.next_game - 1))
    }
}

impl Run<'_> {
    /// Plays pools until there is none left.
    fn act(&self, evaluator: &mut (dyn Evaluator<GameState> + Send)) -> Result<Vec<PlayedPool>, SelfPlayError> {
        let mut results = Vec::new();
        let mut batch = LeafBatch::default();
        // The memory of games, trees above all, from one pool to the next.
        let mut spare = Vec::new();
        let pace = |pool: &ActivePool<'_>| pool.pace;
        let turns = || self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        let take = || turns().take(pace);
        let mut next = take();
        while let Some(mut pool) = next {
            let begun = Instant::now();
            let is_over = || self.is_time_over.load(Ordering::Relaxed);
            if !is_over() {
                pool.begin(&mut spare, self.watch)?;
            }
            while !is_over() && !pool.is_done() && begun.elapsed() < TURN {
                self.watch.begin_batch();
                let since = Instant::now();
                let done = self.play_batch(&mut pool, evaluator, &mut batch, &mut spare);
                let nanos = since.elapsed().as_nanos() as u64;
                self.progress.actor_nanos.fetch_add(nanos, Ordering::Relaxed);
                pool.pace.nanos += nanos as f64;
                if matches!(pool.quota, Quota::Samples(_)) {
                    let made = pool.made() as f64;
                    self.progress.samples.fetch_add((made - pool.pace.done) as u64, Ordering::Relaxed);
                    pool.pace.done = made;
                }
                self.watch.end_batch();
                done?;
                if self.stop.load(Ordering::Relaxed) || !self.watch.goes_on(self.progress) {
                    return Err(SelfPlayError::Stopped);
                }
                self.is_time_over.fetch_or(self.watch.is_time_over(self.progress), Ordering::Relaxed);
            }
            // Where none waits, none will be given back.
            next = if is_over() || pool.is_done() {
                results.push(pool.suspend(&mut spare));
                take()
            } else {
                Some(turns().exchange(pool, pace))
            };
        }
        Ok(results)
    }

    /// Moves every tree to its next leaf, replaces games that have ended by new ones, and evaluates the leaves.
    fn play_batch(
        &self,
        pool: &mut ActivePool<'_>,
        evaluator: &mut (dyn Evaluator<GameState> + Send),
        batch: &mut LeafBatch,
        spare: &mut Vec<ActiveGame>,
    ) -> Result<(), SelfPlayError> {
        self.on_each(&mut pool.games, |game| game.advance(&pool.plan));
        let (mut place, mut has_ended) = (0, false);
        while place < pool.games.len() {
            let Some(outcome) = pool.games[place].outcome() else {
                place += 1;
                continue;
            };
            has_ended = true;
            self.end_game(pool, place, outcome)?;
            match pool.next_number(pool.games.len() - 1, self.watch)? {
                Some(number) => {
                    pool.games[place].begin(&pool.plan, number);
                    place += 1;
                }
                None => spare.push(pool.games.remove(place)),
            }
        }
        if has_ended {
            if pool.without_samples >= GAMES_WITHOUT_SAMPLES_MAX {
                return Err(SelfPlayError::Failed(format!(
                    "{} games of {} in turn gave no samples: hardly any action of theirs is a choice, or their beginnings \
                     are too long (selfplay.starts); shorten these, or train on another ruleset",
                    pool.without_samples,
                    pool.plan.rules.ruleset().id
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
        self.progress.places.fetch_add(pool.plan.in_flight as u64, Ordering::Relaxed);
        for (game, evaluation) in pool.games.iter_mut().zip(evaluations) {
            std::mem::swap(&mut game.evaluation, evaluation);
        }
        self.on_each(&mut pool.games, ActiveGame::receive);
        Ok(())
    }

    /// Takes the game at a place, which has ended; makes its samples unless its record is all that is wanted.
    fn end_game(&self, pool: &mut ActivePool<'_>, place: usize, outcome: Outcome) -> Result<(), SelfPlayError> {
        let game = &mut pool.games[place];
        let samples = game.samples_count();
        pool.samples += samples;
        if !matches!(pool.quota, Quota::Samples(_)) {
            pool.pace.done += GAME_SAMPLES;
        }
        pool.without_samples = if samples == 0 { pool.without_samples + 1 } else { 0 };
        self.progress.games.fetch_add(1, Ordering::Relaxed);
        if pool.quota == Quota::Stream {
            return self.watch.take(FinishedGame(game.suspend()));
        }
        let game = game.finish(&pool.plan, outcome);
        if let Some(journal) = pool.journal {
            journal.add(&game)?;
        }
        pool.ended.push(game);
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

//! Many games in lockstep: one leaf per tree per batch.
//!
//! The games of a generation are dealt to lanes, one per evaluator and each on a thread of its own: while
//! one lane's trees move the other's network computes. Within a lane every game asks for one position, the
//! evaluator answers them as one batch, every tree takes its answer. A game depends on its key and on the
//! answers alone: neither the lane nor the number of games in flight changes it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use latrunculi_engine::{Action, GameState, Outcome, Player, Rules};
use latrunculi_search::{Evaluation, Evaluator};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::cache::EvaluationCache;
use crate::error::SelfPlayError;
use crate::openings::{Start, random_opening};
use crate::samples::Samples;
use crate::seeds::{GameKey, Purpose};
use crate::settings::SelfPlaySettings;
use crate::slot::{Habits, Slot};
use crate::teacher::{AlphaBetaTeacher, AlphaBetaTeaching};

/// An evaluator that may work on another thread.
pub type LaneEvaluator<'a> = &'a mut (dyn Evaluator<GameState> + Send);

/// Which games are to be played, and how.
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
    /// Those of them that are not played, by number: they have been before.
    pub played: BTreeSet<u64>,
    /// Games in flight in each lane; at least 1.
    pub in_flight: usize,
    /// Set where alpha-beta plays both sides in place of the evaluators, which then only stand for lanes.
    pub teaching: Option<AlphaBetaTeaching>,
    /// Whether the trees of a lane are moved by rayon's threads. Not worth it where lanes fill the cores.
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
    /// Who would have resigned first, where resignation is on; the game was played on to its end.
    pub resigned: Option<Player>,
    /// What it teaches, in the order of play.
    pub samples: Samples,
}

/// How far the games are; all lanes together.
#[derive(Debug, Default)]
pub struct Progress {
    /// Games finished.
    pub games: AtomicU64,
    /// Positions evaluated.
    pub evaluations: AtomicU64,
    /// Positions whose evaluation was remembered; not among those evaluated.
    pub cache_hits: AtomicU64,
    /// Batches evaluated.
    pub batches: AtomicU64,
    /// Nanoseconds that the evaluators worked, summed over lanes.
    pub evaluator_nanos: AtomicU64,
    /// Nanoseconds that the lanes ran, summed over lanes.
    pub lane_nanos: AtomicU64,
}

/// Who watches the lanes; called on their threads. A closure serves where only the progress is of interest.
pub trait Watch: Sync {
    /// Is asked after every batch whether to go on.
    fn goes_on(&self, progress: &Progress) -> bool;

    /// Is called before a lane moves its trees and evaluates a batch; may let the lane wait.
    fn begin_round(&self) {}

    /// Is called after that, however it ended.
    fn end_round(&self) {}

    /// Is given every game that has ended. Answers why the games cannot go on, if they cannot.
    ///
    /// # Errors
    /// [`SelfPlayError`], which ends the games.
    fn take(&self, _game: &PlayedGame) -> Result<(), SelfPlayError> {
        Ok(())
    }
}

impl<F: Fn(&Progress) -> bool + Sync> Watch for F {
    fn goes_on(&self, progress: &Progress) -> bool {
        self(progress)
    }
}

/// Plays the games of `plan` with one lane per evaluator; returns them by number.
///
/// # Errors
/// [`SelfPlayError::Settings`] when a setting is out of range, [`SelfPlayError::Evaluation`] when an evaluator
/// fails, [`SelfPlayError::Stopped`] when `watch` answers no, and what `watch` answers to a game. Of the games only those
/// that `watch` was given are then known.
///
/// # Panics
/// When there is no evaluator.
pub fn play_games(
    plan: &SelfPlayPlan,
    evaluators: &mut [LaneEvaluator<'_>],
    progress: &Progress,
    watch: &dyn Watch,
) -> Result<Vec<PlayedGame>, SelfPlayError> {
    let settings = &plan.settings;
    let mut faults = settings.faults();
    if plan.in_flight == 0 {
        faults.push("in_flight = 0 must be at least 1".to_owned());
    }
    faults.extend(plan.teaching.iter().flat_map(AlphaBetaTeaching::faults));
    if !faults.is_empty() {
        return Err(SelfPlayError::Settings(faults));
    }
    let habits = Habits { settings: settings.clone(), teaching: plan.teaching };
    // Alpha-beta waits for nobody, so that its games follow one another.
    let in_flight = if plan.teaching.is_some() { 1 } else { plan.in_flight };
    let run = Run { plan, habits: &habits, in_flight, progress, watch, stop: AtomicBool::new(false) };
    let mut games = run.play(evaluators)?;
    games.sort_by_key(|game| game.index);
    Ok(games)
}

/// What all lanes have in common.
struct Run<'a> {
    plan: &'a SelfPlayPlan,
    habits: &'a Habits,
    in_flight: usize,
    progress: &'a Progress,
    watch: &'a dyn Watch,
    /// Set by the first lane that cannot go on.
    stop: AtomicBool,
}

/// What one lane works with.
struct Lane {
    slots: Vec<Slot>,
    evaluations: Vec<Evaluation>,
    cache: EvaluationCache,
    played: Vec<PlayedGame>,
}

impl Run<'_> {
    /// Deals the games to the lanes and plays them.
    fn play(&self, evaluators: &mut [LaneEvaluator<'_>]) -> Result<Vec<PlayedGame>, SelfPlayError> {
        assert!(!evaluators.is_empty(), "self-play needs an evaluator");
        let lane_count = evaluators.len();
        let lanes: Vec<Result<Vec<PlayedGame>, SelfPlayError>> = thread::scope(|scope| {
            let handles: Vec<_> = evaluators
                .iter_mut()
                .enumerate()
                .map(|(lane, evaluator)| {
                    scope.spawn(move || {
                        let open = (0..self.plan.games).filter(|game| !self.plan.played.contains(game));
                        let played = self.play_lane(open.skip(lane).step_by(lane_count), &mut **evaluator);
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
        for lane in lanes {
            match lane {
                Ok(played) => all.extend(played),
                // What made the other lanes stop says more than that they did.
                Err(SelfPlayError::Stopped) if error.is_some() => {}
                Err(reason) => error = Some(reason),
            }
        }
        error.map_or(Ok(all), Err)
    }

    /// Plays the games `mine`, a round at a time.
    fn play_lane(
        &self,
        mut mine: impl Iterator<Item = u64>,
        evaluator: &mut (dyn Evaluator<GameState> + Send),
    ) -> Result<Vec<PlayedGame>, SelfPlayError> {
        let first = GameState::new(Arc::clone(&self.plan.rules));
        let mut lane = Lane {
            slots: Vec::new(),
            evaluations: Vec::new(),
            cache: EvaluationCache::new(self.habits.settings.cache_entries),
            played: Vec::new(),
        };
        for game in mine.by_ref().take(self.in_flight) {
            let mut slot = Slot::new(self.habits, &first);
            self.begin(&mut slot, game);
            lane.slots.push(slot);
        }
        while !lane.slots.is_empty() {
            self.watch.begin_round();
            let since = Instant::now();
            let done = self.play_round(&mut lane, &mut mine, evaluator);
            self.progress.lane_nanos.fetch_add(since.elapsed().as_nanos() as u64, Ordering::Relaxed);
            self.watch.end_round();
            done?;
            if self.stop.load(Ordering::Relaxed) || !self.watch.goes_on(self.progress) {
                return Err(SelfPlayError::Stopped);
            }
        }
        Ok(lane.played)
    }

    /// Moves every tree to its next question, lets games that end make room for others, and has the
    /// questions answered.
    fn play_round(
        &self,
        lane: &mut Lane,
        mine: &mut impl Iterator<Item = u64>,
        evaluator: &mut (dyn Evaluator<GameState> + Send),
    ) -> Result<(), SelfPlayError> {
        let Lane { slots, evaluations, cache, played } = lane;
        self.on_each(slots, |slot| slot.advance(self.habits, cache));
        let hits = slots.iter_mut().map(|slot| std::mem::take(&mut slot.cache_hits)).sum();
        self.progress.cache_hits.fetch_add(hits, Ordering::Relaxed);
        let games_before = played.len();
        slots.retain_mut(|slot| {
            let Some(outcome) = slot.outcome() else { return true };
            played.push(self.finish(slot, outcome));
            mine.next().is_some_and(|game| {
                self.begin(slot, game);
                true
            })
        });
        if played.len() > games_before {
            for game in &played[games_before..] {
                self.progress.games.fetch_add(1, Ordering::Relaxed);
                self.watch.take(game)?;
            }
            // The new games have to come to their first question.
            return Ok(());
        }
        let leaves: Vec<(&GameState, &[Action])> =
            slots.iter().map(|slot| slot.search.leaf()).map(|leaf| (leaf.game, leaf.legal_actions)).collect();
        let (games, legal_actions): (Vec<&GameState>, Vec<&[Action]>) = leaves.into_iter().unzip();
        evaluations.resize_with(slots.len(), Evaluation::default);
        let before = Instant::now();
        evaluator.evaluate(&games, &legal_actions, evaluations)?;
        self.progress.evaluator_nanos.fetch_add(before.elapsed().as_nanos() as u64, Ordering::Relaxed);
        self.progress.evaluations.fetch_add(slots.len() as u64, Ordering::Relaxed);
        self.progress.batches.fetch_add(1, Ordering::Relaxed);
        for (slot, evaluation) in slots.iter_mut().zip(evaluations) {
            std::mem::swap(&mut slot.evaluation, evaluation);
            cache.insert(slot.leaf_key, &slot.evaluation);
        }
        self.on_each(slots, Slot::receive);
        Ok(())
    }

    fn on_each(&self, slots: &mut [Slot], work: impl Fn(&mut Slot) + Sync + Send) {
        if self.plan.parallel_trees {
            slots.par_iter_mut().with_min_len(4).for_each(work);
        } else {
            slots.iter_mut().for_each(work);
        }
    }

    /// Sets a slot to the start of game `game`.
    fn begin(&self, slot: &mut Slot, game: u64) {
        let SelfPlayPlan { rules, settings, run_seed, generation, .. } = self.plan;
        let key = GameKey { run_seed: *run_seed, generation: *generation, game };
        let mut stream = key.stream(Purpose::Opening);
        let mut start = Start::draw(settings, &mut stream);
        let (opening, random_actions) = random_opening(rules, start.random_actions, &mut stream);
        start.random_actions = random_actions;
        slot.begin(key, &opening, start);
        slot.weak = self.plan.teaching.and_then(|teaching| teaching.draw_weak(&mut stream));
        slot.teacher = self.plan.teaching.map(|_| Box::new(AlphaBetaTeacher::new(rules)));
    }

    /// Says what came of the game of a slot.
    fn finish(&self, slot: &mut Slot, outcome: Outcome) -> PlayedGame {
        PlayedGame {
            index: slot.index,
            outcome,
            action_count: slot.action_count,
            turn_count: u32::from(slot.search.game().position().turns()),
            resigned: slot.resigned,
            samples: slot.take_samples(outcome, self.habits),
        }
    }
}

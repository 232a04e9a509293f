//! Many games in lockstep: one leaf per tree per batch.
//!
//! The games of a generation are dealt to lanes, one per evaluator and each on a thread of its own: while
//! one lane's trees move the other's network computes. Within a lane every game asks for one position, the
//! evaluator answers them as one batch, every tree takes its answer. A game depends on its key and on the
//! answers alone: neither the lane nor the number of games in flight changes it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use latrunculi_engine::{Action, GameState, Outcome, Player, Rules};
use latrunculi_search::{Evaluation, Evaluator};
use rayon::prelude::*;

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
    /// Games in flight in each lane; at least 1.
    pub in_flight: usize,
    /// Set where alpha-beta plays both sides in place of the evaluators, which then only stand for lanes.
    pub teaching: Option<AlphaBetaTeaching>,
    /// Whether the trees of a lane are moved by rayon's threads. Not worth it where lanes fill the cores.
    pub parallel_trees: bool,
}

/// A finished game.
#[derive(Clone, Debug)]
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

/// Is told of every batch; answers whether to go on.
pub type Watch<'a> = &'a (dyn Fn(&Progress) -> bool + Sync);

/// Plays the games of `plan` with one lane per evaluator; returns them by number.
///
/// # Errors
/// [`SelfPlayError::Settings`] when a setting is out of range, [`SelfPlayError::Evaluation`] when an evaluator
/// fails, [`SelfPlayError::Stopped`] when `watch` answers no. Unfinished and finished games are then lost.
///
/// # Panics
/// When there is no evaluator.
pub fn play_games(
    plan: &SelfPlayPlan,
    evaluators: &mut [LaneEvaluator<'_>],
    progress: &Progress,
    watch: Watch<'_>,
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
    let begin = |slot: &mut Slot, game: u64| {
        let key = GameKey { run_seed: plan.run_seed, generation: plan.generation, game };
        let mut stream = key.stream(Purpose::Opening);
        let start = Start::draw(settings, &mut stream);
        slot.begin(key, &random_opening(&plan.rules, start.random_actions, &mut stream), start);
        slot.teacher = plan.teaching.map(|_| Box::new(AlphaBetaTeacher::new(&plan.rules)));
    };
    let finish = |slot: &mut Slot, outcome: Outcome| PlayedGame {
        index: slot.index,
        outcome,
        action_count: slot.action_count,
        turn_count: u32::from(slot.search.game().position().turns()),
        resigned: slot.resigned,
        samples: slot.take_samples(outcome, &habits),
    };
    // Alpha-beta waits for nobody, so that its games follow one another.
    let in_flight = if plan.teaching.is_some() { 1 } else { plan.in_flight };
    let run = Run { rules: &plan.rules, habits: &habits, games: plan.games, in_flight };
    let mut games = run.play(plan.parallel_trees, evaluators, progress, watch, &begin, &finish)?;
    games.sort_by_key(|game| game.index);
    Ok(games)
}

/// What all lanes of a run have in common.
struct Run<'a> {
    rules: &'a Arc<Rules>,
    habits: &'a Habits,
    games: u64,
    in_flight: usize,
}

impl Run<'_> {
    /// Plays games `0..games`; `begin` sets a slot to a game, `finish` says what came of it.
    fn play(
        &self,
        parallel_trees: bool,
        evaluators: &mut [LaneEvaluator<'_>],
        progress: &Progress,
        watch: Watch<'_>,
        begin: &(dyn Fn(&mut Slot, u64) + Sync),
        finish: &(dyn Fn(&mut Slot, Outcome) -> PlayedGame + Sync),
    ) -> Result<Vec<PlayedGame>, SelfPlayError> {
        assert!(!evaluators.is_empty(), "self-play needs an evaluator");
        let lane_count = evaluators.len() as u64;
        let stop = AtomicBool::new(false);
        let lanes: Vec<Result<Vec<PlayedGame>, SelfPlayError>> = thread::scope(|scope| {
            let handles: Vec<_> = evaluators
                .iter_mut()
                .zip(0..)
                .map(|(evaluator, lane)| {
                    let stop = &stop;
                    scope.spawn(move || {
                        let mine = (lane..self.games).step_by(lane_count as usize);
                        let played = self.play_lane(
                            mine,
                            parallel_trees,
                            &mut **evaluator,
                            progress,
                            &|progress| !stop.load(Ordering::Relaxed) && watch(progress),
                            begin,
                            finish,
                        );
                        if played.is_err() {
                            stop.store(true, Ordering::Relaxed);
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

    #[expect(clippy::too_many_arguments, reason = "the one place where a lane's parts come together")]
    fn play_lane(
        &self,
        mut mine: impl Iterator<Item = u64>,
        parallel_trees: bool,
        evaluator: &mut (dyn Evaluator<GameState> + Send),
        progress: &Progress,
        watch: Watch<'_>,
        begin: &(dyn Fn(&mut Slot, u64) + Sync),
        finish: &(dyn Fn(&mut Slot, Outcome) -> PlayedGame + Sync),
    ) -> Result<Vec<PlayedGame>, SelfPlayError> {
        let mut since = Instant::now();
        let first = GameState::new(Arc::clone(self.rules));
        let mut slots: Vec<Slot> = Vec::new();
        for game in mine.by_ref().take(self.in_flight) {
            let mut slot = Slot::new(self.habits, &first);
            begin(&mut slot, game);
            slots.push(slot);
        }
        let mut played = Vec::new();
        let mut evaluations: Vec<Evaluation> = Vec::new();
        let mut cache = EvaluationCache::new(self.habits.settings.cache_entries);
        loop {
            if parallel_trees {
                slots.par_iter_mut().with_min_len(4).for_each(|slot| slot.advance(self.habits, &cache));
            } else {
                slots.iter_mut().for_each(|slot| slot.advance(self.habits, &cache));
            }
            let hits = slots.iter_mut().map(|slot| std::mem::take(&mut slot.cache_hits)).sum();
            progress.cache_hits.fetch_add(hits, Ordering::Relaxed);
            let mut is_changed = false;
            slots.retain_mut(|slot| {
                let Some(outcome) = slot.outcome() else { return true };
                played.push(finish(slot, outcome));
                progress.games.fetch_add(1, Ordering::Relaxed);
                is_changed = true;
                mine.next().is_some_and(|game| {
                    begin(slot, game);
                    true
                })
            });
            if is_changed {
                if slots.is_empty() {
                    break;
                }
                if !watch(progress) {
                    return Err(SelfPlayError::Stopped);
                }
                // The new games have to come to their first position.
                continue;
            }
            if slots.is_empty() {
                break;
            }
            let leaves: Vec<(&GameState, &[Action])> =
                slots.iter().map(|slot| slot.search.leaf()).map(|leaf| (leaf.game, leaf.legal_actions)).collect();
            let (games, legal_actions): (Vec<&GameState>, Vec<&[Action]>) = leaves.into_iter().unzip();
            evaluations.resize_with(slots.len(), Evaluation::default);
            let before = Instant::now();
            evaluator.evaluate(&games, &legal_actions, &mut evaluations)?;
            let after = Instant::now();
            for (slot, evaluation) in slots.iter_mut().zip(&mut evaluations) {
                std::mem::swap(&mut slot.evaluation, evaluation);
                cache.insert(slot.leaf_key, &slot.evaluation);
            }
            if parallel_trees {
                slots.par_iter_mut().with_min_len(4).for_each(Slot::receive);
            } else {
                slots.iter_mut().for_each(Slot::receive);
            }
            progress.evaluations.fetch_add(slots.len() as u64, Ordering::Relaxed);
            progress.batches.fetch_add(1, Ordering::Relaxed);
            progress.evaluator_nanos.fetch_add((after - before).as_nanos() as u64, Ordering::Relaxed);
            let now = Instant::now();
            progress.lane_nanos.fetch_add((now - since).as_nanos() as u64, Ordering::Relaxed);
            since = now;
            if !watch(progress) {
                return Err(SelfPlayError::Stopped);
            }
        }
        Ok(played)
    }
}

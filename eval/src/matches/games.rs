//! Gives out the games of a schedule to the threads that play them.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use latrunculi_engine::GameRecord;
use latrunculi_engine::record::RecordFault;

use super::game_play::{Beginning, GameSource, Matchup};
use super::ledger::Place;
use super::tally::Tally;
use super::{Job, MatchError, Schedule};
use crate::workers::{SeriesHead, SharedSource};

/// Games of a sequential test that workers are asked for at once: it may end before all are played.
const SEQUENTIAL_WINDOW: usize = 400;

/// The games of a match that remain to be played, in order, and the tally that receives them.
pub(super) struct MatchGames<'a, 'o> {
    schedule: &'a Schedule,
    jobs: Vec<Job>,
    next: AtomicUsize,
    is_over: AtomicBool,
    tally: Mutex<Tally<'a, 'o>>,
}

impl<'a, 'o> MatchGames<'a, 'o> {
    pub(super) fn new(schedule: &'a Schedule, tally: Tally<'a, 'o>) -> MatchGames<'a, 'o> {
        let jobs = schedule.jobs().filter(|&job| !tally.has(job)).collect();
        let is_over = AtomicBool::new(tally.is_over());
        MatchGames { schedule, jobs, next: AtomicUsize::new(0), is_over, tally: Mutex::new(tally) }
    }

    pub(super) fn into_tally(self) -> Tally<'a, 'o> {
        self.tally.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl GameSource for MatchGames<'_, '_> {
    type Job = Job;
    type Error = MatchError;

    fn next(&self) -> Option<Job> {
        self.jobs.get(self.next.fetch_add(1, Ordering::Relaxed)).copied()
    }

    fn wait(&self) -> bool {
        false
    }

    fn matchup(&self, _job: Job) -> Matchup<'_> {
        self.schedule.matchup()
    }

    fn beginning(&self, job: Job) -> Beginning {
        self.schedule.beginning(job)
    }

    fn end(&self, job: Job, record: GameRecord) -> Result<(), MatchError> {
        let game = self.schedule.evaluate(job, &record).expect("a game just played replays");
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        if tally.add(game, record)?.is_break() {
            self.abort();
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    fn abort(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

impl SharedSource for MatchGames<'_, '_> {
    fn index(&self, job: Job) -> (usize, usize) {
        (0, job.index())
    }

    fn index_of(&self, place: &Place) -> Option<usize> {
        Job::of_place(place).map(Job::index)
    }

    fn head(&self, _series: usize) -> SeriesHead {
        self.schedule.head()
    }

    fn check(&self, job: Job, record: &GameRecord) -> Result<(), RecordFault> {
        self.schedule.evaluate(job, record).map(|_| ())
    }

    fn window(&self) -> usize {
        if self.schedule.config.sprt.is_some() { SEQUENTIAL_WINDOW } else { usize::MAX }
    }

    fn is_done(&self, _series: usize) -> bool {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner).is_done()
    }

    fn tell(&self) {
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        tally.tell(None);
        if tally.is_over() {
            self.abort();
        }
    }
}

//! The games of a schedule, as whoever plays games asks for them.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use latrunculi_engine::{GameRecord, GameState};

use super::tally::Tally;
use super::{Job, MatchError, Schedule};
use crate::game_play::{Beginning, Cast, GameSource, OpeningPlan, PolicyDraw};

/// The games of a match that are still to be played, in order, and the tally that takes them.
pub(super) struct Games<'a, 'o> {
    schedule: &'a Schedule<'a>,
    jobs: Vec<Job>,
    next: AtomicUsize,
    is_over: AtomicBool,
    tally: Mutex<Tally<'a, 'o>>,
}

impl<'a, 'o> Games<'a, 'o> {
    pub(super) fn new(schedule: &'a Schedule<'a>, tally: Tally<'a, 'o>) -> Games<'a, 'o> {
        let jobs = schedule.jobs().filter(|&job| !tally.has(job)).collect();
        let is_over = AtomicBool::new(tally.is_over());
        Games { schedule, jobs, next: AtomicUsize::new(0), is_over, tally: Mutex::new(tally) }
    }

    pub(super) fn into_tally(self) -> Tally<'a, 'o> {
        self.tally.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl GameSource for Games<'_, '_> {
    type Job = Job;
    type Error = MatchError;

    fn next(&self) -> Option<Job> {
        self.jobs.get(self.next.fetch_add(1, Ordering::Relaxed)).copied()
    }

    fn wait(&self) -> bool {
        false
    }

    fn cast(&self, _job: Job) -> Cast<'_> {
        let schedule = self.schedule;
        let [a, b] = &schedule.config.agents;
        let opener = schedule.config.opening_policy.as_ref().map(|policy| &policy.agent);
        let network = |agent| schedule.network_of(agent);
        let networks = [network(a), network(b), opener.and_then(network)];
        let (rules, judged_as) = (schedule.rules, schedule.rules.ruleset());
        Cast { id: 0, rules, judged_as, agents: [a, b], opener, networks }
    }

    fn beginning(&self, job: Job) -> Beginning {
        let schedule = self.schedule;
        let known = schedule.book.as_ref().map(|book| book.openings[job.pair].actions.clone());
        let drawn = schedule.config.opening_policy.as_ref().map(|policy| PolicyDraw {
            length: schedule.opening_length,
            temperature: policy.temperature,
            seed: schedule.opening_seed(job.pair),
        });
        Beginning {
            state: GameState::new(Arc::clone(schedule.rules)),
            opening: OpeningPlan { actions: known.unwrap_or_default(), drawn },
            seats: schedule.seats(job),
            seed: schedule.seed(job),
            agent_seeds: [0, 1].map(|agent| schedule.agent_seed(job, agent)),
            visits_within: 0,
        }
    }

    fn end(&self, job: Job, record: GameRecord) -> Result<(), MatchError> {
        let game = self.schedule.judge(job, record).expect("a game just played replays");
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        if tally.add(game)?.is_break() {
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

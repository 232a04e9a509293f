//! Gives out the games of a schedule to the threads that play them.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use latrunculi_engine::{GameRecord, GameState};

use super::game_play::{Beginning, GameSource, Matchup, OpeningPlan, OpeningPolicy};
use super::tally::Tally;
use super::{Job, MatchError, Schedule};

/// The games of a match that remain to be played, in order, and the tally that receives them.
pub(super) struct MatchGames<'a, 'o> {
    schedule: &'a Schedule<'a>,
    jobs: Vec<Job>,
    next: AtomicUsize,
    is_over: AtomicBool,
    tally: Mutex<Tally<'a, 'o>>,
}

impl<'a, 'o> MatchGames<'a, 'o> {
    pub(super) fn new(schedule: &'a Schedule<'a>, tally: Tally<'a, 'o>) -> MatchGames<'a, 'o> {
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
        let schedule = self.schedule;
        let [a, b] = &schedule.config.agents;
        let opening_agent = schedule.config.opening_policy.as_ref().map(|policy| &policy.agent);
        let network = |agent| schedule.network_of(agent);
        let networks = [network(a), network(b), opening_agent.and_then(network)];
        let (rules, evaluated_as) = (schedule.rules, schedule.rules.ruleset());
        let texts = [0, 1].map(|agent: usize| schedule.texts[agent].as_str());
        Matchup { id: 0, rules, evaluated_as, agents: [a, b], opening_agent, texts, networks }
    }

    fn beginning(&self, job: Job) -> Beginning {
        let schedule = self.schedule;
        let known = schedule.book.as_ref().map(|book| book.openings[job.pair].actions.clone());
        let policy = schedule.config.opening_policy.as_ref().map(|policy| {
            OpeningPolicy::new(schedule.opening_length, policy.temperature, schedule.opening_seed(job.pair))
        });
        Beginning {
            state: GameState::new(Arc::clone(schedule.rules)),
            opening: OpeningPlan { actions: known.unwrap_or_default(), policy },
            seats: schedule.seats(job),
            seed: schedule.seed(job),
            agent_seeds: [0, 1].map(|agent| schedule.agent_seed(job, agent)),
            visits_within: 0,
        }
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

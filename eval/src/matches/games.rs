//! The games of a match for who plays them: the threads of this program, or workers, who are told of the match.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use latrunculi_engine::GameRecord;
use serde::{Deserialize, Serialize};

use super::game_play::{Beginning, GameSource, Matchup};
use super::ledger::Place;
use super::tally::Tally;
use super::{Job, MatchConfig, Schedule};
use crate::Error;
use crate::agents::{AgentSpec, NetworkEvaluator};
use crate::players::OpenNetwork;
use crate::workers::work::SharedGames;
use crate::workers::{SeriesHead, SharedPlay, SharedSource, read_ruleset};

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
    type Error = Error;

    fn games_max(&self) -> usize {
        self.jobs.len()
    }

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

    fn end(&self, job: Job, record: GameRecord) -> Result<(), Error> {
        let game = self.schedule.evaluate(job, &record).expect("a game just played replays");
        let mut tally = self.tally.lock().unwrap_or_else(PoisonError::into_inner);
        if tally.add(game, &record)?.is_break() {
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

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct MatchPlay {
    ruleset: String,
    #[serde(flatten)]
    config: MatchConfig,
}

impl Schedule {
    /// Returns what workers must know of the match.
    pub(super) fn head(&self) -> SeriesHead {
        let (ruleset, games) = (self.rules.ruleset(), 2 * self.config.pairs);
        let config = MatchConfig { opening_length: Some(self.opening_length), ..self.config.clone() };
        let play = MatchPlay { ruleset: SeriesHead::rules_text(ruleset), config };
        SeriesHead::new(&self.series, games, &self.config.all_agents(), ruleset, SharedPlay::Match(Box::new(play)))
    }

    /// Makes the schedule of a match whose games a worker plays, and opens its networks.
    ///
    /// # Errors
    /// In words, why its games cannot be played here.
    pub(crate) fn shared<'e>(
        play: &MatchPlay,
        open: &mut OpenNetwork<'_, 'e>,
    ) -> Result<(Schedule, Vec<NetworkEvaluator<'e>>), String> {
        let rules = read_ruleset(&play.ruleset)?;
        let repeat = play.config.all_agents().into_iter().try_for_each(AgentSpec::check_repeats);
        repeat
            .map_err(Error::from)
            .and_then(|()| Schedule::new(&rules, &play.config, open))
            .map_err(|error| error.to_string())
    }
}

impl Job {
    pub(super) fn index(self) -> usize {
        2 * self.pair + self.beginner
    }

    pub(super) fn of_index(index: usize) -> Job {
        Job { pair: index / 2, beginner: index % 2 }
    }

    pub(super) fn of_place(place: &Place) -> Option<Job> {
        matches!(place.game, 1 | 2).then(|| Job { pair: place.pair, beginner: usize::from(place.game) - 1 })
    }
}

impl SharedGames for Schedule {
    fn key(&self) -> &str {
        &self.series
    }

    fn played(&self, [from, to]: [usize; 2]) -> Vec<usize> {
        (from..to).filter(|index| !self.would_repeat(index / 2)).collect()
    }

    fn place(&self, index: usize) -> Place {
        self.place(Job::of_index(index))
    }

    fn matchup(&self) -> Matchup<'_> {
        self.matchup()
    }

    fn beginning(&self, index: usize) -> Beginning {
        self.beginning(Job::of_index(index))
    }
}

//! Gives out the games of many series so that all threads are busy to the end: the series with the most remaining work first. The
//! order depends on the clock; the set of games and their play do not.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use latrunculi_engine::GameRecord;

use super::series::Series;
use super::tally::SeriesTally;
use super::{StudyObserver, StudyProgress};
use crate::Error;
use crate::agents::AgentKind;
use crate::matches::FinishedGame;
use crate::matches::game_play::{Beginning, GameSource, Matchup};
use crate::matches::ledger::{Ledger, Place};
use crate::matches::openings::{Opening, OpeningBook};
use crate::workers::{SeriesHead, SharedSource};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct StudyJob {
    series: usize,
    index: usize,
}

/// The games of some series that are still to be played.
pub(super) struct StudyGames<'a, 'o> {
    series: &'a [Series],
    state: Mutex<State<'a, 'o>>,
    changed: Condvar,
    is_over: AtomicBool,
}

struct State<'a, 'o> {
    progress: Vec<SeriesProgress>,
    /// By the names that the series have for theirs.
    ledgers: &'a mut BTreeMap<String, Ledger>,
    begun: HashMap<StudyJob, (Option<Opening>, Instant)>,
    observer: &'a mut StudyObserver<'o>,
    told: StudyProgress,
    is_interrupted: bool,
    /// Whether the series with a network are played, one after the other so that their games share batches, or those without.
    with_network: bool,
    /// How many games are under way at once; 0 where that is not known.
    at_once: usize,
}

struct SeriesProgress {
    tally: SeriesTally,
    needs_network: bool,
    /// Games of the schedule before this one have been given out.
    next: usize,
    /// The random openings drawn so far; `None` where the opening policy draws them in the game.
    openings: Option<OpeningBook>,
    /// Seconds that games took, and how many did.
    secs: (f64, u64),
    /// How much one game may cost compared with those of other series, before it is known.
    weight: f64,
}

impl<'a, 'o> StudyGames<'a, 'o> {
    /// Makes the games of `series` beyond those in `tallies`; `told` is where the study as a whole stands.
    pub(super) fn new(
        series: &'a [Series],
        tallies: Vec<SeriesTally>,
        ledgers: &'a mut BTreeMap<String, Ledger>,
        observer: &'a mut StudyObserver<'o>,
        told: StudyProgress,
    ) -> StudyGames<'a, 'o> {
        let progress = series.iter().zip(tallies).map(|(series, tally)| SeriesProgress::new(series, tally)).collect();
        let begun = HashMap::new();
        let (is_interrupted, with_network, at_once) = (false, false, 0);
        let state = State { progress, ledgers, begun, observer, told, is_interrupted, with_network, at_once };
        let (changed, is_over) = (Condvar::new(), AtomicBool::new(false));
        StudyGames { series, state: Mutex::new(state), changed, is_over }
    }

    /// Begins the games with a network or those without, `at_once` of them at once; returns whether there are any to be played.
    pub(super) fn begin(&self, with_network: bool, at_once: usize) -> bool {
        let mut state = self.lock();
        (state.with_network, state.at_once) = (with_network, at_once);
        if self.is_over() || !self.series.iter().any(|series| series.needs_network() == with_network) {
            return false;
        }
        self.is_over.store(state.tell(None), Ordering::Relaxed);
        true
    }

    fn lock(&self) -> MutexGuard<'_, State<'a, 'o>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the tallies, and whether the observer asked to stop.
    pub(super) fn into_tallies(self) -> (Vec<SeriesTally>, bool) {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        (state.progress.into_iter().map(|progress| progress.tally).collect(), state.is_interrupted)
    }
}

/// Counts the openings of a series that only repeat earlier ones; returns whether a game remains to be played.
pub(super) fn has_games_left(series: &Series, tally: &mut SeriesTally) -> bool {
    let mut progress = SeriesProgress::new(series, tally.clone());
    let is_left = progress.next_game(series).is_some();
    *tally = progress.tally;
    is_left
}

impl SeriesProgress {
    fn new(series: &Series, tally: SeriesTally) -> SeriesProgress {
        let openings = series.openings();
        let effort = match series.play.agent.kind {
            AgentKind::AlphaBeta { nodes: Some(nodes), .. } => nodes as f64,
            AgentKind::AlphaBeta { depth, nodes: None } => 8f64.powi(depth.unwrap_or(1).min(20) as i32),
            // A playout takes some hundred actions.
            AgentKind::Mcts { simulations } => 100.0 * f64::from(simulations.unwrap_or(1)),
            AgentKind::Network { simulations, .. } => 100.0 * f64::from(simulations.unwrap_or(1).max(1)),
            _ => 1.0,
        };
        let weight = effort * series.rules.square_count() as f64;
        let needs_network = series.needs_network();
        SeriesProgress { tally, needs_network, next: 0, openings, secs: (0.0, 0), weight }
    }

    /// Returns whether a game may be given out.
    fn has_game(&self) -> bool {
        self.tally.stop().is_none() && self.next < self.tally.boundary()
    }

    /// Returns the next game to be given out, passing over those that are there and those that would only repeat.
    fn next_game(&mut self, series: &Series) -> Option<(usize, Option<Opening>)> {
        while self.has_game() {
            let index = self.next;
            self.next += 1;
            let drawn = self.openings.as_mut().map(|openings| series.opening(index, openings));
            if self.tally.has(index) {
                continue;
            }
            let (opening, repeats) = drawn.unzip();
            if repeats == Some(true) {
                self.tally.add(index, None);
                continue;
            }
            return Some((index, opening));
        }
        None
    }

    /// Returns the seconds that a game takes, by the games of this series or else by those of all.
    fn secs_per_game(&self, secs_per_weight: f64) -> f64 {
        match self.secs {
            (secs, games) if games >= 4 => secs / games as f64,
            _ => self.weight * secs_per_weight,
        }
    }
}

impl State<'_, '_> {
    /// Returns the seconds of a game by its weight, in the games of the kind that is played now.
    fn secs_per_weight(&self) -> Option<f64> {
        let played = self.progress.iter().filter(|series| series.needs_network == self.with_network);
        let (secs, weight) = played.fold((0.0, 0.0), |(secs, weight), series| {
            (secs + series.secs.0, weight + series.weight * series.secs.1 as f64)
        });
        (weight > 0.0).then(|| secs / weight)
    }

    /// Tells the observer; returns whether it asks to stop.
    fn tell(&mut self, latest: Option<&Series>) -> bool {
        let rate = self.secs_per_weight();
        let progress = &mut self.told;
        (progress.games, progress.series_done) = (0, 0);
        let (mut left, mut secs) = (0, 0.0);
        for series in &self.progress {
            progress.games += series.tally.games_done() as u64;
            progress.series_done += usize::from(series.tally.stop().is_some());
            let series_left = series.tally.games_left();
            left += series_left as u64;
            secs += series_left as f64 * series.secs_per_game(rate.unwrap_or_default());
        }
        progress.games_expected = progress.games + left;
        progress.secs_left = rate.filter(|_| self.at_once > 0).map(|_| secs / self.at_once as f64);
        progress.latest = latest.map(|series| format!("{} {}", series.rules.ruleset().id, series.play.agent));
        self.is_interrupted |= (self.observer)(progress).is_break();
        self.is_interrupted
    }
}

impl GameSource for StudyGames<'_, '_> {
    type Job = StudyJob;
    type Error = Error;

    fn next(&self) -> Option<StudyJob> {
        let mut state = self.lock();
        let rate = state.secs_per_weight().unwrap_or(1.0);
        let mut order: Vec<(usize, f64)> = state
            .progress
            .iter()
            .enumerate()
            .filter(|(_, series)| series.needs_network == state.with_network && series.has_game())
            .map(|(index, series)| (index, series.tally.games_left() as f64 * series.secs_per_game(rate)))
            .collect();
        if !state.with_network {
            order.sort_by(|one, other| other.1.total_cmp(&one.1));
        }
        for (series, _) in order {
            if let Some((index, opening)) = state.progress[series].next_game(&self.series[series]) {
                let job = StudyJob { series, index };
                state.begun.insert(job, (opening, Instant::now()));
                return Some(job);
            }
        }
        // Games that were passed over may have brought a series to its end.
        self.changed.notify_all();
        None
    }

    fn wait(&self) -> bool {
        let mut state = self.lock();
        loop {
            let with_network = state.with_network;
            let mut played = state.progress.iter().filter(|series| series.needs_network == with_network);
            if self.is_over() || played.clone().all(|series| series.tally.stop().is_some()) {
                return false;
            }
            if played.any(SeriesProgress::has_game) {
                return true;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn matchup(&self, job: StudyJob) -> Matchup<'_> {
        self.series[job.series].matchup(job.series)
    }

    fn beginning(&self, job: StudyJob) -> Beginning {
        let opening = self.lock().begun.get(&job).and_then(|(opening, _)| opening.clone());
        self.series[job.series].beginning_of(job.index, opening.as_ref())
    }

    fn end(&self, job: StudyJob, record: GameRecord) -> Result<(), Error> {
        let series = &self.series[job.series];
        let counted = FinishedGame::of(&series.rules, &record).expect("a game just played replays");
        let mut state = self.lock();
        if let Some(ledger) = state.ledgers.get_mut(&series.ledger_file()) {
            ledger.append(&series.place(job.index), &record)?;
        }
        let begun = state.begun.remove(&job);
        let progress = &mut state.progress[job.series];
        if let Some((_, begun)) = begun {
            progress.secs.0 += begun.elapsed().as_secs_f64();
            progress.secs.1 += 1;
        }
        progress.tally.add(job.index, Some(counted));
        if state.tell(Some(series)) {
            self.is_over.store(true, Ordering::Relaxed);
        }
        drop(state);
        self.changed.notify_all();
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    fn abort(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        // Whoever is about to wait holds the lock until he does.
        drop(self.lock());
        self.changed.notify_all();
    }
}

impl SharedSource for StudyGames<'_, '_> {
    fn index(&self, job: StudyJob) -> (usize, usize) {
        (job.series, job.index)
    }

    fn index_of(&self, place: &Place) -> Option<usize> {
        Some(place.pair)
    }

    fn head(&self, series: usize) -> SeriesHead {
        self.series[series].head()
    }

    fn is_done(&self, series: usize) -> bool {
        self.lock().progress[series].tally.stop().is_some()
    }

    fn tell(&self) {
        if self.lock().tell(None) {
            self.abort();
        }
    }
}

//! The part of who leads: says what is wanted, reads what workers write, and counts it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use latrunculi_engine::GameRecord;
use latrunculi_store::{StoreError, Waiting};
use rayon::ThreadPool;
use rayon::prelude::*;

use super::Workers;
use super::head::{GAMES, SeriesHead};
use super::unit::{self, UNIT_BYTES_MAX};
use crate::Error;
use crate::agents::mix_seeds;
use crate::matches::FinishedGame;
use crate::matches::game_play::{GameSource, check_beginning, play_again};
use crate::matches::ledger::Place;

/// The longest wait between two looks at the store, while nothing comes.
const WAIT_MAX: Duration = Duration::from_secs(10);
/// From this wait on each look is also for series that were closed although games of them are missing.
const CLOSED_LOOK: Duration = Duration::from_secs(2);
/// Of the games that repeat everywhere, one in so many is played again by who leads and compared.
const REPLAYED_ONE_IN: u64 = 100;

/// Returns whether the game of this seed is one of those that who leads plays again.
pub fn is_replayed(seed: u64) -> bool {
    mix_seeds(&[seed]).is_multiple_of(REPLAYED_ONE_IN)
}

/// Games that workers may play.
pub(crate) trait SharedSource: GameSource<Error = Error> {
    fn index(&self, job: Self::Job) -> (usize, usize);

    /// Returns the index of a game in its series by its place in a ledger; `None` where there is no such game.
    fn index_of(&self, place: &Place) -> Option<usize>;

    /// Returns what workers must know of a series.
    fn head(&self, series: usize) -> SeriesHead;

    /// Returns how many games are asked for at once.
    fn window(&self) -> usize {
        usize::MAX
    }

    /// Returns whether no further game of a series will be asked for, now or when the work is taken up again.
    fn is_done(&self, series: usize) -> bool;

    /// Tells the observer where things stand, who may end them.
    fn tell(&self);
}

struct Open<J> {
    id: String,
    head: SeriesHead,
    /// The games that are asked for, by index.
    missing: BTreeMap<usize, J>,
    /// Workers have been told that all units before this one are wanted, or are not.
    asked: u64,
}

/// Lets workers play the games of a source; ends when all are there or the source is over.
pub(crate) fn play_by_workers<S: SharedSource>(source: &S, workers: &Workers, pool: &ThreadPool) -> Result<(), Error> {
    let done = Lead { source, workers, pool, open: BTreeMap::new() }.run();
    if let Err(Error::Store(StoreError::Stopped)) = done {
        // Who set the stop flag is asked by the observer, too.
        source.tell();
        if source.is_over() {
            return Ok(());
        }
    }
    done
}

struct Lead<'a, S: SharedSource> {
    source: &'a S,
    workers: &'a Workers,
    pool: &'a ThreadPool,
    open: BTreeMap<usize, Open<S::Job>>,
}

impl<S: SharedSource> Lead<'_, S> {
    fn run(mut self) -> Result<(), Error> {
        let store = &self.workers.store;
        let mut waiting = Waiting::new(WAIT_MAX, self.workers.notice);
        loop {
            self.ask()?;
            if self.source.is_over() || self.open.values().all(|open| open.missing.is_empty()) {
                return self.close();
            }
            let has_come = self.look()? > 0;
            if !has_come && waiting.pause() >= CLOSED_LOOK {
                self.open_again()?;
            }
            waiting.after_look(store, has_come)?;
            if !has_come {
                self.source.tell();
            }
        }
    }

    /// Takes the games that the source wants next, and says how many units that makes.
    fn ask(&mut self) -> Result<(), Error> {
        let store = &self.workers.store;
        let mut asked: usize = self.open.values().map(|open| open.missing.len()).sum();
        while asked < self.source.window()
            && let Some(job) = self.source.next()
        {
            let (series, index) = self.source.index(job);
            let open = match self.open.entry(series) {
                std::collections::btree_map::Entry::Occupied(there) => there.into_mut(),
                std::collections::btree_map::Entry::Vacant(place) => {
                    let head = self.source.head(series).publish(self.workers)?;
                    let id = head.id();
                    // Who led it before may have asked for less: a wider interval, or a test that is decided.
                    store.remove(&closed(&id))?;
                    place.insert(Open { id, head, missing: BTreeMap::new(), asked: 0 })
                }
            };
            open.missing.insert(index, job);
            asked += 1;
        }
        for open in self.open.values_mut() {
            let (Some((&first, _)), Some((&last, _))) = (open.missing.first_key_value(), open.missing.last_key_value())
            else {
                continue;
            };
            // What the ledger has already is not played again.
            let [first, end] = [first / open.head.per_unit, last / open.head.per_unit + 1].map(|unit| unit as u64);
            if end > open.asked {
                store.create(&unit::wanted_name(&open.id, [first.max(open.asked), end]), b"")?;
                open.asked = end;
            }
        }
        Ok(())
    }

    /// Counts the games of all units that are there; returns how many they were.
    fn look(&mut self) -> Result<usize, Error> {
        let mut found = 0;
        let all: Vec<usize> = self.open.keys().copied().collect();
        for series in all {
            let Some(open) = self.open.get(&series).filter(|open| !open.missing.is_empty()) else { continue };
            for object in self.workers.store.list(&unit::folder(&open.id))? {
                found += self.take(series, &object.name)?;
                if self.source.is_over() {
                    return Ok(found);
                }
            }
        }
        Ok(found)
    }

    /// Counts the games of a unit that are missing; moves it aside where it is not what it should be.
    fn take(&mut self, series: usize, name: &str) -> Result<usize, Error> {
        let store = &self.workers.store;
        let Some(open) = self.open.get_mut(&series) else { return Ok(0) };
        let number = unit::number(name).filter(|&number| number < open.head.units());
        let Some(number) = number else {
            if store.reject(name, UNIT_BYTES_MAX, "it has no name of a unit")? {
                (self.workers.notice)(&format!("{name} is no unit of {}; it was moved to rejected/", open.head.title));
            }
            return Ok(0);
        };
        let [from, to] = open.head.range(number);
        if open.missing.range(from..to).next().is_none() {
            return Ok(0);
        }
        let checked = store.read_unit(name, UNIT_BYTES_MAX, |content| {
            let games = unit::read(&open.head, number, content, |place| self.source.index_of(place))?;
            match check(self.source, self.pool, open, [from, to], games) {
                // It was not checked to the end.
                Err(_) if self.source.is_over() => Ok(Vec::new()),
                checked => checked,
            }
        })?;
        match checked {
            Some(Ok(games)) => {
                let count = games.len();
                for (index, job, record) in games {
                    open.missing.remove(&index);
                    self.source.end(job, record)?;
                }
                Ok(count)
            }
            Some(Err(reason)) => {
                (self.workers.notice)(&format!(
                    "unit {number} of {} does not count: {reason}; it was moved to rejected/ and is played again",
                    open.head.title
                ));
                Ok(0)
            }
            None => Ok(0),
        }
    }

    /// Tells workers that the games that are missing are wanted. Another leader of the same series may have asked for less and
    /// have closed it.
    fn open_again(&self) -> Result<(), StoreError> {
        let there: BTreeSet<String> = self.workers.store.list(GAMES)?.into_iter().map(|object| object.name).collect();
        let missing = self.open.values().filter(|open| !open.missing.is_empty()).map(|open| closed(&open.id));
        missing.filter(|name| there.contains(name)).try_for_each(|name| self.workers.store.remove(&name))
    }

    /// Tells workers that nothing more is wanted of the series that are done.
    fn close(self) -> Result<(), Error> {
        for (_, open) in self.open.iter().filter(|(series, _)| self.source.is_done(**series)) {
            self.workers.store.create(&closed(&open.id), b"")?;
        }
        Ok(())
    }
}

/// Returns the name of what says that nothing more is wanted of a series.
fn closed(id: &str) -> String {
    format!("{GAMES}/{id}/closed")
}

/// Checks all games of a unit that are missing: they are there, begin and end as they must, and those that are drawn for it
/// are the same when they are played again.
fn check<S: SharedSource>(
    source: &S,
    pool: &ThreadPool,
    open: &Open<S::Job>,
    [from, to]: [usize; 2],
    mut games: BTreeMap<usize, GameRecord>,
) -> Result<Vec<(usize, S::Job, GameRecord)>, String> {
    let mut wanted = Vec::new();
    for (&index, &job) in open.missing.range(from..to) {
        let Some(record) = games.remove(&index) else { return Err(format!("game {index} is missing")) };
        wanted.push((index, job, record));
    }
    let check = |(index, job, record): &(usize, S::Job, GameRecord)| -> Result<(), String> {
        let at = |fault: String| format!("game {index}: {fault}");
        check_beginning(source, *job, record).map_err(|fault| at(fault.to_string()))?;
        FinishedGame::of(source.matchup(*job).rules, record).map_err(|fault| at(fault.to_string()))?;
        let repeats = source.matchup(*job).networks.iter().all(Option::is_none);
        if !repeats || !is_replayed(record.seed) {
            return Ok(());
        }
        match play_again(source, *job).map_err(|error| at(error.to_string()))? {
            Some(own) if own == *record => Ok(()),
            Some(_) => Err(at("played again here it goes another way".to_owned())),
            None => Err("stopped".to_owned()),
        }
    };
    pool.install(|| wanted.par_iter().try_for_each(check))?;
    Ok(wanted)
}

//! The part of a worker: plays units that are missing.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use latrunculi_engine::{GameRecord, Rules};
use latrunculi_store::{PlayedUnit, Store, StoreError, Worker};
use rayon::ThreadPool;
use serde::Serialize;

use super::VERSION;
use super::head::{GAMES, SeriesHead, SharedPlay};
use super::unit::{self, Wanted};
use crate::Error;
use crate::agents::{NetworkEvaluator, OpenedNetwork, split_precision};
use crate::matches::Schedule;
use crate::matches::game_play::{Beginning, GameSource, Matchup, play_apart, play_in_step};
use crate::matches::ledger::{Place, to_line};
use crate::study::SharedSeries;

/// For so long it is believed that nothing is missing.
const NOTHING_MISSING: Duration = Duration::from_secs(2);
/// For so long a series of which nothing is missing is not looked at, unless more of it is wanted.
const DONE: Duration = Duration::from_secs(60);

/// Who plays, and on what.
pub struct GamesWorker<'a> {
    /// The worker.
    pub worker: &'a Worker,
    /// Threads that play.
    pub pool: &'a ThreadPool,
    /// The number of games that share the batches of a network.
    pub games_at_once: usize,
    /// Opens networks.
    pub networks: &'a NetworkOf<'a>,
    /// Returns whether there is work that comes first: the units in play are then finished and no others begun. It is called
    /// before each unit.
    pub has_other_work: &'a (dyn Fn() -> Result<bool, StoreError> + Sync),
    /// Is told, from any thread, what is played, ruleset and agents, after each game.
    pub tell: &'a (dyn Fn(&str) + Sync),
    /// Set to end it.
    pub stop: &'a AtomicBool,
}

/// Opens a network for rules by the path of its file, or by the name of the one that is part of the program; returns what its
/// games depend on besides its name, too.
pub type NetworkOf<'a> = dyn Fn(&Arc<Rules>, &str) -> Result<(String, OpenedNetwork<'static>), String> + Sync + 'a;

/// The games that a worker knows of.
#[derive(Default)]
pub struct GamesWork {
    heads: HashMap<String, Result<SeriesHead, String>>,
    /// Series of which nothing was missing, with the units that were wanted, and when.
    complete: HashMap<String, (Wanted, Instant)>,
}

#[derive(Clone, Debug, Default)]
struct Listed {
    wanted: Wanted,
    is_closed: bool,
}

impl GamesWork {
    /// Plays the units that are missing of one series; returns whether there was one, or other work came first. `faults` receives, in a sentence each,
    /// why a series cannot be played here.
    ///
    /// # Errors
    /// [`Error`]
    pub fn play(&mut self, games: &GamesWorker<'_>, faults: &mut Vec<String>) -> Result<bool, Error> {
        let worker = games.worker;
        let written = || worker.done().units + worker.done().duplicates;
        let mut open: Vec<(String, Listed)> = list_below(&worker.store, GAMES)?
            .into_iter()
            .filter(|(_, listed)| !listed.wanted.is_empty() && !listed.is_closed)
            .collect();
        while let Some(next) = worker.order.first(0..open.len() as u64) {
            let (id, listed) = open.remove(next as usize);
            if self.complete.get(&id).is_some_and(|(wanted, since)| *wanted == listed.wanted && since.elapsed() < DONE)
            {
                continue;
            }
            let before = written();
            match self.play_series(games, &id) {
                Ok(true) => return Ok(true),
                Ok(false) => {}
                Err(Error::Refused(fault)) => {
                    faults.push(fault);
                    continue;
                }
                Err(error) => return Err(error),
            }
            if written() > before {
                return Ok(true);
            }
            self.complete.insert(id, (listed.wanted, Instant::now()));
        }
        Ok(false)
    }

    /// Plays what is missing of a series, and returns whether other work came first.
    ///
    /// # Errors
    /// [`Error::Refused`] where it cannot be played here.
    fn play_series(&mut self, games: &GamesWorker<'_>, id: &str) -> Result<bool, Error> {
        let head = match self.heads.get(id) {
            Some(known) => known.clone(),
            None => read_head(&games.worker.store, id)?,
        };
        self.heads.insert(id.to_owned(), head.clone());
        let head = head.map_err(Error::Refused)?;
        let mut files = HashMap::new();
        for model in &head.models {
            let path = games.worker.fetch_model(&model.sha256)?;
            files.insert(&*model.name, path.map_err(|fault| Error::Refused(format!("{}: {fault}", head.title)))?);
        }
        let path_of = |name: &str| match (files.get(name), split_precision(name).1) {
            (None, _) => name.to_owned(),
            (Some(path), None) => path.display().to_string(),
            (Some(path), Some(precision)) => format!("{}@{precision}", path.display()),
        };
        let mut open = |rules: &Arc<Rules>, name: &str| (games.networks)(rules, &path_of(name));
        let played = match &head.play {
            SharedPlay::Study(play) => SharedSeries::new(play, &mut open)
                .map_err(Error::Refused)
                .and_then(|(series, mut evaluators)| run(games, (id, &head), &series, &mut evaluators)),
            SharedPlay::Match(play) => Schedule::shared(play, &mut open)
                .map_err(Error::Refused)
                .and_then(|(schedule, mut evaluators)| run(games, (id, &head), &schedule, &mut evaluators)),
        };
        played.map_err(|error| match error {
            Error::Refused(fault) => {
                let fault = format!("{}: {fault}", head.title);
                self.heads.insert(id.to_owned(), Err(fault.clone()));
                Error::Refused(fault)
            }
            error => error,
        })
    }
}

/// Returns the head of a series; the inner error says why it cannot be played here.
fn read_head(store: &Store, id: &str) -> Result<Result<SeriesHead, String>, StoreError> {
    let head = SeriesHead::read(store, id)?.ok_or_else(|| {
        format!(
            "{GAMES}/{id} is not that of this version of the program, {} with searches of version {}; use the version of who \
             leads",
            VERSION.program, VERSION.searches
        )
    });
    Ok(head.and_then(|head| VERSION.check(&head.title, &head.program, head.search_version).map(|()| head)))
}

fn list_below(store: &Store, folder: &str) -> Result<BTreeMap<String, Listed>, StoreError> {
    let mut found: BTreeMap<String, Listed> = BTreeMap::new();
    for object in store.list(folder)? {
        let mut parts = object.name.split('/').skip(1);
        let (Some(id), Some(what)) = (parts.next(), parts.next()) else { continue };
        let listed = found.entry(id.to_owned()).or_default();
        match (what, parts.next()) {
            ("wanted", Some(range)) => listed.wanted.add(range),
            ("closed", _) => listed.is_closed = true,
            _ => {}
        }
    }
    Ok(found)
}

/// The games of a series, as who plays them needs to know them.
pub(crate) trait SharedGames: Sync {
    fn key(&self) -> &str;

    /// Returns the games of a range that are played, those that would repeat earlier ones left out.
    fn played(&self, range: [usize; 2]) -> Vec<usize>;

    fn place(&self, index: usize) -> Place;

    fn matchup(&self) -> Matchup<'_>;

    fn beginning(&self, index: usize) -> Beginning;

    /// Returns what computes the networks; empty without one.
    fn kernel(&self) -> String {
        let kernels = self.matchup().networks.into_iter().flatten().map(|(_, play)| play.kernel.as_str());
        let kernels: BTreeSet<&str> = kernels.filter(|kernel| !kernel.is_empty()).collect();
        kernels.into_iter().collect::<Vec<_>>().join(",")
    }
}

fn run<G: SharedGames>(
    worker: &GamesWorker<'_>,
    (id, head): (&str, &SeriesHead),
    games: &G,
    evaluators: &mut [NetworkEvaluator<'_>],
) -> Result<bool, Error> {
    if games.key() != head.key {
        // The key names the networks and what computes them; nothing else of it can differ.
        return Err(Error::Refused(format!(
            "here the games would be others: {}, not {}; use the same --precision and a machine with the same kernels",
            games.key(),
            head.key
        )));
    }
    let (state, changed, is_over) = (Mutex::default(), Condvar::new(), AtomicBool::new(false));
    let units = UnitGames { worker, id, head, games, state, changed, is_over };
    match evaluators.is_empty() {
        true => play_apart(&units, usize::MAX, worker.pool, &[])?,
        false => play_in_step(&units, worker.games_at_once, worker.pool, evaluators)?,
    }
    let state = units.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    state.failed.map_or(Ok(state.gives_way), |error| Err(error.into()))
}

/// The games of a series that a worker plays, a unit after the other.
struct UnitGames<'a, G> {
    worker: &'a GamesWorker<'a>,
    id: &'a str,
    head: &'a SeriesHead,
    games: &'a G,
    state: Mutex<State>,
    changed: Condvar,
    is_over: AtomicBool,
}

#[derive(Default)]
struct State {
    queue: VecDeque<usize>,
    open: BTreeMap<u64, OpenUnit>,
    /// Those that are written, or have no games.
    settled: BTreeSet<u64>,
    nothing_missing: Option<Instant>,
    /// Whether other work comes first.
    gives_way: bool,
    failed: Option<StoreError>,
}

struct OpenUnit {
    left: usize,
    /// The games that have ended, as lines of a ledger.
    lines: BTreeMap<usize, String>,
    begun: Instant,
}

impl<G: SharedGames> UnitGames<'_, G> {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a unit that is missing; returns whether there is one.
    fn begin_unit(&self, state: &mut State) -> Result<bool, StoreError> {
        let worker = self.worker.worker;
        state.gives_way = state.gives_way || (self.worker.has_other_work)()?;
        if state.gives_way {
            return Ok(false);
        }
        let listed = list_below(&worker.store, &format!("{GAMES}/{}", self.id))?.remove(self.id);
        let Some(Listed { wanted, is_closed: false }) = listed else { return Ok(false) };
        let there = worker.store.list(&unit::folder(self.id))?;
        let there: BTreeSet<u64> = there.iter().filter_map(|object| unit::number(&object.name)).collect();
        // A unit that was moved aside is played again.
        let has_no_games = |unit: &u64| self.games.played(self.head.range(*unit)).is_empty();
        state.settled.retain(|settled| there.contains(settled) || has_no_games(settled));
        let is_known =
            |unit: &u64| there.contains(unit) || state.open.contains_key(unit) || state.settled.contains(unit);
        let mut missing: Vec<u64> = wanted.of(self.head.units()).filter(|unit| !is_known(unit)).collect();
        while let Some(unit) = worker.take(&worker.order, missing.clone(), |unit| unit::name(self.id, unit))? {
            let games = self.games.played(self.head.range(unit));
            if !games.is_empty() {
                state.open.insert(unit, OpenUnit { left: games.len(), lines: BTreeMap::new(), begun: Instant::now() });
                state.queue.extend(games);
                return Ok(true);
            }
            state.settled.insert(unit);
            missing.retain(|other| *other != unit);
        }
        Ok(false)
    }

    /// Writes a unit whose games have all ended.
    fn write(&self, unit: u64, lines: BTreeMap<usize, String>, begun: Instant) -> Result<(), StoreError> {
        let played = PlayedUnit {
            name: &unit::name(self.id, unit),
            series: &self.head.key,
            games: self.head.range(unit).map(|index| index as u64),
            kernel: &self.games.kernel(),
            begun,
            at_once: 1,
        };
        self.worker.worker.write(VERSION, &played, lines.into_values().collect::<String>().as_bytes())
    }

    fn fail(&self, error: StoreError) {
        self.lock().failed.get_or_insert(error);
        self.abort();
    }
}

impl<G: SharedGames> GameSource for UnitGames<'_, G> {
    type Job = usize;
    type Error = Error;

    fn next(&self) -> Option<usize> {
        let mut state = self.lock();
        if state.queue.is_empty() {
            if self.is_over() || state.nothing_missing.is_some_and(|since| since.elapsed() < NOTHING_MISSING) {
                return None;
            }
            match self.begin_unit(&mut state) {
                Ok(true) => {}
                Ok(false) => state.nothing_missing = Some(Instant::now()),
                Err(error) => {
                    drop(state);
                    self.fail(error);
                    return None;
                }
            }
        }
        state.queue.pop_front()
    }

    fn wait(&self) -> bool {
        let mut state = self.lock();
        // While a unit is being played, another may come to be wanted.
        while !state.open.is_empty() && !self.is_over() {
            if state.nothing_missing.is_none_or(|since| since.elapsed() >= NOTHING_MISSING) {
                return true;
            }
            state = self.changed.wait_timeout(state, NOTHING_MISSING).unwrap_or_else(PoisonError::into_inner).0;
        }
        false
    }

    fn matchup(&self, _job: usize) -> Matchup<'_> {
        self.games.matchup()
    }

    fn beginning(&self, job: usize) -> Beginning {
        self.games.beginning(job)
    }

    fn end(&self, job: usize, record: GameRecord) -> Result<(), Error> {
        let line = to_line(&self.games.place(job), &record);
        let unit = (job / self.head.per_unit) as u64;
        self.worker.worker.add_games(1);
        let whole = self.lock().open.get_mut(&unit).and_then(|open| {
            open.left -= 1;
            open.lines.insert(job, line);
            (open.left == 0).then(|| (std::mem::take(&mut open.lines), open.begun))
        });
        if let Some((lines, begun)) = whole {
            // Others play on while it is written.
            let written = self.write(unit, lines, begun);
            let mut state = self.lock();
            state.open.remove(&unit);
            state.settled.insert(unit);
            drop(state);
            match written {
                Ok(()) => self.changed.notify_all(),
                Err(error) => self.fail(error),
            }
        }
        (self.worker.tell)(&self.head.title);
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed) || self.worker.stop.load(Ordering::Relaxed)
    }

    fn abort(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        drop(self.lock());
        self.changed.notify_all();
    }
}

/// Where a series of games stands, as the store shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SeriesStatus {
    /// Ruleset and agents.
    pub title: String,
    /// Units that are there.
    pub units: u64,
    /// Those that are wanted.
    pub wanted: u64,
    /// Those of the whole schedule. Units whose games would all repeat others never come.
    pub all: u64,
    /// Whether nothing more is wanted.
    pub is_closed: bool,
}

/// Lists the series of games of a store; those of other versions of the program are left out.
///
/// # Errors
/// When the store cannot be read.
pub fn series(store: &Store) -> Result<Vec<SeriesStatus>, StoreError> {
    let mut found = Vec::new();
    for (id, Listed { wanted, is_closed }) in list_below(store, GAMES)? {
        let Some(head) = SeriesHead::read(store, &id)? else { continue };
        let (units, all) = (store.list(&unit::folder(&id))?.len() as u64, head.units());
        let wanted = wanted.of(all).count() as u64;
        found.push(SeriesStatus { title: head.title, units, wanted, all, is_closed });
    }
    Ok(found)
}

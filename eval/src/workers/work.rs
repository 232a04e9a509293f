//! The part of a worker: plays units that are missing.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use latrunculi_engine::{GameRecord, Rules};
use latrunculi_search::SEARCH_VERSION;
use latrunculi_store::{Created, Delivered, Store, StoreError, UnitHeader, WorkOrder};
use rayon::ThreadPool;

use super::head::{GAMES, PROGRAM, SeriesHead, SharedPlay};
use super::unit;
use super::wanted::Wanted;
use crate::agents::{AgentError, OpenedNetwork, split_precision};
use crate::matches::game_play::{Beginning, GameSource, Matchup, play_apart, play_in_step};
use crate::matches::ledger::{Place, to_line};
use crate::matches::with_shared_match;
use crate::study::SharedSeries;

/// For so long it is believed that nothing is missing.
const NOTHING_MISSING: Duration = Duration::from_secs(2);
/// For so long a series of which nothing is missing is not looked at, unless more of it is wanted.
const DONE: Duration = Duration::from_secs(60);

/// Who plays, and on what.
pub struct Worker<'a> {
    /// The store that it shares with who leads.
    pub store: &'a Store,
    /// Which units it takes first.
    pub order: WorkOrder,
    /// The name of the machine.
    pub host: String,
    /// Threads that play.
    pub pool: &'a ThreadPool,
    /// The number of games that share the batches of a network.
    pub games_at_once: usize,
    /// A folder for networks.
    pub cache: PathBuf,
    /// What it has written.
    pub delivered: &'a Delivered,
    /// Opens a network for rules by the path of its file, or by the name of the one that is part of the program.
    pub networks: &'a NetworkOf<'a>,
    /// Returns what the games of a network depend on besides its name, by the path of its file.
    pub identity: &'a (dyn Fn(&str) -> Result<String, String> + Sync),
    /// Returns whether there is work that comes first: the units in play are then finished and no others begun. It is called
    /// before each unit.
    pub has_other_work: &'a (dyn Fn() -> Result<bool, StoreError> + Sync),
}

/// Opens a network for rules by the path of its file.
pub type NetworkOf<'a> = dyn Fn(&Arc<Rules>, &str) -> Result<OpenedNetwork<'static>, String> + Sync + 'a;

/// What a worker has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkDone {
    /// Units that count.
    pub units: u64,
    /// Units that another worker had written before.
    pub twice: u64,
    /// Games played.
    pub games: u64,
}

/// What a worker is doing.
#[derive(Debug)]
pub struct WorkProgress<'a> {
    /// Ruleset and agents.
    pub title: &'a str,
    /// What it has done in all.
    pub done: WorkDone,
}

/// Is told what a worker does; answers whether to go on.
pub type WorkObserver<'a> = dyn FnMut(&WorkProgress<'_>) -> ControlFlow<()> + Send + 'a;

/// Why a worker cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// An agent cannot be made or cannot choose.
    #[error(transparent)]
    Agent(#[from] AgentError),
}

/// The games that a worker knows of.
#[derive(Default)]
pub struct GamesWork {
    heads: HashMap<String, Result<SeriesHead, String>>,
    /// Series of which nothing was missing, with the units that were wanted, and when.
    complete: HashMap<String, (Wanted, Instant)>,
    /// What has been done in all.
    pub done: WorkDone,
}

/// What the store says of a series.
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
    /// [`WorkError`]
    pub fn play(
        &mut self,
        worker: &Worker<'_>,
        faults: &mut Vec<String>,
        observer: &mut WorkObserver<'_>,
    ) -> Result<bool, WorkError> {
        let mut open: Vec<(String, Listed)> = list(worker.store)?
            .into_iter()
            .filter(|(_, listed)| !listed.wanted.is_empty() && !listed.is_closed)
            .collect();
        while let Some(next) = worker.order.first(0..open.len() as u64) {
            let (id, listed) = open.remove(next as usize);
            if self.complete.get(&id).is_some_and(|(wanted, since)| *wanted == listed.wanted && since.elapsed() < DONE)
            {
                continue;
            }
            let head = match self.head(worker.store, &id)? {
                Ok(head) => head,
                Err(fault) => {
                    faults.push(fault);
                    continue;
                }
            };
            let files = match fetch_models(worker, &head)? {
                Ok(files) => files,
                Err(fault) => {
                    faults.push(format!("{}: {fault}", head.title));
                    continue;
                }
            };
            let before = self.done.units + self.done.twice;
            match play_series(worker, (&id, &head), &files, &mut self.done, observer)? {
                Ok(false) => {}
                Ok(true) => return Ok(true),
                Err(fault) => {
                    let fault = format!("{}: {fault}", head.title);
                    faults.push(fault.clone());
                    self.heads.insert(id.clone(), Err(fault));
                }
            }
            if self.done.units + self.done.twice > before {
                return Ok(true);
            }
            self.complete.insert(id, (listed.wanted, Instant::now()));
        }
        Ok(false)
    }

    /// Returns the head of a series, or why it cannot be played here.
    fn head(&mut self, store: &Store, id: &str) -> Result<Result<SeriesHead, String>, StoreError> {
        if let Some(known) = self.heads.get(id) {
            return Ok(known.clone());
        }
        let head = SeriesHead::read(store, id)?;
        let head = head.ok_or_else(|| {
            format!(
                "{GAMES}/{id} is not that of this version of the program, {PROGRAM} with searches of version {SEARCH_VERSION}; \
                 use the version of who leads"
            )
        });
        let head = head.and_then(|head| match (head.program == PROGRAM, head.search_version == SEARCH_VERSION) {
            (true, true) => Ok(head),
            _ => Err(format!(
                "{} is asked for by version {} with searches of version {}; this is {PROGRAM} with {SEARCH_VERSION}",
                head.title, head.program, head.search_version
            )),
        });
        self.heads.insert(id.to_owned(), head.clone());
        Ok(head)
    }
}

/// Lists the series of a store.
fn list(store: &Store) -> Result<BTreeMap<String, Listed>, StoreError> {
    list_below(store, GAMES)
}

/// Lists the series below a folder of a store: that of all series, or that of one.
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

/// Returns the files of the networks of a series, by their names in the agents' texts; the inner error says what is wrong
/// with one of them.
fn fetch_models(
    worker: &Worker<'_>,
    head: &SeriesHead,
) -> Result<Result<HashMap<String, PathBuf>, String>, StoreError> {
    let mut files = HashMap::new();
    for model in &head.models {
        match worker.store.fetch_model(&model.sha256, &worker.cache, &worker.order.name())? {
            Ok(path) => _ = files.insert(model.name.clone(), path),
            Err(fault) => return Ok(Err(fault)),
        }
    }
    Ok(Ok(files))
}

/// Plays what is missing of a series, and returns whether other work came first; the inner error is why it cannot be played
/// here.
fn play_series(
    worker: &Worker<'_>,
    (id, head): (&str, &SeriesHead),
    files: &HashMap<String, PathBuf>,
    done: &mut WorkDone,
    observer: &mut WorkObserver<'_>,
) -> Result<Result<bool, String>, WorkError> {
    let path_of = |name: &str| match (files.get(name), split_precision(name).1) {
        (None, _) => name.to_owned(),
        (Some(path), None) => path.display().to_string(),
        (Some(path), Some(precision)) => format!("{}@{precision}", path.display()),
    };
    let mut open = |rules: &Arc<Rules>, name: &str| {
        let path = path_of(name);
        Ok(((worker.identity)(&path)?, (worker.networks)(rules, &path)?))
    };
    match &head.play {
        SharedPlay::Study(play) => match SharedSeries::new(play, &mut open) {
            Err(fault) => Ok(Err(fault)),
            Ok((series, mut evaluators)) => run(worker, id, head, &series, &mut evaluators, done, observer),
        },
        SharedPlay::Match(play) => {
            let made = with_shared_match(play, &mut open, |games, evaluators| {
                run(worker, id, head, games, evaluators, done, observer)
            });
            made.unwrap_or_else(|fault| Ok(Err(fault)))
        }
    }
}

/// The games of a series, as who plays them needs to know them.
pub(crate) trait SharedGames: Sync {
    /// The series, as ledgers name it.
    fn key(&self) -> &str;

    /// Returns the games of a range that are played, those that would repeat earlier ones left out.
    fn played(&self, range: [usize; 2]) -> Vec<usize>;

    /// Returns the place of a game in a ledger.
    fn place(&self, index: usize) -> Place;

    /// Returns who plays.
    fn matchup(&self) -> Matchup<'_>;

    /// Returns how a game begins.
    fn beginning(&self, index: usize) -> Beginning;

    /// Returns what computes the networks; empty without one.
    fn kernel(&self) -> String {
        let kernels = self.matchup().networks.into_iter().flatten().map(|(_, play)| play.kernel.as_str());
        let kernels: BTreeSet<&str> = kernels.filter(|kernel| !kernel.is_empty()).collect();
        kernels.into_iter().collect::<Vec<_>>().join(",")
    }
}

fn run<G: SharedGames>(
    worker: &Worker<'_>,
    id: &str,
    head: &SeriesHead,
    games: &G,
    evaluators: &mut [crate::agents::NetworkEvaluator<'_>],
    done: &mut WorkDone,
    observer: &mut WorkObserver<'_>,
) -> Result<Result<bool, String>, WorkError> {
    if games.key() != head.key {
        // The key names the networks and what computes them; nothing else of it can differ.
        return Ok(Err(format!(
            "here the games would be others: {}, not {}; use the same --precision and a machine with the same kernels",
            games.key(),
            head.key
        )));
    }
    let units = UnitGames {
        worker,
        id,
        head,
        games,
        state: Mutex::new(State { done: *done, ..State::default() }),
        observer: Mutex::new(observer),
        changed: Condvar::new(),
        is_over: AtomicBool::new(false),
    };
    let played = match evaluators.is_empty() {
        true => play_apart(&units, worker.pool),
        false => play_in_step(&units, worker.games_at_once, worker.pool, evaluators),
    };
    let state = units.state.into_inner().unwrap_or_else(PoisonError::into_inner);
    *done = state.done;
    played?;
    state.failed.map_or(Ok(Ok(state.gives_way)), |error| Err(error.into()))
}

/// The games of a series that a worker plays, a unit after the other.
struct UnitGames<'a, 'o, G> {
    worker: &'a Worker<'a>,
    id: &'a str,
    head: &'a SeriesHead,
    games: &'a G,
    state: Mutex<State>,
    observer: Mutex<&'a mut WorkObserver<'o>>,
    changed: Condvar,
    is_over: AtomicBool,
}

#[derive(Default)]
struct State {
    queue: VecDeque<usize>,
    /// The units that are being played.
    open: BTreeMap<u64, OpenUnit>,
    /// Those that are written, or have no games.
    settled: BTreeSet<u64>,
    /// Since when nothing was missing.
    nothing_missing: Option<Instant>,
    /// Whether other work comes first.
    gives_way: bool,
    done: WorkDone,
    failed: Option<StoreError>,
}

/// A unit that is being played.
struct OpenUnit {
    left: usize,
    /// The games that have ended, as lines of a ledger.
    lines: BTreeMap<usize, String>,
    begun: Instant,
}

impl<G: SharedGames> UnitGames<'_, '_, G> {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a unit that is missing; returns whether there is one.
    fn begin_unit(&self, state: &mut State) -> Result<bool, StoreError> {
        let store = self.worker.store;
        state.gives_way = state.gives_way || (self.worker.has_other_work)()?;
        if state.gives_way {
            return Ok(false);
        }
        let Listed { wanted, is_closed } =
            list_below(store, &format!("{GAMES}/{}", self.id))?.remove(self.id).unwrap_or_default();
        if is_closed {
            return Ok(false);
        }
        let there: BTreeSet<u64> =
            store.list(&unit::folder(self.id))?.iter().filter_map(|object| unit::number(&object.name)).collect();
        // A unit that was moved aside is played again.
        state
            .settled
            .retain(|settled| there.contains(settled) || self.games.played(self.head.range(*settled)).is_empty());
        let missing = wanted
            .of(self.head.units())
            .filter(|unit| !there.contains(unit) && !state.open.contains_key(unit) && !state.settled.contains(unit));
        let mut missing: Vec<u64> = missing.collect();
        while let Some(unit) = self.worker.order.first(missing.iter().copied()) {
            let games = self.games.played(self.head.range(unit));
            if games.is_empty() {
                state.settled.insert(unit);
            }
            if games.is_empty() || self.worker.delivered.leaves(store, &unit::name(self.id, unit))? {
                missing.retain(|other| *other != unit);
                continue;
            }
            state.open.insert(unit, OpenUnit { left: games.len(), lines: BTreeMap::new(), begun: Instant::now() });
            state.queue.extend(games);
            return Ok(true);
        }
        Ok(false)
    }

    /// Writes a unit whose games have all ended.
    fn publish(&self, unit: u64, whole: &OpenUnit, twice: u64) -> Result<Created, StoreError> {
        let header = UnitHeader {
            program: PROGRAM.to_owned(),
            search_version: SEARCH_VERSION,
            series: self.head.key.clone(),
            games: self.head.range(unit).map(|index| index as u64),
            worker: self.worker.order.name(),
            host: self.worker.host.clone(),
            kernel: self.games.kernel(),
            secs: whole.begun.elapsed().as_secs_f64(),
            twice,
            at_once: 1,
        };
        let mut bytes = header.to_line();
        whole.lines.values().for_each(|line| bytes.extend_from_slice(line.as_bytes()));
        let name = unit::name(self.id, unit);
        let created = self.worker.store.create(&name, &bytes)?;
        if created == Created::Mine {
            self.worker.delivered.remember(&name, &bytes);
        }
        Ok(created)
    }

    fn tell(&self, done: WorkDone) {
        let mut observer = self.observer.lock().unwrap_or_else(PoisonError::into_inner);
        if observer(&WorkProgress { title: &self.head.title, done }).is_break() {
            self.abort();
        }
    }

    fn fail(&self, error: StoreError) {
        self.lock().failed.get_or_insert(error);
        self.abort();
    }
}

impl<G: SharedGames> GameSource for UnitGames<'_, '_, G> {
    type Job = usize;
    type Error = WorkError;

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

    fn end(&self, job: usize, record: GameRecord) -> Result<(), WorkError> {
        let line = to_line(&self.games.place(job), &record).map_err(|error| StoreError::Failed {
            store: self.worker.store.to_string(),
            attempt: "writing",
            name: self.head.title.clone(),
            reason: error.to_string(),
        })?;
        let unit = (job / self.head.per_unit) as u64;
        let mut state = self.lock();
        state.done.games += 1;
        let whole = match state.open.get_mut(&unit) {
            None => None,
            Some(open) => {
                open.left -= 1;
                open.lines.insert(job, line);
                (open.left == 0).then_some(())
            }
        };
        let done = state.done;
        let whole =
            whole.and_then(|()| state.open.get_mut(&unit).map(|open| (std::mem::take(&mut open.lines), open.begun)));
        drop(state);
        if let Some((lines, begun)) = whole {
            // Others play on while it is written.
            let created = self.publish(unit, &OpenUnit { left: 0, lines, begun }, done.twice);
            let mut state = self.lock();
            state.open.remove(&unit);
            state.settled.insert(unit);
            match created {
                Ok(Created::Mine) => state.done.units += 1,
                Ok(Created::Theirs) => state.done.twice += 1,
                Err(error) => {
                    drop(state);
                    self.fail(error);
                    return Ok(());
                }
            }
            drop(state);
            self.changed.notify_all();
        }
        self.tell(done);
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    fn abort(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        drop(self.lock());
        self.changed.notify_all();
    }
}

/// Where a series of games stands, as the store shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeriesStatus {
    /// Ruleset and agents.
    pub title: String,
    /// Units that are there, that are wanted, and of the whole schedule. Units whose games would all repeat others never come.
    pub units: [u64; 3],
    /// Whether nothing more is wanted.
    pub is_closed: bool,
}

/// Lists the series of games of a store; those of other versions of the program are left out.
///
/// # Errors
/// When the store cannot be read.
pub fn series(store: &Store) -> Result<Vec<SeriesStatus>, StoreError> {
    let mut found = Vec::new();
    for (id, Listed { wanted, is_closed }) in list(store)? {
        let Some(head) = SeriesHead::read(store, &id)? else { continue };
        let there = store.list(&unit::folder(&id))?.len() as u64;
        let wanted = wanted.of(head.units()).count() as u64;
        found.push(SeriesStatus { units: [there, wanted, head.units()], title: head.title, is_closed });
    }
    Ok(found)
}

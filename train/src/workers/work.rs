//! The part of a worker: plays units of the newest generations that are open.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use latrunculi_engine::Rules;
use latrunculi_eval::workers::WorkDone;
use latrunculi_infer::GROUP;
use latrunculi_search::SEARCH_VERSION;
use latrunculi_selfplay::{
    ActorEvaluator, FinishedGame, Pool, PoolPlan, PoolTask, Progress, Quota, SelfPlayError, Watch, finished_to_bytes,
    play_pools,
};
use latrunculi_store::{Created, Delivered, Store, StoreError, UnitHeader, WorkOrder};

use super::head::{GenerationHead, HeadRuleset, Manifest, UnitPlace, name_of, of_name};
use super::{HEADS, MANIFESTS, PROGRAM};
use crate::config::TrainConfig;
use crate::error::{Error, error_chain};
use crate::generation;
use crate::models;
use crate::networks::{NetworkLoader, PlayEvaluator, PlayNetwork};
use crate::precision::choose_precision;

/// So often a worker looks whether the generation that it plays was closed without its units.
const LOOK: Duration = if cfg!(test) { Duration::from_millis(1) } else { Duration::from_secs(10) };

/// Who plays, and on what.
pub struct TrainingWorker<'a> {
    /// The store that it shares with the learner.
    pub store: &'a Store,
    /// Which units it takes first.
    pub order: WorkOrder,
    /// The name of the machine.
    pub host: String,
    /// Threads that play.
    pub actors: usize,
    /// A folder for networks.
    pub cache: PathBuf,
    /// Where networks compute.
    pub loader: &'a dyn NetworkLoader,
    /// What it has written.
    pub delivered: &'a Delivered,
    /// Set to end it.
    pub stop: &'a AtomicBool,
    /// Open generations that could not be played here when it was tried last, by run.
    pub refused: Mutex<BTreeSet<(String, u64)>>,
}

impl TrainingWorker<'_> {
    /// Returns whether units of an open generation are missing that may be played here.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn is_wanted(&self) -> Result<bool, StoreError> {
        let runs = match runs(self.store) {
            Ok(runs) => runs,
            Err(Error::Store(error)) => return Err(error),
            Err(Error::Stopped) => return Err(StoreError::Stopped),
            // What cannot be played here says why when it is tried.
            Err(_) => return Ok(false),
        };
        let refused = lock(&self.refused);
        let is_missing = |run: &&RunStatus| run.is_open && run.units[0] < run.units[1];
        Ok(runs.iter().filter(is_missing).any(|run| !refused.contains(&(run.run.clone(), run.generation))))
    }

    /// Plays units of one open generation until none is missing; returns whether there was one. `done` is added to;
    /// `faults` receives, in a sentence each, why a generation cannot be played here; `tell` is called, from any thread,
    /// with what is played and all that is done.
    ///
    /// # Errors
    /// [`Error::Stopped`]; when the store cannot be used, or a network cannot be computed.
    pub fn play(
        &self,
        done: &mut WorkDone,
        faults: &mut Vec<String>,
        tell: &(dyn Fn(&str, WorkDone) + Sync),
    ) -> Result<bool, Error> {
        lock(&self.refused).clear();
        for (run, generation, is_open) in newest_generations(self.store)? {
            if !is_open {
                continue;
            }
            match self.play_generation(&run, generation, done, tell) {
                Ok(true) => return Ok(true),
                Ok(false) => {}
                Err(Error::Refused(fault)) => {
                    faults.push(fault);
                    lock(&self.refused).insert((run, generation));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }

    fn play_generation(
        &self,
        run: &str,
        generation: u64,
        done: &mut WorkDone,
        tell: &(dyn Fn(&str, WorkDone) + Sync),
    ) -> Result<bool, Error> {
        let Some(head) = GenerationHead::read(self.store, run, generation)? else { return Ok(false) };
        let title = format!("generation {generation} of run {run}");
        if head.program != PROGRAM || head.search_version != SEARCH_VERSION {
            return Err(Error::Refused(format!(
                "{title} is asked for by version {} with searches of version {}; this is {PROGRAM} with {SEARCH_VERSION}",
                head.program, head.search_version
            )));
        }
        let config = TrainConfig::from_text(&head.config).map_err(|error| refused(&title, &error_chain(&error)))?;
        let rules = head.rules().map_err(|error| refused(&title, &error_chain(&error)))?;
        let units = head.units();
        let order = order_in(self, run, generation)?;
        let units = Units { worker: self, order, head: &head, all: &units, state: Mutex::new(State::default()) };
        // No network is fetched for a generation of which nothing is missing.
        let Some(first) = units.next(None)? else { return Ok(false) };
        let network = self.network_of(&head, &title)?;
        let playables = self.playables(&head, &config, &rules, network.as_deref(), &title)?;
        let mut of_actors = self.evaluators(&playables, network.as_deref(), &title)?;
        let total = Mutex::new(*done);
        let halt = AtomicBool::new(false);
        let first = Mutex::new(Some(first));
        let act = |evaluators: &mut Vec<PlayEvaluator>| -> Result<(), Error> {
            loop {
                let given = lock(&first).take();
                let unit = match given {
                    Some(unit) => unit,
                    None => match units.next(None)? {
                        Some(unit) => unit,
                        None => return Ok(()),
                    },
                };
                let playable = &playables[unit.ruleset];
                let stream = Stream {
                    units: &units,
                    ruleset: unit.ruleset,
                    playable,
                    shared: Shared { halt: &halt, total: &total, tell: &|done| tell(&title, done) },
                    state: Mutex::new(StreamState::new(unit)),
                };
                if !stream.play(&mut *evaluators[unit.ruleset])? {
                    return Ok(());
                }
            }
        };
        let ended: Vec<Result<(), Error>> = thread::scope(|scope| {
            let act = |evaluators| {
                let done = act(evaluators);
                halt.fetch_or(done.is_err(), Ordering::Relaxed);
                done
            };
            let actors: Vec<_> = of_actors.iter_mut().map(|evaluators| scope.spawn(move || act(evaluators))).collect();
            actors
                .into_iter()
                .map(|actor| actor.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        });
        *done = *lock(&total);
        // What made the other actors stop says more than that they did.
        let mut errors: Vec<Error> = ended.into_iter().filter_map(Result::err).collect();
        errors.sort_by_key(Error::is_stopped);
        match errors.into_iter().next() {
            Some(error) => Err(error),
            None => Ok(true),
        }
    }

    /// Returns the network that plays a generation; `None` where alpha-beta does.
    fn network_of(&self, head: &GenerationHead, title: &str) -> Result<Option<Box<dyn PlayNetwork>>, Error> {
        if head.model.is_empty() {
            return Ok(None);
        }
        let path = self.store.fetch_model(&head.model, &self.cache, &self.order.name())?;
        let path = path.map_err(|fault| refused(title, &fault))?;
        let loaded = models::load(&path, self.loader).map_err(|error| refused(title, &error_chain(&error)))?;
        if loaded.fingerprint != head.fingerprint {
            return Err(refused(title, &"its network is another than its head says"));
        }
        Ok(Some(loaded.network))
    }

    /// Returns how units are played in each ruleset of a generation. The precision is a question of the board's size; all
    /// units of a ruleset are played in the same.
    fn playables(
        &self,
        head: &GenerationHead,
        config: &TrainConfig,
        rules: &[Arc<Rules>],
        network: Option<&dyn PlayNetwork>,
        title: &str,
    ) -> Result<Vec<Playable>, Error> {
        let playable = |(rules, ruleset): (&Arc<Rules>, &HeadRuleset)| {
            let (mut plan, series) = head.plan(config, rules);
            let per_unit = usize::try_from(ruleset.per_unit).unwrap_or(usize::MAX);
            // With more games than that a slow worker would hold units that others could play.
            let useful = match network {
                None => Some(per_unit),
                Some(_) => per_unit.checked_next_multiple_of(GROUP),
            };
            plan.in_flight = plan.in_flight.min(useful.unwrap_or(usize::MAX));
            let at_once = (self.actors * plan.in_flight.div_ceil(per_unit)) as u64;
            let (precision, kernel) = match network {
                None => (None, String::new()),
                Some(network) => {
                    let choice = choose_precision(network, config.precision, rules);
                    let precision = choice.map_err(|error| refused(title, &error_chain(&error)))?.precision;
                    (Some(precision), network.kernel(precision))
                }
            };
            Ok(Playable { plan, at_once, series, precision, kernel })
        };
        rules.iter().zip(&head.rulesets).map(playable).collect()
    }

    /// Makes one evaluator for each actor and ruleset; rulesets of one precision could share them, but the memory is small.
    fn evaluators(
        &self,
        playables: &[Playable],
        network: Option<&dyn PlayNetwork>,
        title: &str,
    ) -> Result<Vec<Vec<PlayEvaluator>>, Error> {
        let mut of_actors: Vec<Vec<PlayEvaluator>> = (0..self.actors).map(|_| Vec::new()).collect();
        for playable in playables {
            let evaluators = match (network, playable.precision) {
                (Some(network), Some(precision)) => {
                    let opened = network.evaluators(self.actors, precision);
                    opened.map_err(|error| refused(title, &error_chain(&error)))?
                }
                _ => generation::idle_evaluators(self.actors),
            };
            for (own, evaluator) in of_actors.iter_mut().zip(evaluators) {
                own.push(evaluator);
            }
        }
        Ok(of_actors)
    }
}

/// Says that a generation cannot be played here, and why.
fn refused(title: &str, fault: &dyn Display) -> Error {
    Error::Refused(format!("{title} cannot be played here: {fault}"))
}

/// Returns the newest generation of each run, and whether it has no manifest.
fn newest_generations(store: &Store) -> Result<Vec<(String, u64, bool)>, Error> {
    let mut newest: BTreeMap<String, u64> = BTreeMap::new();
    for object in store.list(HEADS)? {
        let Some((run, generation)) = of_name(&object.name) else { continue };
        let known = newest.entry(run.to_owned()).or_default();
        *known = generation.max(*known);
    }
    let mut found = Vec::new();
    for (run, generation) in newest {
        let is_open = store.read_beginning(&name_of(MANIFESTS, &run, generation), 1)?.is_none();
        found.push((run, generation, is_open));
    }
    Ok(found)
}

/// Returns which units a worker takes first. One that was told no place has that of its name among the workers of the
/// generation before, so that those that were there begin with units that no other begins with.
fn order_in(worker: &TrainingWorker<'_>, run: &str, generation: u64) -> Result<WorkOrder, Error> {
    let Some(before) = generation.checked_sub(1).filter(|_| !worker.order.has_place()) else { return Ok(worker.order) };
    let before = match Manifest::read(worker.store, run, before) {
        // It may be one of another version, or none that can be read.
        Err(Error::Refused(_)) => None,
        read => read?,
    };
    let own = worker.order.name();
    let workers: BTreeSet<String> =
        before.into_iter().flat_map(|before| before.units).map(|unit| unit.worker).collect();
    let place = workers.iter().position(|name| *name == own);
    Ok(place.map_or(worker.order, |place| worker.order.with_place(place as u64, workers.len() as u64)))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How the games of a ruleset are played here.
struct Playable {
    plan: PoolPlan,
    /// Units that are played at once, by all actors together.
    at_once: u64,
    series: String,
    precision: Option<latrunculi_data::Precision>,
    kernel: String,
}

/// The units of a generation as a worker takes them.
struct Units<'a> {
    worker: &'a TrainingWorker<'a>,
    /// Which units it takes first.
    order: WorkOrder,
    head: &'a GenerationHead,
    all: &'a [UnitPlace],
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Units that are being played here.
    begun: BTreeSet<u64>,
}

impl Units<'_> {
    /// Takes a unit that is missing, of one ruleset if it is given.
    fn next(&self, ruleset: Option<usize>) -> Result<Option<UnitPlace>, Error> {
        let store = self.worker.store;
        let mut state = lock(&self.state);
        if self.is_closed()? {
            return Ok(None);
        }
        let there = store.list(&self.head.units_folder())?;
        let there: BTreeSet<u64> = there.iter().filter_map(|object| self.head.unit_of_name(&object.name)).collect();
        let wanted = self.all.iter().filter(|unit| ruleset.is_none_or(|ruleset| unit.ruleset == ruleset));
        let missing = wanted.map(|unit| unit.number);
        let mut missing: Vec<u64> =
            missing.filter(|unit| !there.contains(unit) && !state.begun.contains(unit)).collect();
        while let Some(unit) = self.order.first(missing.iter().copied()) {
            if self.worker.delivered.leaves(store, &self.head.unit_name(unit))? {
                missing.retain(|other| *other != unit);
                continue;
            }
            state.begun.insert(unit);
            return Ok(self.all.get(unit as usize).copied());
        }
        Ok(None)
    }

    /// Returns whether nothing more of the generation counts.
    fn is_closed(&self) -> Result<bool, StoreError> {
        let manifest = name_of(MANIFESTS, &self.head.run, self.head.generation);
        Ok(self.worker.store.read_beginning(&manifest, 1)?.is_some())
    }

    /// Writes a unit whose games have all ended.
    fn write(&self, unit: UnitInPlay, playable: &Playable, twice: u64) -> Result<Created, Error> {
        let UnitInPlay { place, begun, mut ended } = unit;
        ended.sort_by_key(FinishedGame::number);
        let header = UnitHeader {
            program: PROGRAM.to_owned(),
            search_version: SEARCH_VERSION,
            series: playable.series.clone(),
            games: [place.first, place.first + place.count],
            worker: self.worker.order.name(),
            host: self.worker.host.clone(),
            kernel: playable.kernel.clone(),
            secs: begun.elapsed().as_secs_f64(),
            twice,
            at_once: playable.at_once,
        };
        let bytes = [header.to_line(), finished_to_bytes(&ended)].concat();
        let name = self.head.unit_name(place.number);
        let created = self.worker.store.create(&name, &bytes)?;
        if created == Created::Mine {
            self.worker.delivered.remember(&name, &bytes);
        }
        // A unit that is moved aside is missing again.
        lock(&self.state).begun.remove(&place.number);
        Ok(created)
    }
}

/// What the actors of a worker share.
struct Shared<'a> {
    /// Set when an actor fails.
    halt: &'a AtomicBool,
    total: &'a Mutex<WorkDone>,
    tell: &'a (dyn Fn(WorkDone) + Sync),
}

/// The units of one ruleset that an actor plays, one after the other. While the last games of a unit are played, those of
/// the next begin, so that the batches stay full.
struct Stream<'a> {
    units: &'a Units<'a>,
    ruleset: usize,
    playable: &'a Playable,
    shared: Shared<'a>,
    state: Mutex<StreamState>,
}

struct StreamState {
    /// When the store was asked last whether the generation is closed.
    looked: Instant,
    is_closed: bool,
    /// Units whose games have not all ended.
    in_play: Vec<UnitInPlay>,
    /// Games of the newest of them that have not begun.
    to_begin: Range<u64>,
    /// Whether there are no more units of the ruleset to begin.
    is_last: bool,
    /// Why it ended.
    fault: Option<Error>,
}

/// A unit that is being played.
struct UnitInPlay {
    place: UnitPlace,
    begun: Instant,
    ended: Vec<FinishedGame>,
}

impl UnitInPlay {
    fn new(place: UnitPlace) -> UnitInPlay {
        UnitInPlay { place, begun: Instant::now(), ended: Vec::new() }
    }

    fn has(&self, game: u64) -> bool {
        (self.place.first..self.place.first + self.place.count).contains(&game)
    }
}

impl StreamState {
    fn new(first: UnitPlace) -> StreamState {
        StreamState {
            looked: Instant::now(),
            is_closed: false,
            in_play: vec![UnitInPlay::new(first)],
            to_begin: first.first..first.first + first.count,
            is_last: false,
            fault: None,
        }
    }
}

impl Stream<'_> {
    /// Plays units until none of the ruleset is missing; returns false where the generation was closed before.
    fn play(self, evaluator: ActorEvaluator<'_>) -> Result<bool, Error> {
        (self.shared.tell)(*lock(self.shared.total));
        let pool = Pool::new(self.playable.plan.clone())?;
        let task = PoolTask { pool, quota: Quota::Stream, journal: None };
        let played = play_pools(vec![task], &mut [evaluator], false, &Progress::default(), &self);
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        match (played, state.fault) {
            (_, Some(fault)) => Err(fault),
            (Err(SelfPlayError::Stopped), None) if state.is_closed => Ok(false),
            (played, None) => Ok(played.map(|_| true)?),
        }
    }

    /// Returns the number of the next game, of the next unit where the present one has no more.
    fn next(&self, state: &mut StreamState) -> Result<Option<u64>, Error> {
        if state.to_begin.is_empty() && !state.is_last {
            match self.units.next(Some(self.ruleset))? {
                Some(place) => {
                    (self.shared.tell)(*lock(self.shared.total));
                    state.to_begin = place.first..place.first + place.count;
                    state.in_play.push(UnitInPlay::new(place));
                }
                None => state.is_last = true,
            }
        }
        Ok(state.to_begin.next())
    }

    /// Writes the unit of a game that has ended if it was the last of it.
    fn end(&self, state: &mut StreamState, game: u64) -> Result<(), Error> {
        let is_whole = |unit: &UnitInPlay| unit.has(game) && unit.ended.len() as u64 == unit.place.count;
        let Some(index) = state.in_play.iter().position(is_whole) else { return Ok(()) };
        let unit = state.in_play.remove(index);
        let count = unit.place.count;
        let twice = lock(self.shared.total).twice;
        let created = self.units.write(unit, self.playable, twice)?;
        let mut total = lock(self.shared.total);
        total.games += count;
        *if created == Created::Mine { &mut total.units } else { &mut total.twice } += 1;
        Ok(())
    }
}

/// Keeps an error of the store and ends self-play.
fn stopped<T>(state: &mut StreamState, done: Result<T, Error>) -> Result<T, SelfPlayError> {
    done.map_err(|fault| {
        state.fault = Some(fault);
        SelfPlayError::Stopped
    })
}

impl Watch for Stream<'_> {
    fn goes_on(&self, _: &Progress) -> bool {
        if self.units.worker.stop.load(Ordering::Relaxed) || self.shared.halt.load(Ordering::Relaxed) {
            return false;
        }
        let mut state = lock(&self.state);
        if state.looked.elapsed() >= LOOK {
            match self.units.is_closed() {
                Ok(is_closed) => state.is_closed = is_closed,
                Err(error) => state.fault = Some(error.into()),
            }
            state.looked = Instant::now();
        }
        !state.is_closed && state.fault.is_none()
    }

    fn next_game(&self) -> Result<Option<u64>, SelfPlayError> {
        let mut state = lock(&self.state);
        let next = self.next(&mut state);
        stopped(&mut state, next)
    }

    fn take(&self, game: FinishedGame) -> Result<(), SelfPlayError> {
        let mut state = lock(&self.state);
        let number = game.number();
        if let Some(unit) = state.in_play.iter_mut().find(|unit| unit.has(number)) {
            unit.ended.push(game);
        }
        let ended = self.end(&mut state, number);
        stopped(&mut state, ended)
    }
}

/// Where a run stands, as the store shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct RunStatus {
    /// The name of the run.
    pub run: String,
    /// The newest generation.
    pub generation: u64,
    /// Whether it has no manifest yet.
    pub is_open: bool,
    /// Units of it that are there, and all.
    pub units: [u64; 2],
}

/// Lists the runs of a store; those whose newest generation is of another version of the program are left out.
///
/// # Errors
/// When the store cannot be read.
pub fn runs(store: &Store) -> Result<Vec<RunStatus>, Error> {
    let mut found = Vec::new();
    for (run, generation, is_open) in newest_generations(store)? {
        let head = match GenerationHead::read(store, &run, generation) {
            Ok(Some(head)) => head,
            Ok(None) | Err(Error::Refused(_)) => continue,
            Err(error) => return Err(error),
        };
        let there = store.list(&head.units_folder())?.len() as u64;
        found.push(RunStatus { run, generation, is_open, units: [there, head.units().len() as u64] });
    }
    Ok(found)
}

//! The part of a worker: plays units of the newest generations that are open.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use latrunculi_engine::Rules;
use latrunculi_eval::workers::VERSION;
use latrunculi_infer::GROUP;
use latrunculi_selfplay::{
    ActorEvaluator, FinishedGame, Pool, PoolPlan, PoolTask, Progress, Quota, SelfPlayError, Watch, finished_to_bytes,
    play_pools,
};
use latrunculi_store::{PlayedUnit, Store, StoreError, WorkOrder, Worker};

use super::head::{GenerationHead, HeadRuleset, Manifest, UnitPlace, name_of, of_name};
use super::{HEADS, MANIFESTS};
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
    /// The worker.
    pub worker: &'a Worker,
    /// Threads that play.
    pub actors: usize,
    /// Where networks compute.
    pub loader: &'a dyn NetworkLoader,
    /// Is told, from any thread, what is played.
    pub tell: &'a (dyn Fn(&str) + Sync),
    /// Set to end it.
    pub stop: &'a AtomicBool,
    /// Open generations that could not be played here when it was tried last, by run.
    pub refused: Mutex<BTreeSet<(String, u64)>>,
}

impl TrainingWorker<'_> {
    /// Returns whether units of an open generation are missing that may be played here.
    pub fn is_wanted(&self) -> Result<bool, StoreError> {
        let runs = match runs(&self.worker.store) {
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

    /// Plays units of one open generation until none is missing; returns whether there was one. `faults` receives, in a sentence
    /// each, why a generation cannot be played here.
    /// Fails with [`Error::Stopped`]; when the store cannot be used, or a network cannot be computed.
    pub fn play(&self, faults: &mut Vec<String>) -> Result<bool, Error> {
        lock(&self.refused).clear();
        for (run, generation, is_open) in newest_generations(&self.worker.store)? {
            if !is_open {
                continue;
            }
            match self.play_generation(&run, generation) {
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

    fn play_generation(&self, run: &str, generation: u64) -> Result<bool, Error> {
        let Some(head) = GenerationHead::read(&self.worker.store, run, generation)? else { return Ok(false) };
        let title = format!("generation {generation} of run {run}");
        VERSION.check(&title, &head.program, head.search_version).map_err(Error::Refused)?;
        let config = TrainConfig::from_text(&head.config).map_err(|error| refused(&title, &error_chain(&error)))?;
        let rules = head.rules().map_err(|error| refused(&title, &error_chain(&error)))?;
        let units = head.units();
        let order = order_in(self.worker, run, generation)?;
        let units = Units { worker: self, order, head: &head, all: &units, begun: Mutex::default() };
        // No network is fetched for a generation of which nothing is missing.
        let Some(first) = units.next(None)? else { return Ok(false) };
        let network = self.network_of(&head, &title)?;
        let playables = self.playables(&head, &config, &rules, network.as_deref(), &title)?;
        let mut of_actors = self.evaluators(&playables, network.as_deref(), &title)?;
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
                    halt: &halt,
                    title: &title,
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
        let path = self.worker.fetch_model(&head.model)?.map_err(|fault| refused(title, &fault))?;
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
fn order_in(worker: &Worker, run: &str, generation: u64) -> Result<WorkOrder, Error> {
    let Some(before) = generation.checked_sub(1).filter(|_| !worker.order.has_place()) else { return Ok(worker.order) };
    let before = match Manifest::read(&worker.store, run, before) {
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

struct Playable {
    plan: PoolPlan,
    /// Units that are played at once, by all actors together.
    at_once: u64,
    series: String,
    precision: Option<latrunculi_data::Precision>,
    kernel: String,
}

struct Units<'a> {
    worker: &'a TrainingWorker<'a>,
    /// Which units it takes first.
    order: WorkOrder,
    head: &'a GenerationHead,
    all: &'a [UnitPlace],
    /// Units that are being played here.
    begun: Mutex<BTreeSet<u64>>,
}

impl Units<'_> {
    /// Takes a unit that is missing, of one ruleset if it is given.
    fn next(&self, ruleset: Option<usize>) -> Result<Option<UnitPlace>, Error> {
        let worker = self.worker.worker;
        let mut begun = lock(&self.begun);
        if self.is_closed()? {
            return Ok(None);
        }
        let there = worker.store.list(&self.head.units_folder())?;
        let there: BTreeSet<u64> = there.iter().filter_map(|object| self.head.unit_of_name(&object.name)).collect();
        let wanted = self.all.iter().filter(|unit| ruleset.is_none_or(|ruleset| unit.ruleset == ruleset));
        let missing = wanted.map(|unit| unit.number).filter(|unit| !there.contains(unit) && !begun.contains(unit));
        let taken = worker.take(&self.order, missing.collect(), |unit| self.head.unit_name(unit))?;
        begun.extend(taken);
        Ok(taken.and_then(|unit| self.all.get(unit as usize).copied()))
    }

    /// Returns whether nothing more of the generation counts.
    fn is_closed(&self) -> Result<bool, StoreError> {
        let manifest = name_of(MANIFESTS, &self.head.run, self.head.generation);
        Ok(self.worker.worker.store.read_beginning(&manifest, 1)?.is_some())
    }

    /// Writes a unit whose games have all ended.
    fn write(&self, unit: UnitInPlay, playable: &Playable) -> Result<(), Error> {
        let UnitInPlay { place, begun, mut ended } = unit;
        ended.sort_by_key(FinishedGame::number);
        let played = PlayedUnit {
            name: &self.head.unit_name(place.number),
            series: &playable.series,
            games: [place.first, place.first + place.count],
            kernel: &playable.kernel,
            begun,
            at_once: playable.at_once,
        };
        self.worker.worker.write(VERSION, &played, &finished_to_bytes(&ended))?;
        self.worker.worker.add_games(place.count);
        // A unit that is moved aside is missing again.
        lock(&self.begun).remove(&place.number);
        Ok(())
    }
}

/// The units of one ruleset that an actor plays, one after the other. While the last games of a unit are played, those of
/// the next begin, so that the batches stay full.
struct Stream<'a> {
    units: &'a Units<'a>,
    ruleset: usize,
    playable: &'a Playable,
    /// Set when an actor fails.
    halt: &'a AtomicBool,
    /// What is played, in words.
    title: &'a str,
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
        (self.units.worker.tell)(self.title);
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
                    (self.units.worker.tell)(self.title);
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
        self.units.write(unit, self.playable)
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
        if self.units.worker.stop.load(Ordering::Relaxed) || self.halt.load(Ordering::Relaxed) {
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

//! A generation by workers: each game once, whatever happens to workers, learners and the store.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use latrunculi_data::StoredModel;
use latrunculi_engine::{Rules, presets};
use latrunculi_eval::workers::VERSION;
use latrunculi_selfplay::{
    FinishedGame, Pool, PoolTask, Progress, Quota, SelfPlayError, Watch, finished_to_bytes, play_pools,
};
use latrunculi_store::faults::{Faults, FaultyStore};
use latrunculi_store::{Patience, StopFlag, Store, UnitHeader, WorkDone, WorkOrder, Worker};
use object_store::ObjectStore;
use object_store::memory::InMemory;
use object_store::path::Path;

use super::*;
use crate::config::{ConfigSource, TrainConfig};
use crate::error::{Error, error_chain};
use crate::fair_gate::FairGate;
use crate::generation::{self, GenerationGames, Playing};
use crate::networks::Processor;
use crate::run_rulesets;

fn config() -> (TrainConfig, Arc<Rules>) {
    let mut config = TrainConfig::read(&ConfigSource::find("smoke").unwrap(), &[]).unwrap();
    config.teacher.games = 12;
    config.games.per_generation = 12;
    let rules = Arc::clone(&run_rulesets::load(&config.rulesets).unwrap()[0].rules);
    (config, rules)
}

fn plain(inner: &Arc<InMemory>) -> Arc<Store> {
    let inner = Arc::clone(inner) as Arc<dyn ObjectStore>;
    Arc::new(Store::of(inner, Path::default(), "memory", StopFlag::default()).unwrap())
}

fn leader(store: Arc<Store>, close: Close) -> Leader {
    Leader::new(store, "run-1".to_owned(), "owner".to_owned(), close, |_| {})
}

/// Lets a leader lead a generation, by alpha-beta or by a new network.
fn lead(leader: &Leader, generation: u64, watch: &dyn Fn(u64) -> bool) -> Result<GenerationGames, Error> {
    let (config, rules) = config();
    let network = StoredModel::fresh(&config.network, 1).unwrap();
    let fingerprint =
        if generation::teacher_plays(&config, generation) { String::new() } else { network.fingerprint() };
    let games = [(Arc::clone(&rules), 12, 2)];
    let head = GenerationHead::new(leader, generation, &config, &fingerprint, &games)?;
    let model = || Ok(network.clone().into_bytes());
    leader.play(head, &[rules], &model, (false, watch))
}

/// A worker that lives for so many units.
fn work(store: &Arc<Store>, stop: &AtomicBool, units: u64) {
    work_on(store, stop, units, 1);
}

/// A worker that keeps its networks in a folder of its own.
fn worker(store: &Arc<Store>) -> (Worker, tempfile::TempDir) {
    let cache = tempfile::tempdir().unwrap();
    (Worker::new(Arc::clone(store), WorkOrder::new(0, 1), "here".to_owned(), cache.path().to_owned()), cache)
}

/// One that plays one unit at once.
fn training<'a>(worker: &'a Worker, stop: &'a AtomicBool, tell: &'a (dyn Fn(&str) + Sync)) -> TrainingWorker<'a> {
    TrainingWorker { worker, actors: 1, loader: &Processor, tell, stop, refused: Mutex::default() }
}

/// A worker that plays so many units at once.
fn work_on(store: &Arc<Store>, stop: &AtomicBool, units: u64, actors: usize) {
    let (worker, _cache) = worker(store);
    let dead = AtomicBool::new(false);
    let mut faults = Vec::new();
    let tell = |_: &str| {
        let done = worker.done();
        // It dies in the middle of a unit.
        dead.fetch_or(done.units + done.duplicates >= units || stop.load(Ordering::Relaxed), Ordering::Relaxed);
    };
    let training = TrainingWorker { actors, ..training(&worker, &dead, &tell) };
    while !stop.load(Ordering::Relaxed) && !dead.load(Ordering::Relaxed) {
        let played = training.play(&mut faults);
        assert!(faults.is_empty(), "{faults:?}");
        match played {
            Ok(true) => {}
            Ok(false) => thread::sleep(Duration::from_millis(20)),
            Err(error) => assert!(error.is_stopped(), "{}", error_chain(&error)),
        }
    }
}

/// Runs `lead` while `count` workers play, each of which dies after some units and is followed by another.
fn with_workers<T>(inner: &Arc<InMemory>, count: u64, lead: impl FnOnce() -> T) -> T {
    let (stop, lives) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        for _ in 0..count {
            let (stop, lives) = (&stop, &lives);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let life = lives.fetch_add(1, Ordering::Relaxed);
                    work(&plain(inner), stop, 1 + life % 3);
                }
            });
        }
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(lead));
        stop.store(true, Ordering::Relaxed);
        done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn go_on(_: u64) -> bool {
    true
}

#[test]
fn a_generation_by_workers_that_die_counts_each_game_once() {
    let (config, rules) = config();
    let list = generation::list(&config, &rules, 0);
    let gate = &FairGate::new(1);
    let playing = Playing { parallel_trees: false, gate, goes_on: &|_| true, until: None };
    let alone = generation::play_lists(&mut [list], &mut generation::idle_evaluators(1), &playing).unwrap();
    let inner = Arc::new(InMemory::new());
    let leader = leader(plain(&inner), Close::All);
    let played = with_workers(&inner, 3, || lead(&leader, 0, &go_on)).unwrap();
    assert_eq!(played.rulesets[0].games, alone.rulesets[0].games, "games of alpha-beta are the same everywhere");
    let manifest = Manifest::read(&plain(&inner), "run-1", 0).unwrap().unwrap();
    let units: BTreeSet<u64> = manifest.units.iter().map(|unit| unit.unit).collect();
    assert_eq!(units.len(), 6);
    assert_eq!(manifest.units.iter().map(|unit| unit.games).sum::<u64>(), 12);
    let samples = played.rulesets[0].samples();
    assert_eq!(manifest.units.iter().map(|unit| unit.samples).sum::<u64>(), samples.len() as u64);
    assert!(plain(&inner).list("rejected").unwrap().is_empty(), "nothing that a worker wrote was refused");
    // A network plays the next one.
    let played = with_workers(&inner, 3, || lead(&leader, 1, &go_on)).unwrap();
    let numbers: Vec<u64> = played.rulesets[0].games.iter().map(|game| game.index).collect();
    assert_eq!(numbers, (0..12).collect::<Vec<_>>());
    let manifest = Manifest::read(&plain(&inner), "run-1", 1).unwrap().unwrap();
    assert!(manifest.units.iter().all(|unit| !unit.kernel.is_empty()));
    let made: u64 = played.rulesets[0].samples().len() as u64;
    assert_eq!(leader.games_for(2, &rules, 2 * made).unwrap(), 24, "games are asked for by the samples of the last");
}

#[test]
fn of_two_learners_one_goes_on() {
    let inner = Arc::new(InMemory::new());
    let waiting = AtomicU64::new(0);
    let ends: Vec<Result<(), String>> = thread::scope(|scope| {
        let learners: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let told = AtomicBool::new(false);
                    let watch = |_: u64| {
                        if !told.swap(true, Ordering::Relaxed) {
                            waiting.fetch_add(1, Ordering::Relaxed);
                        }
                        true
                    };
                    let led = lead(&leader(plain(&inner), Close::All), 0, &watch);
                    led.map(|_| ()).map_err(|error| error_chain(&error))
                })
            })
            .collect();
        while waiting.load(Ordering::Relaxed) < 2 {
            thread::sleep(Duration::from_millis(5));
        }
        with_workers(&inner, 1, || learners.into_iter().map(|one| one.join().unwrap()).collect())
    });
    let refused: Vec<&String> = ends.iter().filter_map(|end| end.as_ref().err()).collect();
    assert_eq!(refused.len(), 1, "{ends:?}");
    assert!(refused[0].contains("another learner"), "{refused:?}");
    // Another run of the same name is refused before anything is played, and so are other rulesets.
    let mut other = leader(plain(&inner), Close::All);
    other.owner = "another".to_owned();
    let error = lead(&other, 0, &go_on).map(|_| ()).unwrap_err();
    assert!(error_chain(&error).contains("not that of this run"), "{}", error_chain(&error));
    let (config, _) = config();
    let rules = presets::rules("savard");
    let own = leader(plain(&inner), Close::All);
    let head = GenerationHead::new(&own, 0, &config, "", &[(Arc::clone(&rules), 12, 2)]).unwrap();
    let error = own.play(head, &[rules], &|| Ok(Vec::new()), (false, &go_on)).map(|_| ()).unwrap_err();
    let told = error_chain(&error);
    assert!(told.contains("games of other rulesets") && told.contains("teacher.generations"), "{told}");
}

#[test]
fn a_learner_that_waits_for_all_ends_when_another_has_closed_the_generation_with_fewer() {
    let inner = Arc::new(InMemory::new());
    let shared = plain(&inner);
    let looks = AtomicU64::new(0);
    let manifest = Manifest {
        program: VERSION.program.to_owned(),
        run: "run-1".to_owned(),
        generation: 0,
        learner: "another".to_owned(),
        units: Vec::new(),
        left: (0..6).collect(),
    };
    let led = lead(&leader(plain(&inner), Close::All), 0, &|_| {
        let bytes = super::head::to_bytes(&manifest).unwrap();
        shared.create(&super::head::name_of(MANIFESTS, "run-1", 0), &bytes).unwrap();
        looks.fetch_add(1, Ordering::Relaxed) < 4
    });
    let told = error_chain(&led.map(|_| ()).unwrap_err());
    assert!(told.contains("another learner"), "{told}");
}

#[test]
fn settings_that_are_changed_while_a_generation_is_open_begin_with_the_next() {
    let (inner, settled) = (Arc::new(InMemory::new()), Arc::new(InMemory::new()));
    let as_asked = with_workers(&settled, 1, || lead(&leader(plain(&settled), Close::All), 0, &go_on)).unwrap();
    assert!(lead(&leader(plain(&inner), Close::All), 0, &|_| false).unwrap_err().is_stopped());
    let (mut config, rules) = config();
    config.teacher.alphabeta.nodes *= 2;
    let own = leader(plain(&inner), Close::All);
    let play = |generation| {
        let head = GenerationHead::new(&own, generation, &config, "", &[(Arc::clone(&rules), 6, 3)]).unwrap();
        own.play(head, &[Arc::clone(&rules)], &|| Ok(Vec::new()), (false, &go_on))
    };
    let played = with_workers(&inner, 1, || play(0)).unwrap();
    assert_eq!(played.rulesets[0].games, as_asked.rulesets[0].games);
    // A generation that alpha-beta plays cannot become one of a network while it is open.
    let another = GenerationHead::new(&own, 0, &config, "12345678", &[(Arc::clone(&rules), 6, 3)]).unwrap();
    let refused = own.play(another, &[Arc::clone(&rules)], &|| Ok(Vec::new()), (false, &go_on));
    assert!(error_chain(&refused.map(|_| ()).unwrap_err()).contains("until the generation is closed"));
    // Of a generation that is closed the head counts, too.
    assert_eq!(play(0).unwrap().rulesets[0].games, as_asked.rulesets[0].games);
    config.teacher.generations = 2;
    let head = GenerationHead::new(&own, 1, &config, "", &[(Arc::clone(&rules), 6, 3)]).unwrap();
    let next =
        with_workers(&inner, 1, || own.play(head.clone(), &[Arc::clone(&rules)], &|| Ok(Vec::new()), (false, &go_on)));
    assert_eq!(next.unwrap().rulesets[0].games.len(), 6);
    assert_eq!(GenerationHead::read(&plain(&inner), "run-1", 1).unwrap().unwrap(), head);
}

#[test]
fn a_learner_that_comes_to_other_weights_again_goes_on_with_those_that_it_had_written() {
    let inner = Arc::new(InMemory::new());
    assert!(lead(&leader(plain(&inner), Close::All), 1, &|_| false).unwrap_err().is_stopped());
    let written = GenerationHead::read(&plain(&inner), "run-1", 1).unwrap().unwrap();
    let (config, rules) = config();
    let network = StoredModel::fresh(&config.network, 2).unwrap();
    let own = leader(plain(&inner), Close::All);
    let head = GenerationHead::new(&own, 1, &config, &network.fingerprint(), &[(Arc::clone(&rules), 12, 2)]).unwrap();
    assert_ne!(head.fingerprint, written.fingerprint);
    let model = || Ok(network.clone().into_bytes());
    let played = with_workers(&inner, 1, || own.play(head, &[rules], &model, (false, &go_on)));
    assert_eq!(played.unwrap().rulesets[0].games.len(), 12);
    assert_eq!(GenerationHead::read(&plain(&inner), "run-1", 1).unwrap().unwrap(), written);
}

#[test]
fn what_comes_late_or_is_foreign_or_poisoned_does_not_count_and_is_kept_with_its_reason() {
    let inner = Arc::new(InMemory::new());
    let shared = plain(&inner);
    let quorum = leader(Arc::clone(&shared), Close::Quorum);
    // A good unit, to be changed.
    let stopped = with_workers(&inner, 1, || lead(&quorum, 0, &|games| games < 2));
    assert!(stopped.unwrap_err().is_stopped());
    let unit = shared.list("units").unwrap().remove(0);
    let good = shared.read(&unit.name, 1 << 30).unwrap().unwrap();
    let end = good.iter().position(|&byte| byte == b'\n').unwrap();
    let (header, body) = (String::from_utf8(good[..end].to_vec()).unwrap(), &good[end..]);
    let with_header = |from: &str, to: &str| {
        assert!(header.contains(from), "{header}");
        [header.replacen(from, to, 1).as_bytes(), body].concat()
    };
    let poisons = [
        with_header(env!("CARGO_PKG_VERSION"), "0.0.1"),
        with_header("\"search_version\":", "\"search_version\":7"),
        with_header("generation 0", "generation 1"),
        with_header("\"games\":[", "\"games\":[1"),
        good[..good.len() / 2].to_vec(),
        b"garbage".to_vec(),
    ];
    let others = ["units/run-1/000000/000099", "units/run-1/000000/games.npz"];
    others.iter().for_each(|name| _ = shared.create(name, b"foreign").unwrap());
    let before = shared.list("rejected").unwrap().len();
    for poison in &poisons {
        // Delivered while its place is empty, as by a worker that was slow.
        shared.remove(&unit.name).unwrap();
        shared.create(&unit.name, poison).unwrap();
        let is_there = || shared.read_beginning(&unit.name, 1).unwrap().is_some();
        let stopped = lead(&quorum, 0, &|_| is_there());
        assert!(stopped.unwrap_err().is_stopped());
    }
    let played = with_workers(&inner, 2, || lead(&quorum, 0, &go_on)).unwrap();
    assert_eq!(played.rulesets[0].games.len(), 12);
    // Two each: what it was, and why; the two foreign ones and all poisons.
    assert_eq!(shared.list("rejected").unwrap().len(), before + 2 * (2 + poisons.len()));
    // A zombie writes another unit after the generation was closed.
    let late = "units/run-1/000000/000098";
    shared.create(late, &good).unwrap();
    with_workers(&inner, 2, || lead(&quorum, 1, &go_on)).unwrap();
    let kept = shared.list("rejected").unwrap();
    let reason = kept
        .iter()
        .find(|kept| kept.name.starts_with(&format!("rejected/{late}")) && kept.name.ends_with("reason.json"));
    let reason = shared.read(&reason.expect("it was moved aside").name, 1000).unwrap().unwrap();
    assert!(String::from_utf8(reason).unwrap().contains("after its generation was closed"));
}

#[test]
fn a_name_that_is_only_like_that_of_a_unit_is_no_unit() {
    let inner = Arc::new(InMemory::new());
    let shared = plain(&inner);
    for name in ["units/run-1/000000/copy/000003", "units/run-1/000000/+00003", "units/run-1/000000/3"] {
        shared.create(name, b"foreign").unwrap();
    }
    // Who took them for unit 3 would leave them, and no worker would play it.
    let looks = AtomicU64::new(0);
    let is_left = |_| looks.fetch_add(1, Ordering::Relaxed) < 20 && !shared.list("units").unwrap().is_empty();
    assert!(lead(&leader(plain(&inner), Close::All), 0, &is_left).unwrap_err().is_stopped());
    assert_eq!((shared.list("units").unwrap(), shared.list("rejected").unwrap().len()), (Vec::new(), 6));
}

#[test]
fn a_network_that_is_missing_or_damaged_keeps_no_worker_from_other_runs() {
    let inner = Arc::new(InMemory::new());
    let shared = plain(&inner);
    let mut first = leader(plain(&inner), Close::All);
    first.run = "run-0".to_owned();
    assert!(lead(&first, 1, &|_| false).unwrap_err().is_stopped());
    assert!(lead(&leader(plain(&inner), Close::All), 0, &|_| false).unwrap_err().is_stopped());
    let network = shared.list("models").unwrap().remove(0).name;
    for (content, fault) in [(None, "is not there"), (Some(b"other"), "is damaged")] {
        shared.remove(&network).unwrap();
        content.iter().for_each(|content| _ = shared.create(&network, *content).unwrap());
        let (worker, _cache) = worker(&shared);
        let mut faults = Vec::new();
        assert!(training(&worker, &AtomicBool::new(false), &|_| {}).play(&mut faults).unwrap());
        assert!(faults.len() == 1 && faults[0].contains("run-0") && faults[0].contains(fault), "{faults:?}");
        assert_eq!(shared.list("units/run-1").unwrap().len(), 6);
        shared.list("units").unwrap().iter().for_each(|unit| shared.remove(&unit.name).unwrap());
    }
}

#[test]
fn a_worker_leaves_what_was_moved_aside_to_others_and_ends_at_the_third() {
    let inner = Arc::new(InMemory::new());
    let shared = plain(&inner);
    assert!(lead(&leader(plain(&inner), Close::All), 0, &|_| false).unwrap_err().is_stopped());
    let ((worker, _cache), stop) = (worker(&shared), AtomicBool::new(false));
    let mut faults = Vec::new();
    let mut play = |worker: &Worker| training(worker, &stop, &|_| {}).play(&mut faults);
    assert!(play(&worker).unwrap());
    let units: Vec<String> = shared.list("units").unwrap().into_iter().map(|unit| unit.name).collect();
    assert_eq!(units.len(), 6);
    let set_aside = |name: &str| assert!(shared.reject(name, 1 << 20, "game 3 is not legal").unwrap());
    units[..2].iter().for_each(|name| set_aside(name));
    shared.remove(&units[2]).unwrap();
    // What was only removed is played again, the other two are not.
    assert!(play(&worker).unwrap());
    assert_eq!(shared.list("units").unwrap().len(), 4);
    assert!(!play(&worker).unwrap());
    let told = worker.take_withheld();
    assert!(told.len() == 2 && told.iter().all(|fault| fault.contains("game 3 is not legal")), "{told:?}");
    set_aside(&units[3]);
    let error = play(&worker).unwrap_err().to_string();
    assert!(error.contains(&units[3]) && error.contains("game 3 is not legal"), "{error}");
    // Another worker, or this one started again, plays them.
    let (another, _other_cache) = self::worker(&shared);
    assert!(play(&another).unwrap());
    assert_eq!(shared.list("units").unwrap().len(), 6);
    assert!(faults.is_empty(), "{faults:?}");
}

#[test]
fn a_worker_without_a_place_has_that_of_its_name_among_the_workers_of_the_generation_before() {
    let inner = Arc::new(InMemory::new());
    let shared = plain(&inner);
    let ((worker, _cache), stop) = (worker(&shared), AtomicBool::new(false));
    let leader = leader(plain(&inner), Close::All);
    assert!(lead(&leader, 0, &|_| false).unwrap_err().is_stopped());
    assert!(training(&worker, &stop, &|_| {}).play(&mut Vec::new()).unwrap());
    lead(&leader, 0, &go_on).unwrap();
    // As if two more had been there, one before and one behind it.
    let mut manifest = Manifest::read(&shared, "run-1", 0).unwrap().unwrap();
    assert!(manifest.units.iter().all(|unit| unit.worker == worker.order.name()));
    for (unit, name) in manifest.units.iter_mut().zip(["0", "x"]) {
        unit.worker = name.to_owned();
    }
    let name = super::head::name_of(MANIFESTS, "run-1", 0);
    shared.remove(&name).unwrap();
    shared.create(&name, &super::head::to_bytes(&manifest).unwrap()).unwrap();
    assert!(lead(&leader, 1, &|_| false).unwrap_err().is_stopped());
    let before = worker.done().units;
    let ends = |_: &str| stop.store(worker.done().units == before + 2, Ordering::Relaxed);
    let ended = training(&worker, &stop, &ends).play(&mut Vec::new());
    assert!(ended.unwrap_err().is_stopped());
    let units: Vec<String> = shared.list("units/run-1/000001").unwrap().into_iter().map(|unit| unit.name).collect();
    assert_eq!(units, ["units/run-1/000001/000001", "units/run-1/000001/000004"], "the second of three");
}

#[test]
fn a_worker_gives_up_a_unit_whose_generation_is_closed_without_it() {
    let inner = Arc::new(InMemory::new());
    let shared = plain(&inner);
    assert!(lead(&leader(plain(&inner), Close::All), 0, &|_| false).unwrap_err().is_stopped());
    let ((worker, _cache), stop) = (worker(&shared), AtomicBool::new(false));
    let closes = |_: &str| _ = shared.create(&super::head::name_of(MANIFESTS, "run-1", 0), b"{}").unwrap();
    assert!(training(&worker, &stop, &closes).play(&mut Vec::new()).unwrap());
    assert_eq!(worker.done(), WorkDone::default());
    assert!(shared.list("units").unwrap().is_empty());
}

#[test]
fn a_worker_ends_with_the_fault_of_its_store_in_the_middle_of_a_unit() {
    let inner = Arc::new(InMemory::new());
    // In a generation of a network, whose games have many rounds.
    assert!(lead(&leader(plain(&inner), Close::All), 1, &|_| false).unwrap_err().is_stopped());
    let faulty = Arc::new(FaultyStore::new(Arc::clone(&inner) as Arc<dyn ObjectStore>, Faults::default(), 0));
    let is_down = faulty.link_is_down();
    let patience = Patience { request: Duration::from_millis(100), total: Duration::from_millis(200) };
    let shared =
        Store::of(Arc::clone(&faulty) as Arc<dyn ObjectStore>, Path::default(), "memory", StopFlag::default()).unwrap();
    let shared = Arc::new(shared.with_patience(patience));
    let ((worker, _cache), stop) = (worker(&shared), AtomicBool::new(false));
    let breaks = |_: &str| is_down.store(true, Ordering::Relaxed);
    let ended = training(&worker, &stop, &breaks).play(&mut Vec::new());
    assert!(matches!(ended, Err(Error::Store(_))), "{ended:?}");
    assert_eq!(worker.done(), WorkDone::default());
    assert!(faulty.injected() < 10, "it does not play on and ask again and again: {}", faulty.injected());
}

#[test]
fn a_head_that_is_damaged_or_foreign_is_refused_by_name() {
    let inner = Arc::new(InMemory::new());
    let shared = plain(&inner);
    assert!(lead(&leader(plain(&inner), Close::All), 0, &|_| false).unwrap_err().is_stopped());
    let head = GenerationHead::read(&shared, "run-1", 0).unwrap().unwrap();
    let of_units = |games, per_unit| {
        let mut head = GenerationHead { run: "run-2".to_owned(), ..head.clone() };
        (head.rulesets[0].games, head.rulesets[0].per_unit) = (games, per_unit);
        head
    };
    let damaged = [of_units(12, 0), of_units(u64::MAX, 1), GenerationHead { generation: 1, ..of_units(12, 2) }, head];
    let name = super::head::name_of(HEADS, "run-2", 0);
    for head in damaged {
        shared.create(&name, &super::head::to_bytes(&head).unwrap()).unwrap();
        let told = error_chain(&GenerationHead::read(&shared, "run-2", 0).unwrap_err());
        assert!(told.starts_with(&name), "{told}");
        // A worker plays what else there is.
        let mut faults = Vec::new();
        let ((worker, _cache), stop) = (worker(&shared), AtomicBool::new(false));
        let ends = |_: &str| stop.store(worker.done().units > 0, Ordering::Relaxed);
        let played = training(&worker, &stop, &ends).play(&mut faults);
        assert!(played.is_ok_and(|played| played) || stop.load(Ordering::Relaxed));
        assert_eq!(runs(&shared).unwrap().len(), 1);
        shared.remove(&name).unwrap();
        shared.list("units").unwrap().iter().for_each(|unit| shared.remove(&unit.name).unwrap());
    }
}

#[test]
fn many_workers_get_small_units_and_too_few_games_for_them_are_told_once() {
    static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());
    let inner = Arc::new(InMemory::new());
    let mut leader = leader(plain(&inner), Close::All);
    leader.notice = |text| TOLD.lock().unwrap().push(text.to_owned());
    // One worker that plays one unit at once: the 12 games are enough.
    with_workers(&inner, 1, || lead(&leader, 0, &go_on)).unwrap();
    assert!(TOLD.lock().unwrap().is_empty());
    assert_eq!(leader.units_for(1, 1).unwrap(), 48);
    let shared = plain(&inner);
    let lead_with_five = |generation| {
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| work_on(&shared, &stop, u64::MAX, 5));
            let led = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| lead(&leader, generation, &go_on)));
            stop.store(true, Ordering::Relaxed);
            led.unwrap_or_else(|panic| std::panic::resume_unwind(panic)).unwrap();
        });
    };
    (1..3).for_each(lead_with_five);
    // Each of the five threads plays the four games of a batch, which are two units.
    let manifest = Manifest::read(&shared, "run-1", 1).unwrap().unwrap();
    assert!(manifest.units.iter().all(|unit| unit.at_once == 10), "{:?}", manifest.units);
    let told = TOLD.lock().unwrap().clone();
    assert!(told.len() == 1 && told[0].contains("games.per_generation"), "{told:?}");
    // By three workers, of whom one is named twice.
    let mut manifest = Manifest::read(&shared, "run-1", 2).unwrap().unwrap();
    for (unit, (worker, at_once)) in manifest.units.iter_mut().zip([("a", 40), ("a", 40), ("b", 15), ("c", 5)]) {
        (unit.worker, unit.at_once) = (worker.to_owned(), at_once);
    }
    manifest.units.truncate(4);
    shared.create(&super::head::name_of(MANIFESTS, "run-1", 3), &super::head::to_bytes(&manifest).unwrap()).unwrap();
    assert_eq!([1, 2, 4].map(|rulesets| leader.units_for(4, rulesets).unwrap()), [180, 90, 48]);
    assert_eq!([180, 90, 48].map(|units| Leader::per_unit(720, 64, units)), [4, 8, 15]);
    // A unit and a manifest of before do not say how many units were played at once.
    let old = serde_json::to_string(&manifest).unwrap().replace(",\"at_once\":40", "");
    let old: Manifest = serde_json::from_str(&old).unwrap();
    assert_eq!(old.at_once(), 20);
}

#[test]
fn the_status_of_a_store_leaves_out_what_another_version_wrote() {
    let inner = Arc::new(InMemory::new());
    let shared = plain(&inner);
    assert!(lead(&leader(plain(&inner), Close::All), 0, &|_| false).unwrap_err().is_stopped());
    shared.create("heads/later/000003.json", b"{\"program\":\"9.0.0\"}").unwrap();
    // A generation of another version is refused once, and then no reason to leave other work.
    let mut head = GenerationHead::read(&shared, "run-1", 0).unwrap().unwrap();
    (head.run, head.program) = ("run-2".to_owned(), "0.0.1".to_owned());
    shared.create("heads/run-2/000000.json", &super::head::to_bytes(&head).unwrap()).unwrap();
    let ((worker, _cache), stop) = (worker(&shared), AtomicBool::new(false));
    let worker = training(&worker, &stop, &|_| {});
    assert!(worker.is_wanted().unwrap());
    let mut faults = Vec::new();
    while worker.play(&mut faults).unwrap() {}
    assert!(faults.iter().any(|fault| fault.contains("version 0.0.1")), "{faults:?}");
    assert!(!worker.is_wanted().unwrap(), "nothing is missing in one, and the other is refused");
    for object in [shared.list("units").unwrap(), shared.list("heads/run-2").unwrap()].concat() {
        shared.remove(&object.name).unwrap();
    }
    assert!(worker.is_wanted().unwrap());
    let found: Vec<_> = runs(&shared).unwrap().into_iter().map(|one| (one.run, one.is_open, one.units)).collect();
    assert_eq!(found, [("run-1".to_owned(), true, [0, 6])]);
}

/// Keeps the records of the first games of a stream.
struct Keep {
    numbers: Mutex<std::ops::Range<u64>>,
    games: Mutex<Vec<FinishedGame>>,
}

impl Watch for Keep {
    fn goes_on(&self, _: &Progress) -> bool {
        true
    }

    fn next_game(&self) -> Result<Option<u64>, SelfPlayError> {
        Ok(self.numbers.lock().unwrap().next())
    }

    fn take(&self, game: FinishedGame) -> Result<(), SelfPlayError> {
        self.games.lock().unwrap().push(game);
        Ok(())
    }
}

#[test]
fn a_game_that_alpha_beta_would_not_have_played_so_is_found_where_it_is_played_again() {
    let (mut config, rules) = config();
    config.teacher.generations = 1000;
    let name = |generation: &u64| generation::list(&config, &rules, *generation).plan.name;
    let generation = (0..1000).find(|generation| super::lead::is_drawn(&name(generation), 1)).unwrap();
    let inner = Arc::new(InMemory::new());
    let shared = plain(&inner);
    let leader = leader(Arc::clone(&shared), Close::All);
    let lead = |watch: &dyn Fn(u64) -> bool| {
        let head = GenerationHead::new(&leader, generation, &config, "", &[(Arc::clone(&rules), 4, 2)])?;
        leader.play(head, &[Arc::clone(&rules)], &|| Ok(Vec::new()), (false, watch))
    };
    assert!(lead(&|_| false).unwrap_err().is_stopped());
    let head = GenerationHead::read(&shared, &leader.run, generation).unwrap().unwrap();
    let (plan, series) = head.plan(&config, &rules);
    let write = |nodes: u64| {
        let mut plan = plan.clone();
        plan.teacher.as_mut().unwrap().nodes = nodes;
        let keep = Keep { numbers: Mutex::new(0..2), games: Mutex::default() };
        let task = PoolTask { pool: Pool::new(plan).unwrap(), quota: Quota::Stream, journal: None };
        play_pools(
            vec![task],
            &mut generation::idle_evaluators(1).iter_mut().map(|one| &mut **one as _).collect::<Vec<_>>(),
            false,
            &Progress::default(),
            &keep,
        )
        .unwrap();
        let mut ended = keep.games.into_inner().unwrap();
        ended.sort_by_key(FinishedGame::number);
        let header = UnitHeader {
            program: env!("CARGO_PKG_VERSION").to_owned(),
            search_version: latrunculi_search::SEARCH_VERSION,
            series: series.clone(),
            games: [0, 2],
            worker: "forger".to_owned(),
            host: "here".to_owned(),
            kernel: String::new(),
            secs: 1.0,
            duplicates: 0,
            at_once: 1,
        };
        shared.create(&head.unit_name(0), &[header.to_line(), finished_to_bytes(&ended)].concat()).unwrap();
    };
    let is_there = || shared.read_beginning(&head.unit_name(0), 1).unwrap().is_some();
    write(1);
    assert!(lead(&|_| is_there()).unwrap_err().is_stopped());
    let reason = shared.list("rejected").unwrap().pop().unwrap();
    let reason = shared.read(&reason.name, 1000).unwrap().unwrap();
    assert!(String::from_utf8(reason).unwrap().contains("goes another way"));
    // What alpha-beta plays with the right settings counts.
    write(plan.teacher.unwrap().nodes);
    assert!(lead(&|games| games < 2).unwrap_err().is_stopped());
    assert!(is_there());
}

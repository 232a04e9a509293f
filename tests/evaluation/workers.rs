//! Games by workers: the result of one machine, whatever happens to the workers, the store and its links.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use latrunculi_engine::presets::rules;
use latrunculi_engine::{GameRecord, GameState, Rules};
use latrunculi_eval::agents::mix_seeds;
use latrunculi_eval::study::{StudyConfig, StudyProgress, StudySettings, StudySummary, run_study};
use latrunculi_eval::workers::{GamesWork, GamesWorker, Workers, is_replayed};
use latrunculi_eval::{Error, MatchConfig, MatchReport, Players, play_match};
use latrunculi_store::{StopFlag, Store, StoreError, WorkOrder, Worker};
use object_store::ObjectStore;
use object_store::memory::InMemory;
use object_store::path::Path;

use crate::agents::{on_threads, opened, spec, uniform};
use crate::studies::{config, everything, json, settings};

fn store(inner: &Arc<InMemory>, stop: &StopFlag) -> Arc<Store> {
    let inner = Arc::clone(inner) as Arc<dyn ObjectStore>;
    Arc::new(Store::of(inner, Path::default(), "memory", Arc::clone(stop)).unwrap())
}

fn plain(inner: &Arc<InMemory>) -> Arc<Store> {
    store(inner, &StopFlag::default())
}

fn by_workers(store: Arc<Store>) -> Players {
    let workers = Workers { store, models: Arc::new(|_| Ok(b"a network".to_vec())), notice: |_| {} };
    Players { workers: Some(workers), ..on_threads(2) }
}

/// A worker that keeps its networks in a folder of its own.
fn worker(store: &Arc<Store>) -> (Worker, tempfile::TempDir) {
    let cache = tempfile::tempdir().unwrap();
    (Worker::new(Arc::clone(store), WorkOrder::new(0, 1), "here".to_owned(), cache.path().to_owned()), cache)
}

/// Runs `run` with a worker of one thread, whose networks have this identity; `stop` ends it, and `tell` is told of each game.
fn as_worker<T>(
    worker: &Worker,
    identity: &str,
    (stop, tell): (&AtomicBool, &(dyn Fn(&str) + Sync)),
    run: impl FnOnce(&GamesWorker<'_>) -> T,
) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    run(&GamesWorker {
        worker,
        pool: &pool,
        games_at_once: 4,
        networks: &|_, _| Ok((identity.to_owned(), uniform("any")?)),
        has_other_work: &|| Ok(false),
        tell,
        stop,
    })
}

/// A worker that lives until it has played `games` games, or until `is_over`.
fn work(store: &Arc<Store>, games: u64, is_over: &AtomicBool) {
    let (worker, _cache) = worker(store);
    let is_dead = AtomicBool::new(false);
    let tell = |_: &str| {
        let ends = worker.done().games >= games || is_over.load(Ordering::Relaxed);
        is_dead.fetch_or(ends, Ordering::Relaxed);
    };
    as_worker(&worker, "identity", (&is_dead, &tell), |games| {
        while !is_dead.load(Ordering::Relaxed) && !is_over.load(Ordering::Relaxed) {
            let mut faults = Vec::new();
            let played = GamesWork::default().play(games, &mut faults);
            assert!(faults.is_empty(), "{faults:?}");
            match played {
                Ok(true) => {}
                // Whatever is wanted next is not long in coming.
                Ok(false) => thread::sleep(Duration::from_millis(20)),
                Err(Error::Store(StoreError::Stopped)) => break,
                Err(error) => panic!("{error}"),
            }
        }
    });
}

/// Runs `lead` while `count` workers play, each of which dies after some games and is followed by another.
fn with_workers<T: Send>(inner: &Arc<InMemory>, count: u64, lead: impl FnOnce(Arc<Store>) -> T + Send) -> T {
    let (is_over, lives) = (AtomicBool::new(false), AtomicU64::new(0));
    let stop = StopFlag::default();
    thread::scope(|scope| {
        for number in 0..count {
            let (is_over, lives, stop) = (&is_over, &lives, &stop);
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    let life = lives.fetch_add(1, Ordering::Relaxed);
                    let games = 5 + mix_seeds(&[number, life]) % 60;
                    work(&store(inner, stop), games, is_over);
                }
            });
        }
        // Whether it ends well or not, the workers must end.
        let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| lead(store(inner, &stop))));
        is_over.store(true, Ordering::Relaxed);
        done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn study(config: &StudyConfig) -> StudySummary {
    run_study(config, &mut opened, &mut |_: &StudyProgress| ControlFlow::Continue(())).expect("a study")
}

#[test]
fn a_study_by_workers_has_the_summary_of_one_machine() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| config(&folder.path().join(name), everything(), &["bell", "small"]);
    let whole = study(&at("whole"));
    let inner = Arc::new(InMemory::new());
    let shared = with_workers(&inner, 3, |store| study(&StudyConfig { players: by_workers(store), ..at("shared") }));
    assert_eq!(json(&shared), json(&whole));
    assert!(plain(&inner).list("rejected").unwrap().is_empty(), "nothing that a worker wrote was refused");
    assert!(plain(&inner).list("units").unwrap().len() > 20);
}

#[test]
fn a_study_that_is_taken_further_is_played_by_workers_again() {
    let folder = tempfile::tempdir().unwrap();
    let asked = |half_width| StudySettings { half_width, min_games: 20, max_games: 60, ..settings(&["random"]) };
    let at = |name: &str, half_width| config(&folder.path().join(name), asked(half_width), &["bell"]);
    let whole = study(&at("whole", 0.001));
    let inner = Arc::new(InMemory::new());
    let lead = |name: &str, half_width| {
        with_workers(&inner, 1, |store| study(&StudyConfig { players: by_workers(store), ..at(name, half_width) }))
    };
    let games = |study: &StudySummary| study.rulesets[0].cells[0].games;
    assert_eq!((games(&lead("shared", 0.4)), games(&whole)), (20, 60));
    let plain = plain(&inner);
    let is_closed = || plain.list("games").unwrap().iter().any(|object| object.name.ends_with("/closed"));
    assert!(is_closed());
    assert_eq!(json(&lead("shared", 0.001)), json(&whole));
    // Ledgers and units are gone, and only the store says that the series was closed.
    for object in plain.list("units").unwrap() {
        plain.remove(&object.name).unwrap();
    }
    assert!(is_closed());
    assert_eq!(json(&lead("again", 0.001)), json(&whole));
}

#[test]
fn a_leader_opens_again_what_another_one_closed_too_early() {
    let config = MatchConfig::new([spec("random"), spec("greedy")], 13);
    let whole = play(&config);
    let inner = Arc::new(InMemory::new());
    let plain = plain(&inner);
    let lead = || play(&MatchConfig { players: by_workers(Arc::clone(&plain)), ..config.clone() });
    let is_over = AtomicBool::new(false);
    let report = thread::scope(|scope| {
        let leader = scope.spawn(lead);
        let wanted = loop {
            let wanted = plain.list("games").unwrap().into_iter().find(|object| object.name.contains("/wanted/"));
            if let Some(wanted) = wanted {
                break wanted.name;
            }
            thread::sleep(Duration::from_millis(5));
        };
        let (series, _) = wanted.split_once("/wanted/").unwrap();
        plain.create(&format!("{series}/closed"), b"").unwrap();
        let worker = scope.spawn(|| work(&plain, u64::MAX, &is_over));
        let report = leader.join().unwrap();
        is_over.store(true, Ordering::Relaxed);
        worker.join().unwrap();
        report
    });
    assert_eq!(serde_json::to_string(&report).unwrap(), serde_json::to_string(&whole).unwrap());
}

#[test]
fn a_worker_finishes_the_units_in_play_where_other_work_comes_first() {
    let config = MatchConfig::new([spec("random"), spec("greedy")], 40);
    let inner = Arc::new(InMemory::new());
    let stop = StopFlag::default();
    let plain = plain(&inner);
    let lead = || {
        let config = MatchConfig { players: by_workers(store(&inner, &stop)), ..config };
        play_match(&rules("savard"), &config, &mut opened, &mut |_| ControlFlow::Continue(())).expect("a match")
    };
    thread::scope(|scope| {
        let leader = scope.spawn(lead);
        while !plain.list("games").unwrap().iter().any(|object| object.name.contains("/wanted/")) {
            thread::sleep(Duration::from_millis(5));
        }
        let asked = AtomicU64::new(0);
        let mut work = GamesWork::default();
        let (worker, _cache) = worker(&plain);
        let units = as_worker(&worker, "identity", (&stop, &|_| {}), |games| {
            let has_other_work = || Ok([0, 3].contains(&asked.fetch_add(1, Ordering::Relaxed)));
            let games = GamesWorker { has_other_work: &has_other_work, ..*games };
            let mut units = Vec::new();
            while units.last().is_none_or(|&units| units < 8) {
                assert!(work.play(&games, &mut Vec::new()).unwrap());
                units.push(worker.done().units);
            }
            units
        });
        assert_eq!(leader.join().unwrap().games_played, 40 * 2);
        assert_eq!(units, [0, 2, 8], "a visit ends after the units that had begun, and the next is not kept away");
    });
}

#[test]
fn a_study_that_was_begun_on_one_machine_goes_on_by_workers_without_the_games_that_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let asked = |half_width| StudySettings { half_width, min_games: 20, max_games: 60, ..settings(&["random"]) };
    let at = |name: &str, half_width| config(&folder.path().join(name), asked(half_width), &["bell"]);
    assert_eq!(study(&at("begun", 0.4)).rulesets[0].cells[0].games, 20);
    let inner = Arc::new(InMemory::new());
    let shared =
        with_workers(&inner, 1, |store| study(&StudyConfig { players: by_workers(store), ..at("begun", 0.001) }));
    assert_eq!(json(&shared), json(&study(&at("whole", 0.001))));
    let plain = plain(&inner);
    let units: Vec<String> = plain.list("units").unwrap().into_iter().map(|unit| unit.name).collect();
    assert!(
        units.len() >= 4 && units.iter().all(|unit| !unit.ends_with("0000") && !unit.ends_with("0001")),
        "{units:?}"
    );
}

fn play(config: &MatchConfig) -> MatchReport {
    play_match(&rules("savard"), config, &mut opened, &mut |_| ControlFlow::Continue(())).expect("a match")
}

#[test]
fn a_match_by_workers_is_that_of_one_machine_and_ends_at_the_same_pair() {
    let sprt = latrunculi_stats::Sprt {
        elo0: 0.0,
        elo1: 100.0,
        bounds: latrunculi_stats::SprtBounds::new(0.05, 0.05).unwrap(),
    };
    let tests = [
        MatchConfig { seed: 3, ..MatchConfig::new([spec("random"), spec("mcts:sims=2")], 13) },
        MatchConfig { sprt: Some(sprt), ..MatchConfig::new([spec("alphabeta:nodes=30"), spec("random")], 60) },
        // A network, which all compute alike.
        MatchConfig::new([spec("net:any,sims=3"), spec("greedy")], 4),
    ];
    for config in tests {
        let whole = play(&config);
        let inner = Arc::new(InMemory::new());
        let shared =
            with_workers(&inner, 2, |store| play(&MatchConfig { players: by_workers(store), ..config.clone() }));
        assert_eq!(serde_json::to_string(&shared).unwrap(), serde_json::to_string(&whole).unwrap());
    }
}

/// A game that is legal and has ended, but was not played by its agents: the first legal action is always taken.
fn forged(rules: &Arc<Rules>, record: &GameRecord) -> GameRecord {
    let mut state = GameState::new(Arc::clone(rules));
    let mut forged = GameRecord::new(&state, record.agents.clone(), record.seed);
    for text in &record.actions[..record.opening] {
        let action = state.parse_action(text).unwrap();
        forged.play(&mut state, action, None, None);
    }
    forged.opening = record.opening;
    let mut legal = Vec::new();
    while state.outcome().is_none() {
        state.legal_actions(&mut legal);
        forged.play(&mut state, legal[0], None, None);
    }
    forged
}

#[test]
fn a_poisoned_unit_is_moved_aside_with_its_reason_and_played_again() {
    let of_seed =
        |seed| MatchConfig { seed, keep_records: true, ..MatchConfig::new([spec("random"), spec("random:seed=1")], 5) };
    // In one match of ten, one of the ten games is among those that the leader plays again.
    let found = (0..1000).map(of_seed).find(|config| {
        play(config).records.iter().any(|game| game.record.as_deref().is_some_and(|record| is_replayed(record.seed)))
    });
    let config = found.expect("a match");
    let whole = play(&config);
    let rules = rules("savard");
    // What a good unit is.
    let inner = Arc::new(InMemory::new());
    let lead = |store| play(&MatchConfig { players: by_workers(store), ..config.clone() });
    with_workers(&inner, 1, lead);
    let plain = plain(&inner);
    let units = plain.list("units").unwrap();
    assert_eq!(units.len(), 1, "{units:?}");
    let good = String::from_utf8(plain.read(&units[0].name, 1 << 20).unwrap().unwrap()).unwrap();
    let lines: Vec<&str> = good.lines().collect();
    assert_eq!(lines.len(), 11);
    let replayed =
        lines.iter().position(|line| GameRecord::from_line(line).is_ok_and(|record| is_replayed(record.seed)));
    let replayed = lines[replayed.expect("a game that is played again")];
    let other = {
        let record = GameRecord::from_line(replayed).unwrap();
        let mut line: serde_json::Value = serde_json::from_str(replayed).unwrap();
        for (key, value) in serde_json::to_value(forged(&rules, &record)).unwrap().as_object().unwrap() {
            line[key] = value.clone();
        }
        good.replace(replayed, &line.to_string())
    };
    let version = format!("\"program\":\"{}\"", env!("CARGO_PKG_VERSION"));
    let action = |record: &str| GameRecord::from_line(record).unwrap().actions.pop().unwrap();
    let poisons: [(&str, String); 12] = [
        ("no first line", "garbage".to_owned()),
        ("not that of a unit", "{}\n".to_owned()),
        ("the program that played it is 0.0.1", good.replace(&version, "\"program\":\"0.0.1\"")),
        ("version of its searches", good.replacen("\"search_version\":", "\"search_version\":9", 1)),
        ("its series", good.replacen("seed=", "seed=9", 1)),
        ("its range of games", good.replacen("\"games\":[0,", "\"games\":[10,", 1)),
        ("it is cut off", good[..good.len() - 30].to_owned()),
        ("there twice", format!("{good}{}\n", lines[10])),
        ("is missing", lines[..10].join("\n") + "\n"),
        ("outside the unit", good.replace("\"pair\":4", "\"pair\":5")),
        ("game", good.replacen(&format!(",\"{}\"]", action(lines[1])), "]", 1)),
        ("played again here it goes another way", other),
    ];
    for (reason, poison) in poisons {
        assert_ne!(poison, good, "{reason}");
        let inner = Arc::new(InMemory::new());
        let plain = self::plain(&inner);
        plain.create(&units[0].name, poison.as_bytes()).unwrap();
        let report = with_workers(&inner, 1, lead);
        assert_eq!(serde_json::to_string(&report).unwrap(), serde_json::to_string(&whole).unwrap(), "{reason}");
        let kept = plain.list("rejected").unwrap();
        assert_eq!(kept.len(), 2, "{reason}: {kept:?}");
        assert_eq!(plain.read(&kept[0].name, 1 << 20).unwrap().unwrap(), poison.as_bytes());
        let told = String::from_utf8(plain.read(&kept[1].name, 1 << 20).unwrap().unwrap()).unwrap();
        assert!(told.contains(reason), "{reason}: {told}");
        let again = plain.read(&units[0].name, 1 << 20).unwrap().unwrap();
        assert_eq!(String::from_utf8(again).unwrap().lines().skip(1).collect::<Vec<_>>(), lines[1..], "{reason}");
    }
}

#[test]
fn a_network_that_is_missing_keeps_no_worker_from_other_series_and_may_come_later() {
    let inner = Arc::new(InMemory::new());
    let (plain, stop) = (plain(&inner), StopFlag::default());
    let with_network = MatchConfig::new([spec("net:any,sims=3"), spec("greedy")], 2);
    let without = MatchConfig::new([spec("random"), spec("greedy")], 2);
    let is_stopped = || if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let lead = |config| {
        let config = MatchConfig { players: by_workers(store(&inner, &stop)), ..config };
        play_match(&rules("savard"), &config, &mut opened, &mut |_| is_stopped()).expect("a match")
    };
    thread::scope(|scope| {
        let leaders = [scope.spawn(|| lead(with_network)), scope.spawn(|| lead(without))];
        while plain.list("games").unwrap().iter().filter(|object| object.name.contains("wanted")).count() < 2 {
            thread::sleep(Duration::from_millis(10));
        }
        let network = plain.list("models").unwrap().remove(0).name;
        plain.remove(&network).unwrap();
        let (mut work, mut faults) = (GamesWork::default(), Vec::new());
        let (worker, _cache) = worker(&plain);
        let (ends, end) = as_worker(&worker, "identity", (&AtomicBool::new(false), &|_| {}), |games| {
            let mut play = || work.play(games, &mut faults).map(|_| ());
            // Whichever series comes first.
            let ends = [play(), play()];
            _ = plain.create(&network, b"a network");
            (ends, play())
        });
        let units = plain.list("units").unwrap().len();
        stop.store(units < 2, Ordering::Relaxed);
        let reports = leaders.map(|leader| leader.join().unwrap());
        assert!(ends.iter().all(Result::is_ok) && end.is_ok() && units == 2, "{ends:?} {end:?}");
        assert!(reports.iter().all(|report| !report.is_interrupted));
        assert!(!faults.is_empty() && faults.iter().all(|fault| fault.contains("is not there")), "{faults:?}");
    });
}

#[test]
fn who_would_play_other_games_plays_none_and_says_why() {
    let inner = Arc::new(InMemory::new());
    let stop = StopFlag::default();
    let config = MatchConfig::new([spec("net:any,sims=3"), spec("greedy")], 2);
    // The leader's network has another identity than the one that the worker has.
    thread::scope(|scope| {
        let leader = scope.spawn(|| {
            let config = MatchConfig { players: by_workers(store(&inner, &stop)), ..config };
            let is_stopped =
                || if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
            play_match(&rules("savard"), &config, &mut opened, &mut |_| is_stopped()).expect("a match")
        });
        let plain = plain(&inner);
        while !plain.list("games").unwrap().iter().any(|object| object.name.contains("wanted")) {
            thread::sleep(Duration::from_millis(10));
        }
        let mut faults = Vec::new();
        let (worker, _cache) = worker(&plain);
        let played = as_worker(&worker, "another", (&AtomicBool::new(false), &|_| {}), |games| {
            GamesWork::default().play(games, &mut faults)
        });
        assert!(!played.unwrap() && faults.len() == 1 && faults[0].contains("would be others"), "{faults:?}");
        stop.store(true, Ordering::Relaxed);
        assert!(leader.join().unwrap().is_interrupted);
    });
}

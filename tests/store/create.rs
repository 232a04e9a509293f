//! What is written under a name is written once, whatever the store answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use latrunculi_store::faults::{Faults, FaultyStore};
use latrunculi_store::{Created, Patience, StopFlag, Store, StoreError, sha256};
use object_store::memory::InMemory;
use object_store::path::Path;

use crate::{faulty, of};

/// The faults of a bad day.
const BAD: Faults =
    Faults { conflict: 100, precondition: 100, lost_reply: 150, lost_request: 150, hang: 20, repeated: 300 };

#[test]
fn of_many_writers_through_bad_links_each_name_has_one_winner_and_keeps_its_bytes() {
    let inner = Arc::new(InMemory::new());
    let (names, racers) = (20, 4);
    let won: Vec<Vec<usize>> = thread::scope(|scope| {
        let racers: Vec<_> = (0..racers)
            .map(|racer| {
                let inner = &inner;
                scope.spawn(move || {
                    let store = faulty(inner, BAD, racer);
                    let name = |number: &usize| format!("units/{number}");
                    let text = |number: &usize| format!("unit {number} by {racer}");
                    let won: Vec<usize> = (0..names)
                        .filter(|number| store.create(&name(number), text(number).as_bytes()).unwrap() == Created::Mine)
                        .collect();
                    for number in &won {
                        let there = store.read(&name(number), 100).unwrap().unwrap();
                        assert_eq!(there, text(number).as_bytes(), "the winner's bytes stay");
                    }
                    won
                })
            })
            .collect();
        racers.into_iter().map(|racer| racer.join().unwrap()).collect()
    });
    let mut all: Vec<usize> = won.concat();
    all.sort_unstable();
    assert_eq!(all, (0..names).collect::<Vec<_>>(), "one winner each");
    let store = of(inner);
    assert_eq!(store.list("units").unwrap().len(), names);
}

#[test]
fn a_lost_reply_is_no_defeat_and_a_conflict_that_left_nothing_is_tried_again() {
    let inner = Arc::new(InMemory::new());
    let always = |faults: Faults, seed| faulty(&inner, faults, seed);
    let lost = always(Faults { lost_reply: 1000, ..Faults::default() }, 1);
    assert_eq!(lost.create("a", b"mine").unwrap(), Created::Mine);
    assert_eq!(lost.create("a", b"other").unwrap(), Created::Theirs);
    // Half of the writes are answered with a conflict though there is nothing.
    let conflicts = always(Faults { conflict: 500, ..Faults::default() }, 2);
    for number in 0..8 {
        assert_eq!(conflicts.create(&format!("b{number}"), b"mine").unwrap(), Created::Mine);
    }
}

#[test]
fn what_comes_late_or_twice_changes_nothing() {
    let inner = Arc::new(InMemory::new());
    let faults = Faults { repeated: 1000, ..Faults::default() };
    let store = faulty(&inner, faults, 3);
    for number in 0..10 {
        assert_eq!(store.create(&format!("units/{number}"), b"first").unwrap(), Created::Mine);
    }
    assert_eq!(store.list("units").unwrap().len(), 10);
}

#[test]
fn a_link_that_is_down_for_a_while_ends_nothing_and_one_that_stays_down_is_told() {
    let inner = Arc::new(FaultyStore::new(Arc::new(InMemory::new()), Faults::default(), 0));
    let link = inner.link_is_down();
    let store = of(inner.clone());
    link.store(true, Ordering::Relaxed);
    thread::scope(|scope| {
        scope.spawn(|| {
            while inner.injected() < 3 {
                thread::sleep(Duration::from_millis(5));
            }
            link.store(false, Ordering::Relaxed);
        });
        assert_eq!(store.create("a", b"bytes").unwrap(), Created::Mine);
    });
    link.store(true, Ordering::Relaxed);
    let store = store.with_patience(Patience { total: Duration::from_millis(400), ..Patience::FIRST });
    let error = store.read("a", 10).unwrap_err();
    assert!(
        matches!(&error, StoreError::Unreachable(told) if told.contains("run the same command again") && !told.contains(" 1 times")),
        "{error}"
    );
}

#[test]
fn the_stop_flag_ends_a_request_that_hangs_and_a_wait() {
    let stop: StopFlag = Arc::new(AtomicBool::new(false));
    let faults = Faults { hang: 1000, ..Faults::default() };
    let inner = FaultyStore::new(Arc::new(InMemory::new()), faults, 0);
    let store = Store::of(Arc::new(inner), Path::default(), "memory", Arc::clone(&stop)).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(50));
            stop.store(true, Ordering::Relaxed);
        });
        let begun = Instant::now();
        assert!(matches!(store.create("a", b"bytes"), Err(StoreError::Stopped)));
        assert!(matches!(store.sleep(Duration::from_secs(3600)), Err(StoreError::Stopped)));
        assert!(begun.elapsed() < Duration::from_secs(60));
    });
}

#[test]
fn what_is_too_large_or_damaged_is_not_read() {
    let store = of(Arc::new(InMemory::new()));
    store.create("large", &[0; 100]).unwrap();
    let error = store.read("large", 99).unwrap_err();
    assert!(matches!(error, StoreError::TooLarge { bytes: 100, bytes_max: 99, .. }), "{error}");
    assert_eq!(store.read("large", 100).unwrap().unwrap().len(), 100);
    assert_eq!(store.read_beginning("large", 10).unwrap().unwrap().len(), 10);
    assert_eq!(store.read("nothing", 10).unwrap(), None);
    store.create("empty", b"").unwrap();
    assert_eq!(store.read_beginning("empty", 10).unwrap().unwrap(), b"");
    let name = |bytes: &[u8]| format!("models/{}.safetensors", sha256(bytes));
    store.create(&name(b"good"), b"good").unwrap();
    store.create(&name(b"bad"), b"other").unwrap();
    assert_eq!(store.read_verified(&name(b"good"), 10).unwrap().unwrap(), b"good");
    assert!(matches!(store.read_verified(&name(b"bad"), 10), Err(StoreError::Damaged(_))));
}

#[test]
fn what_is_moved_aside_is_kept_with_its_reason_and_makes_room() {
    let store = of(Arc::new(InMemory::new()));
    let refuse = |reason: &str| store.read_unit("units/1", 100, |_| Err::<(), String>(reason.to_owned())).unwrap();
    store.create("units/1", b"poison").unwrap();
    assert_eq!(refuse("it is no unit"), Some(Err("it is no unit".to_owned())));
    assert_eq!(refuse("it is gone"), None);
    let kept = store.list("rejected/units").unwrap();
    assert_eq!(kept.len(), 2, "{kept:?}");
    let reason = store.read(&kept[1].name, 1000).unwrap().unwrap();
    assert!(String::from_utf8(reason).unwrap().contains("it is no unit"));
    // Whoever read the poison before, and is late, does not take the good one away.
    store.create("units/1", b"poison").unwrap();
    let late = store.read_unit("units/1", 100, |_| {
        store.remove("units/1").unwrap();
        assert_eq!(store.create("units/1", b"good and longer").unwrap(), Created::Mine);
        Err::<(), String>("it is no unit".to_owned())
    });
    assert!(late.unwrap().is_some_and(|checked| checked.is_err()));
    let good = store.read_unit("units/1", 100, |content| Ok(content.to_vec())).unwrap();
    assert_eq!(good, Some(Ok(b"good and longer".to_vec())));
}

#[test]
fn what_is_too_large_is_moved_aside_by_its_size_and_what_cannot_be_read_stays() {
    let inner = Arc::new(FaultyStore::new(Arc::new(InMemory::new()), Faults::default(), 0));
    let link = inner.link_is_down();
    let store = of(inner).with_patience(Patience { total: Duration::from_millis(200), ..Patience::FIRST });
    store.create("units/1", &[0; 100]).unwrap();
    let read = |bytes_max| store.read_unit("units/1", bytes_max, |content| Ok(content.len()));
    assert!(!store.reject("nothing", 99, "it is foreign").unwrap());
    assert_eq!(read(100).unwrap(), Some(Ok(100)));
    link.store(true, Ordering::Relaxed);
    assert!(matches!(read(99), Err(StoreError::Unreachable(_))));
    link.store(false, Ordering::Relaxed);
    assert_eq!(read(99).unwrap(), Some(Err("it has 100 bytes".to_owned())));
    assert!(store.list("units").unwrap().is_empty());
    let kept = store.list("rejected").unwrap();
    assert_eq!(kept.len(), 1, "{kept:?}");
    let reason = String::from_utf8(store.read(&kept[0].name, 1000).unwrap().unwrap()).unwrap();
    assert!(reason.contains("\"bytes\":100"), "{reason}");
}

//! What a store is asked before anything is begun.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use latrunculi_store::faults::{Faults, FaultyStore};
use latrunculi_store::{Created, Patience, StopFlag, Store, StoreError};
use object_store::memory::InMemory;

use crate::{faulty, of};

#[test]
fn a_folder_and_a_bad_link_to_a_good_store_pass_and_leave_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let url = folder.path().to_str().unwrap();
    for url in [url.to_owned(), format!("file://{url}")] {
        Store::lead(&url, StopFlag::default()).unwrap();
    }
    let store = Store::join(url, StopFlag::default()).unwrap();
    assert!(store.list("").unwrap().is_empty());
    assert_eq!(store.create("a/b/c", b"there").unwrap(), Created::Mine);
    assert_eq!(fs::read(folder.path().join("a/b/c")).unwrap(), b"there");
    let inner = Arc::new(InMemory::new());
    let faults = Faults { conflict: 50, precondition: 50, lost_reply: 100, lost_request: 100, ..Faults::default() };
    for seed in 0..5 {
        let proof = faulty(&inner, faults, seed).prove().unwrap();
        assert!(proof.faults().is_empty() && proof.checks.len() == 5, "{proof:?}");
    }
}

#[test]
fn a_store_that_lets_a_second_writer_replace_what_is_there_is_refused() {
    let store = of(Arc::new(FaultyStore::overwriting(Arc::new(InMemory::new()))));
    let error = store.demand_proof().unwrap_err();
    let told = error.to_string();
    assert!(told.lines().count() == 2 && told.contains("refusing a second write"), "{told}");
}

#[test]
fn what_fails_first_is_told_and_not_what_the_clean_up_fails_at() {
    let inner = Arc::new(FaultyStore::new(Arc::new(InMemory::new()), Faults::default(), 0));
    inner.link_is_down().store(true, Ordering::Relaxed);
    let patience = Patience { total: Duration::from_millis(200), ..Patience::FIRST };
    let error = of(inner).with_patience(patience).prove().unwrap_err();
    assert!(matches!(&error, StoreError::Unreachable(told) if told.contains("writing")), "{error}");
}

#[test]
fn a_folder_that_cannot_be_written_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, b"text").unwrap();
    for url in [file.join("inside"), file] {
        let error = Store::lead(url.to_str().unwrap(), StopFlag::default()).unwrap_err().to_string();
        assert!(error.contains("mend --store"), "{error}");
    }
}

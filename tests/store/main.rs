//! Stores: folders, and stores that fail.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod create;
mod proof;

use std::sync::Arc;
use std::time::Duration;

use latrunculi_store::faults::{Faults, FaultyStore};
use latrunculi_store::{Patience, StopFlag, Store};
use object_store::ObjectStore;
use object_store::memory::InMemory;
use object_store::path::Path;

/// Waits that are short enough for tests.
const PATIENCE: Patience = Patience { request: Duration::from_millis(200), total: Duration::from_secs(20) };

/// Makes a store in memory, seen through a link that fails.
fn faulty(inner: &Arc<InMemory>, faults: Faults, seed: u64) -> Store {
    of(Arc::new(FaultyStore::new(Arc::clone(inner) as Arc<dyn ObjectStore>, faults, seed)))
}

fn of(inner: Arc<dyn ObjectStore>) -> Store {
    Store::of(inner, Path::from("run"), "memory", StopFlag::default()).unwrap().with_patience(PATIENCE)
}

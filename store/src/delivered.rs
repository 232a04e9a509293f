//! The units that a worker has written, so that it does not play again what was moved aside.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::aside::{Reason, place_aside};
use crate::errors::StoreError;
use crate::store::{Store, sha256};

/// The newest units that a worker remembers.
const REMEMBERED: usize = 10_000;
/// A worker of which so many units were moved aside ends.
const ASIDE_MAX: usize = 3;
/// No reason is longer.
const REASON_BYTES_MAX: u64 = 1 << 16;

/// What a worker has written since it began. A unit of it that was moved aside is left to other workers: this one would
/// most likely make it as it was.
#[derive(Debug, Default)]
pub struct Delivered {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// The units that were not seen missing since: their names and hashes, the newest last.
    written: VecDeque<(String, String)>,
    /// Those that were moved aside, and the names of those that were left since it was last told.
    aside: Vec<Reason>,
    left: BTreeSet<String>,
}

impl Delivered {
    /// Remembers a unit that this worker has written.
    pub fn remember(&self, name: &str, content: &[u8]) {
        let mut known = self.lock();
        if known.written.len() >= REMEMBERED {
            known.written.pop_front();
        }
        known.written.push_back((name.to_owned(), sha256(content)));
    }

    /// Returns whether a unit that is missing is left to others, because it was moved aside when this worker had written it.
    ///
    /// # Errors
    /// [`StoreError::Distrusted`] when that has happened for the third time; other [`StoreError`]s of the store.
    pub fn leaves(&self, store: &Store, name: &str) -> Result<bool, StoreError> {
        let hash = {
            let mut known = self.lock();
            if known.aside.iter().any(|reason| reason.name == name) {
                known.left.insert(name.to_owned());
                return Ok(true);
            }
            known.written.iter().find(|(written, _)| written == name).map(|(_, hash)| hash.clone())
        };
        let Some(hash) = hash else { return Ok(false) };
        let reason = store.read_content(&format!("{}.reason.json", place_aside(name, &hash)), REASON_BYTES_MAX)?;
        let mut known = self.lock();
        known.written.retain(|(written, _)| written != name);
        // A unit that was removed and not moved aside may be played again.
        let Some(Ok(text)) = reason else { return Ok(false) };
        let reason = serde_json::from_slice::<Reason>(&text).map_or_else(|error| error.to_string(), |read| read.reason);
        if known.aside.iter().all(|reason| reason.name != name) {
            known.aside.push(Reason { name: name.to_owned(), reason: reason.clone(), bytes: 0 });
        }
        known.left.insert(name.to_owned());
        match known.aside.len() >= ASIDE_MAX {
            true => Err(StoreError::Distrusted { units: known.aside.len(), name: name.to_owned(), reason }),
            false => Ok(true),
        }
    }

    /// Returns, in a sentence each, the units that were left to others since this was last asked.
    #[must_use]
    pub fn take_left(&self) -> Vec<String> {
        let told = |Reason { name, reason, .. }: &Reason| {
            format!("{name} is left to other workers: as this one had written it, it was moved to rejected/: {reason}")
        };
        let mut known = self.lock();
        let left = std::mem::take(&mut known.left);
        known.aside.iter().filter(|reason| left.contains(&reason.name)).map(told).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use super::*;

    #[test]
    fn what_was_moved_aside_is_left_to_others_and_the_third_ends_the_worker() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&folder.path().display().to_string(), true, Arc::new(AtomicBool::new(false))).unwrap();
        let delivered = Delivered::default();
        let write = |name: &str| {
            store.create(name, name.as_bytes()).unwrap();
            delivered.remember(name, name.as_bytes());
        };
        let set_aside =
            |name: &str, reason: &str| store.set_aside(name, &Ok(name.as_bytes().to_vec()), reason).unwrap();

        assert!(!delivered.leaves(&store, "units/other/1").unwrap());
        write("units/run/1");
        store.remove("units/run/1").unwrap();
        assert!(!delivered.leaves(&store, "units/run/1").unwrap(), "it was only removed");
        for (number, is_last) in [(2, false), (3, false), (4, true)] {
            let name = format!("units/run/{number}");
            write(&name);
            set_aside(&name, "its games are illegal");
            let left = delivered.leaves(&store, &name);
            if is_last {
                let error = left.unwrap_err().to_string();
                assert!(error.contains("units/run/4") && error.contains("its games are illegal"), "{error}");
            } else {
                assert!(left.unwrap());
                assert!(delivered.leaves(&store, &name).unwrap(), "asked again");
            }
        }
        assert_eq!(delivered.take_left().len(), 3);
        assert!(delivered.take_left().is_empty(), "nothing was left since");
        assert!(delivered.leaves(&store, "units/run/2").unwrap());
        assert!(delivered.take_left()[0].contains("units/run/2"));
    }
}

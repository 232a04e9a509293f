//! Whether a store does what the program needs of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::errors::StoreError;
use crate::store::{Created, Store};

const FOLDER: &str = "proof";
const FIRST: &str = "first";
const RACE: &str = "race";
const RACERS: usize = 8;
const BYTES_MAX: u64 = 64;

/// One thing that the program needs of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What.
    pub need: &'static str,
    /// What is wrong, with the way out; `None` where the store does it.
    pub fault: Option<String>,
}

/// What was found of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proof {
    /// The needs, in the order in which they were tried; the first that fails is the last.
    pub checks: Vec<Check>,
}

impl Proof {
    /// Returns what is wrong, a line each.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        let fault = |check: &Check| check.fault.as_ref().map(|fault| format!("{}: {fault}", check.need));
        self.checks.iter().filter_map(fault).collect()
    }
}

impl Store {
    /// Tries, under names of its own that it removes again, whether the store refuses a second write, shows at once what was
    /// written, lists it, and lets one of several writers win.
    /// Fails with [`StoreError`] where the store cannot be used at all.
    pub fn prove(&self) -> Result<Proof, StoreError> {
        let id = format!("{:016x}", crate::worker::unique());
        let names = [FIRST, RACE].map(|name| format!("{FOLDER}/{id}-{name}"));
        let found = self.prove_with(&names);
        if matches!(found, Err(StoreError::Unreachable(_) | StoreError::Stopped)) {
            // It would not be reached either.
            return found;
        }
        // One that stays keeps none of the others, and who may not list may remove.
        let removed = names.map(|name| self.remove(&name));
        let proof = found?;
        removed.into_iter().collect::<Result<(), StoreError>>()?;
        Ok(proof)
    }

    fn prove_with(&self, [first, race]: &[String; 2]) -> Result<Proof, StoreError> {
        let mut proof = Proof { checks: Vec::new() };
        let mut check = |need, holds: bool, fault: &str| {
            proof.checks.push(Check { need, fault: (!holds).then(|| fault.to_owned()) });
            holds
        };
        let created = self.create(first, b"first")?;
        if !check("writing", created == Created::Mine, "a name that nothing has is taken for one that something has") {
            return Ok(proof);
        }
        let there = self.read(first, BYTES_MAX)?;
        let is_there = there.as_deref() == Some(b"first");
        if !check("reading what was written", is_there, "what was just written is not there; this store shows it later")
        {
            return Ok(proof);
        }
        let second = self.create(first, b"second")?;
        let is_kept = self.read(first, BYTES_MAX)?.as_deref() == Some(b"first");
        let is_refused = second == Created::Theirs && is_kept;
        if !check(
            "refusing a second write",
            is_refused,
            "a second writer replaces what is there (the store ignores If-None-Match, or its disk has no hard links); use a \
             folder on another disk, S3, Google Cloud or Azure",
        ) {
            return Ok(proof);
        }
        let listed = self.list(FOLDER)?;
        let is_listed = listed.iter().any(|object| object.name == *first && object.bytes == 5);
        if !check(
            "listing what was written",
            is_listed,
            "what was just written is not in the list; this store shows it later",
        ) {
            return Ok(proof);
        }
        let won = AtomicUsize::new(0);
        thread::scope(|scope| -> Result<(), StoreError> {
            let racers: Vec<_> = (0..RACERS)
                .map(|racer| {
                    let won = &won;
                    scope.spawn(move || -> Result<(), StoreError> {
                        if self.create(race, format!("racer {racer}").as_bytes())? == Created::Mine {
                            won.fetch_add(1, Ordering::Relaxed);
                        }
                        Ok(())
                    })
                })
                .collect();
            racers
                .into_iter()
                .try_for_each(|racer| racer.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        })?;
        let won = won.into_inner();
        check(
            "letting one of several writers win",
            won == 1,
            "two writers of one name were both told that theirs is there; use another store",
        );
        Ok(proof)
    }

    /// Refuses a store that does not do what the program needs.
    /// Fails with [`StoreError::Unusable`] with what it fails at, and what [`Store::prove`] gives.
    pub fn demand_proof(&self) -> Result<(), StoreError> {
        let faults = self.prove()?.faults();
        match faults.is_empty() {
            true => Ok(()),
            false => Err(StoreError::Unusable(format!("{self} cannot be used:\n  {}", faults.join("\n  ")))),
        }
    }

    /// Opens the store at `url` for a program that leads others: it is made if needed, and proved.
    pub fn lead(url: &str, stop: crate::StopFlag) -> Result<Arc<Store>, StoreError> {
        let mut store = Store::open(url, true, stop)?.with_patience(crate::Patience::FIRST);
        store.demand_proof()?;
        store.set_patience(crate::Patience::WORK);
        Ok(Arc::new(store))
    }

    /// Opens the store at `url` for a program that works for others, and looks whether it answers.
    pub fn join(url: &str, stop: crate::StopFlag) -> Result<Arc<Store>, StoreError> {
        let mut store = Store::open(url, false, stop)?.with_patience(crate::Patience::FIRST);
        store.list(FOLDER)?;
        store.set_patience(crate::Patience::WORK);
        Ok(Arc::new(store))
    }
}

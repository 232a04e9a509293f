//! The part of a worker, whatever it plays: what it takes of what is missing, what it has written, and the networks that it
//! keeps.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::OsStr;
use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use crate::errors::StoreError;
use crate::store::{Created, Store, sha256};
use crate::unit::{Reason, UnitHeader, Version, place_aside};

const REMEMBERED: usize = 10_000;
/// A worker of which so many units were moved aside ends.
const ASIDE_MAX: usize = 3;
const REASON_BYTES_MAX: u64 = 1 << 16;
/// The folder of networks, each named after its SHA-256.
const MODELS: &str = "models";
/// The networks that a worker keeps, those that it used last.
const MODELS_KEPT: usize = 16;
/// A file that was begun so long ago belongs to a worker that was killed.
const UNFINISHED: Duration = Duration::from_secs(86_400);
const MODEL_BYTES_MAX: u64 = 1 << 30;

/// Who plays, and what it has done since it began.
#[derive(Debug)]
pub struct Worker {
    /// The store that it shares with who leads.
    pub store: Arc<Store>,
    /// Which units it takes first.
    pub order: WorkOrder,
    /// The name of the machine.
    pub host: String,
    /// A folder for networks.
    pub cache: PathBuf,
    known: Mutex<Known>,
}

/// What a worker has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkDone {
    /// Units that count.
    pub units: u64,
    /// Units played in vain, because another worker had written them before.
    pub duplicates: u64,
    /// Games played.
    pub games: u64,
}

/// A unit as who has played it describes it.
#[derive(Debug)]
pub struct PlayedUnit<'a> {
    /// Its name in the store.
    pub name: &'a str,
    /// What the games are part of.
    pub series: &'a str,
    /// The first game, and the one after the last.
    pub games: [u64; 2],
    /// What computed the network; empty where none took part.
    pub kernel: &'a str,
    /// When it was begun.
    pub begun: Instant,
    /// Units that the worker plays at once.
    pub at_once: u64,
}

#[derive(Debug, Default)]
struct Known {
    done: WorkDone,
    /// The units that were not seen missing since: their names and hashes, the newest last.
    written: VecDeque<(String, String)>,
    /// Those that were moved aside, and the names of those that were withheld since it was last told.
    aside: Vec<Reason>,
    withheld: BTreeSet<String>,
}

impl Worker {
    /// Makes a worker that has done nothing yet.
    #[must_use]
    pub fn new(store: Arc<Store>, order: WorkOrder, host: String, cache: PathBuf) -> Worker {
        Worker { store, order, host, cache, known: Mutex::default() }
    }

    /// Returns what it has done.
    #[must_use]
    pub fn done(&self) -> WorkDone {
        self.lock().done
    }

    /// Counts games that have ended.
    pub fn add_games(&self, games: u64) {
        self.lock().done.games += games;
    }

    /// Takes the first unit in `order` of those that are missing, by their numbers; `name` gives their names in the store. One
    /// that was moved aside when this worker had written it is left to others: this one would most likely make it as it was.
    /// Fails with [`StoreError::Unusable`] when that has happened for the third time; other [`StoreError`]s of the store.
    pub fn take(
        &self,
        order: &WorkOrder,
        mut missing: Vec<u64>,
        name: impl Fn(u64) -> String,
    ) -> Result<Option<u64>, StoreError> {
        while let Some(unit) = order.first(missing.iter().copied()) {
            if !self.is_withheld(&name(unit))? {
                return Ok(Some(unit));
            }
            missing.retain(|other| *other != unit);
        }
        Ok(None)
    }

    /// Writes a unit, a line about it and its games, and counts it.
    pub fn write(&self, version: Version, unit: &PlayedUnit<'_>, games: &[u8]) -> Result<(), StoreError> {
        let header = UnitHeader {
            program: version.program.to_owned(),
            search_version: version.searches,
            series: unit.series.to_owned(),
            games: unit.games,
            worker: self.order.name(),
            host: self.host.clone(),
            kernel: unit.kernel.to_owned(),
            secs: unit.begun.elapsed().as_secs_f64(),
            duplicates: self.done().duplicates,
            at_once: unit.at_once,
        };
        let bytes = [&header.to_line(), games].concat();
        let created = self.store.create(unit.name, &bytes)?;
        let mut known = self.lock();
        match created {
            Created::Mine => {
                known.done.units += 1;
                if known.written.len() >= REMEMBERED {
                    known.written.pop_front();
                }
                known.written.push_back((unit.name.to_owned(), sha256(&bytes)));
            }
            Created::Theirs => known.done.duplicates += 1,
        }
        Ok(())
    }

    /// Returns whether a unit that is missing is left to others.
    fn is_withheld(&self, name: &str) -> Result<bool, StoreError> {
        let hash = {
            let mut known = self.lock();
            if known.aside.iter().any(|reason| reason.name == name) {
                known.withheld.insert(name.to_owned());
                return Ok(true);
            }
            known.written.iter().find(|(written, _)| written == name).map(|(_, hash)| hash.clone())
        };
        let Some(hash) = hash else { return Ok(false) };
        let reason = self.store.read_content(&format!("{}.reason.json", place_aside(name, &hash)), REASON_BYTES_MAX)?;
        let mut known = self.lock();
        known.written.retain(|(written, _)| written != name);
        // A unit that was removed and not moved aside may be played again.
        let Some(Ok(text)) = reason else { return Ok(false) };
        let reason = serde_json::from_slice::<Reason>(&text).map_or_else(|error| error.to_string(), |read| read.reason);
        if known.aside.iter().all(|reason| reason.name != name) {
            known.aside.push(Reason { name: name.to_owned(), reason: reason.clone(), bytes: 0 });
        }
        known.withheld.insert(name.to_owned());
        let units = known.aside.len();
        match units >= ASIDE_MAX {
            true => Err(StoreError::Unusable(format!(
                "{units} units of this worker were moved to rejected/, the last was {name}: {reason}; its program or its machine \
                 is at fault, or those of who leads: build both from the same commit, then start it again"
            ))),
            false => Ok(true),
        }
    }

    /// Returns, in a sentence each, the units that were left to others since this was last asked.
    #[must_use]
    pub fn take_withheld(&self) -> Vec<String> {
        let told = |Reason { name, reason, .. }: &Reason| {
            format!("{name} is left to other workers: as this one had written it, it was moved to rejected/: {reason}")
        };
        let mut known = self.lock();
        let withheld = std::mem::take(&mut known.withheld);
        known.aside.iter().filter(|reason| withheld.contains(&reason.name)).map(told).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fetches a network into the folder, which several workers may share, unless it is there; returns its path. The inner error
    /// says, in words, what is wrong with this network; others may be there.
    pub fn fetch_model(&self, sha256: &str) -> Result<Result<PathBuf, String>, StoreError> {
        let path = self.cache.join(format!("{sha256}.safetensors"));
        if std::fs::read(&path).is_ok_and(|there| crate::sha256(&there) == sha256) {
            // Nothing is lost where this fails: a network that was removed too early is fetched again.
            _ = File::options().append(true).open(&path).and_then(|file| file.set_modified(SystemTime::now()));
            return Ok(Ok(path));
        }
        let name = model_name(sha256);
        let bytes = match self.store.read_verified(&name, MODEL_BYTES_MAX) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Ok(Err(format!("{name} is not there; who leads writes it when it is started again"))),
            Err(fault @ (StoreError::Damaged(_) | StoreError::TooLarge { .. })) => {
                return Ok(Err(fault.to_string()));
            }
            Err(error) => return Err(error),
        };
        let beside = path.with_extension(self.order.name());
        let write = || -> std::io::Result<()> {
            std::fs::create_dir_all(&self.cache)?;
            std::fs::write(&beside, &bytes)?;
            std::fs::rename(&beside, &path)
        };
        write().map_err(|error| {
            _ = std::fs::remove_file(&beside);
            StoreError::Unusable(format!("{}: {error}; --cache names another folder", path.display()))
        })?;
        remove_oldest(&self.cache);
        Ok(Ok(path))
    }
}

/// Which units a worker takes first. Workers that are told their place among all begin with units that no other begins with;
/// all go on with what is missing, each in another order, so that two rarely play the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkOrder {
    index: u64,
    of: u64,
    /// Differs from worker to worker.
    id: u64,
}

impl WorkOrder {
    /// Makes the order of worker `index` of `of`, which is at least 1.
    #[must_use]
    pub fn new(index: u64, of: u64) -> WorkOrder {
        WorkOrder { index, of: of.max(1), id: unique() }
    }

    /// Returns the order of the same worker at another place.
    #[must_use]
    pub fn with_place(self, index: u64, of: u64) -> WorkOrder {
        WorkOrder { index, of: of.max(1), ..self }
    }

    /// Returns whether the worker has a place among several.
    #[must_use]
    pub fn has_place(&self) -> bool {
        self.of > 1
    }

    /// Returns a name for the worker, which no other has.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{:016x}", self.id)
    }

    /// Returns what to take first of `units`, each a number; `None` where there is none.
    #[must_use]
    pub fn first(&self, units: impl IntoIterator<Item = u64>) -> Option<u64> {
        units.into_iter().min_by_key(|&unit| (unit % self.of != self.index, mixed(unit ^ self.id)))
    }
}

/// Returns a number that no other program, and no other call, has; the system's random numbers are in it.
pub(crate) fn unique() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// Source: Steele, Lea and Flood 2014 (SplitMix64).
pub(crate) fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Returns the name of the network with this SHA-256.
pub(crate) fn model_name(sha256: &str) -> String {
    format!("{MODELS}/{sha256}.safetensors")
}

/// Removes networks from a folder where there are more than are kept, and what killed workers have left of others; what cannot
/// be removed stays.
fn remove_oldest(folder: &Path) {
    let Ok(files) = std::fs::read_dir(folder) else { return };
    let is_hexadecimal = |part: Option<&OsStr>, digits: usize| {
        let part = part.and_then(OsStr::to_str).unwrap_or_default();
        part.len() == digits && part.bytes().all(|letter| letter.is_ascii_hexdigit())
    };
    // Others may have files in the folder.
    let is_own = |path: &Path| {
        let end = path.extension();
        is_hexadecimal(path.file_stem(), 64) && (end.is_some_and(|end| end == "safetensors") || is_hexadecimal(end, 16))
    };
    let own = files
        .filter_map(Result::ok)
        .filter(|file| is_own(&file.path()))
        .filter_map(|file| Some((file.metadata().ok()?.modified().ok()?, file.path())));
    let is_network = |(_, path): &(SystemTime, PathBuf)| path.extension().is_some_and(|end| end == "safetensors");
    let (mut networks, unfinished): (Vec<_>, Vec<_>) = own.partition(is_network);
    networks.sort();
    let old = unfinished.iter().filter(|(begun, _)| begun.elapsed().is_ok_and(|age| age > UNFINISHED));
    for (_, path) in networks.iter().rev().skip(MODELS_KEPT).chain(old) {
        _ = std::fs::remove_file(path);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    fn worker(folder: &Path) -> Worker {
        let url = folder.join("store").display().to_string();
        let store = Store::open(&url, true, Arc::new(AtomicBool::new(false))).unwrap();
        Worker::new(Arc::new(store), WorkOrder::new(0, 1), "here".to_owned(), folder.join("cache"))
    }

    #[test]
    fn who_knows_his_place_takes_his_own_units_first_and_then_all_others() {
        let order = WorkOrder::new(1, 3);
        let mut left: Vec<u64> = (0..12).collect();
        let mut taken = Vec::new();
        while let Some(unit) = order.first(left.iter().copied()) {
            left.retain(|other| *other != unit);
            taken.push(unit);
        }
        let mut own = taken[..4].to_vec();
        own.sort_unstable();
        assert_eq!(own, [1, 4, 7, 10]);
        assert_eq!(taken.len(), 12);
    }

    #[test]
    fn an_order_keeps_its_name_at_another_place() {
        let order = WorkOrder::new(0, 1);
        let placed = order.with_place(2, 5);
        assert!(placed.has_place() && !order.has_place());
        assert_eq!((placed.name(), placed.first(0..100).map(|unit| unit % 5)), (order.name(), Some(2)));
    }

    #[test]
    fn workers_without_a_place_seldom_take_the_same() {
        let firsts: std::collections::BTreeSet<u64> =
            (0..100).filter_map(|_| WorkOrder::new(0, 1).first(0..10_000)).collect();
        assert!(firsts.len() > 90, "{}", firsts.len());
    }

    #[test]
    fn a_worker_keeps_the_networks_that_it_used_last_and_nothing_else_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join("cache");
        let worker = worker(folder.path());
        let fetch = |number: usize| {
            let content = format!("network {number}");
            let name = worker.store.write_model(content.as_bytes()).unwrap();
            worker.fetch_model(&name).unwrap().unwrap()
        };
        let fetched_at = |number: usize| {
            let path = fetch(number);
            let then = SystemTime::UNIX_EPOCH + Duration::from_secs(number as u64);
            File::options().append(true).open(&path).unwrap().set_modified(then).unwrap();
            path
        };
        std::fs::create_dir_all(&cache).unwrap();
        let [killed, writing, foreign] = ["0123456789abcdef", "fedcba9876543210", "json"]
            .map(|name| cache.join(crate::sha256(b"killed")).with_extension(name));
        [&killed, &writing, &foreign].iter().for_each(|path| std::fs::write(path, "half").unwrap());
        for old in [&killed, &foreign] {
            File::options().append(true).open(old).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
        }
        let mut paths: Vec<PathBuf> = (0..MODELS_KEPT).map(fetched_at).collect();
        let [own, model] = ["notes.txt", "mine.safetensors"].map(|name| cache.join(name));
        [&own, &model].iter().for_each(|path| std::fs::write(path, "mine").unwrap());
        // The first is used again, so that the second is the oldest.
        fetch(0);
        paths.push(fetch(MODELS_KEPT));
        let is_there: Vec<bool> = paths.iter().map(|path| path.exists()).collect();
        assert_eq!(is_there.iter().filter(|&&there| !there).count(), 1, "{is_there:?}");
        assert!(is_there[0] && !is_there[1], "{is_there:?}");
        assert!(own.exists() && model.exists());
        assert!(writing.exists() && foreign.exists() && !killed.exists());
    }

    #[test]
    fn what_was_moved_aside_is_left_to_others_and_the_third_ends_the_worker() {
        let folder = tempfile::tempdir().unwrap();
        let worker = worker(folder.path());
        let write = |name: &str| {
            let unit = PlayedUnit { name, series: "run", games: [0, 1], kernel: "", begun: Instant::now(), at_once: 1 };
            worker.write(Version { program: "1", searches: 1 }, &unit, b"games").unwrap();
        };
        let is_withheld = |name: &str| worker.is_withheld(name);

        assert!(!is_withheld("units/other/1").unwrap());
        write("units/run/1");
        worker.store.remove("units/run/1").unwrap();
        assert!(!is_withheld("units/run/1").unwrap(), "it was only removed");
        for (number, is_last) in [(2, false), (3, false), (4, true)] {
            let name = format!("units/run/{number}");
            write(&name);
            assert!(worker.store.reject(&name, 1000, "its games are illegal").unwrap());
            let withheld = is_withheld(&name);
            if is_last {
                let error = withheld.unwrap_err().to_string();
                assert!(error.contains("units/run/4") && error.contains("its games are illegal"), "{error}");
            } else {
                assert!(withheld.unwrap());
                assert!(is_withheld(&name).unwrap(), "asked again");
            }
        }
        assert_eq!(worker.take_withheld().len(), 3);
        assert!(worker.take_withheld().is_empty(), "nothing was left since");
        assert!(is_withheld("units/run/2").unwrap());
        assert!(worker.take_withheld()[0].contains("units/run/2"));
        assert_eq!(worker.done(), WorkDone { units: 4, duplicates: 0, games: 0 });
        worker.store.create("units/run/5", b"another's").unwrap();
        write("units/run/5");
        assert_eq!(worker.done().duplicates, 1);
    }
}

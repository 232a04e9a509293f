//! Units of work: what a worker writes is one object, a line of JSON that says what it is, and its content.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::errors::StoreError;
use crate::store::Store;

/// The folder of networks, each named after its SHA-256.
pub const MODELS: &str = "models";
/// The folder of the units that workers write.
pub const UNITS: &str = "units";
/// The networks that a worker keeps, those that it used last.
const MODELS_KEPT: usize = 16;
/// No network is larger.
const MODEL_BYTES_MAX: u64 = 1 << 30;
/// For so long a unit may take before who leads says that none has come.
const SILENCE: Duration = Duration::from_secs(60);
/// No header is longer.
pub const HEADER_BYTES_MAX: usize = 4096;

/// Returns the name of the network with this SHA-256.
#[must_use]
pub fn model_name(sha256: &str) -> String {
    format!("{MODELS}/{sha256}.safetensors")
}

impl Store {
    /// Returns, once, what who leads tells the user where no worker has delivered a unit in the time that was `waited`;
    /// nothing more once `has_units` was true.
    #[must_use]
    pub fn notice_without_workers(&self, has_units: bool, waited: Duration) -> Option<String> {
        let is_told = (has_units || waited >= SILENCE) && !self.knows_of_workers.swap(true, Ordering::Relaxed);
        (is_told && !has_units).then(|| {
            format!(
                "no worker has delivered anything in {} s; unless some are at work, start them with: latrunculi worker --store \
                 {self}",
                SILENCE.as_secs()
            )
        })
    }

    /// Fetches a network into a folder, unless it is there; returns its path. `worker` is the name of who asks: several may
    /// share the folder. The inner error says, in words, what is wrong with this network; others may be there.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn fetch_model(
        &self,
        sha256: &str,
        folder: &Path,
        worker: &str,
    ) -> Result<Result<PathBuf, String>, StoreError> {
        let path = folder.join(format!("{sha256}.safetensors"));
        if std::fs::read(&path).is_ok_and(|there| crate::sha256(&there) == sha256) {
            // Nothing is lost where this fails: a network that was removed too early is fetched again.
            _ = File::options().append(true).open(&path).and_then(|file| file.set_modified(SystemTime::now()));
            return Ok(Ok(path));
        }
        let name = model_name(sha256);
        let bytes = match self.read_verified(&name, MODEL_BYTES_MAX) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Ok(Err(format!("{name} is not there; who leads writes it when it is started again"))),
            Err(fault @ (StoreError::Damaged { .. } | StoreError::TooLarge { .. })) => {
                return Ok(Err(fault.to_string()));
            }
            Err(error) => return Err(error),
        };
        let write = || -> std::io::Result<()> {
            std::fs::create_dir_all(folder)?;
            let beside = path.with_extension(worker);
            std::fs::write(&beside, &bytes)?;
            std::fs::rename(&beside, &path)
        };
        write().map_err(|source| StoreError::Cache { path: path.clone(), source })?;
        remove_oldest(folder);
        Ok(Ok(path))
    }
}

/// Removes networks from a folder where there are more than are kept; what cannot be removed stays.
fn remove_oldest(folder: &Path) {
    let Ok(files) = std::fs::read_dir(folder) else { return };
    let is_network = |path: &Path| {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        path.extension().is_some_and(|end| end == "safetensors")
            && stem.len() == 64
            && stem.bytes().all(|letter| letter.is_ascii_hexdigit())
    };
    let mut networks: Vec<(SystemTime, PathBuf)> = files
        .filter_map(Result::ok)
        .filter(|file| is_network(&file.path()))
        .filter_map(|file| Some((file.metadata().ok()?.modified().ok()?, file.path())))
        .collect();
    networks.sort();
    for (_, path) in networks.iter().rev().skip(MODELS_KEPT) {
        _ = std::fs::remove_file(path);
    }
}

/// What a unit says of itself in its first line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnitHeader {
    /// The version of the program that made it.
    pub program: String,
    /// The version of its searches.
    pub search_version: u32,
    /// What the games are part of: equal texts mean the same rules, players and settings.
    pub series: String,
    /// The first game, and the one after the last.
    pub games: [u64; 2],
    /// Who played: a name that no other worker has.
    pub worker: String,
    /// On which machine.
    pub host: String,
    /// What computed the network; empty where none took part.
    pub kernel: String,
    /// In how many seconds.
    pub secs: f64,
    /// Units that this worker has played in vain so far, because another had written them before.
    pub twice: u64,
    /// Units that it plays at once; 0 where an earlier version of the program did not say.
    #[serde(default)]
    pub at_once: u64,
}

impl UnitHeader {
    /// Returns the header as the first line of a unit.
    #[must_use]
    pub fn to_line(&self) -> Vec<u8> {
        let mut line = serde_json::to_vec(self).unwrap_or_default();
        line.push(b'\n');
        line
    }

    /// Reads the first line of a unit; returns the rest of it, too.
    ///
    /// # Errors
    /// In words, when it is none.
    pub fn read(unit: &[u8]) -> Result<(UnitHeader, &[u8]), String> {
        let end = unit.iter().take(HEADER_BYTES_MAX).position(|&byte| byte == b'\n');
        let Some(end) = end else { return Err("it has no first line that says what it is".to_owned()) };
        let header: UnitHeader = serde_json::from_slice(&unit[..end])
            .map_err(|error| format!("its first line is not that of a unit: {error}"))?;
        Ok((header, &unit[end + 1..]))
    }

    /// Checks that a unit is the one that was asked for: by the same program, of this series, with these games.
    ///
    /// # Errors
    /// In words, what differs.
    pub fn check(&self, program: &str, search_version: u32, series: &str, games: [u64; 2]) -> Result<(), String> {
        let differs = |what: &str, found: &dyn std::fmt::Display, wanted: &dyn std::fmt::Display| {
            Err(format!("{what} is {found}, not {wanted}"))
        };
        if self.program != program {
            return differs("the program that played it", &self.program, &program);
        }
        if self.search_version != search_version {
            return differs("the version of its searches", &self.search_version, &search_version);
        }
        if self.series != series {
            return differs("its series", &self.series, &series);
        }
        if self.games != games {
            let shown = |[from, to]: [u64; 2]| format!("{from} to {to}");
            return differs("its range of games", &shown(self.games), &shown(games));
        }
        match self.secs >= 0.0 && self.secs.is_finite() {
            true => Ok(()),
            false => differs("its time", &self.secs, &"a number of seconds"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use super::*;

    #[test]
    fn a_worker_keeps_the_networks_that_it_used_last_and_nothing_else_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join("cache");
        let store = folder.path().join("store").display().to_string();
        let store = Store::open(&store, true, Arc::new(AtomicBool::new(false))).unwrap();
        let fetch = |number: usize| {
            let content = format!("network {number}");
            let name = crate::sha256(content.as_bytes());
            store.create(&model_name(&name), content.as_bytes()).unwrap();
            store.fetch_model(&name, &cache, "here").unwrap().unwrap()
        };
        let fetched_at = |number: usize| {
            let path = fetch(number);
            let then = SystemTime::UNIX_EPOCH + Duration::from_secs(number as u64);
            File::options().append(true).open(&path).unwrap().set_modified(then).unwrap();
            path
        };
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
    }
}

//! The networks of a store, and the folder where a worker keeps those that it used last.

use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::errors::StoreError;
use crate::store::Store;

/// The folder of networks, each named after its SHA-256.
pub const MODELS: &str = "models";
/// The networks that a worker keeps, those that it used last.
const MODELS_KEPT: usize = 16;
/// A file that was begun so long ago belongs to a worker that was killed.
const UNFINISHED: Duration = Duration::from_secs(86_400);
/// No network is larger.
const MODEL_BYTES_MAX: u64 = 1 << 30;

/// Returns the name of the network with this SHA-256.
#[must_use]
pub fn model_name(sha256: &str) -> String {
    format!("{MODELS}/{sha256}.safetensors")
}

impl Store {
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
        let beside = path.with_extension(worker);
        let write = || -> std::io::Result<()> {
            std::fs::create_dir_all(folder)?;
            std::fs::write(&beside, &bytes)?;
            std::fs::rename(&beside, &path)
        };
        write().map_err(|source| {
            _ = std::fs::remove_file(&beside);
            StoreError::Cache { path: path.clone(), source }
        })?;
        remove_oldest(folder);
        Ok(Ok(path))
    }
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
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

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
}

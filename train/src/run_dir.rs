//! The folder of a training run. Its files are written under another name and renamed, so that a run can be resumed
//! after a kill at any moment. What each file holds: docs/FORMATS.md.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use latrunculi_data::files::remove_unfinished;

use crate::error::{Context, Error, bail};
use crate::files::{FolderLock, file_name, lock, read_text, write_whole};

/// The configuration.
pub const CONFIG: &str = "config.toml";
/// Folder of the rulesets.
pub const RULESETS: &str = "rulesets";
/// How the run was started.
pub const PROVENANCE: &str = "provenance.json";
/// The metrics.
pub const METRICS: &str = "metrics.jsonl";
/// The name of the newest checkpoint.
pub const LATEST: &str = "latest";
/// The result of a finished run.
pub const RESULT: &str = "result.json";
/// The final matches that have ended, until all have.
pub const FINAL: &str = "final.json";
/// What tells the run from others in a store of workers; only a run that was led with one has it.
pub const STORE_ID: &str = "store-id";
/// Folder of the shards.
pub const SHARDS: &str = "shards";
/// Folder of the checkpoints.
pub const CHECKPOINTS: &str = "checkpoints";
/// Folder of the networks that were measured.
pub const NETWORKS: &str = "networks";
/// The metrics for TensorBoard.
pub const EVENTS: &str = "tensorboard/events.out.tfevents.0.latrunculi";
/// The model of the newest checkpoint.
pub const MODEL: &str = "export/model.safetensors";
/// Folder of the exported files.
pub const EXPORT: &str = "export";

/// Extension of the files of games in flight.
pub const POOLS_EXTENSION: &str = "pools";

const CHECKPOINTS_KEPT: usize = 3;

const NAME_BYTES_MAX: u64 = 4096;

/// A run's folder, locked against other programs while this lives.
#[derive(Debug)]
pub struct RunDir {
    root: PathBuf,
    _lock: FolderLock,
}

impl RunDir {
    /// Makes the folder of a new run.
    /// Fails when there is a run in it already, or the system refuses.
    pub fn create(root: &Path) -> Result<RunDir, Error> {
        if root.to_str().is_none() {
            bail!("{}: the path of a run must be text in UTF-8; choose another folder with --run", root.display());
        }
        fs::create_dir_all(root).with_context(|| format!("{}: making the folder", root.display()))?;
        let run = RunDir { root: root.to_owned(), _lock: lock(root)? };
        if run.path(CONFIG).exists() {
            bail!(
                "{}: there is a run already; continue it with train --resume {0}, or choose another folder with --run",
                root.display()
            );
        }
        run.make_folders()?;
        Ok(run)
    }

    fn make_folders(&self) -> Result<(), Error> {
        for folder in [RULESETS, SHARDS, CHECKPOINTS, "tensorboard", NETWORKS, EXPORT] {
            let folder = self.root.join(folder);
            fs::create_dir_all(&folder).with_context(|| format!("{}: making the folder", folder.display()))?;
        }
        Ok(())
    }

    /// Opens the folder of a run.
    /// Fails when there is no run in it, or another program works in it.
    pub fn open(root: &Path) -> Result<RunDir, Error> {
        if !root.join(CONFIG).is_file() {
            bail!("{}: there is no run (no config.toml in it); begin one with train CONFIG --run DIR", root.display());
        }
        let run = RunDir { root: root.to_owned(), _lock: lock(root)? };
        run.make_folders()?;
        Ok(run)
    }

    /// Returns the folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns a path in the folder.
    #[must_use]
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.root.join(name)
    }

    /// Returns the path of the rules of that name.
    #[must_use]
    pub fn ruleset_path(&self, name: &str) -> PathBuf {
        self.path(format!("{RULESETS}/{name}.toml"))
    }

    /// Returns the path of the samples of a ruleset in a generation.
    #[must_use]
    pub fn shard_path(&self, generation: u64, ruleset: &str) -> PathBuf {
        self.path(format!("{SHARDS}/{generation:06}-{ruleset}.npz"))
    }

    /// Returns the path of the games of a generation that alpha-beta is playing.
    #[must_use]
    pub fn journal_path(&self, generation: u64, ruleset: &str) -> PathBuf {
        self.path(format!("{SHARDS}/{generation:06}-{ruleset}.journal"))
    }

    /// Returns the path of the checkpoint after so many generations.
    #[must_use]
    pub fn checkpoint_path(&self, generations: u64) -> PathBuf {
        self.path(format!("{CHECKPOINTS}/{generations:06}.safetensors"))
    }

    /// Returns the path of the network that was measured after so many generations.
    #[must_use]
    pub fn network_path(&self, generations: u64) -> PathBuf {
        self.path(format!("{NETWORKS}/{generations:06}.safetensors"))
    }

    /// Returns the path of the games in flight of the checkpoint after `generations`.
    pub fn pools_path(&self, generations: u64) -> PathBuf {
        self.path(format!("{CHECKPOINTS}/{generations:06}.{POOLS_EXTENSION}"))
    }

    /// Returns the newest whole checkpoint, as [`latest`] does.
    pub fn latest(&self) -> Result<Option<PathBuf>, Error> {
        latest(&self.root)
    }

    /// Makes the checkpoint after `generations` the newest, and removes old ones.
    pub fn set_latest(&self, generations: u64) -> Result<(), Error> {
        let path = self.checkpoint_path(generations);
        let name = file_name(&path);
        write_whole(&self.path(LATEST), format!("{name}\n").as_bytes())?;
        let mut checkpoints: Vec<PathBuf> = fs::read_dir(self.root.join(CHECKPOINTS))?
            .filter_map(|entry| entry.ok().map(|entry| entry.path()))
            .filter(|path| path.extension().is_some_and(|extension| extension == "safetensors"))
            .collect();
        checkpoints.sort();
        let old = checkpoints.len().saturating_sub(CHECKPOINTS_KEPT);
        for path in checkpoints.iter().take(old).filter(|old| **old != path) {
            // An old file that stays does no harm.
            let _ = fs::remove_file(path);
            let _ = fs::remove_file(path.with_extension(POOLS_EXTENSION));
        }
        Ok(())
    }

    /// Removes what a kill may have left: unfinished files, and journals of generations whose shard exists.
    pub fn remove_unfinished(&self, generations: u64) {
        for folder in [".", SHARDS, CHECKPOINTS, EXPORT] {
            remove_unfinished(&self.root.join(folder));
        }
        let is_left = |path: &Path| {
            let stem = path.file_stem().and_then(OsStr::to_str).unwrap_or_default();
            let number = stem.split('-').next().and_then(|number| number.parse::<u64>().ok());
            path.extension().is_some_and(|extension| extension == "journal")
                && number.is_some_and(|generation| generation < generations)
        };
        let entries = fs::read_dir(self.root.join(SHARDS)).into_iter().flatten().flatten();
        for path in entries.map(|entry| entry.path()).filter(|path| is_left(path)) {
            // A file that stays does no harm.
            let _ = fs::remove_file(path);
        }
    }

    /// Removes the result of a run that goes on, and the files that it exported: they are those of an earlier network. The
    /// model stays, since each checkpoint replaces it, and so do files of other names.
    pub fn remove_result(&self) -> Result<(), Error> {
        let model = self.path(MODEL);
        let is_older = |path: &PathBuf| {
            *path != model && path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("model."))
        };
        let exports = fs::read_dir(self.root.join(EXPORT)).into_iter().flatten().flatten().map(|entry| entry.path());
        for path in exports.filter(is_older).chain([self.path(RESULT)]) {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(error).with_context(|| format!("{}: removing it", path.display()));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns how many bytes of metrics there are.
    pub fn metrics_bytes(&self) -> u64 {
        fs::metadata(self.path(METRICS)).map_or(0, |about| about.len())
    }

    /// Cuts the metrics to the length that the checkpoint records; they are not shorter, because they are on the disk before
    /// it .
    pub fn cut_metrics(&self, bytes: u64) -> Result<(), Error> {
        if self.metrics_bytes() <= bytes {
            return Ok(());
        }
        let path = self.path(METRICS);
        let file =
            File::options().write(true).open(&path).with_context(|| format!("{}: opening it", path.display()))?;
        file.set_len(bytes).with_context(|| format!("{}: cutting it back", path.display()))
    }

    /// Appends one line to the metrics.
    pub fn add_metrics(&self, line: &serde_json::Value) -> Result<(), Error> {
        let path = self.path(METRICS);
        let mut file = File::options().create(true).append(true).open(&path)?;
        // On the disk before the checkpoint that records its length.
        let written = file.write_all(format!("{line}\n").as_bytes()).and_then(|()| file.sync_data());
        written.with_context(|| format!("{}: writing it", path.display()))
    }
}

/// Returns the files of the rulesets of the run in a folder, by name; none where the folder holds no run.
#[must_use]
pub fn ruleset_paths(root: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(root.join(RULESETS)).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut paths: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "toml")).collect();
    paths.sort();
    paths
}

/// Returns the path of the newest whole checkpoint of the run in a folder, if there is one.
/// Fails when the file that names it is damaged.
pub fn latest(root: &Path) -> Result<Option<PathBuf>, Error> {
    let path = root.join(LATEST);
    if !path.exists() {
        return Ok(None);
    }
    let text = read_text(&path, NAME_BYTES_MAX)?;
    let name = text.trim();
    if Path::new(name).file_name().is_none_or(|file| file != name) {
        bail!("{}: it names no checkpoint; write the name of the newest file in checkpoints/ into it", path.display());
    }
    Ok(Some(root.join(CHECKPOINTS).join(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_path_that_is_no_text_is_refused_before_anything_is_made() {
        use std::os::unix::ffi::OsStrExt;
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join(OsStr::from_bytes(b"run-\xff"));
        assert!(RunDir::create(&root).unwrap_err().to_string().contains("UTF-8"));
        assert!(!root.exists());
    }

    #[test]
    fn metrics_are_cut_to_the_recorded_length() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunDir::create(folder.path()).unwrap();
        run.cut_metrics(10).unwrap();
        for line in ["one", "two"] {
            run.add_metrics(&serde_json::json!(line)).unwrap();
        }
        let text = || fs::read_to_string(run.path(METRICS)).unwrap();
        assert_eq!(text(), "\"one\"\n\"two\"\n");
        run.cut_metrics(12).unwrap();
        assert_eq!(text(), "\"one\"\n\"two\"\n");
        run.cut_metrics(6).unwrap();
        assert_eq!(text(), "\"one\"\n");
    }
}

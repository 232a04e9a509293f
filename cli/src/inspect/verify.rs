//! Folders read to their end: every file in them that is known, and what must be there.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use latrunculi_data::StoredCheckpoint;
use latrunculi_data::files::checksum;
use latrunculi_eval::study::saved_study;
use latrunculi_train::{folders, run_dir};
use serde::Deserialize;
use serde_json::json;

use super::folders::newest_checkpoint;
use super::records::LEFT_OUT;
use super::report::Report;
use super::{Format, Known, texts};

/// No folder of ours has so many folders inside each other.
const DEPTH_MAX: usize = 8;

/// Reads every file of a folder, and adds how many there are of each kind. Journals and locks are passed over: their
/// program reads them anew whenever it goes on.
///
/// # Errors
/// The first file that is damaged or missing.
pub(super) fn add(report: &mut Report, root: &Path, mut known: Known) -> anyhow::Result<()> {
    known.in_folder = true;
    known.rules.beside = Some(root.join(run_dir::RULESETS));
    let is_finished = root.join(run_dir::RESULT).is_file();
    let mut walk = Walk { is_finished, known, kinds: BTreeMap::new(), warnings: Vec::new() };
    if root.join(run_dir::CONFIG).is_file() {
        check_run(root)?;
    }
    if root.join(folders::STUDY).is_file() {
        saved_study(root)?;
    }
    walk.folder(root, 0)?;
    report.add("verified", json!(walk.kinds));
    if !walk.warnings.is_empty() {
        report.add("cut_off", walk.warnings);
    }
    Ok(())
}

/// Checks that a run has what its newest checkpoint goes on from.
fn check_run(root: &Path) -> anyhow::Result<()> {
    let Some(newest) = newest_checkpoint(root)? else {
        bail!("{}: the run has no checkpoint", root.display());
    };
    check_checksums(root, &root.join(run_dir::CHECKPOINTS).join(newest))
}

/// The checksums that a checkpoint of a run keeps; one of `fit` keeps none.
#[derive(Deserialize)]
struct Checksums {
    /// Of the shards in the replay windows, by name of the file.
    #[serde(default)]
    shards: Option<BTreeMap<String, String>>,
    #[serde(default)]
    pools_checksum: Option<String>,
}

/// Checks that shards and games in flight are the files that the run wrote before the checkpoint at `path`.
fn check_checksums(root: &Path, path: &Path) -> anyhow::Result<()> {
    let checkpoint = StoredCheckpoint::read(path)?;
    let known: Checksums =
        serde_json::from_str(&checkpoint.extra).with_context(|| format!("{}: the state of the run", path.display()))?;
    let shards = known.shards.into_iter().flatten().map(|(name, sum)| (root.join(run_dir::SHARDS).join(name), sum));
    let pools = known.pools_checksum.map(|sum| (path.with_extension("pools"), sum));
    for (file, sum) in shards.chain(pools) {
        let found = File::open(&file).and_then(checksum).with_context(|| file.display().to_string())?;
        ensure!(
            found == sum,
            "{}: its checksum is not the one in the checkpoint; restore the file that this run wrote",
            file.display()
        );
    }
    Ok(())
}

struct Walk {
    is_finished: bool,
    known: Known,
    kinds: BTreeMap<String, u64>,
    /// Files whose end a kill has cut off, which does no harm.
    warnings: Vec<String>,
}

impl Walk {
    fn folder(&mut self, folder: &Path, depth: usize) -> anyhow::Result<()> {
        let look = || format!("cannot look into {}", folder.display());
        ensure!(depth < DEPTH_MAX, "{}: too many folders inside each other", folder.display());
        let entries = fs::read_dir(folder).with_context(look)?;
        let mut paths: Vec<PathBuf> =
            entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>().with_context(look)?;
        paths.sort();
        for path in paths {
            let is_hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
            if is_hidden {
                // What a kill has left unfinished is never read.
                continue;
            }
            if path.is_dir() {
                self.folder(&path, depth + 1)?;
            } else if path.exists() && !path.is_file() {
                // A pipe or a device is none of ours, and reading it may never end.
            } else if let Some(kind) = self.file(&path)? {
                *self.kinds.entry(kind).or_default() += 1;
            }
        }
        Ok(())
    }

    /// Reads one file; returns its kind if it is one that is known.
    fn file(&mut self, path: &Path) -> anyhow::Result<Option<String>> {
        let Some(format) = Format::of(path) else { return Ok(None) };
        let report = match format.describe(path, &mut self.known) {
            // The next resumption of a run that has not ended cuts its events back to what the checkpoint knows of.
            Err(fault) if format == Format::Events && !self.is_finished => {
                self.warnings.push(format!("{fault:#}"));
                return Ok(Some(texts::TENSORBOARD.to_owned()));
            }
            report => report?,
        };
        self.warnings.extend(report.text_of(LEFT_OUT).map(|told| format!("{}, {told}", path.display())));
        Ok(report.text_of("kind").map(str::to_owned))
    }
}

//! Folders read to their end: every file in them that is known, and what must be there.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use latrunculi_data::StoredCheckpoint;
use latrunculi_data::files::checksum;
use latrunculi_engine::record::read_line;
use latrunculi_engine::{GameRecord, Rules, presets};
use latrunculi_eval::study::saved_study;
use latrunculi_selfplay::states_from_bytes;
use latrunculi_train::files::read_text;
use latrunculi_train::{curves, rulesets, run_dir};
use serde::Deserialize;
use serde_json::{Value, json};

use super::folders::newest_checkpoint;
use super::report::Report;
use super::{is_tensorboard, tensors, texts};

/// No folder of ours has so many folders inside each other.
const DEPTH_MAX: usize = 8;

/// Reads every file of a folder, and adds how many there are of each kind. Journals and locks are passed over: their
/// program reads them anew whenever it goes on.
///
/// # Errors
/// The first file that is damaged or missing.
pub(super) fn add(report: &mut Report, root: &Path, ruleset: Option<&str>) -> anyhow::Result<()> {
    let named = ruleset.map(rulesets::load).transpose()?;
    let mut walk = Walk {
        root,
        rules: KnownRules { root, named, loaded: BTreeMap::new() },
        kinds: BTreeMap::new(),
        warnings: Vec::new(),
    };
    if root.join(run_dir::CONFIG).is_file() {
        check_run(root)?;
    }
    if root.join("study.json").is_file() {
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
    /// Of the games in flight.
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

/// What has been read of a folder.
struct Walk<'a> {
    root: &'a Path,
    rules: KnownRules<'a>,
    /// Files that are whole, by kind.
    kinds: BTreeMap<String, u64>,
    /// Files whose end a kill has cut off, which does no harm.
    warnings: Vec<String>,
}

impl Walk<'_> {
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
        if is_tensorboard(path) {
            return self.tensorboard(path).map(Some);
        }
        let report = match path.extension().and_then(|extension| extension.to_str()) {
            Some("safetensors") => tensors::safetensors(path, true)?,
            // A shard holds its rules, and the shards of a folder may be of several rulesets.
            Some("npz") => tensors::npz(path, true, None)?,
            Some("onnx" | "pt") => tensors::network(path, true)?,
            Some("jsonl") => return self.lines(path).map(Some),
            Some("toml") => texts::toml(path)?,
            Some("json") => texts::json(path)?,
            Some("csv") if path.file_name().is_some_and(|name| name == curves::TABLE) => {
                let text = read_text(path, texts::TEXT_BYTES_MAX)?;
                ensure!(text.ends_with('\n'), "{} is cut off: its last line has no end", path.display());
                return Ok(Some("learning curves".to_owned()));
            }
            Some("csv") => texts::csv(path)?,
            Some(run_dir::POOLS_EXTENSION) => {
                let shown = || path.display().to_string();
                states_from_bytes(&fs::read(path).with_context(shown)?).with_context(shown)?;
                return Ok(Some("games in flight".to_owned()));
            }
            Some("html" | "md") => texts::page(path)?,
            _ => return Ok(None),
        };
        Ok(Some(report.kind().to_owned()))
    }

    /// The next resumption of a run that has not ended cuts its events back to what the checkpoint knows of.
    fn tensorboard(&mut self, path: &Path) -> anyhow::Result<String> {
        match texts::tensorboard(path) {
            Err(fault) if !self.root.join(run_dir::RESULT).is_file() => self.warnings.push(format!("{fault:#}")),
            read => drop(read?),
        }
        Ok("TensorBoard events".to_owned())
    }

    /// Reads a file of one JSON object a line; games are played over.
    fn lines(&mut self, path: &Path) -> anyhow::Result<String> {
        let mut input = BufReader::new(File::open(path).with_context(|| format!("cannot read {}", path.display()))?);
        let mut kind = "file without a line";
        for number in 1.. {
            let place = || format!("{}, line {number}", path.display());
            let Some(line) = read_line(&mut input).with_context(place)? else { break };
            if line.trim().is_empty() {
                continue;
            }
            let object: Value = match serde_json::from_str(&line) {
                Err(_) if !line.ends_with('\n') => {
                    self.warnings
                        .push(format!("{}: the line does not end; the next command there takes it away", place()));
                    break;
                }
                object => object.with_context(|| format!("{}: not JSON", place()))?,
            };
            kind = if object.get("generation").is_some() {
                "metrics"
            } else if object.get("threads").is_some() && object.get("seconds").is_some() {
                "provenance of a study"
            } else {
                let record = GameRecord::from_line(&line).with_context(place)?;
                let rules = self.rules.of(&record.ruleset).with_context(place)?;
                record.replay(&rules).with_context(place)?;
                if object.get("series").is_some() { "ledger" } else { "game records" }
            };
        }
        Ok(kind.to_owned())
    }
}

/// The rules of the games in a folder, each loaded once.
struct KnownRules<'a> {
    root: &'a Path,
    /// What the user names.
    named: Option<Arc<Rules>>,
    loaded: BTreeMap<String, Arc<Rules>>,
}

impl KnownRules<'_> {
    /// Returns the rules of an id: those that the user names, those that lie in the folder, or the shipped ones.
    fn of(&mut self, id: &str) -> anyhow::Result<Arc<Rules>> {
        if let Some(named) = self.named.as_ref().filter(|named| named.ruleset().id == id) {
            return Ok(Arc::clone(named));
        }
        if let Some(rules) = self.loaded.get(id) {
            return Ok(Arc::clone(rules));
        }
        let beside = self.root.join("rulesets").join(format!("{id}.toml"));
        let rules = if beside.is_file() {
            rulesets::load(&beside.to_string_lossy())?
        } else if presets::NAMES.contains(&id) {
            rulesets::load(id)?
        } else {
            bail!("{id:?} is no shipped ruleset; name its file with --ruleset");
        };
        self.loaded.insert(id.to_owned(), Arc::clone(&rules));
        Ok(rules)
    }
}

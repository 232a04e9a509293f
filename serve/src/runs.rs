//! Training runs, read from their folders while they are written.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use latrunculi_eval::learning::{Round, RunMatch};
use latrunculi_train::curves::{self, PAGE, TABLE};
use latrunculi_train::files::{is_locked, read_text, secs_since_written};
use latrunculi_train::{Error, TrainConfig, error_chain, run_dir};
use serde_json::{Value, json};

use crate::folders::Folder;
use crate::refusal::Refusal;

/// The most bytes of metrics in one answer; the page asks for the rest.
const CHUNK_BYTES_MAX: u64 = 4 << 20;
/// How many of the last bytes of metrics tell where a run stands: more than the round of a long list of rulesets takes.
const TAIL_BYTES: u64 = 512 << 10;
const RESULT_BYTES_MAX: u64 = 1 << 20;

/// Returns the runs of a folder, each with where it stands, and the folders that are none for want of a configuration.
pub(crate) fn list(runs: &Folder) -> Value {
    let listed = runs.names().into_iter().filter_map(|name| standing(runs, &name).ok());
    json!({
        "folder": runs.shown(),
        "runs": listed.collect::<Vec<_>>(),
        "without_config": runs.others_with(run_dir::METRICS),
    })
}

/// Returns where a run stands: its rulesets, whether a program works on it, how far it has come, its last match in each
/// ruleset, with the `generation` of those that are not final, and the `faults` of its files, which leave the rest as it is.
fn standing(runs: &Folder, name: &str) -> Result<Value, Refusal> {
    let root = runs.path(name, &[])?;
    runs.path(name, &[run_dir::CONFIG])?;
    let mut faults = Vec::new();
    let metrics = runs.path(name, &[run_dir::METRICS]).ok();
    let tail = metrics.as_deref().map(tail).unwrap_or_default();
    let last = tail.last();
    let mut verdicts: BTreeMap<String, Value> = BTreeMap::new();
    for round in &tail {
        for (ruleset, found) in &round.verdicts {
            let mut found = json!(found);
            found["generation"] = round.generation.into();
            verdicts.insert(ruleset.clone(), found);
        }
    }
    let mut result = runs.path(name, &[run_dir::RESULT]).ok().map(|path| read_result(&path));
    if let Some(Err(fault)) = &result {
        faults.push(format!("{}: {}", run_dir::RESULT, error_chain(fault)));
        result = None;
    }
    let result = result.and_then(Result::ok);
    let of_result = result.as_ref().map(|(_, verdicts)| verdicts).filter(|verdicts| !verdicts.is_empty());
    let is_final = of_result.is_some();
    if let Some(of_result) = of_result {
        verdicts = of_result.iter().map(|(ruleset, found)| (ruleset.clone(), json!(found))).collect();
    }
    let rulesets = run_dir::ruleset_paths(&root);
    let rulesets = rulesets.iter().filter_map(|path| path.file_stem()?.to_str());
    // The last round may train on without games.
    let generations = last.map_or(0, |round| round.generation + u64::from(round.games.is_some()));
    let config = TrainConfig::read_of_run(&root.join(run_dir::CONFIG), &[])
        .map_err(|error| faults.push(error_chain(&error)))
        .ok();
    Ok(json!({
        "name": name,
        "rulesets": rulesets.collect::<Vec<_>>(),
        "is_running": is_locked(&root),
        "seconds_since_written": metrics.as_deref().and_then(secs_since_written),
        "budget": config.map(|config| config.budget),
        "generations": generations,
        "elapsed_secs": last.map(|round| round.elapsed_secs),
        "verdicts": verdicts,
        "is_final": is_final,
        "result": result.map(|(value, _)| value),
        "faults": faults,
    }))
}

/// Reads the result of a run as it stands, and its matches.
fn read_result(path: &Path) -> Result<(Value, BTreeMap<String, RunMatch>), Error> {
    let value = serde_json::from_str(&read_text(path, RESULT_BYTES_MAX)?)?;
    Ok((value, curves::result(path)?.unwrap_or_default()))
}

/// Returns the last rounds of a file of metrics; what is no round is passed over.
fn tail(path: &Path) -> Vec<Round> {
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let from = file.metadata()?.len().saturating_sub(TAIL_BYTES);
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let text = String::from_utf8_lossy(&read().unwrap_or_default()).into_owned();
    text.lines().filter_map(|line| curves::read_round(line).ok()).collect()
}

/// Returns what a run is and where it stands: [`standing`], and its network, its files and the way to resume it.
pub(crate) fn describe(runs: &Folder, name: &str) -> Result<Value, Refusal> {
    let mut about = standing(runs, name)?;
    let root = runs.path(name, &[])?;
    let config = TrainConfig::read_of_run(&root.join(run_dir::CONFIG), &[]).ok();
    let network = config.as_ref().map(|config| &config.network);
    about["network"] = network.map(|of| format!("{} blocks x {} channels", of.blocks, of.channels)).into();
    about["from"] = begun_from(runs, name).into();
    about["config"] = json!(config);
    about["simulations"] = config.as_ref().map(|config| config.selfplay.simulations).into();
    let files = FILES.iter().filter(|file| runs.path(name, file.path).is_ok()).map(|file| file.name());
    about["files"] = files.collect();
    about["path"] = runs.shown_path(name).into();
    about["has_tensorboard"] = root.join(run_dir::EVENTS).exists().into();
    about["has_store"] = root.join(run_dir::STORE_ID).exists().into();
    Ok(about)
}

/// Returns the name of the model that a run began with; `None` where it began with random weights, or its provenance cannot be read.
fn begun_from(runs: &Folder, name: &str) -> Option<String> {
    let path = runs.path(name, &[run_dir::PROVENANCE]).ok()?;
    let provenance: Value = serde_json::from_str(&read_text(&path, RESULT_BYTES_MAX).ok()?).ok()?;
    Some(Path::new(provenance["from"]["model"].as_str()?).file_name()?.to_str()?.to_owned())
}

/// A file of a run that can be had as it is.
pub(crate) struct RunFile {
    path: &'static [&'static str],
    pub(crate) kind: &'static str,
}

const FILES: [RunFile; 6] = [
    RunFile { path: &[PAGE], kind: "text/html; charset=utf-8" },
    RunFile { path: &[TABLE], kind: "text/csv; charset=utf-8" },
    RunFile { path: &[run_dir::METRICS], kind: "application/jsonl" },
    RunFile { path: &[run_dir::CONFIG], kind: "application/toml" },
    RunFile { path: &[run_dir::EXPORT, "model.safetensors"], kind: "application/octet-stream" },
    RunFile { path: &[run_dir::EXPORT, "model.onnx"], kind: "application/octet-stream" },
];
const FILE_BYTES_MAX: u64 = 256 << 20;

impl RunFile {
    fn name(&self) -> &'static str {
        self.path.last().copied().unwrap_or_default()
    }

    /// Tells whether a browser shows it, rather than keep it.
    pub(crate) fn is_page(&self) -> bool {
        self.path == [PAGE]
    }
}

/// Returns one of the files of a run, and what it is.
pub(crate) fn file(runs: &Folder, name: &str, file: &str) -> Result<(&'static RunFile, Vec<u8>), Refusal> {
    let known = FILES.iter().find(|known| known.name() == file);
    let known = known.ok_or_else(|| Refusal::unknown(format!("a run has no file {file:?} to be shown")))?;
    let path = runs.path(name, known.path)?;
    let failed = |error: std::io::Error| Refusal::failed(format!("{file}: {error}"));
    let mut bytes = Vec::new();
    File::open(path).map_err(failed)?.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(Refusal::wrong(format!(
            "{file} is larger than {} MiB: copy it from the folder",
            FILE_BYTES_MAX >> 20
        )));
    }
    Ok((known, bytes))
}

/// Returns the rounds of a run whose lines begin at byte `from` of its metrics or later, and where the next ones will begin.
/// A resumed run cuts off what came after its checkpoint: where `from` is no longer the beginning of a line, all is told again.
/// Lines that are no rounds are left out, and `damaged` says which is the first, and how many there are.
pub(crate) fn metrics(runs: &Folder, name: &str, from: u64) -> Result<Value, Refusal> {
    runs.path(name, &[run_dir::CONFIG])?;
    let Ok(path) = runs.path(name, &[run_dir::METRICS]) else {
        return Ok(json!({ "from": 0, "next": 0, "rounds": [], "damaged": null, "has_more": false }));
    };
    let failed = |error: std::io::Error| Refusal::failed(format!("{name}: {}: {error}", run_dir::METRICS));
    let mut file = File::open(&path).map_err(failed)?;
    let from = if begins_line(&mut file, from).map_err(failed)? { from } else { 0 };
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(from)).map_err(failed)?;
    (&mut file).take(CHUNK_BYTES_MAX).read_to_end(&mut bytes).map_err(failed)?;
    let has_more = bytes.len() as u64 == CHUNK_BYTES_MAX;
    // A line that is still being written is left for the next time.
    let end = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
    if end == 0 && has_more {
        let what = "a line is too long to be the metrics of a round";
        return Err(Refusal::wrong(format!("{name}: {}: {what}", run_dir::METRICS)));
    }
    let mut rounds: Vec<Value> = Vec::new();
    let mut damaged: Vec<(usize, String)> = Vec::new();
    for (index, line) in bytes[..end].split_inclusive(|&byte| byte == b'\n').enumerate() {
        let line = String::from_utf8_lossy(line);
        match curves::read_round(line.trim_end()).map(|_| serde_json::from_str(&line)) {
            Ok(Ok(round)) => rounds.push(round),
            Ok(Err(error)) => damaged.push((index, error.to_string())),
            Err(error) => damaged.push((index, error_chain(&error))),
        }
    }
    let damaged = match damaged.first() {
        None => Value::Null,
        Some((index, fault)) => {
            let line = lines_before(&mut file, from).map_err(failed)? + index + 1;
            json!({ "count": damaged.len(), "first": format!("line {line}: {fault}") })
        }
    };
    let next = from + end as u64;
    Ok(json!({ "from": from, "next": next, "rounds": rounds, "damaged": damaged, "has_more": has_more }))
}

/// Tells whether a line begins, or will begin, at a byte of a file.
fn begins_line(file: &mut File, at: u64) -> std::io::Result<bool> {
    if at == 0 || at > file.metadata()?.len() {
        return Ok(at == 0);
    }
    let mut before = [0];
    file.seek(SeekFrom::Start(at - 1))?;
    file.read_exact(&mut before)?;
    Ok(before == *b"\n")
}

/// Counts the lines before a byte of a file.
fn lines_before(file: &mut File, at: u64) -> std::io::Result<usize> {
    file.seek(SeekFrom::Start(0))?;
    let mut left = BufReader::new(file.take(at));
    let mut lines = 0;
    loop {
        let bytes = left.fill_buf()?;
        if bytes.is_empty() {
            return Ok(lines);
        }
        lines += bytes.iter().filter(|&&byte| byte == b'\n').count();
        let read = bytes.len();
        left.consume(read);
    }
}

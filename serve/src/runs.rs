//! Training runs, read from their folders while they are written.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use latrunculi_train::curves::{PAGE, TABLE};
use latrunculi_train::files::{is_locked, read_text, secs_since_written};
use latrunculi_train::{TrainConfig, error_chain, run_dir};
use serde_json::{Value, json};

use crate::folders::Folder;
use crate::refusal::Refusal;

/// The most bytes of metrics in one answer; the page asks for the rest.
const CHUNK_BYTES_MAX: u64 = 4 << 20;
const RESULT_BYTES_MAX: u64 = 1 << 20;

/// Returns the runs of a folder, each with the seconds since something was last added to its metrics.
pub(crate) fn list(runs: &Folder) -> Value {
    let about = |name: String| {
        let metrics = runs.path(&name, &[run_dir::METRICS]).ok();
        let age = metrics.as_deref().and_then(seconds_since_written);
        let is_finished = runs.path(&name, &[run_dir::RESULT]).is_ok();
        json!({ "name": name, "seconds_since_written": age, "is_finished": is_finished })
    };
    let names = runs.names().into_iter().map(about);
    json!({ "folder": runs.shown(), "runs": names.collect::<Vec<_>>() })
}

fn seconds_since_written(path: &Path) -> Option<u64> {
    secs_since_written(path).map(|secs| secs as u64)
}

/// Returns what a run is: its network, its rulesets, whether a program works on it, and its result once it has one.
pub(crate) fn describe(runs: &Folder, name: &str) -> Result<Value, Refusal> {
    let config_path = runs.path(name, &[run_dir::CONFIG])?;
    let config = TrainConfig::read_of_run(&config_path, &[]).map_err(|error| Refusal::wrong(error_chain(&error)))?;
    let paths = config_path.parent().map(run_dir::ruleset_paths).unwrap_or_default();
    let rulesets: Vec<String> = paths.iter().filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect();
    let result = match runs.path(name, &[run_dir::RESULT]) {
        Err(_) => None,
        Ok(path) => {
            let text = read_text(&path, RESULT_BYTES_MAX).map_err(|error| Refusal::wrong(error_chain(&error)))?;
            serde_json::from_str::<Value>(&text).ok()
        }
    };
    let metrics = runs.path(name, &[run_dir::METRICS]).ok();
    let files = FILES.iter().filter(|file| runs.path(name, file.path).is_ok()).map(|file| file.name());
    Ok(json!({
        "name": name,
        "files": files.collect::<Vec<_>>(),
        "network": format!("{} blocks x {} channels", config.network.blocks, config.network.channels),
        "simulations": config.selfplay.simulations,
        "rulesets": rulesets,
        "result": result,
        "path": runs.shown_path(name),
        "has_store": config_path.parent().is_some_and(|root| root.join(run_dir::STORE_ID).exists()),
        "is_running": config_path.parent().is_some_and(is_locked),
        "seconds_since_written": metrics.as_deref().and_then(seconds_since_written),
    }))
}

/// A file of a run that can be had as it is.
pub(crate) struct RunFile {
    path: &'static [&'static str],
    pub(crate) kind: &'static str,
}

const FILES: [RunFile; 5] = [
    RunFile { path: &[PAGE], kind: "text/html; charset=utf-8" },
    RunFile { path: &[TABLE], kind: "text/csv; charset=utf-8" },
    RunFile { path: &[run_dir::METRICS], kind: "application/jsonl" },
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
    let known = known.ok_or_else(|| Refusal::unknown(format!("of a run there is no file {file:?} here")))?;
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
/// A resumed run cuts off what came after its checkpoint: a file shorter than `from` is told again from its beginning.
pub(crate) fn metrics(runs: &Folder, name: &str, from: u64) -> Result<Value, Refusal> {
    runs.path(name, &[run_dir::CONFIG])?;
    let Ok(path) = runs.path(name, &[run_dir::METRICS]) else {
        return Ok(json!({ "from": 0, "next": 0, "rounds": [], "has_more": false }));
    };
    let failed = |error: std::io::Error| Refusal::failed(format!("{}: {error}", run_dir::METRICS));
    let mut file = File::open(&path).map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    let from = if from > length { 0 } else { from };
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(from)).map_err(failed)?;
    file.take(CHUNK_BYTES_MAX).read_to_end(&mut bytes).map_err(failed)?;
    // A line that is still being written is left for the next time.
    let end = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
    if end == 0 && bytes.len() as u64 == CHUNK_BYTES_MAX {
        return Err(Refusal::wrong(format!("{}: a line is too long to be the metrics of a round", run_dir::METRICS)));
    }
    let mut rounds: Vec<Value> = Vec::new();
    for line in bytes[..end].split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        // Not the beginning of a line: the file was cut and has grown again since the last question.
        match serde_json::from_slice(line) {
            Ok(round) => rounds.push(round),
            Err(_) if from > 0 => return metrics(runs, name, 0),
            Err(error) => {
                return Err(Refusal::wrong(format!("{}: not the metrics of a run: {error}", run_dir::METRICS)));
            }
        }
    }
    let next = from + end as u64;
    Ok(json!({ "from": from, "next": next, "rounds": rounds, "has_more": bytes.len() as u64 == CHUNK_BYTES_MAX }))
}

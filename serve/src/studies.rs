//! Studies: their reports, and the games behind them.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};

use latrunculi_engine::record::RecordedResult;
use latrunculi_engine::{EndReason, GameRecord, presets};
use latrunculi_train::files::read_text;
use latrunculi_train::{error_chain, run_dir};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::folders::Folder;
use crate::games::record_json;
use crate::refusal::Refusal;

/// File name of a study's page.
const REPORT: &str = "report.html";
const REPORT_BYTES_MAX: u64 = 64 << 20;
const GAMES: &str = "games";
/// How many games an answer has, and how many bytes of them it reads at most.
const GAMES_MAX: usize = 50;
const GAMES_BYTES_MAX: u64 = 8 << 20;
const FILES_MAX: usize = 2000;

pub(crate) fn list(studies: &Folder) -> Value {
    let about = |name: String| json!({ "has_report": studies.path(&name, &[REPORT]).is_ok(), "name": name });
    let found: Vec<Value> = studies.names().into_iter().map(about).collect();
    json!({ "folder": studies.shown(), "studies": found })
}

/// Returns the files of games of a study, by ruleset.
pub(crate) fn describe(studies: &Folder, name: &str) -> Result<Value, Refusal> {
    studies.path(name, &[])?;
    let mut files = Vec::new();
    for ruleset in entries(studies, name, &[GAMES]) {
        for file in entries(studies, name, &[GAMES, &ruleset]) {
            let path = studies.path(name, &[GAMES, &ruleset, &file]).ok();
            let bytes = path.and_then(|path| Some(path.metadata().ok()?.len())).unwrap_or(0);
            if file.ends_with(".jsonl") && bytes > 0 && files.len() < FILES_MAX {
                files.push(json!({ "ruleset": ruleset, "file": file, "bytes": bytes }));
            }
        }
    }
    Ok(json!({ "name": name, "has_report": studies.path(name, &[REPORT]).is_ok(), "games": files }))
}

/// Returns the names in a folder of a study, in alphabetical order.
fn entries(studies: &Folder, name: &str, parts: &[&str]) -> Vec<String> {
    let Ok(path) = studies.path(name, parts) else { return Vec::new() };
    let found = fs::read_dir(path).into_iter().flatten().flatten();
    let mut names: Vec<String> = found.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_unstable();
    names
}

pub(crate) fn report(studies: &Folder, name: &str) -> Result<String, Refusal> {
    let path = studies.path(name, &[REPORT])?;
    read_text(&path, REPORT_BYTES_MAX).map_err(|error| Refusal::wrong(error_chain(&error)))
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Wanted {
    /// Those whose lines begin at this byte or later.
    #[serde(default)]
    from: u64,
    /// Those of one series, by its name in the lines; empty: of all.
    #[serde(default)]
    series: String,
    #[serde(default)]
    result: WantedResult,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum WantedResult {
    #[default]
    #[serde(rename = "")]
    Any,
    First,
    Second,
    /// Drawn by a rule of the game.
    Draw,
    /// Drawn by the program's limit of turns.
    CutOff,
}

#[derive(Deserialize)]
struct LedgerLine {
    #[serde(default)]
    series: String,
}

impl Wanted {
    fn has(&self, line: &str, record: &GameRecord) -> Result<bool, Refusal> {
        let is_cut_off = record.reason.as_deref() == Some(EndReason::MaxPlies.as_str());
        let is_result = match self.result {
            WantedResult::Any => true,
            WantedResult::First => record.result == Some(RecordedResult::First),
            WantedResult::Second => record.result == Some(RecordedResult::Second),
            WantedResult::Draw => record.result == Some(RecordedResult::Draw) && !is_cut_off,
            WantedResult::CutOff => is_cut_off,
        };
        if self.series.is_empty() || !is_result {
            return Ok(is_result);
        }
        let of: LedgerLine = serde_json::from_str(line).map_err(|error| Refusal::wrong(error.to_string()))?;
        Ok(of.series == self.series)
    }
}

/// Returns some of the wanted games of a file, and where the next ones begin.
pub(crate) fn games(
    studies: &Folder,
    name: &str,
    ruleset: &str,
    file: &str,
    wanted: &Wanted,
) -> Result<Value, Refusal> {
    let from = wanted.from;
    let path = studies.path(name, &[GAMES, ruleset, file])?;
    let failed = |error: std::io::Error| Refusal::failed(format!("{file}: {error}"));
    let mut opened = File::open(&path).map_err(failed)?;
    opened.seek(SeekFrom::Start(from)).map_err(failed)?;
    let mut lines = BufReader::new(opened.take(GAMES_BYTES_MAX));
    let (mut games, mut next, mut line) = (Vec::new(), from, String::new());
    while games.len() < GAMES_MAX {
        line.clear();
        let read = lines.read_line(&mut line).map_err(failed)?;
        if !line.ends_with('\n') {
            break;
        }
        next += read as u64;
        if line.trim().is_empty() {
            continue;
        }
        let record = GameRecord::from_line(&line).map_err(|fault| Refusal::wrong(format!("{file}: {fault}")))?;
        if wanted.has(&line, &record)? {
            games.push(record_json(&record));
        }
    }
    let own = format!("{ruleset}.toml");
    let key = match studies.path(name, &[run_dir::RULESETS, &own]) {
        Ok(_) => format!("studies/{name}/{ruleset}"),
        Err(_) if presets::NAMES.contains(&ruleset) => ruleset.to_owned(),
        Err(_) => return Err(Refusal::unknown(format!("the study has no rules of {ruleset:?}"))),
    };
    let has_more = next > from && fs::metadata(&path).is_ok_and(|about| about.len() > next);
    Ok(json!({ "ruleset": key, "games": games, "next": next, "has_more": has_more }))
}

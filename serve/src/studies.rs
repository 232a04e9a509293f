//! Studies: their reports, and the games behind them.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::sync::Arc;

use latrunculi_engine::record::{RecordedResult, ruleset_fingerprint};
use latrunculi_engine::{EndReason, GameRecord, Rules, presets};
use latrunculi_eval::study::summary::Conclusion;
use latrunculi_eval::study::table::read_csv;
use latrunculi_train::files::read_text;
use latrunculi_train::{error_chain, rulesets, run_dir};
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

/// The study in the program, which has no games: how the page names it, and its files.
pub(crate) const SHIPPED: &str = "shipped";
const SHIPPED_TITLE: &str = "How fair is each reconstruction? (the study in the program)";
const SHIPPED_REPORT: &str = include_str!("../../docs/studies/full/report.html");
const SHIPPED_TABLE: &str = include_str!("../../docs/studies/full/balance.csv");
/// File name of a study's table, how long it may be, and of how many studies it is read.
const TABLE: &str = "balance.csv";
const TABLE_BYTES_MAX: u64 = 4 << 20;
const TABLES_MAX: usize = 50;

/// Returns the studies: those of the folder, then the one in the program, unless the folder holds it too.
pub(crate) fn list(studies: &Folder) -> Value {
    let copy = shipped_copy(studies);
    let about = |name: String| {
        let title = (copy.as_deref() == Some(&*name)).then_some(SHIPPED_TITLE);
        json!({ "has_report": studies.path(&name, &[REPORT]).is_ok(), "name": name, "title": title, "is_shipped": title.is_some() })
    };
    let shipped = json!({ "has_report": true, "name": SHIPPED, "title": SHIPPED_TITLE, "is_shipped": true });
    let found: Vec<Value> = names(studies).map(about).chain(copy.is_none().then_some(shipped)).collect();
    json!({ "folder": studies.shown(), "studies": found })
}

/// Returns the name of the study in the folder that is the one in the program.
fn shipped_copy(studies: &Folder) -> Option<String> {
    names(studies).find(|name| {
        studies.path(name, &[TABLE]).is_ok_and(|path| {
            let is_long = path.metadata().is_ok_and(|about| about.len() == SHIPPED_TABLE.len() as u64);
            is_long && read_text(&path, TABLE_BYTES_MAX).is_ok_and(|text| text == SHIPPED_TABLE)
        })
    })
}

fn names(studies: &Folder) -> impl Iterator<Item = String> {
    studies.names().into_iter().filter(|name| name != SHIPPED)
}

/// Returns what each study has found of the ruleset with this fingerprint, its headline first; studies without it are left out.
pub(crate) fn findings(studies: &Folder, fingerprint: &str) -> Value {
    let read = |name: String| {
        let text = read_text(&studies.path(&name, &[TABLE]).ok()?, TABLE_BYTES_MAX).ok()?;
        Some((name, text))
    };
    let shipped = shipped_copy(studies).is_none().then(|| (SHIPPED.to_owned(), SHIPPED_TABLE.to_owned()));
    let tables = shipped.into_iter().chain(names(studies).filter_map(read).take(TABLES_MAX));
    let of_study = |(name, text): (String, String)| {
        let rows = read_csv(&text);
        let rows = rows.iter().filter(|row| row.get("fingerprint").is_some_and(|own| own == fingerprint));
        // A network that could not be opened for a ruleset has a row without games.
        let mut rows: Vec<_> = rows.filter(|row| row.get("games").is_some_and(|games| games != "0")).collect();
        let first = rows.first().copied();
        rows.sort_by_key(|row| Reverse(first.map(|first| rank(row, first))));
        let rows: Vec<Value> = rows.into_iter().map(finding).collect();
        (!rows.is_empty()).then(|| json!({ "study": name, "is_shipped": text == SHIPPED_TABLE, "rows": rows }))
    };
    tables.filter_map(of_study).collect()
}

/// Returns the headlines of the study in the program, by the fingerprints of the rulesets.
pub(crate) fn shipped_findings() -> BTreeMap<String, Value> {
    let mut rows = read_csv(SHIPPED_TABLE);
    if let Some(first) = rows.first().cloned() {
        rows.sort_by_key(|row| rank(row, &first));
    }
    rows.iter().map(|row| (row.get("fingerprint").cloned().unwrap_or_default(), finding(row))).collect()
}

/// Returns a number that is greatest for the headline of a study: of the kind of player in the first row of its table the one
/// that looks at most.
fn rank(row: &BTreeMap<String, String>, first: &BTreeMap<String, String>) -> (bool, u64) {
    let budget = row.get("budget").and_then(|budget| budget.parse().ok()).unwrap_or(0);
    (row.get("family") == first.get("family"), budget)
}

/// Returns one row of a study's table: what games of one player say of a ruleset.
fn finding(row: &BTreeMap<String, String>) -> Value {
    let text = |name: &str| row.get(name).map_or("", String::as_str);
    let number = |name: &str| text(name).parse::<f64>().ok();
    let verdict: Option<Conclusion> = serde_json::from_value(text("verdict").into()).ok();
    json!({
        "ruleset": text("ruleset"), "agent": text("agent"), "games": number("games"), "score": number("score"), "lower": number("lower"),
        "upper": number("upper"), "draws": number("decisive_rate").map(|rate| 1.0 - rate), "actions": number("actions_mean"),
        "verdict": verdict.map(Conclusion::as_str),
    })
}

/// Returns the files of games of a study, by ruleset.
pub(crate) fn describe(studies: &Folder, name: &str) -> Result<Value, Refusal> {
    if name == SHIPPED {
        return Ok(json!({ "name": name, "has_report": true, "games": [] }));
    }
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

pub(crate) fn report(studies: &Folder, name: &str) -> Result<Cow<'static, str>, Refusal> {
    if name == SHIPPED {
        return Ok(SHIPPED_REPORT.into());
    }
    let path = studies.path(name, &[REPORT])?;
    read_text(&path, REPORT_BYTES_MAX).map(Cow::from).map_err(|error| Refusal::wrong(error_chain(&error)))
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

/// Returns how the page calls a ruleset of a study, by its shipped name where it is that ruleset, and its rules.
fn rules_of(studies: &Folder, name: &str, ruleset: &str) -> Result<(String, Arc<Rules>), Refusal> {
    let shipped = presets::ruleset(ruleset).map(|shipped| ruleset_fingerprint(&shipped));
    match studies.path(name, &[run_dir::RULESETS, &format!("{ruleset}.toml")]) {
        Ok(path) => {
            let own = rulesets::load(&path.to_string_lossy()).map_err(|error| Refusal::wrong(error_chain(&error)))?;
            let is_shipped = shipped.is_some_and(|shipped| shipped == ruleset_fingerprint(own.ruleset()));
            let key = if is_shipped { ruleset.to_owned() } else { format!("studies/{name}/{ruleset}") };
            Ok((key, own))
        }
        Err(_) if shipped.is_some() => Ok((ruleset.to_owned(), presets::rules(ruleset))),
        Err(_) => Err(Refusal::unknown(format!("the study has no rules of {ruleset:?}"))),
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
    let (key, rules) = rules_of(studies, name, ruleset)?;
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
            let mut game = record_json(&record);
            // The rules tell more of the end than the record does.
            if let Some(words) = record.replay(&rules).ok().and_then(|end| end.end_words()) {
                game["reason"] = words.into();
            }
            games.push(game);
        }
    }
    let has_more = next > from && fs::metadata(&path).is_ok_and(|about| about.len() > next);
    Ok(json!({ "ruleset": key, "games": games, "next": next, "has_more": has_more }))
}

//! Files of one JSON object a line: game records, ledgers of matches, metrics of runs.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::{Context, bail};
use latrunculi_engine::record::read_line;
use latrunculi_train::rulesets;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::games::{Check, Games};
use super::report::Report;

/// Games of files up to this size, in bytes, are played over unasked, and kept to tell what they are like.
const KEPT_BYTES_MAX: u64 = 1 << 26;

/// Inspects a file line by line, so that it may be larger than the memory.
pub(super) fn inspect(path: &Path, verify: bool, ruleset: Option<&str>) -> anyhow::Result<Report> {
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let bytes = file.metadata().with_context(|| format!("cannot read {}", path.display()))?.len();
    let mut lines = Lines { input: BufReader::new(file), number: 0, is_cut: false, path };
    let Some(first) = lines.next()? else { bail!("{} is empty", path.display()) };
    let object: Value = serde_json::from_str(&first).with_context(|| {
        format!("{}, line 1: not JSON; this is none of our files, or it is damaged", path.display())
    })?;
    if object.get("generation").is_some() {
        return metrics(path, bytes, object, lines);
    }
    if object.get("threads").is_some() && object.get("seconds").is_some() {
        return provenance(path, lines);
    }
    let kind = if object.get("series").is_some() { "ledger" } else { "game records" };
    let check = match verify {
        true => Check::Demanded,
        false if bytes <= KEPT_BYTES_MAX => Check::WherePossible,
        false => Check::Form,
    };
    let ruleset = ruleset.map(rulesets::load).transpose()?;
    let mut games = Games::new(check, bytes <= KEPT_BYTES_MAX, ruleset);
    let mut line = Some(first);
    while let Some(text) = line {
        if !text.trim().is_empty() {
            games.add(&text).with_context(|| format!("{}, line {}", path.display(), lines.number))?;
        }
        line = lines.next()?;
    }
    let mut report = Report::new(kind, path);
    report.add("bytes", bytes);
    lines.tell_if_cut(&mut report);
    games.add_to(&mut report);
    Ok(report)
}

/// Tells how often a study was at work: one line for each time.
fn provenance(path: &Path, mut lines: Lines<'_>) -> anyhow::Result<Report> {
    let mut times = 1;
    while let Some(line) = lines.next()? {
        let wrong = || format!("{}, line {}: not JSON, or cut off", path.display(), lines.number);
        let _: Value = serde_json::from_str(&line).with_context(wrong)?;
        times += 1;
    }
    let mut report = Report::new("provenance of a study", path);
    report.add("times_at_work", times);
    lines.tell_if_cut(&mut report);
    Ok(report)
}

/// The lines of a file.
struct Lines<'a> {
    input: BufReader<File>,
    /// The number of the line read last, from 1.
    number: usize,
    /// Whether half a line stands behind it, which a program that was killed has left.
    is_cut: bool,
    path: &'a Path,
}

impl Lines<'_> {
    fn next(&mut self) -> anyhow::Result<Option<String>> {
        let place = || format!("{}, line {}", self.path.display(), self.number + 1);
        let line = read_line(&mut self.input).with_context(place)?;
        let is_half = |text: &String| !text.ends_with('\n') && serde_json::from_str::<IgnoredAny>(text).is_err();
        if self.number > 0 && line.as_ref().is_some_and(is_half) {
            self.is_cut = true;
            return Ok(None);
        }
        self.number += usize::from(line.is_some());
        Ok(line)
    }

    fn tell_if_cut(&self, report: &mut Report) {
        if self.is_cut {
            report.add("left_out", format!("line {}, which does not end: its writer was killed", self.number + 1));
        }
    }
}

fn metrics(path: &Path, bytes: u64, first: Value, mut lines: Lines<'_>) -> anyhow::Result<Report> {
    let (mut count, mut last) = (1_u64, first);
    while let Some(line) = lines.next()? {
        if !line.trim().is_empty() {
            last = serde_json::from_str(&line)
                .with_context(|| format!("{}, line {}: not JSON", path.display(), lines.number))?;
            count += 1;
        }
    }
    let mut report = Report::new("metrics", path);
    report.add("bytes", bytes);
    report.add("lines", count);
    lines.tell_if_cut(&mut report);
    add_metrics(&mut report, &last);
    Ok(report)
}

/// Adds what the last line of metrics says.
pub(super) fn add_metrics(report: &mut Report, last: &Value) {
    for name in ["generation", "samples_total", "steps_total", "draw_rate", "first_player_score", "losses", "verdicts"]
    {
        report.add_known(name, last.get(name).filter(|value| !value.is_null()).cloned());
    }
}

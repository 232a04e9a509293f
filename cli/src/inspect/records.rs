//! Files of one JSON object a line: game records, ledgers of matches, metrics of runs.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::{Context, ensure};
use latrunculi_engine::record::read_line;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::Known;
use super::games::{Check, Games};
use super::report::Report;

/// Games of files up to this size, in bytes, are played over unasked, and kept to tell what they are like.
const KEPT_BYTES_MAX: u64 = 1 << 26;

/// Inspects a file line by line, so that it may be larger than the memory. In a folder it may have no whole line yet.
pub(super) fn inspect(path: &Path, known: &mut Known) -> anyhow::Result<Report> {
    let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    let bytes = file.metadata().with_context(|| format!("cannot read {}", path.display()))?.len();
    let is_alone = !known.in_folder;
    let mut lines = Lines { input: BufReader::new(file), number: 0, is_cut: false, begins_whole: is_alone, path };
    let Some(first) = lines.next()? else {
        ensure!(!is_alone, "{} is empty", path.display());
        return Ok(lines.report("file without a line"));
    };
    let object: Value = serde_json::from_str(&first).with_context(|| {
        format!("{}, line {}: not JSON; this is none of our files, or it is damaged", path.display(), lines.number)
    })?;
    if object.get("generation").is_some() {
        let (count, last) = lines.rest(object)?;
        let mut report = lines.report("metrics");
        report.add("bytes", bytes);
        report.add("lines", count);
        report.add_those_of(
            &last,
            &["generation", "samples_total", "steps_total", "draw_rate", "first_player_score", "losses", "verdicts"],
        );
        return Ok(report);
    }
    if object.get("threads").is_some() && object.get("seconds").is_some() {
        let (count, _) = lines.rest(object)?;
        let mut report = lines.report("provenance of a study");
        report.add("times_at_work", count);
        return Ok(report);
    }
    let kind = if object.get("series").is_some() { "ledger" } else { "game records" };
    let check = match known.verify {
        true => Check::Demanded,
        false if bytes <= KEPT_BYTES_MAX => Check::WherePossible,
        false => Check::Form,
    };
    let mut games = Games::new(check, is_alone && bytes <= KEPT_BYTES_MAX);
    let mut line = Some(first);
    while let Some(text) = line {
        games.add(&text, &mut known.rules).with_context(|| format!("{}, line {}", path.display(), lines.number))?;
        line = lines.next()?;
    }
    let mut report = lines.report(kind);
    report.add("bytes", bytes);
    games.add_to(&mut report);
    Ok(report)
}

struct Lines<'a> {
    input: BufReader<File>,
    /// The number of the line read last, from 1.
    number: usize,
    /// Whether half a line stands behind it, which a program that was killed has left.
    is_cut: bool,
    /// Whether half a line at the beginning is a line like others.
    begins_whole: bool,
    path: &'a Path,
}

impl Lines<'_> {
    fn next(&mut self) -> anyhow::Result<Option<String>> {
        loop {
            let place = || format!("{}, line {}", self.path.display(), self.number + 1);
            let Some(line) = read_line(&mut self.input).with_context(place)? else { return Ok(None) };
            let is_half = !line.ends_with('\n') && serde_json::from_str::<IgnoredAny>(&line).is_err();
            if is_half && (self.number > 0 || !self.begins_whole) {
                self.is_cut = true;
                return Ok(None);
            }
            self.number += 1;
            if !line.trim().is_empty() {
                return Ok(Some(line));
            }
        }
    }

    /// Reads the lines after the first, and returns how many there are with it, and the last.
    fn rest(&mut self, first: Value) -> anyhow::Result<(u64, Value)> {
        let (mut count, mut last) = (1, first);
        while let Some(line) = self.next()? {
            let place = || format!("{}, line {}: not JSON", self.path.display(), self.number);
            last = serde_json::from_str(&line).with_context(place)?;
            count += 1;
        }
        Ok((count, last))
    }

    /// Begins the report when all lines are read.
    fn report(&self, kind: &str) -> Report {
        let mut report = Report::new(kind, self.path);
        if self.is_cut {
            report.add(LEFT_OUT, format!("line {}, which does not end: its writer was killed", self.number + 1));
        }
        report
    }
}

pub(super) const LEFT_OUT: &str = "left_out";

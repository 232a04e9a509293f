//! The ledger of a match: an append-only file with one finished game per line.

use std::fmt::Display;
use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::Error;
use latrunculi_engine::GameRecord;
use latrunculi_engine::record::{RecordFault, read_line};
use serde::{Deserialize, Serialize};

fn refused(path: &Path, reason: impl Display) -> Error {
    Error::Refused(format!("ledger {}: {reason}", path.display()))
}

/// Returns the error of a line, from 1.
pub(crate) fn line_fault(path: &Path, line: usize, fault: impl Display) -> Error {
    Error::Refused(format!("ledger {}, line {line}: {fault}", path.display()))
}

/// The position of a game in the schedule of a match.
///
/// A line of a ledger is a game record with these additional fields, so readers of records can read ledgers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Place {
    /// Identifies the match: ruleset, agents, seed and length of the openings.
    pub(crate) series: String,
    /// The index of the pair, from 0.
    pub(crate) pair: usize,
    /// 1 if the match's first agent begins, 2 if the second does.
    pub(crate) game: u8,
}

#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    place: &'a Place,
    #[serde(flatten)]
    record: &'a GameRecord,
}

/// Returns a game as a line of a ledger, its end included.
pub(crate) fn to_line(place: &Place, record: &GameRecord) -> String {
    serde_json::to_string(&Line { place, record }).expect("a record is data") + "\n"
}

pub(crate) fn from_line(line: &str) -> Result<(Place, GameRecord), RecordFault> {
    let record = GameRecord::from_line(line)?;
    let place =
        serde_json::from_str(line).map_err(|error| RecordFault::Other(format!("not a game record: {error}")))?;
    Ok((place, record))
}

#[derive(Debug)]
pub(crate) struct LedgerGame {
    /// The line number, from 1.
    pub(crate) line: usize,
    pub(crate) place: Place,
    pub(crate) record: GameRecord,
}

/// The start of every line of a ledger.
const LINE_START: &str = "{\"series\":\"";

/// An open ledger; only one program at a time may hold it.
#[derive(Debug)]
pub(crate) struct Ledger {
    path: PathBuf,
    file: File,
    whole_bytes: u64,
    is_torn: bool,
}

impl Ledger {
    /// Opens or creates a ledger and gives its games of the wanted series to `take`, one by one. An incomplete last line,
    /// left by a killed program, is removed when a game is added: a ledger that is refused is left as it is.
    pub(crate) fn open(
        path: &Path,
        is_wanted: impl Fn(&str) -> bool,
        mut take: impl FnMut(LedgerGame) -> Result<(), Error>,
    ) -> Result<Ledger, Error> {
        let io = |refusal: std::io::Error| refused(path, refusal);
        let is_other = fs::metadata(path).is_ok_and(|about| !about.is_file() && !about.is_dir());
        if is_other {
            // Opening a pipe waits for a writer, and reading a device may never end.
            return Err(refused(path, "it is not a file"));
        }
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(io)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(refused(path, "another match is writing to this ledger"));
            }
            Err(TryLockError::Error(source)) => return Err(io(source)),
        }
        let mut input = BufReader::new(&file);
        let (mut whole_bytes, mut number, mut torn) = (0, 0, String::new());
        loop {
            number += 1;
            let unreadable =
                |error: std::io::Error| refused(path, format_args!("line {number} cannot be read: {error}"));
            let Some(line) = read_line(&mut input).map_err(unreadable)? else { break };
            if !line.ends_with('\n') {
                torn = line;
                break;
            }
            whole_bytes += line.len() as u64;
            if line.trim().is_empty() {
                continue;
            }
            let wrong = |fault: RecordFault| line_fault(path, number, fault);
            let (place, record) = from_line(&line).map_err(wrong)?;
            if is_wanted(&place.series) {
                take(LedgerGame { line: number, place, record })?;
            }
        }
        // Only an incomplete ledger line may be removed.
        let is_torn_line = torn.starts_with(LINE_START) || LINE_START.starts_with(&torn);
        if !is_torn_line {
            let fault = match GameRecord::from_line(&torn) {
                Err(fault) => fault,
                Ok(_) => RecordFault::contradiction("the line's end", "missing", "there"),
            };
            return Err(line_fault(path, number, fault));
        }
        Ok(Ledger { path: path.to_owned(), file, whole_bytes, is_torn: !torn.is_empty() })
    }

    pub(crate) fn append(&mut self, place: &Place, record: &GameRecord) -> Result<(), Error> {
        let path = self.path.clone();
        let io = |refusal: std::io::Error| refused(&path, refusal);
        let line = to_line(place, record);
        if self.is_torn {
            self.file.set_len(self.whole_bytes).map_err(io)?;
        }
        // Part of the line may be there after an error; another thread may have a game to add then.
        self.is_torn = true;
        self.file.seek(SeekFrom::Start(self.whole_bytes)).map_err(io)?;
        self.file.write_all(line.as_bytes()).map_err(io)?;
        self.whole_bytes += line.len() as u64;
        self.is_torn = false;
        if self.is_in_place() {
            return Ok(());
        }
        let reason = "the ledger was deleted or replaced while games were being added to it, and the games are gone with it; \
                      put it back, or run the command again to play them anew";
        Err(refused(&path, reason))
    }

    fn is_in_place(&self) -> bool {
        let (Ok(own), Ok(there)) = (self.file.metadata(), fs::metadata(&self.path)) else { return false };
        is_same_file(&own, &there)
    }
}

#[cfg(unix)]
fn is_same_file(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Elsewhere an open file cannot be deleted.
#[cfg(not(unix))]
fn is_same_file(_: &Metadata, _: &Metadata) -> bool {
    true
}

//! The ledger of a match: an append-only file with one finished game per line.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use latrunculi_engine::GameRecord;
use latrunculi_engine::record::{RecordFault, read_line};
use serde::{Deserialize, Serialize};

/// The reasons why a ledger cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The operating system reports an error.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// Another match writes to it.
    #[error("{}: another match is writing to this ledger", path.display())]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// A game of this match was played with networks computed otherwise.
    #[error(
        "{}, line {line}: the networks of this game were computed by {found}, now they are by {wanted}; games repeat only \
         with the same kernel: use --device and --precision as then, or another ledger",
        path.display()
    )]
    OtherKernel {
        /// The file.
        path: PathBuf,
        /// The line number, from 1.
        line: usize,
        /// The kernels of the game.
        found: String,
        /// The kernels now.
        wanted: String,
    },
    /// A line is invalid.
    #[error("{}, line {line}: {fault}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line number, from 1.
        line: usize,
        /// The error.
        fault: RecordFault,
    },
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

/// A game read from a ledger.
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
}

impl Ledger {
    /// Opens or creates a ledger and returns its games of the wanted series. An incomplete last line, left by a
    /// killed program, is removed.
    pub(crate) fn open(
        path: &Path,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<(Ledger, Vec<LedgerGame>), LedgerError> {
        let io = |source| LedgerError::Io { path: path.to_owned(), source };
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(io)?;
        if !file.metadata().map_err(io)?.is_file() {
            // Reading a device may never end.
            return Err(io(std::io::Error::new(std::io::ErrorKind::InvalidInput, "it is not a file")));
        }
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(LedgerError::InUse { path: path.to_owned() }),
            Err(TryLockError::Error(source)) => return Err(io(source)),
        }
        let mut input = BufReader::new(&file);
        let (mut whole_bytes, mut number, mut torn) = (0, 0, String::new());
        let mut games = Vec::new();
        loop {
            number += 1;
            let unreadable = |error: std::io::Error| {
                io(std::io::Error::new(error.kind(), format!("line {number} cannot be read: {error}")))
            };
            let Some(line) = read_line(&mut input).map_err(unreadable)? else { break };
            if !line.ends_with('\n') {
                torn = line;
                break;
            }
            whole_bytes += line.len() as u64;
            if line.trim().is_empty() {
                continue;
            }
            let wrong = |fault| LedgerError::Line { path: path.to_owned(), line: number, fault };
            let record = GameRecord::from_line(&line).map_err(wrong)?;
            let place: Place = serde_json::from_str(&line).map_err(|error| wrong(error.into()))?;
            if is_wanted(&place.series) {
                games.push(LedgerGame { line: number, place, record });
            }
        }
        // Only an incomplete ledger line may be removed.
        let is_torn_line = torn.starts_with(LINE_START) || LINE_START.starts_with(&torn);
        if !is_torn_line {
            let fault = match GameRecord::from_line(&torn) {
                Err(fault) => fault,
                Ok(_) => RecordFault::Contradiction {
                    field: "the line's end",
                    found: "missing".to_owned(),
                    expected: "there".to_owned(),
                },
            };
            return Err(LedgerError::Line { path: path.to_owned(), line: number, fault });
        }
        file.set_len(whole_bytes).map_err(io)?;
        file.seek(SeekFrom::End(0)).map_err(io)?;
        Ok((Ledger { path: path.to_owned(), file }, games))
    }

    /// Appends a game.
    pub(crate) fn append(&mut self, place: &Place, record: &GameRecord) -> Result<(), LedgerError> {
        let io = |source| LedgerError::Io { path: self.path.clone(), source };
        let mut line = serde_json::to_string(&Line { place, record }).map_err(|error| io(error.into()))?;
        line.push('\n');
        self.file.write_all(line.as_bytes()).map_err(io)
    }

    /// Returns the error of a readable line whose game is not valid in this match.
    pub(crate) fn fault(&self, line: usize, fault: RecordFault) -> LedgerError {
        LedgerError::Line { path: self.path.clone(), line, fault }
    }
}

//! What can go wrong.

use std::path::PathBuf;

use latrunculi_search::EvalError;

/// Why games were not played to the end.
#[derive(Debug, thiserror::Error)]
pub enum SelfPlayError {
    /// The evaluator failed.
    #[error(transparent)]
    Evaluation(#[from] EvalError),
    /// The watcher asked to stop.
    #[error("stopped")]
    Stopped,
    /// A game could not be written to the journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The settings are out of range, with every reason.
    #[error("the games cannot be set up: {}", .0.join("; "))]
    Settings(Vec<String>),
    /// Game after game has no decision from which samples could be made, so nothing would be learnt.
    #[error(
        "{games} games of {ruleset} in turn gave no samples: hardly any action of theirs is a choice, or their beginnings are too long (selfplay.starts); shorten these, or train on another ruleset"
    )]
    NoSamples {
        /// The ruleset.
        ruleset: String,
        /// The games.
        games: u64,
    },
    /// The state of a pool cannot be continued.
    #[error("the games in flight of pool {pool}: {reason}")]
    State {
        /// Name of the pool.
        pool: String,
        /// What is wrong.
        reason: String,
    },
    /// The states of pools could not be written or read.
    #[error("the games in flight: {0}")]
    States(String),
}

/// A journal could not be read or written.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {attempt}: {source}", path = .path.display())]
pub struct JournalError {
    /// The file.
    pub path: PathBuf,
    /// What was being done.
    pub attempt: &'static str,
    /// The error of the system.
    pub source: std::io::Error,
}

//! What can go wrong, one type per thing that is attempted.

use std::path::PathBuf;

use latrunculi_search::EvalError;

/// Why games were not played to the end.
#[derive(Debug, thiserror::Error)]
pub enum SelfPlayError {
    /// The evaluator failed.
    #[error(transparent)]
    Evaluation(#[from] EvalError),
    /// Whoever watches asked to stop.
    #[error("stopped")]
    Stopped,
    /// A game could not be written down.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The settings are out of range, every reason named.
    #[error("the games cannot be set up: {}", .0.join("; "))]
    Settings(Vec<String>),
}

/// The system refused a journal.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {attempt}: {source}", path = .path.display())]
pub struct JournalError {
    /// The file.
    pub path: PathBuf,
    /// What was being done.
    pub attempt: &'static str,
    /// The system's answer.
    pub source: std::io::Error,
}

/// Why a shard could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum ShardError {
    /// The system refused.
    #[error("{path}: {attempt}: {source}", path = .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was being done.
        attempt: &'static str,
        /// The system's answer.
        source: std::io::Error,
    },
    /// It is not an npz file, or it is cut off or damaged.
    #[error("{path}: not a whole npz file: {reason}", path = .path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// What was found.
        reason: String,
    },
    /// An array is missing or not as it must be.
    #[error("{path}: array '{array}': {reason}", path = .path.display())]
    Array {
        /// The file.
        path: PathBuf,
        /// The array.
        array: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// It was written in a format that this program does not read.
    #[error("{path}: shard version {found}, this program reads {known}", path = .path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Version of the file.
        found: u32,
        /// Version that is read.
        known: u32,
    },
    /// Its positions have another shape.
    #[error("{path}: its positions have the shape {found} and {wanted} is wanted", path = .path.display())]
    Shape {
        /// The file.
        path: PathBuf,
        /// Shape of the file.
        found: String,
        /// Shape that is wanted.
        wanted: String,
    },
    /// It was played under other rules.
    #[error("{path}: it was played under the ruleset '{found}' and '{wanted}' is wanted, or a parameter differs", path = .path.display())]
    Ruleset {
        /// The file.
        path: PathBuf,
        /// Name of the file's ruleset.
        found: String,
        /// Name of the ruleset that is wanted.
        wanted: String,
    },
}

//! The error of this crate.

use std::path::Path;

use latrunculi_stats::StatisticsError;
use latrunculi_store::StoreError;

use crate::agents::AgentError;

/// Why a match, a rating, a study or what is read of them cannot be had. What has been played by then stands in the ledgers.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Something given cannot be used. The text names it and the way out.
    #[error("{0}")]
    Refused(String),
    /// An agent cannot be made or cannot choose.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// The store of the workers cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Error {
    pub(crate) fn of_file(path: &Path, reason: impl std::fmt::Display) -> Error {
        Error::Refused(format!("{}: {reason}", path.display()))
    }
}

impl From<StatisticsError> for Error {
    fn from(error: StatisticsError) -> Error {
        Error::Refused(error.to_string())
    }
}

impl From<rayon::ThreadPoolBuildError> for Error {
    fn from(error: rayon::ThreadPoolBuildError) -> Error {
        Error::Refused(format!("the threads cannot be started: {error}"))
    }
}

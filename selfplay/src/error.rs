//! What can go wrong.

use latrunculi_search::EvalError;

/// Why games were not played to the end.
#[derive(Debug, thiserror::Error)]
pub enum SelfPlayError {
    /// The watcher asked to stop.
    #[error("stopped")]
    Stopped,
    /// What failed, in words.
    #[error("{0}")]
    Failed(String),
}

impl From<EvalError> for SelfPlayError {
    fn from(error: EvalError) -> Self {
        SelfPlayError::Failed(error.to_string())
    }
}

impl From<latrunculi_data::Error> for SelfPlayError {
    fn from(error: latrunculi_data::Error) -> Self {
        SelfPlayError::Failed(error.0)
    }
}

//! The errors of this crate.

use std::path::Path;

/// What is wrong with a network, a device or a file, in words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Error(pub(crate) String);

impl Error {
    pub(crate) fn of_file(self, path: &Path) -> Error {
        Error(format!("{}: {self}", path.display()))
    }
}

impl From<tch::TchError> for Error {
    fn from(error: tch::TchError) -> Self {
        let text = error.to_string();
        Error(format!("libtorch: {}", text.lines().next().unwrap_or_default().trim()))
    }
}

impl From<latrunculi_data::Error> for Error {
    fn from(error: latrunculi_data::Error) -> Self {
        Error(error.0)
    }
}

/// Why a training step was not made. The weights are as before it.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// A loss or a gradient is no longer a number.
    #[error("step {step}: the {what} is not a number; the weights were left as they were")]
    NotFinite {
        /// The step, from 0.
        step: u64,
        /// What is not a number.
        what: &'static str,
    },
    /// The batch does not fit, the settings are out of range, or libtorch failed.
    #[error(transparent)]
    Other(#[from] Error),
}

impl From<tch::TchError> for TrainError {
    fn from(error: tch::TchError) -> Self {
        TrainError::Other(error.into())
    }
}

impl From<latrunculi_data::Error> for TrainError {
    fn from(error: latrunculi_data::Error) -> Self {
        TrainError::Other(error.into())
    }
}

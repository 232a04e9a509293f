//! Errors of libtorch in the error type of a run.

use latrunculi_model::TrainError;
use latrunculi_train::Error;

/// Turns the errors of `latrunculi-model` into those of a run.
pub trait OfLibtorch<T> {
    /// Returns the value, or [`Error::Other`].
    fn of_libtorch(self) -> Result<T, Error>;
}

impl<T, E: std::error::Error + Send + Sync + 'static> OfLibtorch<T> for Result<T, E> {
    fn of_libtorch(self) -> Result<T, Error> {
        self.map_err(|error| Error::Other(Box::new(error)))
    }
}

/// Returns whether a loss or a gradient stopped being a number.
#[must_use]
pub fn is_divergence(error: &Error) -> bool {
    match error.root() {
        Error::Other(cause) => matches!(cause.downcast_ref(), Some(TrainError::NotFinite { .. })),
        _ => false,
    }
}

//! Why a training run, or a part of it, cannot go on.

use std::io;

use latrunculi_data::UnknownDevice;
use latrunculi_engine::{RulesetError, RulesetFileError};
use latrunculi_search::EvalError;
use latrunculi_selfplay::SelfPlayError;
use latrunculi_store::StoreError;

/// Why a training run, or a part of it, cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The caller asked the work to stop. The last checkpoint is whole; the run can be resumed from it.
    #[error("stopped")]
    Stopped,
    /// Something given (a configuration, a folder, a file) cannot be used. The text names it and the way out.
    #[error("{0}")]
    Refused(String),
    /// What was being attempted when `source` happened.
    #[error("{attempt}")]
    Attempt {
        /// What was being attempted, or the file concerned.
        attempt: String,
        /// The reason.
        source: Box<Error>,
    },
    /// The store of the workers cannot be used.
    #[error(transparent)]
    Store(StoreError),
    /// Anything else that failed.
    #[error(transparent)]
    Other(Box<dyn std::error::Error + Send + Sync>),
}

/// Says that each of these errors is one of a run.
macro_rules! also {
    ($($error:ty),+ $(,)?) => {
        $(impl From<$error> for Error {
            fn from(error: $error) -> Error {
                Error::Other(Box::new(error))
            }
        })+
    };
}

also!(
    io::Error,
    toml::de::Error,
    toml::ser::Error,
    serde_json::Error,
    RulesetError,
    RulesetFileError,
    UnknownDevice,
    EvalError,
    latrunculi_data::Error,
);

impl Error {
    /// Returns whether the work ended because the caller asked for it.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        matches!(self.root(), Error::Stopped)
    }

    /// Returns the error below all attempts.
    #[must_use]
    pub fn root(&self) -> &Error {
        match self {
            Error::Attempt { source, .. } => source.root(),
            error => error,
        }
    }

    /// Adds what was being attempted.
    #[must_use]
    pub fn context(self, attempt: impl Into<String>) -> Error {
        Error::Attempt { attempt: attempt.into(), source: Box::new(self) }
    }
}

impl From<latrunculi_eval::Error> for Error {
    fn from(error: latrunculi_eval::Error) -> Error {
        match error {
            latrunculi_eval::Error::Store(error) => error.into(),
            error => Error::Other(Box::new(error)),
        }
    }
}

impl From<SelfPlayError> for Error {
    fn from(error: SelfPlayError) -> Error {
        match error {
            SelfPlayError::Stopped => Error::Stopped,
            error => Error::Other(Box::new(error)),
        }
    }
}

/// Returns an error with its causes, `outer: inner`. A cause whose text is part of what stands before it is left out,
/// because many messages name their cause themselves.
#[must_use]
pub fn error_chain(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).fold(String::new(), |text, cause| {
        if text.is_empty() {
            cause
        } else if text.contains(&cause) {
            text
        } else {
            format!("{text}: {cause}")
        }
    })
}

/// Adds what was being attempted to an error.
pub trait Context<T> {
    /// Adds `attempt`; to nothing, [`Error::Refused`] with that text.
    fn context(self, attempt: impl Into<String>) -> Result<T, Error>;

    /// As [`Context::context`], with a text that is made only for an error.
    fn with_context<S: Into<String>>(self, attempt: impl FnOnce() -> S) -> Result<T, Error>;
}

impl<T, E: Into<Error>> Context<T> for Result<T, E> {
    fn context(self, attempt: impl Into<String>) -> Result<T, Error> {
        self.map_err(|error| error.into().context(attempt))
    }

    fn with_context<S: Into<String>>(self, attempt: impl FnOnce() -> S) -> Result<T, Error> {
        self.map_err(|error| error.into().context(attempt()))
    }
}

impl<T> Context<T> for Option<T> {
    fn context(self, attempt: impl Into<String>) -> Result<T, Error> {
        self.ok_or_else(|| Error::Refused(attempt.into()))
    }

    fn with_context<S: Into<String>>(self, attempt: impl FnOnce() -> S) -> Result<T, Error> {
        self.ok_or_else(|| Error::Refused(attempt().into()))
    }
}

/// Returns [`Error::Refused`] with a formatted text.
#[macro_export]
macro_rules! bail {
    ($($text:tt)*) => {
        return Err($crate::Error::Refused(format!($($text)*)))
    };
}
pub use bail;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_is_named_once() {
        let error = Error::Refused("no such file".to_owned()).context("a.toml: no such file").context("the match");
        assert_eq!(error_chain(&error), "the match: a.toml: no such file");
        assert_eq!(error_chain(&Error::Stopped), "stopped");
        assert!(Error::Stopped.context("the match").is_stopped());
    }
}

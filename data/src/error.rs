//! The error of this crate, for a person to read.

use std::fmt::Display;
use std::path::Path;

/// What is wrong with a batch, an array or a file, in words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Error(pub String);

impl Error {
    /// Names the file that `reason` is said of.
    pub fn of_file(path: &Path, reason: impl Display) -> Error {
        Error(format!("{}: {reason}", path.display()))
    }

    /// The system refuses to read a file.
    #[must_use]
    pub fn reading(path: &Path, refusal: &std::io::Error) -> Error {
        Error::of_file(path, format_args!("reading it: {refusal}"))
    }

    /// The system refuses to write a file.
    #[must_use]
    pub fn writing(path: &Path, refusal: &std::io::Error) -> Error {
        Error::of_file(path, format_args!("writing it: {refusal}"))
    }

    pub(crate) fn of_array(name: &str, reason: impl Display) -> Error {
        Error(format!("array '{name}': {reason}"))
    }

    /// A vector of a batch has an entry that is out of range.
    #[must_use]
    pub fn out_of_range(name: &str, index: usize) -> Error {
        Error(format!("'{name}' of the batch has an entry that is out of range at {index}"))
    }
}

/// Checks the length of a vector of a batch.
pub fn check_length(name: &str, found: usize, expected: usize) -> Result<(), Error> {
    let wrong = || Error(format!("'{name}' of the batch has {found} entries where {expected} are needed"));
    if found == expected { Ok(()) } else { Err(wrong()) }
}

//! What does not count is moved aside, with the reason.

use serde::{Deserialize, Serialize};

use crate::errors::StoreError;
use crate::store::{Store, sha256};

/// The folder of what was moved aside.
pub const REJECTED: &str = "rejected";

/// Why an object was moved aside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// The name that it had.
    pub name: String,
    /// What is wrong with it.
    pub reason: String,
    /// Its size; one that is too large to be read is not kept.
    pub bytes: u64,
}

/// What an object holds; its size where that is more than is read.
pub type Content = Result<Vec<u8>, u64>;

/// Returns the name that an object has once it was moved aside; `hash` is the SHA-256 of what it holds.
pub(crate) fn place_aside(name: &str, hash: &str) -> String {
    format!("{REJECTED}/{name}.{}", hash.get(..16).unwrap_or(hash))
}

impl Store {
    /// Reads an object as [`Store::read`] does, but one that has more than `bytes_max` bytes is no error.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn read_content(&self, name: &str, bytes_max: u64) -> Result<Option<Content>, StoreError> {
        match self.read(name, bytes_max) {
            Ok(content) => Ok(content.map(Ok)),
            Err(StoreError::TooLarge { bytes, .. }) => Ok(Some(Err(bytes))),
            Err(error) => Err(error),
        }
    }

    /// Moves an object aside, so that its name is free: what was read of it and the reason are kept in `rejected/`. An
    /// object that has been replaced meanwhile stays; one that is too large is not kept.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn set_aside(&self, name: &str, content: &Content, reason: &str) -> Result<(), StoreError> {
        let place = place_aside(name, &content.as_ref().map_or_else(|_| "large".to_owned(), |read| sha256(read)));
        let bytes = content.as_ref().map_or_else(|bytes| *bytes, |read| read.len() as u64);
        let reason = Reason { name: name.to_owned(), reason: reason.to_owned(), bytes };
        if let Ok(read) = content {
            self.create(&place, read)?;
            // Somebody else who moved it aside may have made room for a better one.
            if self.read_content(name, read.len() as u64)?.as_ref() != Some(content) {
                return Ok(());
            }
        }
        let text = serde_json::to_vec(&reason).unwrap_or_default();
        self.create(&format!("{place}.reason.json"), &text)?;
        self.remove(name)
    }
}

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

impl Store {
    /// Moves an object aside, so that its name is free: what was read of it and the reason are kept in `rejected/`. An
    /// object that has been replaced meanwhile stays. `content` is `None` where it is too large to be read.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn set_aside(&self, name: &str, content: Option<&[u8]>, bytes: u64, reason: &str) -> Result<(), StoreError> {
        let place = format!(
            "{REJECTED}/{name}.{}",
            content.map_or_else(|| "large".to_owned(), |read| sha256(read)[..16].to_owned())
        );
        let reason = Reason { name: name.to_owned(), reason: reason.to_owned(), bytes };
        if let Some(content) = content {
            self.create(&place, content)?;
            // Somebody else who moved it aside may have made room for a better one.
            if self.read(name, content.len() as u64).is_ok_and(|there| there.as_deref() != Some(content)) {
                return Ok(());
            }
        }
        let text = serde_json::to_vec(&reason).unwrap_or_default();
        self.create(&format!("{place}.reason.json"), &text)?;
        self.remove(name)
    }
}

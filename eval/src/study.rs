//! Balance studies: how large is the first player's advantage under each ruleset, and how sure are we?

pub mod settings;
pub mod summary;

pub use settings::{OpeningSettings, StudySettings};
pub use summary::StudySummary;

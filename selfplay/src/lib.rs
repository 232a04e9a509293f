//! Plays many games at once and turns them into training samples.
//!
//! No network is named here: callers bring an evaluator ([`latrunculi_search::Evaluator`]), such as a network, or let
//! alpha-beta play ([`TeacherSettings`]).

pub mod error;
pub mod games;
pub mod journal;
pub mod seeds;
pub mod settings;
pub mod teacher;
pub mod weighting;

mod active_game;
mod cache;
mod openings;

pub use error::{JournalError, SelfPlayError};
pub use games::{PlayedGame, Progress, SelfPlayPlan, Watch, play_games};
pub use journal::Journal;
pub use seeds::{GameKey, Purpose};
pub use settings::{PlayoutCapSettings, SelfPlaySettings, StartSettings};
pub use teacher::{TeacherSettings, ValueSettings};
pub use weighting::{ResignationSettings, SurpriseSettings};

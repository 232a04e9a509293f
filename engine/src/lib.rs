//! Latrunculi, the game: every reconstruction as data, and one engine that plays them all.

mod outcome;
mod player;

pub use outcome::{EndReason, Outcome};
pub use player::Player;

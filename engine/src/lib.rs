//! The game: every reconstruction as data ([`Ruleset`]), one engine that plays them all ([`Rules`], [`GameState`]).
//! No threads, no clock, no randomness, no files.

mod action;
mod capture;
pub mod conformance;
mod ends;
mod geometry;
mod handicap;
mod legal;
mod measures;
mod movement;
mod names;
mod notation;
mod outcome;
pub mod parameters;
pub mod perft;
mod play;
mod player;
mod playout;
mod position;
pub mod presets;
pub mod record;
mod rules;
pub mod ruleset;
mod ruleset_file;
mod squares;
mod state;
mod state_json;
mod symmetry;
mod threats;
mod zobrist;

pub use action::{Action, ActionKind};
pub use ends::MayEnd;
pub use geometry::{Direction, STEPS, Shifts, each_direction};
pub use notation::{ActionError, PositionError};
pub use outcome::{EndReason, Outcome};
pub use player::Player;
pub use playout::play_out;
pub use position::{Continuation, Hand, Holds, Phase, Piece, Position, Shuttle};
pub use record::{GameRecord, RecordError, RecordFault, RecordedResult};
pub use rules::{Rules, RulesetError, RulesetFault};
pub use ruleset::Ruleset;
pub use ruleset_file::{Evidence, FileFault, RulesetFile, RulesetFileError, text_fault};
pub use squares::{Bits, SQUARES_MAX, Square, SquareSet};
pub use state::GameState;
pub use symmetry::Symmetry;
pub use threats::Threats;

/// The example of README.md.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

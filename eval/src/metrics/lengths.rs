//! How long games are.

use serde::{Deserialize, Serialize};

use super::estimates::{Measured, Rate};

/// How long games are, in actions and in turns.
///
/// An action is one atomic decision (one stone placed, one move, one continuation); a turn is all that one
/// player does until the other is to act. Openings that were played at random are part of the length.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lengths {
    /// Actions per game.
    pub actions: LengthSummary,
    /// Turns per game.
    pub turns: LengthSummary,
    /// Turns of the placement phase; `None` where nothing is placed.
    pub placement_turns: Option<LengthSummary>,
    /// Turns of the movement phase; `None` where nothing is placed, since they are all turns then.
    pub movement_turns: Option<LengthSummary>,
    /// Actions per turn.
    pub actions_per_turn: Measured,
    /// The same by the reason for which games ended.
    pub by_reason: Vec<ReasonLengths>,
    /// How likely a game is to end within a range of turns if it has come so far.
    pub hazard: Vec<HazardBin>,
}

/// How long the games are that ended for one reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReasonLengths {
    /// The reason, as game records write it; empty where a game was given up.
    pub reason: String,
    /// Actions per game.
    pub actions: LengthSummary,
    /// Turns per game.
    pub turns: LengthSummary,
}

/// A distribution of lengths; the observations are games.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LengthSummary {
    /// The mean.
    pub mean: Measured,
    /// The median.
    pub median: Measured,
    /// The length that 5 % of the games do not exceed.
    pub p5: Measured,
    /// The length that 95 % of the games do not exceed.
    pub p95: Measured,
    /// The shortest game.
    pub shortest: u32,
    /// The longest game.
    pub longest: u32,
}

/// How likely a game is to end within a range of turns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HazardBin {
    /// The first turn of the range, from 1.
    pub from_turn: u32,
    /// The last turn of the range.
    pub to_turn: u32,
    /// Of the games that reach the range, those that end in it.
    pub ended: Rate,
    /// The hazard of a single turn in the range, `1 − (1 − rate)^(1/width)`.
    pub per_turn: f64,
}

//! What of the board is used, and how the pieces become fewer.

use serde::{Deserialize, Serialize};

use super::estimates::{Curve, Measured, Rate};
use crate::statistics::Estimate;

/// What of the board is used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BoardUse {
    /// Files of the board.
    pub files: u32,
    /// Ranks of the board.
    pub ranks: u32,
    /// The share of squares on which a piece ends a move, per game; the observations are games.
    pub coverage: Measured,
    /// The share of squares on which a piece ends a move in any of the games.
    pub coverage_of_all_games: f64,
    /// What happens on each square, player 1 (South) first.
    pub heat: [HeatMap; 2],
}

/// What one colour does on each square; squares along the ranks from a1. Each number has a standard error
/// over openings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeatMap {
    /// 1 or 2.
    pub player: u8,
    /// Moves of his that end there, per game; placements do not count.
    pub moved_to: Vec<Estimate>,
    /// Pieces of his that are taken there, per game.
    pub captured_on: Vec<Estimate>,
    /// The share of turns at whose beginning one of his pieces stands there.
    pub occupancy: Vec<Estimate>,
}

/// Pieces on the board, duces included, at the beginning of each turn; the last number goes on after a game's end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PieceCurves {
    /// Of the first player.
    pub first: Curve,
    /// Of the second player.
    pub second: Curve,
}

/// How often positions come back within a game.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Repetition {
    /// Of all positions at the beginning of a turn, those that stood in the same game before, with the same
    /// player to act.
    pub positions: Rate,
    /// Games in which any does.
    pub games: Rate,
}

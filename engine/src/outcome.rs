//! How a game ended.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::player::Player;

/// The end of a game: who won, if anybody, and why it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Outcome {
    /// The winner; `None` is a draw.
    pub winner: Option<Player>,
    /// What ended the game.
    pub reason: EndReason,
}

impl Outcome {
    /// Returns the result in `{1, 0, -1}` from the point of view of `player`.
    #[must_use]
    pub fn value_for(self, player: Player) -> f32 {
        match self.winner {
            None => 0.0,
            Some(winner) if winner == player => 1.0,
            Some(_) => -1.0,
        }
    }
}

/// What ended a game (SPECIFICATION.md, section 1, "Order of resolution", step 5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum EndReason {
    /// A dux was enclosed (`dux.capture = enclosure`, `end.win_dux`).
    DuxEnclosed,
    /// A dux was taken off the board (`dux.capture = as_man` or displacement, `end.win_dux`).
    DuxCaptured,
    /// A side was reduced to `end.eliminate_at`.
    Eliminated,
    /// `end.quiet_limit` turns without a capture, or both sides passed.
    Blockade,
    /// The same position a third time (`end.repetition = threefold_draw`).
    Repetition,
    /// The player to act had no legal action (`end.no_move = loss` or `draw`).
    NoLegalMove,
    /// The engine's arbitration cap, never a rule of the game.
    MaxPlies,
}

impl EndReason {
    /// Every reason.
    pub const ALL: [EndReason; 7] = [
        EndReason::DuxEnclosed,
        EndReason::DuxCaptured,
        EndReason::Eliminated,
        EndReason::Blockade,
        EndReason::Repetition,
        EndReason::NoLegalMove,
        EndReason::MaxPlies,
    ];

    /// Tells whether the game ended because a dux was lost.
    #[must_use]
    pub const fn is_dux_lost(self) -> bool {
        matches!(self, EndReason::DuxEnclosed | EndReason::DuxCaptured)
    }

    /// Returns the text used in rule cases and game records.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            EndReason::DuxEnclosed => "dux enclosed",
            EndReason::DuxCaptured => "dux captured",
            EndReason::Eliminated => "eliminated",
            EndReason::Blockade => "blockade",
            EndReason::Repetition => "repetition",
            EndReason::NoLegalMove => "no legal move",
            EndReason::MaxPlies => "ply cap",
        }
    }
}

impl fmt::Display for EndReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

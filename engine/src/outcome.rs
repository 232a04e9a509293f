//! How a game ended.

use serde::{Deserialize, Serialize};

use crate::named;
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

named! {
    /// What ended a game (SPECIFICATION.md, section 1, "Order of resolution", step 5), with its text in rule cases and records.
    #[derive(PartialOrd, Ord, Serialize, Deserialize)]
    pub EndReason {
        /// A dux was enclosed (`dux.capture = enclosure`, `end.win_dux`).
        DuxEnclosed = "dux enclosed",
        /// A dux was taken off the board (`dux.capture = as_man` or displacement, `end.win_dux`).
        DuxCaptured = "dux captured",
        /// A side was reduced to `end.eliminate_at`.
        Eliminated = "eliminated",
        /// `end.quiet_limit` turns without a capture, or both sides passed.
        Blockade = "blockade",
        /// The same position a third time (`end.repetition = threefold_draw`).
        Repetition = "repetition",
        /// The player to act had no legal action (`end.no_move = loss` or `draw`).
        NoLegalMove = "no legal move",
        /// The engine's arbitration cap, never a rule of the game.
        MaxPlies = "ply cap",
    }
}

impl EndReason {
    /// Returns the reason in words for people; [`crate::GameState::end_words`] knows more of one game.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            EndReason::Eliminated => "men captured down to the limit",
            EndReason::Blockade => "too long without a capture, or both sides blocked",
            EndReason::Repetition => "position repeated",
            EndReason::NoLegalMove => "a player could not move",
            EndReason::MaxPlies => "cut off by the program's turn limit",
            EndReason::DuxEnclosed | EndReason::DuxCaptured => self.as_str(),
        }
    }

    /// Returns the words for the name of a reason, as records have it; empty stands for a game that was given up.
    #[must_use]
    pub fn words_for(name: &str) -> &str {
        match EndReason::from_name(name) {
            Some(reason) => reason.words(),
            None if name.is_empty() => "resigned",
            None => name,
        }
    }

    /// Tells whether the game ended because a dux was lost.
    #[must_use]
    pub const fn is_dux_lost(self) -> bool {
        matches!(self, EndReason::DuxEnclosed | EndReason::DuxCaptured)
    }
}

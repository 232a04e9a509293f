//! The two players.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One of the two players.
/// `First` is player 1 of SPECIFICATION.md: South, upper case in drawings, forward is up the ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(u8)]
pub enum Player {
    /// Player 1, South, upper case.
    First = 0,
    /// Player 2, North, lower case.
    Second = 1,
}

impl Player {
    /// Both players, first one first.
    pub const BOTH: [Player; 2] = [Player::First, Player::Second];

    /// Returns the other player.
    #[inline]
    #[must_use]
    pub const fn opponent(self) -> Player {
        match self {
            Player::First => Player::Second,
            Player::Second => Player::First,
        }
    }

    /// Returns 0 for the first player and 1 for the second, to index arrays by player.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Returns 1 or 2, as players are numbered in SPECIFICATION.md and in files.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8 + 1
    }

    /// Returns the player of that number, if it is 1 or 2.
    #[must_use]
    pub const fn from_number(number: u64) -> Option<Player> {
        match number {
            1 => Some(Player::First),
            2 => Some(Player::Second),
            _ => None,
        }
    }
}

impl fmt::Display for Player {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "player {}", self.number())
    }
}

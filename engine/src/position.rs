//! Positions: the stones now, whose decision it is, and the counters that run with them.

use crate::player::Player;
use crate::squares::{Square, SquareSet};
use crate::zobrist;

/// A man or the dux.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Piece {
    /// Ordinary piece (latro, BEAD, pion).
    Man = 0,
    /// The one special piece of a side (king).
    Dux = 1,
}

impl Piece {
    /// Returns the letter of the piece: upper case for the first player, lower case for the second.
    #[must_use]
    pub const fn letter(self, owner: Player) -> char {
        match (self, owner) {
            (Piece::Man, Player::First) => 'M',
            (Piece::Man, Player::Second) => 'm',
            (Piece::Dux, Player::First) => 'D',
            (Piece::Dux, Player::Second) => 'd',
        }
    }

    /// Returns the piece and owner of that letter.
    #[must_use]
    pub const fn from_letter(letter: char) -> Option<(Piece, Player)> {
        Some(match letter {
            'M' => (Piece::Man, Player::First),
            'm' => (Piece::Man, Player::Second),
            'D' => (Piece::Dux, Player::First),
            'd' => (Piece::Dux, Player::Second),
            _ => return None,
        })
    }
}

/// Whether stones are still being placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Stones go from the hand onto the board.
    Placement,
    /// Pieces move.
    Movement,
}

/// Stones that a player has yet to place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Hand {
    /// Men.
    pub men: u8,
    /// Duces, 0 or 1.
    pub dux: u8,
}

impl Hand {
    /// Counts all stones in hand.
    #[must_use]
    pub const fn stones(self) -> u8 {
        self.men + self.dux
    }
}

/// The piece that may go on after a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Continuation {
    /// Where it stands.
    pub square: Square,
    /// Continuation moves it has made this turn.
    pub moves_made: u8,
}

/// A player's run of moves to and fro with one piece (`end.repetition = shuttle3`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shuttle {
    /// Where the last own turn's move began.
    pub from: Square,
    /// Where it ended.
    pub to: Square,
    /// Own turns in a row that went between the two, this one included; at least 1.
    pub moves: u8,
}

/// What holds the bound pieces where a move must complete the binding (`capture.trigger = active`).
/// A hold belongs to its two flankers: when one of them leaves, the piece goes free even if it is also
/// flanked on another line, into which it walked itself. So each line has its own set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holds {
    /// By axis (rank, file, rising and falling diagonal), the pieces held between two flankers.
    pub(crate) lines: [SquareSet; 4],
    /// Pieces held by what stands on all their sides (`capture.corner`, `capture.man_by_enclosure`).
    pub(crate) sides: SquareSet,
}

impl Holds {
    pub(crate) fn held(&self) -> SquareSet {
        self.on_lines() | self.sides
    }

    /// Returns the pieces held on any line; those held from all sides only are not among them.
    #[must_use]
    pub fn on_lines(&self) -> SquareSet {
        self.lines.into_iter().fold(SquareSet::EMPTY, |all, line| all | line)
    }
}

/// The stones now and everything else about a game but its history.
/// Made by [`crate::Rules`] and only consistent with the rules that made it. Copying is cheap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    pub(crate) stones: [SquareSet; 2],
    pub(crate) dux: [Option<Square>; 2],
    pub(crate) bound: SquareSet,
    pub(crate) holds: Holds,
    pub(crate) hands: [Hand; 2],
    pub(crate) to_act: Player,
    pub(crate) phase: Phase,
    /// Stones still to place in this placement turn; 0 in the movement phase.
    pub(crate) group_left: u8,
    pub(crate) continuation: Option<Continuation>,
    /// A removal was made this turn and a move is still due (`capture.removal = precedes_move`).
    pub(crate) removed_this_turn: bool,
    pub(crate) quiet_turns: u16,
    pub(crate) turns: u16,
    pub(crate) passes: u8,
    pub(crate) shuttles: [Option<Shuttle>; 2],
    pub(crate) key: u64,
}

impl Position {
    /// Returns the squares of `player`'s stones, the dux included.
    #[inline]
    #[must_use]
    pub const fn stones(&self, player: Player) -> SquareSet {
        self.stones[player.index()]
    }

    /// Returns the squares of `player`'s men.
    #[inline]
    #[must_use]
    pub fn men(&self, player: Player) -> SquareSet {
        let mut men = self.stones(player);
        if let Some(dux) = self.dux(player) {
            men.remove(dux);
        }
        men
    }

    /// Returns where `player`'s dux stands, if it is on the board.
    #[inline]
    #[must_use]
    pub const fn dux(&self, player: Player) -> Option<Square> {
        self.dux[player.index()]
    }

    /// Returns the bound pieces of both sides.
    #[inline]
    #[must_use]
    pub const fn bound(&self) -> SquareSet {
        self.bound
    }

    /// Returns what `player` has yet to place.
    #[must_use]
    pub const fn hand(&self, player: Player) -> Hand {
        self.hands[player.index()]
    }

    /// Returns whose decision it is.
    #[inline]
    #[must_use]
    pub const fn player_to_act(&self) -> Player {
        self.to_act
    }

    /// Returns the phase of the game.
    #[must_use]
    pub const fn phase(&self) -> Phase {
        self.phase
    }

    /// Returns how many stones are left in the placement turn under way; 0 in the movement phase.
    #[must_use]
    pub const fn group_left(&self) -> u8 {
        self.group_left
    }

    /// Returns the piece that may go on after a capture, if there is one.
    #[inline]
    #[must_use]
    pub const fn continuation(&self) -> Option<Continuation> {
        self.continuation
    }

    /// Tells whether a removal was made this turn and the move is still due.
    #[must_use]
    pub const fn removed_this_turn(&self) -> bool {
        self.removed_this_turn
    }

    /// Tells whether a turn is under way: its player has acted and is to act again.
    #[must_use]
    pub const fn is_mid_turn(&self) -> bool {
        self.continuation.is_some() || self.removed_this_turn
    }

    /// Returns the turns of the movement phase since the last capture.
    #[must_use]
    pub const fn quiet_turns(&self) -> u16 {
        self.quiet_turns
    }

    /// Returns the turns played, placement included.
    #[must_use]
    pub const fn turns(&self) -> u16 {
        self.turns
    }

    /// Returns how many turns in a row were passes, 0 to 2.
    #[must_use]
    pub const fn passes(&self) -> u8 {
        self.passes
    }

    /// Returns `player`'s shuttle record, if the rules keep one.
    #[must_use]
    pub const fn shuttle(&self, player: Player) -> Option<Shuttle> {
        self.shuttles[player.index()]
    }

    /// Returns the piece on `square` and its owner.
    #[must_use]
    pub fn piece_at(&self, square: Square) -> Option<(Piece, Player)> {
        let owner = Player::BOTH.into_iter().find(|player| self.stones(*player).contains(square))?;
        Some((if self.dux(owner) == Some(square) { Piece::Dux } else { Piece::Man }, owner))
    }

    /// Returns the position's hash: board, side to act, hands, placement group, continuation, removal
    /// already made, bound flags. Not history, nor the counters beside the position (SPECIFICATION.md, section 1).
    #[inline]
    #[must_use]
    pub const fn key(&self) -> u64 {
        self.key
    }

    /// Computes [`Position::key`] anew from the whole position.
    #[must_use]
    pub fn key_from_scratch(&self) -> u64 {
        let mut key = self.key_without_stones();
        for player in Player::BOTH {
            for square in self.men(player).iter() {
                key ^= zobrist::stone(player, Piece::Man, square);
            }
            if let Some(dux) = self.dux(player) {
                key ^= zobrist::stone(player, Piece::Dux, dux);
            }
        }
        for square in self.bound.iter() {
            key ^= zobrist::bound(square);
        }
        key
    }

    /// Computes the part of the key that is neither stones nor bound flags.
    #[inline]
    pub(crate) fn key_without_stones(&self) -> u64 {
        let mut key = zobrist::to_act(self.to_act);
        if self.phase == Phase::Placement {
            key ^= zobrist::placement(self.hands, self.group_left);
        }
        if let Some(continuation) = self.continuation {
            key ^= zobrist::continuation(continuation.square, continuation.moves_made);
        }
        if self.removed_this_turn {
            key ^= zobrist::REMOVED_THIS_TURN;
        }
        key
    }

    /// Returns the key after a turn in which the piece on `from` goes to `to` and nothing else changes.
    pub(crate) fn key_after_shift(&self, from: Square, to: Square) -> u64 {
        let player = self.to_act;
        let piece = if self.dux(player) == Some(from) { Piece::Dux } else { Piece::Man };
        let shift = zobrist::stone(player, piece, from) ^ zobrist::stone(player, piece, to);
        self.key ^ shift ^ zobrist::to_act(player) ^ zobrist::to_act(player.opponent())
    }

    #[inline(always)]
    pub(crate) fn put(&mut self, player: Player, piece: Piece, square: Square) {
        self.stones[player.index()].insert(square);
        if piece == Piece::Dux {
            self.dux[player.index()] = Some(square);
        }
        self.key ^= zobrist::stone(player, piece, square);
    }

    #[inline(always)]
    pub(crate) fn take(&mut self, player: Player, square: Square) {
        self.stones[player.index()].remove(square);
        let piece = if self.dux[player.index()] == Some(square) {
            self.dux[player.index()] = None;
            Piece::Dux
        } else {
            Piece::Man
        };
        self.key ^= zobrist::stone(player, piece, square);
    }

    #[inline(always)]
    pub(crate) fn relocate(&mut self, player: Player, from: Square, to: Square) {
        let stones = &mut self.stones[player.index()];
        stones.remove(from);
        stones.insert(to);
        let dux = &mut self.dux[player.index()];
        let piece = if *dux == Some(from) {
            *dux = Some(to);
            Piece::Dux
        } else {
            Piece::Man
        };
        self.key ^= zobrist::stone(player, piece, from) ^ zobrist::stone(player, piece, to);
    }

    /// Returns what holds the bound pieces; empty unless the rules store it.
    #[must_use]
    pub const fn holds(&self) -> &Holds {
        &self.holds
    }

    /// Returns a hash of everything that the legal actions and captures depend on, history apart:
    /// [`Position::key`] and what holds the bound pieces.
    #[must_use]
    pub fn key_with_holds(&self) -> u64 {
        if self.bound.is_empty() {
            return self.key;
        }
        let words = self.holds.lines.iter().chain([&self.holds.sides]).flat_map(|set| set.0);
        words
            .enumerate()
            .filter(|(_, word)| *word != 0)
            .fold(self.key, |key, (index, word)| key ^ zobrist::with_counter(0, index as u64, word))
    }

    pub(crate) fn set_bound(&mut self, bound: SquareSet) {
        for square in (self.bound ^ bound).iter() {
            self.key ^= zobrist::bound(square);
        }
        self.bound = bound;
    }
}

//! Actions: the atomic decisions of which turns are made.

use std::fmt;

use crate::squares::Square;

/// One atomic decision inside a turn (SPECIFICATION.md, section 1, "action"), packed into 32 bits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Action(u32);

/// What an [`Action`] does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ActionKind {
    /// A piece moves; for a jump chain only start and final square matter.
    Move {
        /// Where it stands.
        from: Square,
        /// Where it comes to rest.
        to: Square,
    },
    /// A piece moves and takes one of several pieces that it flanks, of the mover's choice.
    MoveTaking {
        /// Where it stands.
        from: Square,
        /// Where it comes to rest.
        to: Square,
        /// The chosen piece.
        victim: Square,
    },
    /// A man is placed.
    PlaceMan(Square),
    /// The dux is placed.
    PlaceDux(Square),
    /// Bound pieces are removed: every removable piece, those of one line, or one.
    Remove {
        /// The removed piece of lowest square index.
        first: Square,
        /// The removed piece of highest square index.
        last: Square,
    },
    /// A continuation is declined.
    Stop,
    /// Nothing else is possible.
    Pass,
}

const MOVE: u32 = 0;
const MOVE_TAKING: u32 = 1;
const PLACE_MAN: u32 = 2;
const PLACE_DUX: u32 = 3;
const REMOVE: u32 = 4;
const STOP: u32 = 5;
const PASS: u32 = 6;

impl Action {
    /// Declines a continuation.
    pub const STOP: Action = Action(STOP << 24);
    /// Passes.
    pub const PASS: Action = Action(PASS << 24);

    #[inline(always)]
    const fn pack(kind: u32, from: Square, to: Square, victim: Square) -> Action {
        Action(kind << 24 | (victim.0 as u32) << 16 | (to.0 as u32) << 8 | from.0 as u32)
    }

    /// Returns the action that moves a piece.
    #[inline(always)]
    #[must_use]
    pub const fn moving(from: Square, to: Square) -> Action {
        Action::pack(MOVE, from, to, Square(0))
    }

    /// Returns the action that moves a piece and takes `victim`, one of several that it flanks.
    #[inline(always)]
    #[must_use]
    pub const fn moving_taking(from: Square, to: Square, victim: Square) -> Action {
        Action::pack(MOVE_TAKING, from, to, victim)
    }

    /// Returns the action that places a man.
    #[inline(always)]
    #[must_use]
    pub const fn placing_man(square: Square) -> Action {
        Action::pack(PLACE_MAN, square, square, Square(0))
    }

    /// Returns the action that places the dux.
    #[inline(always)]
    #[must_use]
    pub const fn placing_dux(square: Square) -> Action {
        Action::pack(PLACE_DUX, square, square, Square(0))
    }

    /// Returns the action that removes the bound pieces from `first` to `last`.
    #[inline(always)]
    #[must_use]
    pub const fn removing(first: Square, last: Square) -> Action {
        Action::pack(REMOVE, first, last, Square(0))
    }

    /// Returns what the action does.
    #[inline]
    #[must_use]
    pub const fn kind(self) -> ActionKind {
        let (from, to) = (Square(self.0 as u8), Square((self.0 >> 8) as u8));
        match self.0 >> 24 {
            MOVE => ActionKind::Move { from, to },
            MOVE_TAKING => ActionKind::MoveTaking { from, to, victim: Square((self.0 >> 16) as u8) },
            PLACE_MAN => ActionKind::PlaceMan(from),
            PLACE_DUX => ActionKind::PlaceDux(from),
            REMOVE => ActionKind::Remove { first: from, last: to },
            STOP => ActionKind::Stop,
            _ => ActionKind::Pass,
        }
    }
}

impl fmt::Debug for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind().fmt(f)
    }
}

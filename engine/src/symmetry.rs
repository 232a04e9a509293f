//! Symmetries of the board that the rules share.

use crate::action::{Action, ActionKind};
use crate::geometry::STEPS;
use crate::player::Player;
use crate::position::{Continuation, Holds, Position, Shuttle};
use crate::rules::Rules;
use crate::ruleset::StepDirections;
use crate::squares::{Bits, Square, SquareSet};

/// One of the eight symmetries of the square: first perhaps swap files and ranks, then perhaps mirror the
/// files, then perhaps mirror the ranks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Symmetry {
    /// Files become ranks and ranks files.
    pub transpose: bool,
    /// Left becomes right.
    pub mirror_files: bool,
    /// Up becomes down.
    pub mirror_ranks: bool,
}

impl Symmetry {
    /// The symmetry that changes nothing.
    pub const IDENTITY: Symmetry = Symmetry { transpose: false, mirror_files: false, mirror_ranks: false };
    /// Left becomes right: a symmetry of every ruleset.
    pub const MIRROR: Symmetry = Symmetry { transpose: false, mirror_files: true, mirror_ranks: false };
    /// Up becomes down.
    const FLIP: Symmetry = Symmetry { transpose: false, mirror_files: false, mirror_ranks: true };
}

impl Rules {
    /// Returns the symmetries under which these rules do not change, the identity first.
    /// The left-right mirror always is one. Up and down, which exchanges the two players' sides of the
    /// board but not the players, is one where no piece has a forward direction; swapping files and ranks
    /// needs a square board besides.
    #[must_use]
    pub fn symmetries(&self) -> Vec<Symmetry> {
        let has_forward = [&self.ruleset.man, &self.ruleset.dux_movement]
            .iter()
            .any(|movement| movement.step == StepDirections::ForwardSideways);
        let transposes: &[bool] = if !has_forward && self.files() == self.ranks() { &[false, true] } else { &[false] };
        let flips: &[bool] = if has_forward { &[false] } else { &[false, true] };
        let mut symmetries = Vec::new();
        for &transpose in transposes {
            for &mirror_ranks in flips {
                for mirror_files in [false, true] {
                    symmetries.push(Symmetry { transpose, mirror_files, mirror_ranks });
                }
            }
        }
        symmetries
    }

    /// Returns where `symmetry` takes a square.
    #[must_use]
    pub fn map_square(&self, symmetry: Symmetry, square: Square) -> Square {
        let (mut file, mut rank) = (square.0 % self.geometry.files, square.0 / self.geometry.files);
        if symmetry.transpose {
            (file, rank) = (rank, file);
        }
        if symmetry.mirror_files {
            file = self.geometry.files - 1 - file;
        }
        if symmetry.mirror_ranks {
            rank = self.geometry.ranks - 1 - rank;
        }
        Square(rank * self.geometry.files + file)
    }

    /// Returns where `symmetry` takes a set of squares.
    #[must_use]
    pub fn map_squares(&self, symmetry: Symmetry, squares: SquareSet) -> SquareSet {
        squares.iter().map(|square| self.map_square(symmetry, square)).collect()
    }

    /// Returns squares as `player` sees them: for the second player the ranks are mirrored.
    #[must_use]
    pub fn turn_squares(&self, player: Player, squares: SquareSet) -> SquareSet {
        if player == Player::First || squares.is_empty() {
            return squares;
        }
        let (files, ranks) = (self.files(), self.ranks());
        let mask = (1u64 << files) - 1;
        let mut turned = [0; 4];
        for rank in 0..ranks {
            // A rank may begin in one word and end in the next.
            let (from, to) = (rank * files, (ranks - 1 - rank) * files);
            let mut row = squares.0[from / 64] >> (from % 64);
            if from % 64 + files > 64 {
                row |= squares.0[from / 64 + 1] << (64 - from % 64);
            }
            row &= mask;
            turned[to / 64] |= row << (to % 64);
            if to % 64 + files > 64 {
                turned[to / 64 + 1] |= row >> (64 - to % 64);
            }
        }
        Bits(turned)
    }

    /// Returns what an action that is legal at `position` becomes under `symmetry`.
    #[must_use]
    pub fn map_action(&self, position: &Position, symmetry: Symmetry, action: Action) -> Action {
        let map = |square| self.map_square(symmetry, square);
        match action.kind() {
            ActionKind::Move { from, to } => Action::moving(map(from), map(to)),
            ActionKind::MoveTaking { from, to, victim } => Action::moving_taking(map(from), map(to), map(victim)),
            ActionKind::PlaceMan(at) => Action::placing_man(map(at)),
            ActionKind::PlaceDux(at) => Action::placing_dux(map(at)),
            ActionKind::Remove { .. } => {
                // The ends are those of lowest and highest index, which a symmetry may exchange.
                let removed = self.map_squares(symmetry, self.chosen_victims(position, action));
                match (removed.first(), removed.iter().last()) {
                    (Some(first), Some(last)) => Action::removing(first, last),
                    _ => action,
                }
            }
            ActionKind::Stop | ActionKind::Pass => action,
        }
    }

    /// Returns a square as `player` sees it: for the second player the ranks are mirrored.
    #[inline]
    #[must_use]
    pub fn turn_square(&self, player: Player, square: Square) -> Square {
        match player {
            Player::First => square,
            Player::Second => self.map_square(Symmetry::FLIP, square),
        }
    }

    /// Returns the position with the players exchanged: colours swapped and ranks mirrored.
    /// The rules treat the players alike, so that what holds for the one player here holds for the other there.
    #[must_use]
    pub fn exchange_sides(&self, position: &Position) -> Position {
        let mut exchanged = self.map_position(Symmetry::FLIP, position);
        exchanged.stones.swap(0, 1);
        exchanged.dux.swap(0, 1);
        exchanged.hands.swap(0, 1);
        exchanged.shuttles.swap(0, 1);
        exchanged.to_act = position.to_act.opponent();
        exchanged.key = exchanged.key_from_scratch();
        exchanged
    }

    /// Returns what an action that is legal at `position` becomes under [`Rules::exchange_sides`].
    #[must_use]
    pub fn exchange_action(&self, position: &Position, action: Action) -> Action {
        self.map_action(position, Symmetry::FLIP, action)
    }

    /// Returns what a position becomes under `symmetry`.
    #[must_use]
    pub fn map_position(&self, symmetry: Symmetry, position: &Position) -> Position {
        let squares = |set| self.map_squares(symmetry, set);
        let square = |square| self.map_square(symmetry, square);
        let mut mapped = *position;
        for player in Player::BOTH {
            mapped.stones[player.index()] = squares(position.stones(player));
            mapped.dux[player.index()] = position.dux(player).map(square);
            mapped.shuttles[player.index()] = position.shuttle(player).map(|shuttle| Shuttle {
                from: square(shuttle.from),
                to: square(shuttle.to),
                ..shuttle
            });
        }
        mapped.bound = squares(position.bound);
        mapped.holds = Holds::default();
        for axis in 0..4 {
            mapped.holds.lines[map_axis(symmetry, axis)] = squares(position.holds.lines[axis]);
        }
        mapped.holds.sides = squares(position.holds.sides);
        mapped.continuation = position
            .continuation
            .map(|continuation| Continuation { square: square(continuation.square), ..continuation });
        mapped.key = mapped.key_from_scratch();
        mapped
    }
}

fn map_axis(symmetry: Symmetry, axis: usize) -> usize {
    let (mut file, mut rank) = STEPS[axis * 2];
    if symmetry.transpose {
        (file, rank) = (rank, file);
    }
    if symmetry.mirror_files {
        file = -file;
    }
    if symmetry.mirror_ranks {
        rank = -rank;
    }
    STEPS.iter().position(|&step| step == (file, rank)).map_or(axis, |direction| direction / 2)
}

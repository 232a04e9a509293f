//! What is flanked, held, bound or enclosed (SPECIFICATION.md, section 2, "capture" and "dux", and section 1, "Order of
//! resolution").

use crate::geometry::{Direction, Shifts};
use crate::movement::View;
use crate::player::Player;
use crate::position::{Holds, Position};
use crate::rules::Rules;
use crate::ruleset::{DuxCapture, EnclosureBy, EnclosureSides, Release, RowWithDux, Span, Timing, Trigger};
use crate::squares::{Bits, Square, SquareSet};

/// Calls `$method::<N>` with the number of words that the board of `$rules` needs; with `-> 4` what it returns, a set of `N`
/// words, becomes one of four.
macro_rules! by_words {
    ($rules:expr, $receiver:ident . $method:ident $arguments:tt $(-> $all:literal)?) => {
        match $rules.geometry.words {
            1 => $receiver.$method::<1> $arguments $(.resize::<$all>())?,
            2 => $receiver.$method::<2> $arguments $(.resize::<$all>())?,
            3 => $receiver.$method::<3> $arguments $(.resize::<$all>())?,
            _ => $receiver.$method::<4> $arguments,
        }
    };
}
pub(crate) use by_words;

/// The pieces that could hold others, and those that they could hold.
struct Sides<const N: usize> {
    /// Armed pieces of the capturing side.
    flankers: Bits<N>,
    /// Pieces of the other side that custodial capture can take.
    takeable: Bits<N>,
    /// Pieces of the other side that a row may consist of.
    row: Bits<N>,
}

impl Rules {
    fn sides<const N: usize>(&self, position: &Position, capturing: Player) -> Sides<N> {
        let mut flankers: Bits<N> = position.stones(capturing).resize();
        if !self.ruleset.dux.armed
            && let Some(dux) = position.dux(capturing)
        {
            flankers.remove(dux);
        }
        let mut takeable: Bits<N> = position.stones(capturing.opponent()).resize();
        let mut row = takeable;
        if self.ruleset.dux.capture != DuxCapture::AsMan
            && let Some(dux) = position.dux(capturing.opponent())
        {
            takeable.remove(dux);
            if self.ruleset.capture.row_with_dux == RowWithDux::Blocks {
                row.remove(dux);
            }
        }
        if self.ruleset.capture.span == Span::One {
            row = takeable;
        }
        Sides { flankers, takeable, row }
    }

    /// Returns the enemy pieces that the move of `player` to `to`, already made, takes at once.
    /// With an active trigger the moved piece is one of the flankers; with a positional one everything
    /// that is flanked is taken, however it came about. Nobody takes his own pieces.
    #[inline(always)]
    pub(crate) fn taken_by_move<const N: usize>(&self, position: &Position, player: Player, to: Square) -> Bits<N> {
        match self.ruleset.capture.trigger {
            Trigger::Active => self.flanked_from(&self.sides(position, player), to),
            Trigger::Positional => self.held(position, player, false),
        }
    }

    /// Returns the pieces that the piece on `to` helps to flank.
    #[inline(always)]
    fn flanked_from<const N: usize>(&self, sides: &Sides<N>, to: Square) -> Bits<N> {
        let mut flanked = Bits::EMPTY;
        for direction in 0..self.capture_directions {
            flanked |= self.run_held_from(sides, to, direction);
        }
        flanked & sides.takeable | self.surrounded_beside(sides, to)
    }

    /// Returns the run that the piece on `to` holds in `direction`, together with another flanker at the
    /// far end; a spared dux is part of it.
    #[inline(always)]
    fn run_held_from<const N: usize>(&self, sides: &Sides<N>, to: Square, direction: Direction) -> Bits<N> {
        let Some(mut square) = self.geometry.neighbour(to, direction) else { return Bits::EMPTY };
        if !sides.row.contains(square) || !sides.flankers.contains(to) {
            return Bits::EMPTY;
        }
        let mut run = Bits::of(square);
        while let Some(next) = self.geometry.neighbour(square, direction) {
            if sides.flankers.contains(next) {
                return run;
            }
            if self.ruleset.capture.span == Span::One || !sides.row.contains(next) {
                break;
            }
            run.insert(next);
            square = next;
        }
        Bits::EMPTY
    }

    /// Returns the pieces beside `to` that are taken from all sides, the piece on `to` taking part.
    #[inline(always)]
    fn surrounded_beside<const N: usize>(&self, sides: &Sides<N>, to: Square) -> Bits<N> {
        let capture = &self.ruleset.capture;
        if !(capture.corner || capture.man_by_enclosure) || !sides.flankers.contains(to) {
            return Bits::EMPTY;
        }
        self.surrounded(sides, self.geometry.orthogonal::<N>(to) & sides.takeable)
    }

    /// Returns those of `candidates` that flankers on every side take: in a corner (`capture.corner`), or
    /// anywhere (`capture.man_by_enclosure`).
    #[inline(always)]
    fn surrounded<const N: usize>(&self, sides: &Sides<N>, candidates: Bits<N>) -> Bits<N> {
        let capture = &self.ruleset.capture;
        let mut surrounded = Bits::EMPTY;
        if !(capture.corner || capture.man_by_enclosure) {
            return surrounded;
        }
        let within = if capture.man_by_enclosure { candidates } else { candidates & self.geometry.corners.resize() };
        within.each(|square| {
            if self.is_surrounded(square, sides.flankers) {
                surrounded.insert(square);
            }
        });
        surrounded
    }

    /// Tells whether every orthogonal neighbour of `square` is in `around`.
    #[inline(always)]
    fn is_surrounded<const N: usize>(&self, square: Square, around: Bits<N>) -> bool {
        let neighbours: Bits<N> = self.geometry.orthogonal(square);
        (neighbours & !around).is_empty()
    }

    /// Returns the pieces of `capturing`'s opponent that are held now, however it came about.
    pub(crate) fn held<const N: usize>(
        &self,
        position: &Position,
        capturing: Player,
        free_flankers_only: bool,
    ) -> Bits<N> {
        let mut sides: Sides<N> = self.sides(position, capturing);
        if free_flankers_only {
            sides.flankers &= !position.bound.resize();
        }
        let shifts: Shifts<N> = self.geometry.shifts();
        let mut held = Bits::EMPTY;
        for axis in 0..self.capture_directions / 2 {
            held |= self.held_on_axis(&shifts, &sides, axis);
        }
        held | self.surrounded(&sides, sides.takeable)
    }

    /// Returns the pieces held on the lines of one axis: those that flankers reach from both ends.
    #[inline(always)]
    fn held_on_axis<const N: usize>(&self, shifts: &Shifts<N>, sides: &Sides<N>, axis: usize) -> Bits<N> {
        let reach = |direction| {
            let mut reached = shifts.step(sides.flankers, direction) & sides.row;
            if self.ruleset.capture.span == Span::Row {
                let mut frontier = reached;
                while !frontier.is_empty() {
                    frontier = shifts.step(frontier, direction) & sides.row & !reached;
                    reached |= frontier;
                }
            }
            reached
        };
        let forwards = reach(axis * 2);
        if forwards.is_empty() {
            return forwards;
        }
        forwards & reach(axis * 2 + 1) & sides.takeable
    }

    /// Returns what the board alone binds: flanked pieces where `capture.trigger` is positional, enclosed duces where
    /// `dux.enclosure_trigger` is.
    pub(crate) fn bound_by_board(&self, position: &Position) -> SquareSet {
        let mut bound = SquareSet::EMPTY;
        if self.ruleset.capture.trigger == Trigger::Positional {
            bound |= self.held_by_both(position, false);
        }
        if self.ruleset.dux.enclosure_trigger == Trigger::Positional {
            bound |= self.enclosed_duces_to_bind(position);
        }
        bound
    }

    /// Returns the pieces of both sides that are held now, however it came about.
    fn held_by_both<const N: usize>(&self, position: &Position, free_flankers_only: bool) -> Bits<N> {
        self.held(position, Player::First, free_flankers_only) | self.held(position, Player::Second, free_flankers_only)
    }

    /// Returns the enclosed duces, where enclosure binds a dux (displacement).
    pub(crate) fn enclosed_duces_to_bind<const N: usize>(&self, position: &Position) -> Bits<N> {
        if self.ruleset.capture.timing != Timing::Displacement {
            return Bits::EMPTY;
        }
        let enclosed = |player: &Player| self.is_dux_enclosed(position, *player);
        Player::BOTH.into_iter().filter(enclosed).filter_map(|player| position.dux(player)).collect()
    }

    /// Updates the bound flags after `player`'s piece has come to rest on `to` (or nothing has moved).
    /// What is bound by position follows from the board. What a move has bound stays bound while what
    /// holds it stands; the new move adds what it completes, with `capture.release = effective` only
    /// between flankers that are free; and then whatever has a bound flanker goes free.
    pub(crate) fn update_bound<const N: usize>(&self, position: &mut Position, player: Player, to: Option<Square>) {
        let prisoners: Bits<N> = position.stones(player.opponent()).resize();
        let enclosed: Bits<N> = self.enclosed_duces_to_bind(position);
        let duces = match self.ruleset.dux.enclosure_trigger {
            Trigger::Positional => enclosed,
            Trigger::Active => {
                let beside = to.map_or(Bits::EMPTY, |to| self.geometry.orthogonal(to)) & prisoners;
                enclosed & (position.bound.resize() | beside)
            }
        };
        if !self.stores_holds {
            let held: Bits<N> = self.held_by_both(position, false);
            position.set_bound((held | duces).resize());
            return;
        }
        let effective = self.ruleset.capture.release == Release::Effective;
        let mut holds = self.standing::<N>(position, false, to);
        position.holds = holds;
        position.set_bound(holds.held() | duces.resize());
        if let Some(to) = to {
            self.add_completed_holds::<N>(position, player, to, effective, &mut holds);
            position.holds = holds;
            position.set_bound(holds.held() | duces.resize());
        }
        if effective {
            holds = self.standing::<N>(position, true, None);
            position.holds = holds;
            position.set_bound(holds.held() | duces.resize());
        }
    }

    /// Returns those of the position's holds whose holders still stand, all of them free if `free_only`, with no gap in
    /// the row between them. What has just moved to `moved_to` is no part of a row.
    fn standing<const N: usize>(&self, position: &Position, free_only: bool, moved_to: Option<Square>) -> Holds {
        let (holds, mut left) = (&position.holds, Holds::default());
        let shifts: Shifts<N> = self.geometry.shifts();
        for capturing in Player::BOTH {
            let mut sides: Sides<N> = self.sides(position, capturing);
            if free_only {
                sides.flankers &= !position.bound.resize();
            }
            let mut spared = sides.row & !sides.takeable;
            if let Some(to) = moved_to {
                spared.remove(to);
            }
            for axis in 0..self.capture_directions / 2 {
                let held = holds.lines[axis].resize() & sides.takeable;
                if held.is_empty() {
                    continue;
                }
                sides.row = held | spared;
                left.lines[axis] |= self.held_on_axis(&shifts, &sides, axis).resize();
            }
            (holds.sides.resize() & sides.takeable).each(|square| {
                if self.is_surrounded(square, sides.flankers) {
                    left.sides.insert(square);
                }
            });
        }
        left
    }

    /// Adds the holds that the piece of `player` on `to` completes.
    fn add_completed_holds<const N: usize>(
        &self,
        position: &Position,
        player: Player,
        to: Square,
        free_only: bool,
        holds: &mut Holds,
    ) {
        let mut sides: Sides<N> = self.sides(position, player);
        if free_only {
            sides.flankers &= !position.bound.resize();
        }
        for direction in 0..self.capture_directions {
            holds.lines[direction / 2] |= (self.run_held_from(&sides, to, direction) & sides.takeable).resize();
        }
        holds.sides |= self.surrounded_beside(&sides, to).resize();
    }

    /// Returns the bound pieces that `player` may remove now (`capture.timing = delayed`).
    pub(crate) fn removable<const N: usize>(&self, position: &Position, player: Player) -> Bits<N> {
        let free_only = self.ruleset.capture.free_flankers;
        let prisoners: Bits<N> = position.stones(player.opponent()).resize();
        if (prisoners & position.bound.resize()).is_empty() {
            return Bits::EMPTY;
        }
        let held = if self.stores_holds {
            self.standing::<N>(position, free_only, None).held().resize()
        } else {
            self.held(position, player, free_only)
        };
        held & prisoners & position.bound.resize()
    }

    /// Calls `visit` with each flanked line of removable pieces (`capture.removal_scope = line`).
    pub(crate) fn each_removable_line<const N: usize>(
        &self,
        position: &Position,
        player: Player,
        visit: &mut impl FnMut(Bits<N>),
    ) {
        let free_only = self.ruleset.capture.free_flankers;
        let mut sides: Sides<N> = self.sides(position, player);
        let holds = if self.stores_holds {
            self.standing::<N>(position, free_only, None)
        } else {
            if free_only {
                sides.flankers &= !position.bound.resize();
            }
            self.holds_by_position(&sides)
        };
        let taken_of = |inside: Bits<N>| inside & sides.takeable & position.bound.resize();
        for axis in 0..self.capture_directions / 2 {
            let inside: Bits<N> = holds.lines[axis].resize() & sides.takeable;
            // A row goes on through a spared dux, which is itself not taken.
            let through = inside | (sides.row & !sides.takeable);
            let mut left = taken_of(inside);
            while let Some(start) = left.first() {
                let mut line = Bits::of(start);
                for direction in [axis * 2, axis * 2 + 1] {
                    let mut square = start;
                    while let Some(next) = self.geometry.neighbour(square, direction)
                        && through.contains(next)
                    {
                        line.insert(next);
                        square = next;
                    }
                }
                left &= !line;
                visit(taken_of(line));
            }
        }
        taken_of(holds.sides.resize()).each(|square| visit(Bits::of(square)));
    }

    /// Returns what of `capturing` holds pieces now, however it came about.
    pub(crate) fn holds_now(&self, position: &Position, capturing: Player) -> Holds {
        self.holds_by_position::<4>(&self.sides(position, capturing))
    }

    /// Returns what holds pieces now, however it came about.
    fn holds_by_position<const N: usize>(&self, sides: &Sides<N>) -> Holds {
        let shifts: Shifts<N> = self.geometry.shifts();
        let mut holds = Holds::default();
        for axis in 0..self.capture_directions / 2 {
            holds.lines[axis] = self.held_on_axis(&shifts, sides, axis).resize();
        }
        holds.sides = self.surrounded(sides, sides.takeable).resize();
        holds
    }

    /// Tells whether `player`'s dux is enclosed now, however it came about.
    pub(crate) fn is_dux_enclosed(&self, position: &Position, player: Player) -> bool {
        let rules = &self.ruleset.dux;
        let Some(dux) = position.dux(player) else { return false };
        if rules.capture != DuxCapture::Enclosure {
            return false;
        }
        let neighbours: SquareSet = self.geometry.orthogonal(dux);
        if rules.enclosure_sides == EnclosureSides::Four && neighbours.len() < 4 {
            return false;
        }
        let around = match rules.enclosure_by {
            EnclosureBy::Enemy => position.stones(player.opponent()),
            EnclosureBy::Any => position.stones[0] | position.stones[1],
        };
        if !(neighbours & !around).is_empty() {
            return false;
        }
        !(rules.enclosure_escape && self.dux_has_jump(position, player))
    }

    /// Tells whether the move of `player` to `to` has just enclosed the opponent's dux
    /// (`dux.enclosure_trigger = active`).
    #[inline]
    pub(crate) fn move_encloses_dux(&self, position: &Position, player: Player, to: Square) -> bool {
        let opponent = player.opponent();
        position.dux(opponent).is_some_and(|dux| {
            self.geometry.orthogonal::<4>(dux).contains(to) && self.is_dux_enclosed(position, opponent)
        })
    }

    fn dux_has_jump(&self, position: &Position, player: Player) -> bool {
        View::<4>::new(self, position, player).dux_has_jump()
    }
}

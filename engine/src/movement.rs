//! Where pieces may go: steps, slides, jumps, chains of jumps, captures by displacement.
//!
//! Source: rules.md, section 2, "movement". Whole sets of pieces move at once: a set is shifted one square
//! in a direction, and each square that it reaches names the piece by how far it came.

use crate::geometry::{Direction, Shifts};
use crate::player::Player;
use crate::position::Position;
use crate::rules::{Mover, Rules};
use crate::ruleset::{JumpChain, Timing};
use crate::squares::{Bits, Square};

/// A position as `player` sees it, in square sets of `N` words.
pub(crate) struct View<'a, const N: usize> {
    pub(crate) rules: &'a Rules,
    pub(crate) position: &'a Position,
    pub(crate) player: Player,
    pub(crate) shifts: Shifts<N>,
    pub(crate) own: Bits<N>,
    pub(crate) enemy: Bits<N>,
    pub(crate) empty: Bits<N>,
}

impl<'a, const N: usize> View<'a, N> {
    #[inline(always)]
    pub(crate) fn new(rules: &'a Rules, position: &'a Position, player: Player) -> Self {
        let own: Bits<N> = position.stones(player).resize();
        let enemy: Bits<N> = position.stones(player.opponent()).resize();
        let board: Bits<N> = rules.geometry.board.resize();
        let empty = board & !(own | enemy);
        View { rules, position, player, shifts: rules.geometry.shifts(), own, enemy, empty }
    }

    /// Returns the pieces that `mover` may jump over.
    #[inline(always)]
    fn jumpable(&self, mover: &Mover) -> Bits<N> {
        let mut over = Bits::EMPTY;
        if mover.jump_over.own {
            over |= self.own;
        }
        if mover.jump_over.enemy {
            over |= self.enemy;
        }
        if !self.rules.ruleset.movement.jump_over_dux {
            for dux in self.position.dux.into_iter().flatten() {
                over.remove(dux);
            }
        }
        over
    }

    /// Returns the enemy pieces that may be captured by moving onto them.
    #[inline(always)]
    fn displaceable(&self) -> Bits<N> {
        if self.rules.ruleset.capture.timing == Timing::Displacement {
            self.position.bound.resize() & self.enemy
        } else {
            Bits::EMPTY
        }
    }

    /// Returns the squares on which a move may end.
    #[inline(always)]
    fn landing(&self) -> Bits<N> {
        self.empty | self.displaceable()
    }

    /// Returns the own pieces that are free to move.
    #[inline(always)]
    pub(crate) fn free(&self) -> Bits<N> {
        if self.rules.binds { self.own & !self.position.bound.resize() } else { self.own }
    }

    /// Calls `visit(from, to)` for every move of the free pieces, each once.
    #[inline(always)]
    pub(crate) fn each_move(&self, visit: &mut impl FnMut(Square, Square)) {
        let mut men = self.free();
        if !self.rules.dux_moves_like_man
            && let Some(dux) = self.position.dux(self.player)
            && men.contains(dux)
        {
            men.remove(dux);
            self.each_move_of(Bits::of(dux), &self.rules.dux, visit);
        }
        self.each_move_of(men, &self.rules.man, visit);
    }

    /// Calls `visit(from, to)` for every move of the piece on `square`, each once.
    pub(crate) fn each_move_from(&self, square: Square, visit: &mut impl FnMut(Square, Square)) {
        self.each_move_of(Bits::of(square), self.mover_on(square), visit);
    }

    /// Calls `visit(from, to)` for every step or slide, and no jump, of the piece on `square`.
    pub(crate) fn each_step_from(&self, square: Square, visit: &mut impl FnMut(Square, Square)) {
        let ends = self.steps_from(square, self.mover_on(square), self.empty, self.landing());
        ends.each(|to| visit(square, to));
    }

    fn mover_on(&self, square: Square) -> &'a Mover {
        if self.position.dux(self.player) == Some(square) { &self.rules.dux } else { &self.rules.man }
    }

    #[inline(always)]
    fn each_move_of(&self, movers: Bits<N>, mover: &Mover, visit: &mut impl FnMut(Square, Square)) {
        let landing = self.landing();
        self.each_step_of(movers, mover, self.empty, landing, visit);
        if mover.jump_over.any() || mover.chain_slides {
            if mover.chain == JumpChain::None {
                self.each_jump_of(movers, mover, landing, visit);
            } else {
                self.pieces_with_chains(movers, mover, landing).each(|from| {
                    let steps = self.steps_from(from, mover, self.empty, landing);
                    (self.chain_landings(from, mover, landing) & !steps).each(|to| visit(from, to));
                });
            }
        }
    }

    #[inline(always)]
    fn each_step_of(
        &self,
        movers: Bits<N>,
        mover: &Mover,
        empty: Bits<N>,
        landing: Bits<N>,
        visit: &mut impl FnMut(Square, Square),
    ) {
        for direction in 0..mover.direction_count {
            if !mover.steps(self.player, direction) {
                continue;
            }
            let delta = self.rules.geometry.delta(direction);
            let mut reached = self.shifts.step(movers, direction);
            let mut back = delta;
            loop {
                (reached & landing).each(|to| visit(Square((i16::from(to.0) - back) as u8), to));
                if !mover.slides {
                    break;
                }
                reached &= empty;
                if reached.is_empty() {
                    break;
                }
                reached = self.shifts.step(reached, direction);
                back += delta;
            }
        }
    }

    #[inline(always)]
    fn each_jump_of(&self, movers: Bits<N>, mover: &Mover, landing: Bits<N>, visit: &mut impl FnMut(Square, Square)) {
        let jumpable = self.jumpable(mover);
        for direction in 0..mover.direction_count {
            let delta = self.rules.geometry.delta(direction);
            let mut over = self.shifts.step(movers, direction) & jumpable;
            let mut back = delta;
            while !over.is_empty() {
                let behind = self.shifts.step(over, direction);
                back += delta;
                let ends = if mover.jumps_runs { behind & landing & !jumpable } else { behind & landing };
                ends.each(|to| visit(Square((i16::from(to.0) - back) as u8), to));
                if !mover.jumps_runs {
                    break;
                }
                over = behind & jumpable;
            }
        }
    }

    /// Returns those of `movers` that have at least one jump.
    #[inline(always)]
    fn pieces_with_jumps(&self, movers: Bits<N>, mover: &Mover, landing: Bits<N>) -> Bits<N> {
        let jumpable = self.jumpable(mover);
        let landing = if mover.jumps_runs { landing & !jumpable } else { landing };
        let mut jumpers = Bits::EMPTY;
        for direction in 0..mover.direction_count {
            let back: Direction = direction ^ 1;
            let mut over = self.shifts.step(landing, back) & jumpable;
            jumpers |= self.shifts.step(over, back);
            if mover.jumps_runs {
                loop {
                    over = self.shifts.step(over, back) & jumpable;
                    if over.is_empty() {
                        break;
                    }
                    jumpers |= self.shifts.step(over, back);
                }
            }
        }
        jumpers & movers
    }

    /// Returns where one step or slide from `square` over `empty` squares may end.
    fn steps_from(&self, square: Square, mover: &Mover, empty: Bits<N>, landing: Bits<N>) -> Bits<N> {
        let mut ends = Bits::EMPTY;
        self.each_step_of(Bits::of(square), mover, empty, landing, &mut |_, to| ends.insert(to));
        ends
    }

    /// Returns those of `movers` whose chains can reach more than a single step does.
    #[inline(always)]
    fn pieces_with_chains(&self, movers: Bits<N>, mover: &Mover, landing: Bits<N>) -> Bits<N> {
        if mover.chain_slides { movers } else { self.pieces_with_jumps(movers, mover, landing) }
    }

    /// Returns where a chain of one or more jumps of the piece on `start` may end.
    ///
    /// The piece has left its square, which is empty meanwhile; but the chain may not end there.
    fn chain_landings(&self, start: Square, mover: &Mover, landing: Bits<N>) -> Bits<N> {
        let mut jumpable = self.jumpable(mover);
        jumpable.remove(start);
        let left = Bits::of(start);
        let hops = Hops { view: self, mover, jumpable, empty: self.empty | left, landing: landing | left };
        match mover.chain {
            JumpChain::Maximal => hops.ends_of_maximal_chains(start),
            _ => hops.ends_of_chains(start),
        }
    }

    /// Tells whether `player` has any move at all with a free piece.
    #[inline(always)]
    pub(crate) fn has_move(&self) -> bool {
        let men = self.free();
        if self.rules.dux_moves_like_man {
            return self.any_moves(men, &self.rules.man);
        }
        match self.position.dux(self.player) {
            Some(dux) if men.contains(dux) => {
                let mut others = men;
                others.remove(dux);
                self.any_moves(others, &self.rules.man) || self.any_moves(Bits::of(dux), &self.rules.dux)
            }
            _ => self.any_moves(men, &self.rules.man),
        }
    }

    /// Tells whether the piece on `square` has any move.
    pub(crate) fn has_move_from(&self, square: Square) -> bool {
        self.any_moves(Bits::of(square), self.mover_on(square))
    }

    #[inline(always)]
    fn any_moves(&self, movers: Bits<N>, mover: &Mover) -> bool {
        let landing = self.landing();
        for direction in 0..mover.direction_count {
            if mover.steps(self.player, direction) && !(self.shifts.step(movers, direction) & landing).is_empty() {
                return true;
            }
        }
        mover.jump_over.any() && self.any_jumps(movers, mover, landing)
    }

    #[inline(always)]
    fn any_jumps(&self, movers: Bits<N>, mover: &Mover, landing: Bits<N>) -> bool {
        let jumps = !self.pieces_with_jumps(movers, mover, landing).is_empty();
        // A chain that must go on until it is back at its start is no move.
        if jumps && mover.chain == JumpChain::Maximal {
            let mut any = false;
            movers.each(|from| any |= !self.chain_landings(from, mover, landing).is_empty());
            return any;
        }
        jumps
    }

    /// Tells whether the dux of this view's player has a jump to an empty square
    /// (`dux.enclosure_escape`).
    pub(crate) fn dux_has_jump(&self) -> bool {
        self.position.dux(self.player).is_some_and(|dux| {
            let mover = &self.rules.dux;
            mover.jump_over.any() && !self.pieces_with_jumps(Bits::of(dux), mover, self.empty).is_empty()
        })
    }
}

/// The hops of one piece in a chain, on a board that it has left.
struct Hops<'v, 'a, const N: usize> {
    view: &'v View<'a, N>,
    mover: &'v Mover,
    jumpable: Bits<N>,
    empty: Bits<N>,
    landing: Bits<N>,
}

impl<const N: usize> Hops<'_, '_, N> {
    /// Returns where one hop from any of `squares` lands.
    #[inline(always)]
    fn from(&self, squares: Bits<N>) -> Bits<N> {
        let view = self.view;
        let mut landings = Bits::EMPTY;
        for direction in 0..self.mover.direction_count {
            let mut over = view.shifts.step(squares, direction) & self.jumpable;
            while !over.is_empty() {
                let behind = view.shifts.step(over, direction);
                if !self.mover.jumps_runs {
                    landings |= behind & self.landing;
                    break;
                }
                landings |= behind & self.landing & !self.jumpable;
                over = behind & self.jumpable;
            }
        }
        if self.mover.chain_slides && self.mover.chain == JumpChain::Optional {
            squares.each(|square| landings |= view.steps_from(square, self.mover, self.empty, self.landing));
        }
        landings
    }

    /// Returns every square that one or more hops reach; a hop onto an enemy is the last one.
    #[inline(always)]
    fn ends_of_chains(&self, start: Square) -> Bits<N> {
        let mut ends = Bits::EMPTY;
        let mut frontier = Bits::of(start);
        while !frontier.is_empty() {
            let reached = self.from(frontier) & !ends;
            ends |= reached;
            frontier = reached & self.empty;
        }
        ends.remove(start);
        ends
    }

    /// Returns every square where a chain that must go on while it can may end.
    fn ends_of_maximal_chains(&self, start: Square) -> Bits<N> {
        let mut ends = Bits::EMPTY;
        self.follow_maximal(start, Bits::of(start), &mut ends);
        ends.remove(start);
        ends
    }

    fn follow_maximal(&self, square: Square, visited: Bits<N>, ends: &mut Bits<N>) {
        self.from(Bits::of(square)).each(|next| {
            if visited.contains(next) {
                return;
            }
            let mut visited = visited;
            visited.insert(next);
            let goes_on = self.empty.contains(next) && !(self.from(Bits::of(next)) & !visited).is_empty();
            if goes_on {
                self.follow_maximal(next, visited, ends);
            } else {
                ends.insert(next);
            }
        });
    }
}

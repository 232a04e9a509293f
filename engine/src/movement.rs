//! Where pieces may go (SPECIFICATION.md, section 2, "movement"). Whole sets of pieces move at once: a set is shifted one
//! square in a direction, and each square that it reaches names the piece by how far it came.

use crate::geometry::{Shifts, each_direction};
use crate::player::Player;
use crate::position::Position;
use crate::rules::{Mover, Rules};
use crate::ruleset::{JumpChain, Timing};
use crate::squares::{Bits, Square};

/// Hops that are followed to find where the chains of one piece may end that must go on: a few milliseconds. A lattice of many
/// pieces has more chains than any program could follow.
const MAXIMAL_HOPS: u32 = 1 << 18;

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
        if mover.chain == JumpChain::None {
            if mover.jump_over.any() {
                self.each_jump_of(movers, mover, landing, visit);
            }
        } else if mover.chain == JumpChain::Optional && !mover.chain_slides {
            if mover.jump_over.any() {
                self.each_chain_of(movers, mover, landing, visit);
            }
        } else {
            let chainers = if mover.chain_slides { movers } else { self.with_jumps(movers, mover, landing) };
            chainers.each(|from| {
                let steps = self.steps_from(from, mover, self.empty, landing);
                (self.chain_landings(from, mover, landing) & !steps).each(|to| visit(from, to));
            });
        }
    }

    /// Visits the first jumps of all pieces together, and then the chains of those that can go on.
    #[inline(always)]
    fn each_chain_of(&self, movers: Bits<N>, mover: &Mover, landing: Bits<N>, visit: &mut impl FnMut(Square, Square)) {
        let going_on = self.with_jumps(self.empty, mover, landing);
        let chainers = self.with_jumps(movers, mover, going_on);
        self.each_jump_of(movers & !chainers, mover, landing, visit);
        if chainers.is_empty() {
            return;
        }
        // Jumps over single pieces change file and rank by even numbers, and so never end where a step does.
        let may_meet_steps = mover.slides || mover.jumps_runs;
        let hops = Hops::new(self, mover, landing);
        chainers.each(|from| {
            let mut ends = if mover.jumps_runs { hops.ends_of_chains(from) } else { hops.ends_of_single_chains(from) };
            if may_meet_steps {
                ends &= !self.steps_from(from, mover, self.empty, landing);
            }
            ends.each(|to| visit(from, to));
        });
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
        each_direction(mover.direction_count, |direction| {
            if !mover.steps(self.player, direction) {
                return;
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
        });
    }

    #[inline(always)]
    fn each_jump_of(&self, movers: Bits<N>, mover: &Mover, landing: Bits<N>, visit: &mut impl FnMut(Square, Square)) {
        let jumpable = self.jumpable(mover);
        each_direction(mover.direction_count, |direction| {
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
        });
    }

    /// Returns those of `squares` from which a piece would have at least one jump.
    #[inline(always)]
    fn with_jumps(&self, squares: Bits<N>, mover: &Mover, landing: Bits<N>) -> Bits<N> {
        let jumpable = self.jumpable(mover);
        let landing = if mover.jumps_runs { landing & !jumpable } else { landing };
        let mut jumpers = Bits::EMPTY;
        each_direction(mover.direction_count, |direction| {
            let mut over = self.shifts.step(landing, direction) & jumpable;
            jumpers |= self.shifts.step(over, direction);
            while mover.jumps_runs && !over.is_empty() {
                over = self.shifts.step(over, direction) & jumpable;
                jumpers |= self.shifts.step(over, direction);
            }
        });
        jumpers & squares
    }

    /// Returns where one step or slide from `square` over `empty` squares may end.
    fn steps_from(&self, square: Square, mover: &Mover, empty: Bits<N>, landing: Bits<N>) -> Bits<N> {
        let mut ends = Bits::EMPTY;
        self.each_step_of(Bits::of(square), mover, empty, landing, &mut |_, to| ends.insert(to));
        ends
    }

    /// Returns where a chain of one or more jumps of the piece on `start` may end.
    /// The piece has left its square, which is empty meanwhile; but the chain may not end there.
    fn chain_landings(&self, start: Square, mover: &Mover, landing: Bits<N>) -> Bits<N> {
        let hops = Hops::new(self, mover, landing);
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

    pub(crate) fn has_move_from(&self, square: Square) -> bool {
        self.any_moves(Bits::of(square), self.mover_on(square))
    }

    #[inline(always)]
    fn any_moves(&self, movers: Bits<N>, mover: &Mover) -> bool {
        let landing = self.landing();
        let mut reached = Bits::EMPTY;
        each_direction(mover.direction_count, |direction| {
            if mover.steps(self.player, direction) {
                reached |= self.shifts.step(movers, direction);
            }
        });
        if !(reached & landing).is_empty() {
            return true;
        }
        mover.jump_over.any() && self.any_jumps(movers, mover, landing)
    }

    #[inline(always)]
    fn any_jumps(&self, movers: Bits<N>, mover: &Mover, landing: Bits<N>) -> bool {
        let jumps = !self.with_jumps(movers, mover, landing).is_empty();
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
            mover.jump_over.any() && !self.with_jumps(Bits::of(dux), mover, self.empty).is_empty()
        })
    }
}

/// The hops of a kind of piece in chains.
/// The piece that chains has left its square `start`: it can be neither jumped over nor stopped at, but
/// passed through.
struct Hops<'v, 'a, const N: usize> {
    view: &'v View<'a, N>,
    mover: &'v Mover,
    jumpable: Bits<N>,
    landing: Bits<N>,
}

impl<'v, 'a, const N: usize> Hops<'v, 'a, N> {
    #[inline(always)]
    fn new(view: &'v View<'a, N>, mover: &'v Mover, landing: Bits<N>) -> Self {
        Hops { view, mover, jumpable: view.jumpable(mover), landing }
    }

    /// Returns where one hop from any of `squares` lands.
    #[inline(always)]
    fn from(&self, squares: Bits<N>, start: Square) -> Bits<N> {
        let view = self.view;
        let left = Bits::of(start);
        let jumpable = self.jumpable & !left;
        let landing = self.landing | left;
        let mut landings = Bits::EMPTY;
        each_direction(self.mover.direction_count, |direction| {
            let mut over = view.shifts.step(squares, direction) & jumpable;
            if !self.mover.jumps_runs {
                landings |= view.shifts.step(over, direction) & landing;
                return;
            }
            while !over.is_empty() {
                let behind = view.shifts.step(over, direction);
                landings |= behind & landing & !jumpable;
                over = behind & jumpable;
            }
        });
        if self.mover.chain_slides && self.mover.chain == JumpChain::Optional {
            squares.each(|square| landings |= view.steps_from(square, self.mover, view.empty | left, landing));
        }
        landings
    }

    /// Returns every square that one or more hops reach; a hop onto an enemy is the last one.
    fn ends_of_chains(&self, start: Square) -> Bits<N> {
        let mut ends = Bits::EMPTY;
        let mut frontier = Bits::of(start);
        while !frontier.is_empty() {
            let reached = self.from(frontier, start) & !ends;
            ends |= reached;
            frontier = reached & self.view.empty;
        }
        ends.remove(start);
        ends
    }

    /// As [`Hops::ends_of_chains`], for hops over one piece each.
    #[inline(always)]
    fn ends_of_single_chains(&self, start: Square) -> Bits<N> {
        let view = self.view;
        let jumpable = self.jumpable & !Bits::of(start);
        let mut ends = Bits::EMPTY;
        let mut frontier = Bits::of(start);
        loop {
            let mut reached = Bits::EMPTY;
            each_direction(self.mover.direction_count, |direction| {
                reached |= view.shifts.step(view.shifts.step(frontier, direction) & jumpable, direction);
            });
            reached &= self.landing & !ends;
            if reached.is_empty() {
                return ends;
            }
            ends |= reached;
            frontier = reached & view.empty;
        }
    }

    /// Returns every square where a chain that must go on while it can may end; where there are too many chains to follow,
    /// every square where some chain lands.
    fn ends_of_maximal_chains(&self, start: Square) -> Bits<N> {
        let (mut ends, mut hops_left) = (Bits::EMPTY, MAXIMAL_HOPS);
        self.follow_maximal(start, start, Bits::of(start), &mut hops_left, &mut ends);
        if hops_left == 0 {
            ends = self.ends_of_chains(start);
        }
        ends.remove(start);
        ends
    }

    fn follow_maximal(&self, start: Square, square: Square, visited: Bits<N>, hops_left: &mut u32, ends: &mut Bits<N>) {
        self.from(Bits::of(square), start).each(|next| {
            if visited.contains(next) || *hops_left == 0 {
                return;
            }
            *hops_left -= 1;
            let mut visited = visited;
            visited.insert(next);
            let goes_on = self.view.empty.contains(next) && !(self.from(Bits::of(next), start) & !visited).is_empty();
            if goes_on {
                self.follow_maximal(start, next, visited, hops_left, ends);
            } else {
                ends.insert(next);
            }
        });
    }
}

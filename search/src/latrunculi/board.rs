//! The board as the evaluation reads it: neighbours by table, owners by square.

use latrunculi_engine::ruleset::{JumpOver, Lines, Range, Ruleset, StepDirections};
use latrunculi_engine::{Player, Position, Rules, Square};

/// The index beyond the edge, on a board that marks it as [`EDGE`].
pub(super) const NOWHERE: u16 = 256;

/// File and rank of a step in each direction; the opposite of direction `d` is `d ^ 1`.
const STEPS: [(i32, i32); 8] = [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1), (1, -1), (-1, 1)];

pub(super) const EMPTY: u8 = 0;
pub(super) const EDGE: u8 = 3;

/// The stones by square, for quick reading of neighbourhoods.
pub(super) struct Board {
    /// [`EMPTY`], [`EDGE`], or the number of the owner.
    owners: [u8; 257],
    duces: [u16; 2],
}

impl Board {
    pub(super) fn new(position: &Position) -> Board {
        let mut owners = [EMPTY; 257];
        owners[usize::from(NOWHERE)] = EDGE;
        for player in Player::BOTH {
            for square in position.stones(player).iter() {
                owners[square.index()] = player.number();
            }
        }
        let dux = |player| position.dux(player).map_or(NOWHERE, |square: Square| square.index() as u16);
        Board { owners, duces: Player::BOTH.map(dux) }
    }

    #[inline]
    pub(super) fn owner(&self, square: u16) -> u8 {
        self.owners[usize::from(square)]
    }

    /// Returns the square of `player`'s dux, [`NOWHERE`] if it is not on the board.
    #[inline]
    pub(super) fn dux(&self, player: Player) -> u16 {
        self.duces[player.index()]
    }
}

/// One square of the board.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Orthogonal directions first; [`NOWHERE`] beyond the edge.
    pub(super) neighbours: [u16; 8],
    pub(super) file: i32,
    pub(super) rank: i32,
    /// Steps from the middle of the board, doubled so that even boards have whole numbers.
    pub(super) outwardness: i32,
    pub(super) is_edge: bool,
    pub(super) is_corner: bool,
}

/// The squares of a board and how men move between them.
#[derive(Clone, Debug)]
pub(super) struct Terrain {
    pub(super) places: Vec<Place>,
    pub(super) files: i32,
    pub(super) ranks: i32,
    /// Greatest number of steps between two squares, along ranks and files.
    pub(super) span: i32,
    /// Directions of steps: 4 or 8.
    pub(super) move_directions: usize,
    pub(super) slides: bool,
    /// Men step forwards and sideways only.
    never_backwards: bool,
    man_jumps: JumpOver,
}

impl Terrain {
    pub(super) fn new(rules: &Rules) -> Terrain {
        let ruleset = rules.ruleset();
        let (files, ranks) = (rules.files() as i32, rules.ranks() as i32);
        let on_board = |file: i32, rank: i32| (0..files).contains(&file) && (0..ranks).contains(&rank);
        let index = |file: i32, rank: i32| if on_board(file, rank) { (rank * files + file) as u16 } else { NOWHERE };
        let place = |(file, rank): (i32, i32)| {
            let (is_side, is_end) = (file == 0 || file == files - 1, rank == 0 || rank == ranks - 1);
            Place {
                neighbours: STEPS.map(|(df, dr)| index(file + df, rank + dr)),
                file,
                rank,
                outwardness: (2 * file - files + 1).abs() + (2 * rank - ranks + 1).abs(),
                is_edge: is_side != is_end,
                is_corner: is_side && is_end,
            }
        };
        Terrain {
            places: (0..ranks).flat_map(|rank| (0..files).map(move |file| (file, rank))).map(place).collect(),
            files,
            ranks,
            span: files + ranks - 2,
            move_directions: directions(ruleset.movement.lines),
            slides: slides(ruleset),
            never_backwards: ruleset.man.step == StepDirections::ForwardSideways,
            man_jumps: ruleset.man.jump_over,
        }
    }

    #[inline]
    pub(super) fn neighbour(&self, square: u16, direction: usize) -> u16 {
        match self.places.get(usize::from(square)) {
            Some(place) => place.neighbours[direction],
            None => NOWHERE,
        }
    }

    /// Returns the number of steps between two squares, along ranks and files.
    #[inline]
    pub(super) fn distance(&self, one: u16, other: u16) -> i32 {
        let (one, other) = (&self.places[usize::from(one)], &self.places[usize::from(other)]);
        (one.file - other.file).abs() + (one.rank - other.rank).abs()
    }

    /// Counts the empty squares in a straight line from `square`.
    #[inline]
    pub(super) fn ray(&self, board: &Board, square: u16, direction: usize) -> i32 {
        let mut count = 0;
        let mut at = self.neighbour(square, direction);
        while board.owner(at) == EMPTY {
            count += 1;
            at = self.neighbour(at, direction);
        }
        count
    }

    /// Tells whether a piece of `mover` could come to the empty square `to` by a step, slide or simple jump.
    pub(super) fn is_in_reach(&self, board: &Board, mover: Player, to: u16) -> bool {
        let own = mover.number();
        let forward = if mover == Player::First { 1 } else { -1 };
        for (direction, &(_, rank_step)) in STEPS.iter().enumerate().take(self.move_directions) {
            let beside = self.neighbour(to, direction);
            let owner = board.owner(beside);
            // A piece that comes from there moves the opposite way.
            let is_backwards = -rank_step * forward < 0;
            let may_step = !(self.never_backwards && is_backwards);
            if owner == own && may_step {
                return true;
            }
            if owner == EMPTY && self.slides {
                let mut square = self.neighbour(beside, direction);
                while board.owner(square) == EMPTY {
                    square = self.neighbour(square, direction);
                }
                if board.owner(square) == own {
                    return true;
                }
            }
            let may_jump = match owner {
                EMPTY | EDGE => false,
                _ if owner == own => self.man_jumps.own,
                _ => self.man_jumps.enemy,
            };
            if may_jump && board.owner(self.neighbour(beside, direction)) == own {
                return true;
            }
        }
        false
    }
}

/// Returns how many of the directions, orthogonal ones first, a set of lines has.
pub(super) fn directions(lines: Lines) -> usize {
    if lines == Lines::All { 8 } else { 4 }
}

fn slides(ruleset: &Ruleset) -> bool {
    ruleset.man.range == Range::Slide
}

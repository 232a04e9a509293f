//! The board's shape: directions, neighbours, shifts of square sets.

use crate::ruleset::{BoardSize, Lines};
use crate::squares::{Bits, SQUARES_MAX, Square, SquareSet};

/// No square: off the board.
const NOWHERE: u16 = u16::MAX;

/// One of the eight directions; `direction ^ 1` is its opposite, the first four are orthogonal.
pub type Direction = usize;

/// File and rank steps of each [`Direction`]: east, west, north, south, north-east, south-west, north-west,
/// south-east.
pub const STEPS: [(i8, i8); 8] = [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1), (-1, 1), (1, -1)];

pub(crate) const fn direction_count(lines: Lines) -> usize {
    match lines {
        Lines::Orthogonal => 4,
        Lines::All => 8,
    }
}

/// Calls `visit` with each of the first four or all eight directions.
/// Written out, so that each call knows its direction when it is compiled and a step is one shift.
#[inline(always)]
pub fn each_direction(count: usize, mut visit: impl FnMut(Direction)) {
    visit(0);
    visit(1);
    visit(2);
    visit(3);
    if count == 8 {
        visit(4);
        visit(5);
        visit(6);
        visit(7);
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Geometry {
    pub(crate) files: u8,
    pub(crate) ranks: u8,
    pub(crate) board: SquareSet,
    pub(crate) not_first_file: SquareSet,
    pub(crate) not_last_file: SquareSet,
    pub(crate) corners: SquareSet,
    /// By square and direction, the neighbour or [`NOWHERE`].
    neighbours: Box<[[u16; 8]; SQUARES_MAX]>,
    orthogonal: Box<[SquareSet; SQUARES_MAX]>,
    /// Words that square sets of this board need.
    pub(crate) words: usize,
}

impl Geometry {
    pub(crate) fn new(size: BoardSize) -> Geometry {
        let (files, ranks) = (size.files, size.ranks);
        let all = || (0..files as usize * ranks as usize).map(Square::from_index);
        let file = |square: Square| square.0 % files;
        let mut geometry = Geometry {
            files,
            ranks,
            board: all().collect(),
            not_first_file: all().filter(|&square| file(square) != 0).collect(),
            not_last_file: all().filter(|&square| file(square) != files - 1).collect(),
            corners: SquareSet::EMPTY,
            neighbours: Box::new([[NOWHERE; 8]; SQUARES_MAX]),
            orthogonal: Box::new([SquareSet::EMPTY; SQUARES_MAX]),
            words: (files as usize * ranks as usize).div_ceil(64),
        };
        for square in all() {
            for (direction, &(file_step, rank_step)) in STEPS.iter().enumerate() {
                let to_file = (square.0 % files) as i8 + file_step;
                let to_rank = (square.0 / files) as i8 + rank_step;
                if (0..files as i8).contains(&to_file) && (0..ranks as i8).contains(&to_rank) {
                    let to = to_rank as u8 * files + to_file as u8;
                    geometry.neighbours[square.index()][direction] = u16::from(to);
                    if direction < 4 {
                        geometry.orthogonal[square.index()].insert(Square(to));
                    }
                }
            }
            if geometry.orthogonal[square.index()].len() == 2 {
                geometry.corners.insert(square);
            }
        }
        geometry
    }

    #[inline(always)]
    pub(crate) fn neighbour(&self, square: Square, direction: Direction) -> Option<Square> {
        let next = self.neighbours[square.index()][direction];
        if next == NOWHERE { None } else { Some(Square(next as u8)) }
    }

    #[inline(always)]
    pub(crate) fn orthogonal<const N: usize>(&self, square: Square) -> Bits<N> {
        self.orthogonal[square.index()].resize()
    }

    /// Returns how the index changes by one step in `direction`.
    #[inline(always)]
    pub(crate) fn delta(&self, direction: Direction) -> i16 {
        let (file_step, rank_step) = STEPS[direction];
        i16::from(rank_step) * i16::from(self.files) + i16::from(file_step)
    }

    #[inline(always)]
    pub(crate) fn shifts<const N: usize>(&self) -> Shifts<N> {
        Shifts {
            files: u32::from(self.files),
            board: self.board.resize(),
            not_first_file: self.not_first_file.resize(),
            not_last_file: self.not_last_file.resize(),
        }
    }
}

/// Shifts whole square sets of one board by one step, `N` words at a time.
#[derive(Clone, Copy, Debug)]
pub struct Shifts<const N: usize> {
    files: u32,
    board: Bits<N>,
    not_first_file: Bits<N>,
    not_last_file: Bits<N>,
}

impl<const N: usize> Shifts<N> {
    /// Returns the same shifts for sets of `M` words, as many as the board needs at least.
    #[inline(always)]
    #[must_use]
    pub fn resize<const M: usize>(&self) -> Shifts<M> {
        Shifts {
            files: self.files,
            board: self.board.resize(),
            not_first_file: self.not_first_file.resize(),
            not_last_file: self.not_last_file.resize(),
        }
    }

    /// Returns the squares one step from `squares` in `direction`; those that leave the board are lost.
    #[inline(always)]
    #[must_use]
    pub fn step(&self, squares: Bits<N>, direction: Direction) -> Bits<N> {
        match direction {
            0 => (squares & self.not_last_file).up(1),
            1 => (squares & self.not_first_file).down(1),
            2 => squares.up(self.files) & self.board,
            3 => squares.down(self.files),
            4 => (squares & self.not_last_file).up(self.files + 1) & self.board,
            5 => (squares & self.not_first_file).down(self.files + 1),
            6 => (squares & self.not_first_file).up(self.files - 1) & self.board,
            _ => (squares & self.not_last_file).down(self.files - 1),
        }
    }
}

//! The board as the evaluation reads it: neighbours by table, and sets of squares to count with.

use latrunculi_engine::ruleset::{JumpOver, Lines, Range, StepDirections};
use latrunculi_engine::{Bits, Player, Position, Rules, STEPS, Shifts, Square, SquareSet, each_direction};

/// The index beyond the edge.
pub(super) const NOWHERE: u16 = 256;

/// The most squares between a dux and the pieces that hunt it.
const HUNTING_DISTANCE: i32 = 4;

/// Calls a method that is generic over the words of a square set, with as many words as the board needs.
macro_rules! by_words {
    ($terrain:expr, $receiver:ident . $method:ident ( $($argument:expr),* )) => {
        match $terrain.words {
            1 => $receiver.$method::<1>($($argument),*),
            2 => $receiver.$method::<2>($($argument),*),
            3 => $receiver.$method::<3>($($argument),*),
            _ => $receiver.$method::<4>($($argument),*),
        }
    };
}
pub(super) use by_words;

/// The stones of a position, in square sets of `N` words.
pub(super) struct Stones<const N: usize> {
    pub(super) shifts: Shifts<N>,
    /// By player.
    pub(super) owned: [Bits<N>; 2],
    pub(super) empty: Bits<N>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// By direction; [`NOWHERE`] beyond the edge.
    pub(super) neighbours: [u16; 8],
    /// Steps from the middle of the board, doubled so that even boards have whole numbers.
    pub(super) outwardness: i32,
    pub(super) is_corner: bool,
}

/// A number for each square, to be summed over sets of squares: bit by bit, so that a sum is a few counts.
#[derive(Clone, Debug)]
pub(super) struct Numbers {
    /// Those squares whose number has the bit, lowest bit first.
    bits: Vec<SquareSet>,
}

impl Numbers {
    fn new(numbers: &[i32]) -> Numbers {
        let width = i32::BITS - numbers.iter().copied().max().unwrap_or(0).leading_zeros();
        let with_bit = |bit: u32| {
            let squares = numbers.iter().enumerate().filter(|(_, number)| *number >> bit & 1 != 0);
            squares.map(|(index, _)| Square::from_index(index)).collect()
        };
        Numbers { bits: (0..width).map(with_bit).collect() }
    }

    /// Returns the sum of the numbers of `squares`.
    #[inline(always)]
    pub(super) fn sum<const N: usize>(&self, squares: Bits<N>) -> i32 {
        let counts = self.bits.iter().map(|with_bit| count(squares & with_bit.resize()));
        counts.enumerate().map(|(bit, count)| count << bit).sum()
    }
}

#[inline(always)]
pub(super) fn count<const N: usize>(squares: Bits<N>) -> i32 {
    squares.len() as i32
}

/// The squares of a board and how men move between them.
#[derive(Clone, Debug)]
pub(super) struct Terrain {
    pub(super) places: Vec<Place>,
    pub(super) files: i32,
    pub(super) ranks: i32,
    /// Words that square sets of this board need.
    pub(super) words: usize,
    board: SquareSet,
    shifts: Shifts<4>,
    pub(super) file: Numbers,
    pub(super) rank: Numbers,
    pub(super) outwardness: Numbers,
    /// The edge, corners apart.
    pub(super) edge: SquareSet,
    pub(super) corners: SquareSet,
    /// By square, the squares within one, two, three and four steps along ranks and files.
    within: Vec<[SquareSet; HUNTING_DISTANCE as usize]>,
    /// Greatest number of steps between two squares, along ranks and files.
    pub(super) span: i32,
    /// Directions of steps: 4 or 8.
    pub(super) move_directions: usize,
    pub(super) slides: bool,
    /// The directions in which men step and slide.
    man_steps: StepDirections,
    man_jumps: JumpOver,
}

impl Terrain {
    pub(super) fn new(rules: &Rules) -> Terrain {
        let ruleset = rules.ruleset();
        let (files, ranks) = (rules.files() as i32, rules.ranks() as i32);
        let on_board = |file: i32, rank: i32| (0..files).contains(&file) && (0..ranks).contains(&rank);
        let index = |file: i32, rank: i32| if on_board(file, rank) { (rank * files + file) as u16 } else { NOWHERE };
        let all: Vec<(i32, i32)> = (0..ranks).flat_map(|rank| (0..files).map(move |file| (file, rank))).collect();
        let numbers = |number: &dyn Fn((i32, i32)) -> i32| all.iter().map(|&at| number(at)).collect::<Vec<i32>>();
        let squares = |is_in: &dyn Fn((i32, i32)) -> bool| -> SquareSet {
            let found = all.iter().enumerate().filter(|(_, at)| is_in(**at));
            found.map(|(index, _)| Square::from_index(index)).collect()
        };
        let outwardness = |(file, rank): (i32, i32)| (2 * file - files + 1).abs() + (2 * rank - ranks + 1).abs();
        let is_side = |(file, _): (i32, i32)| file == 0 || file == files - 1;
        let is_end = |(_, rank): (i32, i32)| rank == 0 || rank == ranks - 1;
        let place = |&(file, rank): &(i32, i32)| Place {
            neighbours: STEPS.map(|(df, dr)| index(file + i32::from(df), rank + i32::from(dr))),
            outwardness: outwardness((file, rank)),
            is_corner: is_side((file, rank)) && is_end((file, rank)),
        };
        let within = |&(file, rank): &(i32, i32)| {
            let distance = |(other_file, other_rank): (i32, i32)| (other_file - file).abs() + (other_rank - rank).abs();
            std::array::from_fn(|steps| squares(&|at| distance(at) <= steps as i32 + 1))
        };
        Terrain {
            places: all.iter().map(place).collect(),
            files,
            ranks,
            words: all.len().div_ceil(64),
            board: rules.board(),
            shifts: rules.shifts(),
            file: Numbers::new(&numbers(&|(file, _)| file)),
            rank: Numbers::new(&numbers(&|(_, rank)| rank)),
            outwardness: Numbers::new(&numbers(&outwardness)),
            edge: squares(&|at| is_side(at) != is_end(at)),
            corners: squares(&|at| is_side(at) && is_end(at)),
            within: all.iter().map(within).collect(),
            span: files + ranks - 2,
            move_directions: directions(ruleset.movement.lines),
            slides: ruleset.man.range == Range::Slide,
            man_steps: ruleset.man.step,
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

    #[inline(always)]
    pub(super) fn stones<const N: usize>(&self, position: &Position) -> Stones<N> {
        let owned: [Bits<N>; 2] = Player::BOTH.map(|player| position.stones(player).resize());
        let board: Bits<N> = self.board.resize();
        Stones { shifts: self.shifts.resize(), owned, empty: board & !(owned[0] | owned[1]) }
    }

    /// Sums over `hunters` by how many squares each is nearer than five steps to the dux on `square`.
    #[inline(always)]
    pub(super) fn hunting<const N: usize>(&self, hunters: Bits<N>, square: Square) -> i32 {
        self.within[square.index()].iter().map(|near| count(hunters & near.resize())).sum()
    }

    /// Returns the empty squares to which a piece of `mover` could come by a step, slide or simple jump.
    #[inline(always)]
    pub(super) fn in_reach<const N: usize>(&self, stones: &Stones<N>, mover: Player) -> Bits<N> {
        let Stones { shifts, owned, empty } = stones;
        let (own, others) = (owned[mover.index()], owned[mover.opponent().index()]);
        let forward = if mover == Player::First { 1 } else { -1 };
        let mut jumpable = Bits::EMPTY;
        if self.man_jumps.own {
            jumpable |= own;
        }
        if self.man_jumps.enemy {
            jumpable |= others;
        }
        let mut reached = Bits::EMPTY;
        each_direction(self.move_directions, |direction| {
            let beside = shifts.step(own, direction);
            let is_walked = match self.man_steps {
                StepDirections::All => true,
                StepDirections::ForwardSideways => STEPS[direction].1 * forward >= 0,
                StepDirections::None => false,
            };
            if is_walked {
                reached |= beside;
            }
            if is_walked && self.slides {
                let mut ray = shifts.step(beside & *empty, direction) & *empty;
                while !ray.is_empty() {
                    reached |= ray;
                    ray = shifts.step(ray, direction) & *empty;
                }
            }
            reached |= shifts.step(beside & jumpable, direction);
        });
        reached & *empty
    }
}

/// Returns how many of the directions, orthogonal ones first, a set of lines has.
pub(super) fn directions(lines: Lines) -> usize {
    if lines == Lines::All { 8 } else { 4 }
}

//! Squares and sets of squares.

use std::fmt;
use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, Not};

/// The largest board has 16 x 16 squares.
pub const SQUARES_MAX: usize = 256;

/// A square of the board: rank times files plus file, both counted from 0 at a1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Square(pub(crate) u8);

impl Square {
    /// Returns the square's index, `0..files * ranks`, counted along the ranks from a1.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the square of that index.
    /// Panics when `index` is not below [`SQUARES_MAX`].
    #[inline]
    #[must_use]
    pub const fn from_index(index: usize) -> Square {
        assert!(index < SQUARES_MAX, "a square index is below 256");
        Square(index as u8)
    }
}

/// A set of squares in `N` words of 64, square 0 in the lowest bit of the first word.
/// Boards differ in size, and a small one should not pay for a large one: everything public holds four
/// words ([`SquareSet`]), and the inner loops work on the first `N` of them that the board needs.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Bits<const N: usize>(pub(crate) [u64; N]);

/// A set of squares of any board.
pub type SquareSet = Bits<4>;

impl<const N: usize> Default for Bits<N> {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl<const N: usize> Bits<N> {
    /// The set without squares.
    pub const EMPTY: Self = Bits([0; N]);

    /// Returns the set of one square.
    #[inline]
    #[must_use]
    pub fn of(square: Square) -> Self {
        let mut bits = Self::EMPTY;
        bits.insert(square);
        bits
    }

    /// Returns the set as words: bit `i % 64` of word `i / 64` is the square of index `i`.
    #[inline]
    #[must_use]
    pub const fn words(self) -> [u64; N] {
        self.0
    }

    /// Tells whether `square` is in the set.
    #[inline]
    #[must_use]
    pub const fn contains(self, square: Square) -> bool {
        self.0[(square.0 >> 6) as usize] >> (square.0 & 63) & 1 != 0
    }

    /// Puts `square` into the set.
    #[inline]
    pub const fn insert(&mut self, square: Square) {
        self.0[(square.0 >> 6) as usize] |= 1 << (square.0 & 63);
    }

    /// Takes `square` out of the set.
    #[inline]
    pub const fn remove(&mut self, square: Square) {
        self.0[(square.0 >> 6) as usize] &= !(1 << (square.0 & 63));
    }

    /// Tells whether the set has no square.
    #[inline]
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0.iter().fold(0, |all, word| all | word) == 0
    }

    /// Counts the squares of the set.
    #[inline]
    #[must_use]
    pub fn len(self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Returns the square of the lowest index.
    #[inline]
    #[must_use]
    pub fn first(self) -> Option<Square> {
        self.0
            .iter()
            .position(|&word| word != 0)
            .map(|index| Square((index * 64) as u8 + self.0[index].trailing_zeros() as u8))
    }

    /// Goes through the squares by rising index.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = Square> {
        self.0.into_iter().enumerate().flat_map(|(index, word)| WordSquares { word, base: (index * 64) as u8 })
    }

    /// Calls `visit` on each square by rising index; what the innermost loops use.
    #[inline(always)]
    pub(crate) fn each(self, mut visit: impl FnMut(Square)) {
        for index in 0..N {
            let mut word = self.0[index];
            while word != 0 {
                visit(Square((index * 64) as u8 + word.trailing_zeros() as u8));
                word &= word - 1;
            }
        }
    }

    /// Returns the set that [`Bits::words`] describes.
    #[inline]
    #[must_use]
    pub const fn from_words(words: [u64; N]) -> Self {
        Bits(words)
    }

    /// Returns the first `M` words; squares beyond them are lost, or there are none.
    #[inline(always)]
    #[must_use]
    pub fn resize<const M: usize>(self) -> Bits<M> {
        let mut words = [0; M];
        let shared = if M < N { M } else { N };
        words[..shared].copy_from_slice(&self.0[..shared]);
        Bits(words)
    }

    /// Moves every square up by `count` indices, `0 < count < 64`.
    #[inline(always)]
    pub(crate) fn up(self, count: u32) -> Self {
        let mut words = [0; N];
        let mut index = 0;
        while index < N {
            words[index] = self.0[index] << count;
            if index > 0 {
                words[index] |= self.0[index - 1] >> (64 - count);
            }
            index += 1;
        }
        Bits(words)
    }

    /// Moves every square down by `count` indices, `0 < count < 64`.
    #[inline(always)]
    pub(crate) fn down(self, count: u32) -> Self {
        let mut words = [0; N];
        let mut index = 0;
        while index < N {
            words[index] = self.0[index] >> count;
            if index + 1 < N {
                words[index] |= self.0[index + 1] << (64 - count);
            }
            index += 1;
        }
        Bits(words)
    }
}

struct WordSquares {
    word: u64,
    base: u8,
}

impl Iterator for WordSquares {
    type Item = Square;

    #[inline]
    fn next(&mut self) -> Option<Square> {
        if self.word == 0 {
            return None;
        }
        let square = Square(self.base + self.word.trailing_zeros() as u8);
        self.word &= self.word - 1;
        Some(square)
    }
}

impl<const N: usize> FromIterator<Square> for Bits<N> {
    fn from_iter<I: IntoIterator<Item = Square>>(squares: I) -> Self {
        let mut bits = Self::EMPTY;
        for square in squares {
            bits.insert(square);
        }
        bits
    }
}

impl<const N: usize> fmt::Debug for Bits<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(|square| square.0)).finish()
    }
}

macro_rules! wordwise {
    ($($trait:ident $method:ident $op:tt),+) => { $(
        impl<const N: usize> $trait for Bits<N> {
            type Output = Self;

            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Bits(std::array::from_fn(|index| self.0[index] $op other.0[index]))
            }
        }
    )+ };
}
wordwise!(BitAnd bitand &, BitOr bitor |, BitXor bitxor ^);

impl<const N: usize> Not for Bits<N> {
    type Output = Self;

    #[inline(always)]
    fn not(self) -> Self {
        Bits(std::array::from_fn(|index| !self.0[index]))
    }
}

impl<const N: usize> BitAndAssign for Bits<N> {
    #[inline(always)]
    fn bitand_assign(&mut self, other: Self) {
        *self = *self & other;
    }
}

impl<const N: usize> BitOrAssign for Bits<N> {
    #[inline(always)]
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

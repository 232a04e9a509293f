//! Squares, pieces and the text of a position.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

/// A direction: files to the right, ranks up.
pub(crate) type Direction = (i32, i32);

/// Right, up, left, down.
pub(crate) const ORTHOGONAL: [Direction; 4] = [(1, 0), (0, 1), (-1, 0), (0, -1)];
/// The four diagonals.
pub(crate) const DIAGONAL: [Direction; 4] = [(1, 1), (-1, 1), (-1, -1), (1, -1)];

/// Returns the four directions, or all eight.
pub(crate) fn directions(diagonally: bool) -> Vec<Direction> {
    let mut directions = ORTHOGONAL.to_vec();
    if diagonally {
        directions.extend(DIAGONAL);
    }
    directions
}

/// A square by file and rank, counted from a1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Square {
    pub(crate) file: i32,
    pub(crate) rank: i32,
}

impl Square {
    /// Writes `c4`.
    pub(crate) fn text(self) -> String {
        let file = char::from(b'a' + u8::try_from(self.file).unwrap());
        format!("{file}{}", self.rank + 1)
    }
}

/// A man or dux of player 1 or 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Piece {
    pub(crate) player: u8,
    pub(crate) dux: bool,
}

impl Piece {
    /// Reads `M`, `D`, `m` or `d`.
    pub(crate) fn from_letter(letter: char) -> Option<Self> {
        let player = if letter.is_ascii_uppercase() { 1 } else { 2 };
        match letter {
            'M' | 'm' => Some(Self { player, dux: false }),
            'D' | 'd' => Some(Self { player, dux: true }),
            _ => None,
        }
    }
}

/// The other player.
pub(crate) fn other(player: u8) -> u8 {
    3 - player
}

/// What stands where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Board {
    files: i32,
    ranks: i32,
    cells: Vec<Option<Piece>>,
}

impl Board {
    pub(crate) fn empty(files: usize, ranks: usize) -> Self {
        Self {
            files: i32::try_from(files).unwrap(),
            ranks: i32::try_from(ranks).unwrap(),
            cells: vec![None; files * ranks],
        }
    }

    /// Reads an array drawn top rank first.
    pub(crate) fn from_array(files: usize, ranks: usize, array: &str) -> Self {
        let mut board = Self::empty(files, ranks);
        let rows: Vec<&str> = array.split(['\n', '/']).filter(|row| !row.is_empty()).collect();
        assert_eq!(rows.len(), ranks, "the array has one row for each rank");
        for (row, rank) in rows.iter().zip((0..board.ranks).rev()) {
            assert_eq!(row.chars().count(), files, "a row has one letter for each file");
            for (letter, file) in row.chars().zip(0..) {
                board.set(Square { file, rank }, Piece::from_letter(letter));
            }
        }
        board
    }

    /// All squares.
    pub(crate) fn squares(&self) -> impl Iterator<Item = Square> + use<> {
        let files = self.files;
        (0..self.ranks).flat_map(move |rank| (0..files).map(move |file| Square { file, rank }))
    }

    /// The squares of all pieces of a player.
    pub(crate) fn pieces_of(&self, player: u8) -> Vec<Square> {
        self.squares().filter(|&square| self.at(square).is_some_and(|piece| piece.player == player)).collect()
    }

    fn holds(&self, square: Square) -> bool {
        (0..self.files).contains(&square.file) && (0..self.ranks).contains(&square.rank)
    }

    fn index(&self, square: Square) -> usize {
        usize::try_from(square.rank * self.files + square.file).unwrap()
    }

    /// What stands on a square.
    pub(crate) fn at(&self, square: Square) -> Option<Piece> {
        self.cells[self.index(square)]
    }

    pub(crate) fn set(&mut self, square: Square, piece: Option<Piece>) {
        let index = self.index(square);
        self.cells[index] = piece;
    }

    /// The next square in a direction, if the board goes on.
    pub(crate) fn next(&self, square: Square, (file, rank): Direction) -> Option<Square> {
        let next = Square { file: square.file + file, rank: square.rank + rank };
        self.holds(next).then_some(next)
    }

    /// The squares beside a square: four, at the edge three, in a corner two.
    pub(crate) fn sides(&self, square: Square) -> Vec<Square> {
        ORTHOGONAL.iter().filter_map(|&direction| self.next(square, direction)).collect()
    }
}

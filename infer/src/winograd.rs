//! Convolutions of three by three in `f32` by Winograd's transform F(4x4, 3x3): Lavin and Gray, "Fast Algorithms for
//! Convolutional Neural Networks" (2015), section 4.3.
//!
//! A tile of 4 by 4 squares and its neighbours, 6 by 6 cells, become 36 numbers of each channel, its *points*. There
//! the convolution is a product at each point, so that 36 multiplications replace 144. The sums are rounded
//! otherwise than those of the plain convolution: some units in the sixth digit.
//!
//! Legend: `T` tiles, `C'` input channels and `O'` output channels rounded up to [`LANES`].

use latrunculi_data::Shape;

use crate::native::lanes::{LANES, Lanes};
use crate::weights::Convolution;

/// Squares of a side of a tile, and cells with its neighbours.
const SIDE: usize = 4;
const REACH: usize = SIDE + 2;
const POINTS: usize = REACH * REACH;

/// Tiles that are transformed together; their points stay in the second-level cache.
const TILES: usize = 24;

/// Rows of a product that are computed at once, as many as the registers hold.
const ROWS: usize = 6;

/// Where the squares of a board lie among its *cells*: the board with a border of zeros, extended to whole tiles.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cells {
    files: usize,
    ranks: usize,
    /// Tiles of a rank, and of the board.
    tile_files: usize,
    tiles: usize,
    /// Cells of a rank, and of the board.
    row: usize,
    len: usize,
}

impl Cells {
    pub(crate) fn new(shape: &Shape) -> Cells {
        let (tile_files, tile_ranks) = (shape.files.div_ceil(SIDE), shape.ranks.div_ceil(SIDE));
        let row = SIDE * tile_files + 2;
        Cells {
            files: shape.files,
            ranks: shape.ranks,
            tile_files,
            tiles: tile_files * tile_ranks,
            row,
            len: row * (SIDE * tile_ranks + 2),
        }
    }

    /// Returns how many cells a board has.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns how many positions are best computed together.
    pub(crate) fn together(&self) -> usize {
        (TILES / self.tiles).max(1)
    }

    /// Returns the cell of a square.
    #[inline(always)]
    pub(crate) fn of(&self, square: usize) -> usize {
        (square / self.files + 1) * self.row + square % self.files + 1
    }
}

/// What is done with the sums of a convolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Finish {
    /// They are written.
    Write,
    /// The negative become 0.
    Rectify,
    /// What was there before is added, then the negative become 0.
    AddAndRectify,
}

/// The weights of a convolution at the points.
#[derive(Debug)]
pub(crate) struct Transformed {
    /// `C'`
    inputs: usize,
    /// `[O'/16][36][C']` of sixteen outputs.
    weight: Vec<[f32; LANES]>,
}

/// What a thread needs to work in.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// `[36][T][C']`: the inputs at the points.
    inputs: Vec<f32>,
    /// `[36][T]` of sixteen outputs.
    outputs: Vec<[f32; LANES]>,
}

/// The matrix that transforms the weights: `G` of the paper.
const WEIGHTS: [[f64; 3]; REACH] = [
    [1.0 / 4.0, 0.0, 0.0],
    [-1.0 / 6.0, -1.0 / 6.0, -1.0 / 6.0],
    [-1.0 / 6.0, 1.0 / 6.0, -1.0 / 6.0],
    [1.0 / 24.0, 1.0 / 12.0, 1.0 / 6.0],
    [1.0 / 24.0, -1.0 / 12.0, 1.0 / 6.0],
    [0.0, 0.0, 1.0],
];

impl Transformed {
    pub(crate) fn new(convolution: &Convolution) -> Transformed {
        let inputs = convolution.inputs.next_multiple_of(LANES);
        let outputs = convolution.outputs.next_multiple_of(LANES);
        let mut weight = vec![[0.0; LANES]; outputs / LANES * POINTS * inputs];
        for output in 0..convolution.outputs {
            for input in 0..convolution.inputs {
                for point in 0..POINTS {
                    let (across, along) = (&WEIGHTS[point / REACH], &WEIGHTS[point % REACH]);
                    let value =
                        |tap: usize| across[tap / 3] * along[tap % 3] * f64::from(convolution.at(output, tap, input));
                    let place = (output / LANES * POINTS + point) * inputs + input;
                    weight[place][output % LANES] = (0..9).map(value).sum::<f64>() as f32;
                }
            }
        }
        Transformed { inputs, weight }
    }

    /// Computes the convolution of `positions` boards.
    ///
    /// `input` is `[positions][cells][C']`, whose cells beside the board are 0, `output` is `[positions][cells][O']`,
    /// whose cells beside the board are not written, and `bias` is `[positions][O'/16]`.
    #[inline(always)]
    pub(crate) fn run(
        &self,
        cells: &Cells,
        (input, output): (&[f32], &mut [f32]),
        bias: &[[f32; LANES]],
        finish: Finish,
        scratch: &mut Scratch,
    ) {
        let vectors = self.weight.len() / (POINTS * self.inputs);
        let tiles = bias.len() / vectors * cells.tiles;
        // Never shortened: longer again, it would be filled anew.
        let len = scratch.inputs.len().max(POINTS * TILES * self.inputs);
        scratch.inputs.resize(len, 0.0);
        scratch.outputs.resize(POINTS * TILES, [0.0; LANES]);
        for first in (0..tiles).step_by(TILES) {
            let count = TILES.min(tiles - first);
            for tile in 0..count {
                self.transform(cells, first + tile, input, &mut scratch.inputs[tile * self.inputs..]);
            }
            for (vector, weight) in self.weight.chunks_exact(POINTS * self.inputs).enumerate() {
                for (point, weight) in weight.chunks_exact(self.inputs).enumerate() {
                    let inputs = &scratch.inputs[point * TILES * self.inputs..][..count * self.inputs];
                    let outputs = &mut scratch.outputs[point * TILES..][..count];
                    multiply(weight, inputs, |row, sum| sum.store(&mut outputs[row]));
                }
                for tile in 0..count {
                    let board = (first + tile) / cells.tiles;
                    let bias = &bias[board * vectors + vector];
                    let output = &mut output[vector * LANES..];
                    finish_tile(cells, first + tile, &scratch.outputs[tile..], bias, finish, output, vectors * LANES);
                }
            }
        }
    }

    /// Writes the points of a tile, `[36]` at distances of `[TILES][C']`.
    #[inline(always)]
    fn transform(&self, cells: &Cells, tile: usize, input: &[f32], points: &mut [f32]) {
        let begin = begin_of(cells, tile);
        for channel in (0..self.inputs).step_by(LANES) {
            let mut columns = [[Lanes::all(0.0); REACH]; REACH];
            for (file, column) in columns.iter_mut().enumerate() {
                for (rank, value) in column.iter_mut().enumerate() {
                    let place = (begin + rank * cells.row + file) * self.inputs + channel;
                    *value = Lanes::load(input[place..].first_chunk().expect("sixteen channels"));
                }
                *column = input_points(column);
            }
            for rank in 0..REACH {
                let [a, b, c, d, e, f] = &columns;
                let row = [a[rank], b[rank], c[rank], d[rank], e[rank], f[rank]];
                for (file, value) in input_points(&row).into_iter().enumerate() {
                    let place = (rank * REACH + file) * TILES * self.inputs + channel;
                    value.store(points[place..].first_chunk_mut().expect("the points of a tile"));
                }
            }
        }
    }
}

/// Returns the first cell of a tile's neighbourhood.
#[inline(always)]
fn begin_of(cells: &Cells, tile: usize) -> usize {
    let (board, tile) = (tile / cells.tiles, tile % cells.tiles);
    board * cells.len + tile / cells.tile_files * SIDE * cells.row + tile % cells.tile_files * SIDE
}

/// Multiplies by the matrix `B^T` of the paper.
#[inline(always)]
fn input_points(d: &[Lanes; REACH]) -> [Lanes; REACH] {
    let times = |value: Lanes, factor: f32, other: Lanes| value.add_product(Lanes::all(factor), other);
    let (even, odd) = (times(d[4], -4.0, d[2]), times(d[3], -4.0, d[1]));
    let (near, far) = (times(d[4], -1.0, d[2]), times(d[3], -1.0, d[1]));
    [
        times(times(d[4], -5.0, d[2]), 4.0, d[0]),
        even.add(odd),
        times(even, -1.0, odd),
        times(near, 2.0, far),
        times(near, -2.0, far),
        times(times(d[5], -5.0, d[3]), 4.0, d[1]),
    ]
}

/// Multiplies by the matrix `A^T` of the paper.
#[inline(always)]
fn output_squares(m: &[Lanes; REACH]) -> [Lanes; SIDE] {
    let times = |value: Lanes, factor: f32, other: Lanes| value.add_product(Lanes::all(factor), other);
    let (near, near_odd) = (m[1].add(m[2]), times(m[1], -1.0, m[2]));
    let (far, far_odd) = (m[3].add(m[4]), times(m[3], -1.0, m[4]));
    [
        m[0].add(near).add(far),
        times(near_odd, 2.0, far_odd),
        times(near, 4.0, far),
        times(near_odd, 8.0, far_odd).add(m[5]),
    ]
}

/// Transforms sixteen channels of a tile back and writes them to its squares, whose channels are `channels` apart.
#[inline(always)]
fn finish_tile(
    cells: &Cells,
    tile: usize,
    points: &[[f32; LANES]],
    bias: &[f32; LANES],
    finish: Finish,
    output: &mut [f32],
    channels: usize,
) {
    let mut rows = [[Lanes::all(0.0); REACH]; SIDE];
    for file in 0..REACH {
        let mut column = [Lanes::all(0.0); REACH];
        for (rank, value) in column.iter_mut().enumerate() {
            *value = Lanes::load(&points[(rank * REACH + file) * TILES]);
        }
        for (rank, value) in output_squares(&column).into_iter().enumerate() {
            rows[rank][file] = value;
        }
    }
    let bias = Lanes::load(bias);
    let begin = begin_of(cells, tile) + cells.row + 1;
    let within = tile % cells.tiles;
    let ranks = cells.ranks - within / cells.tile_files * SIDE;
    let files = cells.files - within % cells.tile_files * SIDE;
    for (rank, row) in rows.iter().enumerate().take(ranks) {
        for (file, value) in output_squares(row).into_iter().enumerate().take(files) {
            let place = &mut output[(begin + rank * cells.row + file) * channels..];
            let place = place.first_chunk_mut().expect("sixteen channels");
            let value = value.add(bias);
            match finish {
                Finish::Write => value,
                Finish::Rectify => value.max(Lanes::all(0.0)),
                Finish::AddAndRectify => value.add(Lanes::load(place)).max(Lanes::all(0.0)),
            }
            .store(place);
        }
    }
}

/// Multiplies the rows of `inputs`, `[rows][C']`, by `weight`, `[C']` of sixteen outputs, and hands on each row's sums.
#[inline(always)]
pub(crate) fn multiply(weight: &[[f32; LANES]], inputs: &[f32], mut write: impl FnMut(usize, Lanes)) {
    let rows = inputs.len() / weight.len();
    let mut row = 0;
    while row < rows {
        // No strip is much shorter than the others: 8 rows are 4 and 4, 9 are 5 and 4.
        let left = rows - row;
        let width = left.div_ceil(left.div_ceil(ROWS));
        let inputs = &inputs[row * weight.len()..];
        let mut write = |index: usize, sum| write(row + index, sum);
        match width {
            1 => strip::<1>(weight, inputs, &mut write),
            2 => strip::<2>(weight, inputs, &mut write),
            3 => strip::<3>(weight, inputs, &mut write),
            4 => strip::<4>(weight, inputs, &mut write),
            5 => strip::<5>(weight, inputs, &mut write),
            _ => strip::<6>(weight, inputs, &mut write),
        }
        row += width;
    }
}

#[inline(always)]
fn strip<const N: usize>(weight: &[[f32; LANES]], inputs: &[f32], write: &mut impl FnMut(usize, Lanes)) {
    let inputs: [&[f32]; N] = std::array::from_fn(|row| &inputs[row * weight.len()..][..weight.len()]);
    let mut sums = [Lanes::all(0.0); N];
    for (channel, weight) in weight.iter().enumerate() {
        let weight = Lanes::load(weight);
        for row in 0..N {
            sums[row] = sums[row].add_product(Lanes::all(inputs[row][channel]), weight);
        }
    }
    for (row, sum) in sums.into_iter().enumerate() {
        write(row, sum);
    }
}

//! Convolutions of 3 by 3 in `f32` by Winograd's transform F(4x4, 3x3): Lavin and Gray, "Fast Algorithms for Convolutional
//! Neural Networks" (2015), section 4.3. A tile of 4 by 4 squares and its neighbours, 6 by 6 cells, become 36 numbers of each
//! channel, its *points*, at each of which the convolution is a product. The sums are rounded otherwise than plain ones.
//! Legend: `T` tiles, `C'` input channels and `O'` output channels rounded up to [`LANES`].

mod gradient;

use std::ops::Range;

use latrunculi_data::Shape;

use crate::native::lanes::{LANES, Lanes};
use crate::products::multiply;

pub(crate) use gradient::WeightGradient;

/// Squares of a side of a tile, and cells with its neighbours.
const SIDE: usize = 4;
const REACH: usize = SIDE + 2;
const POINTS: usize = REACH * REACH;

/// Tiles that are transformed together; their points stay in the second-level cache.
const TILES: usize = 24;

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

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns how many positions are best computed together.
    pub(crate) fn together(&self) -> usize {
        self.most_within(TILES)
    }

    /// Returns how many positions have no more tiles than these together; at least one.
    pub(crate) fn most_within(&self, tiles: usize) -> usize {
        (tiles / self.tiles).max(1)
    }

    #[inline(always)]
    pub(crate) fn of(&self, square: usize) -> usize {
        (square / self.files + 1) * self.row + square % self.files + 1
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Finish<'a> {
    /// The negative become 0.
    Rectify,
    /// They become 0 where this board, `[positions][cells][O']`, is not above 0.
    Mask(&'a [f32]),
    /// What was there before is added, then they become 0 where this board is not above 0.
    AddAndMask(&'a [f32]),
    /// What was there before is added, then the negative become 0.
    AddAndRectify,
}

#[derive(Debug)]
pub(crate) struct Transformed {
    /// `C'`
    inputs: usize,
    /// `O'/16`
    vectors: usize,
    /// `[36][O'/16][C']` of sixteen outputs: what one point needs lies together, its inputs stay in the first-level cache.
    weight: Vec<[f32; LANES]>,
}

#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// `[36][T][C']`: the inputs at the points.
    inputs: Vec<f32>,
    /// `[36][T][O'/16]` of sixteen outputs.
    outputs: Vec<[f32; LANES]>,
}

impl Scratch {
    /// Makes room for so many tiles and channels, and vectors of outputs; never shortened, as it would be filled anew when longer again.
    fn grow(&mut self, tiles: usize, inputs: usize, vectors: usize) {
        let len = self.inputs.len().max(POINTS * tiles * inputs);
        self.inputs.resize(len, 0.0);
        let len = self.outputs.len().max(POINTS * tiles * vectors);
        self.outputs.resize(len, [0.0; LANES]);
    }
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
    /// Transforms the weights of a convolution: `at(output, tap, input)`, taps rank by rank.
    pub(crate) fn new(inputs: usize, outputs: usize, at: impl Fn(usize, usize, usize) -> f32) -> Transformed {
        let (wide, vectors) = (inputs.next_multiple_of(LANES), outputs.div_ceil(LANES));
        let mut weight = vec![[0.0; LANES]; vectors * POINTS * wide];
        // Outside of the loops, so that they are made once.
        let (mut taps, mut across) = ([[0.0; LANES]; 9], [[[0.0; LANES]; 3]; REACH]);
        for vector in 0..vectors {
            let first = vector * LANES;
            let lanes = LANES.min(outputs - first);
            for input in 0..inputs {
                for (tap, values) in taps.iter_mut().enumerate() {
                    values[lanes..].fill(0.0);
                    for (lane, value) in values[..lanes].iter_mut().enumerate() {
                        *value = f64::from(at(first + lane, tap, input));
                    }
                }
                // `G g`, rank by rank, then its product with the transposed `G`.
                for (factors, row) in WEIGHTS.iter().zip(&mut across) {
                    for (file, values) in row.iter_mut().enumerate() {
                        combine(factors, |rank| &taps[3 * rank + file], values);
                    }
                }
                let mut values = [0.0; LANES];
                for point in 0..POINTS {
                    combine(&WEIGHTS[point % REACH], |file| &across[point / REACH][file], &mut values);
                    let place = &mut weight[(point * vectors + vector) * wide + input];
                    place.iter_mut().zip(&values).for_each(|(place, value)| *place = *value as f32);
                }
            }
        }
        Transformed { inputs: wide, vectors, weight }
    }

    /// Computes the convolution of `positions` boards.
    /// `input` is `[positions][cells][C']`, whose cells beside the board are 0, `output` is `[positions][cells][O']`,
    /// whose cells beside the board are not written, and `bias` is `[positions][O'/16]`.
    pub(crate) fn run(
        &self,
        cells: &Cells,
        (input, output): (&[f32], &mut [f32]),
        bias: &[[f32; LANES]],
        finish: Finish<'_>,
        scratch: &mut Scratch,
    ) {
        let (inputs, vectors) = (self.inputs, self.vectors);
        let tiles = bias.len() / vectors * cells.tiles;
        scratch.grow(TILES, inputs, vectors);
        for first in (0..tiles).step_by(TILES) {
            let count = TILES.min(tiles - first);
            let tiles = first..first + count;
            transform_inputs(cells, tiles.clone(), input, inputs, &mut scratch.inputs, TILES * inputs);
            for (point, weight) in self.weight.chunks_exact(vectors * inputs).enumerate() {
                let rows = &scratch.inputs[point * TILES * inputs..][..count * inputs];
                let outputs = &mut scratch.outputs[point * TILES * vectors..][..count * vectors];
                for (vector, weight) in weight.chunks_exact(inputs).enumerate() {
                    multiply(weight, rows, |row, sum| sum.store(&mut outputs[row * vectors + vector]));
                }
            }
            for vector in 0..vectors {
                let channels = (vector * LANES, vectors * LANES);
                finish_tiles(cells, tiles.clone(), &scratch.outputs, bias, finish, output, channels);
            }
        }
    }
}

/// Writes the inputs of tiles at their points, `[36][tiles][C']`, each point `distance` floats from the one before; `input`
/// has `channels` of each cell, a multiple of [`LANES`].
#[inline(always)]
fn transform_inputs(
    cells: &Cells,
    tiles: Range<usize>,
    input: &[f32],
    channels: usize,
    points: &mut [f32],
    distance: usize,
) {
    // Outside of the loops, so that it is made once.
    let mut columns = [[Lanes::all(0.0); REACH]; REACH];
    for (index, tile) in tiles.enumerate() {
        let begin = begin_of(cells, tile);
        for channel in (0..channels).step_by(LANES) {
            for (file, column) in columns.iter_mut().enumerate() {
                for (rank, value) in column.iter_mut().enumerate() {
                    let place = (begin + rank * cells.row + file) * channels + channel;
                    *value = Lanes::load(input[place..].first_chunk().expect("sixteen channels"));
                }
                *column = input_points(column);
            }
            for rank in 0..REACH {
                let [a, b, c, d, e, f] = &columns;
                let row = [a[rank], b[rank], c[rank], d[rank], e[rank], f[rank]];
                for (file, value) in input_points(&row).into_iter().enumerate() {
                    let place = (rank * REACH + file) * distance + index * channels + channel;
                    value.store(points[place..].first_chunk_mut().expect("the points of a tile"));
                }
            }
        }
    }
}

/// Writes the sum of vectors times their factors.
#[inline(always)]
fn combine<'a, const N: usize>(
    factors: &[f64; N],
    vector: impl Fn(usize) -> &'a [f64; LANES],
    sums: &mut [f64; LANES],
) {
    sums.fill(0.0);
    for (index, factor) in factors.iter().enumerate() {
        sums.iter_mut().zip(vector(index)).for_each(|(sum, value)| *sum += factor * value);
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

/// Transforms sixteen channels of tiles back and writes them to their squares, from the first of `channels` on; a square
/// has the second of `channels`, and `bias` as many of each board, in lanes.
#[inline(always)]
fn finish_tiles(
    cells: &Cells,
    tiles: Range<usize>,
    points: &[[f32; LANES]],
    bias: &[[f32; LANES]],
    finish: Finish<'_>,
    output: &mut [f32],
    channels: (usize, usize),
) {
    let (first, vectors) = (channels.0 / LANES, channels.1 / LANES);
    // Outside of the loops, so that it is made once.
    let mut rows = [[Lanes::all(0.0); REACH]; SIDE];
    for (index, tile) in tiles.enumerate() {
        for file in 0..REACH {
            let mut column = [Lanes::all(0.0); REACH];
            for (rank, value) in column.iter_mut().enumerate() {
                *value = Lanes::load(&points[((rank * REACH + file) * TILES + index) * vectors + first]);
            }
            for (rank, value) in output_squares(&column).into_iter().enumerate() {
                rows[rank][file] = value;
            }
        }
        let (board, within) = (tile / cells.tiles, tile % cells.tiles);
        let bias = Lanes::load(&bias[board * vectors + first]);
        let begin = begin_of(cells, tile) + cells.row + 1;
        let ranks = cells.ranks - within / cells.tile_files * SIDE;
        let files = cells.files - within % cells.tile_files * SIDE;
        for (rank, row) in rows.iter().enumerate().take(ranks) {
            for (file, value) in output_squares(row).into_iter().enumerate().take(files) {
                let place = (begin + rank * cells.row + file) * channels.1 + channels.0;
                let at = |values: &[f32]| Lanes::load(values[place..].first_chunk().expect("sixteen channels"));
                let (value, zero) = (value.add(bias), Lanes::all(0.0));
                match finish {
                    Finish::Rectify => value.max(zero),
                    Finish::AddAndRectify => value.add(at(output)).max(zero),
                    Finish::Mask(board) => value.masked(at(board)),
                    Finish::AddAndMask(board) => value.add(at(output)).masked(at(board)),
                }
                .store(output[place..].first_chunk_mut().expect("sixteen channels"));
            }
        }
    }
}

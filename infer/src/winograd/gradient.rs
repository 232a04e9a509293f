//! The gradient of the weights of a convolution, summed at the points.

use std::ops::Range;

use super::{Cells, POINTS, REACH, SIDE, Scratch, WEIGHTS, begin_of, combine, transform_inputs};
use crate::native::lanes::{LANES, Lanes};
use crate::products::add_transposed;

/// Tiles that are transformed together.
const TILES: usize = 48;

/// Sums over tiles, at each point, of the products of inputs and gradients of the outputs.
#[derive(Debug)]
pub(crate) struct WeightGradient {
    /// `C'`
    inputs: usize,
    /// `[O'/16][36][C']` of sixteen outputs.
    sums: Vec<[f32; LANES]>,
}

impl WeightGradient {
    pub(crate) fn new(inputs: usize, outputs: usize) -> WeightGradient {
        let inputs = inputs.next_multiple_of(LANES);
        WeightGradient { inputs, sums: vec![[0.0; LANES]; outputs.div_ceil(LANES) * POINTS * inputs] }
    }

    pub(crate) fn clear(&mut self) {
        self.sums.fill([0.0; LANES]);
    }

    /// Adds the products of `count` boards: `input` is `[count][cells][C']`, `of_output` `[count][cells][O']`, both 0
    /// beside the board.
    #[inline(always)]
    pub(crate) fn add(&mut self, cells: &Cells, count: usize, input: &[f32], of_output: &[f32], scratch: &mut Scratch) {
        let inputs = self.inputs;
        let channels = self.sums.len() / (POINTS * inputs) * LANES;
        scratch.grow(TILES, inputs, 1);
        let tiles = count * cells.tiles;
        for first in (0..tiles).step_by(TILES) {
            let together = TILES.min(tiles - first);
            let tiles = first..first + together;
            transform_inputs(cells, tiles.clone(), input, inputs, &mut scratch.inputs, TILES * inputs);
            for (vector, sums) in self.sums.chunks_exact_mut(POINTS * inputs).enumerate() {
                let of_output = &of_output[vector * LANES..];
                transform_outputs(cells, tiles.clone(), of_output, channels, &mut scratch.outputs);
                for (point, sums) in sums.chunks_exact_mut(inputs).enumerate() {
                    let inputs = &scratch.inputs[point * TILES * inputs..][..together * inputs];
                    let outputs = &scratch.outputs[point * TILES..][..together];
                    add_transposed(inputs, outputs.as_flattened(), LANES, sums);
                }
            }
        }
    }

    /// Hands on the gradient of each tap, sixteen outputs at a time: the first output, the tap, the input, the values.
    #[inline(always)]
    pub(crate) fn taps(&self, mut write: impl FnMut(usize, usize, usize, &[f64; LANES])) {
        // The transposed `G`.
        let factors: [[f64; REACH]; 3] = std::array::from_fn(|tap| WEIGHTS.map(|row| row[tap]));
        // Outside of the loops, so that they are made once.
        let (mut points, mut across) = ([[0.0; LANES]; POINTS], [[[0.0; LANES]; REACH]; 3]);
        for (vector, sums) in self.sums.chunks_exact(POINTS * self.inputs).enumerate() {
            for input in 0..self.inputs {
                for (point, values) in points.iter_mut().enumerate() {
                    let sums = &sums[point * self.inputs + input];
                    values.iter_mut().zip(sums).for_each(|(value, sum)| *value = f64::from(*sum));
                }
                for (factors, row) in factors.iter().zip(&mut across) {
                    for (file, values) in row.iter_mut().enumerate() {
                        combine(factors, |rank| &points[rank * REACH + file], values);
                    }
                }
                let mut values = [0.0; LANES];
                for tap in 0..9 {
                    combine(&factors[tap % 3], |file| &across[tap / 3][file], &mut values);
                    write(vector * LANES, tap, input, &values);
                }
            }
        }
    }
}

/// Writes sixteen channels of the gradient of the squares of tiles at their points: `[36][TILES]`.
#[inline(always)]
fn transform_outputs(
    cells: &Cells,
    tiles: Range<usize>,
    of_output: &[f32],
    channels: usize,
    points: &mut [[f32; LANES]],
) {
    // Outside of the loops, so that it is made once.
    let mut columns = [[Lanes::all(0.0); REACH]; SIDE];
    for (index, tile) in tiles.enumerate() {
        let begin = begin_of(cells, tile) + cells.row + 1;
        for (file, column) in columns.iter_mut().enumerate() {
            let mut squares = [Lanes::all(0.0); SIDE];
            for (rank, value) in squares.iter_mut().enumerate() {
                let place = (begin + rank * cells.row + file) * channels;
                *value = Lanes::load(of_output[place..].first_chunk().expect("sixteen channels"));
            }
            *column = output_points(&squares);
        }
        for rank in 0..REACH {
            let [a, b, c, d] = &columns;
            for (file, value) in output_points(&[a[rank], b[rank], c[rank], d[rank]]).into_iter().enumerate() {
                value.store(&mut points[(rank * REACH + file) * TILES + index]);
            }
        }
    }
}

/// Multiplies by the matrix `A` of the paper.
#[inline(always)]
fn output_points(d: &[Lanes; SIDE]) -> [Lanes; REACH] {
    let times = |value: Lanes, factor: f32, other: Lanes| value.add_product(Lanes::all(factor), other);
    let (even, odd) = (d[0].add(d[2]), d[1].add(d[3]));
    let (far_even, far_odd) = (times(d[0], 4.0, d[2]), times(d[1], 4.0, d[3]));
    [d[0], even.add(odd), times(even, -1.0, odd), times(far_even, 2.0, far_odd), times(far_even, -2.0, far_odd), d[3]]
}

//! The kernel in plain Rust, for every processor: 32-bit floats, with the convolutions of `winograd`. The board has a border
//! of zeros, so that tiles at its edge are computed as the others.
//! Legend: `N` positions computed together, `A` squares, `C'` channels and `P'` planes rounded up to [`LANES`], `D'` and
//! `V'` channels of the heads; *cells* are those of [`Cells`].

use std::ops::Range;

use latrunculi_data::{SCALARS, Shape};

use crate::heads::{self, Dense, HeadBuffers, Heads};
use crate::native::lanes::{LANES, Lanes};
use crate::products::multiply;
use crate::weights::{Convolution, Weights};
use crate::winograd::{Cells, Finish, Scratch, Transformed};
use latrunculi_data::{Answers, PositionBatch};

#[derive(Debug)]
struct PackedHead {
    /// `[outputs/16][C']` of sixteen outputs.
    weight: Vec<[f32; LANES]>,
    /// `[outputs/16]` of sixteen outputs.
    bias: Vec<[f32; LANES]>,
}

#[derive(Debug)]
struct Packed {
    weight: Transformed,
    /// `[C'/16]` of sixteen outputs.
    bias: Vec<[f32; LANES]>,
}

impl Packed {
    fn new(convolution: &Convolution) -> Packed {
        let bias = padded(&convolution.bias, convolution.outputs.next_multiple_of(LANES));
        let at = |output, tap, input| convolution.at(output, tap, input);
        Packed {
            weight: Transformed::new(convolution.inputs, convolution.outputs, at),
            bias: bias.as_chunks().0.to_vec(),
        }
    }
}

#[derive(Debug)]
struct PackedBlock {
    first: Packed,
    second: Packed,
    /// From `C'` means and as many maxima over the board to a bias of each channel.
    pooling: Option<Dense>,
}

#[derive(Debug)]
pub(crate) struct Network {
    shape: Shape,
    cells: Cells,
    /// `C'`
    channels: usize,
    stem: Packed,
    scalars: Dense,
    blocks: Vec<PackedBlock>,
    /// From-squares, to-squares, features.
    head: PackedHead,
    heads: Heads,
}

#[derive(Debug)]
pub(crate) struct Buffers {
    /// `[N][cells][P']`: 0 between two groups of positions.
    planes: Vec<f32>,
    /// `[N][cells][C']`: the trunk, the inner activations.
    trunk: Vec<f32>,
    inner: Vec<f32>,
    /// `[N][C'/16]`: the biases of the positions.
    bias: Vec<[f32; LANES]>,
    /// `[2 C']`: means, then maxima.
    pooled: Vec<f32>,
    scratch: Scratch,
    /// `[N][A][2D']`
    squares: Vec<f32>,
    /// `[N][2V']`, `N` rounded up to what the heads compute together.
    summaries: Vec<f32>,
    heads: HeadBuffers,
}

impl Network {
    pub(crate) fn new(weights: &Weights) -> Network {
        let channels = weights.config.channels.next_multiple_of(LANES);
        let heads = Heads::new(weights);
        let parts = [(&weights.from, heads.keys), (&weights.to, heads.keys), (&weights.features, heads.features)];
        let mut head = PackedHead { weight: Vec::new(), bias: Vec::new() };
        for (part, rows) in parts {
            let value = |row: usize, column: usize| {
                if row < part.rows && column < part.columns { part.row(row)[column] } else { 0.0 }
            };
            for first in (0..rows).step_by(LANES) {
                let bias = |lane: usize| part.bias.get(first + lane).copied().unwrap_or(0.0);
                head.bias.push(std::array::from_fn(bias));
                head.weight.extend(
                    (0..channels)
                        .map(|column| -> [f32; LANES] { std::array::from_fn(|lane| value(first + lane, column)) }),
                );
            }
        }
        let block = |block: &crate::weights::Block| PackedBlock {
            first: Packed::new(&block.first),
            second: Packed::new(&block.second),
            pooling: block.pooling.as_ref().map(|linear| Dense::parts(linear, channels)),
        };
        Network {
            shape: weights.shape,
            cells: Cells::new(&weights.shape),
            channels,
            stem: Packed::new(&weights.stem),
            scalars: Dense::new(&weights.scalars, LANES),
            blocks: weights.blocks.iter().map(block).collect(),
            head,
            heads,
        }
    }

    /// Returns `P'`.
    fn planes(&self) -> usize {
        self.shape.planes.next_multiple_of(LANES)
    }

    pub(crate) fn buffers(&self) -> Buffers {
        let together = self.cells.together();
        let cells = together * self.cells.len();
        Buffers {
            planes: vec![0.0; cells * self.planes()],
            trunk: vec![0.0; cells * self.channels],
            inner: vec![0.0; cells * self.channels],
            bias: vec![[0.0; LANES]; together * self.channels / LANES],
            pooled: vec![0.0; 2 * self.channels],
            scratch: Scratch::default(),
            squares: vec![0.0; together * self.shape.area() * 2 * self.heads.keys],
            summaries: vec![0.0; together.next_multiple_of(heads::TOGETHER) * 2 * self.heads.features],
            heads: self.heads.buffers(),
        }
    }

    /// Answers a batch that was checked.
    #[inline(always)]
    pub(crate) fn answer(&self, batch: &PositionBatch, buffers: &mut Buffers, answers: &mut Answers) {
        let (squares_len, summary_len) = (self.shape.area() * 2 * self.heads.keys, 2 * self.heads.features);
        for begin in (0..batch.len()).step_by(self.cells.together()) {
            let end = (begin + self.cells.together()).min(batch.len());
            self.set_planes(batch, begin..end, 1.0, &mut buffers.planes);
            for position in begin..end {
                let scalars = &batch.scalars[position * SCALARS.len()..][..SCALARS.len()];
                self.scalars.add(&self.stem.bias, [scalars], [self.bias_of(&mut buffers.bias, position - begin)]);
            }
            self.compute_trunk(end - begin, buffers);
            self.set_planes(batch, begin..end, 0.0, &mut buffers.planes);
            for position in 0..end - begin {
                self.read_squares(position, buffers);
            }
            let Buffers { squares, summaries, heads, .. } = buffers;
            for first in (begin..end).step_by(heads::TOGETHER) {
                let last = (first + heads::TOGETHER).min(end);
                let actions: [&[_]; heads::TOGETHER] =
                    std::array::from_fn(|index| if first + index < last { batch.actions(first + index) } else { &[] });
                let place = first - begin;
                let summaries = std::array::from_fn(|index| &summaries[(place + index) * summary_len..][..summary_len]);
                let squares = |index: usize| &squares[(place + index) * squares_len..][..squares_len];
                self.heads.answer(summaries, squares, &actions[..last - first], heads, answers);
            }
        }
    }

    /// Writes `value` where the planes of some positions are 1.
    #[inline(always)]
    fn set_planes(&self, batch: &PositionBatch, positions: Range<usize>, value: f32, planes: &mut [f32]) {
        let (count, area) = (self.shape.planes, self.shape.area());
        for (place, position) in positions.enumerate() {
            for (plane, squares) in batch.planes[position * count..][..count].iter().enumerate() {
                for square in squares.iter().filter(|square| square.index() < area) {
                    let cell = place * self.cells.len() + self.cells.of(square.index());
                    planes[cell * self.planes() + plane] = value;
                }
            }
        }
    }

    #[inline(always)]
    fn bias_of<'a>(&self, bias: &'a mut [[f32; LANES]], position: usize) -> &'a mut [[f32; LANES]] {
        let len = self.channels / LANES;
        &mut bias[position * len..][..len]
    }

    /// Computes `count` positions up to the end of the trunk.
    #[inline(always)]
    fn compute_trunk(&self, count: usize, buffers: &mut Buffers) {
        let (area, board) = (self.shape.area(), self.cells.len() * self.channels);
        let Buffers { planes, trunk, inner, bias, pooled, scratch, .. } = buffers;
        let bias = &mut bias[..count * self.channels / LANES];
        self.stem.weight.run(&self.cells, (planes, trunk), bias, Finish::Rectify, scratch);
        for block in &self.blocks {
            let spread = |packed: &Packed, bias: &mut [[f32; LANES]]| {
                bias.chunks_exact_mut(packed.bias.len()).for_each(|bias| bias.copy_from_slice(&packed.bias));
            };
            spread(&block.first, bias);
            block.first.weight.run(&self.cells, (trunk, inner), bias, Finish::Rectify, scratch);
            spread(&block.second, bias);
            if let Some(weights) = &block.pooling {
                for position in 0..count {
                    pool(&self.cells, area, &inner[position * board..], pooled);
                    weights.add(&block.second.bias, [pooled], [self.bias_of(bias, position)]);
                }
            }
            block.second.weight.run(&self.cells, (inner, trunk), bias, Finish::AddAndRectify, scratch);
        }
    }

    /// Computes the heads' channels of every square of a position and pools the features.
    #[inline(always)]
    fn read_squares(&self, position: usize, buffers: &mut Buffers) {
        let area = self.shape.area();
        let (keys, features) = (2 * self.heads.keys / LANES, self.heads.features / LANES);
        let (squares, _) = buffers.squares.as_chunks_mut::<LANES>();
        let squares = &mut squares[position * area * keys..][..area * keys];
        let (summary, _) = buffers.summaries.as_chunks_mut::<LANES>();
        let (means, maxima) = summary[position * 2 * features..][..2 * features].split_at_mut(features);
        means.fill([0.0; LANES]);
        maxima.fill([0.0; LANES]);
        for first in (0..area).step_by(self.shape.files) {
            let cell = position * self.cells.len() + self.cells.of(first);
            let values = &buffers.trunk[cell * self.channels..][..self.shape.files * self.channels];
            for (vector, bias) in self.head.bias.iter().enumerate() {
                let weight = &self.head.weight[vector * self.channels..][..self.channels];
                multiply(weight, values, |file, sum| {
                    let sum = sum.add(Lanes::load(bias));
                    match vector.checked_sub(keys) {
                        None => sum.store(&mut squares[(first + file) * keys + vector]),
                        Some(vector) => {
                            let value = sum.max(Lanes::all(0.0));
                            Lanes::load(&means[vector]).add(value).store(&mut means[vector]);
                            Lanes::load(&maxima[vector]).max(value).store(&mut maxima[vector]);
                        }
                    }
                });
            }
        }
        means.as_flattened_mut().iter_mut().for_each(|value| *value /= area as f32);
    }
}

/// Writes the means over a board into `pooled`, `[2 C']`, then the maxima; `board` is `[cells][C']`.
#[inline(always)]
pub(crate) fn pool(cells: &Cells, area: usize, board: &[f32], pooled: &mut [f32]) {
    let channels = pooled.len() / 2;
    let (means, maxima) = pooled.split_at_mut(channels);
    means.fill(0.0);
    maxima.fill(f32::NEG_INFINITY);
    for square in 0..area {
        let values = &board[cells.of(square) * channels..][..channels];
        means.iter_mut().zip(values).for_each(|(mean, value)| *mean += value);
        maxima.iter_mut().zip(values).for_each(|(maximum, value)| *maximum = maximum.max(*value));
    }
    means.iter_mut().for_each(|value| *value /= area as f32);
}

/// Returns `values` with zeros up to `len`.
pub(crate) fn padded(values: &[f32], len: usize) -> Vec<f32> {
    let mut values = values.to_vec();
    values.resize(len, 0.0);
    values
}

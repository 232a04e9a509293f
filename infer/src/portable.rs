//! The kernel in plain Rust: `f32`, for every processor.
//!
//! One position after another, channels together in memory, the board with a border of zeros, so that no tap of a
//! convolution needs a question. The compiler turns the inner loops into vector instructions.
//!
//! Legend: `A` squares, `C'` channels rounded up to [`LANES`], `P` planes; a *cell* is a square of the board with its
//! border.

use latrunculi_data::{SCALARS, Shape};
use latrunculi_engine::SquareSet;

use crate::batch::{Answers, PositionBatch};
use crate::heads::{self, Dense, HeadBuffers, Heads};
use crate::native::lanes::{LANES, Lanes};
use crate::weights::{Convolution, PoolingWeights, Weights};

/// Squares that are computed at once.
const TOGETHER: usize = 6;

/// A convolution, stored for vectors of outputs.
#[derive(Debug)]
struct Packed {
    inputs: usize,
    /// `[C'/16][9][inputs]` of sixteen outputs.
    weight: Vec<[f32; LANES]>,
    /// `[C'/16]` of sixteen outputs.
    bias: Vec<[f32; LANES]>,
}

impl Packed {
    fn new(convolution: &Convolution, inputs: usize) -> Packed {
        let outputs = convolution.outputs.next_multiple_of(LANES);
        let mut weight = Vec::with_capacity(outputs / LANES * 9 * inputs);
        for first in (0..outputs).step_by(LANES) {
            for tap in 0..9 {
                for input in 0..inputs {
                    weight.push(std::array::from_fn(|lane| convolution.at(first + lane, tap, input)));
                }
            }
        }
        let bias = padded(&convolution.bias, outputs).as_chunks().0.to_vec();
        Packed { inputs, weight, bias }
    }
}

/// One by one map of squares, stored for vectors of outputs.
#[derive(Debug)]
struct PackedHead {
    /// `[outputs/16][C']` of sixteen outputs.
    weight: Vec<[f32; LANES]>,
    /// `[outputs/16]` of sixteen outputs.
    bias: Vec<[f32; LANES]>,
}

/// How a block learns about the whole board; pooled inputs are `C'` means, then as many maxima.
#[derive(Debug)]
enum Pooling {
    None,
    GlobalBias(Dense),
    /// Factors, then biases, each of `C'` channels.
    SqueezeExcitation {
        squeeze: Dense,
        excite: Dense,
    },
}

#[derive(Debug)]
struct PackedBlock {
    first: Packed,
    second: Packed,
    pooling: Pooling,
}

/// A network for this kernel.
#[derive(Debug)]
pub(crate) struct Network {
    shape: Shape,
    /// `C'`
    channels: usize,
    stem: Packed,
    scalars: Dense,
    blocks: Vec<PackedBlock>,
    /// From-squares, to-squares, features.
    head: PackedHead,
    heads: Heads,
}

/// What a thread needs to work in.
#[derive(Debug)]
pub(crate) struct Buffers {
    /// `[cells][P]`
    planes: Vec<f32>,
    /// `[cells][C']`: the trunk, the inner activations, the branch where it is scaled.
    trunk: Vec<f32>,
    inner: Vec<f32>,
    branch: Vec<f32>,
    /// `[C'/16]`: the bias of a position.
    bias: Vec<[f32; LANES]>,
    /// `[2 C']`: means, then maxima.
    pooled: Vec<f32>,
    squeezed: Vec<[f32; LANES]>,
    /// `[2 C'/16]`: factors, then biases.
    excited: Vec<[f32; LANES]>,
    /// `[4][A][2D']`
    squares: Vec<f32>,
    /// `[4][2V']`
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
            first: Packed::new(&block.first, channels),
            second: Packed::new(&block.second, channels),
            pooling: match &block.pooling {
                PoolingWeights::None => Pooling::None,
                PoolingWeights::GlobalBias(linear) => Pooling::GlobalBias(Dense::parts(linear, channels)),
                PoolingWeights::SqueezeExcitation { squeeze, excite } => Pooling::SqueezeExcitation {
                    squeeze: Dense::new(squeeze, LANES),
                    excite: Dense::halves(excite, channels),
                },
            },
        };
        Network {
            shape: weights.shape,
            channels,
            stem: Packed::new(&weights.stem, weights.shape.planes),
            scalars: Dense::new(&weights.scalars, LANES),
            blocks: weights.blocks.iter().map(block).collect(),
            head,
            heads,
        }
    }

    pub(crate) fn buffers(&self) -> Buffers {
        let cells = (self.shape.files + 2) * (self.shape.ranks + 2);
        Buffers {
            planes: vec![0.0; cells * self.shape.planes],
            trunk: vec![0.0; cells * self.channels],
            inner: vec![0.0; cells * self.channels],
            branch: vec![0.0; cells * self.channels],
            bias: vec![[0.0; LANES]; self.channels / LANES],
            pooled: vec![0.0; 2 * self.channels],
            squeezed: vec![[0.0; LANES]; self.channels / LANES],
            excited: vec![[0.0; LANES]; 2 * self.channels / LANES],
            squares: vec![0.0; heads::TOGETHER * self.shape.area() * 2 * self.heads.keys],
            summaries: vec![0.0; heads::TOGETHER * 2 * self.heads.features],
            heads: self.heads.buffers(),
        }
    }

    /// Answers a batch that was checked.
    #[inline(always)]
    pub(crate) fn answer(&self, batch: &PositionBatch, buffers: &mut Buffers, answers: &mut Answers) {
        let (planes, scalars) = (self.shape.planes, SCALARS.len());
        for first in (0..batch.len()).step_by(heads::TOGETHER) {
            let last = (first + heads::TOGETHER).min(batch.len());
            for position in first..last {
                self.forward(
                    &batch.planes[position * planes..][..planes],
                    &batch.scalars[position * scalars..][..scalars],
                    position - first,
                    buffers,
                );
            }
            let actions: [&[_]; heads::TOGETHER] =
                std::array::from_fn(|index| if first + index < last { batch.actions(first + index) } else { &[] });
            let Buffers { squares, summaries, heads, .. } = buffers;
            let (squares_len, summary_len) = (squares.len() / heads::TOGETHER, summaries.len() / heads::TOGETHER);
            let summaries = std::array::from_fn(|index| &summaries[index * summary_len..][..summary_len]);
            let squares = |index: usize| &squares[index * squares_len..][..squares_len];
            self.heads.answer(summaries, squares, &actions[..last - first], heads, answers);
        }
    }

    /// Computes one position up to what the last layers read, at `place` of the buffers for these.
    #[inline(always)]
    fn forward(&self, planes: &[SquareSet], scalars: &[f32], place: usize, buffers: &mut Buffers) {
        let (files, area) = (self.shape.files, self.shape.area());
        let cell = |square: usize| (square / files + 1) * (files + 2) + square % files + 1;
        buffers.planes.fill(0.0);
        for (plane, squares) in planes.iter().enumerate() {
            for square in squares.iter().filter(|square| square.index() < area) {
                buffers.planes[cell(square.index()) * self.shape.planes + plane] = 1.0;
            }
        }
        let Buffers { trunk, inner, branch, bias, pooled, squeezed, excited, .. } = buffers;
        self.scalars.add(&self.stem.bias, [scalars], [bias]);
        self.convolve(&self.stem, &buffers.planes, trunk, bias, false, true);
        for block in &self.blocks {
            self.convolve(&block.first, trunk, inner, &block.first.bias, false, true);
            match &block.pooling {
                Pooling::None => self.convolve(&block.second, inner, trunk, &block.second.bias, true, true),
                Pooling::GlobalBias(weights) => {
                    self.pool(inner, pooled);
                    weights.add(&block.second.bias, [pooled], [bias]);
                    self.convolve(&block.second, inner, trunk, bias, true, true);
                }
                Pooling::SqueezeExcitation { squeeze, excite } => {
                    self.convolve(&block.second, inner, branch, &block.second.bias, false, false);
                    self.pool(branch, pooled);
                    squeeze.run([pooled], [squeezed]);
                    squeezed.as_flattened_mut().iter_mut().for_each(|value| *value = value.max(0.0));
                    excite.run([squeezed.as_flattened()], [excited]);
                    let (factors, biases) = excited.as_flattened_mut().split_at_mut(self.channels);
                    factors.iter_mut().for_each(|value| *value = 1.0 / (1.0 + (-*value).exp()));
                    for square in 0..area {
                        let begin = cell(square) * self.channels;
                        let cells = trunk[begin..].iter_mut().zip(&branch[begin..]);
                        for ((value, branch), (factor, bias)) in cells.zip(factors.iter().zip(biases.iter())) {
                            *value = (*value + branch * factor + bias).max(0.0);
                        }
                    }
                }
            }
        }
        self.read_squares(place, buffers);
    }

    /// Computes the heads' channels of every square and pools the features.
    #[inline(always)]
    fn read_squares(&self, place: usize, buffers: &mut Buffers) {
        let (files, area) = (self.shape.files, self.shape.area());
        let (keys, features) = (2 * self.heads.keys / LANES, self.heads.features / LANES);
        let (squares, _) = buffers.squares.as_chunks_mut::<LANES>();
        let squares = &mut squares[place * area * keys..][..area * keys];
        let (summary, _) = buffers.summaries.as_chunks_mut::<LANES>();
        let (means, maxima) = summary[place * 2 * features..][..2 * features].split_at_mut(features);
        means.fill([0.0; LANES]);
        maxima.fill([0.0; LANES]);
        for square in 0..area {
            let cell = (square / files + 1) * (files + 2) + square % files + 1;
            let values = &buffers.trunk[cell * self.channels..][..self.channels];
            for (vector, bias) in self.head.bias.iter().enumerate() {
                let mut sums = Lanes::load(bias);
                for (value, weight) in values.iter().zip(&self.head.weight[vector * self.channels..][..self.channels]) {
                    sums = sums.add_product(Lanes::all(*value), Lanes::load(weight));
                }
                match vector.checked_sub(keys) {
                    None => sums.store(&mut squares[square * keys + vector]),
                    Some(vector) => {
                        let value = sums.max(Lanes::all(0.0));
                        Lanes::load(&means[vector]).add(value).store(&mut means[vector]);
                        Lanes::load(&maxima[vector]).max(value).store(&mut maxima[vector]);
                    }
                }
            }
        }
        means.as_flattened_mut().iter_mut().for_each(|value| *value /= area as f32);
    }

    /// Writes the means over the board into `pooled`, then the maxima.
    #[inline(always)]
    fn pool(&self, cells: &[f32], pooled: &mut [f32]) {
        let (files, area) = (self.shape.files, self.shape.area());
        let (means, maxima) = pooled.split_at_mut(self.channels);
        means.fill(0.0);
        maxima.fill(f32::NEG_INFINITY);
        for square in 0..area {
            let cell = (square / files + 1) * (files + 2) + square % files + 1;
            let values = &cells[cell * self.channels..][..self.channels];
            means.iter_mut().zip(values).for_each(|(mean, value)| *mean += value);
            maxima.iter_mut().zip(values).for_each(|(maximum, value)| *maximum = maximum.max(*value));
        }
        means.iter_mut().for_each(|value| *value /= area as f32);
    }

    /// Computes a convolution: `output = convolution(input) + bias`, plus what was in `output` if `adds`, the
    /// negative replaced by 0 if `rectifies`.
    #[inline(always)]
    fn convolve(
        &self,
        convolution: &Packed,
        input: &[f32],
        output: &mut [f32],
        bias: &[[f32; LANES]],
        adds: bool,
        rectifies: bool,
    ) {
        let (files, ranks) = (self.shape.files, self.shape.ranks);
        let weights = convolution.weight.chunks_exact(9 * convolution.inputs);
        for (vector, (weights, bias)) in weights.zip(bias).enumerate() {
            for rank in 0..ranks {
                let mut file = 0;
                while file < files {
                    let cell = (rank + 1) * (files + 2) + file + 1;
                    let mut strip = Strip {
                        row: files + 2,
                        inputs: convolution.inputs,
                        input,
                        weights,
                        bias,
                        output: &mut output[cell * self.channels + vector * LANES..],
                        channels: self.channels,
                        adds,
                        rectifies,
                        cell,
                    };
                    // No strip is much shorter than the others: 8 files are 4 and 4, 9 are 5 and 4.
                    let left = files - file;
                    let strips = left.div_ceil(TOGETHER);
                    let width = left.div_ceil(strips);
                    match width {
                        1 => strip.run::<1>(),
                        2 => strip.run::<2>(),
                        3 => strip.run::<3>(),
                        4 => strip.run::<4>(),
                        5 => strip.run::<5>(),
                        _ => strip.run::<6>(),
                    }
                    file += width;
                }
            }
        }
    }
}

/// Neighbouring squares of a rank and sixteen output channels.
struct Strip<'a> {
    /// Cells of a rank.
    row: usize,
    inputs: usize,
    input: &'a [f32],
    /// `[9][inputs]` of sixteen outputs.
    weights: &'a [[f32; LANES]],
    bias: &'a [f32; LANES],
    /// From the first output of the first square.
    output: &'a mut [f32],
    channels: usize,
    adds: bool,
    rectifies: bool,
    /// The first square.
    cell: usize,
}

impl Strip<'_> {
    #[inline(always)]
    fn run<const N: usize>(&mut self) {
        let mut sums = [Lanes::load(self.bias); N];
        for tap in 0..9 {
            let first = self.cell + tap / 3 * self.row + tap % 3 - self.row - 1;
            let inputs: [&[f32]; N] =
                std::array::from_fn(|index| &self.input[(first + index) * self.inputs..][..self.inputs]);
            let weights = &self.weights[tap * self.inputs..][..self.inputs];
            for channel in 0..self.inputs {
                let weight = Lanes::load(&weights[channel]);
                for index in 0..N {
                    sums[index] = sums[index].add_product(Lanes::all(inputs[index][channel]), weight);
                }
            }
        }
        for (index, sum) in sums.into_iter().enumerate() {
            let output = self.output[index * self.channels..].first_chunk_mut::<LANES>().expect("a square's channels");
            let sum = if self.adds { sum.add(Lanes::load(output)) } else { sum };
            let sum = if self.rectifies { sum.max(Lanes::all(0.0)) } else { sum };
            sum.store(output);
        }
    }
}

/// Returns `values` with zeros up to `len`.
pub(crate) fn padded(values: &[f32], len: usize) -> Vec<f32> {
    let mut values = values.to_vec();
    values.resize(len, 0.0);
    values
}

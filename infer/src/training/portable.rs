//! The gradient in plain Rust, for every processor: 32-bit floats, with the convolutions of `winograd`.
//! Some samples make a chunk and go through the network together, layer by layer: forwards as in play with all
//! activations kept, backwards with the same convolution over turned weights, and the gradient of the weights.
//! Legend: `n` samples of a chunk, `A` squares, `C'` channels and `P'` planes rounded up to [`LANES`], `Q` as in
//! `heads.rs`; *cells* are those of [`Cells`].

use latrunculi_data::{NetworkConfig, PLANES, SCALARS, Shape, TrainingBatch};

use super::heads::{HeadBuffers, Heads, MapProducts};
use super::vectors::{add, add_product};
use super::{LossWeights, Losses, TrainingWeights};
use crate::heads::Dense;
use crate::native::lanes::{LANES, Lanes};
use crate::portable::{padded, pool};
use crate::products::{add_transposed, multiply};
use crate::weights::Linear;
use crate::winograd::{Cells, Finish, Scratch, Transformed, WeightGradient};

/// Tiles of a chunk: some megabytes of activations, which is what the caches hold.
const CHUNK_TILES: usize = 48;

/// A convolution of the trunk, forwards and backwards.
#[derive(Debug)]
struct Packed {
    forward: Transformed,
    backward: Transformed,
    /// `[C'/16]` of sixteen outputs.
    bias: Vec<[f32; LANES]>,
}

#[derive(Debug)]
struct PackedPooling {
    /// Its place among the blocks that pool.
    index: usize,
    weights: Dense,
}

/// The weights of a ruleset, arranged for a step.
#[derive(Debug)]
pub(super) struct Network<'a> {
    config: &'a NetworkConfig,
    shape: Shape,
    cells: Cells,
    weights: &'a TrainingWeights,
    stem: Transformed,
    trunk: Vec<Packed>,
    /// Of each block.
    poolings: Vec<Option<PackedPooling>>,
    /// `[Q/16][C']` of sixteen of `Q`, and `[C'/16][Q]` of sixteen channels.
    squares: Vec<[f32; LANES]>,
    squares_back: Vec<[f32; LANES]>,
    /// `[Q/16]` of sixteen.
    squares_bias: Vec<[f32; LANES]>,
    heads: Heads,
}

/// What a thread works in, once it has seen a network; what it had for another network goes.
pub(super) type Buffers = Option<NetworkBuffers>;

/// What a thread works in for one network: each shape that it has seen has its own workspace.
#[derive(Debug)]
pub(super) struct NetworkBuffers {
    config: NetworkConfig,
    sums: Sums,
    workspaces: Vec<(Shape, Workspace)>,
}

/// The gradient of the weights, summed over the chunks of a batch.
#[derive(Debug)]
struct Sums {
    stem: WeightGradient,
    trunk: Vec<WeightGradient>,
    /// `[C'/16][Q]` of sixteen channels; `[Q]`.
    squares: Vec<[f32; LANES]>,
    squares_bias: Vec<f32>,
}

#[derive(Debug)]
struct Workspace {
    /// `[n][cells][P']`
    planes: Vec<f32>,
    /// `[n][cells][C']` each: behind the stem; then for each block the inner activations and the output.
    boards: Vec<Vec<f32>>,
    /// For each block that pools, `[n][2 C']`: means, then maxima.
    pooled: Vec<Vec<f32>>,
    /// `[n][A][C']`: the last board without its border; then its gradient.
    flat: Vec<f32>,
    /// `[n][A][Q]`: the heads' channels, and their gradient.
    squares: Vec<f32>,
    of_squares: Vec<f32>,
    /// `[n][cells][C']`: the gradient of the trunk and of the inner activations, before relu.
    of_trunk: Vec<f32>,
    of_inner: Vec<f32>,
    /// `[n][C'/16]` of sixteen: biases of the samples.
    bias: Vec<[f32; LANES]>,
    /// `[n][C']`: sums over the cells.
    totals: Vec<f32>,
    /// `[n][2 C']`: gradient of means and maxima.
    of_pooled: Vec<f32>,
    scratch: Scratch,
    heads: HeadBuffers,
    map: PlainProducts,
}

impl Sums {
    fn clear(&mut self) {
        self.stem.clear();
        self.trunk.iter_mut().for_each(WeightGradient::clear);
        self.squares.fill([0.0; LANES]);
        self.squares_bias.fill(0.0);
    }
}

impl<'a> Network<'a> {
    pub(super) fn new(config: &'a NetworkConfig, weights: &'a TrainingWeights, shape: Shape) -> Network<'a> {
        let (channels, planes) = (config.channels, PLANES.len());
        let (wide, heads) = (channels.next_multiple_of(LANES), Heads::new(config, weights, shape.area()));
        let in_lanes = |values: &[f32], len: usize| padded(values, len).as_chunks().0.to_vec();
        let convolutions = weights.trunk.chunks_exact(9 * channels * channels);
        let others = weights.trunk_scale.chunks_exact(channels).zip(weights.trunk_bias.chunks_exact(channels));
        let trunk = convolutions.zip(others).map(|(weight, (scale, bias))| {
            let at =
                |output: usize, tap: usize, input: usize| scale[output] * weight[(output * 9 + tap) * channels + input];
            Packed {
                forward: Transformed::new(channels, channels, at),
                backward: Transformed::new(channels, channels, |input, tap, output| at(output, 8 - tap, input)),
                bias: in_lanes(bias, wide),
            }
        });
        let mut rest = weights.pooling.chunks_exact(2 * channels * channels).enumerate();
        let poolings = (0..config.blocks).map(|block| {
            let (index, weight) = if config.is_pooled(block) { rest.next()? } else { return None };
            let linear =
                Linear { rows: channels, columns: 2 * channels, weight: weight.to_vec(), bias: vec![0.0; channels] };
            Some(PackedPooling { index, weights: Dense::parts(&linear, wide) })
        });
        let row = heads.row;
        let mut squares = vec![[0.0; LANES]; row / LANES * wide];
        let mut squares_back = vec![[0.0; LANES]; wide / LANES * row];
        let mut bias = vec![0.0; row];
        for (index, place) in heads.slots().into_iter().enumerate() {
            bias[place] = weights.squares_bias[index];
            for (channel, &value) in weights.squares[index * channels..][..channels].iter().enumerate() {
                squares[place / LANES * wide + channel][place % LANES] = value;
                squares_back[channel / LANES * row + place][channel % LANES] = value;
            }
        }
        Network {
            config,
            shape,
            cells: Cells::new(&shape),
            weights,
            stem: Transformed::new(planes, channels, |output, tap, input| {
                weights.stem[(output * 9 + tap) * planes + input]
            }),
            trunk: trunk.collect(),
            poolings: poolings.collect(),
            squares,
            squares_back,
            squares_bias: in_lanes(&bias, row),
            heads,
        }
    }

    /// Returns how many samples are computed together.
    pub(super) fn chunk(&self) -> usize {
        self.cells.most_within(CHUNK_TILES)
    }

    /// Returns `C'`.
    fn wide(&self) -> usize {
        self.config.channels.next_multiple_of(LANES)
    }

    fn workspace(&self) -> Workspace {
        let (count, area, wide, row) = (self.chunk(), self.shape.area(), self.wide(), self.heads.row);
        let board = |channels: usize| vec![0.0; count * self.cells.len() * channels];
        Workspace {
            planes: board(PLANES.len().next_multiple_of(LANES)),
            boards: (0..=self.trunk.len()).map(|_| board(wide)).collect(),
            pooled: self.poolings.iter().flatten().map(|_| vec![0.0; count * 2 * wide]).collect(),
            flat: vec![0.0; count * area * wide],
            squares: vec![0.0; count * area * row],
            of_squares: vec![0.0; count * area * row],
            of_trunk: board(wide),
            of_inner: board(wide),
            bias: vec![[0.0; LANES]; count * wide / LANES],
            totals: vec![0.0; count * wide],
            of_pooled: vec![0.0; count * 2 * wide],
            scratch: Scratch::default(),
            heads: HeadBuffers::default(),
            map: PlainProducts::default(),
        }
    }

    fn sums(&self) -> Sums {
        let (wide, row) = (self.wide(), self.heads.row);
        Sums {
            stem: WeightGradient::new(PLANES.len(), wide),
            trunk: self.trunk.iter().map(|_| WeightGradient::new(wide, wide)).collect(),
            squares: vec![[0.0; LANES]; wide / LANES * row],
            squares_bias: vec![0.0; row],
        }
    }

    /// Returns the losses of the chunks that begin at `starts`, and adds the gradient of their weighted sum to `gradient`.
    pub(super) fn learn(
        &self,
        batch: &TrainingBatch,
        loss_weights: &LossWeights,
        starts: impl Iterator<Item = usize>,
        buffers: &mut Buffers,
        gradient: &mut TrainingWeights,
    ) -> Losses {
        if buffers.as_ref().is_some_and(|buffers| buffers.config != *self.config) {
            *buffers = None;
        }
        let buffers = buffers.get_or_insert_with(|| NetworkBuffers {
            config: self.config.clone(),
            sums: self.sums(),
            workspaces: Vec::new(),
        });
        let known = buffers.workspaces.iter().position(|(shape, _)| *shape == self.shape);
        let index = known.unwrap_or_else(|| {
            buffers.workspaces.push((self.shape, self.workspace()));
            buffers.workspaces.len() - 1
        });
        let (sums, workspace) = (&mut buffers.sums, &mut buffers.workspaces[index].1);
        sums.clear();
        let mut losses = Losses::default();
        for start in starts {
            let count = (batch.len() - start).min(self.chunk());
            self.forward(batch, start, count, workspace);
            self.learn_heads(batch, start, count, loss_weights, workspace, sums, gradient, &mut losses);
            self.backward(batch, start, count, workspace, sums, gradient);
        }
        self.add_sums(sums, gradient);
        losses
    }

    /// Adds what the chunks summed up to the gradient of the weights.
    fn add_sums(&self, sums: &Sums, gradient: &mut TrainingWeights) {
        let (channels, planes, row) = (self.config.channels, PLANES.len(), self.heads.row);
        sums.stem.taps(|first, tap, input, values| {
            if input < planes {
                for (output, &value) in (first..channels).zip(values) {
                    gradient.stem[(output * 9 + tap) * planes + input] += value as f32;
                }
            }
        });
        for (index, of_convolution) in sums.trunk.iter().enumerate() {
            let all = index * 9 * channels * channels..(index + 1) * 9 * channels * channels;
            let own = index * channels..(index + 1) * channels;
            let (weight, scale) = (&self.weights.trunk[all.clone()], &self.weights.trunk_scale[own.clone()]);
            let (of_weight, of_scale) = (&mut gradient.trunk[all], &mut gradient.trunk_scale[own]);
            of_convolution.taps(|first, tap, input, values| {
                if input < channels {
                    for (output, &value) in (first..channels).zip(values) {
                        let place = (output * 9 + tap) * channels + input;
                        of_weight[place] += scale[output] * value as f32;
                        of_scale[output] += weight[place] * value as f32;
                    }
                }
            });
        }
        let rows = gradient.squares.chunks_exact_mut(channels).zip(&mut gradient.squares_bias);
        for ((of_weight, of_bias), place) in rows.zip(self.heads.slots()) {
            *of_bias += sums.squares_bias[place];
            for (channel, value) in of_weight.iter_mut().enumerate() {
                *value += sums.squares[channel / LANES * row + place][channel % LANES];
            }
        }
    }

    fn forward(&self, batch: &TrainingBatch, start: usize, count: usize, workspace: &mut Workspace) {
        let (area, wide, row) = (self.shape.area(), self.wide(), self.heads.row);
        let (board, scalars) = (self.cells.len() * wide, SCALARS.len());
        self.fill_planes(batch, start, count, &mut workspace.planes);
        let Workspace { planes, boards, pooled, flat, squares, bias, scratch, .. } = workspace;
        let bias = &mut bias[..count * wide / LANES];
        for (index, bias) in bias.chunks_exact_mut(wide / LANES).enumerate() {
            let own = &batch.scalars[(start + index) * scalars..][..scalars];
            let weights = self.weights.scalars.chunks_exact(scalars).zip(&self.weights.stem_bias);
            for (value, (weights, stem_bias)) in bias.as_flattened_mut().iter_mut().zip(weights) {
                *value = stem_bias + own.iter().zip(weights).map(|(value, weight)| value * weight).sum::<f32>();
            }
        }
        self.stem.run(&self.cells, (planes, &mut boards[0]), bias, Finish::Rectify, scratch);
        for (block, pooling) in self.poolings.iter().enumerate() {
            let [first, second] = [&self.trunk[2 * block], &self.trunk[2 * block + 1]];
            let [trunk, inner, output] = &mut boards[2 * block..2 * block + 3] else {
                unreachable!("a board for the stem and two for each block")
            };
            bias.chunks_exact_mut(first.bias.len()).for_each(|bias| bias.copy_from_slice(&first.bias));
            first.forward.run(&self.cells, (trunk, inner), bias, Finish::Rectify, scratch);
            for (index, bias) in bias.chunks_exact_mut(wide / LANES).enumerate() {
                bias.copy_from_slice(&second.bias);
                if let Some(pooling) = pooling {
                    let pooled = &mut pooled[pooling.index][index * 2 * wide..][..2 * wide];
                    pool(&self.cells, area, &inner[index * board..], pooled);
                    pooling.weights.add(&second.bias, [pooled], [bias]);
                }
            }
            output[..count * board].copy_from_slice(&trunk[..count * board]);
            second.forward.run(&self.cells, (inner, output), bias, Finish::AddAndRectify, scratch);
        }
        let last = boards.last().expect("a board behind the stem");
        for (index, values) in flat[..count * area * wide].chunks_exact_mut(wide).enumerate() {
            values.copy_from_slice(&last[self.cell(index) * wide..][..wide]);
        }
        for (vector, (weight, bias)) in self.squares.chunks_exact(wide).zip(&self.squares_bias).enumerate() {
            multiply(weight, &flat[..count * area * wide], |square, sum| {
                let place = square * row + vector * LANES;
                sum.add(Lanes::load(bias)).store(squares[place..].first_chunk_mut().expect("sixteen of a row"));
            });
        }
    }

    /// Returns the cell of a square of a chunk, counted through all samples.
    #[inline(always)]
    fn cell(&self, square: usize) -> usize {
        let area = self.shape.area();
        square / area * self.cells.len() + self.cells.of(square % area)
    }

    fn fill_planes(&self, batch: &TrainingBatch, start: usize, count: usize, planes: &mut [f32]) {
        let (area, of_sample, wide) = (self.shape.area(), self.shape.planes, self.shape.planes.next_multiple_of(LANES));
        planes.fill(0.0);
        let all = &batch.planes[start * of_sample * area..][..count * of_sample * area];
        for (index, values) in all.chunks_exact(area).enumerate() {
            let (sample, plane) = (index / of_sample, index % of_sample);
            for (square, &value) in values.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                planes[self.cell(sample * area + square) * wide + plane] = value;
            }
        }
    }

    /// Computes losses and the gradient of the heads, and from it that of the trunk's output.
    #[allow(clippy::too_many_arguments)]
    fn learn_heads(
        &self,
        batch: &TrainingBatch,
        start: usize,
        count: usize,
        loss_weights: &LossWeights,
        workspace: &mut Workspace,
        sums: &mut Sums,
        gradient: &mut TrainingWeights,
        losses: &mut Losses,
    ) {
        let (area, wide, row) = (self.shape.area(), self.wide(), self.heads.row);
        let Workspace { boards, flat, squares, of_squares, of_trunk, heads, map, .. } = workspace;
        let (flat, of_squares) = (&mut flat[..count * area * wide], &mut of_squares[..count * area * row]);
        let samples = squares.chunks_exact(area * row).zip(of_squares.chunks_exact_mut(area * row));
        for (index, (squares, of_squares)) in samples.enumerate() {
            self.heads.learn(batch, start + index, loss_weights, squares, of_squares, heads, map, gradient, losses);
        }
        of_squares.chunks_exact(row).for_each(|values| add(&mut sums.squares_bias, values));
        for (vector, sums) in sums.squares.chunks_exact_mut(row).enumerate() {
            add_transposed(of_squares, &flat[vector * LANES..], wide, sums);
        }
        for (vector, weight) in self.squares_back.chunks_exact(row).enumerate() {
            multiply(weight, of_squares, |square, sum| {
                let place = square * wide + vector * LANES;
                sum.store(flat[place..].first_chunk_mut().expect("sixteen channels"));
            });
        }
        let last = boards.last().expect("a board behind the stem");
        for (index, values) in flat.chunks_exact(wide).enumerate() {
            let cell = self.cell(index) * wide;
            let squares = values.as_chunks().0.iter().zip(last[cell..][..wide].as_chunks().0);
            for (place, (value, trunk)) in of_trunk[cell..][..wide].as_chunks_mut().0.iter_mut().zip(squares) {
                Lanes::load(value).masked(Lanes::load(trunk)).store(place);
            }
        }
    }

    /// Goes back through the trunk.
    fn backward(
        &self,
        batch: &TrainingBatch,
        start: usize,
        count: usize,
        workspace: &mut Workspace,
        sums: &mut Sums,
        gradient: &mut TrainingWeights,
    ) {
        let (channels, wide, scalars) = (self.config.channels, self.wide(), SCALARS.len());
        let len = count * self.cells.len() * wide;
        let Workspace { planes, boards, pooled, bias, totals, of_pooled, scratch, .. } = workspace;
        let (of_trunk, of_inner) = (&mut workspace.of_trunk[..len], &mut workspace.of_inner[..len]);
        let (bias, totals) = (&mut bias[..count * wide / LANES], &mut totals[..count * wide]);
        let add_bias = |totals: &[f32], of_bias: &mut [f32]| {
            totals.chunks_exact(wide).for_each(|totals| add(of_bias, totals));
        };
        for (block, pooling) in self.poolings.iter().enumerate().rev() {
            let [first, second] = [&self.trunk[2 * block], &self.trunk[2 * block + 1]];
            let (trunk, inner) = (&boards[2 * block][..len], &boards[2 * block + 1][..len]);
            sum_cells(of_trunk, wide, totals);
            add_bias(totals, &mut gradient.trunk_bias[(2 * block + 1) * channels..][..channels]);
            bias.fill([0.0; LANES]);
            if let Some(PackedPooling { index, .. }) = pooling {
                self.learn_pooling(*index, totals, &pooled[*index], of_pooled, gradient);
                for (bias, of_pooled) in bias.chunks_exact_mut(wide / LANES).zip(of_pooled.chunks_exact(2 * wide)) {
                    let means = of_pooled[..wide].iter().map(|value| value / self.shape.area() as f32);
                    bias.as_flattened_mut().iter_mut().zip(means).for_each(|(bias, value)| *bias = value);
                }
            }
            sums.trunk[2 * block + 1].add(&self.cells, count, inner, of_trunk, scratch);
            second.backward.run(&self.cells, (of_trunk, of_inner), bias, Finish::Mask(inner), scratch);
            if let Some(PackedPooling { index, .. }) = pooling {
                self.spread_maxima(count, inner, &pooled[*index], of_pooled, of_inner);
            }
            sum_cells(of_inner, wide, totals);
            add_bias(totals, &mut gradient.trunk_bias[2 * block * channels..][..channels]);
            sums.trunk[2 * block].add(&self.cells, count, trunk, of_inner, scratch);
            bias.fill([0.0; LANES]);
            first.backward.run(&self.cells, (of_inner, of_trunk), bias, Finish::AddAndMask(trunk), scratch);
        }
        sum_cells(of_trunk, wide, totals);
        add_bias(totals, &mut gradient.stem_bias);
        for (index, totals) in totals.chunks_exact(wide).enumerate() {
            let own = &batch.scalars[(start + index) * scalars..][..scalars];
            for (&of_bias, of_weights) in totals.iter().zip(gradient.scalars.chunks_exact_mut(scalars)) {
                add_product(of_weights, of_bias, own);
            }
        }
        sums.stem.add(&self.cells, count, planes, of_trunk, scratch);
    }

    /// Adds to the gradient of the weights of a pooling, and writes that of means and maxima; `of_bias` is `[n][C']`.
    fn learn_pooling(
        &self,
        index: usize,
        of_bias: &[f32],
        pooled: &[f32],
        of_pooled: &mut [f32],
        gradient: &mut TrainingWeights,
    ) {
        let (channels, wide) = (self.config.channels, self.wide());
        let len = 2 * channels * channels;
        let weight = &self.weights.pooling[index * len..][..len];
        let of_weight = &mut gradient.pooling[index * len..][..len];
        let samples = pooled.chunks_exact(2 * wide).zip(of_pooled.chunks_exact_mut(2 * wide));
        for (of_bias, (pooled, of_pooled)) in of_bias.chunks_exact(wide).zip(samples) {
            of_pooled.fill(0.0);
            let (means, maxima) = pooled.split_at(wide);
            let (of_means, of_maxima) = of_pooled.split_at_mut(wide);
            let rows = weight.chunks_exact(2 * channels).zip(of_weight.chunks_exact_mut(2 * channels));
            for (&of_bias, (weight, of_weight)) in of_bias.iter().zip(rows) {
                let (of_mean, of_maximum) = of_weight.split_at_mut(channels);
                add_product(of_mean, of_bias, means);
                add_product(of_maximum, of_bias, maxima);
                add_product(of_means, of_bias, &weight[..channels]);
                add_product(of_maxima, of_bias, &weight[channels..]);
            }
        }
    }

    /// Adds the gradient of the maxima over the board to that of the activations: on the first square that has the
    /// maximum, where it is above 0.
    fn spread_maxima(&self, count: usize, inner: &[f32], pooled: &[f32], of_pooled: &[f32], of_inner: &mut [f32]) {
        let (area, wide) = (self.shape.area(), self.wide());
        let mut greatest = vec![0; wide];
        for sample in 0..count {
            let maxima = &pooled[sample * 2 * wide + wide..][..wide];
            let of_maxima = &of_pooled[sample * 2 * wide + wide..][..wide];
            // From the last square on, so that the first one stays.
            for square in (0..area).rev() {
                let cell = self.cell(sample * area + square);
                let values = inner[cell * wide..][..wide].iter().zip(maxima);
                for (greatest, (value, maximum)) in greatest.iter_mut().zip(values) {
                    *greatest = if value == maximum { cell as u32 } else { *greatest };
                }
            }
            for (channel, ((&cell, &maximum), of_maximum)) in greatest.iter().zip(maxima).zip(of_maxima).enumerate() {
                if maximum > 0.0 {
                    of_inner[cell as usize * wide + channel] += of_maximum;
                }
            }
        }
    }
}

/// Writes the sums over the cells of each board; `boards` is `[n][cells][C']`, `sums` `[n][C']`.
#[inline(always)]
fn sum_cells(boards: &[f32], wide: usize, sums: &mut [f32]) {
    let board = boards.len() * wide / sums.len();
    for (board, sums) in boards.chunks_exact(board).zip(sums.chunks_exact_mut(wide)) {
        sums.fill(0.0);
        board.chunks_exact(wide).for_each(|cell| add(sums, cell));
    }
}

/// The products of the opponent's policy, and memory for them.
#[derive(Debug, Default)]
struct PlainProducts {
    weight: Vec<[f32; LANES]>,
}

impl MapProducts for PlainProducts {
    fn logits(&mut self, from: &[f32], to: &[f32], wide: usize, map: &mut [f32]) {
        let stride = (to.len() / wide).next_multiple_of(LANES);
        for first in (0..stride).step_by(LANES) {
            self.weight.clear();
            self.weight.resize(wide, [0.0; LANES]);
            for (lane, row) in to[first * wide..].chunks_exact(wide).take(LANES).enumerate() {
                row.iter().zip(&mut self.weight).for_each(|(&value, lanes)| lanes[lane] = value);
            }
            multiply(&self.weight, from, |row, sum| {
                sum.store(map[row * stride + first..].first_chunk_mut().expect("sixteen of a row"));
            });
        }
    }

    fn gradients(
        &mut self,
        map: &[f32],
        from: &[f32],
        to: &[f32],
        wide: usize,
        of_from: &mut [f32],
        of_to: &mut [f32],
    ) {
        let stride = (to.len() / wide).next_multiple_of(LANES);
        let map = &map[..from.len() / wide * stride];
        for first in (0..wide).step_by(LANES) {
            self.weight.clear();
            let lanes = |row: &[f32]| *row[first..].first_chunk().expect("sixteen channels");
            self.weight.extend(to.chunks_exact(wide).map(lanes));
            self.weight.resize(stride, [0.0; LANES]);
            multiply(&self.weight, map, |row, sum| {
                sum.store(of_from[row * wide + first..].first_chunk_mut().expect("sixteen channels"));
            });
            self.weight.fill([0.0; LANES]);
            add_transposed(map, &from[first..], wide, &mut self.weight);
            for (row, sums) in of_to.chunks_exact_mut(wide).zip(&self.weight) {
                row[first..][..LANES].copy_from_slice(sums);
            }
        }
    }
}

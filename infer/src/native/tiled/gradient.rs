//! The gradient of the loss: forwards as in play with all activations kept, backwards with the same convolution over
//! turned weights. Two groups of sixteen samples make a chunk: sums over 32 samples are one product of tiles.
//! Legend: `A` squares, `K` blocks of 32 channels, `N` tiles of 16 channels, `Q` as in `training/heads.rs`.

use latrunculi_data::{NetworkConfig, PLANES, SCALARS, Shape, TrainingBatch};

use super::aligned::Aligned;
use super::bf16::{ADD, ADD_MASK, MASK, RECTIFY, convolve};
use super::convolution::{Bias, Scratch, Tiles};
use super::map::{MapBuffers, TileProducts};
use super::parts::{BF16S, FLOATS, GlobalBias, Pooled, bias_of, pool};
use super::products::{self, Sums, pair, spread_maxima, sum_squares, transpose};
use super::unit::TileUnit;
use super::with_unit;
use crate::kernel::{GROUP, Unit};
use crate::native::lanes::LANES;
use crate::training::{HeadBuffers, Heads, LossWeights, Losses, TrainingWeights, add_product};
use crate::weights::Linear;

/// Samples that are computed together.
pub(crate) const CHUNK: usize = 2 * GROUP;

/// A convolution, forwards and backwards.
#[derive(Debug)]
struct Packed {
    forward: Tiles,
    backward: Tiles,
    bias: Vec<f32>,
}

/// The weights of a ruleset, arranged for a step.
#[derive(Debug)]
pub(crate) struct Network<'a> {
    unit: Unit,
    config: &'a NetworkConfig,
    shape: Shape,
    channels: usize,
    weights: &'a TrainingWeights,
    stem: Tiles,
    trunk: Vec<Packed>,
    /// For each block the index among those that pool, and the weights.
    poolings: Vec<Option<(usize, GlobalBias)>>,
    squares: Packed,
    heads: Heads,
}

#[derive(Debug)]
struct Group {
    /// `[A][blocks of 32 planes]` tiles.
    input: Aligned<u16>,
    /// `[N][16 samples][16 channels]`
    stem_bias: Aligned<f32>,
    /// `[A][K]` tiles each: behind the stem; then for each block the inner activations and the output.
    boards: Vec<Aligned<u16>>,
    pooled: Vec<Pooled>,
    /// `[16 samples][A][Q]`: the heads' channels; samples [`Network::squares_stride`] apart.
    squares: Aligned<f32>,
    /// `[A][Q / 32]` tiles: their gradient.
    of_squares: Aligned<u16>,
    /// `[A][K]` tiles: the gradient of the trunk and of the inner activations, before relu.
    of_trunk: Aligned<u16>,
    of_inner: Aligned<u16>,
}

/// What a thread works in, for each shape of a network that it has seen; those of another network go.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    config: NetworkConfig,
    workspaces: Vec<(Shape, Workspace)>,
}

#[derive(Debug)]
struct Workspace {
    groups: [Group; 2],
    scratch: Scratch,
    /// `[A][tiles of 16 channels]`: pairs of samples, and channels by samples.
    pairs: Aligned<u16>,
    channels: Aligned<u16>,
    /// `[A, Q]`: one sample's gradient of the heads' channels.
    of_squares: Vec<f32>,
    /// `[16 samples][32 K]`
    sums: Aligned<f32>,
    /// `[N][16 samples][16 channels]`: gradient of the means by squares; `[16][32 K]`: of the maxima.
    of_means: Aligned<f32>,
    of_maxima: Vec<f32>,
    of_summary: Vec<f32>,
    stem: Sums,
    trunk: Vec<Sums>,
    squares: Sums,
    heads: HeadBuffers,
    map: MapBuffers,
}

impl<'a> Network<'a> {
    pub(crate) fn new(
        config: &'a NetworkConfig,
        weights: &'a TrainingWeights,
        shape: Shape,
        unit: Unit,
    ) -> Network<'a> {
        assert!(unit.is_available(), "a network of this kernel is made where the processor has it");
        let (channels, heads) = (config.channels, Heads::new(config, weights, shape.area()));
        let (blocks, outputs) = (channels.div_ceil(32), channels.div_ceil(16));
        let planes = PLANES.len();
        let at = |output: usize, tap: usize, input: usize| {
            let inside = output < channels && input < planes;
            if inside { weights.stem[(output * 9 + tap) * planes + input] } else { 0.0 }
        };
        let stem = Tiles::bf16(planes.div_ceil(32), outputs, 9, at);
        let weight = weights.trunk.chunks_exact(9 * channels * channels);
        let others = weights.trunk_scale.chunks_exact(channels).zip(weights.trunk_bias.chunks_exact(channels));
        let trunk = weight.zip(others).map(|(weight, (scale, bias))| {
            // SAFETY: a network of this kind is made where the processor has AVX-512 with bfloat16.
            let (forward, backward) = unsafe { products::arrange(weight, scale, channels) };
            Packed { forward, backward, bias: bias_of(bias, outputs) }
        });
        let mut rest = weights.pooling.chunks_exact(2 * channels * channels).enumerate();
        let poolings = (0..config.blocks).map(|block| {
            let (index, weight) = if config.is_pooled(block) { rest.next()? } else { return None };
            let linear =
                Linear { rows: channels, columns: 2 * channels, weight: weight.to_vec(), bias: vec![0.0; channels] };
            Some((index, GlobalBias::new(&linear, blocks, outputs)))
        });
        let (slots, row) = (heads.slots(), heads.row);
        let mut channel_of = vec![None; row];
        slots.iter().enumerate().for_each(|(index, &place)| channel_of[place] = Some(index));
        let at = |place: usize, input: usize| match channel_of.get(place).copied().flatten() {
            Some(index) if input < channels => weights.squares[index * channels + input],
            _ => 0.0,
        };
        let mut bias = vec![0.0; row];
        slots.iter().zip(&weights.squares_bias).for_each(|(&place, &value)| bias[place] = value);
        let squares = Packed {
            forward: Tiles::bf16(blocks, row / 16, 1, |output, _, input| at(output, input)),
            backward: Tiles::bf16(row / 32, outputs, 1, |output, _, input| at(input, output)),
            bias,
        };
        Network {
            unit,
            config,
            shape,
            channels,
            weights,
            stem,
            trunk: trunk.collect(),
            poolings: poolings.collect(),
            squares,
            heads,
        }
    }

    /// Returns `K` and `N`.
    fn tiles(&self) -> (usize, usize) {
        (self.channels.div_ceil(32), self.channels.div_ceil(16))
    }

    /// Returns the floats from one sample's squares to the next's: a line more than they take, so that the sixteen rows
    /// of a tile do not fall into the same sets of the cache.
    fn squares_stride(&self) -> usize {
        self.shape.area() * self.heads.row + LANES
    }

    fn workspace(&self) -> Workspace {
        let (area, (blocks, outputs), row) = (self.shape.area(), self.tiles(), self.heads.row);
        let board = || Aligned::zeros(area * blocks * BF16S);
        let group = || Group {
            input: Aligned::zeros(area * self.stem.blocks * BF16S),
            stem_bias: Aligned::zeros(outputs * FLOATS),
            boards: (0..=self.trunk.len()).map(|_| board()).collect(),
            pooled: self.poolings.iter().flatten().map(|_| Pooled::new(blocks)).collect(),
            squares: Aligned::zeros(GROUP * self.squares_stride()),
            of_squares: Aligned::zeros(area * row / 32 * BF16S),
            of_trunk: board(),
            of_inner: board(),
        };
        let most = outputs.max(row / 16).max(2 * self.stem.blocks);
        Workspace {
            groups: [group(), group()],
            scratch: Scratch::new(),
            pairs: Aligned::zeros(area * most * BF16S),
            channels: Aligned::zeros(area * most * BF16S),
            of_squares: vec![0.0; area * row],
            sums: Aligned::zeros(GROUP * blocks * 32),
            of_means: Aligned::zeros(outputs * FLOATS),
            of_maxima: vec![0.0; GROUP * blocks * 32],
            of_summary: vec![0.0; 2 * self.channels],
            stem: Sums::new(2 * self.stem.blocks, outputs, 9),
            trunk: self.trunk.iter().map(|_| Sums::new(outputs, outputs, 9)).collect(),
            squares: Sums::new(outputs, row / 16, 1),
            heads: HeadBuffers::default(),
            map: MapBuffers::default(),
        }
    }

    /// Returns the losses of the chunks that begin at `starts`, and adds the gradient of their weighted sum to `gradient`.
    pub(crate) fn learn(
        &self,
        batch: &TrainingBatch,
        loss_weights: &LossWeights,
        starts: impl Iterator<Item = usize>,
        buffers: &mut Buffers,
        gradient: &mut TrainingWeights,
    ) -> Losses {
        if buffers.config != *self.config {
            *buffers = Buffers { config: self.config.clone(), workspaces: Vec::new() };
        }
        let known = buffers.workspaces.iter().position(|(shape, _)| *shape == self.shape);
        let index = known.unwrap_or_else(|| {
            buffers.workspaces.push((self.shape, self.workspace()));
            buffers.workspaces.len() - 1
        });
        let workspace = &mut buffers.workspaces[index].1;
        let mut losses = Losses::default();
        workspace.stem.clear();
        workspace.trunk.iter_mut().for_each(Sums::clear);
        workspace.squares.clear();
        for start in starts {
            // SAFETY: `with_unit` makes a unit that this processor and system have.
            with_unit!(self.unit, unit => unsafe {
                self.forward(unit, batch, start, workspace);
                self.learn_heads(unit, batch, start, loss_weights, workspace, gradient, &mut losses);
                self.backward(unit, batch, start, workspace, gradient);
            });
        }
        let len = 9 * self.channels * self.channels;
        // The rows of the squares are padded.
        let mut wide = vec![0.0; self.heads.row * self.channels];
        // SAFETY: as above.
        unsafe {
            workspace.stem.add_to(&mut gradient.stem, self.channels, PLANES.len());
            for (index, sums) in workspace.trunk.iter().enumerate() {
                let (all, channels) =
                    (index * len..(index + 1) * len, index * self.channels..(index + 1) * self.channels);
                let (weight, scale) = (&self.weights.trunk[all.clone()], &self.weights.trunk_scale[channels.clone()]);
                let of_weight = &mut gradient.trunk[all];
                sums.add_scaled_to(weight, scale, of_weight, &mut gradient.trunk_scale[channels]);
            }
            workspace.squares.add_to(&mut wide, self.heads.row, self.channels);
        }
        for (row, place) in gradient.squares.chunks_exact_mut(self.channels).zip(self.heads.slots()) {
            add_product(row, 1.0, &wide[place * self.channels..][..self.channels]);
        }
        losses
    }

    /// Writes the inputs of a group: planes as tiles, and the bias of the first convolution.
    fn fill(&self, batch: &TrainingBatch, first: usize, group: &mut Group) {
        let (area, planes, outputs) = (self.shape.area(), self.shape.planes, self.channels);
        let (blocks, scalars) = (self.stem.blocks, SCALARS.len());
        group.input.fill(0);
        group.stem_bias.fill(0.0);
        let count = batch.len().saturating_sub(first).min(GROUP);
        for row in 0..count {
            let own = &batch.planes[(first + row) * planes * area..][..planes * area];
            for (plane, values) in own.chunks_exact(area).enumerate() {
                let place = plane / 32 * BF16S + row * 32 + plane % 32;
                for (square, &value) in values.iter().enumerate() {
                    if value != 0.0 {
                        group.input[square * blocks * BF16S + place] = super::bf16(value);
                    }
                }
            }
        }
        for row in 0..count {
            let own = &batch.scalars[(first + row) * scalars..][..scalars];
            for output in 0..outputs {
                let weights = &self.weights.scalars[output * scalars..][..scalars];
                let sum = own.iter().zip(weights).map(|(value, weight)| value * weight).sum::<f32>();
                group.stem_bias[output / LANES * FLOATS + row * LANES + output % LANES] =
                    self.weights.stem_bias[output] + sum;
            }
        }
    }

    /// Computes all activations of a chunk.
    /// Safety: the processor has the unit.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
    unsafe fn forward<U: TileUnit>(
        &self,
        unit: &mut U,
        batch: &TrainingBatch,
        start: usize,
        workspace: &mut Workspace,
    ) {
        let (blocks, _) = self.tiles();
        let Workspace { groups, scratch, .. } = workspace;
        for (index, group) in groups.iter_mut().enumerate() {
            self.fill(batch, start + index * GROUP, group);
            let bias = Bias::PerPosition(&group.stem_bias);
            // SAFETY: contract of this function, here and below.
            unsafe {
                convolve::<U, RECTIFY>(
                    unit,
                    &self.shape,
                    &group.input,
                    &mut group.boards[0],
                    None,
                    &self.stem,
                    bias,
                    scratch,
                )
            };
            for (block, pooling) in self.poolings.iter().enumerate() {
                let [first, second] = [&self.trunk[2 * block], &self.trunk[2 * block + 1]];
                let [trunk, inner, output] = &mut group.boards[2 * block..2 * block + 3] else {
                    unreachable!("a board for the stem and two for each block")
                };
                let bias = Bias::Shared(&first.bias);
                unsafe { convolve::<U, RECTIFY>(unit, &self.shape, trunk, inner, None, &first.forward, bias, scratch) };
                let mut bias = Bias::Shared(&second.bias);
                if let Some((index, weights)) = pooling {
                    let pooled = &mut group.pooled[*index];
                    pool(inner, blocks, &mut pooled.means, Some(&mut pooled.maxima));
                    unsafe { pooled.global_bias(unit, weights, &second.bias) };
                    bias = Bias::PerPosition(&pooled.bias);
                }
                unsafe {
                    convolve::<U, ADD>(unit, &self.shape, inner, output, Some(trunk), &second.forward, bias, scratch)
                };
            }
            let last = group.boards.last().expect("a board behind the stem");
            unsafe {
                products::by_square(
                    unit,
                    last,
                    &self.squares.forward,
                    Some(&self.squares.bias),
                    |square, output, sums| {
                        let place = square * self.heads.row + output * LANES;
                        for (row, values) in sums.chunks_exact(LANES).enumerate() {
                            let place = row * self.squares_stride() + place;
                            group.squares[place..place + LANES].copy_from_slice(values);
                        }
                    },
                );
            }
        }
    }

    /// Computes losses and the gradient of the heads, and from it that of the trunk's output.
    /// Safety: the processor has the unit.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
    #[allow(clippy::too_many_arguments)]
    unsafe fn learn_heads<U: TileUnit>(
        &self,
        unit: &mut U,
        batch: &TrainingBatch,
        start: usize,
        loss_weights: &LossWeights,
        workspace: &mut Workspace,
        gradient: &mut TrainingWeights,
        losses: &mut Losses,
    ) {
        let (area, row, (blocks, outputs)) = (self.shape.area(), self.heads.row, self.tiles());
        let mut of_bias = vec![0.0; row];
        let Workspace { groups, of_squares, heads, map, pairs, channels, squares: sums, .. } = workspace;
        for (index, group) in groups.iter_mut().enumerate() {
            group.of_squares.fill(0);
            let first = start + index * GROUP;
            for sample in first..batch.len().min(first + GROUP) {
                let own = &group.squares[(sample - first) * self.squares_stride()..][..area * row];
                let mut products = TileProducts::new(map, unit);
                self.heads.learn(batch, sample, loss_weights, own, of_squares, heads, &mut products, gradient, losses);
                for (square, values) in of_squares.chunks_exact(row).enumerate() {
                    add_product(&mut of_bias, 1.0, values);
                    for (block, values) in values.as_chunks::<32>().0.iter().enumerate() {
                        let place = (square * row / 32 + block) * BF16S + (sample - first) * 32;
                        products::round(values, &mut group.of_squares[place..place + 32]);
                    }
                }
            }
            let board = group.boards.last().expect("a board behind the stem");
            let of_trunk = &mut group.of_trunk;
            // SAFETY: contract of this function.
            unsafe {
                products::by_square(unit, &group.of_squares, &self.squares.backward, None, |square, output, sums| {
                    let place = (square * blocks + output / 2) * BF16S + output % 2 * 16;
                    products::store_masked(sums, &board[place..], &mut of_trunk[place..]);
                });
            }
        }
        for (sum, place) in gradient.squares_bias.iter_mut().zip(self.heads.slots()) {
            *sum += of_bias[place];
        }
        let boards = groups.each_ref().map(|group| &**group.boards.last().expect("a board behind the stem"));
        transpose(boards, blocks, outputs, channels);
        pair(groups.each_ref().map(|group| &*group.of_squares), row / 32, row / 16, pairs);
        // SAFETY: contract of this function.
        unsafe { sums.add_points(unit, area, channels, pairs) };
    }

    /// Goes back through the trunk.
    /// Safety: the processor has the unit.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
    unsafe fn backward<U: TileUnit>(
        &self,
        unit: &mut U,
        batch: &TrainingBatch,
        start: usize,
        workspace: &mut Workspace,
        gradient: &mut TrainingWeights,
    ) {
        let (area, (blocks, outputs), channels) = (self.shape.area(), self.tiles(), self.channels);
        let board = [self.shape.files, self.shape.ranks];
        for (block, pooling) in self.poolings.iter().enumerate().rev() {
            let [first, second] = [&self.trunk[2 * block], &self.trunk[2 * block + 1]];
            let Workspace { groups, scratch, sums, of_means, of_maxima, of_summary, .. } = &mut *workspace;
            for group in groups.iter_mut() {
                let inner = &group.boards[2 * block + 1];
                sum_squares(&group.of_trunk, blocks, sums);
                let of_bias = &mut gradient.trunk_bias[(2 * block + 1) * channels..][..channels];
                sums.chunks_exact(blocks * 32).for_each(|row| add_product(of_bias, 1.0, row));
                of_means.fill(0.0);
                if let Some((index, _)) = pooling {
                    let len = 2 * channels * channels;
                    let weight = &self.weights.pooling[index * len..][..len];
                    let of_weight = &mut gradient.pooling[index * len..][..len];
                    let pooled = &group.pooled[*index];
                    for row in 0..GROUP {
                        let wide = row * blocks * 32;
                        let summary = [&pooled.means[wide..][..channels], &pooled.maxima[wide..][..channels]];
                        of_summary.fill(0.0);
                        let rows = weight.chunks_exact(2 * channels).zip(of_weight.chunks_exact_mut(2 * channels));
                        for (&of_bias, (weight, of_weight)) in sums[wide..][..channels].iter().zip(rows) {
                            let (of_mean, of_maximum) = of_weight.split_at_mut(channels);
                            add_product(of_mean, of_bias, summary[0]);
                            add_product(of_maximum, of_bias, summary[1]);
                            add_product(of_summary, of_bias, weight);
                        }
                        let (of_mean, of_maximum) = of_summary.split_at(channels);
                        for (channel, value) in of_mean.iter().enumerate() {
                            of_means[channel / LANES * FLOATS + row * LANES + channel % LANES] = value / area as f32;
                        }
                        of_maxima[wide..][..channels].copy_from_slice(of_maximum);
                    }
                }
                let (of_trunk, of_inner) = (&mut group.of_trunk, &mut group.of_inner);
                let bias = Bias::PerPosition(of_means);
                // SAFETY: contract of this function, here and below.
                unsafe {
                    convolve::<U, MASK>(
                        unit,
                        &self.shape,
                        of_trunk,
                        of_inner,
                        Some(inner),
                        &second.backward,
                        bias,
                        scratch,
                    )
                };
                if let Some((index, _)) = pooling {
                    spread_maxima(inner, of_inner, &group.pooled[*index].maxima, of_maxima, blocks);
                }
                sum_squares(of_inner, blocks, sums);
                let of_bias = &mut gradient.trunk_bias[2 * block * channels..][..channels];
                sums.chunks_exact(blocks * 32).for_each(|row| add_product(of_bias, 1.0, row));
            }
            // The gradient of the second convolution, while that of the trunk stands behind it.
            let Workspace { groups, pairs, channels: by_channel, trunk: sums, .. } = &mut *workspace;
            transpose(groups.each_ref().map(|group| &*group.boards[2 * block + 1]), blocks, outputs, by_channel);
            pair(groups.each_ref().map(|group| &*group.of_trunk), blocks, outputs, pairs);
            unsafe { sums[2 * block + 1].add_taps(unit, board, by_channel, pairs) };
            transpose(groups.each_ref().map(|group| &*group.boards[2 * block]), blocks, outputs, by_channel);
            pair(groups.each_ref().map(|group| &*group.of_inner), blocks, outputs, pairs);
            unsafe { sums[2 * block].add_taps(unit, board, by_channel, pairs) };
            let Workspace { groups, scratch, of_means, .. } = &mut *workspace;
            of_means.fill(0.0);
            for group in groups.iter_mut() {
                let Group { boards, of_trunk, of_inner, .. } = group;
                let (mask, bias) = (Some(&boards[2 * block][..]), Bias::PerPosition(of_means));
                unsafe {
                    convolve::<U, ADD_MASK>(unit, &self.shape, of_inner, of_trunk, mask, &first.backward, bias, scratch)
                };
            }
        }
        let Workspace { groups, pairs, channels: by_channel, stem, sums, .. } = workspace;
        let scalars = SCALARS.len();
        for (index, group) in groups.iter().enumerate() {
            sum_squares(&group.of_trunk, blocks, sums);
            let first = start + index * GROUP;
            for sample in first..batch.len().min(first + GROUP) {
                let row = &sums[(sample - first) * blocks * 32..][..channels];
                add_product(&mut gradient.stem_bias, 1.0, row);
                let own = &batch.scalars[sample * scalars..][..scalars];
                for (&of_bias, of_weights) in row.iter().zip(gradient.scalars.chunks_exact_mut(scalars)) {
                    add_product(of_weights, of_bias, own);
                }
            }
        }
        transpose(groups.each_ref().map(|group| &*group.input), self.stem.blocks, 2 * self.stem.blocks, by_channel);
        pair(groups.each_ref().map(|group| &*group.of_trunk), blocks, outputs, pairs);
        // SAFETY: contract of this function.
        unsafe { stem.add_taps(unit, board, by_channel, pairs) };
    }
}

//! The gradient of the loss on the processor, without libtorch: a batch of one ruleset in, losses and the gradient of the
//! folded weights out.
//! [`GradientKernel::in_bf16`] computes the trunk in bfloat16 on a [`Unit`], with sums of 32 bits, and heads and losses in
//! 32 bits; [`GradientKernel::in_f32`] computes everything in 32 bits, on every processor. What the losses are is defined by
//! the training step of `latrunculi-model`, which computes the same with libtorch, but shares the gradient of a maximum
//! among equal squares where this gives it to the first; its tests compare both.
//! Legend: `B` samples, `A` squares, `P` planes, `S` scalars of the position, `N` blocks, `M` pooled blocks, `C` channels,
//! `D` policy channels, `V` value channels, `K` value hidden.

mod heads;
mod portable;
mod vectors;

use std::sync::{Mutex, PoisonError};

use latrunculi_data::{NetworkConfig, PLANES, SCALARS, TrainingBatch, heads as head};

use crate::kernel::Unit;
use crate::native::tiled;

pub(crate) use heads::{HeadBuffers, Heads, MapProducts};
pub(crate) use vectors::add_product;

/// The weights that a ruleset is folded into, or the gradient of the loss by them. All in rows, the last dimension next
/// to each other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrainingWeights {
    /// `[C, 9, P]`: the first convolution; taps rank by rank.
    pub stem: Vec<f32>,
    /// `[C]`
    pub stem_bias: Vec<f32>,
    /// `[C, S]`: from the scalars of the position to the bias of the first convolution.
    pub scalars: Vec<f32>,
    /// `[2N, C, 9, C]`: the convolutions of the blocks before `trunk_scale`.
    pub trunk: Vec<f32>,
    /// `[2N, C]`: what the weights of each output channel are multiplied by.
    pub trunk_scale: Vec<f32>,
    /// `[2N, C]`
    pub trunk_bias: Vec<f32>,
    /// `[M, C, 2C]`: from means and maxima of the inner channels to a bias of the branch.
    pub pooling: Vec<f32>,
    /// `[2D + V + 1 + 2D, C]`: the heads' channels of a square: from-square, divided by the root of `D`; to-square; value
    /// features; survival; the opponent's from- and to-square.
    pub squares: Vec<f32>,
    /// `[2D + V + 1 + 2D]`
    pub squares_bias: Vec<f32>,
    /// `[K, 2V]`: from means and maxima of the value features.
    pub hidden: Vec<f32>,
    /// `[K]`
    pub hidden_bias: Vec<f32>,
    /// `[6 + 4D + 3 + 4D, K]`: win, draw, loss; margin; stop, pass; four queries; turns left; the opponent's stop, pass;
    /// the opponent's four queries.
    pub last: Vec<f32>,
    /// `[6 + 4D + 3 + 4D]`
    pub last_bias: Vec<f32>,
}

/// How many parts [`TrainingWeights`] has.
pub const PARTS: usize = 13;

impl TrainingWeights {
    /// Returns zeros for a network.
    #[must_use]
    pub fn zeros(config: &NetworkConfig) -> TrainingWeights {
        let mut weights = TrainingWeights::default();
        for (part, shape) in weights.parts_mut().into_iter().zip(TrainingWeights::shapes(config)) {
            part.resize(shape.iter().product(), 0.0);
        }
        weights
    }

    /// Returns the shapes of the parts, in the order of [`TrainingWeights::parts_mut`].
    #[must_use]
    pub fn shapes(config: &NetworkConfig) -> [Vec<usize>; PARTS] {
        let (channels, keys, features) = (config.channels, config.policy_channels, config.value_channels);
        let pooled = (0..config.blocks).filter(|&block| config.is_pooled(block)).count();
        let (convolutions, squares, last) = (2 * config.blocks, 4 * keys + features + 1, 9 + 8 * keys);
        [
            vec![channels, 9, PLANES.len()],
            vec![channels],
            vec![channels, SCALARS.len()],
            vec![convolutions, channels, 9, channels],
            vec![convolutions, channels],
            vec![convolutions, channels],
            vec![pooled, channels, 2 * channels],
            vec![squares, channels],
            vec![squares],
            vec![config.value_hidden, 2 * features],
            vec![config.value_hidden],
            vec![last, config.value_hidden],
            vec![last],
        ]
    }

    /// Tells whether the parts have the sizes of those of `other`.
    fn has_sizes_of(&self, other: &TrainingWeights) -> bool {
        let sizes = |weights: &TrainingWeights| {
            [&weights.stem, &weights.trunk, &weights.pooling, &weights.squares, &weights.hidden, &weights.last]
                .map(Vec::len)
        };
        sizes(self) == sizes(other)
    }

    /// Returns the parts in the order of the fields.
    pub fn parts_mut(&mut self) -> [&mut Vec<f32>; PARTS] {
        [
            &mut self.stem,
            &mut self.stem_bias,
            &mut self.scalars,
            &mut self.trunk,
            &mut self.trunk_scale,
            &mut self.trunk_bias,
            &mut self.pooling,
            &mut self.squares,
            &mut self.squares_bias,
            &mut self.hidden,
            &mut self.hidden_bias,
            &mut self.last,
            &mut self.last_bias,
        ]
    }

    /// Adds another gradient, and makes that zero.
    fn take(&mut self, other: &mut TrainingWeights) {
        for (part, other) in self.parts_mut().into_iter().zip(other.parts_mut()) {
            vectors::add(part, other);
            other.fill(0.0);
        }
    }
}

/// Weights of the heads' losses, each at least 0, and what the losses of a step are divided by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossWeights {
    /// The weight of each head.
    pub heads: [f32; head::COUNT],
    /// Samples of the step; the loss of the opponent's policy is divided by `with_reply`, all others by this.
    pub samples: f32,
    /// Samples of the step where the opponent's next decision is known.
    pub with_reply: f32,
}

/// What the samples of a batch add to the means over a step, not yet times the weights of the losses.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Losses {
    /// The loss of each head, in nats where it is a cross-entropy.
    pub heads: [f64; head::COUNT],
    /// Entropy of the network's policy.
    pub policy_entropy: f64,
}

impl Losses {
    /// Adds those of other samples.
    pub fn add(&mut self, other: &Losses) {
        self.heads.iter_mut().zip(other.heads).for_each(|(sum, loss)| *sum += loss);
        self.policy_entropy += other.policy_entropy;
    }

    /// Returns the loss: the weighted sum.
    #[must_use]
    pub fn total(&self, weights: &LossWeights) -> f64 {
        weights.heads.iter().zip(self.heads).map(|(&weight, loss)| f64::from(weight) * loss).sum()
    }
}

/// Computes gradients; keeps its memory from batch to batch.
#[derive(Debug)]
pub struct GradientKernel(Memory);

#[derive(Debug)]
enum Memory {
    F32(Shared<portable::Buffers>),
    Bf16(Unit, Shared<tiled::GradientBuffers>),
}

/// What each thread works in, and the gradient of each part of a batch but the first, zero between the steps.
#[derive(Debug)]
struct Shared<B> {
    buffers: Vec<B>,
    gradients: Vec<TrainingWeights>,
}

impl<B> Default for Shared<B> {
    fn default() -> Shared<B> {
        Shared { buffers: Vec::new(), gradients: Vec::new() }
    }
}

/// A batch to learn from.
#[derive(Debug)]
pub struct BatchGradient<'a> {
    /// The network's weights under the rules of the batch.
    pub weights: &'a TrainingWeights,
    /// The batch, which was validated.
    pub batch: &'a TrainingBatch,
    /// What its gradient is added to.
    pub gradient: &'a mut TrainingWeights,
}

/// How batches are computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sharing {
    /// Parts into which each batch is divided, at least 1; their gradients are added up in their order. The result depends
    /// on their number by rounding.
    pub parts: usize,
    /// Threads that compute the parts of all batches, at least 1; more than there are parts are not used. The result does not depend
    /// on their number.
    pub threads: usize,
}

impl GradientKernel {
    /// Makes one that computes in 32 bits, on every processor.
    #[must_use]
    pub fn in_f32() -> GradientKernel {
        GradientKernel(Memory::F32(Shared::default()))
    }

    /// Makes one that computes the trunk in bfloat16 on this unit.
    #[must_use]
    pub fn in_bf16(unit: Unit) -> GradientKernel {
        GradientKernel(Memory::Bf16(unit, Shared::default()))
    }

    /// Computes the losses of each batch, and adds the gradients of their weighted sums. Panics when the processor does not
    /// have the unit, or when weights or gradients are not of the network that `config` describes.
    pub fn add_gradients(
        &mut self,
        config: &NetworkConfig,
        batches: Vec<BatchGradient<'_>>,
        loss_weights: &LossWeights,
        sharing: Sharing,
    ) -> Vec<Losses> {
        match &mut self.0 {
            Memory::F32(shared) => {
                let network = |weights, batch: &TrainingBatch| portable::Network::new(config, weights, batch.shape);
                let chunk = portable::Network::chunk;
                shared.compute(config, batches, sharing, network, chunk, |network, batch, starts, buffers, gradient| {
                    network.learn(batch, loss_weights, starts, buffers, gradient)
                })
            }
            Memory::Bf16(unit, shared) => {
                let unit = *unit;
                let network =
                    |weights, batch: &TrainingBatch| tiled::GradientNetwork::new(config, weights, batch.shape, unit);
                let chunk = |_: &_| tiled::CHUNK;
                shared.compute(config, batches, sharing, network, chunk, |network, batch, starts, buffers, gradient| {
                    network.learn(batch, loss_weights, starts, buffers, gradient)
                })
            }
        }
    }
}

/// The first samples of chunks.
type Starts = std::iter::StepBy<std::ops::Range<usize>>;

/// A part of a batch.
struct Part<'a, N> {
    network: &'a N,
    batch: &'a TrainingBatch,
    starts: Starts,
    gradient: &'a mut TrainingWeights,
    losses: Losses,
}

impl<B: Default + Send> Shared<B> {
    /// Divides the chunks of each batch, and adds up what `learn` returns for each part and the gradients to which it adds.
    fn compute<'a, N: Sync>(
        &mut self,
        config: &NetworkConfig,
        batches: Vec<BatchGradient<'a>>,
        sharing: Sharing,
        network: impl Fn(&'a TrainingWeights, &TrainingBatch) -> N,
        chunk: impl Fn(&N) -> usize,
        learn: impl Fn(&N, &TrainingBatch, Starts, &mut B, &mut TrainingWeights) -> Losses + Sync,
    ) -> Vec<Losses> {
        let networks: Vec<N> = batches.iter().map(|one| network(one.weights, one.batch)).collect();
        let sizes: Vec<(usize, usize)> = networks
            .iter()
            .zip(&batches)
            .map(|(network, one)| {
                (chunk(network), sharing.parts.clamp(1, one.batch.len().div_ceil(chunk(network)).max(1)))
            })
            .collect();
        let others = sizes.iter().map(|(_, parts)| parts - 1).sum();
        if self.gradients.len() < others {
            self.gradients.resize_with(others, Default::default);
        }
        let mut spare = self.gradients[..others].iter_mut();
        let mut parts_of: Vec<Vec<Part<'_, N>>> = Vec::new();
        for ((one, network), &(chunk, parts)) in batches.into_iter().zip(&networks).zip(&sizes) {
            let mut gradients = vec![one.gradient];
            for of_part in spare.by_ref().take(parts - 1) {
                // That of another network is of another size.
                if !of_part.has_sizes_of(gradients[0]) {
                    *of_part = TrainingWeights::zeros(config);
                }
                gradients.push(of_part);
            }
            let part = |(part, gradient)| {
                let starts = (part * chunk..one.batch.len()).step_by(parts * chunk);
                Part { network, batch: one.batch, starts, gradient, losses: Losses::default() }
            };
            parts_of.push(gradients.into_iter().enumerate().map(part).collect());
        }
        let threads = sharing.threads.clamp(1, others + sizes.len());
        if self.buffers.len() < threads {
            self.buffers.resize_with(threads, Default::default);
        }
        let queue = Mutex::new(parts_of.iter_mut().flatten());
        let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
        let compute = |buffers: &mut B| {
            while let Some(Part { network, batch, starts, gradient, losses }) = next() {
                *losses = learn(network, batch, starts.clone(), buffers, gradient);
            }
        };
        std::thread::scope(|scope| {
            let compute = &compute;
            let mut buffers = self.buffers[..threads].iter_mut();
            let own = buffers.next();
            let started: Vec<_> = buffers.map(|buffers| scope.spawn(move || compute(buffers))).collect();
            own.into_iter().for_each(compute);
            for thread in started {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            }
        });
        let sum = |parts: Vec<Part<'_, N>>| {
            let mut parts = parts.into_iter();
            let Part { gradient, mut losses, .. } = parts.next()?;
            for part in parts {
                gradient.take(part.gradient);
                losses.add(&part.losses);
            }
            Some(losses)
        };
        parts_of.into_iter().filter_map(sum).collect()
    }
}

//! The network as it is trained.
//!
//! A residual trunk without normalisation of activations. Its convolutions have standardised weights
//! (each output channel's weights are shifted to mean 0 and scaled to length 1) with a learnt gain per
//! channel, the second gain of each block beginning at 0. Nothing depends on the rest of the batch and
//! nothing is remembered from training, so what is trained is exactly what plays: the inference copy is
//! the same arithmetic with the standardisation done once. It also costs training nothing per position,
//! where batch normalisation reads every activation twice more.
//!
//! Source: Brock, De, Smith 2021, "Characterizing signal propagation to close the performance gap in
//! unnormalized ResNets" (arXiv 2101.08692), equation 4.
//!
//! The scalars become a bias of every channel of the first convolution. The policy is a map from ×
//! to: each square asks as a from-square and answers as a to-square, and their dot product is the
//! logit. Placing a man, placing a dux, removing and choosing a victim ask each with one query made of
//! the pooled features and are answered by the same to-squares; stop and pass come from the pooled
//! features alone. Every layer is independent of the size of the board.
//!
//! Training has three heads more, over the same features: whether the piece on a square survives the game, the
//! opponent's reply (a policy over all actions, as nobody knows which will be legal), and the turns that are left. They
//! make the trunk see what matters and are not there in play.
//!
//! Source: Wu 2019, "Accelerating Self-Play Learning in Go", sections 3.4 and 3.5, for survival (ownership there)
//! and reply.
//!
//! Legend: `B` positions, `P` planes, `S` scalars, `H` ranks, `W` files, `A` = H·W squares, `C`
//! channels, `D` policy channels, `V` value channels, `K` value hidden, `L` all legal actions.

use tch::{Kind, Tensor};

use crate::config::{NetworkConfig, Pooling};
use crate::device::Device;
use crate::error::{NetworkError, TorchError};
use crate::files;
use crate::graph::maximum;
use crate::layout::{Layout, SQUEEZE, group};
use latrunculi_engine::encoding::Shape;

/// What the forward pass gives, all `f32`.
pub(crate) struct Outputs {
    /// `[B, A, A]`: logit of moving from the first square to the second.
    pub(crate) action_map: Tensor,
    /// `[B, 4, A]`: logit of placing a man, placing a dux, removing, choosing as victim, per square.
    pub(crate) square_logits: Tensor,
    /// `[B, 2]`: logit of stop and of pass.
    pub(crate) stop_pass: Tensor,
    /// `[B, 3]`: logits of win, draw, loss for the player to act.
    pub(crate) win_draw_loss: Tensor,
    /// `[B]`: final margin for the player to act, in `(-1, 1)`.
    pub(crate) margin: Tensor,
}

/// What the heads give that only training has, all `f32`.
pub(crate) struct TrainingOutputs {
    /// `[B, A]`: logit of the piece there being on the board when the game ends.
    pub(crate) survival: Tensor,
    /// `[B, policy_len]`: logits of the opponent's next decision.
    pub(crate) reply: Tensor,
    /// `[B]`: `ln(1 + turns left)`.
    pub(crate) turns_left: Tensor,
}

/// What the heads read.
pub(crate) struct Features {
    /// `[B, A, C]`, in the kind of the trunk.
    squares: Tensor,
    /// `[B, K] f32`.
    hidden: Tensor,
}

/// A network: its description and its weights, on a device.
#[derive(Debug)]
pub struct Network {
    config: NetworkConfig,
    shape: Shape,
    pub(crate) layout: Layout,
    /// `[len] f32`
    pub(crate) parameters: Tensor,
    device: Device,
}

impl Network {
    /// Makes a fresh network, the same for the same seed on every machine.
    ///
    /// # Errors
    /// [`NetworkError::Config`] with every value that is out of range; [`NetworkError::Torch`].
    pub fn new(config: &NetworkConfig, shape: &Shape, seed: u64, device: Device) -> Result<Network, NetworkError> {
        config.validate(shape)?;
        let layout = Layout::new(config, shape);
        let parameters = Tensor::f_from_slice(&layout.start_values(seed))?;
        Network::from_parameters(config, shape, &parameters, device)
    }

    /// Makes a network of a vector `[len] f32` that is laid out for it; what follows is of training alone.
    pub(crate) fn from_parameters(
        config: &NetworkConfig,
        shape: &Shape,
        parameters: &Tensor,
        device: Device,
    ) -> Result<Network, NetworkError> {
        config.validate(shape)?;
        let layout = Layout::new(config, shape);
        let parameters = parameters.detach().f_narrow(0, 0, layout.len())?;
        let parameters = parameters.f_to_device(device.0)?.f_to_kind(Kind::Float)?.copy();
        Ok(Network { config: config.clone(), shape: *shape, layout, parameters, device })
    }

    /// Returns eight hexadecimal digits that differ when any weight does (CRC-32 of the weights, little end first).
    ///
    /// # Errors
    /// [`TorchError`] when the device fails.
    pub fn fingerprint(&self) -> Result<String, TorchError> {
        let mut hasher = crc32fast::Hasher::new();
        for weight in files::entries(&self.parameters)? {
            hasher.update(&weight.to_le_bytes());
        }
        Ok(format!("{:08x}", hasher.finalize()))
    }

    /// Returns its description.
    #[must_use]
    pub fn config(&self) -> &NetworkConfig {
        &self.config
    }

    /// Returns the size of the positions it sees.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Returns the device its weights lie on.
    #[must_use]
    pub fn device(&self) -> Device {
        self.device
    }

    /// Returns the number of its weights.
    #[must_use]
    pub fn parameter_count(&self) -> usize {
        usize::try_from(self.layout.len()).unwrap_or(0)
    }

    /// Returns the weights by name, in a fixed order, as views of the one vector.
    pub(crate) fn named(&self) -> Vec<(&str, Tensor)> {
        let cut = |parameter: &crate::layout::Parameter| {
            let piece = self.parameters.narrow(0, parameter.offset, parameter.len());
            piece.view(parameter.shape.as_slice())
        };
        self.layout.parameters.iter().map(|parameter| (parameter.name.as_str(), cut(parameter))).collect()
    }
}

/// The weights as the forward pass uses them: cut, standardised, in the kind of the computation.
///
/// The forward pass of training builds it from a vector that wants a gradient, folding from one that
/// does not, so that both are the same arithmetic.
pub(crate) struct Weights {
    /// `[C, P, 3, 3]`, channels last in memory
    pub(crate) stem: Tensor,
    /// `[C]`
    pub(crate) stem_bias: Tensor,
    /// `[C, S]`, if there are scalars
    pub(crate) scalars: Option<Tensor>,
    /// `2N` of `[C, C, 3, 3]`, channels last in memory
    pub(crate) trunk: Vec<Tensor>,
    /// `2N` of `[C]`
    pub(crate) trunk_bias: Vec<Tensor>,
    /// `M` of `[C, 2C]` or `[C/4, C]`
    pub(crate) pool_in: Vec<Tensor>,
    /// `M` of `[C/4]`, or empty
    pub(crate) pool_in_bias: Vec<Tensor>,
    /// `M` of `[2C, C/4]`, or empty
    pub(crate) pool_out: Vec<Tensor>,
    /// `M` of `[2C]`, or empty
    pub(crate) pool_out_bias: Vec<Tensor>,
    /// From-squares, to-squares, value features: `[2D + V, C]`
    pub(crate) head: Tensor,
    /// `[2D + V]`
    pub(crate) head_bias: Tensor,
    /// `[K, 2V]`, always `f32`
    pub(crate) summary: Tensor,
    /// `[K]`, always `f32`
    pub(crate) summary_bias: Tensor,
    /// `[6 + 4D, K]`, always `f32`
    pub(crate) last: Tensor,
    /// `[6 + 4D]`, always `f32`
    pub(crate) last_bias: Tensor,
    /// Of the heads that only training has.
    pub(crate) training: Option<TrainingWeights>,
}

/// The weights of the heads that only training has.
pub(crate) struct TrainingWeights {
    /// Survival, from-squares, to-squares: `[1 + 2D, C]`
    squares: Tensor,
    /// `[1 + 2D]`
    squares_bias: Tensor,
    /// Turns left, stop, pass, four queries: `[3 + 4D, K]`, always `f32`
    last: Tensor,
    /// `[3 + 4D]`, always `f32`
    last_bias: Tensor,
}

impl Weights {
    /// Cuts `parameters` (`[len] f32`) into weights of `kind`.
    pub(crate) fn new(
        config: &NetworkConfig,
        shape: &Shape,
        layout: &Layout,
        parameters: &Tensor,
        kind: Kind,
    ) -> Result<Weights, TorchError> {
        let groups = parameters.f_split_with_sizes(layout.group_lens.as_slice(), 0)?;
        let (channels, planes) = (config.channels as i64, shape.planes as i64);
        let (keys, features) = (config.policy_channels as i64, config.value_channels as i64);
        let hidden = config.value_hidden as i64;
        let squeezed = (channels / SQUEEZE as i64).max(1);
        let convolutions = 2 * config.blocks as i64;
        let rows = |index: usize, shape: &[i64]| -> Result<Vec<Tensor>, TorchError> {
            if layout.group_lens[index] == 0 {
                return Ok(Vec::new());
            }
            Ok(groups[index].f_view(shape)?.f_to_kind(kind)?.f_unbind(0)?)
        };

        // Standardised: mean 0, length 1 per output channel, then the gain.
        let raw = groups[group::TRUNK_WEIGHT].f_view([convolutions * channels, 9 * channels])?;
        let centred = &raw - raw.f_mean_dim(&[1_i64][..], true, Kind::Float)?;
        let length = centred.f_square()?.f_sum_dim_intlist(&[1_i64][..], true, Kind::Float)?;
        let gain = groups[group::TRUNK_GAIN].f_view([convolutions * channels, 1])?;
        let scale = gain * (length + 1e-6).f_rsqrt()?;
        let trunk = (centred * scale).f_to_kind(kind)?.f_view([convolutions, channels, 3, 3, channels])?;
        let trunk = trunk.f_permute([0, 1, 4, 2, 3])?.f_unbind(0)?;

        // A dot product of D terms is divided by the root of D: done once, to the from-squares.
        let temper = 1.0 / (keys as f64).sqrt();
        let head = Tensor::f_cat(
            &[
                groups[group::FROM_WEIGHT].f_view([keys, channels])? * temper,
                groups[group::TO_VALUE_WEIGHT].f_view([keys + features, channels])?,
            ],
            0,
        )?;
        let from_bias = &groups[group::FROM_BIAS] * temper;
        let head_bias = Tensor::f_cat(&[&from_bias, &groups[group::TO_VALUE_BIAS]], 0)?;
        let pool_in_shape = match config.pooling {
            Pooling::SqueezeExcitation => [-1, squeezed, channels],
            _ => [-1, channels, 2 * channels],
        };
        let scalars = match shape.scalars as i64 {
            0 => None,
            scalars => Some(groups[group::SCALARS_WEIGHT].f_view([channels, scalars])?.f_to_kind(kind)?),
        };
        Ok(Weights {
            stem: groups[group::STEM_WEIGHT]
                .f_view([channels, 3, 3, planes])?
                .f_to_kind(kind)?
                .f_permute([0, 3, 1, 2])?,
            stem_bias: groups[group::STEM_BIAS].f_to_kind(kind)?,
            scalars,
            trunk,
            trunk_bias: rows(group::TRUNK_BIAS, &[convolutions, channels])?,
            pool_in: rows(group::POOL_IN_WEIGHT, &pool_in_shape)?,
            pool_in_bias: rows(group::POOL_IN_BIAS, &[-1, squeezed])?,
            pool_out: rows(group::POOL_OUT_WEIGHT, &[-1, 2 * channels, squeezed])?,
            pool_out_bias: rows(group::POOL_OUT_BIAS, &[-1, 2 * channels])?,
            head: head.f_to_kind(kind)?,
            head_bias: head_bias.f_to_kind(kind)?,
            summary: groups[group::SUMMARY_WEIGHT].f_view([hidden, 2 * features])?,
            summary_bias: groups[group::SUMMARY_BIAS].shallow_clone(),
            last: groups[group::LAST_WEIGHT].f_view([6 + 4 * keys, hidden])?,
            last_bias: groups[group::LAST_BIAS].shallow_clone(),
            training: match groups.len() {
                group::COUNT_IN_PLAY => None,
                _ => Some(TrainingWeights {
                    squares: groups[group::TRAINING_SQUARES_WEIGHT]
                        .f_view([1 + 2 * keys, channels])?
                        .f_to_kind(kind)?,
                    squares_bias: groups[group::TRAINING_SQUARES_BIAS].f_to_kind(kind)?,
                    last: groups[group::TRAINING_LAST_WEIGHT].f_view([3 + 4 * keys, hidden])?,
                    last_bias: groups[group::TRAINING_LAST_BIAS].shallow_clone(),
                }),
            },
        })
    }
}

/// Runs the network with `weights` of one kind, `f32` or `bf16`.
///
/// `planes` is `[B, P, H, W]` of that kind, best channels last in memory; `scalars` is `[B, S]` of that kind.
pub(crate) fn forward(
    config: &NetworkConfig,
    weights: &Weights,
    planes: &Tensor,
    scalars: &Tensor,
) -> Result<(Outputs, Features), TorchError> {
    const BOARD: &[i64] = &[2, 3];
    let convolve =
        |input: &Tensor, weight: &Tensor, bias: &Tensor| input.f_conv2d(weight, Some(bias), [1, 1], [1, 1], [1, 1], 1);
    let on_board = |bias: Tensor| -> Result<Tensor, tch::TchError> { bias.f_unsqueeze(-1)?.f_unsqueeze(-1) };

    let mut trunk = convolve(planes, &weights.stem, &weights.stem_bias)?;
    if let Some(weight) = &weights.scalars {
        trunk = trunk.f_add(&on_board(scalars.f_linear(weight, None::<&Tensor>)?)?)?;
    }
    trunk = trunk.f_relu()?;
    let mut pooled = 0;
    for block in 0..config.blocks {
        let convolution = |input: &Tensor, half: usize| {
            let index = 2 * block + half;
            convolve(input, &weights.trunk[index], &weights.trunk_bias[index])
        };
        let inner = convolution(&trunk, 0)?.f_relu()?;
        let mut branch = convolution(&inner, 1)?;
        if config.is_pooled(block) {
            let mean = |input: &Tensor| input.f_mean_dim(BOARD, false, None);
            match config.pooling {
                Pooling::None => {}
                Pooling::GlobalBias => {
                    let summary = Tensor::f_cat(&[mean(&inner)?, maximum(&inner)?], 1)?;
                    let bias = summary.f_linear(&weights.pool_in[pooled], None::<&Tensor>)?;
                    branch = branch.f_add(&on_board(bias)?)?;
                }
                Pooling::SqueezeExcitation => {
                    let squeezed = mean(&branch)?
                        .f_linear(&weights.pool_in[pooled], Some(&weights.pool_in_bias[pooled]))?
                        .f_relu()?;
                    let excited = squeezed.f_linear(&weights.pool_out[pooled], Some(&weights.pool_out_bias[pooled]))?;
                    let halves = excited.f_chunk(2, 1)?;
                    let factor = on_board(halves[0].f_sigmoid()?)?;
                    let bias = on_board(halves[1].shallow_clone())?;
                    branch = branch.f_mul(&factor)?.f_add(&bias)?;
                }
            }
            pooled += 1;
        }
        trunk = trunk.f_add(&branch)?.f_relu()?;
    }

    let (keys, features) = (config.policy_channels as i64, config.value_channels as i64);
    // Square by square: `[B, A, C]`, which is how the channels lie in memory.
    let squares = trunk.f_flatten(2, 3)?.f_transpose(1, 2)?;
    let head = squares.f_linear(&weights.head, Some(&weights.head_bias))?.f_to_kind(Kind::Float)?;
    let parts = head.f_split_with_sizes([keys, keys, features], 2)?;
    let (from, to) = (&parts[0], parts[1].f_transpose(1, 2)?);
    let features = parts[2].f_relu()?;
    let over_squares: &[i64] = &[1];
    let mean = features.f_mean_dim(over_squares, false, None)?;
    let summary = Tensor::f_cat(&[mean, features.f_amax(over_squares, false)?], 1)?;
    let hidden = summary.f_linear(&weights.summary, Some(&weights.summary_bias))?.f_relu()?;
    let last = hidden.f_linear(&weights.last, Some(&weights.last_bias))?;
    let last = last.f_split_with_sizes([3, 1, 2, 4 * keys], 1)?;
    let queries = last[3].f_view([-1, 4, keys])?;
    let outputs = Outputs {
        action_map: from.f_bmm(&to)?,
        square_logits: queries.f_bmm(&to)?,
        stop_pass: last[2].shallow_clone(),
        win_draw_loss: last[0].shallow_clone(),
        margin: last[1].f_squeeze_dim(1)?.f_tanh()?,
    };
    Ok((outputs, Features { squares, hidden }))
}

/// Runs the heads that only training has.
pub(crate) fn forward_training(
    config: &NetworkConfig,
    weights: &TrainingWeights,
    features: &Features,
) -> Result<TrainingOutputs, TorchError> {
    let keys = config.policy_channels as i64;
    let squares = features.squares.f_linear(&weights.squares, Some(&weights.squares_bias))?.f_to_kind(Kind::Float)?;
    let squares = squares.f_split_with_sizes([1, keys, keys], 2)?;
    let last = features.hidden.f_linear(&weights.last, Some(&weights.last_bias))?;
    let last = last.f_split_with_sizes([1, 2, 4 * keys], 1)?;
    // A dot product of D terms is divided by the root of D, as in the policy.
    let (from, to) = (&squares[1] * (1.0 / (keys as f64).sqrt()), squares[2].f_transpose(1, 2)?);
    let map = from.f_bmm(&to)?.f_flatten(1, 2)?;
    let by_square = last[2].f_view([-1, 4, keys])?.f_bmm(&to)?.f_flatten(1, 2)?;
    Ok(TrainingOutputs {
        survival: squares[0].f_squeeze_dim(2)?,
        reply: Tensor::f_cat(&[&map, &by_square, &last[1]], 1)?,
        turns_left: last[0].f_squeeze_dim(1)?,
    })
}

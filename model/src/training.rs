//! The training step: loss, gradient, AdamW, average of the weights.
//!
//! Everything that a step depends on is in [`Trainer`] and in the batch, and all of it is saved in a
//! checkpoint, so that a continued training is the uninterrupted one. On the processor the same seed,
//! batches and number of threads give the same weights bit by bit.
//!
//! Legend: `B` positions, `L` all legal actions, `N` all parameters.

use serde::{Deserialize, Serialize};
use tch::{Kind, Tensor};

use crate::actions::ActionGather;
use crate::config::NetworkConfig;
use crate::device::{self, Device};
use crate::encoding::EncodedBatch;
use crate::error::{BatchError, NetworkError, TorchError, TrainError};
use crate::graph::channels_last;
use crate::layout::Layout;
use crate::network::{self, Network, Weights};
use latrunculi_engine::encoding::{Shape, TrainingBatch};

/// How exactly the trunk is computed in training. Weights, heads and optimiser are 32 bits always.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TrainingPrecision {
    /// 16 bits (bfloat16) where the processor multiplies them itself, and on a GPU; else 32.
    #[default]
    Auto,
    /// 32 bits.
    F32,
    /// 16 bits (bfloat16).
    Bf16,
}

impl TrainingPrecision {
    fn kind(self, device: Device) -> Kind {
        match self {
            TrainingPrecision::F32 => Kind::Float,
            TrainingPrecision::Bf16 => Kind::BFloat16,
            TrainingPrecision::Auto if device.is_gpu() || device::cpu_has_bf16() => Kind::BFloat16,
            TrainingPrecision::Auto => Kind::Float,
        }
    }
}

/// The settings of the optimisation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingConfig {
    /// Highest learning rate, reached after the warm-up; above 0.
    pub learning_rate: f64,
    /// Steps in which the learning rate rises to it in a straight line.
    pub warmup_steps: u64,
    /// The share of the whole training, in `[0, 1]`, from which the learning rate falls in a straight line.
    pub decay_from: f64,
    /// What the learning rate is multiplied with at the end; in `[0, 1]`.
    pub decay_to: f64,
    /// Share by which weights are pulled towards zero, times the learning rate, per step; at least 0.
    pub weight_decay: f64,
    /// Memory of the gradient's mean, in `[0, 1)`.
    pub beta1: f64,
    /// Memory of the gradient's square, in `[0, 1)`.
    pub beta2: f64,
    /// Gradients longer than this are shortened to it; above 0.
    pub gradient_norm_max: f64,
    /// Memory per step of the averaged weights, which play; in `[0, 1)`.
    pub average_decay: f64,
    /// Weight of the policy in the loss; at least 0.
    pub policy_weight: f64,
    /// Weight of win, draw, loss in the loss; at least 0.
    pub value_weight: f64,
    /// Weight of the final margin in the loss; at least 0.
    pub margin_weight: f64,
    /// Weight of the survival of each piece in the loss, mean over the pieces; at least 0. As this and the next two
    /// are 0, their heads cost nothing.
    pub survival_weight: f64,
    /// Weight of the opponent's reply in the loss; at least 0.
    pub reply_weight: f64,
    /// Weight of the logarithm of the turns left in the loss; at least 0.
    pub turns_left_weight: f64,
    /// How exactly the trunk is computed.
    pub precision: TrainingPrecision,
    /// Threads on the processor; at least 1.
    pub threads: usize,
}

impl Default for TrainingConfig {
    fn default() -> Self {
        TrainingConfig {
            learning_rate: 2e-3,
            warmup_steps: 100,
            decay_from: 0.8,
            decay_to: 0.05,
            weight_decay: 0.02,
            beta1: 0.9,
            beta2: 0.98,
            gradient_norm_max: 2.0,
            average_decay: 0.995,
            policy_weight: 1.0,
            value_weight: 1.5,
            margin_weight: 0.25,
            survival_weight: 0.5,
            reply_weight: 0.15,
            turns_left_weight: 0.02,
            precision: TrainingPrecision::Auto,
            threads: 1,
        }
    }
}

impl TrainingConfig {
    /// Checks every value.
    ///
    /// # Errors
    /// [`TrainError::Config`] with every reason.
    pub fn validate(&self) -> Result<(), TrainError> {
        let mut reasons = Vec::new();
        let mut require = |name: &str, value: f64, good: bool, range: &str| {
            if !good {
                reasons.push(format!("{name} = {value} must be {range}"));
            }
        };
        let share = |value: f64| (0.0..=1.0).contains(&value);
        let memory = |value: f64| (0.0..1.0).contains(&value);
        let positive = |value: f64| value > 0.0 && value.is_finite();
        let not_negative = |value: f64| value >= 0.0 && value.is_finite();
        require("learning_rate", self.learning_rate, positive(self.learning_rate), "above 0");
        require("decay_from", self.decay_from, share(self.decay_from), "in [0, 1]");
        require("decay_to", self.decay_to, share(self.decay_to), "in [0, 1]");
        require("weight_decay", self.weight_decay, not_negative(self.weight_decay), "at least 0");
        require("beta1", self.beta1, memory(self.beta1), "in [0, 1)");
        require("beta2", self.beta2, memory(self.beta2), "in [0, 1)");
        require("gradient_norm_max", self.gradient_norm_max, positive(self.gradient_norm_max), "above 0");
        require("average_decay", self.average_decay, memory(self.average_decay), "in [0, 1)");
        require("policy_weight", self.policy_weight, not_negative(self.policy_weight), "at least 0");
        require("value_weight", self.value_weight, not_negative(self.value_weight), "at least 0");
        require("margin_weight", self.margin_weight, not_negative(self.margin_weight), "at least 0");
        require("survival_weight", self.survival_weight, not_negative(self.survival_weight), "at least 0");
        require("reply_weight", self.reply_weight, not_negative(self.reply_weight), "at least 0");
        require("turns_left_weight", self.turns_left_weight, not_negative(self.turns_left_weight), "at least 0");
        require("threads", self.threads as f64, (1..=1024).contains(&self.threads), "1 to 1024");
        if reasons.is_empty() { Ok(()) } else { Err(TrainError::Config(reasons)) }
    }

    /// Returns the learning rate of step `step`, from 0, when `progress` of the training is over.
    #[must_use]
    pub fn learning_rate_at(&self, step: u64, progress: f64) -> f64 {
        let warmup = if step < self.warmup_steps { (step + 1) as f64 / (self.warmup_steps + 1) as f64 } else { 1.0 };
        let progress = progress.clamp(0.0, 1.0);
        let decay = if progress <= self.decay_from {
            1.0
        } else {
            let fallen = (progress - self.decay_from) / (1.0 - self.decay_from);
            1.0 + fallen * (self.decay_to - 1.0)
        };
        self.learning_rate * warmup * decay
    }
}

/// What a step found. Losses are weighted means over the batch, in nats where they are entropies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StepReport {
    /// Sum of the losses by their weights.
    pub loss: f64,
    /// Cross-entropy of the policy to its target.
    pub policy: f64,
    /// Cross-entropy of win, draw, loss to their target.
    pub value: f64,
    /// Mean squared error of the final margin.
    pub margin: f64,
    /// Cross-entropy of the survival of a piece, mean over the pieces; 0 where its weight is 0.
    pub survival: f64,
    /// Cross-entropy of the opponent's reply to its target, where it is known; 0 where its weight is 0.
    pub reply: f64,
    /// Mean squared error of `ln(1 + turns left)`; 0 where its weight is 0.
    pub turns_left: f64,
    /// Entropy of the network's policy.
    pub policy_entropy: f64,
    /// Entropy of the target policy: what the cross-entropy would be at best.
    pub target_entropy: f64,
    /// Length of the gradient before it was shortened.
    pub gradient_norm: f64,
    /// Learning rate of this step.
    pub learning_rate: f64,
}

/// How far a training has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingCounters {
    /// Steps made.
    pub steps: u64,
    /// Positions learnt from, repetitions counted.
    pub samples: u64,
}

/// A network in training.
#[derive(Debug)]
pub struct Trainer {
    pub(crate) config: TrainingConfig,
    pub(crate) network_config: NetworkConfig,
    pub(crate) shape: Shape,
    pub(crate) layout: Layout,
    pub(crate) device: Device,
    /// `[N] f32`, the only tensor that wants a gradient.
    pub(crate) parameters: Tensor,
    /// `[N] f32`: running mean of the weights, which plays.
    pub(crate) average: Tensor,
    /// `[N] f32`: running mean of the gradient.
    pub(crate) first_moment: Tensor,
    /// `[N] f32`: running mean of the gradient's square.
    pub(crate) second_moment: Tensor,
    /// `[N] f32`: 1 where weight decay acts.
    decay_mask: Tensor,
    pub(crate) counters: TrainingCounters,
}

impl Trainer {
    /// Begins to train `network`, on its device.
    ///
    /// # Errors
    /// [`TrainError::Config`] with every setting that is out of range; [`TrainError::Torch`].
    pub fn new(network: &Network, config: &TrainingConfig) -> Result<Trainer, TrainError> {
        config.validate()?;
        let (network_config, shape, device) = (network.config(), network.shape(), network.device());
        let layout = Layout::for_training(network_config, shape);
        // What only training has begins the same in every training.
        let begin = Tensor::f_from_slice(&layout.start_values(0))?.f_to_device(device.0)?;
        let in_play = network.layout.len();
        let only_training = begin.f_narrow(0, in_play, layout.len() - in_play)?;
        let parameters = Tensor::f_cat(&[&network.parameters.detach(), &only_training], 0)?;
        Ok(Trainer {
            config: config.clone(),
            network_config: network_config.clone(),
            shape: *shape,
            device,
            average: parameters.copy(),
            first_moment: parameters.f_zeros_like()?,
            second_moment: parameters.f_zeros_like()?,
            decay_mask: Tensor::f_from_slice(&layout.decay_mask())?.f_to_device(device.0)?,
            layout,
            parameters: parameters.set_requires_grad(true),
            counters: TrainingCounters::default(),
        })
    }

    /// Returns the settings.
    #[must_use]
    pub fn config(&self) -> &TrainingConfig {
        &self.config
    }

    /// Changes the settings for the steps to come.
    ///
    /// # Errors
    /// [`TrainError::Config`] with every setting that is out of range; then nothing has changed.
    pub fn set_config(&mut self, config: &TrainingConfig) -> Result<(), TrainError> {
        config.validate()?;
        self.config = config.clone();
        Ok(())
    }

    /// Returns how far the training has come.
    #[must_use]
    pub fn counters(&self) -> TrainingCounters {
        self.counters
    }

    /// Returns a copy of the network with the weights of the last step.
    ///
    /// # Errors
    /// [`NetworkError::Torch`] when the device has no room.
    pub fn network(&self) -> Result<Network, NetworkError> {
        Network::from_parameters(&self.network_config, &self.shape, &self.parameters, self.device)
    }

    /// Returns a copy of the network with the averaged weights, which play.
    ///
    /// # Errors
    /// [`NetworkError::Torch`] when the device has no room.
    pub fn averaged_network(&self) -> Result<Network, NetworkError> {
        Network::from_parameters(&self.network_config, &self.shape, &self.average, self.device)
    }

    /// Makes one step. `progress` is the share of the whole training that is over, in `[0, 1]`; the
    /// learning rate falls by it.
    ///
    /// # Errors
    /// [`TrainError::Batch`] when the batch does not fit, [`TrainError::NotFinite`] when a loss or the
    /// gradient is not a number, [`TrainError::Torch`] when the device fails. The weights, the
    /// optimiser and the counters are then as before.
    pub fn step(&mut self, batch: &TrainingBatch, progress: f64) -> Result<StepReport, TrainError> {
        device::use_threads(self.config.threads);
        let gather = self.check(batch)?;
        let (losses, mut report) = self.losses(batch, &gather, &self.parameters)?;
        let step = self.counters.steps;
        if !report.loss.is_finite() {
            return Err(TrainError::NotFinite { step, what: "loss" });
        }
        let gradient = Tensor::f_run_backward(&[&losses], &[&self.parameters], false, false)?.remove(0);
        report.gradient_norm = gradient.f_norm()?.f_double_value(&[])?;
        if !report.gradient_norm.is_finite() {
            return Err(TrainError::NotFinite { step, what: "gradient" });
        }
        report.learning_rate = self.config.learning_rate_at(step, progress);
        tch::no_grad(|| self.update(gradient, &report))?;
        self.counters.steps += 1;
        self.counters.samples += batch.margin.len() as u64;
        Ok(report)
    }

    /// Computes the losses of the averaged weights on a batch that is not learnt from.
    ///
    /// # Errors
    /// As [`Trainer::step`].
    pub fn evaluate(&self, batch: &TrainingBatch) -> Result<StepReport, TrainError> {
        device::use_threads(self.config.threads);
        let gather = self.check(batch)?;
        let (_, report) = tch::no_grad(|| self.losses(batch, &gather, &self.average))?;
        Ok(report)
    }

    fn check(&self, batch: &TrainingBatch) -> Result<ActionGather, BatchError> {
        if batch.shape != self.shape {
            return Err(BatchError::Shape {
                batch: format!("{:?}", batch.shape),
                network: format!("{:?}", self.shape),
            });
        }
        let length = |name, found, expected| {
            if found == expected { Ok(()) } else { Err(BatchError::Length { name, found, expected }) }
        };
        let encoded = EncodedBatch {
            planes: &batch.planes,
            scalars: &batch.scalars,
            action_offsets: &batch.action_offsets,
            action_indices: &batch.action_indices,
        };
        if encoded.is_empty() {
            return Err(BatchError::Length { name: "action_offsets", found: batch.action_offsets.len(), expected: 2 });
        }
        encoded.check(&self.shape)?;
        length("policy", batch.policy.len(), batch.action_indices.len())?;
        length("win_draw_loss", batch.win_draw_loss.len(), encoded.len())?;
        length("margin", batch.margin.len(), encoded.len())?;
        length("survival", batch.survival.len(), encoded.len() * self.shape.area())?;
        length("turns_left", batch.turns_left.len(), encoded.len())?;
        length("reply_offsets", batch.reply_offsets.len(), encoded.len() + 1)?;
        let replies = batch.reply_offsets.last().map_or(0, |&last| last as usize);
        length("reply_indices", batch.reply_indices.len(), replies)?;
        length("reply_policy", batch.reply_policy.len(), replies)?;
        if let Some(index) = batch.reply_offsets.windows(2).position(|pair| pair[0] > pair[1]) {
            return Err(BatchError::Range { name: "reply_offsets", index: index + 1 });
        }
        let policy_len = self.shape.policy_len();
        if let Some(index) = batch.reply_indices.iter().position(|&index| index as usize >= policy_len) {
            return Err(BatchError::Range { name: "reply_indices", index });
        }
        length("weights", batch.weights.len(), encoded.len())?;
        if let Some(index) = batch.weights.iter().position(|weight| !(*weight >= 0.0 && weight.is_finite())) {
            return Err(BatchError::Range { name: "weights", index });
        }
        if batch.weights.iter().sum::<f32>() <= 0.0 {
            return Err(BatchError::Range { name: "weights", index: 0 });
        }
        ActionGather::new(&self.shape, &batch.action_offsets, &batch.action_indices)
    }

    /// Computes the loss, a scalar that has a gradient, and what is to be reported of it.
    fn losses(
        &self,
        batch: &TrainingBatch,
        gather: &ActionGather,
        parameters: &Tensor,
    ) -> Result<(Tensor, StepReport), TorchError> {
        let (shape, device) = (&self.shape, self.device.0);
        let kind = self.config.precision.kind(self.device);
        let size = batch.margin.len() as i64;
        let to_device = |values: &[f32], size: &[i64]| -> Result<Tensor, TorchError> {
            Ok(Tensor::f_from_slice(values)?.f_view(size)?.f_to_device(device)?)
        };
        let planes = to_device(&batch.planes, &[size, shape.planes as i64, shape.ranks as i64, shape.files as i64])?;
        let planes = channels_last(&planes.f_to_kind(kind)?)?;
        let scalars = to_device(&batch.scalars, &[size, shape.scalars as i64])?.f_to_kind(kind)?;
        let weights = Weights::new(&self.network_config, shape, &self.layout, parameters, kind)?;
        let (outputs, features) = network::forward(&self.network_config, &weights, &planes, &scalars)?;

        let offsets = &batch.action_offsets;
        let width = offsets.windows(2).map(|pair| (pair[1] - pair[0]) as usize).max().unwrap_or(0).max(1);
        let mut targets = vec![0.0_f32; batch.margin.len() * width];
        for (row, pair) in targets.chunks_mut(width).zip(offsets.windows(2)) {
            let policy = &batch.policy[pair[0] as usize..pair[1] as usize];
            row[..policy.len()].copy_from_slice(policy);
        }
        let targets = to_device(&targets, &[size, width as i64])?;
        let entries = gather.fetch(&outputs)?;
        let log_policy = gather.table(&entries, offsets, width)?.f_log_softmax(1, Kind::Float)?;
        let sample_weights = to_device(&batch.weights, &[size])?;
        let total_weight = f64::from(batch.weights.iter().sum::<f32>());
        // Mean over the batch of `[B]`, by the weights of the positions.
        let mean = |values: Tensor| -> Result<Tensor, TorchError> {
            Ok(values.f_dot(&sample_weights)?.f_div_scalar(total_weight)?)
        };
        let rows: &[i64] = &[1];
        let sum = |products: Tensor| products.f_sum_dim_intlist(rows, false, Kind::Float);

        let policy = mean(sum(-&targets * &log_policy)?)?;
        let log_value = outputs.win_draw_loss.f_log_softmax(1, Kind::Float)?;
        let value = mean(sum(-to_device(batch.win_draw_loss.as_flattened(), &[size, 3])? * log_value)?)?;
        let margin = mean((outputs.margin - to_device(&batch.margin, &[size])?).f_square()?)?;
        let mut loss = &policy * self.config.policy_weight
            + &value * self.config.value_weight
            + &margin * self.config.margin_weight;

        let config = &self.config;
        let zero = || Tensor::from(0.0_f32).to_device(device);
        let (mut survival, mut reply, mut turns_left) = (zero(), zero(), zero());
        if let Some(weights) = &weights.training
            && config.survival_weight + config.reply_weight + config.turns_left_weight > 0.0
        {
            let outputs = network::forward_training(&self.network_config, weights, &features)?;
            if config.survival_weight > 0.0 {
                let targets = to_device(&batch.survival, &[size, shape.area() as i64])?;
                survival = mean(survival_loss(&outputs.survival, &targets)?)?;
                loss = loss.f_add(&(&survival * config.survival_weight))?;
            }
            if config.reply_weight > 0.0 {
                reply = reply_loss(&outputs.reply, batch)?;
                loss = loss.f_add(&(&reply * config.reply_weight))?;
            }
            if config.turns_left_weight > 0.0 {
                turns_left = mean((outputs.turns_left - to_device(&batch.turns_left, &[size])?).f_square()?)?;
                loss = loss.f_add(&(&turns_left * config.turns_left_weight))?;
            }
        }

        let entropy = tch::no_grad(|| mean(sum(-log_policy.f_exp()? * &log_policy)?))?;
        let numbers = [&loss, &policy, &value, &margin, &entropy, &survival, &reply, &turns_left];
        let numbers = Tensor::f_stack(&numbers, 0)?.detach().f_to_device(tch::Device::Cpu)?;
        let mut found = [0.0_f32; 8];
        numbers.f_copy_data(&mut found, 8)?;
        let [loss_value, policy, value, margin, policy_entropy, survival, reply, turns_left] = found.map(f64::from);
        let target_entropy: f64 = offsets
            .windows(2)
            .zip(&batch.weights)
            .map(|(pair, weight)| {
                let policy = &batch.policy[pair[0] as usize..pair[1] as usize];
                let surprise = |p: &f32| if *p > 0.0 { -f64::from(*p) * f64::from(*p).ln() } else { 0.0 };
                f64::from(*weight) * policy.iter().map(surprise).sum::<f64>()
            })
            .sum();
        let report = StepReport {
            loss: loss_value,
            policy,
            value,
            margin,
            survival,
            reply,
            turns_left,
            policy_entropy,
            target_entropy: target_entropy / total_weight,
            ..StepReport::default()
        };
        Ok((loss, report))
    }

    /// Moves the weights by `gradient`, `[N] f32`.
    ///
    /// Source: Loshchilov, Hutter 2019, "Decoupled Weight Decay Regularization", algorithm 2.
    fn update(&mut self, gradient: Tensor, report: &StepReport) -> Result<(), TorchError> {
        let config = &self.config;
        let taken = self.counters.steps + 1;
        let shorten = (config.gradient_norm_max / (report.gradient_norm + 1e-12)).min(1.0);
        let gradient = gradient * shorten;
        // Computed aside first: when the device fails here, nothing has been changed.
        let first = self.first_moment.f_lerp(&gradient, 1.0 - config.beta1)?;
        let second = self.second_moment.f_lerp(&gradient.f_square()?, 1.0 - config.beta2)?;
        let power = taken.min(i32::MAX as u64) as i32;
        let (bias1, bias2) = (1.0 - config.beta1.powi(power), 1.0 - config.beta2.powi(power));
        let root = (&second / bias2).f_sqrt()? + 1e-8;
        let decay = &self.decay_mask * (-report.learning_rate * config.weight_decay) + 1.0;
        let moved = self.parameters.detach() * decay - (&first / root) * (report.learning_rate / bias1);
        let forget = 1.0 - config.average_decay.min(taken as f64 / (taken as f64 + 9.0));
        let average = self.average.f_lerp(&moved, forget)?;
        self.parameters = moved.set_requires_grad(true);
        self.average = average;
        self.first_moment = first;
        self.second_moment = second;
        Ok(())
    }
}

/// Returns the cross-entropy of survival, `[B]`: the mean over the pieces of each position. `logits` and `targets`
/// are `[B, A]`, the targets -1 where no piece stands.
fn survival_loss(logits: &Tensor, targets: &Tensor) -> Result<Tensor, TorchError> {
    let squares: &[i64] = &[1];
    let is_piece = targets.f_ge(0.0)?.f_to_kind(Kind::Float)?;
    let losses = logits.f_binary_cross_entropy_with_logits(
        &targets.f_clamp_min(0.0)?,
        Some(&is_piece),
        None::<&Tensor>,
        tch::Reduction::None,
    )?;
    let pieces = is_piece.f_sum_dim_intlist(squares, false, Kind::Float)?.f_clamp_min(1.0)?;
    Ok(losses.f_sum_dim_intlist(squares, false, Kind::Float)? / pieces)
}

/// Returns the cross-entropy of the opponent's reply, the mean over the positions where it is known by their weights.
/// `logits` is `[B, policy_len]`.
fn reply_loss(logits: &Tensor, batch: &TrainingBatch) -> Result<Tensor, TorchError> {
    let policy_len = batch.shape.policy_len() as i64;
    let mut places = Vec::with_capacity(batch.reply_indices.len());
    let mut shares = Vec::with_capacity(batch.reply_indices.len());
    let mut total = 0.0;
    for (position, (pair, &weight)) in batch.reply_offsets.windows(2).zip(&batch.weights).enumerate() {
        let range = pair[0] as usize..pair[1] as usize;
        total += if range.is_empty() { 0.0 } else { f64::from(weight) };
        places.extend(
            batch.reply_indices[range.clone()].iter().map(|&index| position as i64 * policy_len + i64::from(index)),
        );
        shares.extend(batch.reply_policy[range].iter().map(|&share| -share * weight));
    }
    if total == 0.0 {
        return Ok(Tensor::from(0.0_f32).f_to_device(logits.device())?);
    }
    let places = Tensor::f_from_slice(&places)?.f_to_device(logits.device())?;
    let shares = Tensor::f_from_slice(&shares)?.f_to_device(logits.device())?;
    let log_policy = logits.f_log_softmax(1, Kind::Float)?.f_view([-1])?;
    Ok(log_policy.f_index_select(0, &places)?.f_dot(&shares)?.f_div_scalar(total)?)
}

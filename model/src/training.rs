//! The training step: loss, gradient, AdamW, moving average of the weights.
//! A step takes batches of any boards and rulesets, each of one, and makes of them the gradient of their union. The
//! ruleset of a batch is folded into the weights that the batch sees, so it costs nothing per position.
//! A step depends on the [`Trainer`] and the batches alone, and a checkpoint holds the whole trainer, so a training that
//! continues from a checkpoint gives the same weights as one that was not interrupted. On the processor the same seed,
//! batches and parts of a batch give the same weights bit by bit, on any number of threads.
//! Legend: `B` positions, `L` all legal actions, `N` all parameters.

use tch::{Kind, Tensor};

use crate::actions::ActionGather;
use crate::device::{self, Device};
use crate::error::{Error, TrainError};
use crate::graph::{Graph, GraphUse, Output};
use crate::network::Network;
use crate::runner::{Runner, channels_last};
use crate::weights::{RulesetConditioning, WeightMaker};
use latrunculi_data::{
    Error as DataError, NetworkConfig, ParameterLayout, SCALARS, StepReport, TrainingBatch, TrainingConfig,
    TrainingCounters, check_length, heads,
};
use latrunculi_infer::{BatchGradient, GradientKernel, LossWeights, Losses, Sharing, TrainingWeights, Unit};

fn check_config(config: &TrainingConfig) -> Result<(), Error> {
    let reasons = config.validate();
    if reasons.is_empty() {
        Ok(())
    } else {
        Err(Error(format!("the training cannot be set up: {}", reasons.join("; "))))
    }
}

/// A network in training.
#[derive(Debug)]
pub struct Trainer {
    pub(crate) config: TrainingConfig,
    pub(crate) network_config: NetworkConfig,
    pub(crate) layout: ParameterLayout,
    pub(crate) device: Device,
    runner: Runner,
    /// `[N] f32`, the only tensor that requires a gradient.
    pub(crate) parameters: Tensor,
    /// `[N] f32`: moving average of the weights, which plays.
    pub(crate) average: Tensor,
    /// `[N] f32`: running mean of the gradient.
    pub(crate) first_moment: Tensor,
    /// `[N] f32`: running mean of the gradient's square.
    pub(crate) second_moment: Tensor,
    /// `[N] f32`: 1 where weight decay applies, else 0.
    decay_mask: Tensor,
    pub(crate) counters: TrainingCounters,
    /// Computes the gradient of the folded weights; without it libtorch does.
    pub(crate) kernel: Option<GradientKernel>,
    /// Threads that are free for a step.
    threads: usize,
}

impl Trainer {
    /// Starts a training of `network`, on its device.
    pub fn new(network: &Network, config: &TrainingConfig) -> Result<Trainer, Error> {
        check_config(config)?;
        let (network_config, device) = (network.config(), network.device());
        let layout = ParameterLayout::for_training(network_config);
        // The heads that only training has start the same in every training.
        let start = Tensor::f_from_slice(&layout.start_values(0))?.f_to_device(device.0)?;
        let in_play = network.layout.len();
        let only_training = start.f_narrow(0, in_play, layout.len() - in_play)?;
        let parameters = Tensor::f_cat(&[&network.parameters.detach(), &only_training], 0)?;
        Ok(Trainer {
            config: config.clone(),
            network_config: network_config.clone(),
            device,
            runner: training_runner(network_config, config),
            average: parameters.copy(),
            first_moment: parameters.f_zeros_like()?,
            second_moment: parameters.f_zeros_like()?,
            decay_mask: Tensor::f_from_slice(&layout.decay_mask())?.f_to_device(device.0)?,
            layout,
            parameters: parameters.set_requires_grad(true),
            counters: TrainingCounters::default(),
            kernel: kernel_for(config, device),
            threads: usize::MAX,
        })
    }

    /// Says that earlier trainings of so many steps made the network: the averaged weights then begin with its own.
    #[must_use]
    pub fn after(mut self, steps: u64) -> Trainer {
        self.counters.steps_before = steps;
        self
    }

    /// Changes the settings of the following steps.
    /// Error: every setting that is out of range; then nothing has changed.
    pub fn set_config(&mut self, config: &TrainingConfig) -> Result<(), Error> {
        check_config(config)?;
        self.runner = training_runner(&self.network_config, config);
        if config.precision != self.config.precision {
            self.kernel = kernel_for(config, self.device);
        }
        self.config = config.clone();
        Ok(())
    }

    /// Sets how many threads are free for the following steps, at least 1; at first all are. The weights do not depend on it.
    pub fn set_free_threads(&mut self, count: usize) {
        self.threads = count;
    }

    /// Tells whether a GPU computes the steps.
    #[must_use]
    pub fn is_on_gpu(&self) -> bool {
        self.device.is_gpu()
    }

    /// Returns the progress.
    #[must_use]
    pub fn counters(&self) -> TrainingCounters {
        self.counters
    }

    /// Returns a copy of the network with the weights of the last step.
    #[cfg(test)]
    pub(crate) fn network(&self) -> Result<Network, Error> {
        Network::from_parameters(&self.network_config, &self.parameters, self.device)
    }

    /// Returns a copy of the network with the averaged weights, which play.
    pub fn averaged_network(&self) -> Result<Network, Error> {
        Network::from_parameters(&self.network_config, &self.average, self.device)
    }

    /// Makes one step on all samples of `batches`, which may be of different boards and rulesets: one step on their
    /// union, whatever the order and the sizes, up to rounding. `progress` is the fraction of the whole training that is over, in `[0, 1]`; the learning rate
    /// depends on it.
    /// Fails with [`TrainError::NotFinite`] when a loss or the gradient is not finite; when a batch does not fit or there is
    /// none, or the device fails. Weights, optimiser and counters are then unchanged.
    pub fn step(&mut self, batches: &[TrainingBatch], progress: f64) -> Result<StepReport, TrainError> {
        device::use_one_thread();
        let (gradient, mut report) = self.gradient(batches)?;
        let step = self.counters.steps;
        report.gradient_norm = gradient.f_norm()?.f_double_value(&[])?;
        if !report.gradient_norm.is_finite() {
            return Err(TrainError::NotFinite { step, what: "gradient" });
        }
        report.clipped = f64::from(report.gradient_norm > self.config.gradient_norm_max);
        report.learning_rate = self.config.learning_rate_at(step, progress);
        tch::no_grad(|| self.update(gradient, &report))?;
        self.counters.steps += 1;
        self.counters.samples += batches.iter().map(|batch| batch.len() as u64).sum::<u64>();
        Ok(report)
    }

    /// Computes the losses of the averaged weights on batches, without a step.
    #[cfg(test)]
    pub(crate) fn evaluate(&self, batches: &[TrainingBatch]) -> Result<StepReport, TrainError> {
        device::use_one_thread();
        let gathers = check(batches)?;
        let (_, report) = tch::no_grad(|| self.losses(batches, &gathers, &self.average))?;
        Ok(report)
    }

    /// Computes the gradient of the loss, `[N] f32`, and what of the report is known before the step.
    pub(crate) fn gradient(&mut self, batches: &[TrainingBatch]) -> Result<(Tensor, StepReport), TrainError> {
        let gathers = check(batches)?;
        let (loss, report) = match self.kernel.take() {
            Some(mut kernel) => {
                let found = self.kernel_losses(&mut kernel, batches);
                self.kernel = Some(kernel);
                found?
            }
            None => self.losses(batches, &gathers, &self.parameters)?,
        };
        if !report.loss.is_finite() {
            return Err(TrainError::NotFinite { step: self.counters.steps, what: "loss" });
        }
        Ok((Tensor::f_run_backward(&[&loss], &[&self.parameters], false, false)?.remove(0), report))
    }

    /// Computes with the kernel a scalar that has the gradient of the loss, and the report.
    fn kernel_losses(
        &self,
        kernel: &mut GradientKernel,
        batches: &[TrainingBatch],
    ) -> Result<(Tensor, StepReport), Error> {
        let (config, totals) = (&self.config, Totals::of(batches));
        let sharing = Sharing { parts: config.threads.div_ceil(batches.len()), threads: self.threads };
        let weights = LossWeights {
            heads: config.loss_weights(self.counters.steps).map(|weight| weight as f32),
            samples: totals.samples as f32,
            with_reply: totals.with_reply as f32,
        };
        let maker = WeightMaker::new(&self.network_config, &self.layout, &self.parameters)?;
        let zeros = || TrainingWeights::zeros(&self.network_config);
        let (mut tensors, mut folded) = (Vec::new(), Vec::new());
        for batch in batches {
            let conditioning = RulesetConditioning { rule_inputs: batch.rule_inputs.clone(), area: batch.shape.area() };
            let (made, mut values) = (maker.training_weights(&conditioning)?, zeros());
            for (tensor, values) in made.iter().zip(values.parts_mut()) {
                let count = values.len();
                tensor.detach().f_contiguous()?.f_copy_data(values, count)?;
            }
            tensors.push(made);
            folded.push(values);
        }
        let mut gradients: Vec<TrainingWeights> = batches.iter().map(|_| zeros()).collect();
        let works = folded.iter().zip(batches).zip(&mut gradients);
        let works = works.map(|((weights, batch), gradient)| BatchGradient { weights, batch, gradient }).collect();
        let (mut loss, mut losses) = (0.0, Losses::default());
        for of_batch in kernel.add_gradients(&self.network_config, works, &weights, sharing) {
            loss += of_batch.total(&weights);
            losses.add(&of_batch);
        }
        // The trunk is one tensor for all rulesets.
        if let Some((first, others)) = gradients.split_first_mut() {
            for other in others {
                let trunk = std::mem::take(&mut other.trunk);
                first.trunk.iter_mut().zip(trunk).for_each(|(sum, value)| *sum += value);
            }
        }
        // Surrogate: the sum of w times the fixed gradient by w; its derivative is the loss's.
        let mut products = Vec::new();
        for (tensors, gradient) in tensors.iter().zip(&mut gradients) {
            for (tensor, values) in tensors.iter().zip(gradient.parts_mut()).filter(|(_, values)| !values.is_empty()) {
                products.push(product(tensor, values)?);
            }
        }
        let Losses { heads, policy_entropy } = losses;
        let report = totals.report(loss, heads, policy_entropy);
        Ok((Tensor::f_stack(&products, 0)?.f_sum(Kind::Float)?, report))
    }

    /// Computes the loss, a scalar with a gradient, and the report.
    fn losses(
        &self,
        batches: &[TrainingBatch],
        gathers: &[ActionGather],
        parameters: &Tensor,
    ) -> Result<(Tensor, StepReport), Error> {
        let maker = WeightMaker::new(&self.network_config, &self.layout, parameters)?;
        let totals = Totals::of(batches);
        let numbers = batches.iter().zip(gathers).map(|(batch, gather)| self.losses_of(batch, gather, &maker, &totals));
        let numbers = numbers.collect::<Result<Vec<_>, _>>()?;
        let numbers = Tensor::f_stack(&numbers, 0)?.f_sum_dim_intlist(&[0_i64][..], false, Kind::Float)?;
        let mut found = [0.0_f32; 2 + heads::COUNT];
        numbers.detach().f_to_device(tch::Device::Cpu)?.f_copy_data(&mut found, 2 + heads::COUNT)?;
        let [loss, policy_entropy, heads @ ..] = found.map(f64::from);
        let report = totals.report(loss, heads, policy_entropy);
        Ok((numbers.f_select(0, 0)?, report))
    }

    /// Computes what one batch adds to the means over all: the loss, the entropy of the policy, the loss of each head.
    fn losses_of(
        &self,
        batch: &TrainingBatch,
        gather: &ActionGather,
        maker: &WeightMaker<'_>,
        totals: &Totals,
    ) -> Result<Tensor, Error> {
        let (shape, device) = (&batch.shape, self.device.0);
        let kind = self.device.kind(self.config.precision);
        let size = batch.len() as i64;
        let to_device = |values: &[f32], size: &[i64]| -> Result<Tensor, Error> {
            Ok(Tensor::f_from_slice(values)?.f_view(size)?.f_to_device(device)?)
        };
        let planes = to_device(&batch.planes, &[size, shape.planes as i64, shape.ranks as i64, shape.files as i64])?;
        let planes = channels_last(&planes.f_to_kind(kind)?)?;
        let scalars = to_device(&batch.scalars, &[size, SCALARS.len() as i64])?.f_to_kind(kind)?;
        let conditioning = RulesetConditioning { rule_inputs: batch.rule_inputs.clone(), area: shape.area() };
        let folded = maker.weights(self.runner.graph(), Some(&conditioning), kind)?;
        let outputs = self.runner.run(&folded, &planes, &scalars)?;

        let offsets = &batch.action_offsets;
        let width = offsets.windows(2).map(|pair| (pair[1] - pair[0]) as usize).max().unwrap_or(0).max(1);
        let mut targets = vec![0.0_f32; batch.len() * width];
        for (row, pair) in targets.chunks_mut(width).zip(offsets.windows(2)) {
            let policy = &batch.policy[pair[0] as usize..pair[1] as usize];
            row[..policy.len()].copy_from_slice(policy);
        }
        let targets = to_device(&targets, &[size, width as i64])?;
        let entries = gather.fetch(outputs.action_logits())?;
        let log_policy = gather.table(&entries, offsets, width)?.f_log_softmax(1, Kind::Float)?;
        // What `[B]` adds to the mean over the samples of all batches.
        let mean =
            |values: Tensor| -> Result<Tensor, Error> { Ok(values.f_sum(Kind::Float)?.f_div_scalar(totals.samples)?) };
        let rows: &[i64] = &[1];
        let sum = |products: Tensor| products.f_sum_dim_intlist(rows, false, Kind::Float);

        let policy = mean(sum(-&targets * &log_policy)?)?;
        let log_value = outputs.get(Output::WinDrawLossLogits).f_log_softmax(1, Kind::Float)?;
        let value = mean(sum(-to_device(batch.win_draw_loss.as_flattened(), &[size, 3])? * log_value)?)?;
        let margin = mean((outputs.get(Output::Margin) - to_device(&batch.margin, &[size])?).f_square()?)?;
        let weights = self.config.loss_weights(self.counters.steps);
        let zero = || Tensor::from(0.0_f32).to_device(device);
        let mut losses = [policy, value, margin, zero(), zero(), zero()];
        if weights[heads::SURVIVAL] > 0.0 {
            let targets = to_device(&batch.survival, &[size, shape.area() as i64])?;
            losses[heads::SURVIVAL] = mean(survival_loss(outputs.get(Output::Survival), &targets)?)?;
        }
        if weights[heads::OPPONENT_POLICY] > 0.0 {
            let logits = outputs.get(Output::OpponentPolicy);
            losses[heads::OPPONENT_POLICY] = opponent_policy_loss(logits, batch, totals.with_reply)?;
        }
        if weights[heads::MOVES_LEFT] > 0.0 {
            let targets = to_device(&batch.moves_left, &[size])?;
            losses[heads::MOVES_LEFT] = mean((outputs.get(Output::MovesLeft) - targets).f_square()?)?;
        }
        let mut loss = zero();
        for (of_head, weight) in losses.iter().zip(weights) {
            loss = loss.f_add(&(of_head * weight))?;
        }
        let entropy = tch::no_grad(|| mean(sum(-log_policy.f_exp()? * &log_policy)?))?;
        let numbers: Vec<&Tensor> = [&loss, &entropy].into_iter().chain(&losses).collect();
        Ok(Tensor::f_stack(&numbers, 0)?)
    }

    /// Updates the weights by `gradient`, `[N] f32`.
    /// Source: Loshchilov, Hutter 2019, "Decoupled Weight Decay Regularization", algorithm 2.
    fn update(&mut self, gradient: Tensor, report: &StepReport) -> Result<(), Error> {
        let config = &self.config;
        let taken = self.counters.steps + 1;
        let clip = (config.gradient_norm_max / (report.gradient_norm + 1e-12)).min(1.0);
        let gradient = if clip < 1.0 { gradient * clip } else { gradient };
        // New tensors first: when the device fails here, nothing has changed.
        let first = self.first_moment.f_lerp(&gradient, 1.0 - config.beta1)?;
        let second = self.second_moment.f_lerp(&gradient.f_square()?, 1.0 - config.beta2)?;
        let power = taken.min(i32::MAX as u64) as i32;
        let (bias1, bias2) = (1.0 - config.beta1.powi(power), 1.0 - config.beta2.powi(power));
        // The corrections of the bias are left to the factors: few passes over the weights.
        let root = second.f_sqrt()?.f_add_scalar_(1e-8 * bias2.sqrt())?;
        let parameters = self.parameters.detach();
        let decay = &self.decay_mask * (-report.learning_rate * config.weight_decay);
        let moved = parameters.f_addcmul(&parameters, &decay)?;
        let moved = moved.f_addcdiv(&(&first * (-report.learning_rate * bias2.sqrt() / bias1)), &root)?;
        // The first weights of a new network are soon forgotten, those of a trained one are not.
        let age = (taken + self.counters.steps_before) as f64;
        let ema_weight = 1.0 - config.ema_decay.min(age / (age + 9.0));
        let average = self.average.f_lerp(&moved, ema_weight)?;
        self.parameters = moved.set_requires_grad(true);
        self.average = average;
        self.first_moment = first;
        self.second_moment = second;
        Ok(())
    }
}

fn product(weights: &Tensor, gradient: &[f32]) -> Result<Tensor, Error> {
    Ok(weights.f_reshape([-1])?.f_dot(&Tensor::f_from_slice(gradient)?)?)
}

/// What the losses of all batches of a step are divided by.
#[derive(Clone, Copy, Debug)]
struct Totals {
    /// Samples.
    samples: f64,
    /// Samples where the opponent's next decision is known.
    with_reply: f64,
    /// Mean entropy of the target policy.
    target_entropy: f64,
}

impl Totals {
    fn of(batches: &[TrainingBatch]) -> Totals {
        let with_reply =
            |batch: &TrainingBatch| batch.opponent_policy.offsets.windows(2).filter(|pair| pair[0] < pair[1]).count();
        let samples = batches.iter().map(TrainingBatch::len).sum::<usize>() as f64;
        Totals {
            samples,
            with_reply: batches.iter().map(with_reply).sum::<usize>() as f64,
            target_entropy: batches.iter().map(target_entropy).sum::<f64>() / samples,
        }
    }

    /// Returns the report of a step whose gradient is not known yet.
    fn report(&self, loss: f64, heads: [f64; heads::COUNT], policy_entropy: f64) -> StepReport {
        StepReport { loss, heads, policy_entropy, target_entropy: self.target_entropy, ..StepReport::default() }
    }
}

fn check(batches: &[TrainingBatch]) -> Result<Vec<ActionGather>, DataError> {
    if batches.is_empty() {
        check_length("batches", 0, 1)?;
    }
    let checked = batches.iter().map(|batch| {
        batch.validate()?;
        ActionGather::new(&batch.shape, &batch.action_offsets, &batch.action_indices)
    });
    checked.collect()
}

fn target_entropy(batch: &TrainingBatch) -> f64 {
    let surprise = |p: &f32| if *p > 0.0 { -f64::from(*p) * f64::from(*p).ln() } else { 0.0 };
    batch.policy.iter().map(surprise).sum()
}

/// Makes the runner of the training step; heads that only training has are left out where all their weights are 0.
fn training_runner(network_config: &NetworkConfig, config: &TrainingConfig) -> Runner {
    Runner::new(Graph::new(network_config, GraphUse::Training { extra_heads: config.has_training_heads() }))
}

/// Makes what computes the gradient without libtorch; none on a GPU, and where bfloat16 is asked for on a processor without it.
fn kernel_for(config: &TrainingConfig, device: Device) -> Option<GradientKernel> {
    if device.is_gpu() {
        return None;
    }
    match device.kind(config.precision) {
        Kind::BFloat16 => Some(Unit::best()).filter(|unit| unit.is_available()).map(GradientKernel::in_bf16),
        _ => Some(GradientKernel::in_f32()),
    }
}

/// Returns the cross-entropy of survival, `[B]`: the mean over the pieces of each position. `logits` and `targets`
/// are `[B, A]`, the targets -1 where no piece stands.
fn survival_loss(logits: &Tensor, targets: &Tensor) -> Result<Tensor, Error> {
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

/// Returns what a batch adds to the cross-entropy of the opponent's next decision, the mean over the `total` positions of the
/// step where it is known. `logits` is `[B, policy_len]`.
fn opponent_policy_loss(logits: &Tensor, batch: &TrainingBatch, total: f64) -> Result<Tensor, Error> {
    let (policy, policy_len) = (&batch.opponent_policy, batch.shape.policy_len() as i64);
    let mut indices = Vec::with_capacity(policy.indices.len());
    let mut probabilities = Vec::with_capacity(policy.indices.len());
    for (position, pair) in policy.offsets.windows(2).enumerate() {
        let range = pair[0] as usize..pair[1] as usize;
        indices
            .extend(policy.indices[range.clone()].iter().map(|&index| position as i64 * policy_len + i64::from(index)));
        probabilities.extend(policy.probabilities[range].iter().map(|&probability| -probability));
    }
    if indices.is_empty() || total == 0.0 {
        return Ok(Tensor::from(0.0_f32).f_to_device(logits.device())?);
    }
    let indices = Tensor::f_from_slice(&indices)?.f_to_device(logits.device())?;
    let probabilities = Tensor::f_from_slice(&probabilities)?.f_to_device(logits.device())?;
    let log_policy = logits.f_log_softmax(1, Kind::Float)?.f_view([-1])?;
    Ok(log_policy.f_index_select(0, &indices)?.f_dot(&probabilities)?.f_div_scalar(total)?)
}

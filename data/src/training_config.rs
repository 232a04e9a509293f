//! The settings of the optimisation, and what a training step reports.

use serde::{Deserialize, Serialize};

use crate::ranges::number_or_auto;

use crate::heads;
use crate::precision::Precision;
use crate::ranges::{Range, faults};

/// The settings of the optimisation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingConfig {
    /// Highest learning rate, reached after the warm-up; above 0.
    pub learning_rate: f64,
    /// Steps in which the learning rate rises linearly to it.
    pub warmup_steps: u64,
    /// Fraction of the whole training, in `[0, 1]`, from which the learning rate falls linearly.
    pub decay_from: f64,
    /// Factor of the learning rate at the end; in `[0, 1]`.
    pub decay_to: f64,
    /// Decoupled weight decay: times the learning rate, the fraction that weights lose per step; at least 0.
    pub weight_decay: f64,
    /// Decay of the running mean of the gradient, in `[0, 1)`.
    pub beta1: f64,
    /// Decay of the running mean of the gradient's square, in `[0, 1)`.
    pub beta2: f64,
    /// A gradient whose norm is larger is scaled down to this norm; above 0. Meant for outliers: norms of 3 to 16 are
    /// usual, and clipping them slows learning down.
    pub gradient_norm_max: f64,
    /// Decay per step of the moving average of the weights, which plays; in `[0, 1)`.
    pub ema_decay: f64,
    /// Weight of the policy in the loss; at least 0.
    pub policy_weight: f64,
    /// Weight of win, draw, loss in the loss; at least 0.
    pub value_weight: f64,
    /// Weight of the final margin in the loss; at least 0.
    pub margin_weight: f64,
    /// Weight of the survival of each piece in the loss, mean over the pieces; at least 0. Where this and the next two
    /// are 0, their heads are not computed. All three rise with the learning rate in the warm-up: these heads begin at
    /// random even where the network is trained, and would pull its trunk away from what it has learnt.
    pub survival_weight: f64,
    /// Weight of the opponent's next decision in the loss; at least 0.
    pub opponent_policy_weight: f64,
    /// Weight of the logarithm of the turns that are left in the loss; at least 0.
    pub moves_left_weight: f64,
    /// Precision of the trunk.
    pub precision: Precision,
    /// Parts of a step that are computed by different threads of the processor, at least 1, and as many of each of its batches; where fewer cores are free
    /// of games, a thread computes several, so that the result does not depend on how many are. `auto`: one for each core.
    #[serde(deserialize_with = "number_or_auto")]
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
            gradient_norm_max: 50.0,
            ema_decay: 0.995,
            policy_weight: 1.0,
            value_weight: 1.5,
            margin_weight: 0.25,
            survival_weight: 0.5,
            opponent_policy_weight: 0.15,
            moves_left_weight: 0.02,
            precision: Precision::Auto,
            threads: 2,
        }
    }
}

impl TrainingConfig {
    /// Returns whether a loss of the heads of training alone counts; without one they are not computed.
    #[must_use]
    pub fn has_training_heads(&self) -> bool {
        self.loss_weights(0)[heads::SURVIVAL..].iter().any(|&weight| weight > 0.0)
    }

    /// Returns the same without the losses of the heads of training alone.
    #[must_use]
    pub fn without_training_heads(self) -> TrainingConfig {
        TrainingConfig { survival_weight: 0.0, opponent_policy_weight: 0.0, moves_left_weight: 0.0, ..self }
    }

    /// Returns the weight of each head's loss at step `step`, from 0.
    #[must_use]
    pub fn loss_weights(&self, step: u64) -> [f64; heads::COUNT] {
        let warmup = self.warmup_at(step);
        [
            self.policy_weight,
            self.value_weight,
            self.margin_weight,
            self.survival_weight * warmup,
            self.opponent_policy_weight * warmup,
            self.moves_left_weight * warmup,
        ]
    }

    /// Returns every value that is out of range, with the range; empty when all are good.
    #[must_use]
    pub fn validate(&self) -> Vec<String> {
        let fraction = Range::Within(0.0, 1.0);
        let mut reasons = faults([
            ("learning_rate", self.learning_rate, Range::Positive),
            ("decay_from", self.decay_from, fraction),
            ("decay_to", self.decay_to, fraction),
            ("weight_decay", self.weight_decay, Range::NotNegative),
            ("beta1", self.beta1, Range::Decay),
            ("beta2", self.beta2, Range::Decay),
            ("gradient_norm_max", self.gradient_norm_max, Range::Positive),
            ("ema_decay", self.ema_decay, Range::Decay),
            ("threads", self.threads as f64, Range::Whole(1, 1024)),
        ]);
        let weights = heads::NAMES.map(|name| format!("{name}_weight"));
        let weights = weights.iter().zip(self.loss_weights(self.warmup_steps));
        reasons.extend(faults(weights.map(|(name, weight)| (name.as_str(), weight, Range::NotNegative))));
        if self.precision == Precision::Int8 {
            reasons.push("precision = int8 is for play alone; training has auto, bf16, f32".to_owned());
        }
        reasons
    }

    /// Returns how far the warm-up has come at step `step`, from 0: a factor in `(0, 1]`.
    #[must_use]
    pub fn warmup_at(&self, step: u64) -> f64 {
        if step < self.warmup_steps { (step + 1) as f64 / (self.warmup_steps + 1) as f64 } else { 1.0 }
    }

    /// Returns the learning rate of step `step`, from 0, after the fraction `progress` of the training.
    #[must_use]
    pub fn learning_rate_at(&self, step: u64, progress: f64) -> f64 {
        let warmup = self.warmup_at(step);
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

/// Losses and other numbers of a step. Losses are weighted means over all samples; entropies are in nats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StepReport {
    /// Sum of the heads' losses, each times its weight.
    pub loss: f64,
    /// The loss of each head; 0 where its weight is 0 and only training has it.
    #[serde(flatten, with = "heads::by_name")]
    pub heads: [f64; heads::COUNT],
    /// Entropy of the network's policy.
    pub policy_entropy: f64,
    /// Entropy of the target policy, the lower bound of the cross-entropy.
    pub target_entropy: f64,
    /// Norm of the gradient before clipping.
    pub gradient_norm: f64,
    /// 1 where the gradient was clipped, else 0; as a mean over steps the fraction of steps that were clipped.
    pub clipped: f64,
    /// Learning rate of this step.
    pub learning_rate: f64,
}

/// Progress of a training.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainingCounters {
    /// Steps.
    pub steps: u64,
    /// Samples trained on, repetitions counted.
    pub samples: u64,
    /// Steps of earlier trainings that made the network it began with; 0 where that was a new one.
    #[serde(default)]
    pub steps_before: u64,
}

impl TrainingCounters {
    /// Returns the steps of this training and of those before.
    #[must_use]
    pub fn all_steps(&self) -> u64 {
        self.steps + self.steps_before
    }
}

//! The positions of the parameters in the one flat vector that holds them all; those that are computed on together are next to
//! each other.
//! Legend: `C` channels, `N` blocks, `M` pooled blocks, `P` planes, `S` scalars of the position, `R` numbers of the
//! ruleset, `E` length of its embedding, `F` numbers of a channel that are made of it (scale and shift, or shift alone),
//! `D` policy channels, `V` value channels, `K` value hidden.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

use crate::features::{PLANES, SCALARS};
use crate::network_config::{NetworkConfig, RULE_EMBEDDING};
use crate::rule_inputs;
use crate::tensor_file::NamedTensor;

/// The weights of [`rule_inputs`]: `[E, R]`.
pub(crate) const RULE_WEIGHTS: &str = "rules.embedding.weight";

#[derive(Clone, Copy, Debug)]
enum Start {
    Zero,
    /// Every entry the same.
    Constant(f32),
    /// Normal with this standard deviation.
    Normal(f64),
}

/// One named parameter.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name in files.
    pub name: String,
    /// Its shape; convolutions are `[out, rank, file, in]`, their order in memory.
    pub shape: Vec<i64>,
    /// Index of its first entry in the vector.
    pub offset: i64,
    /// Whether weight decay applies.
    pub decays: bool,
    start: Start,
}

impl Parameter {
    /// Returns the number of its entries.
    #[allow(clippy::len_without_is_empty, reason = "no parameter is empty")]
    #[must_use]
    pub fn len(&self) -> i64 {
        self.shape.iter().product()
    }

    /// Returns the length of each dimension.
    pub fn lengths(&self) -> impl Iterator<Item = usize> {
        self.shape.iter().map(|&length| length as usize)
    }
}

/// The parameters in order, and the groups in which the weights are made of them.
#[derive(Clone, Debug)]
pub struct ParameterLayout {
    /// The parameters.
    pub parameters: Vec<Parameter>,
    /// Number of entries of each group, in the order of the groups.
    pub group_lens: Vec<i64>,
}

/// The groups into which the vector is split, by index into [`ParameterLayout::group_lens`].
pub mod group {
    /// `[C, 3, 3, P]`
    pub const STEM_WEIGHT: usize = 0;
    /// `[C]`
    pub const STEM_BIAS: usize = 1;
    /// `[C, S]`
    pub const SCALARS_WEIGHT: usize = 2;
    /// `[2N, C, 3, 3, C]`
    pub const TRUNK_WEIGHT: usize = 3;
    /// `[2N, C]`
    pub const TRUNK_GAIN: usize = 4;
    /// `[2N, C]`
    pub const TRUNK_BIAS: usize = 5;
    /// `[M, C, 2C]`
    pub const POOL_WEIGHT: usize = 6;
    /// `[D, C]`
    pub const FROM_WEIGHT: usize = 7;
    /// `[D]`
    pub const FROM_BIAS: usize = 8;
    /// To-squares and value features: `[D + V, C]`
    pub const TO_VALUE_WEIGHT: usize = 9;
    /// `[D + V]`
    pub const TO_VALUE_BIAS: usize = 10;
    /// `[K, 2V]`
    pub const VALUE_HIDDEN_WEIGHT: usize = 11;
    /// `[K]`
    pub const VALUE_HIDDEN_BIAS: usize = 12;
    /// Win, draw, loss; margin; stop, pass; four queries: `[3 + 1 + 2 + 4D, K]`
    pub const LAST_WEIGHT: usize = 13;
    /// `[3 + 1 + 2 + 4D]`
    pub const LAST_BIAS: usize = 14;
    /// Of the means by size: `[M, C, C]`
    pub const POOL_SIZE_WEIGHT: usize = 15;
    /// Of the means by size: `[K, V]`
    pub const VALUE_SIZE_WEIGHT: usize = 16;
    /// `[E, R]`
    pub const RULES_EMBEDDING: usize = 17;
    /// `[C, E]`
    pub const RULES_STEM: usize = 18;
    /// `[2N, 2, C, E]`: scales, then shifts
    pub const RULES_TRUNK: usize = 19;
    /// The first that only training has. Survival; from-squares and to-squares of the opponent's policy: `[1 + 2D, C]`
    pub const TRAINING_SQUARES_WEIGHT: usize = 20;
    /// `[1 + 2D]`
    pub const TRAINING_SQUARES_BIAS: usize = 21;
    /// Moves left; stop, pass and four queries of the opponent's policy: `[1 + 2 + 4D, K]`
    pub const TRAINING_LAST_WEIGHT: usize = 22;
    /// `[1 + 2 + 4D]`
    pub const TRAINING_LAST_BIAS: usize = 23;
}

impl ParameterLayout {
    /// Returns the layout of a network in training: the parameters for play, then those of the heads that only training
    /// has.
    #[must_use]
    pub fn for_training(config: &NetworkConfig) -> ParameterLayout {
        let mut layout = ParameterLayout::new(config);
        let (channels, keys, hidden) = (config.channels, config.policy_channels, config.value_hidden);
        let head = (1.0 / channels as f64).sqrt();
        let weights = [
            ("training.survival.weight", [1, channels], Start::Normal(0.3 * head)),
            ("training.opponent_policy.from.weight", [keys, channels], Start::Normal(0.3 * head)),
            ("training.opponent_policy.to.weight", [keys, channels], Start::Normal(head)),
        ];
        layout.add_group(true, weights);
        let biases = [
            ("training.survival.bias", [1], Start::Zero),
            ("training.opponent_policy.from.bias", [keys], Start::Zero),
            ("training.opponent_policy.to.bias", [keys], Start::Zero),
        ];
        layout.add_group(false, biases);
        let last = Start::Normal(0.3 * (1.0 / hidden as f64).sqrt());
        let weights = [
            ("training.moves_left.weight", [1, hidden], last),
            ("training.opponent_policy.stop_pass.weight", [2, hidden], last),
            ("training.opponent_policy.queries.weight", [4 * keys, hidden], last),
        ];
        layout.add_group(true, weights);
        let biases = [
            // A game has about fifty more turns.
            ("training.moves_left.bias", [1], Start::Constant(4.0)),
            ("training.opponent_policy.stop_pass.bias", [2], Start::Zero),
            ("training.opponent_policy.queries.bias", [4 * keys], Start::Zero),
        ];
        layout.add_group(false, biases);
        layout
    }

    /// Returns the layout of a network for play.
    #[must_use]
    pub fn new(config: &NetworkConfig) -> ParameterLayout {
        let mut layout = ParameterLayout { parameters: Vec::new(), group_lens: Vec::new() };
        let channels = config.channels;
        let convolutions = || {
            let halves = |block| (1..=2).map(move |half| (format!("blocks.{block}.conv{half}"), half));
            (0..config.blocks).flat_map(halves)
        };
        let pooled = || (0..config.blocks).filter(|&block| config.is_pooled(block));

        // Inputs are sparse zeros and ones: a tenth or so are ones.
        let stem = 2.0 * (2.0 / (9.0 * PLANES.len() as f64)).sqrt();
        layout.add_group(true, [("stem.weight", [channels, 3, 3, PLANES.len()], Start::Normal(stem))]);
        layout.add_group(false, [("stem.bias", [channels], Start::Zero)]);
        let scalars = 0.5 * (1.0 / SCALARS.len() as f64).sqrt();
        layout.add_group(true, [("stem.scalars.weight", [channels, SCALARS.len()], Start::Normal(scalars))]);

        let trunk = Start::Normal((2.0 / (9.0 * channels as f64)).sqrt());
        let weight = |(name, _)| (format!("{name}.weight"), [channels, 3, 3, channels], trunk);
        layout.add_group(true, convolutions().map(weight));
        // The factor keeps the variance through a ReLU (Brock et al. 2021, section 3); with a second gain of zero
        // every block starts as the identity.
        let gain = |half| if half == 1 { Start::Constant(1.7128585) } else { Start::Zero };
        layout.add_group(false, convolutions().map(|(name, half)| (format!("{name}.gain"), [channels], gain(half))));
        layout.add_group(false, convolutions().map(|(name, _)| (format!("{name}.bias"), [channels], Start::Zero)));

        let weight = |block| (format!("blocks.{block}.global.weight"), [channels, 2 * channels], Start::Zero);
        layout.add_group(true, pooled().map(weight));

        let (keys, features) = (config.policy_channels, config.value_channels);
        let head = (1.0 / channels as f64).sqrt();
        layout.add_group(true, [("policy.from.weight", [keys, channels], Start::Normal(0.3 * head))]);
        layout.add_group(false, [("policy.from.bias", [keys], Start::Zero)]);
        let to = ("policy.to.weight", [keys, channels], Start::Normal(head));
        layout.add_group(true, [to, ("value.features.weight", [features, channels], Start::Normal(1.4 * head))]);
        let to = ("policy.to.bias", [keys], Start::Zero);
        layout.add_group(false, [to, ("value.features.bias", [features], Start::Zero)]);

        let hidden = config.value_hidden;
        let summary = Start::Normal((1.0 / features as f64).sqrt());
        layout.add_group(true, [("value.hidden.weight", [hidden, 2 * features], summary)]);
        layout.add_group(false, [("value.hidden.bias", [hidden], Start::Zero)]);
        let outputs =
            [("value.win_draw_loss", 3), ("value.margin", 1), ("policy.stop_pass", 2), ("policy.queries", 4 * keys)];
        let last = Start::Normal(0.3 * (1.0 / hidden as f64).sqrt());
        layout.add_group(true, outputs.map(|(name, len)| (format!("{name}.weight"), [len, hidden], last)));
        layout.add_group(false, outputs.map(|(name, len)| (format!("{name}.bias"), [len], Start::Zero)));

        let weight = |block| (format!("blocks.{block}.global.size.weight"), [channels, channels], Start::Zero);
        layout.add_group(true, pooled().map(weight));
        layout.add_group(true, [("value.hidden.size.weight", [hidden, features], Start::Zero)]);

        // The embedding is 0 at first and has a gradient, because what reads it is not 0.
        layout.add_group(false, [(RULE_WEIGHTS, [RULE_EMBEDDING, rule_inputs::count()], Start::Zero)]);
        let reader = Start::Normal(0.3 * (1.0 / RULE_EMBEDDING as f64).sqrt());
        layout.add_group(true, [("stem.rules.weight", [channels, RULE_EMBEDDING], reader)]);
        let weight = |(name, _)| (format!("{name}.rules.weight"), [2 * channels, RULE_EMBEDDING], reader);
        layout.add_group(true, convolutions().map(weight));
        layout
    }

    /// Adds parameters that follow one another and are computed on together.
    fn add_group<N: Into<String>, const D: usize>(
        &mut self,
        decays: bool,
        parameters: impl IntoIterator<Item = (N, [usize; D], Start)>,
    ) {
        let begin = self.len();
        let mut offset = begin;
        for (name, shape, start) in parameters {
            let shape = shape.iter().map(|&len| len as i64).collect();
            let parameter = Parameter { name: name.into(), shape, offset, decays, start };
            offset += parameter.len();
            self.parameters.push(parameter);
        }
        self.group_lens.push(offset - begin);
    }

    /// Returns the number of all entries.
    #[allow(clippy::len_without_is_empty, reason = "no network is empty")]
    #[must_use]
    pub fn len(&self) -> i64 {
        self.group_lens.iter().sum()
    }

    /// Returns the initial vector `[len]`; the same for the same seed on every machine.
    #[must_use]
    pub fn start_values(&self, seed: u64) -> Vec<f32> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut values = Vec::with_capacity(usize::try_from(self.len()).unwrap_or(0));
        for parameter in &self.parameters {
            for _ in 0..parameter.len() {
                values.push(match parameter.start {
                    Start::Zero => 0.0,
                    Start::Constant(value) => value,
                    Start::Normal(deviation) => {
                        let normal: f64 = StandardNormal.sample(&mut rng);
                        (normal * deviation) as f32
                    }
                });
            }
        }
        values
    }

    /// Cuts a vector `[len]` into the tensors by name.
    pub fn tensors(&self, vector: &[f32]) -> impl Iterator<Item = (&str, NamedTensor)> {
        self.parameters.iter().map(|parameter| {
            let begin = parameter.offset as usize;
            let values = vector[begin..begin + parameter.len() as usize].to_vec();
            (parameter.name.as_str(), NamedTensor { shape: parameter.lengths().collect(), values })
        })
    }

    /// Returns a vector `[len]`: 1 where weight decay applies, else 0.
    #[must_use]
    pub fn decay_mask(&self) -> Vec<f32> {
        let mut mask = Vec::with_capacity(usize::try_from(self.len()).unwrap_or(0));
        for parameter in &self.parameters {
            let value = if parameter.decays { 1.0 } else { 0.0 };
            mask.extend((0..parameter.len()).map(|_| value));
        }
        mask
    }
}

//! The size of a network: what its training, its inference without libtorch and its files agree on.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::ranges::{Range, faults};

/// How a block gets information about the whole board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pooling {
    /// Not at all: each block adds two squares to what a square depends on.
    None,
    /// Mean and maximum of every channel over the board become a bias of every channel.
    /// Source: Wu 2019, "Accelerating Self-Play Learning in Go", section 3.3 (all channels here).
    #[default]
    GlobalBias,
}

/// Length of the embedding of a ruleset, from which a scale and a shift of each channel of every convolution in a block are
/// made; for a known ruleset they are folded into the convolutions.
/// Source: Perez et al. 2018, "FiLM: Visual Reasoning with a General Conditioning Layer".
pub const RULE_EMBEDDING: usize = 32;

/// Returns the factor by which the means over a board of `area` squares are multiplied for the weights that know the
/// board's size: 0 for 9x9, -0.25 for 8x8, 0.75 for 12x12.
/// Source: Wu 2019, "Accelerating Self-Play Learning in Go", section 3.3 (there by the width of the board).
#[must_use]
pub fn size_factor(area: usize) -> f32 {
    ((area as f64).sqrt() as f32 - SIZE_CENTRE) * SIZE_STEP
}

/// The root of the area that [`size_factor`] takes as the middle, and the change of the factor with that root.
pub const SIZE_CENTRE: f32 = 9.0;
/// See [`SIZE_CENTRE`].
pub const SIZE_STEP: f32 = 0.25;

/// The size of a network. It has no board: the same weights play on every one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkConfig {
    /// Residual blocks of two 3x3 convolutions each; 1 to 64.
    pub blocks: usize,
    /// Channels of the trunk; 8 to 1024, a multiple of 8.
    pub channels: usize,
    /// How blocks learn about the whole board.
    pub pooling: Pooling,
    /// Every how many blocks one learns about the whole board; at least 1.
    pub pooling_every: usize,
    /// Length of the queries and keys from which the move map is made; 4 to 256.
    pub policy_channels: usize,
    /// Channels that are pooled for the value; 4 to 256.
    pub value_channels: usize,
    /// Width of the hidden layer behind them; 4 to 1024.
    pub value_hidden: usize,
}

impl Default for NetworkConfig {
    /// A network for two processor cores.
    fn default() -> Self {
        NetworkConfig {
            blocks: 4,
            channels: 32,
            pooling: Pooling::GlobalBias,
            pooling_every: 2,
            policy_channels: 16,
            value_channels: 16,
            value_hidden: 64,
        }
    }
}

impl NetworkConfig {
    /// Returns every reason why there is no network of these sizes; empty when there is one.
    #[must_use]
    pub fn validate(&self) -> Vec<String> {
        let mut reasons = faults([
            ("blocks", self.blocks as f64, Range::Whole(1, 64)),
            ("channels", self.channels as f64, Range::Whole(8, 1024)),
            ("pooling_every", self.pooling_every as f64, Range::Whole(1, 64)),
            ("policy_channels", self.policy_channels as f64, Range::Whole(4, 256)),
            ("value_channels", self.value_channels as f64, Range::Whole(4, 256)),
            ("value_hidden", self.value_hidden as f64, Range::Whole(4, 1024)),
        ]);
        if !self.channels.is_multiple_of(8) {
            reasons.push(format!("channels = {} must be a multiple of 8", self.channels));
        }
        reasons
    }

    /// Checks the sizes.
    pub fn check(&self) -> Result<(), Error> {
        let reasons = self.validate();
        if reasons.is_empty() {
            return Ok(());
        }
        Err(Error(format!("the network cannot be built: {}", reasons.join("; "))))
    }

    /// Tells whether block `index`, from 0, pools over the board.
    #[must_use]
    pub fn is_pooled(&self, index: usize) -> bool {
        self.pooling != Pooling::None && (index + 1).is_multiple_of(self.pooling_every)
    }
}

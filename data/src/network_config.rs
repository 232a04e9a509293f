//! The size of a network: what its training, its inference without libtorch and its files agree on.

use serde::{Deserialize, Serialize};

use crate::features::Shape;

/// How a block gets information about the whole board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pooling {
    /// Not at all: each block adds two squares to what a square depends on.
    None,
    /// Mean and maximum of every channel over the board become a bias of every channel.
    ///
    /// Source: Wu 2019, "Accelerating Self-Play Learning in Go", section 3.3 (all channels here).
    #[default]
    GlobalBias,
    /// The means over the board become a factor and a bias of every channel.
    ///
    /// Source: Hu et al. 2018, "Squeeze-and-Excitation Networks", with a bias as Leela Chess Zero has it.
    SqueezeExcitation,
}

/// The size of a network, apart from its inputs ([`Shape`]).
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
    /// Returns every reason why there is no network of these sizes for `shape`; empty when there is one.
    #[must_use]
    pub fn validate(&self, shape: &Shape) -> Vec<String> {
        let mut reasons = Vec::new();
        let mut range = |name: &str, value: usize, least: usize, most: usize| {
            if !(least..=most).contains(&value) {
                reasons.push(format!("{name} = {value} must be {least} to {most}"));
            }
        };
        range("blocks", self.blocks, 1, 64);
        range("channels", self.channels, 8, 1024);
        range("pooling_every", self.pooling_every, 1, 64);
        range("policy_channels", self.policy_channels, 4, 256);
        range("value_channels", self.value_channels, 4, 256);
        range("value_hidden", self.value_hidden, 4, 1024);
        range("files", shape.files, 2, 16);
        range("ranks", shape.ranks, 2, 16);
        range("planes", shape.planes, 1, 1024);
        range("scalars", shape.scalars, 0, 1024);
        if !self.channels.is_multiple_of(8) {
            reasons.push(format!("channels = {} must be a multiple of 8", self.channels));
        }
        reasons
    }

    /// Tells whether block `index`, from 0, pools over the board.
    #[must_use]
    pub fn is_pooled(&self, index: usize) -> bool {
        self.pooling != Pooling::None && (index + 1).is_multiple_of(self.pooling_every)
    }

    /// Returns the number of channels between squeeze and excitation.
    #[must_use]
    pub fn squeezed_channels(&self) -> usize {
        (self.channels / 4).max(1)
    }
}

//! Networks in play: what computes them.
//!
//! On the processor the fused kernels of `latrunculi-infer` do ([`Processor`]). A program with libtorch has a
//! [`NetworkLoader`] for GPUs too.

use latrunculi_data::{ModelInfo, NetworkConfig, Precision, StoredModel};
use latrunculi_engine::GameState;
use latrunculi_infer::{InferenceEvaluator, InferenceModel, Kernel, Unit};
use latrunculi_search::Evaluator;

use crate::error::Error;

/// Evaluates positions of any ruleset for search, a batch of one at a time. Each thread has its own.
pub type PlayEvaluator = Box<dyn Evaluator<GameState> + Send>;

/// A network on what computes it.
pub trait PlayNetwork {
    /// Returns `wanted`, or where that is `auto` the precision that is the fastest on the hardware.
    fn precision(&self, wanted: Precision) -> Precision;

    /// Returns the name of what computes the network in `precision`, which is not `auto`: games repeat exactly only with
    /// the same.
    fn kernel(&self, precision: Precision) -> String;

    /// Makes `count` evaluators in `precision`, which is not `auto`.
    ///
    /// # Errors
    /// When the hardware cannot compute in it or has no room.
    fn evaluators(&self, count: usize, precision: Precision) -> Result<Vec<PlayEvaluator>, Error>;
}

/// A model that was loaded to play.
pub struct LoadedNetwork {
    /// What its file says about it.
    pub info: ModelInfo,
    /// The size of the network.
    pub config: NetworkConfig,
    /// A checksum of its weights ([`StoredModel::fingerprint`]).
    pub fingerprint: String,
    /// The network.
    pub network: Box<dyn PlayNetwork>,
}

/// Where networks are computed: a model becomes a network there.
pub trait NetworkLoader: Send + Sync {
    /// Makes the network of a model ready.
    ///
    /// # Errors
    /// When a weight is not finite, or the device has no room.
    fn network(&self, model: &StoredModel) -> Result<Box<dyn PlayNetwork>, Error>;
}

/// Computes networks on the processor, without libtorch.
#[derive(Clone, Copy, Debug)]
pub struct Processor;

impl NetworkLoader for Processor {
    fn network(&self, model: &StoredModel) -> Result<Box<dyn PlayNetwork>, Error> {
        let tensors = model.tensors.clone();
        let fused = InferenceModel::from_tensors(&model.config, tensors)?;
        Ok(Box::new(FusedNetwork { model: fused, fastest: FusedNetwork::fastest(&model.config) }))
    }
}

/// A network on the fused kernels.
#[derive(Clone, Debug)]
pub struct FusedNetwork {
    /// The network's weights.
    pub model: InferenceModel,
    /// The precision of the fastest kernel for it ([`FusedNetwork::fastest`]).
    pub fastest: Precision,
}

/// From so many channels on 8 bits take about half the time of 16 bits. With 32 channels both take as long, and 16 bits are
/// closer to 32 (docs/results.md, "Speed").
const INT8_CHANNELS_MIN: usize = 48;

impl FusedNetwork {
    /// Returns the precision of the fastest kernel that this processor has for a network of this size.
    #[must_use]
    pub fn fastest(config: &NetworkConfig) -> Precision {
        match Unit::best().is_available() {
            false => Precision::F32,
            true if config.channels < INT8_CHANNELS_MIN => Precision::Bf16,
            true => Precision::Int8,
        }
    }

    /// Returns the kernel that computes in `precision`, which is not `auto`.
    #[must_use]
    pub fn kernel_of(precision: Precision) -> Kernel {
        match precision {
            Precision::Int8 => Kernel::Int8(Unit::best()),
            Precision::Bf16 => Kernel::Bf16(Unit::best()),
            Precision::F32 | Precision::Auto => Kernel::F32,
        }
    }
}

impl PlayNetwork for FusedNetwork {
    fn precision(&self, wanted: Precision) -> Precision {
        match wanted {
            Precision::Auto => self.fastest,
            chosen => chosen,
        }
    }

    fn kernel(&self, precision: Precision) -> String {
        FusedNetwork::kernel_of(precision).name().to_owned()
    }

    fn evaluators(&self, count: usize, precision: Precision) -> Result<Vec<PlayEvaluator>, Error> {
        let networks = self.model.networks(FusedNetwork::kernel_of(precision))?;
        Ok((0..count).map(|_| -> PlayEvaluator { Box::new(InferenceEvaluator::new(&networks)) }).collect())
    }
}

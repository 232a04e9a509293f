//! Networks in play: what computes them.
//!
//! On the processor the fused kernels of `latrunculi-infer` do ([`Processor`]). A program with libtorch has a
//! [`NetworkLoader`] for GPUs too.

use std::num::NonZeroUsize;
use std::thread;

use latrunculi_data::{ModelInfo, NetworkConfig, Precision, StoredModel};
use latrunculi_engine::{Action, GameState};
use latrunculi_infer::{InferenceEvaluator, InferenceModel, Kernel, Unit};
use latrunculi_search::{EvalError, Evaluation, Evaluator};
use rayon::prelude::*;

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

    /// Makes one evaluator in `precision`, which is not `auto`, for a thread that alone has positions to evaluate: on the
    /// processor the threads of the rayon pool that it is called in share its batches.
    ///
    /// # Errors
    /// As [`PlayNetwork::evaluators`].
    fn lone_evaluator(&self, precision: Precision) -> Result<PlayEvaluator, Error> {
        Ok(self.evaluators(1, precision)?.remove(0))
    }
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
        let model = InferenceModel::from_tensors(&model.config, model.info.clone(), tensors)?;
        Ok(Box::new(FusedNetwork(model)))
    }
}

/// A network on the fused kernels.
#[derive(Clone, Debug)]
pub struct FusedNetwork(pub InferenceModel);

impl FusedNetwork {
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
            Precision::Auto if Unit::best().is_available() => Precision::Int8,
            Precision::Auto => Precision::F32,
            chosen => chosen,
        }
    }

    fn kernel(&self, precision: Precision) -> String {
        FusedNetwork::kernel_of(precision).name().to_owned()
    }

    fn evaluators(&self, count: usize, precision: Precision) -> Result<Vec<PlayEvaluator>, Error> {
        let networks = self.0.networks(FusedNetwork::kernel_of(precision))?;
        Ok((0..count).map(|_| -> PlayEvaluator { Box::new(InferenceEvaluator::new(&networks)) }).collect())
    }

    fn lone_evaluator(&self, precision: Precision) -> Result<PlayEvaluator, Error> {
        let networks = self.0.networks(FusedNetwork::kernel_of(precision))?;
        let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        Ok(Box::new(SharedBatches { parts: (0..threads).map(|_| InferenceEvaluator::new(&networks)).collect() }))
    }
}

/// The fewest positions of a batch for which a second thread is worth waiting for.
const POSITIONS_PER_THREAD_MIN: usize = 2;

/// Evaluates batches on the threads of the rayon pool that it is called in, each with a part of the positions.
///
/// The answer for a position does not depend on the others of its batch, so the number of threads changes nothing.
struct SharedBatches {
    /// One for each thread.
    parts: Vec<InferenceEvaluator>,
}

impl Evaluator<GameState> for SharedBatches {
    fn evaluate(
        &mut self,
        games: &[&GameState],
        legal_actions: &[&[Action]],
        evaluations: &mut [Evaluation],
    ) -> Result<(), EvalError> {
        let parts = self.parts.len().min(games.len() / POSITIONS_PER_THREAD_MIN);
        if parts < 2 || rayon::current_num_threads() < 2 {
            return self.parts[0].evaluate(games, legal_actions, evaluations);
        }
        let size = games.len().div_ceil(parts.min(rayon::current_num_threads()));
        let batches = games.chunks(size).zip(legal_actions.chunks(size)).zip(evaluations.chunks_mut(size));
        let batches: Vec<_> = self.parts.iter_mut().zip(batches).collect();
        batches.into_par_iter().try_for_each(|(part, ((games, legal_actions), evaluations))| {
            part.evaluate(games, legal_actions, evaluations)
        })
    }
}

//! The network in play: on the fused kernels where they serve, else on libtorch.

use std::collections::BTreeMap;

use latrunculi_engine::GameState;
use latrunculi_infer::{InferenceEvaluator, InferenceModel, Kernel, NamedTensor};
use latrunculi_model::{Device, NetEvaluator, Network, Precision};
use latrunculi_search::Evaluator;

use crate::error::Error;

/// Evaluates positions of any ruleset for search, a batch of one at a time. Each thread has its own.
pub type PlayEvaluator = Box<dyn Evaluator<GameState> + Send>;

/// Returns the kernel that computes in a precision, which is not `auto`, on a device; `None` where libtorch computes.
#[must_use]
pub fn kernel(device: Device, precision: Precision) -> Option<Kernel> {
    let serves = precision == Precision::Bf16 && !device.is_gpu() && Kernel::Bf16Amx.is_available();
    serves.then_some(Kernel::Bf16Amx)
}

/// Returns the name of what computes a network in `precision`, which is not `auto`, on `device`: games repeat exactly
/// only with the same.
#[must_use]
pub fn kernel_name(device: Device, precision: Precision) -> String {
    kernel(device, precision).map_or_else(|| format!("libtorch-{precision}"), |kernel| kernel.name().to_owned())
}

/// Makes `count` evaluators of `network`; on a fused kernel they share its weights. `precision` is not `auto`.
///
/// # Errors
/// When the device has no room, or a weight is not finite.
pub fn evaluators(
    network: &Network,
    count: usize,
    device: Device,
    precision: Precision,
) -> Result<Vec<PlayEvaluator>, Error> {
    let Some(kernel) = kernel(device, precision) else {
        let evaluator = || -> PlayEvaluator { Box::new(NetEvaluator::new(network, device, precision)) };
        return Ok((0..count).map(|_| evaluator()).collect());
    };
    let networks = for_kernels(network)?.networks(kernel)?;
    Ok((0..count).map(|_| -> PlayEvaluator { Box::new(InferenceEvaluator::new(&networks)) }).collect())
}

/// Returns a network for the fused kernels.
///
/// # Errors
/// When a weight is not finite.
pub fn for_kernels(network: &Network) -> Result<InferenceModel, Error> {
    let tensors: BTreeMap<String, NamedTensor> =
        network.tensors()?.into_iter().map(|(name, shape, values)| (name, NamedTensor { shape, values })).collect();
    Ok(InferenceModel::from_tensors(network.config(), Default::default(), tensors)?)
}

/// Makes one evaluator, as [`evaluators`] does.
///
/// # Errors
/// As [`evaluators`].
pub fn evaluator(network: &Network, device: Device, precision: Precision) -> Result<PlayEvaluator, Error> {
    Ok(evaluators(network, 1, device, precision)?.remove(0))
}

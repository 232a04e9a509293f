//! The network in play: on the fused kernels where they serve, else on libtorch.

use std::collections::BTreeMap;
use std::sync::Arc;

use latrunculi_engine::{GameState, Rules};
use latrunculi_infer::{AnswerDifference, InferenceEvaluator, InferenceModel, Kernel, NamedTensor};
use latrunculi_model::{Device, NetEvaluator, Network, Precision, PrecisionChoice};
use latrunculi_search::Evaluator;

use crate::error::{Error, bail};

/// Evaluates positions of any ruleset for search, a batch of one at a time. Each thread has its own.
pub type PlayEvaluator = Box<dyn Evaluator<GameState> + Send>;

/// Returns the kernel that computes in a precision, which is not `auto`, on a device; `None` where libtorch computes.
#[must_use]
pub fn kernel(device: Device, precision: Precision) -> Option<Kernel> {
    let kernel = match precision {
        Precision::Int8 => Kernel::Int8Amx,
        Precision::Bf16 => Kernel::Bf16Amx,
        Precision::F32 | Precision::Auto => return None,
    };
    (!device.is_gpu() && kernel.is_available()).then_some(kernel)
}

/// Chooses the precision in which `network` plays on `device`: for `auto` the fastest whose answers agree with those in 32
/// bits on positions of games that the network plays by its own policy under `rules`. Nothing is timed, so the same
/// network on the same hardware gets the same precision.
///
/// # Errors
/// When int8 is asked for where it is not to be had, or the network cannot answer.
pub fn choose_precision(
    network: &Network,
    device: Device,
    wanted: Precision,
    rules: &Arc<Rules>,
) -> Result<PrecisionChoice, Error> {
    if wanted == Precision::Int8 && kernel(device, wanted).is_none() {
        bail!("precision int8 needs a processor with AMX, and no GPU; choose auto, bf16 or f32");
    }
    if wanted != Precision::Auto || kernel(device, Precision::Int8).is_none() {
        return Ok(latrunculi_model::choose_precision(network, device, wanted, rules)?);
    }
    let model = for_kernels(network)?;
    let mut choice = PrecisionChoice { precision: Precision::F32, difference: None };
    for (precision, kernel) in [(Precision::Int8, Kernel::Int8Amx), (Precision::Bf16, Kernel::Bf16Amx)] {
        let difference = AnswerDifference::of_kernel(&model, kernel, rules)?;
        choice.difference = Some(difference);
        if difference.is_small() {
            choice.precision = precision;
            break;
        }
    }
    Ok(choice)
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

//! A loaded model, arranged for a kernel, and a thread's own buffers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use latrunculi_data::{Error, NamedTensor, NetworkConfig, RulesetCache, Shape, rule_inputs};
use latrunculi_engine::Rules;

use crate::calibration;
use crate::kernel::Kernel;
use crate::native::tiled;
use crate::portable;
use crate::weights::Parameters;
use latrunculi_data::{Answers, PositionBatch};

/// What is said of weights whose answers are no numbers.
const NOT_FINITE: &str = "the network answered with something that is not a number: its weights are broken";

/// A network for every board and ruleset. Clones share the weights.
#[derive(Clone, Debug)]
pub struct InferenceModel {
    parameters: Arc<Parameters>,
}

impl InferenceModel {
    /// Makes a model of the tensors of a model file, by name.
    /// Fails when the description is out of range, or a tensor is missing, unknown, of another shape or not finite.
    pub fn from_tensors(
        config: &NetworkConfig,
        tensors: BTreeMap<String, NamedTensor>,
    ) -> Result<InferenceModel, Error> {
        Ok(InferenceModel { parameters: Arc::new(Parameters::new(config, tensors)?) })
    }

    #[cfg(test)]
    pub(crate) fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Folds `rules` into the weights and arranges them for `kernel`.
    /// `calibration` is read by [`Kernel::Int8`] alone: some hundred positions of real games under these rules, from
    /// which it takes the scales of its activations. The answers depend on them.
    /// Fails when the kernel is not available here or the positions do not fit.
    pub fn network(
        &self,
        kernel: Kernel,
        rules: &Rules,
        calibration: &PositionBatch,
    ) -> Result<InferenceNetwork, Error> {
        self.specialised(kernel, &Shape::of(rules), &rule_inputs::of(rules.ruleset()), calibration)
    }

    /// As [`InferenceModel::network`], for the numbers of a ruleset.
    pub(crate) fn specialised(
        &self,
        kernel: Kernel,
        shape: &Shape,
        rule_inputs: &[f32],
        calibration: &PositionBatch,
    ) -> Result<InferenceNetwork, Error> {
        kernel.check_available()?;
        let weights = self.parameters.specialised(shape, rule_inputs);
        let packed = match kernel {
            Kernel::F32 => Packed::F32(portable::Network::new(&weights)),
            Kernel::Bf16(unit) => Packed::Bf16(tiled::Bf16Network::new(&weights, unit)),
            Kernel::Int8(unit) => {
                if calibration.is_empty() {
                    let reason = "takes its scales from positions of the ruleset, and none were given";
                    return Err(Error(format!("the kernel '{}' {reason}", kernel.name())));
                }
                let misfit = |error| Error(format!("the positions for the scales do not fit: {error}"));
                calibration.check(shape).map_err(misfit)?;
                Packed::Int8(tiled::Int8Network::new(&weights, calibration, unit))
            }
        };
        Ok(InferenceNetwork { shape: *shape, packed: Arc::new(packed) })
    }

    /// Returns networks for any ruleset.
    pub fn networks(&self, kernel: Kernel) -> Result<RulesetNetworks, Error> {
        kernel.check_available()?;
        Ok(RulesetNetworks { model: self.clone(), kernel, ready: Arc::default() })
    }
}

/// One model's networks for rulesets on one kernel, each arranged on first use. Clones share them.
#[derive(Clone, Debug)]
pub struct RulesetNetworks {
    model: InferenceModel,
    pub(crate) kernel: Kernel,
    ready: Arc<Mutex<RulesetCache<InferenceNetwork>>>,
}

impl RulesetNetworks {
    /// Returns the network for these rules. One of 8 bits takes the scales of its activations from games that it plays by
    /// its own policy, so that they depend on weights and rules alone.
    /// Fails when the weights are broken.
    pub fn get(&self, rules: &Arc<Rules>) -> Result<InferenceNetwork, Error> {
        if let Some(network) = self.lock().get(rules) {
            return Ok(network.clone());
        }
        // Made outside the lock: two threads that need it at once both make the same.
        let positions = match self.kernel {
            Kernel::Int8(unit) => {
                let exact = self.model.network(Kernel::Bf16(unit), rules, &PositionBatch::default())?;
                calibration::positions(&mut exact.session(), rules)?
            }
            Kernel::F32 | Kernel::Bf16(_) => PositionBatch::default(),
        };
        let network = self.model.network(self.kernel, rules, &positions)?;
        self.lock().insert(rules, network.clone());
        Ok(network)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, RulesetCache<InferenceNetwork>> {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
enum Packed {
    F32(portable::Network),
    Bf16(tiled::Bf16Network),
    Int8(tiled::Int8Network),
}

#[derive(Debug)]
enum Buffers {
    F32(portable::Buffers),
    Bf16(tiled::Bf16Buffers),
    Int8(tiled::Int8Buffers),
}

/// A network for one ruleset, arranged for one kernel. Clones share the weights; each evaluating thread makes a [`Session`] of its own.
#[derive(Clone, Debug)]
pub struct InferenceNetwork {
    shape: Shape,
    packed: Arc<Packed>,
}

impl InferenceNetwork {
    /// Makes the buffers of one thread.
    #[must_use]
    pub fn session(&self) -> Session {
        let buffers = match &*self.packed {
            Packed::F32(network) => Buffers::F32(network.buffers()),
            Packed::Bf16(network) => Buffers::Bf16(network.buffers()),
            Packed::Int8(network) => Buffers::Int8(network.buffers()),
        };
        Session { network: self.clone(), buffers }
    }
}

/// A network together with the buffers of one thread.
#[derive(Debug)]
pub struct Session {
    network: InferenceNetwork,
    buffers: Buffers,
}

impl Session {
    /// Answers a batch of any size; `answers` is overwritten. The answer to a position does not depend on the others.
    pub fn answer(&mut self, batch: &PositionBatch, answers: &mut Answers) -> Result<(), Error> {
        answers.clear();
        batch.check(&self.network.shape)?;
        match (&*self.network.packed, &mut self.buffers) {
            (Packed::F32(network), Buffers::F32(buffers)) => network.answer(batch, buffers, answers),
            (Packed::Bf16(network), Buffers::Bf16(buffers)) => network.answer(batch, buffers, answers),
            (Packed::Int8(network), Buffers::Int8(buffers)) => network.answer(batch, buffers, answers),
            _ => unreachable!("a session's buffers are those of its network"),
        }
        let finite = |values: &[f32]| values.iter().all(|value| value.is_finite());
        if finite(&answers.logits) && finite(answers.win_draw_loss.as_flattened()) && finite(&answers.margin) {
            Ok(())
        } else {
            Err(Error(NOT_FINITE.to_owned()))
        }
    }
}

//! A model file in, answers out: the network on the processor, without libtorch.
//!
//! An [`InferenceModel`] is made of the tensors of a file, [`InferenceModel::network`] arranges the weights for a ruleset
//! and a [`Kernel`], and each evaluating thread makes a [`Session`] of that; or an [`InferenceEvaluator`] of
//! [`RulesetNetworks`], which answers any ruleset. Which kernels there are is asked of the processor at run time. All
//! compute the same network, each with its own rounding; `reference.rs` is the definition that the tests hold them to.

mod batch;
mod calibration;
mod evaluator;
mod heads;
mod kernel;
mod model;
mod native;
pub mod policy;
mod portable;
mod products;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod symmetry;
#[cfg(test)]
mod tests;
mod training;
mod weights;
mod winograd;

pub use batch::{Answers, PositionBatch};
pub use evaluator::InferenceEvaluator;
pub use kernel::{GROUP, Kernel, Unit};
pub use model::{InferenceModel, InferenceNetwork, RulesetNetworks, Session};
pub use training::{GradientKernel, LossWeights, Losses, PARTS, Sharing, TrainingWeights};

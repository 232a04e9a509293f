//! A model file in, answers out, without libtorch: an [`InferenceModel`] gives an [`InferenceNetwork`] for a ruleset and a
//! [`Kernel`], that a [`Session`] for each thread. `reference.rs` is the definition that the tests hold all kernels to.

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
mod tests;
mod training;
mod weights;
mod winograd;

pub use evaluator::{EvaluationBuffers, InferenceEvaluator};
pub use kernel::{GROUP, Kernel, Unit};
pub use model::{InferenceModel, InferenceNetwork, RulesetNetworks, Session};
pub use training::{BatchGradient, GradientKernel, LossWeights, Losses, PARTS, Sharing, TrainingWeights};

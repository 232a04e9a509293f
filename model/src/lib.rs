//! The policy/value network on libtorch: inference, training step, checkpoint, export. The only crate that uses libtorch
//! (`tch`); its interface is plain vectors.

mod actions;
pub mod device;
pub mod error;
pub mod evaluator;
pub mod export;
mod files;
mod graph;
pub mod inference;
pub mod model_file;
pub mod network;
mod runner;
#[cfg(test)]
mod testing;
pub mod training;
mod weights;

#[cfg(test)]
mod infer_tests;
#[cfg(test)]
mod tests;

pub use device::Device;
pub use error::{Error, TrainError};
pub use evaluator::NetEvaluator;
pub use export::{ExportReport, ExportSample};
pub use inference::InferenceNetwork;
pub use model_file::Model;
pub use network::Network;
pub use training::Trainer;

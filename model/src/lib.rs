//! The policy/value network on libtorch: inference, training step, checkpoint, export.
//!
//! This is the only crate that uses libtorch (`tch`); its interface is plain vectors.

mod actions;
pub mod device;
pub mod error;
pub mod evaluator;
pub mod export;
mod files;
mod graph;
pub mod inference;
mod layout;
pub mod model_file;
pub mod network;
pub mod precision;
mod runner;
#[doc(hidden)]
pub mod testing;
pub mod training;
mod weights;

#[cfg(test)]
mod infer_tests;
#[cfg(test)]
mod tests;

pub use device::{Device, DeviceChoice};
pub use error::{DeviceError, FileError, InferenceError, NetworkError, TorchError, TrainError};
pub use evaluator::NetEvaluator;
pub use export::{ExportFormat, ExportReport, ExportSample, read_exported, verify_check_data};
pub use files::TensorFileHeader;
pub use inference::{Answers, InferenceNetwork};
pub use model_file::{MeasuredMargin, Measurement, Model, ModelHistory, ModelInfo};
pub use network::Network;
pub use precision::{Precision, PrecisionChoice, choose_precision};
pub use training::{StepReport, Trainer, TrainingConfig, TrainingCounters};

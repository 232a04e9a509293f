//! The policy/value network on libtorch: inference, training step, checkpoint, export.
//!
//! This is the only crate that names libtorch (`tch`); what it takes and gives are plain vectors.

mod actions;
pub mod config;
pub mod device;
pub mod encoding;
pub mod error;
pub mod evaluator;
pub mod export;
mod files;
mod graph;
pub mod inference;
mod layout;
pub mod model_file;
pub mod network;
#[doc(hidden)]
pub mod testing;
pub mod training;

#[cfg(test)]
mod tests;

pub use config::{NetworkConfig, Pooling};
pub use device::{Device, DeviceChoice};
pub use encoding::{EncodedBatch, EncodedPositions, EncodingNames};
pub use error::{BatchError, DeviceError, FileError, InferenceError, NetworkError, TorchError, TrainError};
pub use evaluator::NetEvaluator;
pub use export::{ExportFormat, ExportReport, ExportSample, read_exported, verify_check_data};
pub use files::TensorFileHeader;
pub use inference::{Answers, InferenceNetwork, Precision, PrecisionMeasurement};
pub use model_file::{MeasuredMargin, Measurement, Model, ModelHistory, ModelInfo};
pub use network::Network;
pub use training::{StepReport, Trainer, TrainingConfig, TrainingCounters, TrainingPrecision};

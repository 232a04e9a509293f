//! Error types, one per operation.

use std::path::PathBuf;

use latrunculi_data::{BatchError, TensorFileError};

/// A message of libtorch, its first line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TorchError(String);

impl TorchError {
    /// An error that this crate found around a call of libtorch.
    pub(crate) fn other(message: String) -> Self {
        TorchError(message)
    }
}

impl From<tch::TchError> for TorchError {
    fn from(error: tch::TchError) -> Self {
        let text = error.to_string();
        TorchError(format!("libtorch: {}", text.lines().next().unwrap_or_default().trim()))
    }
}

/// Why a device cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DeviceError {
    /// libtorch's CUDA library cannot be loaded.
    #[error(
        "libtorch's CUDA library for GPUs cannot be loaded ({0}): run scripts/setup-libtorch --cuda, or set LD_LIBRARY_PATH \
         to the folder torch/lib of a PyTorch 2.11.0"
    )]
    Library(String),
    /// There is no GPU that libtorch can use.
    #[error("libtorch finds no usable GPU: check the driver with nvidia-smi, or ask for the device cpu")]
    NoGpu,
    /// There are fewer GPUs.
    #[error("device cuda:{asked} was asked for and the machine has {there} (numbered from 0)")]
    NoSuchGpu {
        /// The number asked for.
        asked: usize,
        /// How many there are.
        there: usize,
    },
}

/// Why a network cannot be made as described.
#[derive(Debug, thiserror::Error)]
pub enum NetworkError {
    /// The description is out of range, every reason named.
    #[error("the network cannot be built: {}", .0.join("; "))]
    Config(Vec<String>),
    /// libtorch failed.
    #[error(transparent)]
    Torch(#[from] TorchError),
}

impl From<tch::TchError> for NetworkError {
    fn from(error: tch::TchError) -> Self {
        NetworkError::Torch(error.into())
    }
}

/// Why a network gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum InferenceError {
    /// The batch does not fit.
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// The answer is not a number: the weights are broken.
    #[error("the network answered with something that is not a number: its weights are broken")]
    NotFinite,
    /// libtorch failed.
    #[error(transparent)]
    Torch(#[from] TorchError),
}

impl From<tch::TchError> for InferenceError {
    fn from(error: tch::TchError) -> Self {
        InferenceError::Torch(error.into())
    }
}

/// Why a training step was not made. The weights are as before it.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// The batch does not fit.
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// The settings are out of range, every reason named.
    #[error("the training cannot be set up: {}", .0.join("; "))]
    Config(Vec<String>),
    /// A loss or a gradient is no longer a number.
    #[error("step {step}: the {what} is not a number; the weights were left as they were")]
    NotFinite {
        /// The step, from 0.
        step: u64,
        /// What is not a number.
        what: &'static str,
    },
    /// libtorch failed.
    #[error(transparent)]
    Torch(#[from] TorchError),
}

impl From<tch::TchError> for TrainError {
    fn from(error: tch::TchError) -> Self {
        TrainError::Torch(error.into())
    }
}

/// Why a file could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It cannot be written, or something is wrong with it.
    #[error(transparent)]
    File(#[from] TensorFileError),
    /// The network it describes cannot be made.
    #[error("{path}: {source}", path = .path.display())]
    Network {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: NetworkError,
    },
    /// There is a file already.
    #[error("{path}: there is a file already; --overwrite replaces it", path = .path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// What was written and read back does not answer as the network does.
    #[error("{path}: read back, it differs from the network by {difference} in '{output}' (allowed: {allowed}); it was not kept", path = .path.display())]
    Disagrees {
        /// The file.
        path: PathBuf,
        /// The output that differs.
        output: &'static str,
        /// By how much at most.
        difference: f64,
        /// What is allowed.
        allowed: f64,
    },
    /// libtorch failed.
    #[error("{path}: {source}", path = .path.display())]
    Torch {
        /// The file.
        path: PathBuf,
        /// Its message.
        source: TorchError,
    },
}

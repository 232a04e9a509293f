//! Error types, one per operation.

use std::path::PathBuf;

use latrunculi_data::BatchError;

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
    /// The text is not a device.
    #[error("unknown device '{0}' (known: auto, cpu, cuda, cuda:N)")]
    Unknown(String),
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
    /// The system refused.
    #[error("{path}: {attempt}: {source}", path = .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was being done.
        attempt: &'static str,
        /// The system's answer.
        source: std::io::Error,
    },
    /// It is not a safetensors file, or it is cut off.
    #[error("{path}: not a safetensors file, or cut off: {reason}; copy or make it again", path = .path.display())]
    NotSafetensors {
        /// The file.
        path: PathBuf,
        /// What was found.
        reason: String,
    },
    /// It is a safetensors file, but not one of ours of this kind.
    #[error("{path}: not a {expected}: {reason}", path = .path.display())]
    OtherKind {
        /// The file.
        path: PathBuf,
        /// The kind of file that was expected.
        expected: &'static str,
        /// What was found.
        reason: String,
    },
    /// It was written in a format that this program does not read.
    #[error("{path}: format version {found}, this program reads {known}; use the version of the program that wrote it", path = .path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Version of the file.
        found: String,
        /// Version that is read.
        known: u32,
    },
    /// It was written by an older version of the program, whose networks knew one board.
    #[error("{path}: {kind} of version {found}, this program reads {known}: networks of that version know one board and one ruleset; train anew, or use the version of the program that wrote it", path = .path.display())]
    Older {
        /// The file.
        path: PathBuf,
        /// The kind of file.
        kind: &'static str,
        /// Version of the file.
        found: u32,
        /// Version that is read.
        known: u32,
    },
    /// Its network sees positions in another way.
    #[error("{path}: its network was trained with another encoding of positions than this program has; use the version of the program that trained it, or train anew", path = .path.display())]
    Encoding {
        /// The file.
        path: PathBuf,
    },
    /// Its description is unreadable.
    #[error("{path}: the description in it is unreadable: {reason}", path = .path.display())]
    Metadata {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A tensor is missing, unknown or of another shape.
    #[error("{path}: tensor '{name}': {reason}", path = .path.display())]
    Tensor {
        /// The file.
        path: PathBuf,
        /// The tensor.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A tensor has an entry that is not a number.
    #[error("{path}: tensor '{name}' has an entry that is not a finite number: the training has broken down; use an earlier checkpoint", path = .path.display())]
    NotFinite {
        /// The file.
        path: PathBuf,
        /// The tensor.
        name: String,
    },
    /// The network it describes cannot be built.
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

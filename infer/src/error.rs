//! What can go wrong, one type per thing that is attempted.

use std::path::PathBuf;

use latrunculi_data::TensorFileError;

/// Why a model cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The description is out of range, every reason named.
    #[error("the network cannot be built: {}", .0.join("; "))]
    Config(Vec<String>),
    /// A tensor is missing, unknown or of another shape.
    #[error("tensor '{name}': {reason}")]
    Tensor {
        /// The tensor.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A tensor has an entry that is not a number.
    #[error(
        "tensor '{0}' has an entry that is not a finite number: the training has broken down; use an earlier checkpoint"
    )]
    NotFinite(String),
}

/// Why a model file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Something is wrong with the file.
    #[error(transparent)]
    File(#[from] TensorFileError),
    /// The network in it cannot be used.
    #[error("{path}: {source}", path = .path.display())]
    Model {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: ModelError,
    },
}

/// Why a network cannot be made ready for a kernel.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KernelError {
    /// The processor or the system does not have it.
    #[error("the kernel '{0}' cannot be used: this processor or system lacks what it needs (known here: {1})")]
    Unavailable(&'static str, String),
    /// The kernel takes its scales from real positions.
    #[error("the kernel '{0}' takes its scales from positions of the ruleset, and none were given")]
    NoCalibration(&'static str),
    /// The positions for the scales do not fit.
    #[error("the positions for the scales do not fit: {0}")]
    Calibration(#[from] BatchError),
    /// The games that the scales are taken from could not be played.
    #[error(transparent)]
    Answer(#[from] AnswerError),
}

/// Why a batch cannot be given to a network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BatchError {
    /// The board has another size, or positions are encoded in another way.
    #[error("the batch has the shape {batch} and the network {network}")]
    Shape {
        /// Shape of the batch.
        batch: String,
        /// Shape of the network.
        network: String,
    },
    /// A vector has the wrong length.
    #[error("'{name}' of the batch has {found} entries where {expected} are needed")]
    Length {
        /// The vector.
        name: &'static str,
        /// Its length.
        found: usize,
        /// The length it must have.
        expected: usize,
    },
    /// An index or offset lies outside.
    #[error("'{name}' of the batch has an entry that is out of range at {index}")]
    Range {
        /// The vector.
        name: &'static str,
        /// Where in it.
        index: usize,
    },
}

/// Why a network gave no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// The batch does not fit.
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// The answer is not a number: the weights are broken.
    #[error("the network answered with something that is not a number: its weights are broken")]
    NotFinite,
}

//! What can go wrong, one type per thing that is attempted.

use latrunculi_data::BatchError;

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

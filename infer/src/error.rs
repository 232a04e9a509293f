//! What can go wrong, one type per thing that is attempted.

use std::path::PathBuf;

/// Why a model cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The description is out of range, every reason named.
    #[error("the network cannot be built: {}", .0.join("; "))]
    Config(Vec<String>),
    /// The file was written in a format that this program does not read.
    #[error("format version {found}, this program reads {known}; use the version of the program that wrote it")]
    Version {
        /// Version of the file.
        found: String,
        /// Version that is read.
        known: u32,
    },
    /// The file was written by an older version of the program, whose networks knew one board.
    #[error(
        "a model of version {found}, this program reads {known}: networks of that version know one board and one ruleset; \
         train anew, or use the version of the program that wrote it"
    )]
    Older {
        /// Version of the file.
        found: u32,
        /// Version that is read.
        known: u32,
    },
    /// The network sees positions in another way.
    #[error(
        "its network was trained with another encoding of positions than this program has; use the version of the \
         program that trained it, or train a new one"
    )]
    Encoding,
    /// It is not a safetensors file, or it is cut off.
    #[error("not a safetensors file, or cut off: {0}; copy or make it again")]
    NotSafetensors(String),
    /// It is a safetensors file of another kind.
    #[error("not a latrunculi model: {0}")]
    OtherKind(String),
    /// The description in the file is unreadable.
    #[error("the description in it is unreadable: {0}")]
    Metadata(String),
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
    /// The system refused.
    #[error("reading it: {0}")]
    Io(std::io::Error),
}

/// Why a model file cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {source}", path = .path.display())]
pub struct LoadError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub source: ModelError,
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

//! What can be wrong with a batch and with a shard.

use std::path::PathBuf;

/// Why a batch cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BatchError {
    /// It was encoded for another board or by another encoding.
    #[error("the batch has the shape {batch} and the network {network}")]
    Shape {
        /// Shape of the batch.
        batch: String,
        /// Shape of the network.
        network: String,
    },
    /// Its positions are of another ruleset than those before, or than the network is made for.
    #[error("the batch is of another ruleset than the network was made ready for")]
    Ruleset,
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
    /// An entry is out of range.
    #[error("'{name}' of the batch has an entry that is out of range at {index}")]
    Range {
        /// The vector.
        name: &'static str,
        /// Index of the entry.
        index: usize,
    },
}

/// Why a shard could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum ShardError {
    /// Reading or writing failed.
    #[error("{path}: {attempt}: {source}", path = .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was being done.
        attempt: &'static str,
        /// The error of the system.
        source: std::io::Error,
    },
    /// It is no npz file, or it is incomplete or damaged.
    #[error("{path}: not a whole npz file: {reason}", path = .path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// What was found.
        reason: String,
    },
    /// An array is missing or invalid.
    #[error("{path}: array '{array}': {reason}", path = .path.display())]
    Array {
        /// The file.
        path: PathBuf,
        /// The array.
        array: String,
        /// What is wrong with it.
        reason: String,
    },
    /// It was written in a format that this program does not read.
    #[error("{path}: shard version {found}, this program reads {known}", path = .path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Version of the file.
        found: u32,
        /// Version that is read.
        known: u32,
    },
    /// Its positions have another shape.
    #[error("{path}: its positions have the shape {found} and {wanted} is wanted", path = .path.display())]
    Shape {
        /// The file.
        path: PathBuf,
        /// Shape of the file.
        found: String,
        /// Shape that is wanted.
        wanted: String,
    },
    /// It was played under other rules.
    #[error("{path}: it was played under the ruleset '{found}' and '{wanted}' is wanted, or a parameter differs", path = .path.display())]
    Ruleset {
        /// The file.
        path: PathBuf,
        /// Name of the file's ruleset.
        found: String,
        /// Name of the ruleset that is wanted.
        wanted: String,
    },
}

/// Why a model, a checkpoint or exported weights could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum TensorFileError {
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
    /// It was written by an older version of the program.
    #[error("{path}: {kind} of version {found}, this program reads {known}: files of that version name settings that are gone; train anew, or use the version of the program that wrote it", path = .path.display())]
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
    #[error("{path}: the network cannot be built: {}", .reasons.join("; "), path = .path.display())]
    Network {
        /// The file.
        path: PathBuf,
        /// Every value that is out of range.
        reasons: Vec<String>,
    },
    /// It is an exported file, but cut off, damaged, of another version or without a description.
    #[error("{path}: {reason}", path = .path.display())]
    Exported {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

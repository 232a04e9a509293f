//! Files of tensors. They are written atomically and checked when they are read.
//!
//! The format is safetensors: the length of the header (8 bytes, little end first), the header (JSON: name, type, shape
//! and offsets of each tensor, and metadata under `__metadata__`), the entries. Equal content gives equal files.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::error::TensorFileError;
use crate::files::write_atomically;

/// Metadata key of the kind of file.
const KIND_KEY: &str = "format";
/// Metadata key of the version of that kind.
const VERSION_KEY: &str = "format_version";
/// Metadata key of the checksum of all entries, CRC-32 in eight hexadecimal digits. Files of before have none.
const CHECKSUM_KEY: &str = "checksum";
/// Longest header that is read, in bytes.
const HEADER_BYTES_MAX: u64 = 16 << 20;

/// One tensor: its shape and its entries in the order of the shape.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedTensor {
    /// Length of each dimension.
    pub shape: Vec<usize>,
    /// The entries.
    pub values: Vec<f32>,
}

/// A kind of file of this program, and the version that is written and read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileKind {
    /// Its name, as `latrunculi model`.
    pub name: &'static str,
    /// The version.
    pub version: u32,
}

/// A model, which plays ([`crate::StoredModel`]).
pub const MODEL: FileKind = FileKind { name: "latrunculi model", version: 3 };
/// A checkpoint, from which a training goes on.
pub const CHECKPOINT: FileKind = FileKind { name: "latrunculi checkpoint", version: 4 };
/// Weights for other programs.
pub const WEIGHTS: FileKind = FileKind { name: "latrunculi weights", version: 2 };

/// The content of a file: metadata by key, tensors by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TensorFile {
    /// Metadata by key.
    pub metadata: BTreeMap<String, String>,
    /// The tensors.
    pub tensors: BTreeMap<String, NamedTensor>,
}

impl TensorFile {
    /// Returns the bytes of a file of this kind.
    #[must_use]
    pub fn to_bytes(&self, kind: FileKind) -> Vec<u8> {
        let mut described: Map<String, Value> =
            self.metadata.iter().map(|(key, value)| (key.clone(), Value::String(value.clone()))).collect();
        described.insert(KIND_KEY.to_owned(), json!(kind.name));
        described.insert(VERSION_KEY.to_owned(), json!(kind.version.to_string()));
        let mut header = BTreeMap::new();
        let mut entries = Vec::new();
        for (name, tensor) in &self.tensors {
            let start = entries.len();
            entries.extend(tensor.values.iter().flat_map(|entry| entry.to_le_bytes()));
            let description = json!({ "dtype": "F32", "shape": tensor.shape, "data_offsets": [start, entries.len()] });
            header.insert(name.as_str(), description);
        }
        described.insert(CHECKSUM_KEY.to_owned(), json!(checksum(&entries)));
        header.insert("__metadata__", Value::Object(described));
        let mut header = serde_json::to_vec(&header).expect("names and numbers are always JSON");
        header.resize(header.len().next_multiple_of(8), b' ');
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.append(&mut header);
        bytes.append(&mut entries);
        bytes
    }

    /// Writes a file of this kind to `path`, atomically; an existing file is replaced.
    ///
    /// # Errors
    /// [`TensorFileError::Io`] when the system refuses.
    pub fn write(&self, path: &Path, kind: FileKind) -> Result<(), TensorFileError> {
        let bytes = self.to_bytes(kind);
        write_atomically(path, |file| file.write_all(&bytes)).map_err(|source| TensorFileError::Io {
            path: path.to_owned(),
            attempt: "writing it",
            source,
        })
    }

    /// Reads a file of this kind, whose tensors must be `f32` and finite.
    ///
    /// # Errors
    /// [`TensorFileError`]: what is wrong with the file, with its name.
    pub fn read(path: &Path, kind: FileKind) -> Result<TensorFile, TensorFileError> {
        let (mut file, mut bytes, _) = open(path)?;
        file.read_to_end(&mut bytes).map_err(|source| reading(path, source))?;
        TensorFile::parse(&bytes, path, kind)
    }

    /// Reads the content of a file of this kind; `path` is its name, for the error.
    ///
    /// # Errors
    /// As [`TensorFile::read`].
    pub fn parse(bytes: &[u8], path: &Path, kind: FileKind) -> Result<TensorFile, TensorFileError> {
        let broken = |reason: String| TensorFileError::NotSafetensors { path: path.to_owned(), reason };
        let (header_bytes, header) =
            safetensors::SafeTensors::read_metadata(bytes).map_err(|error| broken(error.to_string()))?;
        let metadata: BTreeMap<String, String> = header.metadata().clone().unwrap_or_default().into_iter().collect();
        check_kind(path, kind, &metadata)?;

        let parsed = safetensors::SafeTensors::deserialize(bytes).map_err(|error| broken(error.to_string()))?;
        let mut tensors = BTreeMap::new();
        for (name, view) in parsed.tensors() {
            let wrong = |reason: String| TensorFileError::Tensor { path: path.to_owned(), name: name.clone(), reason };
            if view.dtype() != safetensors::Dtype::F32 {
                return Err(wrong(format!("it has entries of type {:?}, not F32", view.dtype())));
            }
            let values: Vec<f32> = view.data().as_chunks().0.iter().map(|&four| f32::from_le_bytes(four)).collect();
            if values.iter().any(|value| !value.is_finite()) {
                return Err(TensorFileError::NotFinite { path: path.to_owned(), name });
            }
            let shape = view.shape().to_vec();
            tensors.insert(name, NamedTensor { shape, values });
        }
        if metadata.get(CHECKSUM_KEY).is_some_and(|known| *known != checksum(&bytes[8 + header_bytes..])) {
            return Err(broken("its entries do not have the checksum that it tells".to_owned()));
        }
        Ok(TensorFile { metadata, tensors })
    }

    /// Returns the metadata under `key`, read as JSON. `path` is the file's, for the error.
    ///
    /// # Errors
    /// [`TensorFileError::Metadata`] when it is missing or unreadable.
    pub fn described<T: DeserializeOwned>(&self, path: &Path, key: &str) -> Result<T, TensorFileError> {
        let wrong = |reason: String| TensorFileError::Metadata { path: path.to_owned(), reason };
        let text = self.metadata.get(key).ok_or_else(|| wrong(format!("'{key}' is missing")))?;
        serde_json::from_str(text).map_err(|error| wrong(format!("'{key}': {error}")))
    }
}

fn checksum(entries: &[u8]) -> String {
    format!("{:08x}", crc32fast::hash(entries))
}

/// Returns an error when a file is of another kind or version.
fn check_kind(path: &Path, kind: FileKind, metadata: &BTreeMap<String, String>) -> Result<(), TensorFileError> {
    let FileKind { name, version } = kind;
    let other = |reason: String| TensorFileError::OtherKind { path: path.to_owned(), expected: name, reason };
    match metadata.get(KIND_KEY) {
        Some(found) if found == name => {}
        Some(found) if found == WEIGHTS.name => {
            return Err(other("it holds exported weights; the model that they were exported from plays".to_owned()));
        }
        Some(found) => return Err(other(format!("it is a {found}"))),
        None => return Err(other("it does not say what it is".to_owned())),
    }
    let found = metadata.get(VERSION_KEY).cloned().unwrap_or_default();
    if found == version.to_string() {
        return Ok(());
    }
    let path = path.to_owned();
    Err(match found.parse::<u32>() {
        Ok(found) if found < version => TensorFileError::Older { path, kind: name, found, known: version },
        _ => TensorFileError::Version { path, found, known: version },
    })
}

fn reading(path: &Path, source: std::io::Error) -> TensorFileError {
    TensorFileError::Io { path: path.to_owned(), attempt: "reading it", source }
}

/// The header of a safetensors file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorFileHeader {
    /// Metadata by key; files of this program have `format` and `format_version`.
    pub metadata: BTreeMap<String, String>,
    /// Name and shape of every tensor, sorted by name.
    pub tensors: Vec<(String, Vec<usize>)>,
    /// Size of the whole file, in bytes.
    pub file_bytes: u64,
}

impl TensorFileHeader {
    /// Reads the header of any safetensors file.
    ///
    /// # Errors
    /// [`TensorFileError::Io`] when the system refuses, [`TensorFileError::NotSafetensors`] when it is no such file or is
    /// truncated.
    pub fn read(path: &Path) -> Result<TensorFileHeader, TensorFileError> {
        /// One tensor of a header.
        #[derive(serde::Deserialize)]
        struct Described {
            shape: Vec<usize>,
        }
        let (_, bytes, file_bytes) = open(path)?;
        let broken = |error: serde_json::Error| TensorFileError::NotSafetensors {
            path: path.to_owned(),
            reason: format!("its header is unreadable: {error}"),
        };
        let mut header: BTreeMap<String, Value> = serde_json::from_slice(&bytes[8..]).map_err(broken)?;
        let metadata = header.remove("__metadata__").unwrap_or_else(|| json!({}));
        let metadata = serde_json::from_value(metadata).map_err(broken)?;
        let described = |(name, about)| Ok((name, serde_json::from_value::<Described>(about)?.shape));
        let tensors = header.into_iter().map(described).collect::<Result<_, _>>().map_err(broken)?;
        Ok(TensorFileHeader { metadata, tensors, file_bytes })
    }

    /// Returns the kind of file, as `latrunculi model`; `None` for files of other programs.
    #[must_use]
    pub fn kind(&self) -> Option<&str> {
        self.metadata.get(KIND_KEY).map(String::as_str)
    }

    /// Counts the entries of all tensors.
    #[must_use]
    pub fn entry_count(&self) -> usize {
        self.tensors
            .iter()
            .map(|(_, shape)| shape.iter().fold(1, |count: usize, &len| count.saturating_mul(len)))
            .fold(0, usize::saturating_add)
    }
}

/// Opens a safetensors file and reads its header with the eight bytes before it. Checks that the file has the length
/// that the header implies, and returns that length last.
fn open(path: &Path) -> Result<(File, Vec<u8>, u64), TensorFileError> {
    let broken = |reason: String| TensorFileError::NotSafetensors { path: path.to_owned(), reason };
    // Checked before it is opened: opening a pipe would block.
    let about = fs::metadata(path).map_err(|source| reading(path, source))?;
    if !about.is_file() {
        return Err(broken("it is no file".to_owned()));
    }
    let mut file = File::open(path).map_err(|source| reading(path, source))?;
    let mut bytes = vec![0; 8];
    if about.len() < 8 {
        return Err(broken(format!("it has {} bytes", about.len())));
    }
    file.read_exact(&mut bytes).map_err(|source| reading(path, source))?;
    let header_bytes = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"));
    if header_bytes > HEADER_BYTES_MAX || header_bytes > about.len() - 8 {
        return Err(broken(format!("it announces a header of {header_bytes} bytes and has {}", about.len())));
    }
    // The lengths of the tensors are checked against the file before their entries are read.
    let mut header = vec![0; header_bytes as usize];
    file.read_exact(&mut header).map_err(|source| reading(path, source))?;
    let described: Value =
        serde_json::from_slice(&header).map_err(|error| broken(format!("its header is unreadable: {error}")))?;
    let announced = described.as_object().into_iter().flatten();
    let announced = announced.filter_map(|(_, tensor)| tensor["data_offsets"][1].as_u64()).max().unwrap_or(0);
    let there = about.len() - 8 - header_bytes;
    if announced != there {
        return Err(broken(format!("it announces {announced} bytes of entries and has {there}")));
    }
    bytes.extend_from_slice(&header);
    Ok((file, bytes, about.len()))
}

//! Files of tensors, safetensors: the length of the header (8 bytes, little end first), the header (JSON: name, type, shape and
//! offsets of each tensor, and metadata under `__metadata__`), the entries. Equal content gives equal files.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::error::Error;
use crate::files::write_atomically;

const KIND_KEY: &str = "format";
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
    pub fn write(&self, path: &Path, kind: FileKind) -> Result<(), Error> {
        let bytes = self.to_bytes(kind);
        write_atomically(path, |file| file.write_all(&bytes)).map_err(|refusal| Error::writing(path, &refusal))
    }

    /// Reads a file of this kind, whose tensors must be `f32` and finite.
    pub fn read(path: &Path, kind: FileKind) -> Result<TensorFile, Error> {
        let (mut file, mut bytes, _) = open(path)?;
        file.read_to_end(&mut bytes).map_err(|refusal| Error::reading(path, &refusal))?;
        TensorFile::parse(&bytes, path, kind)
    }

    /// Reads the content of a file of this kind; `path` is its name, for the error.
    pub fn parse(bytes: &[u8], path: &Path, kind: FileKind) -> Result<TensorFile, Error> {
        let (header_bytes, header) =
            safetensors::SafeTensors::read_metadata(bytes).map_err(|error| not_safetensors(path, error))?;
        let metadata: BTreeMap<String, String> = header.metadata().clone().unwrap_or_default().into_iter().collect();
        check_kind(path, kind, &metadata)?;

        let parsed = safetensors::SafeTensors::deserialize(bytes).map_err(|error| not_safetensors(path, error))?;
        let mut tensors = BTreeMap::new();
        for (name, view) in parsed.tensors() {
            if view.dtype() != safetensors::Dtype::F32 {
                let reason = format!("tensor '{name}': it has entries of type {:?}, not F32", view.dtype());
                return Err(Error::of_file(path, reason));
            }
            let values: Vec<f32> = view.data().as_chunks().0.iter().map(|&four| f32::from_le_bytes(four)).collect();
            if values.iter().any(|value| !value.is_finite()) {
                return Err(Error::of_file(path, not_finite(&name)));
            }
            let shape = view.shape().to_vec();
            tensors.insert(name, NamedTensor { shape, values });
        }
        if metadata.get(CHECKSUM_KEY).is_some_and(|known| *known != checksum(&bytes[8 + header_bytes..])) {
            return Err(not_safetensors(path, "its entries do not have the checksum that it tells"));
        }
        Ok(TensorFile { metadata, tensors })
    }

    /// Returns the metadata under `key`, read as JSON. `path` is the file's, for the error.
    pub fn described<T: DeserializeOwned>(&self, path: &Path, key: &str) -> Result<T, Error> {
        let wrong = |reason| Error::of_file(path, format!("the description in it is unreadable: {reason}"));
        let text = self.metadata.get(key).ok_or_else(|| wrong(format!("'{key}' is missing")))?;
        serde_json::from_str(text).map_err(|error| wrong(format!("'{key}': {error}")))
    }
}

/// Says that a tensor has an entry that is not a number.
#[must_use]
pub fn not_finite(name: &str) -> Error {
    let reason = "has an entry that is not a finite number: the training has broken down; use an earlier checkpoint";
    Error(format!("tensor '{name}' {reason}"))
}

fn not_safetensors(path: &Path, reason: impl Display) -> Error {
    Error::of_file(path, format_args!("not a safetensors file, or cut off: {reason}; copy or make it again"))
}

fn checksum(entries: &[u8]) -> String {
    format!("{:08x}", crc32fast::hash(entries))
}

/// Returns an error when a file is of another kind or version.
fn check_kind(path: &Path, kind: FileKind, metadata: &BTreeMap<String, String>) -> Result<(), Error> {
    let FileKind { name, version } = kind;
    let other = match metadata.get(KIND_KEY) {
        Some(found) if found == name => None,
        Some(found) if found == WEIGHTS.name => {
            Some("it holds exported weights; the model that they were exported from plays".to_owned())
        }
        Some(found) => Some(format!("it is a {found}")),
        None => Some("it does not say what it is".to_owned()),
    };
    if let Some(reason) = other {
        return Err(Error::of_file(path, format!("not a {name}: {reason}")));
    }
    let found = metadata.get(VERSION_KEY).cloned().unwrap_or_default();
    if found == version.to_string() {
        return Ok(());
    }
    let reason = match found.parse::<u32>() {
        Ok(found) if found < version => format!(
            "{name} of version {found}, this program reads {version}: files of that version name settings that are gone; \
             train anew, or use the version of the program that wrote it"
        ),
        _ => format!(
            "format version {found}, this program reads {version}; use the version of the program that wrote it"
        ),
    };
    Err(Error::of_file(path, reason))
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
    /// Fails when the system refuses, or it is no such file or cut off.
    pub fn read(path: &Path) -> Result<TensorFileHeader, Error> {
        #[derive(serde::Deserialize)]
        struct Described {
            shape: Vec<usize>,
        }
        let (_, bytes, file_bytes) = open(path)?;
        let broken =
            |error: serde_json::Error| not_safetensors(path, format_args!("its header is unreadable: {error}"));
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
fn open(path: &Path) -> Result<(File, Vec<u8>, u64), Error> {
    let broken = |reason: String| not_safetensors(path, reason);
    let reading = |refusal| Error::reading(path, &refusal);
    // Checked before it is opened: opening a pipe would block.
    let about = fs::metadata(path).map_err(reading)?;
    if !about.is_file() {
        return Err(broken("it is no file".to_owned()));
    }
    let mut file = File::open(path).map_err(reading)?;
    let mut bytes = vec![0; 8];
    if about.len() < 8 {
        return Err(broken(format!("it has {} bytes", about.len())));
    }
    file.read_exact(&mut bytes).map_err(reading)?;
    let header_bytes = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"));
    if header_bytes > HEADER_BYTES_MAX || header_bytes > about.len() - 8 {
        return Err(broken(format!("it announces a header of {header_bytes} bytes and has {}", about.len())));
    }
    // The lengths of the tensors are checked against the file before their entries are read.
    let mut header = vec![0; header_bytes as usize];
    file.read_exact(&mut header).map_err(reading)?;
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

//! Files of tensors. They are written atomically and checked when they are read.
//!
//! The format is safetensors: the length of the header (8 bytes, little end first), the header (JSON: name, type, shape
//! and offsets of each tensor, and metadata under `__metadata__`), the entries. Equal content gives equal files.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;

use serde_json::{Map, Value, json};
use tch::{Kind, Tensor};

use crate::error::{FileError, TorchError};

/// Metadata key of the kind of file.
const KIND_KEY: &str = "format";
/// Metadata key of the version of that kind.
const VERSION_KEY: &str = "format_version";
/// Longest header that is read, in bytes.
const HEADER_BYTES_MAX: u64 = 16 << 20;

/// The content of a file: metadata by key, tensors by name.
#[derive(Debug)]
pub(crate) struct TensorFile {
    pub(crate) metadata: BTreeMap<String, String>,
    /// Sorted by name.
    pub(crate) tensors: BTreeMap<String, Tensor>,
}

/// Writes `bytes` into a new file beside `path`, makes sure that they are on the disk, renames it to
/// `path`. Whoever reads `path` sees the old file or the new one, whole.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let beside = beside(path);
    let io = |attempt| move |source| FileError::Io { path: path.to_owned(), attempt, source };
    let written = (|| {
        let mut file = File::create(&beside).map_err(io("creating it"))?;
        file.write_all(bytes).map_err(io("writing it"))?;
        file.sync_all().map_err(io("writing it to the disk"))?;
        put_in_place(&beside, path)
    })();
    if written.is_err() {
        // The unfinished file is of no use to anybody; that it cannot be removed either is no news.
        let _ = fs::remove_file(&beside);
    }
    written
}

/// Renames a finished file `beside` to `path`.
pub(crate) fn put_in_place(beside: &Path, path: &Path) -> Result<(), FileError> {
    let io = |source| FileError::Io { path: path.to_owned(), attempt: "putting it in its place", source };
    fs::rename(beside, path).map_err(io)?;
    // The new name too must survive a loss of power. Not every system lets folders be opened.
    if let Some(folder) = path.parent() {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        if let Ok(folder) = File::open(folder) {
            let _ = folder.sync_all();
        }
    }
    Ok(())
}

/// Returns the name under which a file is written before it gets its own.
pub(crate) fn beside(path: &Path) -> std::path::PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    path.with_file_name(format!(".{name}.{}.unfinished", std::process::id()))
}

/// Returns the entries of a tensor as `f32`, in the order of its shape.
pub(crate) fn entries(tensor: &Tensor) -> Result<Vec<f32>, TorchError> {
    let tensor = tensor.detach().f_to_device(tch::Device::Cpu)?.f_to_kind(Kind::Float)?.f_contiguous()?;
    let mut entries = vec![0.0; tensor.numel()];
    tensor.f_copy_data(&mut entries, tensor.numel())?;
    Ok(entries)
}

/// Returns the bytes of a file with this metadata and these tensors (`f32`).
pub(crate) fn to_bytes(
    kind: &str,
    version: u32,
    metadata: &BTreeMap<String, String>,
    tensors: &[(String, Tensor)],
) -> Result<Vec<u8>, TorchError> {
    let mut described: Map<String, Value> =
        metadata.iter().map(|(key, value)| (key.clone(), Value::String(value.clone()))).collect();
    described.insert(KIND_KEY.to_owned(), json!(kind));
    described.insert(VERSION_KEY.to_owned(), json!(version.to_string()));
    let mut header = BTreeMap::from([("__metadata__".to_owned(), Value::Object(described))]);
    let mut sorted: Vec<&(String, Tensor)> = tensors.iter().collect();
    sorted.sort_by(|left, right| left.0.cmp(&right.0));
    let mut entries = Vec::new();
    for (name, tensor) in sorted {
        let start = entries.len();
        entries.extend(self::entries(tensor)?.iter().flat_map(|entry| entry.to_le_bytes()));
        let description = json!({ "dtype": "F32", "shape": tensor.size(), "data_offsets": [start, entries.len()] });
        header.insert(name.clone(), description);
    }
    let mut header = serde_json::to_vec(&header).expect("names and numbers are always JSON");
    header.resize(header.len().next_multiple_of(8), b' ');
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.append(&mut header);
    bytes.append(&mut entries);
    Ok(bytes)
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
    /// [`FileError::Io`] when the system refuses, [`FileError::NotSafetensors`] when it is no such file or is
    /// truncated.
    pub fn read(path: &Path) -> Result<TensorFileHeader, FileError> {
        /// One tensor of a header.
        #[derive(serde::Deserialize)]
        struct Described {
            shape: Vec<usize>,
        }
        let (_, bytes, file_bytes) = open(path)?;
        let broken = |error: serde_json::Error| FileError::NotSafetensors {
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
fn open(path: &Path) -> Result<(File, Vec<u8>, u64), FileError> {
    let io = |source| FileError::Io { path: path.to_owned(), attempt: "reading it", source };
    let broken = |reason: String| FileError::NotSafetensors { path: path.to_owned(), reason };
    // Checked before it is opened: opening a pipe would block.
    let about = fs::metadata(path).map_err(io)?;
    if !about.is_file() {
        return Err(broken("it is no file".to_owned()));
    }
    let mut file = File::open(path).map_err(io)?;
    let mut bytes = vec![0; 8];
    if about.len() < 8 {
        return Err(broken(format!("it has {} bytes", about.len())));
    }
    file.read_exact(&mut bytes).map_err(io)?;
    let header_bytes = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes"));
    if header_bytes > HEADER_BYTES_MAX || header_bytes > about.len() - 8 {
        return Err(broken(format!("it announces a header of {header_bytes} bytes and has {}", about.len())));
    }
    // The lengths of the tensors are checked against the file before their entries are read.
    let mut header = vec![0; header_bytes as usize];
    file.read_exact(&mut header).map_err(io)?;
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

/// Reads a file of a kind and version, whose tensors must be `f32` and finite, onto the processor.
pub(crate) fn read(path: &Path, kind: &'static str, version: u32) -> Result<TensorFile, FileError> {
    let io = |source| FileError::Io { path: path.to_owned(), attempt: "reading it", source };
    let broken = |reason: String| FileError::NotSafetensors { path: path.to_owned(), reason };
    let (mut file, mut bytes, _) = open(path)?;
    file.read_to_end(&mut bytes).map_err(io)?;
    let (_, header) = safetensors::SafeTensors::read_metadata(&bytes).map_err(|error| broken(error.to_string()))?;
    let metadata: BTreeMap<String, String> = header.metadata().clone().unwrap_or_default().into_iter().collect();

    let other = |reason: String| FileError::OtherKind { path: path.to_owned(), expected: kind, reason };
    match metadata.get(KIND_KEY) {
        Some(found) if found == kind => {}
        Some(found) if found == "latrunculi weights" => {
            return Err(other("it holds exported weights; the model that they were exported from plays".to_owned()));
        }
        Some(found) => return Err(other(format!("it is a {found}"))),
        None => return Err(other("it does not say what it is".to_owned())),
    }
    let found = metadata.get(VERSION_KEY).cloned().unwrap_or_default();
    if found != version.to_string() {
        let path = path.to_owned();
        return Err(match found.parse::<u32>() {
            Ok(found) if found < version => FileError::Older { path, kind, found, known: version },
            _ => FileError::Version { path, found, known: version },
        });
    }

    let parsed = safetensors::SafeTensors::deserialize(&bytes).map_err(|error| broken(error.to_string()))?;
    let mut tensors = BTreeMap::new();
    for (name, view) in parsed.tensors() {
        let wrong = |reason: String| FileError::Tensor { path: path.to_owned(), name: name.clone(), reason };
        if view.dtype() != safetensors::Dtype::F32 {
            return Err(wrong(format!("it has entries of type {:?}, not F32", view.dtype())));
        }
        let values: Vec<f32> =
            view.data().chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().expect("four bytes"))).collect();
        if values.iter().any(|value| !value.is_finite()) {
            return Err(FileError::NotFinite { path: path.to_owned(), name });
        }
        let shape: Vec<i64> = view.shape().iter().map(|&len| len as i64).collect();
        let torch = |error: tch::TchError| FileError::Torch { path: path.to_owned(), source: error.into() };
        let tensor = Tensor::f_from_slice(&values).and_then(|flat| flat.f_view(shape.as_slice())).map_err(torch)?;
        tensors.insert(name, tensor);
    }
    Ok(TensorFile { metadata, tensors })
}

impl TensorFile {
    /// Returns the value under `key`, read as JSON.
    pub(crate) fn described<T: serde::de::DeserializeOwned>(&self, path: &Path, key: &str) -> Result<T, FileError> {
        let wrong = |reason: String| FileError::Metadata { path: path.to_owned(), reason };
        let text = self.metadata.get(key).ok_or_else(|| wrong(format!("'{key}' is missing")))?;
        serde_json::from_str(text).map_err(|error| wrong(format!("'{key}': {error}")))
    }
}

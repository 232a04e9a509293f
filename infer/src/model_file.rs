//! Reads model files: safetensors with the description of the network under `__metadata__`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use safetensors::{Dtype, SafeTensors};
use serde::{Deserialize, Serialize};

use latrunculi_data::{ENCODING_VERSION, NetworkConfig, PLANES, SCALARS, TrainedRuleset, rule_inputs};

use crate::error::ModelError;

const KIND: &str = "latrunculi model";
const VERSION: u32 = 2;
/// The largest file that is read, in bytes.
const FILE_BYTES_MAX: u64 = 4 << 30;

/// What a model file says about its network besides weights and sizes: the part that playing needs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// The rulesets it was trained on, the one with the largest share first.
    pub rulesets: Vec<TrainedRuleset>,
}

/// One tensor of a model: its shape and its entries in the order of the shape.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedTensor {
    /// Length of each dimension.
    pub shape: Vec<usize>,
    /// The entries.
    pub values: Vec<f32>,
}

/// What a model file holds.
pub(crate) struct Contents {
    pub(crate) config: NetworkConfig,
    pub(crate) info: ModelInfo,
    pub(crate) tensors: BTreeMap<String, NamedTensor>,
}

#[derive(Deserialize)]
struct StoredEncoding {
    planes: Vec<String>,
    scalars: Vec<String>,
}

#[derive(Deserialize)]
struct StoredInfo {
    #[serde(flatten)]
    info: ModelInfo,
    encoding: StoredEncoding,
}

/// Reads the file at `path`.
pub(crate) fn read(path: &Path) -> Result<Contents, ModelError> {
    let about = fs::metadata(path).map_err(ModelError::Io)?;
    if !about.is_file() {
        return Err(ModelError::NotSafetensors("it is no file".to_owned()));
    }
    if about.len() > FILE_BYTES_MAX {
        return Err(ModelError::NotSafetensors(format!("it has {} bytes", about.len())));
    }
    parse(&fs::read(path).map_err(ModelError::Io)?)
}

/// Reads the bytes of a model file.
fn parse(bytes: &[u8]) -> Result<Contents, ModelError> {
    let broken = |error: safetensors::SafeTensorError| ModelError::NotSafetensors(error.to_string());
    let (_, header) = SafeTensors::read_metadata(bytes).map_err(broken)?;
    let metadata = header.metadata().clone().unwrap_or_default();
    match metadata.get("format").map(String::as_str) {
        Some(KIND) => {}
        Some("latrunculi weights") => {
            let reason = "it holds exported weights; use the model that they were exported from";
            return Err(ModelError::OtherKind(reason.to_owned()));
        }
        Some(found) => return Err(ModelError::OtherKind(format!("it is a {found}"))),
        None => return Err(ModelError::OtherKind("it does not say what it is".to_owned())),
    }
    let found = metadata.get("format_version").cloned().unwrap_or_default();
    if found != VERSION.to_string() {
        return Err(match found.parse::<u32>() {
            Ok(found) if found < VERSION => ModelError::Older { found, known: VERSION },
            _ => ModelError::Version { found, known: VERSION },
        });
    }
    if described::<u32>(&metadata, "encoding")? != ENCODING_VERSION {
        return Err(ModelError::Encoding);
    }
    let config: NetworkConfig = described(&metadata, "network")?;
    let StoredInfo { info, encoding } = described(&metadata, "info")?;
    let scalars = SCALARS.into_iter().chain(rule_inputs::names());
    if !encoding.planes.iter().map(String::as_str).eq(PLANES)
        || !encoding.scalars.iter().map(String::as_str).eq(scalars)
    {
        return Err(ModelError::Encoding);
    }

    let parsed = SafeTensors::deserialize(bytes).map_err(broken)?;
    let mut tensors = BTreeMap::new();
    for (name, view) in parsed.tensors() {
        if view.dtype() != Dtype::F32 {
            let reason = format!("it has entries of type {:?}, not F32", view.dtype());
            return Err(ModelError::Tensor { name, reason });
        }
        let (words, _) = view.data().as_chunks::<4>();
        let values: Vec<f32> = words.iter().map(|&word| f32::from_le_bytes(word)).collect();
        tensors.insert(name, NamedTensor { shape: view.shape().to_vec(), values });
    }
    Ok(Contents { config, info, tensors })
}

/// Returns the value under `key`, read as JSON.
fn described<T: serde::de::DeserializeOwned>(
    metadata: &std::collections::HashMap<String, String>,
    key: &str,
) -> Result<T, ModelError> {
    let text = metadata.get(key).ok_or_else(|| ModelError::Metadata(format!("'{key}' is missing")))?;
    serde_json::from_str(text).map_err(|error| ModelError::Metadata(format!("'{key}': {error}")))
}

//! The model file: the weights and everything else that play needs.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use crate::error::TensorFileError;
use crate::features::{ENCODING_VERSION, EncodingNames};
use crate::layout::ParameterLayout;
use crate::model_info::ModelInfo;
use crate::network_config::NetworkConfig;
use crate::tensor_file::{CHECKPOINT, MODEL, NamedTensor, TensorFile};
use crate::training_config::{TrainingConfig, TrainingCounters};

/// Metadata key of the [`ENCODING_VERSION`] of the weights.
const ENCODING: &str = "encoding";

/// A model as its file holds it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredModel {
    /// The size of the network.
    pub config: NetworkConfig,
    /// What is known about it.
    pub info: ModelInfo,
    /// The weights by name.
    pub tensors: BTreeMap<String, NamedTensor>,
}

impl StoredModel {
    /// Makes a new network, the same for the same seed on every machine.
    ///
    /// # Errors
    /// Every value of the configuration that is out of range.
    pub fn fresh(config: &NetworkConfig, seed: u64) -> Result<StoredModel, Vec<String>> {
        let reasons = config.validate();
        if !reasons.is_empty() {
            return Err(reasons);
        }
        let layout = ParameterLayout::new(config);
        let values = layout.start_values(seed);
        let tensors = layout.tensors(&values).map(|(name, tensor)| (name.to_owned(), tensor)).collect();
        Ok(StoredModel { config: config.clone(), info: ModelInfo::default(), tensors })
    }

    /// Writes this model to `path`, atomically; an existing file is replaced.
    ///
    /// # Errors
    /// [`TensorFileError::Io`] when the system refuses.
    pub fn write(self, path: &Path) -> Result<(), TensorFileError> {
        self.into_file().write(path, MODEL)
    }

    /// Returns the bytes of its file. Equal weights without further information give equal bytes.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.into_file().to_bytes(MODEL)
    }

    fn into_file(self) -> TensorFile {
        let mut metadata = describe(&self.config);
        metadata.insert("info".to_owned(), to_json(&self.info));
        TensorFile { metadata, tensors: self.tensors }
    }

    /// Reads a model from `path`. All weights are there, of their shapes and finite.
    ///
    /// # Errors
    /// [`TensorFileError`]: what is wrong with the file, with its name.
    pub fn read(path: &Path) -> Result<StoredModel, TensorFileError> {
        StoredModel::of_file(TensorFile::read(path, MODEL)?, path)
    }

    /// Reads the content of a model file; `path` is its name, for the error.
    ///
    /// # Errors
    /// As [`StoredModel::read`].
    pub fn parse(bytes: &[u8], path: &Path) -> Result<StoredModel, TensorFileError> {
        StoredModel::of_file(TensorFile::parse(bytes, path, MODEL)?, path)
    }

    fn of_file(file: TensorFile, path: &Path) -> Result<StoredModel, TensorFileError> {
        let config = network_config(&file, path)?;
        let info: ModelInfo = file.described(path, "info")?;
        if info.encoding != EncodingNames::default() {
            return Err(TensorFileError::Encoding { path: path.to_owned() });
        }
        check_tensors(&file, path, &ParameterLayout::new(&config), &[""])?;
        Ok(StoredModel { config, info, tensors: file.tensors })
    }

    /// Returns the CRC-32 of the weights (`f32`, little end first, in the order of the layout) as eight hexadecimal digits.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let mut hasher = crc32fast::Hasher::new();
        for parameter in ParameterLayout::new(&self.config).parameters {
            for value in self.tensors.get(&parameter.name).into_iter().flat_map(|tensor| &tensor.values) {
                hasher.update(&value.to_le_bytes());
            }
        }
        format!("{:08x}", hasher.finalize())
    }
}

/// The vectors of a checkpoint, by the prefix of their tensors' names: the weights, their moving average, the running means
/// of the gradient and of its square.
pub const CHECKPOINT_PARTS: [&str; 4] = ["parameters/", "average/", "first_moment/", "second_moment/"];

/// A checkpoint of a training as its file holds it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredCheckpoint {
    /// The size of the network.
    pub network: NetworkConfig,
    /// The settings of the optimisation.
    pub training: TrainingConfig,
    /// The progress.
    pub counters: TrainingCounters,
    /// The caller's own state.
    pub extra: String,
    /// The tensors of [`ParameterLayout::for_training`], those of each of [`CHECKPOINT_PARTS`] under its prefix.
    pub tensors: BTreeMap<String, NamedTensor>,
}

impl StoredCheckpoint {
    /// Writes this checkpoint to `path`, atomically; an existing file is replaced.
    ///
    /// # Errors
    /// [`TensorFileError::Io`] when the system refuses.
    pub fn write(self, path: &Path) -> Result<(), TensorFileError> {
        let mut metadata = describe(&self.network);
        metadata.insert("training".to_owned(), to_json(&self.training));
        metadata.insert("counters".to_owned(), to_json(&self.counters));
        metadata.insert("extra".to_owned(), self.extra);
        TensorFile { metadata, tensors: self.tensors }.write(path, CHECKPOINT)
    }

    /// Reads a checkpoint from `path`. All tensors are there, of their shapes and finite.
    ///
    /// # Errors
    /// [`TensorFileError`]: what is wrong with the file, with its name.
    pub fn read(path: &Path) -> Result<StoredCheckpoint, TensorFileError> {
        let mut file = TensorFile::read(path, CHECKPOINT)?;
        let network = network_config(&file, path)?;
        let training = file.described(path, "training")?;
        let counters = file.described(path, "counters")?;
        check_tensors(&file, path, &ParameterLayout::for_training(&network), &CHECKPOINT_PARTS)?;
        let extra = file.metadata.remove("extra").unwrap_or_default();
        Ok(StoredCheckpoint { network, training, counters, extra, tensors: file.tensors })
    }
}

fn to_json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("our own descriptions are always JSON")
}

fn describe(config: &NetworkConfig) -> BTreeMap<String, String> {
    BTreeMap::from([("network".to_owned(), to_json(config)), (ENCODING.to_owned(), to_json(&ENCODING_VERSION))])
}

fn network_config(file: &TensorFile, path: &Path) -> Result<NetworkConfig, TensorFileError> {
    if file.described::<u32>(path, ENCODING)? != ENCODING_VERSION {
        return Err(TensorFileError::Encoding { path: path.to_owned() });
    }
    let config: NetworkConfig = file.described(path, "network")?;
    let reasons = config.validate();
    if reasons.is_empty() { Ok(config) } else { Err(TensorFileError::Network { path: path.to_owned(), reasons }) }
}

/// Returns an error unless the file has exactly the tensors of the layout, once under each prefix.
fn check_tensors(
    file: &TensorFile,
    path: &Path,
    layout: &ParameterLayout,
    parts: &[&str],
) -> Result<(), TensorFileError> {
    let wrong = |name: &str, reason: String| {
        Err(TensorFileError::Tensor { path: path.to_owned(), name: name.to_owned(), reason })
    };
    let mut known = BTreeMap::new();
    for part in parts {
        known.extend(layout.parameters.iter().map(|parameter| (format!("{part}{}", parameter.name), parameter)));
    }
    if let Some(name) = file.tensors.keys().find(|name| !known.contains_key(*name)) {
        return wrong(name, "the network of this size has no such tensor".to_owned());
    }
    for (name, parameter) in &known {
        let Some(tensor) = file.tensors.get(name) else { return wrong(name, "it is missing".to_owned()) };
        if !parameter.lengths().eq(tensor.shape.iter().copied()) {
            return wrong(name, format!("its shape is {:?} and must be {:?}", tensor.shape, parameter.shape));
        }
    }
    Ok(())
}

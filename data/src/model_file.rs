//! The model file: the weights and everything else that play needs.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use crate::error::Error;
use crate::features::{ENCODING_VERSION, EncodingNames, SCALARS};
use crate::layout::{ParameterLayout, RULE_WEIGHTS};
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
    pub fn fresh(config: &NetworkConfig, seed: u64) -> Result<StoredModel, Error> {
        config.check()?;
        let layout = ParameterLayout::new(config);
        let values = layout.start_values(seed);
        let tensors = layout.tensors(&values).map(|(name, tensor)| (name.to_owned(), tensor)).collect();
        Ok(StoredModel { config: config.clone(), info: ModelInfo::default(), tensors })
    }

    /// Writes this model to `path`, atomically; an existing file is replaced.
    pub fn write(self, path: &Path) -> Result<(), Error> {
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
    pub fn read(path: &Path) -> Result<StoredModel, Error> {
        StoredModel::of_file(TensorFile::read(path, MODEL)?, path)
    }

    /// Reads the content of a model file; `path` is its name, for the error.
    pub fn parse(bytes: &[u8], path: &Path) -> Result<StoredModel, Error> {
        StoredModel::of_file(TensorFile::parse(bytes, path, MODEL)?, path)
    }

    fn of_file(mut file: TensorFile, path: &Path) -> Result<StoredModel, Error> {
        let config = network_config(&file, path)?;
        let mut info: ModelInfo = file.described(path, "info")?;
        add_rule_inputs(&mut info.encoding, &mut file.tensors).ok_or_else(|| other_encoding(path))?;
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
    pub fn write(self, path: &Path) -> Result<(), Error> {
        let mut metadata = describe(&self.network);
        metadata.insert("training".to_owned(), to_json(&self.training));
        metadata.insert("counters".to_owned(), to_json(&self.counters));
        metadata.insert("extra".to_owned(), self.extra);
        TensorFile { metadata, tensors: self.tensors }.write(path, CHECKPOINT)
    }

    /// Reads a checkpoint from `path`. All tensors are there, of their shapes and finite.
    pub fn read(path: &Path) -> Result<StoredCheckpoint, Error> {
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

fn network_config(file: &TensorFile, path: &Path) -> Result<NetworkConfig, Error> {
    if file.described::<u32>(path, ENCODING)? != ENCODING_VERSION {
        return Err(other_encoding(path));
    }
    let config: NetworkConfig = file.described(path, "network")?;
    config.check().map_err(|error| Error::of_file(path, error))?;
    Ok(config)
}

fn other_encoding(path: &Path) -> Error {
    let reason = "its network was trained with another encoding of positions than this program has; use the version of the \
                  program that trained it, or train anew";
    Error::of_file(path, reason)
}

/// Gives a network that was trained before rule parameters were added inputs for them, with weights of 0: it answers as it
/// did. Returns `None` where its encoding differs in anything else.
fn add_rule_inputs(encoding: &mut EncodingNames, tensors: &mut BTreeMap<String, NamedTensor>) -> Option<()> {
    let present = EncodingNames::default();
    if *encoding == present {
        return Some(());
    }
    let (own, rules) = encoding.scalars.split_at_checked(SCALARS.len())?;
    let wanted = &present.scalars[SCALARS.len()..];
    let columns: Vec<Option<usize>> = wanted.iter().map(|name| rules.iter().position(|old| old == name)).collect();
    let is_older = columns.iter().flatten().copied().eq(0..rules.len());
    if encoding.planes != present.planes || own != &present.scalars[..SCALARS.len()] || !is_older {
        return None;
    }
    let weights = tensors.get_mut(RULE_WEIGHTS)?;
    if weights.shape.last() != Some(&rules.len()) || rules.is_empty() {
        return None;
    }
    let wider = |row: &[f32]| columns.iter().map(|column| column.map_or(0.0, |column| row[column])).collect::<Vec<_>>();
    weights.values = weights.values.chunks(rules.len()).flat_map(wider).collect();
    *weights.shape.last_mut()? = wanted.len();
    *encoding = present;
    Some(())
}

/// Returns an error unless the file has exactly the tensors of the layout, once under each prefix.
fn check_tensors(file: &TensorFile, path: &Path, layout: &ParameterLayout, parts: &[&str]) -> Result<(), Error> {
    let wrong = |name: &str, reason: String| Err(Error::of_file(path, format!("tensor '{name}': {reason}")));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule_inputs;

    /// Returns the file of a model that was trained before the last rule parameter but one was added, and its weights.
    fn older() -> (TensorFile, NamedTensor) {
        let mut model = StoredModel::fresh(&NetworkConfig::default(), 1).expect("a valid size");
        let added = rule_inputs::count() - 2;
        let weights = model.tensors.get_mut(RULE_WEIGHTS).expect("the weights");
        for (index, value) in weights.values.iter_mut().enumerate() {
            *value = if index % rule_inputs::count() == added { 0.0 } else { index as f32 };
        }
        let whole = weights.clone();
        let kept = weights.values.iter().enumerate().filter(|(index, _)| index % rule_inputs::count() != added);
        weights.values = kept.map(|(_, &value)| value).collect();
        *weights.shape.last_mut().expect("two lengths") -= 1;
        model.info.encoding.scalars.remove(SCALARS.len() + added);
        (model.into_file(), whole)
    }

    #[test]
    fn a_model_of_before_a_rule_parameter_has_weights_of_0_for_it() {
        let (file, whole) = older();
        let model = StoredModel::parse(&file.to_bytes(MODEL), Path::new("older")).expect("a model");
        assert_eq!(model.tensors[RULE_WEIGHTS], whole);
        assert_eq!(model.info.encoding, EncodingNames::default());
    }

    #[test]
    fn a_model_that_sees_positions_in_another_way_is_refused() {
        let change = |change: fn(&mut EncodingNames)| {
            let (mut file, _) = older();
            let mut info: ModelInfo = file.described(Path::new("older"), "info").expect("the information");
            change(&mut info.encoding);
            file.metadata.insert("info".to_owned(), to_json(&info));
            StoredModel::parse(&file.to_bytes(MODEL), Path::new("older")).expect_err("another encoding")
        };
        for error in [
            change(|names| names.scalars.swap(SCALARS.len(), SCALARS.len() + 1)),
            change(|names| names.scalars[SCALARS.len()] = "another".to_owned()),
            change(|names| names.scalars.truncate(SCALARS.len())),
            change(|names| names.scalars[0] = "another".to_owned()),
            change(|names| _ = names.planes.pop()),
        ] {
            assert!(error.to_string().contains("another encoding"), "{error}");
        }
    }
}

//! The model file, which holds the weights and everything else that play needs, and the checkpoint of a training.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use tch::Tensor;

use crate::device::Device;
use crate::error::FileError;
use crate::files::{self, TensorFile};
use crate::layout::ParameterLayout;
use crate::network::Network;
use crate::training::{Trainer, TrainingConfig, TrainingCounters};
use latrunculi_data::EncodingNames;
use latrunculi_data::{ENCODING_VERSION, NetworkConfig, TrainedRuleset};
use latrunculi_engine::Rules;
use latrunculi_engine::record::ruleset_fingerprint;

const MODEL: &str = "latrunculi model";
const MODEL_VERSION: u32 = 2;
const CHECKPOINT: &str = "latrunculi checkpoint";
const CHECKPOINT_VERSION: u32 = 3;
/// Metadata key of the [`ENCODING_VERSION`] of the weights.
const ENCODING: &str = "encoding";

/// What a model file says about its network apart from weights and sizes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelInfo {
    /// The rulesets it was trained on, the one with the largest share first.
    pub rulesets: Vec<TrainedRuleset>,
    /// Names of its planes and scalars.
    pub encoding: EncodingNames,
    /// Progress of the training.
    pub training: TrainingCounters,
    /// How it was made and its measured strength.
    #[serde(default)]
    pub history: ModelHistory,
    /// The search settings of the run that trained it, as in `[selfplay.search]` of its configuration; absent where they
    /// are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<serde_json::Value>,
    /// Other information, by name.
    #[serde(default)]
    pub notes: BTreeMap<String, serde_json::Value>,
}

/// How a model was made and its measured strength. What is not known is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModelHistory {
    /// Name and version of the program that trained it.
    pub program: Option<String>,
    /// Commit of its source.
    pub commit: Option<String>,
    /// Seed of the run.
    pub seed: Option<u64>,
    /// Generations of games that it was trained on, those of the teacher included.
    pub generations: Option<u64>,
    /// Games of these generations.
    pub games: Option<u64>,
    /// Samples of these games.
    pub samples: Option<u64>,
    /// Scores against fixed opponents.
    pub strength: Vec<Measurement>,
    /// Score of the first player in self-play.
    pub first_player: Option<Measurement>,
}

/// A score over games, a draw counting one half.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measurement {
    /// Opponent and simulations of the network.
    pub what: String,
    /// Games won.
    pub wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games lost.
    pub losses: u64,
    /// The mean score, in `[0, 1]`.
    pub score: f64,
    /// Lower end of the 95 % interval.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
    /// The material margin at the end of the games, where it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub margin: Option<MeasuredMargin>,
    /// The command that plays such games again.
    pub command: String,
}

/// Men of the network minus men of its opponent at the end of games, as a fraction in `[-1, 1]` of those that a side
/// starts with.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasuredMargin {
    /// Mean over the games.
    pub mean: f64,
    /// Lower end of its 95 % interval.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
}

impl Measurement {
    /// Rounds every number to six decimals, so that JSON preserves it exactly.
    #[must_use]
    pub fn rounded(self) -> Measurement {
        let round = |number: f64| (number * 1e6).round() / 1e6;
        let margin = self.margin.map(|MeasuredMargin { mean, lower, upper }| MeasuredMargin {
            mean: round(mean),
            lower: round(lower),
            upper: round(upper),
        });
        let [score, lower, upper] = [self.score, self.lower, self.upper].map(round);
        Measurement { score, lower, upper, margin, ..self }
    }
}

impl ModelInfo {
    /// Returns what the network was trained on under these rules, whatever their name.
    #[must_use]
    pub fn trained_on(&self, rules: &Rules) -> Option<&TrainedRuleset> {
        let fingerprint = ruleset_fingerprint(rules.ruleset());
        self.rulesets.iter().find(|trained| trained.fingerprint == fingerprint)
    }
}

/// A network with information about it.
#[derive(Debug)]
pub struct Model {
    /// The network, with the weights that play.
    pub network: Network,
    /// Information about it.
    pub info: ModelInfo,
}

impl Model {
    /// Writes this model to `path`, atomically; an existing file is replaced.
    ///
    /// # Errors
    /// [`FileError::Io`] when the system refuses, [`FileError::Torch`] when the device fails.
    pub fn save(&self, path: &Path) -> Result<(), FileError> {
        let mut metadata = describe(self.network.config());
        metadata.insert("info".to_owned(), to_json(&self.info));
        let tensors: Vec<(String, Tensor)> =
            self.network.named().into_iter().map(|(name, tensor)| (name.to_owned(), tensor)).collect();
        let bytes = files::to_bytes(MODEL, MODEL_VERSION, &metadata, &tensors)
            .map_err(|source| FileError::Torch { path: path.to_owned(), source })?;
        files::write_whole(path, &bytes)
    }

    /// Reads a model from `path` onto `device`.
    ///
    /// # Errors
    /// [`FileError`]: what is wrong with the file, with its name.
    pub fn load(path: &Path, device: Device) -> Result<Model, FileError> {
        let file = files::read(path, MODEL, MODEL_VERSION)?;
        let (config, layout) = described(&file, path)?;
        let info: ModelInfo = file.described(path, "info")?;
        if info.encoding != EncodingNames::default() {
            return Err(FileError::Encoding { path: path.to_owned() });
        }
        check_names(&file, path, &layout, &[""])?;
        let parameters = gather(&file, path, &layout, "")?;
        let network = Network::from_parameters(&config, &parameters, device)
            .map_err(|source| FileError::Network { path: path.to_owned(), source })?;
        Ok(Model { network, info })
    }
}

/// The four vectors of a checkpoint, by the prefix of their tensors' names.
const PARTS: [&str; 4] = ["parameters/", "average/", "first_moment/", "second_moment/"];

impl Trainer {
    /// Writes everything that the next step depends on to `path`, atomically. `extra` is the caller's own state, which
    /// [`Trainer::load`] returns.
    ///
    /// # Errors
    /// [`FileError::Io`] when the system refuses, [`FileError::Torch`] when the device fails.
    pub fn save(&self, path: &Path, extra: &str) -> Result<(), FileError> {
        let torch = |source| FileError::Torch { path: path.to_owned(), source };
        let mut metadata = describe(&self.network_config);
        metadata.insert("training".to_owned(), to_json(&self.config));
        metadata.insert("counters".to_owned(), to_json(&self.counters));
        metadata.insert("extra".to_owned(), extra.to_owned());
        let vectors = [&self.parameters, &self.average, &self.first_moment, &self.second_moment];
        let mut tensors = Vec::new();
        for (part, vector) in PARTS.iter().zip(vectors) {
            for parameter in &self.layout.parameters {
                let piece = vector
                    .f_narrow(0, parameter.offset, parameter.len())
                    .and_then(|piece| piece.f_view(parameter.shape.as_slice()))
                    .map_err(|error| torch(error.into()))?;
                tensors.push((format!("{part}{}", parameter.name), piece));
            }
        }
        let bytes = files::to_bytes(CHECKPOINT, CHECKPOINT_VERSION, &metadata, &tensors).map_err(torch)?;
        files::write_whole(path, &bytes)
    }

    /// Reads a checkpoint from `path` onto `device`, with the caller's own state. The training continues as if it had
    /// not been interrupted.
    ///
    /// # Errors
    /// [`FileError`]: what is wrong with the file, with its name.
    pub fn load(path: &Path, device: Device) -> Result<(Trainer, String), FileError> {
        let file = files::read(path, CHECKPOINT, CHECKPOINT_VERSION)?;
        let (network_config, _) = described(&file, path)?;
        let layout = ParameterLayout::for_training(&network_config);
        let config: TrainingConfig = file.described(path, "training")?;
        let counters: TrainingCounters = file.described(path, "counters")?;
        check_names(&file, path, &layout, &PARTS)?;
        let to_device = |part: &str| -> Result<Tensor, FileError> {
            gather(&file, path, &layout, part)?
                .f_to_device(device.0)
                .map_err(|error| FileError::Torch { path: path.to_owned(), source: error.into() })
        };
        let network = Network::from_parameters(&network_config, &to_device(PARTS[0])?, device)
            .map_err(|source| FileError::Network { path: path.to_owned(), source })?;
        let mut trainer = Trainer::new(&network, &config)
            .map_err(|error| FileError::Metadata { path: path.to_owned(), reason: error.to_string() })?;
        trainer.parameters = to_device(PARTS[0])?.set_requires_grad(true);
        trainer.average = to_device(PARTS[1])?;
        trainer.first_moment = to_device(PARTS[2])?;
        trainer.second_moment = to_device(PARTS[3])?;
        trainer.counters = counters;
        Ok((trainer, file.metadata.get("extra").cloned().unwrap_or_default()))
    }
}

fn to_json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("our own descriptions are always JSON")
}

fn describe(config: &NetworkConfig) -> BTreeMap<String, String> {
    BTreeMap::from([("network".to_owned(), to_json(config)), (ENCODING.to_owned(), to_json(&ENCODING_VERSION))])
}

fn described(file: &TensorFile, path: &Path) -> Result<(NetworkConfig, ParameterLayout), FileError> {
    if file.described::<u32>(path, ENCODING)? != ENCODING_VERSION {
        return Err(FileError::Encoding { path: path.to_owned() });
    }
    let config: NetworkConfig = file.described(path, "network")?;
    crate::network::check(&config).map_err(|source| FileError::Network { path: path.to_owned(), source })?;
    let layout = ParameterLayout::new(&config);
    Ok((config, layout))
}

/// Returns an error when the file has a tensor that the network does not have.
fn check_names(file: &TensorFile, path: &Path, layout: &ParameterLayout, parts: &[&str]) -> Result<(), FileError> {
    let known = |name: &str| {
        parts.iter().any(|part| {
            name.strip_prefix(part).is_some_and(|name| layout.parameters.iter().any(|known| known.name == name))
        })
    };
    match file.tensors.keys().find(|name| !known(name)) {
        None => Ok(()),
        Some(name) => Err(FileError::Tensor {
            path: path.to_owned(),
            name: name.clone(),
            reason: "the network of this size has no such tensor".to_owned(),
        }),
    }
}

/// Joins the tensors whose names begin with `part` into the one vector, `[len] f32`.
fn gather(file: &TensorFile, path: &Path, layout: &ParameterLayout, part: &str) -> Result<Tensor, FileError> {
    let mut pieces = Vec::with_capacity(layout.parameters.len());
    for parameter in &layout.parameters {
        let name = format!("{part}{}", parameter.name);
        let wrong = |reason: String| FileError::Tensor { path: path.to_owned(), name: name.clone(), reason };
        let tensor = file.tensors.get(&name).ok_or_else(|| wrong("it is missing".to_owned()))?;
        if tensor.size() != parameter.shape {
            return Err(wrong(format!("its shape is {:?} and must be {:?}", tensor.size(), parameter.shape)));
        }
        pieces.push(tensor.flatten(0, -1));
    }
    Tensor::f_cat(&pieces, 0).map_err(|error| FileError::Torch { path: path.to_owned(), source: error.into() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::made_up_batch;
    use crate::tests::{shape, trained};
    use latrunculi_data::Pooling;
    use latrunculi_engine::presets;

    fn values(tensor: &Tensor) -> Vec<f32> {
        Vec::try_from(tensor.detach()).unwrap()
    }

    fn model() -> Model {
        let search = Some(serde_json::json!({ "draw_value": 0.0 }));
        let rules = Rules::new(&presets::ruleset("bell").unwrap()).unwrap();
        let info = ModelInfo { rulesets: vec![TrainedRuleset::new(&rules, 0.75)], search, ..ModelInfo::default() };
        Model { network: trained(Pooling::GlobalBias).averaged_network().unwrap(), info }
    }

    #[test]
    fn a_model_comes_back_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.safetensors");
        let model = model();
        model.save(&path).unwrap();
        let again = Model::load(&path, Device::CPU).unwrap();
        assert_eq!(model.info, again.info);
        assert_eq!(values(&model.network.parameters), values(&again.network.parameters));
        let bytes = std::fs::read(&path).unwrap();
        again.save(&path).unwrap();
        assert_eq!(bytes, std::fs::read(&path).unwrap(), "equal content gives equal files");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside");
    }

    #[test]
    fn a_continued_training_is_the_uninterrupted_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint.safetensors");
        let mut trainer = trained(Pooling::GlobalBias);
        trainer.save(&path, "{\"games\":7}").unwrap();
        let (mut continued, extra) = Trainer::load(&path, Device::CPU).unwrap();
        assert_eq!(extra, "{\"games\":7}");
        assert_eq!(continued.counters(), trainer.counters());
        for seed in 0..4 {
            let batches = [made_up_batch(&shape(), 16 + seed, 9)];
            let reports = [trainer.step(&batches, 0.9).unwrap(), continued.step(&batches, 0.9).unwrap()];
            assert_eq!(reports[0], reports[1]);
        }
        assert_eq!(values(&trainer.parameters), values(&continued.parameters));
        assert_eq!(values(&trainer.average), values(&continued.average));
        assert_eq!(values(&trainer.second_moment), values(&continued.second_moment));
    }

    /// Reads a file that was changed by `change`, and returns the refusal.
    fn refusal(change: impl FnOnce(&mut Vec<u8>)) -> FileError {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.safetensors");
        model().save(&path).unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        change(&mut bytes);
        std::fs::write(&path, bytes).unwrap();
        let error = Model::load(&path, Device::CPU).unwrap_err();
        assert!(error.to_string().contains("a.safetensors"), "the file is named: {error}");
        error
    }

    /// Replaces text in the header by text of the same length.
    fn replace(bytes: &mut [u8], from: &str, to: &str) {
        assert_eq!(from.len(), to.len());
        let place = bytes.windows(from.len()).position(|window| window == from.as_bytes()).unwrap();
        bytes[place..place + to.len()].copy_from_slice(to.as_bytes());
    }

    #[test]
    fn broken_files_are_refused_with_the_fault_named() {
        for keep in [0, 7, 8, 100] {
            assert!(matches!(refusal(|bytes| bytes.truncate(keep)), FileError::NotSafetensors { .. }));
        }
        assert!(matches!(refusal(|bytes| _ = bytes.pop()), FileError::NotSafetensors { .. }));
        assert!(matches!(refusal(|bytes| bytes.push(0)), FileError::NotSafetensors { .. }));
        assert!(matches!(refusal(|bytes| bytes[..8].fill(0xff)), FileError::NotSafetensors { .. }));
        let other = |bytes: &mut Vec<u8>| replace(bytes, "latrunculi model", "latrunculi mobel");
        assert!(matches!(refusal(other), FileError::OtherKind { .. }));
        let version = |bytes: &mut Vec<u8>| replace(bytes, "\"format_version\":\"2\"", "\"format_version\":\"9\"");
        assert!(matches!(refusal(version), FileError::Version { .. }));
        let older = |bytes: &mut Vec<u8>| replace(bytes, "\"format_version\":\"2\"", "\"format_version\":\"1\"");
        let said = refusal(older).to_string();
        assert!(said.contains("one board") && said.contains("train anew"), "{said}");
        let said = |version: u32| format!("\"{ENCODING}\":\"{version}\"");
        let encoding = |bytes: &mut Vec<u8>| replace(bytes, &said(ENCODING_VERSION), &said(ENCODING_VERSION - 1));
        assert!(matches!(refusal(encoding), FileError::Encoding { .. }));
        let unsaid = |bytes: &mut Vec<u8>| replace(bytes, "\"encoding\":", "\"encodinh\":");
        assert!(matches!(refusal(unsaid), FileError::Metadata { .. }));
        let shape = |bytes: &mut Vec<u8>| replace(bytes, "\\\"channels\\\":16", "\\\"channels\\\":24");
        assert!(matches!(refusal(shape), FileError::Tensor { .. }));
        let name = |bytes: &mut Vec<u8>| replace(bytes, "\"stem.bias\"", "\"stem.bios\"");
        assert!(matches!(refusal(name), FileError::Tensor { .. }));
        let impossible = |bytes: &mut Vec<u8>| replace(bytes, "\\\"blocks\\\":3", "\\\"blocks\\\":0");
        assert!(matches!(refusal(impossible), FileError::Network { .. }));
        let unknown = |bytes: &mut Vec<u8>| replace(bytes, "\\\"blocks\\\":3", "\\\"blacks\\\":3");
        assert!(matches!(refusal(unknown), FileError::Metadata { .. }));
        let nan = |bytes: &mut Vec<u8>| {
            let end = bytes.len();
            bytes[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
        };
        assert!(matches!(refusal(nan), FileError::NotFinite { .. }));
        let missing = Path::new("there/is/no/such/file");
        assert!(matches!(Model::load(missing, Device::CPU), Err(FileError::Io { .. })));
        let folder = tempfile::tempdir().unwrap();
        assert!(Model::load(folder.path(), Device::CPU).is_err());
    }
}

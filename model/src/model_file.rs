//! Models and checkpoints with a network of libtorch.

use std::collections::BTreeMap;
use std::path::Path;

use latrunculi_data::model_file::CHECKPOINT_PARTS;
use latrunculi_data::{ModelInfo, ParameterLayout, StoredCheckpoint, StoredModel};
use tch::Tensor;

use crate::device::Device;
use crate::error::Error;
use crate::files;
use crate::network::Network;
use crate::training::Trainer;

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
    pub fn save(&self, path: &Path) -> Result<(), Error> {
        let tensors = self.network.tensors().map_err(|error| error.of_file(path))?;
        let config = self.network.config().clone();
        Ok(StoredModel { config, info: self.info.clone(), tensors }.write(path)?)
    }
}

impl Trainer {
    /// Writes everything that the next step depends on to `path`, atomically. `extra` is the caller's own state, which
    /// [`Trainer::load`] returns.
    pub fn save(&self, path: &Path, extra: &str) -> Result<(), Error> {
        let vectors = [&self.parameters, &self.average, &self.first_moment, &self.second_moment];
        let mut tensors = BTreeMap::new();
        for (part, vector) in CHECKPOINT_PARTS.iter().zip(vectors) {
            let entries = files::entries(vector).map_err(|error| error.of_file(path))?;
            tensors.extend(self.layout.tensors(&entries).map(|(name, tensor)| (format!("{part}{name}"), tensor)));
        }
        let checkpoint = StoredCheckpoint {
            network: self.network_config.clone(),
            training: self.config.clone(),
            counters: self.counters,
            extra: extra.to_owned(),
            tensors,
        };
        Ok(checkpoint.write(path)?)
    }

    /// Reads a checkpoint from `path` onto `device`, with the caller's own state. The training continues as if it had
    /// not been interrupted.
    pub fn load(path: &Path, device: Device) -> Result<(Trainer, String), Error> {
        let StoredCheckpoint { network, training, counters, extra, tensors } = StoredCheckpoint::read(path)?;
        let layout = ParameterLayout::for_training(&network);
        let to_device = |part: &str| -> Result<Tensor, Error> {
            let vector = files::gather(&tensors, &layout, part).and_then(|vector| Ok(vector.f_to_device(device.0)?));
            vector.map_err(|error| error.of_file(path))
        };
        let [parameters, average, first_moment, second_moment] = CHECKPOINT_PARTS.map(to_device);
        let parameters = parameters?;
        let network = Network::from_parameters(&network, &parameters, device).map_err(|error| error.of_file(path))?;
        let mut trainer = Trainer::new(&network, &training)
            .map_err(|error| Error(format!("the description in it is unreadable: {error}")).of_file(path))?;
        trainer.parameters = parameters.set_requires_grad(true);
        trainer.average = average?;
        trainer.first_moment = first_moment?;
        trainer.second_moment = second_moment?;
        trainer.counters = counters;
        Ok((trainer, extra))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::made_up_batch;
    use crate::tests::{shape, trained};
    use latrunculi_data::{ENCODING_VERSION, Pooling, TrainedRuleset};
    use latrunculi_engine::presets;

    fn values(tensor: &Tensor) -> Vec<f32> {
        Vec::try_from(tensor.detach()).unwrap()
    }

    fn model() -> Model {
        let search = Some(serde_json::json!({ "draw_value": 0.0 }));
        let rules = presets::rules("bell");
        let info = ModelInfo { rulesets: vec![TrainedRuleset::new(&rules, 0.75)], search, ..ModelInfo::default() };
        Model { network: trained(Pooling::GlobalBias).averaged_network().unwrap(), info }
    }

    #[test]
    fn a_model_comes_back_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.safetensors");
        let model = model();
        model.save(&path).unwrap();
        let stored = StoredModel::read(&path).unwrap();
        let network = Network::from_tensors(&stored.config, &stored.tensors, Device::CPU).unwrap();
        assert_eq!(values(&model.network.parameters), values(&network.parameters));
        assert_eq!(stored.fingerprint(), model.network.fingerprint().unwrap());
        assert_eq!(model.info, stored.info);
        let again = Model { network, info: stored.info };
        let fresh = StoredModel::fresh(model.network.config(), 3).unwrap();
        let network = Network::new(model.network.config(), 3, Device::CPU).unwrap();
        assert_eq!(fresh.fingerprint(), network.fingerprint().unwrap());
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

    /// Reads a file that was changed by `change`, and checks that the refusal says `words`.
    fn refuses(change: impl FnOnce(&mut Vec<u8>), words: &str) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.safetensors");
        model().save(&path).unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        change(&mut bytes);
        std::fs::write(&path, bytes).unwrap();
        let said = StoredModel::read(&path).unwrap_err().to_string();
        assert!(said.contains("a.safetensors") && said.contains(words), "{words}: {said}");
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
            refuses(|bytes| bytes.truncate(keep), "cut off");
        }
        refuses(|bytes| _ = bytes.pop(), "cut off");
        refuses(|bytes| bytes.push(0), "cut off");
        refuses(|bytes| bytes[..8].fill(0xff), "cut off");
        let encoding = |version: u32| format!("\"encoding\":\"{version}\"");
        for (from, to, words) in [
            ("latrunculi model", "latrunculi mobel", "not a latrunculi model"),
            ("\"format_version\":\"3\"", "\"format_version\":\"9\"", "format version 9"),
            ("\"format_version\":\"3\"", "\"format_version\":\"1\"", "of version 1, "),
            ("\"format_version\":\"3\"", "\"format_version\":\"1\"", "train anew"),
            (&encoding(ENCODING_VERSION), &encoding(ENCODING_VERSION - 1), "another encoding"),
            ("\"encoding\":", "\"encodinh\":", "the description in it is unreadable"),
            ("\\\"channels\\\":16", "\\\"channels\\\":24", "tensor '"),
            ("\"stem.bias\"", "\"stem.bios\"", "tensor 'stem.bios'"),
            ("\\\"blocks\\\":3", "\\\"blocks\\\":0", "the network cannot be built"),
            ("\\\"blocks\\\":3", "\\\"blacks\\\":3", "the description in it is unreadable"),
        ] {
            refuses(|bytes| replace(bytes, from, to), words);
        }
        let nan = |bytes: &mut Vec<u8>| {
            let end = bytes.len();
            bytes[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
        };
        refuses(nan, "not a finite number");
        let missing = StoredModel::read(Path::new("there/is/no/such/file")).unwrap_err();
        assert!(missing.to_string().contains("no/such/file: reading it: "), "{missing}");
        let folder = tempfile::tempdir().unwrap();
        assert!(StoredModel::read(folder.path()).is_err());
    }
}

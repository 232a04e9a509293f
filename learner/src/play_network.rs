//! Networks of libtorch in play: on the fused kernels where they serve, else on libtorch.

use std::path::Path;

use latrunculi_data::{ModelInfo, Precision, StoredModel};
use latrunculi_infer::InferenceModel;
use latrunculi_model::{Device, Model, NetEvaluator, Network};
use latrunculi_train::error::{Error, bail};
use latrunculi_train::models;
use latrunculi_train::networks::{EvaluatorMaker, FusedNetwork, NetworkLoader, PlayNetwork};

use crate::error::OfLibtorch;

/// A network in training or on a GPU, as it plays.
#[derive(Debug)]
pub struct LibtorchNetwork {
    /// The network.
    pub network: Network,
    /// Where it computes.
    pub device: Device,
}

impl LibtorchNetwork {
    /// Tells whether a fused kernel computes it in `precision`, which is not `auto`.
    fn is_fused(&self, precision: Precision) -> bool {
        is_fused(precision, self.device)
    }

    /// Returns the file of the network as a model.
    pub fn file(&self, info: ModelInfo) -> Result<Vec<u8>, Error> {
        let (config, tensors) = (self.network.config().clone(), self.network.tensors().of_libtorch()?);
        Ok(StoredModel { config, info, tensors }.into_bytes())
    }
}

fn is_fused(precision: Precision, device: Device) -> bool {
    !device.is_gpu() && FusedNetwork::kernel_of(precision).is_available()
}

/// Refuses a precision in which nothing computes a network here: only fused kernels have 8 bits.
pub(crate) fn check_precision(precision: Precision, device: Device) -> Result<(), Error> {
    if precision == Precision::Int8 && !is_fused(precision, device) {
        bail!(
            "precision int8 needs a processor with AMX, or AVX-512 with bf16 and VNNI, and the games played there (games.device = \"cpu\" where a GPU trains); choose auto, bf16 or f32; \
             a run that has begun keeps its precision"
        );
    }
    Ok(())
}

impl PlayNetwork for LibtorchNetwork {
    fn precision(&self, wanted: Precision) -> Precision {
        match wanted {
            Precision::Auto if self.is_fused(Precision::Int8) => FusedNetwork::fastest(self.network.config()),
            wanted => self.device.precision(wanted),
        }
    }

    fn kernel(&self, precision: Precision) -> String {
        if self.is_fused(precision) {
            return FusedNetwork::kernel_of(precision).name().to_owned();
        }
        let device = if self.device.is_gpu() { "-gpu" } else { "" };
        format!("libtorch-{precision}{device}")
    }

    fn evaluator_maker(&self, precision: Precision) -> Result<EvaluatorMaker, Error> {
        if self.is_fused(precision) {
            let (config, tensors) = (self.network.config(), self.network.tensors().of_libtorch()?);
            let model = InferenceModel::from_tensors(config, tensors)?;
            return FusedNetwork { model, fastest: precision }.evaluator_maker(precision);
        }
        check_precision(precision, self.device)?;
        let (network, device) = (self.network.shared(), self.device);
        Ok(Box::new(move || Box::new(NetEvaluator::new(&network, device, precision))))
    }
}

/// Computes networks with libtorch, on a GPU.
#[derive(Clone, Copy, Debug)]
pub struct OnDevice(pub Device);

impl NetworkLoader for OnDevice {
    fn network(&self, model: &StoredModel) -> Result<Box<dyn PlayNetwork>, Error> {
        let network = Network::from_tensors(&model.config, &model.tensors, self.0).of_libtorch()?;
        Ok(Box::new(LibtorchNetwork { network, device: self.0 }))
    }
}

/// Loads the model that a path means ([`models::read`]) for training or export.
/// Error: what is wrong with the file; for a checkpoint, where the model of its run is.
pub fn load_model(path: &Path, device: Device) -> Result<(std::path::PathBuf, Model), Error> {
    let (path, stored) = models::read(path)?;
    let network = Network::from_tensors(&stored.config, &stored.tensors, device).of_libtorch()?;
    Ok((path, Model { network, info: stored.info }))
}

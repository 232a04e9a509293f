//! Networks: opens the model that a path or an agent's text names.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};
use clap::Args;
use latrunculi_engine::Rules;
use latrunculi_engine::encoding::Shape;
use latrunculi_eval::agents::NetworkEvaluator;
use latrunculi_model::{Device, DeviceChoice, InferenceNetwork, Model, NetEvaluator, Precision, TensorFileHeader};

use crate::errors::told;
use crate::run_dir;

/// How networks are used.
#[derive(Args, Clone, Debug)]
pub(crate) struct NetworkArgs {
    /// Where networks compute: auto, cpu, cuda or cuda:N
    #[arg(long, default_value_t = DeviceChoice::Auto, value_name = "DEVICE")]
    device: DeviceChoice,
    /// Lets a network play a ruleset that it was not trained on, if the board has the same size
    #[arg(long)]
    pub(crate) other_ruleset: bool,
}

impl NetworkArgs {
    /// Computes on a device; networks play the ruleset that they were trained on.
    pub(crate) fn on(device: DeviceChoice) -> NetworkArgs {
        NetworkArgs { device, other_ruleset: false }
    }

    /// Computes where these do; `other_ruleset` says whether networks play rulesets that they were not trained on.
    pub(crate) fn playing_others(&self, other_ruleset: bool) -> NetworkArgs {
        NetworkArgs { other_ruleset, ..self.clone() }
    }

    /// Returns what opens a network for these rules by the path of its model file.
    pub(crate) fn factory(
        &self,
        rules: &Arc<Rules>,
    ) -> impl FnMut(&str) -> Result<NetworkEvaluator<'static>, String> + use<> {
        let (args, rules) = (self.clone(), Arc::clone(rules));
        move |path| args.open(path, &rules).map(|evaluator| Box::new(evaluator) as NetworkEvaluator<'static>)
    }

    fn open(&self, path: &str, rules: &Rules) -> Result<NetEvaluator, String> {
        let device = Device::open(self.device).map_err(|error| error.to_string())?;
        let (_, model) = load_model(Path::new(path), device).map_err(|error| {
            // Who asked for the network names it himself.
            let reason = told(&error);
            reason.strip_prefix(&format!("{path}: ")).map_or(reason.clone(), str::to_owned)
        })?;
        let (own, wanted) = (*model.network.shape(), Shape::of(rules));
        if own != wanted {
            return Err(format!(
                "it was trained on a {}x{} board with {} planes and {} scalars, {} has {}x{}, {} and {}",
                own.files,
                own.ranks,
                own.planes,
                own.scalars,
                rules.ruleset().id,
                wanted.files,
                wanted.ranks,
                wanted.planes,
                wanted.scalars
            ));
        }
        if model.info.ruleset != rules.ruleset().id && !self.other_ruleset {
            return Err(format!(
                "it was trained on {}, not on {}; --other-ruleset lets it play all the same",
                model.info.ruleset,
                rules.ruleset().id
            ));
        }
        let network =
            InferenceNetwork::new(&model.network, device, Precision::Auto).map_err(|error| error.to_string())?;
        Ok(NetEvaluator::new(network))
    }
}

/// The name of a model in the folder of a run's exports, of `fit` and of exports.
const MODEL: &str = "model.safetensors";

/// Returns the model file that a path means: the path itself, or in the folder of a run `export/model.safetensors`,
/// in another folder `model.safetensors`.
///
/// # Errors
/// When there is none in the folder, with what makes it.
pub(crate) fn model_path(path: &Path) -> anyhow::Result<PathBuf> {
    if !path.is_dir() {
        return Ok(path.to_owned());
    }
    let places = [path.join(run_dir::EXPORT).join(MODEL), path.join(MODEL)];
    if let Some(found) = places.iter().find(|place| place.is_file()) {
        return Ok(found.clone());
    }
    let shown = path.display();
    if path.join(run_dir::CONFIG).is_file() {
        bail!(
            "{shown}: the run has no {}/{MODEL} yet; the first training step makes it: latrunculi train --resume {shown}",
            run_dir::EXPORT
        );
    }
    bail!("{shown}: there is no model in this folder; name a model file, or the folder of a run");
}

/// Loads the model that a path means, as [`model_path`] finds it; returns where it lies, too.
///
/// # Errors
/// What is wrong with the file, and of a checkpoint where its run has the model.
pub(crate) fn load_model(path: &Path, device: Device) -> anyhow::Result<(PathBuf, Model)> {
    let path = model_path(path)?;
    match Model::load(&path, device) {
        Ok(model) => Ok((path, model)),
        Err(error) => Err(match way_from_checkpoint(&path) {
            Some(way) => anyhow::anyhow!("{error}; {way}"),
            None => error.into(),
        }),
    }
}

/// Says where the model is that belongs to a file, if that is a checkpoint.
fn way_from_checkpoint(path: &Path) -> Option<String> {
    let is_checkpoint = TensorFileHeader::read(path).ok()?.kind() == Some("latrunculi checkpoint");
    let run = path.parent()?.parent().filter(|_| is_checkpoint)?;
    if !run.join(run_dir::CONFIG).is_file() {
        return is_checkpoint.then(|| "a training makes a model of it at its end".to_owned());
    }
    let (shown, model) = (run.display(), run.join(run_dir::EXPORT).join(MODEL));
    Some(match model.is_file() {
        true => format!("the model of this run is {}", model.display()),
        false => format!("going on makes a model: latrunculi train --resume {shown}"),
    })
}

/// Returns a checksum of a model file, by which the games of one network are told from those of another
/// that has taken its place. A folder stands for the model in it.
///
/// Source: Fowler, Noll and Vo, FNV-1a, 64 bits.
pub(crate) fn checksum(path: &str) -> anyhow::Result<String> {
    let mut file = File::open(model_path(Path::new(path))?).with_context(|| format!("cannot read {path}"))?;
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut buffer = vec![0; 1 << 16];
    loop {
        let count = file.read(&mut buffer).with_context(|| format!("cannot read {path}"))?;
        if count == 0 {
            return Ok(format!("{hash:016x}"));
        }
        for &byte in &buffer[..count] {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

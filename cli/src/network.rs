//! Networks for agents: opens the model that an agent's text names.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use clap::Args;
use latrunculi_engine::Rules;
use latrunculi_engine::encoding::Shape;
use latrunculi_eval::agents::NetworkEvaluator;
use latrunculi_model::{Device, DeviceChoice, InferenceNetwork, Model, NetEvaluator, Precision};

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
        let model = Model::load(Path::new(path), device).map_err(|error| {
            // Who asked for the network names it himself.
            let reason = error.to_string();
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

/// Returns a checksum of a model file, by which the games of one network are told from those of another
/// that has taken its place.
///
/// Source: Fowler, Noll and Vo, FNV-1a, 64 bits.
pub(crate) fn checksum(path: &str) -> anyhow::Result<String> {
    let mut file = File::open(path).with_context(|| format!("cannot read {path}"))?;
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

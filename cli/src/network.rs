//! The options of commands whose agents may be networks.

use std::sync::Arc;

use clap::Args;
use latrunculi_engine::Rules;
use latrunculi_eval::agents::OpenedNetwork;
use latrunculi_model::{DeviceChoice, Precision};
use latrunculi_train::models::NetworkOpener;

/// How networks are used.
#[derive(Args, Clone, Debug)]
pub(crate) struct NetworkArgs {
    /// Where networks compute: auto, cpu, cuda or cuda:N
    #[arg(long, default_value_t = DeviceChoice::Auto, value_name = "DEVICE")]
    device: DeviceChoice,
    /// Precision of networks: auto, f32 or bf16; auto takes bf16 where the processor has it and the answers agree
    #[arg(long, default_value_t = Precision::Auto, value_name = "PRECISION")]
    precision: Precision,
    /// Lets a network play a ruleset that it was not trained on, if the board has the same size
    #[arg(long)]
    pub(crate) other_ruleset: bool,
}

impl NetworkArgs {
    /// Returns the same options with another answer to whether networks may play rulesets they were not trained on.
    pub(crate) fn with_other_ruleset(&self, other_ruleset: bool) -> NetworkArgs {
        NetworkArgs { other_ruleset, ..self.clone() }
    }

    /// Returns a function that opens a network for these rules by the path of its model file.
    pub(crate) fn factory(
        &self,
        rules: &Arc<Rules>,
    ) -> impl FnMut(&str) -> Result<OpenedNetwork<'static>, String> + use<> {
        let NetworkArgs { device, precision, other_ruleset } = *self;
        NetworkOpener { device, precision, other_ruleset }.factory(rules)
    }
}

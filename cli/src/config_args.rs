//! The arguments that name a training configuration, shared by `train`, `selfplay` and `fit`.

use clap::Args;
use latrunculi_train::{ConfigSource, SHIPPED_CONFIGS, TrainConfig};

/// A configuration and what is changed in it.
#[derive(Args)]
pub struct ConfigArgs {
    /// The configuration: a file, or a shipped one
    #[arg(help = config_help())]
    pub config: String,
    /// What is changed in it
    #[command(flatten)]
    pub set: SetArgs,
}

/// Changes of a configuration.
#[derive(Args)]
pub struct SetArgs {
    /// Sets one value of the configuration, for example budget.minutes=5; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
}

/// Returns the help text of a configuration argument.
pub(crate) fn config_help() -> String {
    format!("The configuration: a file, or a shipped one: {}", SHIPPED_CONFIGS.join(", "))
}

impl ConfigArgs {
    /// Reads the configuration.
    ///
    /// # Errors
    /// When there is none, or it cannot be used.
    pub fn read(&self) -> anyhow::Result<TrainConfig> {
        Ok(TrainConfig::read(&ConfigSource::find(&self.config)?, &self.set.settings)?)
    }
}

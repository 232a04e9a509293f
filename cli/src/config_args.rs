//! The arguments that name a training configuration, shared by `train`, `selfplay` and `fit`.

use std::path::Path;

use anyhow::bail;
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

impl SetArgs {
    /// Checks that no value is set that `--from` gives: the sizes of the network, and what else begins with `given`.
    ///
    /// # Errors
    /// When there is one.
    pub fn check_beside_from(&self, from: Option<&Path>, given: &[&str]) -> anyhow::Result<()> {
        let is_given = |setting: &&String| {
            setting.trim().starts_with("network.") || given.iter().any(|key| setting.trim().starts_with(key))
        };
        match from.and_then(|_| self.settings.iter().find(is_given)) {
            Some(setting) => {
                bail!("--set {setting} has no effect beside --from, which gives this value; leave one out")
            }
            None => Ok(()),
        }
    }
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

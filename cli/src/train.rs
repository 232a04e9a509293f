//! `train`: self-play, training and evaluation, round after round.

mod rounds;
mod text;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, ensure};
use clap::{Args, ValueEnum};
use latrunculi_store::Store;
use latrunculi_train::workers::{Close, Leader, owner_of};
use latrunculi_train::{ConfigSource, run_dir};

use crate::config_args::{SetArgs, config_help};
use crate::games_args::{notice, stopped};
use crate::quoted;

pub(crate) use rounds::{RoundTable, as_json as round_json, legend, time as time_text};
pub use text::{RunText, games as games_text, json as event_json, steps as steps_text};

/// Returns the command that goes on with the run in a folder.
pub(crate) fn command_to_resume(root: &Path) -> String {
    let store = if root.join(run_dir::STORE_ID).exists() { " --store URL, the store that it had" } else { "" };
    format!("latrunculi train --resume {}{store}", quoted(root))
}

/// When a generation that workers play is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CloseName {
    /// When all its games are there
    All,
    /// When nine tenths of the work of each ruleset are there
    Quorum,
}

impl TrainArgs {
    /// Opens and proves the store of the workers, if there is one.
    ///
    /// # Errors
    /// When the store cannot be used.
    pub fn shared_store(&self, stop: &Arc<AtomicBool>) -> anyhow::Result<Option<Arc<Store>>> {
        self.store.as_ref().map(|url| Store::lead(url, Arc::clone(stop)).map_err(stopped)).transpose()
    }

    /// Returns the options of the store as they were given, after a space; nothing without one.
    #[must_use]
    pub fn store_as_given(&self) -> String {
        let close = if self.close == CloseName::Quorum { " --close quorum" } else { "" };
        self.store.as_ref().map(|url| format!(" --store {url}{close}")).unwrap_or_default()
    }

    /// Refuses the folder of a new run whose name cannot be that of a run in a store.
    ///
    /// # Errors
    /// What is wrong with the name.
    pub fn check_name(&self) -> anyhow::Result<()> {
        let folder = match (&self.store, &self.run, &self.config) {
            (Some(_), Some(folder), _) => folder.clone(),
            (Some(_), None, Some(config)) => PathBuf::from(ConfigSource::find(config)?.name()),
            _ => return Ok(()),
        };
        let folder = folder.as_path();
        // What is not there yet has no links to follow.
        let whole = folder.canonicalize().or_else(|_| std::path::absolute(folder));
        name_of(&whole.with_context(|| folder.display().to_string())?, folder).map(|_| ())
    }

    /// Returns what leads the workers of the run in `folder`.
    ///
    /// # Errors
    /// When the folder's name cannot be that of a run in a store.
    pub fn leader(&self, store: Arc<Store>, folder: &Path) -> anyhow::Result<Leader> {
        let whole = folder.canonicalize().with_context(|| folder.display().to_string())?;
        let name = name_of(&whole, folder)?;
        let close = match self.close {
            CloseName::All => Close::All,
            CloseName::Quorum => Close::Quorum,
        };
        Ok(Leader::new(store, name, owner_of(&whole)?, close, notice))
    }
}

/// Returns the name of the run in a folder, as a store has it; `shown` is how the user named the folder.
fn name_of(folder: &Path, shown: &Path) -> anyhow::Result<String> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    ensure!(
        !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(letter)),
        "{}: the name of the folder is that of the run in the store and may have letters, digits, - _ and . only",
        shown.display()
    );
    Ok(name)
}

/// Arguments of `train`
#[derive(Args)]
pub struct TrainArgs {
    /// The configuration
    #[arg(help = config_help(), required_unless_present = "resume", conflicts_with = "resume")]
    pub config: Option<String>,
    /// Folder of the run [default: runs/NAME-N, NAME that of the configuration, or the id of a ruleset file of your own,
    /// and N the first free number]
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    pub run: Option<PathBuf>,
    /// Changes of it
    #[command(flatten)]
    pub set: SetArgs,
    /// Begins with the weights of this model, or of the model of this run, instead of random ones; the network has its size
    /// and plays its first games itself, so that teacher.generations is 0. For more training on one ruleset, or on your
    /// own: --set rulesets=FILE
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["resume", "continues"])]
    pub from: Option<PathBuf>,
    /// Continues the newest unfinished run in runs/ of the same configuration and settings; begins one if there is none
    #[arg(long = "continue", conflicts_with_all = ["run", "resume"])]
    pub continues: bool,
    /// Continues the run in this folder from its last checkpoint
    #[arg(long, value_name = "DIR")]
    pub resume: Option<PathBuf>,
    /// Lets workers on any machine play the games (`latrunculi worker --store URL`): a folder that they share, s3://, gs:// or
    /// az:// (docs/workers.md); the run's name there is that of its folder
    #[arg(long, value_name = "URL")]
    pub store: Option<String>,
    /// With --store: when a generation is closed. `quorum` does not wait for the slowest tenth of the work
    #[arg(long, value_enum, default_value_t = CloseName::All, requires = "store")]
    pub close: CloseName,
    /// Shows no progress, only a line per round and the result
    #[arg(long)]
    pub quiet: bool,
    /// Prints one JSON object per event (docs/FORMATS.md) and no progress
    #[arg(long)]
    pub json: bool,
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        train: TrainArgs,
    }

    #[test]
    fn the_way_to_go_on_has_the_options_of_the_store() {
        for given in ["", " --store s3://bucket/path", " --store folder --close quorum"] {
            let command = format!("train smoke{given}");
            let command = Command::try_parse_from(command.split(' ')).expect("a command");
            assert_eq!(command.train.store_as_given(), given);
        }
    }
}

//! `train`: self-play, training and evaluation, round after round.

mod rounds;
mod text;

use std::path::PathBuf;

use clap::Args;

use crate::config_args::{SetArgs, config_help};

pub(crate) use rounds::{LEGEND, RoundTable, time as time_text};
pub use text::{RunText, games as games_text, json as event_json, steps as steps_text};

/// Arguments of `train`
#[derive(Args)]
pub struct TrainArgs {
    /// The configuration
    #[arg(help = config_help(), required_unless_present = "resume", conflicts_with = "resume")]
    pub config: Option<String>,
    /// Folder of the run [default: runs/NAME-N, NAME that of the configuration and N the first free number]
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
    /// Shows no progress, only a line per round and the result
    #[arg(long)]
    pub quiet: bool,
    /// Prints one JSON object per round and no progress
    #[arg(long)]
    pub json: bool,
}

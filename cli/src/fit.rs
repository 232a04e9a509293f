//! `fit`: training steps on existing shards.

use std::path::PathBuf;

use crate::config_args::ConfigArgs;

/// Arguments of `fit`
#[derive(clap::Args)]
pub struct FitArgs {
    /// The configuration
    #[command(flatten)]
    pub config: ConfigArgs,
    /// Folder of the shards, as `selfplay` and `train` write them, or of a run; those of random mixes
    /// of rules are left out
    #[arg(long, value_name = "DIR")]
    pub shards: PathBuf,
    /// Folder of the checkpoint and the model; unfinished training in it is continued
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Begins with this model, or with the model of this run, instead of random weights; the network keeps its sizes
    #[arg(long, value_name = "MODEL")]
    pub from: Option<PathBuf>,
    /// Number of steps [default: what replay.reuse allows]
    #[arg(long)]
    pub steps: Option<u64>,
    /// Steps from one checkpoint to the next
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u64).range(1..))]
    pub checkpoint_every: u64,
    /// Prints one JSON object per checkpoint and nothing else
    #[arg(long)]
    pub json: bool,
    /// Shows no progress
    #[arg(long)]
    pub quiet: bool,
}

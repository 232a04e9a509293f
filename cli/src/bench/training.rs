//! `bench training`: the training step.

use clap::Args;

use super::inference::{BATCH_MAX, NetworkChoice, THREADS_MAX};
use super::seconds;
use crate::games_args::whole;

/// Arguments of `bench training`
#[derive(Args)]
pub struct TrainingArgs {
    /// The network
    #[command(flatten)]
    pub network: NetworkChoice,
    /// Positions of a step
    #[arg(long, default_value_t = 256, value_parser = whole(1..=BATCH_MAX))]
    pub batch: usize,
    /// Batches in which a step has them, as of several rulesets, at most as many as positions
    #[arg(long, default_value_t = 1, value_parser = whole(1..=BATCH_MAX))]
    pub batches: usize,
    /// Threads of a step
    #[arg(long, default_value_t = 1, value_parser = whole(1..=THREADS_MAX))]
    pub threads: usize,
    /// Computes the trunk in 32 bits, else in 16 where the processor has them
    #[arg(long)]
    pub f32: bool,
    /// Leaves out the heads of training alone: survival, opponent's policy, moves left
    #[arg(long)]
    pub plain: bool,
    /// Seconds to measure
    #[arg(long, default_value_t = 5.0, value_parser = seconds())]
    pub seconds: f64,
    /// Prints JSON
    #[arg(long)]
    pub json: bool,
}

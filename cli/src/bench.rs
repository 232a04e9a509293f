//! `bench`: what this machine gives.

mod compare;
mod engine;
mod inference;
mod scaling;
mod search;
mod selfplay;
mod targets;
mod training;

use std::time::Instant;

use clap::{Args, Subcommand};
use latrunculi_engine::presets;

use crate::games_args::number;
use crate::libtorch::{self, Libtorch};
pub use inference::{NetworkChoice, describe};
pub use training::TrainingArgs;

#[derive(Args)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    command: BenchCommand,
}

#[derive(Subcommand)]
enum BenchCommand {
    /// Uniformly random playouts on one thread: actions per second, the legal list generated at each
    Engine(engine::EngineArgs),
    /// Both searches on one thread: alpha-beta nodes per second, and MCTS simulations per second with a
    /// uniform evaluator, which is the cost of the tree itself
    Search(search::SearchArgs),
    /// The bare network: positions per second by batch and precision
    Inference(inference::InferenceArgs),
    /// Self-play beside the bare network: which share of its rate the games come to
    Selfplay(selfplay::SelfplayArgs),
    /// Policy targets: how much of what an action could gain over the network's own policy they gain, in positions of its games
    Targets(targets::TargetsArgs),
    /// Training steps: positions per second, and what the drawing of batches takes of it
    Training(TrainingArgs),
    /// What 1, 2, 4 and more cores of this machine give: self-play, training, and a search of one position
    Scaling(scaling::ScalingArgs),
}

pub(crate) fn run(args: BenchArgs, libtorch: Option<&Libtorch>) -> anyhow::Result<()> {
    match args.command {
        BenchCommand::Engine(args) => engine::run(&args),
        BenchCommand::Search(args) => search::run(&args),
        BenchCommand::Inference(args) => inference::run(&args, libtorch),
        BenchCommand::Selfplay(args) => selfplay::run(&args, libtorch),
        BenchCommand::Targets(args) => targets::run(&args, libtorch),
        BenchCommand::Scaling(args) => scaling::run(&args),
        BenchCommand::Training(args) => (libtorch::needed(libtorch, "bench training")?.bench_training)(&args),
    }
}

fn names_or_all(names: &[String]) -> Vec<String> {
    if names.is_empty() { presets::NAMES.iter().map(|name| (*name).to_owned()).collect() } else { names.to_vec() }
}

/// Reads how long to measure, in seconds.
fn seconds() -> impl Fn(&str) -> Result<f64, &'static str> + Clone {
    number(f64::MIN_POSITIVE..=3600.0, "a number above 0, 3600 at most")
}

/// Shows a number with so many digits after the point, or a dash where there is none.
fn or_dash(number: Option<f64>, decimals: usize) -> String {
    number.map_or_else(|| "-".to_owned(), |number| format!("{number:.decimals$}"))
}

/// Returns the middle of `numbers`; 0 where there are none.
fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(0.0)
}

/// Returns the processor seconds of this thread, where the system tells: under load they say more than
/// the clock on the wall.
fn processor_secs() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: u64 = text.split_whitespace().next()?.parse().ok()?;
    Some(nanoseconds as f64 * 1e-9)
}

/// Measures the time of this thread from when it is made.
pub struct Stopwatch {
    begun: Instant,
    processor_secs: Option<f64>,
}

impl Stopwatch {
    /// Starts it.
    #[must_use]
    pub fn start() -> Stopwatch {
        Stopwatch { begun: Instant::now(), processor_secs: processor_secs() }
    }

    /// Returns the seconds on the clock.
    #[must_use]
    pub fn secs(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    /// Returns the seconds that the processor gave to this thread, where the system tells.
    #[must_use]
    pub fn processor_secs(&self) -> Option<f64> {
        Some(processor_secs()? - self.processor_secs?)
    }
}

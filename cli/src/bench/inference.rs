//! `bench inference`: the bare network.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use anyhow::Context;
use clap::Args;
use latrunculi_data::{NetworkConfig, Shape};
use latrunculi_engine::{GameState, Rules};
use latrunculi_infer::{Answers, Kernel, PositionBatch};
use latrunculi_model::{Device, DeviceChoice, InferenceNetwork, Network, Precision};
use latrunculi_train::{models, play_network, rulesets};
use serde_json::json;

use super::{processor_secs, seconds, whole};

/// The most positions of a batch, and threads: beyond these a machine has no memory, or no use for them.
pub(super) const BATCH_MAX: u64 = 1 << 16;
pub(super) const THREADS_MAX: u64 = 1024;

/// Which network is measured.
#[derive(Args)]
pub(super) struct NetworkChoice {
    /// Ruleset, by name or path: the size of the board
    #[arg(long, default_value = "bell")]
    pub(super) ruleset: String,
    /// A model file, or the folder of a run; without one a fresh network
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// Residual blocks of the fresh network
    #[arg(long, default_value_t = 6, value_parser = whole(1..=1000))]
    blocks: usize,
    /// Its width
    #[arg(long, default_value_t = 64)]
    channels: usize,
    /// auto, cpu, cuda or cuda:N
    #[arg(long, default_value_t = DeviceChoice::Auto, value_name = "DEVICE")]
    device: DeviceChoice,
}

impl NetworkChoice {
    /// Returns the network on its device.
    pub(super) fn open(&self) -> anyhow::Result<(Network, Device)> {
        let device = Device::open(self.device)?;
        let network = match &self.model {
            Some(path) => models::load_model(path, device)?.1.network,
            None => {
                let config = NetworkConfig { blocks: self.blocks, channels: self.channels, ..NetworkConfig::default() };
                Network::new(&config, 1, device)?
            }
        };
        Ok((network, device))
    }
}

/// Returns how many threads the program may use.
pub(super) fn all_threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Says what is measured.
pub(super) fn describe(network: &Network, rules: &Rules, device: Device) -> String {
    let (config, shape) = (network.config(), Shape::of(rules));
    format!(
        "{} blocks x {} channels on {}x{}, {} planes, {device}",
        config.blocks, config.channels, shape.files, shape.ranks, shape.planes
    )
}

#[derive(Args)]
pub(crate) struct InferenceArgs {
    #[command(flatten)]
    network: NetworkChoice,
    /// Positions of a batch, sizes with commas between
    #[arg(long, value_delimiter = ',', default_value = "8,32,64,128,256,512", value_parser = whole(1..=BATCH_MAX))]
    batches: Vec<usize>,
    /// Threads that evaluate, each with one libtorch thread [default: all]
    #[arg(long, value_parser = whole(1..=THREADS_MAX))]
    threads: Option<usize>,
    /// Seconds to measure each
    #[arg(long, default_value_t = 1.0, value_parser = seconds)]
    seconds: f64,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// What bare forward passes came to, all threads together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bare {
    /// Positions per second of the clock.
    pub(super) per_sec: f64,
    /// Positions per second that the processor gave to a thread, times the threads: says more under load.
    pub(super) per_processor_sec: f64,
}

/// What computes a network.
#[derive(Clone, Copy, Debug)]
pub(super) enum Compute {
    /// libtorch, in a precision that is not `auto`.
    Libtorch(Precision),
    /// A fused kernel.
    Fused(Kernel),
}

impl Compute {
    /// Returns what plays in `precision` on `device`.
    pub(super) fn in_play(device: Device, precision: Precision) -> Compute {
        play_network::kernel(device, precision).map_or(Compute::Libtorch(precision), Compute::Fused)
    }
}

impl fmt::Display for Compute {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Compute::Libtorch(precision) => write!(f, "libtorch-{precision}"),
            Compute::Fused(kernel) => f.write_str(kernel.name()),
        }
    }
}

/// Computes a batch a number of times and returns the seconds that it took.
type Passes = Box<dyn FnMut(usize) -> anyhow::Result<f64> + Send>;

/// Prepares forward passes of a batch of `batch` first positions, inputs ready and outputs left where they are.
fn passes(
    rules: &Arc<Rules>,
    network: &Network,
    device: Device,
    compute: Compute,
    batch: usize,
) -> anyhow::Result<Passes> {
    let kernel = match compute {
        Compute::Libtorch(precision) => {
            let network = InferenceNetwork::new(network, rules, device, precision)?;
            return Ok(Box::new(move |repeats| Ok(network.bare_seconds(batch, repeats)?)));
        }
        Compute::Fused(kernel) => kernel,
    };
    let game = GameState::new(Arc::clone(rules));
    let mut actions = Vec::new();
    game.legal_actions(&mut actions);
    let mut positions = PositionBatch::default();
    (0..batch).for_each(|_| positions.push_game(&game, &actions));
    // For its rate alone, 8-bit integers may be scaled for these positions.
    let mut session = play_network::for_kernels(network)?.network(kernel, rules, &positions)?.session();
    let mut answers = Answers::default();
    Ok(Box::new(move |repeats| {
        let begun = Instant::now();
        for _ in 0..repeats {
            session.answer(&positions, &mut answers)?;
        }
        Ok(begun.elapsed().as_secs_f64())
    }))
}

/// Measures forward passes on `threads` threads at once.
pub(super) fn bare(
    rules: &Arc<Rules>,
    network: &Network,
    device: Device,
    compute: Compute,
    batch: usize,
    threads: usize,
    seconds: f64,
) -> anyhow::Result<Bare> {
    let all = (0..threads)
        .map(|_| passes(rules, network, device, compute, batch))
        .collect::<Result<Vec<_>, _>>()
        .context("making the network for play")?;
    let measured: Vec<anyhow::Result<Bare>> = thread::scope(|scope| {
        let run = |mut passes: Passes| -> anyhow::Result<Bare> {
            let once = passes(3)? / 3.0;
            let repeats = ((seconds / once) as usize).max(3);
            let before = processor_secs();
            let clock = passes(repeats)?;
            let computed = match before.zip(processor_secs()) {
                Some((before, after)) if !device.is_gpu() => after - before,
                _ => clock,
            };
            let positions = (batch * repeats) as f64;
            Ok(Bare { per_sec: positions / clock, per_processor_sec: positions / computed })
        };
        let handles: Vec<_> = all.into_iter().map(|passes| scope.spawn(move || run(passes))).collect();
        handles
            .into_iter()
            .map(|handle| handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    let mut sum = Bare::default();
    for one in measured {
        let one = one?;
        sum.per_sec += one.per_sec;
        sum.per_processor_sec += one.per_processor_sec;
    }
    Ok(sum)
}

pub(super) fn run(args: &InferenceArgs) -> anyhow::Result<()> {
    let rules = rulesets::load(&args.network.ruleset)?;
    let (network, device) = args.network.open()?;
    let threads = args.threads.unwrap_or_else(all_threads);
    let mut rows = Vec::new();
    if !args.json {
        println!(
            "{}, {threads} threads; positions per second of the clock, and of the processor",
            describe(&network, &rules, device)
        );
        println!("{:<14} {:>6} {:>12} {:>16}", "kernel", "batch", "per second", "per proc. second");
    }
    let libtorch = [Precision::F32, Precision::Bf16].map(Compute::Libtorch);
    let fused = if device.is_gpu() { Vec::new() } else { Kernel::available() };
    for compute in libtorch.into_iter().chain(fused.into_iter().map(Compute::Fused)) {
        for &batch in &args.batches {
            let found = bare(&rules, &network, device, compute, batch, threads, args.seconds)?;
            if args.json {
                rows.push(json!({
                    "kernel": compute.to_string(), "batch": batch, "threads": threads,
                    "positions_per_sec": found.per_sec, "positions_per_processor_sec": found.per_processor_sec,
                }));
            } else {
                println!(
                    "{:<14} {batch:>6} {:>12.0} {:>16.0}",
                    compute.to_string(),
                    found.per_sec,
                    found.per_processor_sec
                );
            }
        }
    }
    if args.json {
        println!("{}", serde_json::to_string_pretty(&rows)?);
    }
    Ok(())
}

//! `bench inference`: the bare network.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use anyhow::Context;
use clap::Args;
use latrunculi_data::{Answers, PositionBatch};
use latrunculi_data::{DeviceChoice, NetworkConfig, Precision, Shape, StoredModel};
use latrunculi_engine::{GameState, Rules};
use latrunculi_infer::{InferenceModel, Kernel};
use latrunculi_train::{models, rulesets};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;

use super::{Stopwatch, seconds};
use crate::games_args::whole;
use crate::libtorch::{self, Libtorch, Passes};
use crate::lines::Table;

/// The most positions of a batch, and threads: beyond these a machine has no memory, or no use for them.
pub(super) const BATCH_MAX: u64 = 1 << 16;
pub(super) const THREADS_MAX: u64 = 1024;

/// Which network is measured.
#[derive(Args)]
pub struct NetworkChoice {
    /// Ruleset, by name or path: the size of the board
    #[arg(long, default_value = "bell")]
    pub ruleset: String,
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
    pub device: DeviceChoice,
}

impl NetworkChoice {
    /// Returns the model.
    ///
    /// # Errors
    /// What is wrong with its file, or with the sizes of the fresh network.
    pub fn model(&self) -> anyhow::Result<StoredModel> {
        if let Some(path) = &self.model {
            return Ok(models::read(path)?.1);
        }
        let config = NetworkConfig { blocks: self.blocks, channels: self.channels, ..NetworkConfig::default() };
        Ok(StoredModel::fresh(&config, 1)?)
    }
}

/// Returns how many threads the program may use.
pub(super) fn all_threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Names the device that was chosen.
pub(super) fn device_name(device: DeviceChoice, is_gpu: bool) -> String {
    match device {
        _ if !is_gpu => DeviceChoice::Cpu.to_string(),
        DeviceChoice::Auto => DeviceChoice::Cuda(0).to_string(),
        chosen => chosen.to_string(),
    }
}

/// Says what is measured.
#[must_use]
pub fn describe(config: &NetworkConfig, rules: &Rules, device: &str) -> String {
    let shape = Shape::of(rules);
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
    #[arg(long, default_value_t = 1.0, value_parser = seconds())]
    seconds: f64,
    /// Measures all kernels and libtorch in turns instead, on networks of four sizes and on boards of five
    #[arg(long, conflicts_with_all = ["ruleset", "model", "blocks", "channels", "batches", "device"])]
    compare: bool,
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

#[derive(Clone, Copy)]
pub(super) enum Compute<'a> {
    Fused(Kernel),
    /// libtorch, on a device in a precision that is not `auto`.
    Libtorch(&'a Libtorch, DeviceChoice, Precision),
}

impl Compute<'_> {
    /// Tells whether a GPU computes, of which the processor's time says nothing.
    fn is_on_gpu(self) -> bool {
        matches!(self, Compute::Libtorch(_, device, _) if device != DeviceChoice::Cpu)
    }
}

impl fmt::Display for Compute<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Compute::Fused(kernel) => f.write_str(kernel.name()),
            Compute::Libtorch(_, _, precision) => write!(f, "libtorch-{precision}"),
        }
    }
}

/// Prepares forward passes of a batch of `batch` positions of a random game, inputs ready and outputs left where they are.
fn passes(rules: &Arc<Rules>, model: &StoredModel, compute: Compute<'_>, batch: usize) -> anyhow::Result<Passes> {
    let kernel = match compute {
        Compute::Libtorch(libtorch, device, precision) => {
            return (libtorch.passes)(model, rules, device, precision, batch);
        }
        Compute::Fused(kernel) => kernel,
    };
    let mut game = GameState::new(Arc::clone(rules));
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(0);
    let mut actions = Vec::new();
    let mut positions = PositionBatch::default();
    for _ in 0..batch {
        game.legal_actions(&mut actions);
        positions.push_game(&game, &actions);
        game.play(actions[rng.random_range(0..actions.len())]);
        if game.outcome().is_some() {
            game = GameState::new(Arc::clone(rules));
        }
    }
    // For its rate alone, 8-bit integers may be scaled for these positions.
    let model = InferenceModel::from_tensors(&model.config, model.tensors.clone())?;
    let mut session = model.network(kernel, rules, &positions)?.session();
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
    model: &StoredModel,
    compute: Compute<'_>,
    batch: usize,
    threads: usize,
    seconds: f64,
) -> anyhow::Result<Bare> {
    let all = (0..threads)
        .map(|_| passes(rules, model, compute, batch))
        .collect::<Result<Vec<_>, _>>()
        .context("making the network for play")?;
    let measured: Vec<anyhow::Result<Bare>> = thread::scope(|scope| {
        let run = |mut passes: Passes| -> anyhow::Result<Bare> {
            let once = passes(3)? / 3.0;
            let repeats = ((seconds / once) as usize).max(3);
            let watch = Stopwatch::start();
            let clock = passes(repeats)?;
            let computed = watch.processor_secs().filter(|_| !compute.is_on_gpu()).unwrap_or(clock);
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

pub(super) fn run(args: &InferenceArgs, libtorch: Option<&Libtorch>) -> anyhow::Result<()> {
    let device = args.network.device;
    // Where libtorch is, it is measured too.
    let has_libtorch = libtorch.is_some() || libtorch::program().is_some() || matches!(device, DeviceChoice::Cuda(_));
    let libtorch = if has_libtorch { Some(libtorch::needed(libtorch, "measuring libtorch")?) } else { None };
    let threads = args.threads.unwrap_or_else(all_threads);
    if args.compare {
        return super::compare::run(libtorch, threads, args.seconds, args.json);
    }
    let rules = rulesets::load(&args.network.ruleset)?;
    let model = args.network.model()?;
    let is_gpu = libtorch::gpu(device, true, libtorch)?.is_some();
    if !args.json {
        let described = describe(&model.config, &rules, &device_name(device, is_gpu));
        println!("{described}, {threads} threads; positions per second of the clock, and of the processor");
    }
    let place = if is_gpu { device } else { DeviceChoice::Cpu };
    let of_libtorch = libtorch.into_iter().flat_map(|libtorch| {
        [Precision::F32, Precision::Bf16].map(|precision| Compute::Libtorch(libtorch, place, precision))
    });
    let fused = if is_gpu { Vec::new() } else { Kernel::available() };
    let computes = of_libtorch.chain(fused.into_iter().map(Compute::Fused));
    let cases = computes.flat_map(|compute| args.batches.iter().map(move |&batch| (compute, batch)));
    let measure = |(compute, batch): (Compute<'_>, usize)| {
        let found = bare(&rules, &model, compute, batch, threads, args.seconds)?;
        Ok(Row {
            kernel: compute.to_string(),
            batch,
            threads,
            positions_per_sec: found.per_sec,
            positions_per_processor_sec: found.per_processor_sec,
        })
    };
    let table = Table::new()
        .left("kernel", 14, |row: &Row| row.kernel.clone())
        .right("batch", 5, |row| row.batch.to_string())
        .right("per second", 11, |row| format!("{:.0}", row.positions_per_sec))
        .right("per proc. second", 16, |row| format!("{:.0}", row.positions_per_processor_sec));
    table.print(args.json, cases.map(measure))
}

#[derive(Serialize)]
struct Row {
    kernel: String,
    batch: usize,
    threads: usize,
    positions_per_sec: f64,
    positions_per_processor_sec: f64,
}

//! `bench selfplay`: self-play beside the bare network.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use clap::Args;
use latrunculi_data::Precision;
use latrunculi_selfplay::{
    ActorEvaluator, Pool, PoolPlan, PoolTask, Progress, Quota, SelfPlayError, SelfPlaySettings, Watch, play_pools,
};
use latrunculi_train::networks::{FusedNetwork, NetworkLoader, Processor};
use latrunculi_train::rulesets;
use serde_json::json;

use super::inference::{BATCH_MAX, Compute, NetworkChoice, THREADS_MAX, all_threads, bare, describe, device_name};
use super::{Stopwatch, median, seconds};
use crate::games_args::whole;
use crate::libtorch::{self, Libtorch};
use crate::lines::print_json;

#[derive(Args)]
pub(crate) struct SelfplayArgs {
    #[command(flatten)]
    network: NetworkChoice,
    /// Simulations of a search
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    simulations: u32,
    /// Actors: threads that play and evaluate, each a pool of its own [default: all]
    #[arg(long, value_parser = whole(1..=THREADS_MAX))]
    actors: Option<usize>,
    /// Games in flight in each pool, the size of its batches
    #[arg(long, default_value_t = 128, value_parser = whole(1..=BATCH_MAX))]
    in_flight: usize,
    /// Moves the trees of an actor by several threads
    #[arg(long)]
    parallel_trees: bool,
    /// auto, f32, bf16 or int8
    #[arg(long, default_value_t = Precision::Auto)]
    precision: Precision,
    /// Seconds of each measurement
    #[arg(long, default_value_t = 5.0, value_parser = seconds())]
    seconds: f64,
    /// Measurements of the bare network and of self-play, in turns; the middle one counts
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    rounds: u64,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// What self-play came to in one measurement.
#[derive(Clone, Copy, Debug, Default)]
struct Rates {
    per_sec: f64,
    per_processor_sec: f64,
    /// Share of the actors' time in which the network worked.
    network_busy: f64,
    batch_fill: f64,
}

/// Stops the games after some time and adds up what the processor gave to the actors.
struct Clock {
    since: Instant,
    length: Duration,
    processor_nanos: AtomicU64,
    batches: Mutex<HashMap<ThreadId, Stopwatch>>,
}

impl Watch for Clock {
    fn goes_on(&self, _progress: &Progress) -> bool {
        self.since.elapsed() < self.length
    }

    fn begin_batch(&self) {
        let mut batches = self.batches.lock().unwrap_or_else(PoisonError::into_inner);
        batches.insert(thread::current().id(), Stopwatch::start());
    }

    fn end_batch(&self) {
        let batch = self.batches.lock().unwrap_or_else(PoisonError::into_inner).remove(&thread::current().id());
        if let Some(secs) = batch.and_then(|batch| batch.processor_secs()) {
            self.processor_nanos.fetch_add((secs * 1e9) as u64, Ordering::Relaxed);
        }
    }
}

pub(super) fn run(args: &SelfplayArgs, libtorch: Option<&Libtorch>) -> anyhow::Result<()> {
    let device = args.network.device;
    let gpu = libtorch::gpu(device, true, libtorch)?;
    let rules = rulesets::load(&args.network.ruleset)?;
    let model = args.network.model()?;
    let loader: &dyn NetworkLoader = gpu.as_deref().unwrap_or(&Processor);
    let network = loader.network(&model)?;
    let actors = args.actors.unwrap_or_else(all_threads);
    let precision = network.precision(args.precision);
    let compute = match libtorch {
        Some(libtorch) if gpu.is_some() => Compute::Libtorch(libtorch, device, precision),
        _ => Compute::Fused(FusedNetwork::kernel_of(precision)),
    };
    let described = describe(&model.config, &rules, &device_name(device, gpu.is_some()));
    let (mut bares, mut plays) = (Vec::new(), Vec::new());
    for round in 0..args.rounds {
        bares.push(bare(&rules, &model, compute, args.in_flight, actors, args.seconds)?);
        let mut evaluators = network.evaluators(actors, precision)?;
        let mut each: Vec<ActorEvaluator<'_>> =
            evaluators.iter_mut().map(|evaluator| -> ActorEvaluator<'_> { &mut **evaluator }).collect();
        let task = |number| -> Result<PoolTask<'_>, SelfPlayError> {
            let plan = PoolPlan {
                rules: Arc::clone(&rules),
                settings: SelfPlaySettings { simulations: args.simulations, ..SelfPlaySettings::default() },
                teacher: None,
                run_seed: 1,
                name: format!("bench-{round}-{number}"),
                in_flight: args.in_flight,
                first_game: 0,
            };
            // More than there is time for.
            Ok(PoolTask { pool: Pool::new(plan)?, quota: Quota::Games(u64::MAX), journal: None })
        };
        let tasks = (0..actors).map(task).collect::<Result<Vec<_>, _>>()?;
        let progress = Progress::default();
        let clock = Clock {
            since: Instant::now(),
            length: Duration::from_secs_f64(args.seconds),
            processor_nanos: AtomicU64::new(0),
            batches: Mutex::default(),
        };
        match play_pools(tasks, &mut each, args.parallel_trees, &progress, &clock) {
            Err(SelfPlayError::Stopped) => {}
            other => _ = other?,
        }
        let secs = clock.since.elapsed().as_secs_f64();
        let load = |number: &AtomicU64| number.load(Ordering::Relaxed) as f64;
        let evaluations = load(&progress.evaluations);
        let actor_secs = load(&clock.processor_nanos) * 1e-9;
        plays.push(Rates {
            per_sec: evaluations / secs,
            // The actors' seconds are summed, so that an actor's rate is taken as often as there are actors.
            per_processor_sec: if actor_secs > 0.0 { evaluations / actor_secs * actors as f64 } else { 0.0 },
            network_busy: load(&progress.evaluator_nanos) / load(&progress.actor_nanos),
            batch_fill: evaluations / load(&progress.places),
        });
    }
    let of = |part: fn(&Rates) -> f64| median(plays.iter().map(part).collect());
    let ceiling = median(bares.iter().map(|bare| bare.per_sec).collect());
    let ceiling_processor = median(bares.iter().map(|bare| bare.per_processor_sec).collect());
    let ratio = median(plays.iter().zip(&bares).map(|(play, bare)| play.per_sec / bare.per_sec).collect());
    let ratio_processor =
        median(plays.iter().zip(&bares).map(|(play, bare)| play.per_processor_sec / bare.per_processor_sec).collect());
    // The processor's time says nothing about a GPU, and nothing where trees are moved by other threads.
    let has_processor = gpu.is_none() && !args.parallel_trees && of(|play| play.per_processor_sec) > 0.0;
    if args.json {
        let report = json!({
            "network": described, "ruleset": args.network.ruleset, "kernel": compute.to_string(),
            "actors": actors, "in_flight": args.in_flight, "simulations": args.simulations,
            "evaluations_per_sec": of(|play| play.per_sec),
            "bare_per_sec": ceiling,
            "share_of_bare": ratio,
            "evaluations_per_processor_sec": has_processor.then(|| of(|play| play.per_processor_sec)),
            "bare_per_processor_sec": has_processor.then_some(ceiling_processor),
            "share_of_bare_by_processor": has_processor.then_some(ratio_processor),
            "network_busy": of(|play| play.network_busy),
            "batch_fill": of(|play| play.batch_fill),
        });
        return print_json(&report);
    }
    println!(
        "{described}, {compute}, {actors} actors of {} games, {} simulations, {}",
        args.in_flight, args.simulations, args.network.ruleset
    );
    println!("{:<34} {:>12} {:>16}", "", "per second", "per proc. second");
    let row = |name: &str, clock: f64, processor: f64| {
        let processor = if has_processor { format!("{processor:.0}") } else { "-".to_owned() };
        println!("{name:<34} {clock:>12.0} {processor:>16}");
    };
    row("bare network, same batch", ceiling, ceiling_processor);
    row("evaluations in self-play", of(|play| play.per_sec), of(|play| play.per_processor_sec));
    let processor = if has_processor { format!("{ratio_processor:.3}") } else { "-".to_owned() };
    println!("{:<34} {ratio:>12.3} {processor:>16}", "share of the bare network");
    println!(
        "network at work {:.1} % of the actors' time, trees {:.1} %; batches {:.1} % full",
        of(|play| play.network_busy) * 100.0,
        (1.0 - of(|play| play.network_busy)) * 100.0,
        of(|play| play.batch_fill) * 100.0
    );
    Ok(())
}

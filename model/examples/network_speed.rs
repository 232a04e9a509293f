//! Measures the forward rate of the inference copy and the rate of training on made-up positions.
//!
//! `cargo run --release -p latrunculi-model --example network_speed -- [blocks] [channels] [threads] [batch,…]`
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::sync::OnceLock;
use std::time::Instant;

use latrunculi_data::{EncodedBatch, NetworkConfig, Pooling, Precision, Shape, TrainingConfig, rule_inputs};
use latrunculi_engine::{Rules, presets};
use latrunculi_model::testing::made_up_batch;
use latrunculi_model::{Answers, Device, InferenceNetwork, Network, Trainer};

/// Returns the time that the calling thread has computed, in seconds, so that other work on the machine counts
/// little; where the system does not say it, and with several threads, the time that has passed.
fn seconds() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let start = START.get_or_init(Instant::now);
    let computed = || -> Option<f64> {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        Some(text.split(' ').next()?.parse::<f64>().ok()? * 1e-9)
    };
    computed().unwrap_or_else(|| start.elapsed().as_secs_f64())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number =
        |index: usize, default: usize| arguments.get(index).and_then(|text| text.parse().ok()).unwrap_or(default);
    let (blocks, channels, threads) = (number(0, 4), number(1, 32), number(2, 1));
    let batches: Vec<usize> = arguments.get(3).map_or_else(
        || vec![8, 64, 128, 256, 512],
        |list| list.split(',').filter_map(|text| text.parse().ok()).collect(),
    );
    let pooling = match arguments.get(4).map(String::as_str) {
        Some("none") => Pooling::None,
        Some("se") => Pooling::SqueezeExcitation,
        _ => Pooling::GlobalBias,
    };
    let rules = Rules::new(&presets::ruleset("dutch-8x8").ok_or("no such ruleset")?)?;
    let shape = Shape::of(&rules);
    let config = NetworkConfig { blocks, channels, pooling, ..NetworkConfig::default() };
    println!("{config:?}, 8x8, 40 actions a position");
    for precision in [Precision::F32, Precision::Bf16] {
        for &batch_size in &batches {
            let rates: Vec<f64> = std::thread::scope(|scope| {
                let run = || -> Result<f64, String> {
                    let text = |error: &dyn Error| error.to_string();
                    let network = Network::new(&config, 1, Device::CPU).map_err(|error| text(&error))?;
                    let mut network = InferenceNetwork::new(&network, &rules, Device::CPU, precision)
                        .map_err(|error| text(&error))?;
                    let mut batch = made_up_batch(&shape, batch_size, 40);
                    batch.rule_inputs = rule_inputs::of(rules.ruleset());
                    let encoded = EncodedBatch {
                        planes: &batch.planes,
                        scalars: &batch.scalars,
                        rule_inputs: &batch.rule_inputs,
                        action_offsets: &batch.action_offsets,
                        action_indices: &batch.action_indices,
                    };
                    let mut answers = Answers::default();
                    let mut best = 0.0_f64;
                    for _ in 0..6 {
                        let (start, mut count) = (seconds(), 0);
                        while seconds() - start < 0.3 {
                            network.answer(&encoded, &mut answers).map_err(|error| text(&error))?;
                            count += batch_size;
                        }
                        best = best.max(count as f64 / (seconds() - start));
                    }
                    Ok(best)
                };
                let workers: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
                workers.into_iter().filter_map(|worker| worker.join().ok()?.ok()).collect()
            });
            println!(
                "inference {precision} batch {batch_size:4}: {:8.0} positions/s, {threads} thread(s)",
                rates.iter().sum::<f64>()
            );
        }
    }
    for precision in [Precision::F32, Precision::Bf16] {
        for batch_size in [256, 1024] {
            let network = Network::new(&config, 1, Device::CPU)?;
            let settings = TrainingConfig { precision, threads, ..TrainingConfig::default() };
            let mut trainer = Trainer::new(&network, &settings)?;
            let batch = [made_up_batch(&shape, batch_size, 40)];
            let mut best = 0.0_f64;
            for _ in 0..6 {
                let (start, mut count) = (seconds(), 0);
                while seconds() - start < 0.5 {
                    trainer.step(&batch, 0.0)?;
                    count += batch_size;
                }
                best = best.max(count as f64 / (seconds() - start));
            }
            println!("training {precision:?} batch {batch_size:4}: {best:8.0} samples/s, {threads} thread(s)");
        }
    }
    Ok(())
}

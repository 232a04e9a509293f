//! `bench inference --compare`: every kernel and libtorch in turns, on networks of several sizes and on every board.

use std::sync::Arc;

use latrunculi_data::{DeviceChoice, NetworkConfig, Precision, StoredModel};
use latrunculi_infer::Kernel;
use latrunculi_train::rulesets;
use serde_json::json;

use super::inference::{Bare, Compute, bare};
use super::median;
use crate::libtorch::Libtorch;

/// Blocks and channels.
const NETWORKS: [(usize, usize); 4] = [(4, 32), (5, 48), (6, 64), (10, 128)];
/// A ruleset for each size of the shipped boards.
const RULESETS: [&str; 5] = ["bell", "bell-8x8", "bell-9x10", "dutch", "falkener"];
/// Positions of a batch.
const BATCH: usize = 64;
/// How often each is measured, in turns.
const ROUNDS: usize = 3;

/// A kernel in one setting.
struct Row {
    precision: String,
    /// Positions per second of the processor, the median of the rounds.
    per_sec: f64,
    /// That, by libtorch's in bf16 in the same round, the median of the rounds; `None` without libtorch.
    ratio: Option<f64>,
}

/// Measures everything, `seconds` for each measurement, and prints a row for each.
pub(super) fn run(libtorch: Option<&dyn Libtorch>, threads: usize, seconds: f64, json: bool) -> anyhow::Result<()> {
    let mut all = Vec::new();
    if !json {
        println!(
            "batches of {BATCH}, {threads} threads, median of {ROUNDS} rounds in turns; positions per processor second"
        );
        println!(
            "{:>6} {:>8}  {:<10} {:<14} {:>10} {:>26}",
            "blocks", "channels", "ruleset", "kernel", "per second", "by libtorch bf16"
        );
    }
    for (blocks, channels) in NETWORKS {
        let config = NetworkConfig { blocks, channels, ..NetworkConfig::default() };
        let model = StoredModel::fresh(&config, 1)?;
        for ruleset in RULESETS {
            for Row { precision, per_sec, ratio } in rows(libtorch, &model, ruleset, threads, seconds)? {
                if json {
                    all.push(json!({
                        "blocks": blocks, "channels": channels, "ruleset": ruleset, "batch": BATCH, "threads": threads,
                        "precision": precision, "per_sec": per_sec, "ratio": ratio,
                    }));
                } else {
                    let ratio = ratio.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio:.2}"));
                    println!("{blocks:>6} {channels:>8}  {ruleset:<10} {precision:<14} {per_sec:>10.0} {ratio:>26}");
                }
            }
        }
    }
    if json {
        println!("{}", serde_json::to_string_pretty(&all)?);
    }
    Ok(())
}

/// Measures all kernels and libtorch in turns.
fn rows(
    libtorch: Option<&dyn Libtorch>,
    model: &StoredModel,
    ruleset: &str,
    threads: usize,
    seconds: f64,
) -> anyhow::Result<Vec<Row>> {
    let rules = rulesets::load(ruleset)?;
    let fused = Kernel::available().into_iter().map(Compute::Fused);
    let of_libtorch = libtorch.into_iter().flat_map(|libtorch| {
        [Precision::Bf16, Precision::F32].map(|precision| Compute::Libtorch(libtorch, DeviceChoice::Cpu, precision))
    });
    let computes: Vec<Compute<'_>> = of_libtorch.chain(fused).collect();
    let mut rates: Vec<Vec<f64>> = vec![Vec::new(); computes.len()];
    for _ in 0..ROUNDS {
        for (compute, rates) in computes.iter().zip(&mut rates) {
            let Bare { per_processor_sec, .. } = bare(&Arc::clone(&rules), model, *compute, BATCH, threads, seconds)?;
            rates.push(per_processor_sec);
        }
    }
    let reference = libtorch.map(|_| rates[0].clone());
    let row = |(compute, rates): (&Compute<'_>, &Vec<f64>)| Row {
        precision: compute.to_string(),
        per_sec: median(rates.clone()),
        ratio: reference
            .as_ref()
            .map(|reference| median(rates.iter().zip(reference).map(|(rate, reference)| rate / reference).collect())),
    };
    Ok(computes.iter().zip(&rates).map(row).collect())
}

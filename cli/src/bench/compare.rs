//! `bench inference --compare`: every kernel and libtorch in turns, on networks of several sizes and on every board.

use latrunculi_data::{DeviceChoice, NetworkConfig, Precision, StoredModel};
use latrunculi_infer::Kernel;
use latrunculi_train::rulesets;
use serde::Serialize;

use super::inference::{Compute, bare};
use super::{median, or_dash};
use crate::libtorch::Libtorch;
use crate::lines::Table;

const NETWORKS: [(usize, usize); 4] = [(4, 32), (5, 48), (6, 64), (10, 128)];
/// A ruleset for each size of the shipped boards.
const RULESETS: [&str; 5] = ["bell", "bell-8x8", "bell-9x10", "dutch", "falkener"];
const BATCH: usize = 64;
/// How often each is measured, in turns.
const ROUNDS: usize = 3;

#[derive(Serialize)]
struct Row {
    blocks: usize,
    channels: usize,
    ruleset: &'static str,
    batch: usize,
    threads: usize,
    precision: String,
    /// Positions per second of the processor, the median of the rounds.
    per_sec: f64,
    /// That, by libtorch's in bf16 in the same round, the median of the rounds; `None` without libtorch.
    ratio: Option<f64>,
}

/// Measures everything, `seconds` for each measurement, and prints a row for each.
pub(super) fn run(libtorch: Option<&Libtorch>, threads: usize, seconds: f64, json: bool) -> anyhow::Result<()> {
    if !json {
        println!(
            "batches of {BATCH}, {threads} threads, median of {ROUNDS} rounds in turns; positions per processor second"
        );
    }
    let table = Table::new()
        .right("blocks", 6, |row: &Row| row.blocks.to_string())
        .right("channels", 7, |row| row.channels.to_string())
        .left("ruleset", 10, |row| row.ruleset.to_owned())
        .left("kernel", 14, |row| row.precision.clone())
        .right("per second", 10, |row| format!("{:.0}", row.per_sec))
        .right("by libtorch bf16", 16, |row| or_dash(row.ratio, 2));
    let cases = NETWORKS.into_iter().flat_map(|network| RULESETS.map(|ruleset| (network, ruleset)));
    // The kernels of a case are measured in turns, so that their rows are there together.
    let rows = cases.flat_map(|(network, ruleset)| match rows(libtorch, network, ruleset, threads, seconds) {
        Ok(rows) => rows.into_iter().map(Ok).collect(),
        Err(error) => vec![Err(error)],
    });
    table.print(json, rows)
}

/// Measures all kernels and libtorch in turns.
fn rows(
    libtorch: Option<&Libtorch>,
    (blocks, channels): (usize, usize),
    ruleset: &'static str,
    threads: usize,
    seconds: f64,
) -> anyhow::Result<Vec<Row>> {
    let config = NetworkConfig { blocks, channels, ..NetworkConfig::default() };
    let model = StoredModel::fresh(&config, 1)?;
    let rules = rulesets::load(ruleset)?;
    let fused = Kernel::available().into_iter().map(Compute::Fused);
    let of_libtorch = libtorch.into_iter().flat_map(|libtorch| {
        [Precision::Bf16, Precision::F32].map(|precision| Compute::Libtorch(libtorch, DeviceChoice::Cpu, precision))
    });
    let computes: Vec<Compute<'_>> = of_libtorch.chain(fused).collect();
    let mut rates: Vec<Vec<f64>> = vec![Vec::new(); computes.len()];
    for _ in 0..ROUNDS {
        for (compute, rates) in computes.iter().zip(&mut rates) {
            rates.push(bare(&rules, &model, *compute, BATCH, threads, seconds)?.per_processor_sec);
        }
    }
    let reference = libtorch.map(|_| rates[0].clone());
    let by_reference = |rates: &[f64]| {
        let reference = reference.as_ref()?;
        Some(median(rates.iter().zip(reference).map(|(rate, reference)| rate / reference).collect()))
    };
    let row = |(compute, rates): (&Compute<'_>, &Vec<f64>)| Row {
        blocks,
        channels,
        ruleset,
        batch: BATCH,
        threads,
        precision: compute.to_string(),
        per_sec: median(rates.clone()),
        ratio: by_reference(rates),
    };
    Ok(computes.iter().zip(&rates).map(row).collect())
}

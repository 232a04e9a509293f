//! `bench scaling`: what more cores give.

use std::env;
use std::process::Command;

use anyhow::{Context, ensure};
use clap::Args;
use serde::Serialize;
use serde_json::Value;

use super::inference::all_threads;
use super::seconds;
use crate::lines::Table;

#[derive(Args)]
pub(super) struct ScalingArgs {
    /// Seconds of each measurement
    #[arg(long, default_value_t = 3.0, value_parser = seconds())]
    seconds: f64,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// What so many cores give, per second.
#[derive(Serialize)]
struct Row {
    cores: usize,
    selfplay_evaluations_per_sec: f64,
    training_samples_per_sec: Option<f64>,
    search_simulations_per_sec: f64,
    /// Of one search, which uses one core.
    alphabeta_nodes_per_sec: f64,
}

/// Measures the network of the program in `bell`: with 1, 2, 4 and so on of the cores that this process may use, each by a process that
/// may use no others.
pub(super) fn run(args: &ScalingArgs) -> anyhow::Result<()> {
    let all = all_threads();
    let mut counts: Vec<usize> =
        std::iter::successors(Some(1), |count| Some(2 * count)).take_while(|&count| count < all).collect();
    counts.push(all);
    let rate = |number: f64| format!("{number:.0}");
    let table = Table::new()
        .right("cores", 5, |row: &Row| row.cores.to_string())
        .right("evaluations/s", 13, |row| rate(row.selfplay_evaluations_per_sec))
        .right("samples/s", 9, |row| super::or_dash(row.training_samples_per_sec, 0))
        .right("simulations/s", 13, |row| rate(row.search_simulations_per_sec))
        .right("nodes/s", 9, |row| rate(row.alphabeta_nodes_per_sec));
    if !args.json {
        println!(
            "evaluations of self-play, samples of training, simulations of one search,\n\
             nodes of one search by alpha-beta, which uses one core\n"
        );
    }
    table.print(args.json, counts.into_iter().map(|cores| measure(cores, args.seconds)))
}

fn measure(cores: usize, seconds: f64) -> anyhow::Result<Row> {
    let (count, length) = (cores.to_string(), seconds.to_string());
    let of = |words: &str| -> anyhow::Result<Value> {
        let words = words.replace("CORES", &count).replace("SECONDS", &length);
        let mut command = Command::new("taskset");
        command.args(["--cpu-list", &cores_of(cores)?]).arg(env::current_exe()?).args(words.split(' '));
        let output = command.output().context("taskset of util-linux is needed to keep a process on some cores")?;
        ensure!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr).trim());
        Ok(serde_json::from_slice(&output.stdout)?)
    };
    let number = |found: &Value, key: &str| found[key].as_f64().with_context(|| format!("no {key} was measured"));
    let selfplay =
        of("bench selfplay --device cpu --blocks 6 --channels 64 --actors CORES --rounds 1 --seconds SECONDS --json")?;
    // Without libtorch nothing is trained.
    let training = of("bench training --device cpu --blocks 6 --channels 64 --threads CORES --seconds SECONDS --json");
    let training = training.inspect_err(|error| eprintln!("note: no training on {cores} cores: {error}")).ok();
    let search = of("analyse bell --agent net:seconds=SECONDS --json")?;
    let alphabeta = of("analyse bell --agent alphabeta:seconds=SECONDS --best 1 --json")?;
    Ok(Row {
        cores,
        selfplay_evaluations_per_sec: number(&selfplay, "evaluations_per_sec")?,
        training_samples_per_sec: training.and_then(|found| found["samples_per_sec"].as_f64()),
        search_simulations_per_sec: number(&search, "effort")? / seconds,
        alphabeta_nodes_per_sec: number(&alphabeta, "effort")? / seconds,
    })
}

/// Returns the first cores that this process may use, as the system numbers them.
fn cores_of(count: usize) -> anyhow::Result<String> {
    let status =
        std::fs::read_to_string("/proc/self/status").context("which cores may be used is told by Linux alone")?;
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap_or_default();
    let mut cores = Vec::new();
    for range in list.trim().split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        cores.extend(first.parse::<usize>()?..=last.parse()?);
    }
    let chosen: Vec<String> = cores.iter().take(count).map(usize::to_string).collect();
    Ok(chosen.join(","))
}

//! `doctor`: what was found on this machine, what will be used, how to mend what is wrong.

use std::process::Command;

use clap::Args;
use latrunculi_data::{DeviceChoice, Precision};
use latrunculi_infer::{Kernel, Unit};
use latrunculi_store::{Check, Patience, Store};
use latrunculi_train::config::{ConfigSource, GameCounts, TrainConfig};
use latrunculi_train::networks::FusedNetwork;
use serde_json::{Value, json};

use crate::games_args::stopped;
use crate::interrupt::stop_on_interrupt;
use crate::libtorch::{self, Libtorch};
use crate::lines::{facts, print_json};

#[derive(Args)]
pub(crate) struct DoctorArgs {
    /// Only proves that this store does what workers need of it: a folder, s3://, gs:// or az:// (docs/workers.md)
    #[arg(long, value_name = "URL")]
    store: Option<String>,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// Asks the libtorch of this program, or the program that has it, for a GPU and returns why there is none; the outer error is
/// why there is no libtorch.
fn gpu(libtorch: Option<&Libtorch>) -> Result<Result<(), String>, String> {
    if let Some(libtorch) = libtorch {
        return Ok((libtorch.gpu)(DeviceChoice::Cuda(0)).map(drop).map_err(|error| format!("{error:#}")));
    }
    let program = libtorch::program().ok_or_else(libtorch::missing)?;
    let fault = |why: &str| format!("{} cannot be started: {why}", program.display());
    let output = Command::new(&program).args(["doctor", "--json"]).output();
    let output = output.map_err(|error| fault(&error.to_string()))?;
    let said = serde_json::from_slice::<Value>(&output.stdout).ok().filter(|_| output.status.success());
    let said = said.ok_or_else(|| fault(String::from_utf8_lossy(&output.stderr).trim()))?;
    Ok(said["gpu_fault"].as_str().map_or(Ok(()), |fault| Err(fault.to_owned())))
}

/// Tries a store and prints what it does.
fn prove(url: &str, is_json: bool) -> anyhow::Result<()> {
    let store = Store::open(url, false, stop_on_interrupt()?)?.with_patience(Patience::FIRST);
    let proof = store.prove().map_err(stopped)?;
    let faults = proof.faults();
    if is_json {
        let check = |check: &Check| json!({ "need": check.need, "fault": check.fault });
        let checks: Vec<Value> = proof.checks.iter().map(check).collect();
        print_json(&json!({ "store": url, "fit": faults.is_empty(), "checks": checks }))?;
    } else {
        let told = |check: &Check| (check.need, check.fault.clone().unwrap_or_else(|| "yes".to_owned()));
        print!("{}", facts(0, &proof.checks.iter().map(told).collect::<Vec<_>>()));
    }
    anyhow::ensure!(faults.is_empty(), "{store} cannot be used for workers");
    Ok(())
}

pub(crate) fn run(args: &DoctorArgs, libtorch: Option<&Libtorch>) -> anyhow::Result<()> {
    if let Some(url) = &args.store {
        return prove(url, args.json);
    }
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let bf16 = Unit::best().is_available();
    let found = gpu(libtorch);
    let libtorch = found.as_ref().map(drop);
    let gpu = found.as_ref().map_or(Err("it needs libtorch"), |gpu| gpu.as_ref().map(drop).map_err(String::as_str));
    // A missing GPU is no fault: `auto` takes the processor then.
    let gpu_text = match &gpu {
        Ok(()) if libtorch::is_processor_faster() => {
            "found; \"auto\" trains networks of 64 channels and more on it; agents compute on this processor, the faster \
             one for networks of up to 64, unless --device cuda is given"
                .to_owned()
        }
        Ok(()) => "found, used by device = \"auto\"".to_owned(),
        Err(_) if !libtorch::has_gpu() => "none found".to_owned(),
        Err(error) => format!("none usable: {error}"),
    };
    let features = processor_features();
    let kernels: Vec<&str> = Kernel::available().into_iter().map(Kernel::name).collect();
    if args.json {
        let report = json!({
            "program": env!("CARGO_PKG_VERSION"), "threads": threads, "processor_features": features, "kernels": kernels,
            "bf16": bf16, "gpu": gpu.is_ok(), "gpu_note": gpu_text, "gpu_fault": gpu.err(),
            "libtorch": libtorch.is_ok(), "libtorch_fault": libtorch.err(),
        });
        return print_json(&report);
    }
    let precision = match bf16 {
        true => format!(
            "in many games at once 8 bits (int8) from 48 channels on, else 16 (bf16), where the answers agree with those in 32; \
             by the clock and in play, analyse, serve and engine {}, the fastest for one search",
            FusedNetwork::alone(Precision::Auto)
        ),
        false => "32 bits; 8 and 16 need a processor with AMX, or with AVX-512, bf16 and VNNI".to_owned(),
    };
    let libtorch_text = libtorch
        .map_or_else(|error| format!("none: {error}"), |()| "found; trains, exports and computes on GPUs".to_owned());
    let quick = TrainConfig::read(&ConfigSource::find("quick")?, &[])?;
    let GameCounts { actors, pools, actors_beside_training, .. } = quick.games;
    let training = format!(
        "actors with \"auto\": {actors} for {pools} pools of games; beside the training, which takes the other cores, at most {actors_beside_training}"
    );
    let rows = [
        ("program", format!("latrunculi {}", env!("CARGO_PKG_VERSION"))),
        ("libtorch", libtorch_text),
        ("threads", format!("{threads} that this process may use: matches and searches use all")),
        ("training", training),
        ("processor", if features.is_empty() { "nothing known".to_owned() } else { features.join(" ") }),
        ("precision", precision),
        ("kernels", kernels.join(" ")),
        ("GPU", gpu_text),
    ];
    print!("{}", facts(0, &rows));
    Ok(())
}

/// Returns the processor features that matter for speed, as the system names them.
fn processor_features() -> Vec<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let flags = text.lines().find(|line| line.starts_with("flags")).unwrap_or_default();
    let wanted = ["avx2", "bmi2", "avx512f", "avx512_bf16", "amx_bf16", "avx512_vnni"];
    flags.split_whitespace().filter(|flag| wanted.contains(flag)).map(str::to_owned).collect()
}

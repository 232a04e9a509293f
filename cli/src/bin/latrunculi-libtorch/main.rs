//! The program with libtorch, which `latrunculi` executes for what needs it.
#![allow(clippy::print_stdout, reason = "printing is what a program is for")]

mod bench_training;
mod export;
mod fit;
mod train;

use std::process::ExitCode;
use std::sync::Arc;

use latrunculi_cli::libtorch::{Libtorch, Loader, Passes};
use latrunculi_data::{DeviceChoice, Precision, StoredModel};
use latrunculi_engine::Rules;
use latrunculi_learner::OnDevice;
use latrunculi_model::{Device, InferenceNetwork, Network};

fn main() -> ExitCode {
    latrunculi_cli::main(Some(&Libtorch {
        train: train::run,
        fit: fit::run,
        export: export::run,
        bench_training: bench_training::run,
        gpu,
        passes,
    }))
}

fn gpu(device: DeviceChoice) -> anyhow::Result<Option<Loader>> {
    let device = Device::open(device)?;
    Ok(device.is_gpu().then(|| -> Loader { Arc::new(OnDevice(device)) }))
}

fn passes(
    model: &StoredModel,
    rules: &Arc<Rules>,
    device: DeviceChoice,
    precision: Precision,
    batch: usize,
) -> anyhow::Result<Passes> {
    let device = Device::open(device)?;
    let network = Network::from_tensors(&model.config, &model.tensors, device)?;
    let network = InferenceNetwork::new(&network, rules, device, precision)?;
    Ok(Box::new(move |repeats| Ok(network.bare_seconds(batch, repeats)?)))
}

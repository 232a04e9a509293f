//! The options of commands whose agents may be networks.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use clap::Args;
use latrunculi_data::{DeviceChoice, Precision};
use latrunculi_train::models::NetworkOpener;
use latrunculi_train::networks::Processor;

use crate::libtorch::{self, Libtorch};

#[derive(Args)]
pub(crate) struct NetworkArgs {
    /// Where networks compute: auto, cpu, cuda or cuda:N
    #[arg(long, default_value_t = DeviceChoice::Auto, value_name = "DEVICE")]
    device: DeviceChoice,
    /// Precision of networks: auto, f32, bf16 or int8; auto takes the fastest whose answers agree with f32; by the clock
    /// and in play, analyse, serve and engine, without comparison, bf16 with AMX, else f32. One network's own stands behind its model, as in net:MODEL@f32
    #[arg(long, default_value_t = Precision::Auto, value_name = "PRECISION")]
    precision: Precision,
}

impl NetworkArgs {
    /// Returns what opens networks. Where libtorch computes them and this program has none, the program that has it takes over.
    ///
    /// # Errors
    /// When the device that was asked for cannot be used.
    pub(crate) fn opener(&self, has_networks: bool, libtorch: Option<&Libtorch>) -> anyhow::Result<NetworkOpener> {
        let gpu = libtorch::gpu(self.device, has_networks, libtorch)?;
        let loader = gpu.unwrap_or_else(|| Arc::new(Processor));
        Ok(NetworkOpener { loader, precision: self.precision, notice: Arc::new(notice) })
    }
}

fn notice(text: &str) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(text.to_owned()) {
        eprintln!("note: {text}");
    }
}

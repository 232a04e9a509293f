//! The options of commands whose agents may be networks.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use clap::Args;
use latrunculi_data::{DeviceChoice, Precision};
use latrunculi_engine::Rules;
use latrunculi_eval::agents::OpenedNetwork;
use latrunculi_train::models::NetworkOpener;
use latrunculi_train::networks::{NetworkLoader, Processor};

use crate::libtorch::{self, Libtorch};

/// How networks are used.
#[derive(Args, Clone)]
pub(crate) struct NetworkArgs {
    /// Where networks compute: auto, cpu, cuda or cuda:N
    #[arg(long, default_value_t = DeviceChoice::Auto, value_name = "DEVICE")]
    device: DeviceChoice,
    /// Precision of networks: auto, f32, bf16 or int8; auto takes the fastest whose answers agree, which is f32 in
    /// play, analyse, serve and engine. One network's own stands behind its model, as in net:MODEL@f32
    #[arg(long, default_value_t = Precision::Auto, value_name = "PRECISION")]
    precision: Precision,
    /// What computes networks, from `prepare` on; nothing is the processor.
    #[arg(skip)]
    loader: Option<Arc<dyn NetworkLoader>>,
}

impl NetworkArgs {
    /// Finds what computes networks, if there are any. Where that is libtorch and this program has none, the program that
    /// has it takes over.
    ///
    /// # Errors
    /// When the device that was asked for cannot be used.
    pub(crate) fn prepare(&mut self, has_networks: bool, libtorch: Option<&dyn Libtorch>) -> anyhow::Result<()> {
        self.loader = libtorch::gpu(self.device, has_networks, libtorch)?;
        Ok(())
    }

    /// Returns where networks compute.
    pub(crate) fn loader(&self) -> Arc<dyn NetworkLoader> {
        self.loader.clone().unwrap_or_else(|| Arc::new(Processor))
    }

    /// Returns a function that opens a network for these rules by the path of its model file.
    pub(crate) fn factory(
        &self,
        rules: &Arc<Rules>,
    ) -> impl FnMut(&str) -> Result<OpenedNetwork<'static>, String> + use<> {
        self.opener().factory(rules)
    }

    /// Returns what opens networks.
    pub(crate) fn opener(&self) -> NetworkOpener {
        NetworkOpener { loader: self.loader(), precision: self.precision, notice: Arc::new(notice) }
    }
}

/// Prints a notice once.
fn notice(text: &str) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    if SAID.lock().unwrap_or_else(PoisonError::into_inner).insert(text.to_owned()) {
        eprintln!("note: {text}");
    }
}

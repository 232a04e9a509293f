//! What needs libtorch, and the program that has it.
//!
//! `latrunculi` has no libtorch: it starts at once and runs where there is none. For the few commands that need it, it
//! executes `latrunculi-libtorch` beside it with the same arguments. That program has the same commands and implements
//! [`Libtorch`].

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use anyhow::Context;
use latrunculi_data::{DeviceChoice, Precision, StoredModel};
use latrunculi_engine::Rules;
use latrunculi_infer::Unit;
use latrunculi_train::config::GamesDevice;
use latrunculi_train::networks::NetworkLoader;

use crate::bench::TrainingArgs;
use crate::export::ExportArgs;
use crate::fit::FitArgs;
use crate::train::TrainArgs;

const PROGRAM: &str = "latrunculi-libtorch";

/// What computes networks on a GPU.
pub type Loader = Arc<dyn NetworkLoader>;

/// Computes a batch a number of times and returns the seconds that it took.
pub type Passes = Box<dyn FnMut(usize) -> anyhow::Result<f64> + Send>;

/// What needs libtorch, by what does it. The errors of each are everything that keeps it from being done.
///
/// It takes the arguments of the commands that ask for it, so this module and `bench` name each other.
pub struct Libtorch {
    /// Runs `train`.
    pub train: fn(&TrainArgs) -> anyhow::Result<()>,
    /// Runs `fit`.
    pub fit: fn(&FitArgs) -> anyhow::Result<()>,
    /// Runs `export`.
    pub export: fn(ExportArgs) -> anyhow::Result<()>,
    /// Runs `bench training`.
    pub bench_training: fn(&TrainingArgs) -> anyhow::Result<()>,
    /// Returns what computes networks on the GPU that is asked for; `None` where that is the processor, as where `auto`
    /// finds no GPU.
    pub gpu: fn(DeviceChoice) -> anyhow::Result<Option<Loader>>,
    /// Prepares forward passes of a batch of so many positions on libtorch, inputs ready and outputs left where they are.
    pub passes: fn(&StoredModel, &Arc<Rules>, DeviceChoice, Precision, usize) -> anyhow::Result<Passes>,
}

/// Returns `libtorch`, or executes the program that has it in place of this one, with the same arguments, to do `what`.
///
/// # Errors
/// When this program has no libtorch and the other one is not there or cannot be started.
pub(crate) fn needed<'a>(libtorch: Option<&'a Libtorch>, what: &str) -> anyhow::Result<&'a Libtorch> {
    if let Some(libtorch) = libtorch {
        return Ok(libtorch);
    }
    let program = program().with_context(|| format!("{what} needs libtorch: {}", missing()))?;
    let mut arguments = env::args_os();
    let name = arguments.next();
    let mut command = Command::new(&program);
    command.args(arguments);
    Err(replace(command, name)).with_context(|| format!("{what} needs libtorch: starting {}", program.display()))
}

/// Returns what computes networks on a GPU; `None` where the processor does. Where libtorch is needed for it, the program
/// that has it takes over.
///
/// # Errors
/// When the GPU that is asked for cannot be used.
pub(crate) fn gpu(
    device: DeviceChoice,
    has_networks: bool,
    libtorch: Option<&Libtorch>,
) -> anyhow::Result<Option<Loader>> {
    let is_wanted = match device {
        DeviceChoice::Cpu => false,
        DeviceChoice::Cuda(_) => true,
        DeviceChoice::Auto => {
            has_networks && has_gpu() && !is_processor_faster() && (libtorch.is_some() || program().is_some())
        }
    };
    if is_wanted { (needed(libtorch, &format!("--device {device}"))?.gpu)(device) } else { Ok(None) }
}

/// Tells whether the processor likely answers faster than a GPU for networks of up to 64 channels. 16 cores with AMX searched 367,000
/// positions/s of 6x64 in many games, an H200 84,000; one position at a time a core answered 2,178 and the H200 1,131.
pub(crate) fn is_processor_faster() -> bool {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    GamesDevice::Auto.is_processor(64, threads, Unit::best().is_available())
}

/// Tells whether the system has a GPU that libtorch may be able to use: through NVIDIA's driver, or that of Windows.
pub(crate) fn has_gpu() -> bool {
    ["/dev/nvidiactl", "/dev/dxg"].iter().any(|device| Path::new(device).exists())
}

/// Returns where the program that has libtorch would be: beside this one.
fn place() -> Option<PathBuf> {
    let this = env::current_exe().ok()?;
    Some(this.with_file_name(format!("{PROGRAM}{}", env::consts::EXE_SUFFIX)))
}

pub(crate) fn program() -> Option<PathBuf> {
    place().filter(|program| program.is_file())
}

/// Says that the program that has libtorch is not there, and how to make it.
pub(crate) fn missing() -> String {
    let place = place().map_or_else(|| PROGRAM.to_owned(), |place| place.display().to_string());
    format!(
        "the program that has libtorch, {place}, is not there; in the folder of the source, scripts/setup-libtorch and then \
         `cargo build --release` make it"
    )
}

/// Becomes `command`, which is told that it was started as `name`: same process, terminal and signals. Returns why not.
#[cfg(unix)]
fn replace(mut command: Command, name: Option<OsString>) -> std::io::Error {
    use std::os::unix::process::CommandExt;
    if let Some(name) = name {
        command.arg0(name);
    }
    command.exec()
}

/// Runs `command` and ends with its exit status. Returns why not.
#[cfg(not(unix))]
fn replace(mut command: Command, _name: Option<OsString>) -> std::io::Error {
    match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(error) => error,
    }
}

//! `latrunculi train`: self-play, training, evaluation, generation after generation.

mod conclude;
pub(crate) mod display;
pub(crate) mod events;
mod judge;
pub(crate) mod learner;
pub(crate) mod player;
pub(crate) mod report;
mod round;
mod run;
mod state;
pub(crate) mod turnstile;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use anyhow::{Context, bail};

use display::Display;
use run::TrainingRun;

/// Arguments of `train`
#[derive(clap::Args)]
pub(crate) struct TrainArgs {
    /// The configuration (see configs/train)
    #[arg(required_unless_present = "resume", conflicts_with = "resume")]
    config: Option<PathBuf>,
    /// Folder of the run; by default a new one under runs/
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    run: Option<PathBuf>,
    /// Sets one value of the configuration, as budget.minutes=5; may be given several times
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// Continues the run in this folder from its last checkpoint
    #[arg(long, value_name = "DIR")]
    resume: Option<PathBuf>,
    /// Shows no progress, only a line per generation and the result
    #[arg(long)]
    quiet: bool,
}

/// Runs `train`.
///
/// # Errors
/// Everything that keeps the run from going on, with what was being attempted.
pub(crate) fn run(args: TrainArgs) -> anyhow::Result<()> {
    let stop = stop_on_signals()?;
    let display = Display::new(args.quiet);
    let mut run = match (&args.config, &args.resume) {
        (_, Some(folder)) => TrainingRun::resume(folder, &args.settings, display, stop)?,
        (Some(config), None) => TrainingRun::begin(config, args.run.clone(), &args.settings, display, stop)?,
        (None, None) => bail!("a configuration or --resume DIR is needed"),
    };
    run.go()
}

/// Returns what becomes true when the user asks to stop. The second time ends the program at once.
pub(crate) fn stop_on_signals() -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        // This is looked at before the flag is set.
        signal_hook::flag::register_conditional_shutdown(signal, 1, Arc::clone(&stop))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&stop)))
            .context("listening for Ctrl-C")?;
    }
    Ok(stop)
}

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

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::bail;

use crate::interrupt::{Stopped, stop_on_signals};
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
/// Everything that keeps the run from going on, with what was being attempted; [`Stopped`] where the user ended it.
pub(crate) fn run(args: TrainArgs) -> anyhow::Result<()> {
    let stop = stop_on_signals()?;
    let stopped = Arc::clone(&stop);
    let display = Display::new(args.quiet);
    let mut run = match (&args.config, &args.resume) {
        (_, Some(folder)) => TrainingRun::resume(folder, &args.settings, display, stop)?,
        (Some(config), None) => TrainingRun::begin(config, args.run.clone(), &args.settings, display, stop)?,
        (None, None) => bail!("a configuration or --resume DIR is needed"),
    };
    // The end of a run writes its result, also where Ctrl-C came too late to keep it from that.
    let result = run.folder.result_path();
    let written = || fs::metadata(&result).and_then(|about| about.modified()).ok();
    let before = written();
    run.go()?;
    // How it goes on has been said.
    if stopped.load(Ordering::SeqCst) && written() == before { Err(Stopped::silently().into()) } else { Ok(()) }
}

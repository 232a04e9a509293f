//! `train`: self-play, training and evaluation, round after round.

mod text;

use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::Args;
use latrunculi_train::runs::{self, RUNS};
use latrunculi_train::{
    ConfigSource, Event, Observer, Origin, RunEnd, StopFlag, TrainConfig, TrainingRun, WorkProgress, run_rulesets,
};

use crate::config_args::{SetArgs, config_help};
use crate::display::Display;
use crate::interrupt::{Stopped, stop_on_signals};
use crate::origin::origin;

pub(crate) use text::{games as games_text, steps as steps_text};

/// Arguments of `train`
#[derive(Args)]
pub(crate) struct TrainArgs {
    #[arg(help = config_help(), required_unless_present = "resume", conflicts_with = "resume")]
    config: Option<String>,
    /// Folder of the run [default: runs/NAME-N, NAME that of the configuration and N the first free number]
    #[arg(long, value_name = "DIR", conflicts_with = "resume")]
    run: Option<PathBuf>,
    #[command(flatten)]
    set: SetArgs,
    /// Begins with the weights of this model, or of the model of this run, instead of random ones; the network has its size
    /// and plays its first games itself, so that teacher.generations is 0. For more training on one ruleset, or on your
    /// own: --set rulesets=FILE
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["resume", "continues"])]
    from: Option<PathBuf>,
    /// Continues the newest unfinished run in runs/ of the same configuration and settings; begins one if there is none
    #[arg(long = "continue", conflicts_with_all = ["run", "resume"])]
    continues: bool,
    /// Continues the run in this folder from its last checkpoint
    #[arg(long, value_name = "DIR")]
    resume: Option<PathBuf>,
    /// Shows no progress, only a line per round and the result
    #[arg(long)]
    quiet: bool,
}

/// Runs `train`.
///
/// # Errors
/// Everything that keeps the run from going on, with what was being attempted; [`Stopped`] where the user ended it.
pub(crate) fn run(args: TrainArgs) -> anyhow::Result<()> {
    let stop = stop_on_signals()?;
    let console = Console { display: Display::new(args.quiet) };
    let mut run = match (&args.config, &args.resume) {
        (_, Some(folder)) => TrainingRun::resume(folder, &origin("", &args.set.settings), stop, &console)?,
        (Some(config), None) => begin(config, &args, stop, &console)?,
        (None, None) => bail!("a configuration or --resume DIR is needed"),
    };
    match run.run()? {
        RunEnd::Finished => Ok(()),
        RunEnd::Stopped => {
            let folder = run.folder().display();
            console.display.say(&format!("stopped; continue with: latrunculi train --resume {folder}"));
            Err(Stopped::silently().into())
        }
    }
}

/// Begins a run, or continues the newest one of the same configuration and settings.
fn begin<'o>(config: &str, args: &TrainArgs, stop: StopFlag, console: &'o Console) -> anyhow::Result<TrainingRun<'o>> {
    let source = ConfigSource::find(config)?;
    let settings = &args.set.settings;
    let config = TrainConfig::read(&source, settings)?;
    if args.continues {
        let rulesets = run_rulesets::load(&config.rulesets)?;
        if let Some(folder) = runs::newest_unfinished(Path::new(RUNS), &source.name(), &config, &rulesets) {
            return Ok(TrainingRun::resume(&folder, &origin("", &[]), stop, console)?);
        }
    }
    let origin = Origin { from: args.from.clone(), ..origin(&source.to_string(), settings) };
    Ok(match &args.run {
        Some(folder) => TrainingRun::begin(config, folder, &origin, stop, console)?,
        None => TrainingRun::begin_next(config, Path::new(RUNS), &source.name(), &origin, stop, console)?,
    })
}

/// Shows a run on the terminal.
struct Console {
    display: Display,
}

impl Observer for Console {
    fn event(&self, event: Event<'_>) {
        for line in text::lines(&event) {
            self.display.say(&line);
        }
    }

    fn begin(&self, work: &str, parts: u64, secs_left: Option<f64>) -> Box<dyn WorkProgress + '_> {
        Box::new(self.display.begin(work, parts, secs_left))
    }
}

//! `train`: self-play, training and evaluation, round after round.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::bail;
use latrunculi_cli::display::{self, Display};
use latrunculi_cli::interrupt::{Stopped, stop_on_signals};
use latrunculi_cli::origin::origin;
use latrunculi_cli::quoted;
use latrunculi_cli::train::{RunText, TrainArgs, event_json};
use latrunculi_learner::{RunEnd, StopFlag, TrainingRun};
use latrunculi_train::runs::{self, RUNS};
use latrunculi_train::{ConfigSource, Event, Observer, Origin, TrainConfig, Work, run_rulesets};

/// Runs `train`.
///
/// # Errors
/// Everything that keeps the run from going on, with what was being attempted; [`Stopped`] where the user ended it.
pub(crate) fn run(args: &TrainArgs) -> anyhow::Result<()> {
    let stop = stop_on_signals()?;
    let text = (!args.json).then(|| Mutex::new(RunText::new(display::width())));
    let console = Console { display: Display::new(args.quiet || args.json), text };
    // A run is not begun for a store that cannot be used, nor in a folder whose name it cannot have there.
    args.check_name()?;
    let store = args.shared_store(&stop)?;
    let mut run = match (&args.config, &args.resume) {
        (_, Some(folder)) => TrainingRun::resume(folder, &origin("", &args.set.settings), Arc::clone(&stop), &console)?,
        (Some(config), None) => begin(config, args, Arc::clone(&stop), &console)?,
        (None, None) => bail!("a configuration or --resume DIR is needed"),
    };
    if let Some(store) = store {
        run.set_workers(args.leader(store, run.folder())?);
    }
    match run.run()? {
        RunEnd::Finished => Ok(()),
        RunEnd::Stopped => {
            let (folder, store) = (quoted(run.folder()), args.store_as_given());
            let lost = run.secs_since_checkpoint();
            Err(Stopped::telling(format!(
                "stopped {lost:.0} s after the last checkpoint; continue from it with: latrunculi train --resume {folder}{store}"
            ))
            .into())
        }
    }
}

/// Begins a run, or continues the newest one of the same configuration and settings.
fn begin<'o>(config: &str, args: &TrainArgs, stop: StopFlag, console: &'o Console) -> anyhow::Result<TrainingRun<'o>> {
    let source = ConfigSource::find(config)?;
    let settings = &args.set.settings;
    args.set.check_beside_from(args.from.as_deref(), &["teacher.generations"])?;
    let config = TrainConfig::read(&source, settings)?;
    let name = runs::name(&source, &config)?;
    if args.continues {
        let rulesets = run_rulesets::load(&config.rulesets)?;
        if let Some(folder) = runs::newest_unfinished(Path::new(RUNS), &name, &config, &rulesets) {
            return Ok(TrainingRun::resume(&folder, &origin("", &[]), stop, console)?);
        }
    }
    let origin = Origin { from: args.from.clone(), ..origin(&source.to_string(), settings) };
    let folder = || match &args.run {
        Some(folder) => Ok(folder.clone()),
        None => runs::make_next(Path::new(RUNS), &name),
    };
    Ok(TrainingRun::begin(config, folder, &origin, stop, console)?)
}

struct Console {
    display: Display,
    /// The lines for people; `None` where programs read.
    text: Option<Mutex<RunText>>,
}

impl Observer for Console {
    fn event(&self, event: Event<'_>) {
        match &self.text {
            Some(text) => {
                let mut text = text.lock().unwrap_or_else(PoisonError::into_inner);
                text.lines(&event).iter().for_each(|line| self.display.say(line));
            }
            None => event_json(&event).into_iter().for_each(|line| self.display.say(&line.to_string())),
        }
    }

    fn begin(&self, work: &str, parts: u64, unit: &'static str, secs_left: Option<f64>) -> Work<'_> {
        self.display.begin(work, parts, unit, secs_left)
    }
}

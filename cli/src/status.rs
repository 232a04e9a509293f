//! `status`: how far a training run has come, also while another program works on it; and what a store of workers holds.

mod store;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::thread::sleep;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use latrunculi_eval::learning::{LearningRun, standings};
use latrunculi_train::config::TrainConfig;
use latrunculi_train::files::{is_locked, secs_since_written};
use latrunculi_train::{curves, error_chain, run_dir};
use serde::Serialize;
use serde_json::json;

use crate::display;
use crate::interrupt::stop_on_signals;
use crate::lines::print_json;
use crate::train::{RoundTable, command_to_resume, legend, round_json, time_text};

const WATCH_SECS: u64 = 1;

#[derive(Args)]
pub(crate) struct StatusArgs {
    /// Folder of a training run
    #[arg(value_name = "RUN", required_unless_present = "store")]
    run: Option<PathBuf>,
    /// Shows instead what the workers of a store have done: a folder, s3://, gs:// or az://
    #[arg(long, value_name = "URL", conflicts_with_all = ["run", "watch", "rounds"])]
    store: Option<String>,
    /// How many of the last rounds to show
    #[arg(long, default_value_t = 10, value_name = "N")]
    rounds: usize,
    /// Goes on until Ctrl-C and shows every change
    #[arg(long)]
    watch: bool,
    /// Prints JSON
    #[arg(long, conflicts_with = "watch")]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Activity {
    Running,
    Finished,
    Stopped,
}

/// Runs `status`.
///
/// # Errors
/// When the folder holds no run or a damaged one. Where only lines of its metrics are damaged, the rest is shown before.
pub(crate) fn run(args: &StatusArgs) -> anyhow::Result<()> {
    let root = match (&args.store, &args.run) {
        (Some(url), _) => return store::run(url, args.json),
        (None, run) => run.as_deref().unwrap_or(Path::new(".")),
    };
    if args.json {
        let (told, left_out) = as_json(root)?;
        print_json(&told)?;
        return left_out.map_or(Ok(()), Err);
    }
    let (mut shown, left_out) = text(root, args.rounds)?;
    print!("{shown}");
    if !args.watch {
        return left_out.map_or(Ok(()), Err);
    }
    let tell = |left_out: Option<anyhow::Error>| left_out.iter().for_each(|fault| eprintln!("error: {fault}"));
    tell(left_out);
    let stop = stop_on_signals()?;
    while !stop.load(Ordering::Relaxed) {
        std::io::stdout().flush().context("printing")?;
        sleep(Duration::from_secs(WATCH_SECS));
        let (now, left_out) = text(root, args.rounds)?;
        if now != shown {
            let terminal = console::Term::stdout();
            if terminal.is_term() {
                terminal.clear_screen().context("clearing the screen")?;
            }
            print!("{now}");
            tell(left_out);
            shown = now;
        }
    }
    Ok(())
}

/// Reads a run, and says which lines of its metrics are left out, if any are.
fn read(root: &Path) -> anyhow::Result<(LearningRun, Option<anyhow::Error>)> {
    let (run, damaged) = curves::read_whole_lines(root)?;
    let left_out = if damaged.len() == 1 { "this line is" } else { &format!("{} such lines are", damaged.len()) };
    let told = damaged.first().map(|first| anyhow::anyhow!("{}; {left_out} left out", error_chain(first)));
    Ok((run, told))
}

fn activity(root: &Path, run: &LearningRun) -> Activity {
    match (is_locked(root), run.result.is_some()) {
        (true, _) => Activity::Running,
        (false, true) => Activity::Finished,
        (false, false) => Activity::Stopped,
    }
}

/// Returns the seconds left of the run's budget after so many, if it limits the time.
fn secs_left(config: &TrainConfig, elapsed_secs: f64) -> Option<f64> {
    let minutes = config.budget.minutes;
    (minutes > 0.0).then(|| (minutes * 60.0 - elapsed_secs).max(0.0))
}

fn text(root: &Path, rounds: usize) -> anyhow::Result<(String, Option<anyhow::Error>)> {
    let (run, left_out) = read(root)?;
    let config = TrainConfig::read_of_run(&root.join(run_dir::CONFIG), &[])?;
    let width = display::width();
    let mut lines = vec![
        format!("run {}: {}, {}, {} simulations", run.name, run.subject(), run.network, run.simulations),
        doing(root, &run),
        format!(
            "{} generations, {} games, {} samples, {} steps in {}{}",
            run.played().count(),
            run.games(),
            run.rounds.last().map_or(0, |round| round.samples_total),
            run.rounds.last().map_or(0, |round| round.steps_total),
            time_text(run.minutes() * 60.0),
            secs_left(&config, run.minutes() * 60.0)
                .filter(|_| activity(root, &run) != Activity::Finished)
                .map(|secs| format!(", {} left", time_text(secs)))
                .unwrap_or_default(),
        ),
    ];
    if !run.rounds.is_empty() && rounds > 0 {
        lines.push(String::new());
        lines.push(legend(width));
        let mut table = RoundTable::new(width);
        for round in &run.rounds[run.rounds.len().saturating_sub(rounds)..] {
            lines.extend(table.lines(round, secs_left(&config, round.elapsed_secs)));
        }
    }
    lines.extend(strength(&run));
    Ok((lines.join("\n") + "\n", left_out))
}

fn doing(root: &Path, run: &LearningRun) -> String {
    match activity(root, run) {
        Activity::Finished => "finished".to_owned(),
        Activity::Stopped => format!("not running; continue with: {}", command_to_resume(root)),
        Activity::Running => match (secs_since_written(&root.join(run_dir::METRICS)), run.rounds.last()) {
            (Some(since), Some(last)) => format!(
                "running; the last round took {} and ended {} ago",
                time_text(last.round_secs),
                time_text(since)
            ),
            _ => "running; the first round has not ended yet".to_owned(),
        },
    }
}

/// Says how strong the network was when it was last measured.
fn strength(run: &LearningRun) -> Vec<String> {
    let measured = run.measured();
    let Some(last) = measured.last() else { return Vec::new() };
    let score = match standings(&measured).last() {
        Some(all) if run.rulesets.len() > 1 => {
            let [mean, worst] = [all.mean, all.worst].map(|share| 100.0 * share);
            format!("mean {mean:.1} %, worst {worst:.1} % in {} rulesets,", all.rulesets)
        }
        _ => {
            let [score, lower, upper] = last.verdict.result.percents();
            format!("{score:.1} % [{lower:.1}, {upper:.1}]")
        }
    };
    vec![String::new(), format!("strength: {score} against {}", last.verdict.terms())]
}

fn as_json(root: &Path) -> anyhow::Result<(serde_json::Value, Option<anyhow::Error>)> {
    let (run, left_out) = read(root)?;
    let config = TrainConfig::read_of_run(&root.join(run_dir::CONFIG), &[])?;
    let told = json!({
        "run": run.name,
        "activity": activity(root, &run),
        "rulesets": run.rulesets,
        "generations": run.played().count(),
        "games": run.games(),
        "samples": run.rounds.last().map_or(0, |round| round.samples_total),
        "steps": run.rounds.last().map_or(0, |round| round.steps_total),
        "elapsed_secs": run.minutes() * 60.0,
        "secs_left": secs_left(&config, run.minutes() * 60.0),
        "last_round": run.rounds.last().map(round_json),
        "measured": run.measured().last(),
        "left_out": left_out.as_ref().map(ToString::to_string),
    });
    Ok((told, left_out))
}

//! `curves`: how strong the networks of training runs were when.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use clap::Args;
use latrunculi_eval::learning::{LearningRun, Round, Verdict, by_opponent, percent_of_men, to_csv};
use latrunculi_eval::report::learning_html;

use crate::rulesets_source::{self, read_text};
use crate::run_dir::{self, write_whole};
use crate::train_config::TrainConfig;

/// A run of a year has less.
const METRICS_BYTES_MAX: u64 = 1 << 28;
const RESULT_BYTES_MAX: u64 = 1 << 20;

/// The names of the page and of the table.
pub(crate) const PAGE: &str = "learning.html";
pub(crate) const TABLE: &str = "learning.csv";

#[derive(Args)]
pub(crate) struct CurvesArgs {
    /// Folders of training runs, finished or not
    #[arg(value_name = "RUN", required = true, num_args = 1..)]
    runs: Vec<PathBuf>,
    /// Folder for learning.html and learning.csv
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Prints the curves as JSON, with every round
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Prints the matches as CSV
    #[arg(long)]
    csv: bool,
}

/// Runs `curves`.
///
/// # Errors
/// When a folder holds no run, or something else than a run wrote; when the page cannot be written.
pub(crate) fn run(args: &CurvesArgs) -> anyhow::Result<()> {
    let mut runs = args.runs.iter().map(|root| read(root)).collect::<anyhow::Result<Vec<_>>>()?;
    tell_apart(&mut runs);
    if let Some(folder) = &args.out {
        fs::create_dir_all(folder).with_context(|| format!("{}: making the folder", folder.display()))?;
        write(folder, &runs)?;
    }
    if args.json {
        println!("{}", serde_json::to_string_pretty(&runs)?);
    } else if args.csv {
        print!("{}", to_csv(&runs));
    } else {
        print!("{}", runs.iter().map(text).collect::<Vec<_>>().join("\n"));
        if let Some(folder) = &args.out {
            println!("\nwrote {} and {}", folder.join(PAGE).display(), folder.join(TABLE).display());
        }
    }
    Ok(())
}

/// Writes page and table of runs into a folder.
pub(crate) fn write(folder: &Path, runs: &[LearningRun]) -> anyhow::Result<()> {
    write_whole(&folder.join(PAGE), learning_html(runs, env!("CARGO_PKG_VERSION")).as_bytes())?;
    write_whole(&folder.join(TABLE), to_csv(runs).as_bytes())
}

/// Reads what a run has written about its course. The run may be going on.
///
/// # Errors
/// When there is no run, or what lies there is damaged.
pub(crate) fn read(root: &Path) -> anyhow::Result<LearningRun> {
    let config_path = root.join(run_dir::CONFIG);
    if !config_path.is_file() {
        bail!("{}: there is no run (no config.toml in it); name the folder of a training run", root.display());
    }
    let config = TrainConfig::read(&config_path, &[])?;
    let rules = rulesets_source::load(&root.join(run_dir::RULESET).to_string_lossy())?;
    let name = root.canonicalize().ok().and_then(|root| Some(root.file_name()?.to_string_lossy().into_owned()));
    let network = &config.network;
    Ok(LearningRun {
        name: name.unwrap_or_else(|| root.display().to_string()),
        ruleset: rules.ruleset().id.clone(),
        network: format!("{} blocks x {} channels", network.blocks, network.channels),
        simulations: config.selfplay.simulations,
        rounds: rounds(&root.join(run_dir::METRICS))?,
        result: result(&root.join(run_dir::RESULT))?,
    })
}

fn rounds(path: &Path) -> anyhow::Result<Vec<Round>> {
    if !path.is_file() {
        return Ok(Vec::new());
    }
    let text = read_text(path, METRICS_BYTES_MAX)?;
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let rounds: Vec<Round> = whole
        .lines()
        .enumerate()
        .map(|(index, line)| {
            serde_json::from_str(line)
                .with_context(|| format!("{}, line {}: not the metrics of a round", path.display(), index + 1))
        })
        .collect::<anyhow::Result<_>>()?;
    let is_finite = |round: &Round| round.elapsed_secs.is_finite() && round.elapsed_secs >= 0.0;
    ensure!(rounds.iter().all(is_finite), "{}: a round ends at no time", path.display());
    Ok(rounds)
}

fn result(path: &Path) -> anyhow::Result<Option<Verdict>> {
    if !path.is_file() {
        return Ok(None);
    }
    let not_a_result = || format!("{}: not the result of a run", path.display());
    let value: serde_json::Value =
        serde_json::from_str(&read_text(path, RESULT_BYTES_MAX)?).with_context(not_a_result)?;
    let verdict = value.get("verdict").cloned().with_context(not_a_result)?;
    Ok(Some(serde_json::from_value(verdict).with_context(not_a_result)?))
}

/// Gives runs of one name a number.
fn tell_apart(runs: &mut [LearningRun]) {
    let names: Vec<String> = runs.iter().map(|run| run.name.clone()).collect();
    for (index, run) in runs.iter_mut().enumerate() {
        let is_shared = names.iter().filter(|name| **name == run.name).count() > 1;
        if is_shared {
            let number = names[..=index].iter().filter(|name| **name == run.name).count();
            run.name += &format!(" ({number})");
        }
    }
}

/// Says of a run what a person wants to know.
fn text(run: &LearningRun) -> String {
    let mut text = format!(
        "{} · ruleset {} · {} · {} games in {:.1} min{}\n",
        run.name,
        run.ruleset,
        run.network,
        run.games(),
        run.minutes(),
        if run.result.is_some() { "" } else { " · not finished" }
    );
    let measured = run.measured();
    let Some(last) = measured.last() else {
        return text + "no match played yet; evaluation.every says when there is one\n";
    };
    let terms = |verdict: &Verdict| format!("against {} with {} simulations", verdict.opponent, verdict.simulations);
    let is_one_curve = by_opponent(&measured).len() == 1;
    let against = if is_one_curve { format!(" {}", terms(&last.verdict)) } else { String::new() };
    let _ = writeln!(
        text,
        "{:>7} {:>11} {:>7} {:>7}  score{against}, 95 % interval",
        "minute", "generations", "games", "steps"
    );
    for measured in &measured {
        let verdict = &measured.verdict;
        let _ = writeln!(
            text,
            "{:>7.1} {:>11} {:>7} {:>7}  {:>5.1} % ({:.1} to {:.1}; +{} ={} -{}){}{}",
            measured.minutes,
            measured.generations,
            measured.games,
            measured.steps,
            100.0 * verdict.score,
            100.0 * verdict.lower,
            100.0 * verdict.upper,
            verdict.wins,
            verdict.draws,
            verdict.losses,
            verdict.margin.as_ref().map_or(String::new(), |margin| format!("; margin {}", percent_of_men(margin))),
            if is_one_curve { String::new() } else { format!("; {}", terms(verdict)) }
        );
    }
    text
}

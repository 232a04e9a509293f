//! Learning curves: the strength of a run's network over time, read from the run's folder.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use latrunculi_eval::learning::{LearningRun, Round, RunMatch, to_csv};
use latrunculi_eval::report::learning_html;
use serde_json::Value;

use crate::config::TrainConfig;
use crate::error::{Context, Error, bail};
use crate::files::read_text;
use crate::files::write_whole;
use crate::rulesets;
use crate::run_dir;

/// More than a run of a year writes.
const METRICS_BYTES_MAX: u64 = 1 << 28;
const RESULT_BYTES_MAX: u64 = 1 << 20;

/// File name of the page.
pub const PAGE: &str = "learning.html";
/// File name of the table.
pub const TABLE: &str = "learning.csv";

/// Writes the page and the table of runs into a folder.
pub fn write(folder: &Path, runs: &[LearningRun]) -> Result<(), Error> {
    write_whole(&folder.join(PAGE), learning_html(runs, env!("CARGO_PKG_VERSION")).as_bytes())?;
    write_whole(&folder.join(TABLE), to_csv(runs).as_bytes())
}

/// Reads the metrics and the result of a run, which may still be going on.
/// Fails when there is no run, or a file is damaged.
pub fn read(root: &Path) -> Result<LearningRun, Error> {
    let (run, damaged) = read_whole_lines(root)?;
    damaged.into_iter().next().map_or(Ok(run), Err)
}

/// Reads a run as [`read`] does, but leaves out the lines of its metrics that are no rounds; with what is wrong with each.
pub fn read_whole_lines(root: &Path) -> Result<(LearningRun, Vec<Error>), Error> {
    let config_path = root.join(run_dir::CONFIG);
    if !config_path.is_file() {
        bail!("{}: there is no run (no config.toml in it); give the folder of a training run", root.display());
    }
    let config = TrainConfig::read_of_run(&config_path, &[])?;
    let load = |path: &PathBuf| Ok(rulesets::load(&path.to_string_lossy())?.ruleset().id.clone());
    let rulesets: Vec<String> = run_dir::ruleset_paths(root).iter().map(load).collect::<Result<_, Error>>()?;
    let name = root.canonicalize().ok().and_then(|root| Some(root.file_name()?.to_string_lossy().into_owned()));
    let network = &config.network;
    let mut run = LearningRun {
        name: name.unwrap_or_else(|| root.display().to_string()),
        network: format!("{} blocks x {} channels", network.blocks, network.channels),
        simulations: config.selfplay.simulations,
        rounds: Vec::new(),
        is_cut: false,
        result: result(&root.join(run_dir::RESULT))?,
        rulesets,
    };
    let damaged = read_rounds(&mut run, &root.join(run_dir::METRICS))?;
    Ok((run, damaged))
}

/// Reads the rounds of a file of metrics into a run, and whether half a line stands behind them.
/// Returns what is wrong with each line that is no round.
fn read_rounds(run: &mut LearningRun, path: &Path) -> Result<Vec<Error>, Error> {
    let mut damaged = Vec::new();
    if !path.is_file() {
        return Ok(damaged);
    }
    let text = read_text(path, METRICS_BYTES_MAX)?;
    let (whole, half) = text.rsplit_once('\n').unwrap_or(("", &text));
    run.is_cut = !half.is_empty();
    for (index, line) in whole.lines().enumerate() {
        match read_round(line).with_context(|| format!("{}, line {}", path.display(), index + 1)) {
            Ok(round) => run.rounds.push(round),
            Err(fault) => damaged.push(fault),
        }
    }
    Ok(damaged)
}

/// Reads a line of a file of metrics.
/// Error: what is wrong with it, and at which column.
pub fn read_round(line: &str) -> Result<Round, Error> {
    let wrong = |fault: serde_json::Error| {
        Error::Refused(format!(
            "not the metrics of a round: {}",
            fault.to_string().replace("at line 1 column", "at column")
        ))
    };
    let round: Round = serde_json::from_str(line).map_err(wrong)?;
    if !(round.elapsed_secs.is_finite() && round.elapsed_secs >= 0.0) {
        bail!("elapsed_secs of a round is not a time");
    }
    Ok(round)
}

/// Reads the matches of a run's result; `None` where there is none yet.
pub fn result(path: &Path) -> Result<Option<BTreeMap<String, RunMatch>>, Error> {
    if !path.is_file() {
        return Ok(None);
    }
    let not_a_result = || format!("{}: not the result of a run", path.display());
    let value: Value = serde_json::from_str(&read_text(path, RESULT_BYTES_MAX)?).with_context(not_a_result)?;
    let verdicts = value.get("verdicts").cloned().with_context(not_a_result)?;
    Ok(Some(serde_json::from_value(verdicts).with_context(not_a_result)?))
}

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
    let config_path = root.join(run_dir::CONFIG);
    if !config_path.is_file() {
        bail!("{}: there is no run (no config.toml in it); give the folder of a training run", root.display());
    }
    let config = TrainConfig::read_of_run(&config_path, &[])?;
    let load = |path: &PathBuf| Ok(rulesets::load(&path.to_string_lossy())?.ruleset().id.clone());
    let rulesets: Vec<String> = run_dir::ruleset_paths(root).iter().map(load).collect::<Result<_, Error>>()?;
    let name = root.canonicalize().ok().and_then(|root| Some(root.file_name()?.to_string_lossy().into_owned()));
    let network = &config.network;
    let (rounds, is_cut) = rounds(&root.join(run_dir::METRICS))?;
    Ok(LearningRun {
        name: name.unwrap_or_else(|| root.display().to_string()),
        network: format!("{} blocks x {} channels", network.blocks, network.channels),
        simulations: config.selfplay.simulations,
        rounds,
        is_cut,
        result: result(&root.join(run_dir::RESULT))?,
        rulesets,
    })
}

/// Returns the rounds of a file of metrics, and whether half a line stands behind them.
fn rounds(path: &Path) -> Result<(Vec<Round>, bool), Error> {
    if !path.is_file() {
        return Ok((Vec::new(), false));
    }
    let text = read_text(path, METRICS_BYTES_MAX)?;
    let (whole, half) = text.rsplit_once('\n').unwrap_or(("", &text));
    let read = |(index, line)| read_round(line).with_context(|| format!("{}, line {}", path.display(), index + 1));
    Ok((whole.lines().enumerate().map(read).collect::<Result<_, Error>>()?, !half.is_empty()))
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

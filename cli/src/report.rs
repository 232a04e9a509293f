//! The report of a balance study, written and made again.

use std::path::Path;

use anyhow::Context;
use latrunculi_engine::Ruleset;
use latrunculi_eval::report;
use latrunculi_eval::study::StudySummary;
use latrunculi_train::files::read_text;
use latrunculi_train::files::write_whole;
use latrunculi_train::folders::SUMMARY;
use latrunculi_train::rulesets::load_file;

/// The name of the report in the folder of a study.
pub(crate) const FILE: &str = "report.html";
/// The picture of the first player's scores beside it.
const FIGURE: &str = "first-player.svg";
/// A summary of thousands of rulesets is some hundred megabytes.
const SUMMARY_BYTES_MAX: u64 = 1 << 30;

/// Writes the report of a study into its folder, and the picture of its results.
pub(crate) fn write(folder: &Path, summary: &StudySummary) -> anyhow::Result<()> {
    let page = report::html(summary, &rulesets(folder, summary));
    write_whole(&folder.join(FILE), page.as_bytes())?;
    write_whole(&folder.join(FIGURE), report::first_player_svg(summary).as_bytes())?;
    Ok(())
}

/// Makes the report again from `summary.json`; nothing is played.
pub(crate) fn write_again(folder: &Path) -> anyhow::Result<()> {
    let path = folder.join(SUMMARY);
    let text = read_text(&path, SUMMARY_BYTES_MAX)?;
    let summary = StudySummary::from_json(&text).with_context(|| path.display().to_string())?;
    write(folder, &summary)
}

/// Returns the rulesets that lie beside the games; the report does without those that cannot be read.
fn rulesets(folder: &Path, summary: &StudySummary) -> Vec<Ruleset> {
    let path = |name: &str| folder.join("rulesets").join(format!("{name}.toml"));
    let names = summary.rulesets.iter().map(|ruleset| ruleset.name.as_str());
    names.filter_map(|name| load_file(path(name).to_str()?).ok()).map(|file| file.ruleset).collect()
}

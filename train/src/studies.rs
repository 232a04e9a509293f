//! What the folder of a study holds beside its games: its settings, its summary in several formats, and the report.

use std::path::Path;

use latrunculi_engine::{Ruleset, presets};
use latrunculi_eval::report;
use latrunculi_eval::study::{StudySettings, StudySummary};

use crate::error::{Context, Error, error_chain};
use crate::files::{read_text, write_whole};
use crate::folders::SUMMARY;
use crate::rulesets::load_file;

/// The name of the report in the folder of a study.
pub const REPORT: &str = "report.html";
/// The picture of the first player's scores beside it.
const FIGURE: &str = "first-player.svg";
/// A summary of thousands of rulesets is some hundred megabytes.
const SUMMARY_BYTES_MAX: u64 = 1 << 30;

/// Writes the settings of a study, its summary in its formats, and the report.
///
/// # Errors
/// When a file cannot be written.
pub fn write(folder: &Path, settings: &StudySettings, summary: &StudySummary) -> Result<(), Error> {
    let json = summary.to_json().context("the summary")?;
    write_whole(&folder.join("study.toml"), toml::to_string(settings).context("the settings")?.as_bytes())?;
    write_whole(&folder.join(SUMMARY), json.as_bytes())?;
    write_whole(&folder.join("balance.csv"), summary.to_csv().as_bytes())?;
    write_report(folder, summary)
}

fn write_report(folder: &Path, summary: &StudySummary) -> Result<(), Error> {
    let page = report::html(summary, &rulesets(folder, summary));
    write_whole(&folder.join(REPORT), page.as_bytes())?;
    write_whole(&folder.join(FIGURE), report::first_player_svg(summary).as_bytes())
}

/// Makes the report again from the summary in the folder; nothing is played.
///
/// # Errors
/// When the summary cannot be read or the report not be written.
pub fn write_report_again(folder: &Path) -> Result<(), Error> {
    let path = folder.join(SUMMARY);
    let text = read_text(&path, SUMMARY_BYTES_MAX)?;
    let summary = StudySummary::from_json(&text);
    let summary = summary.map_err(|error| Error::Refused(format!("{}: {}", path.display(), error_chain(&error))))?;
    write_report(folder, &summary)
}

/// Returns the rulesets that lie beside the games, shipped ones where they do not; the report does without those that cannot be
/// read, or that are not those that were played.
fn rulesets(folder: &Path, summary: &StudySummary) -> Vec<Ruleset> {
    let names = summary.rulesets.iter().map(|ruleset| ruleset.name.as_str());
    let read = |name: &str| {
        let path = folder.join("rulesets").join(format!("{name}.toml"));
        let own = load_file(path.to_str()?).ok().map(|file| file.ruleset);
        own.or_else(|| presets::ruleset(name))
    };
    names.filter_map(read).collect()
}

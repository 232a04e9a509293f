//! A study that nobody played: every part of a summary, with numbers that are easy to recognise.

use latrunculi_eval::study::StudySummary;

/// Returns the first rulesets of a study of bell-8x8, dutch-8x8 and savard, and of falkener as if made from the first; the first has
/// the metrics of twelve games, a compensation, a pie rule and phases. The agents are two ladders.
pub(crate) fn study(rulesets: usize) -> StudySummary {
    let mut summary = StudySummary::from_json(include_str!("study.json")).expect("a summary");
    summary.rulesets.truncate(rulesets);
    summary
}

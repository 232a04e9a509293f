//! The progress and the summary of a study as text.

use std::path::Path;
use std::time::Duration;

use indicatif::HumanDuration;
use latrunculi_eval::study::table::verdict_text;
use latrunculi_eval::study::{StudyProgress, StudySummary};

/// Returns the summary as text: every agent's scores, and where the report is.
pub(super) fn text(summary: &StudySummary, folder: &Path) -> String {
    let mut lines = Vec::new();
    for (agent, about) in summary.agents.iter().enumerate() {
        let is_headline = if agent == summary.headline_agent && summary.agents.len() > 1 { " (headline)" } else { "" };
        let confidence = 100.0 * summary.settings.confidence;
        lines.push(format!(
            "{}{is_headline}: the first player's score in points of 100 [{confidence} % interval], games won +, drawn =, lost -",
            about.agent
        ));
        for ruleset in &summary.rulesets {
            let cell = &ruleset.cells[agent];
            let Some(score) = &cell.score else {
                lines.push(format!("  {:<28} no score, {} games", ruleset.name, cell.games));
                continue;
            };
            let verdict = cell.verdict.as_ref().map_or("", |verdict| verdict_text(verdict.verdict));
            let outcomes = &cell.outcomes;
            lines.push(format!(
                "  {:<28} {:5.1}  [{:4.1}, {:5.1}]  {verdict:<10} +{} ={} -{}{}",
                ruleset.name,
                100.0 * score.score,
                100.0 * score.interval.lower,
                100.0 * score.interval.upper,
                outcomes.first_wins,
                outcomes.rule_draws + outcomes.truncated,
                outcomes.second_wins,
                if outcomes.truncated > 0 { format!(", {} truncated", outcomes.truncated) } else { String::new() },
            ));
        }
    }
    lines.extend(summary.notes.iter().map(|note| format!("note: {note}")));
    if !summary.is_complete {
        lines.push(format!("stopped early; latrunculi balance --resume {} goes on", folder.display()));
    }
    lines.push(format!("written: report.html, summary.json, balance.csv and the games in {}", folder.display()));
    lines.join("\n") + "\n"
}

/// Returns how far a study is.
pub(super) fn progress(at: &StudyProgress) -> String {
    let mut message = format!("{}/{} series", at.series_done, at.series);
    if at.part.1 > 1 {
        message = format!("part {} of {}  {message}", at.part.0, at.part.1);
    }
    if let Some(secs) = at.secs_left {
        message.push_str(&format!("  {} left", HumanDuration(Duration::from_secs_f64(secs.clamp(0.0, 1e9)))));
    }
    if let Some(latest) = &at.latest {
        message.push_str(&format!("  {latest}"));
    }
    message
}

//! The progress and the summary of a study as text.

use std::path::Path;
use std::time::Duration;

use indicatif::HumanDuration;
use latrunculi_eval::Number;
use latrunculi_eval::study::summary::{CellSummary, RankAgreement, VerdictSummary};
use latrunculi_eval::study::{StudyProgress, StudySummary};

use crate::lines::{beside, wrapped};
use crate::quoted;

/// Returns the summary as text: every agent's scores, and where the report is. `store` is the option `--store` as it was given.
pub(super) fn text(summary: &StudySummary, folder: &Path, store: &str) -> String {
    let mut lines = Vec::new();
    let width = summary.rulesets.iter().map(|ruleset| ruleset.name.len()).max().unwrap_or(0);
    for (agent, about) in summary.agents.iter().enumerate() {
        let is_headline = if agent == summary.headline_agent && summary.agents.len() > 1 { " (headline)" } else { "" };
        let confidence = 100.0 * summary.settings.confidence;
        lines.push(format!("{}{is_headline}", about.agent));
        lines.push(wrapped(
            &format!(
                "the first player's score in points of 100 [{confidence} % interval], games won +, drawn =, lost -"
            ),
            2,
        ));
        let cells = || summary.rulesets.iter().map(|ruleset| &ruleset.cells[agent]);
        if let Some(pair) = cells().find_map(|cell| cell.verdict.as_ref()?.rank_agreement.as_ref())
            && let Some(tau) = pair.tau
        {
            let RankAgreement { agents: [other, _], told_apart, alike, .. } = pair;
            lines.push(wrapped(
                &format!(
                    "order of the rulesets as with {other}: Kendall's tau {tau:.2}; of {told_apart} pairs told apart {alike} alike"
                ),
                2,
            ));
        }
        for ruleset in &summary.rulesets {
            let cell = &ruleset.cells[agent];
            let head = format!("  {:<width$}  ", ruleset.name);
            let Some(score) = &cell.score else {
                lines.push(beside(&head, if cell.games == 0 { "no games" } else { "no score: one opening only" }));
                continue;
            };
            let verdict = cell.verdict.as_ref();
            let conclusion = verdict.map_or("", |verdict| verdict.verdict.as_str());
            let outcomes = &cell.outcomes;
            let games = outcomes.win_draw_loss();
            let truncated = match outcomes.truncated {
                0 => String::new(),
                truncated => format!(", {truncated} truncated"),
            };
            let row = format!("{:5.1} {:5.1} {games}{truncated}", 100.0 * score.score, score.interval.percent());
            lines.push(format!("{head}{row}"));
            if let Some(verdict) = verdict {
                let said = format!("{conclusion}; {}", support(verdict, cell));
                lines.push(wrapped(&said, head.chars().count()));
            }
        }
    }
    lines.extend(summary.notes.iter().map(|note| beside("note: ", note)));
    if !summary.is_complete {
        lines.push(format!("stopped early; latrunculi balance --resume {}{store} goes on", quoted(folder)));
    }
    lines.push(format!("written: report.html, summary.json, balance.csv and the games in {}", folder.display()));
    lines.join("\n") + "\n"
}

/// Returns what a verdict rests on: captures, the change since a smaller budget, and the doubts.
fn support(verdict: &VerdictSummary, cell: &CellSummary) -> String {
    let captures = match &cell.contact {
        Some(rate) => format!("captures in {:.0} % of the games", 100.0 * rate.rate),
        None => "games with captures not counted".to_owned(),
    };
    let mut parts = vec![captures];
    if let Some(last) = &verdict.last_doubling {
        let (change, interval) = (Number(100.0 * last.change.value), last.interval.percent());
        let stability = last.stability.as_str();
        parts.push(format!("since budget {} {change:+.1} {interval:+.1} ({stability})", last.budgets[0]));
    }
    if !verdict.doubts.is_empty() {
        let doubts: Vec<&str> = verdict.doubts.iter().map(|&doubt| doubt.as_str()).collect();
        parts.push(format!("not called balanced: {}", doubts.join("; ")));
    }
    parts.join(", ")
}

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

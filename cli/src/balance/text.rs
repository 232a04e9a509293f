//! The progress and the summary of a study as text.

use std::path::Path;
use std::time::Duration;

use indicatif::HumanDuration;
use latrunculi_eval::Number;
use latrunculi_eval::study::summary::{
    CellSummary, Conclusion, DifferenceSummary, PhaseSummary, RankAgreement, RulesetSummary, ScoreSummary,
    VerdictSummary,
};
use latrunculi_eval::study::{StudyProgress, StudySummary};
use latrunculi_stats::Interval;
use latrunculi_stats::compensation::FiellerSet;

use crate::lines::{beside, wrapped};
use crate::quoted;

/// Returns the summary as text: every agent's scores, and where the report is. `store` is the option `--store` as it was given.
pub(super) fn text(summary: &StudySummary, folder: &Path, store: &str) -> String {
    let mut lines = headline(summary);
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
    lines.extend(summary.rulesets.iter().flat_map(remedies));
    lines.extend(summary.notes.iter().map(|note| beside("note: ", note)));
    if !summary.is_complete {
        lines.push(format!("stopped early; latrunculi balance --resume {}{store} goes on", quoted(folder)));
    }
    lines.push(format!("written: report.html, summary.json, balance.csv and the games in {}", folder.display()));
    lines.join("\n") + "\n"
}

/// Says for which rulesets the headline agent's games lead to which conclusion; an empty line ends it.
fn headline(summary: &StudySummary) -> Vec<String> {
    let all = summary.rulesets.len();
    let conclusion = |ruleset: &RulesetSummary| {
        let verdict = ruleset.cells[summary.headline_agent].verdict.as_ref();
        verdict.map_or(Conclusion::Unresolved, |verdict| verdict.verdict)
    };
    let said = |found: &Conclusion| {
        let names: Vec<&str> = summary
            .rulesets
            .iter()
            .filter(|ruleset| conclusion(ruleset) == *found)
            .map(|ruleset| ruleset.name.as_str())
            .collect();
        let words = match found {
            Conclusion::Balanced => "Balanced",
            Conclusion::EvenWithThisPlayer => "Even with this player, but not shown to be balanced,",
            Conclusion::First => "The first player is ahead",
            Conclusion::Second => "The second player is ahead",
            Conclusion::Unresolved => "Too few games to say",
        };
        let next = if *found == Conclusion::Unresolved { ". Next: a larger --max-games" } else { "" };
        let text = format!("{words} in {} of {all}: {}{next}", names.len(), names.join(", "));
        (!names.is_empty()).then(|| wrapped(&text, 0))
    };
    Conclusion::ALL.iter().filter_map(said).chain([String::new()]).collect()
}

/// Returns what would make a ruleset fair, and where its advantage arises, as far as the study measured it.
fn remedies(ruleset: &RulesetSummary) -> Vec<String> {
    let head = format!("{}, ", ruleset.name);
    let score = |score: &ScoreSummary| format!("{:.1} {:.1}", 100.0 * score.score, score.interval.percent());
    let mut lines = Vec::new();
    if let Some(found) = &ruleset.compensation {
        let said = match (found.fair_handicap, &found.fair_handicap_set) {
            (Some(fair), Some(FiellerSet::Within(Interval { lower, upper }))) => {
                let (who, [fair, lower, upper]) = match fair < 0.0 {
                    true => ("second", [-fair, -upper, -lower]),
                    false => ("first", [fair, *lower, *upper]),
                };
                format!("fair if the {who} player has {fair:.2} [{lower:.2}, {upper:.2}] men fewer")
            }
            _ => "the games do not tell how many men would make it fair".to_owned(),
        };
        lines.push(beside(&format!("{head}compensation: "), &said));
    }
    if let Some(pie) = &ruleset.pie {
        let said = match (&pie.held_out, pie.chosen.and_then(|chosen| pie.tried.get(chosen))) {
            (Some(held_out), Some(turn)) => format!(
                "after the fairest first turn tried, {}, the first player's score is {}",
                turn.actions.join(" "),
                score(held_out)
            ),
            _ => "too few games to say".to_owned(),
        };
        lines.push(beside(&format!("{head}pie rule: "), &said));
    }
    if let Some(PhaseSummary { by_placement: Some(placing), by_movement: Some(moving), .. }) = &ruleset.phases {
        let points =
            |found: &DifferenceSummary| format!("{:+.1} {:+.1}", 100.0 * found.difference, found.interval.percent());
        lines.push(beside(
            &format!("{head}phases: "),
            &format!("placing is worth {} points to the first player, moving {}", points(placing), points(moving)),
        ));
    }
    lines
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

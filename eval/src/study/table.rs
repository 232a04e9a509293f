//! The summary as a table: one row per ruleset and agent, as comma separated values.

use super::summary::{CellSummary, Conclusion, Doubt, RulesetSummary, Stability, StudySummary};
use latrunculi_stats::Interval;

use crate::Number;

/// The columns, as docs/FORMATS.md explains them.
pub const COLUMNS: [&str; 49] = [
    "ruleset",
    "fingerprint",
    "base",
    "parameter",
    "value",
    "agent",
    "family",
    "budget",
    "opening_actions",
    "games",
    "games_played",
    "games_repeated",
    "openings",
    "effective_games",
    "stop",
    "first_wins",
    "second_wins",
    "rule_draws",
    "truncated",
    "score",
    "standard_error",
    "lower",
    "upper",
    "simultaneous_lower",
    "simultaneous_upper",
    "truncated_lost",
    "truncated_won",
    "elo",
    "elo_lower",
    "elo_upper",
    "decisive_rate",
    "first_of_decisive",
    "contact_rate",
    "verdict",
    "doubts",
    "last_doubling_change",
    "last_doubling_lower",
    "last_doubling_upper",
    "p_unbalanced",
    "p_unbalanced_holm",
    "p_balanced",
    "p_balanced_holm",
    "actions_mean",
    "effort_mean",
    "difference_to_base",
    "difference_lower",
    "difference_upper",
    "second_opening_actions",
    "second_opening_score",
];

impl StudySummary {
    /// Returns the table of all rulesets and agents, with a line of names; what is not known is empty.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let mut text = COLUMNS.join(",") + "\n";
        for ruleset in &self.rulesets {
            for (agent, cell) in ruleset.cells.iter().enumerate() {
                let row = self.row(ruleset, agent, cell);
                text.push_str(&row.iter().map(|field| quoted(field)).collect::<Vec<_>>().join(","));
                text.push('\n');
            }
        }
        text
    }

    fn row(&self, ruleset: &RulesetSummary, agent: usize, cell: &CellSummary) -> [String; COLUMNS.len()] {
        let summary = &self.agents[agent];
        let score = cell.score.as_ref();
        let verdict = cell.verdict.as_ref();
        let derived = ruleset.derived.as_ref();
        let difference = derived.and_then(|derived| derived.differences.get(agent).copied().flatten());
        let second = cell.second_opening.as_ref();
        let (lower, upper) = ends(score.map(|score| score.interval));
        let (simultaneous_lower, simultaneous_upper) = ends(score.map(|score| score.simultaneous));
        let (lost, won) = ends(score.map(|score| score.truncation_bracket));
        let last = verdict.and_then(|verdict| verdict.last_doubling);
        let (last_lower, last_upper) = ends(last.map(|last| last.interval));
        let (difference_lower, difference_upper) = ends(difference.map(|difference| difference.interval));
        [
            ruleset.name.clone(),
            ruleset.fingerprint.clone(),
            text(derived.map(|derived| &derived.base)),
            text(derived.map(|derived| &derived.parameter)),
            text(derived.map(|derived| &derived.value)),
            cell.agent.clone(),
            summary.family.clone(),
            text(summary.budget),
            cell.opening.actions.to_string(),
            cell.games.to_string(),
            cell.games_played.to_string(),
            cell.games_repeated.to_string(),
            cell.openings_distinct.to_string(),
            number(cell.effective_games),
            word(&cell.stop),
            cell.outcomes.first_wins.to_string(),
            cell.outcomes.second_wins.to_string(),
            cell.outcomes.rule_draws.to_string(),
            cell.outcomes.truncated.to_string(),
            number(score.map(|score| score.score)),
            number(score.map(|score| score.standard_error)),
            lower,
            upper,
            simultaneous_lower,
            simultaneous_upper,
            lost,
            won,
            number(score.map(|score| score.elo.value)),
            number(score.and_then(|score| score.elo.lower)),
            number(score.and_then(|score| score.elo.upper)),
            number(cell.decisive.map(|rate| rate.rate)),
            number(cell.first_of_decisive.map(|rate| rate.rate)),
            number(cell.contact.map(|rate| rate.rate)),
            verdict.map(|verdict| word(&verdict.verdict)).unwrap_or_default(),
            verdict.map(|verdict| verdict.doubts.iter().map(word).collect::<Vec<_>>().join(" ")).unwrap_or_default(),
            number(last.map(|last| last.change.value)),
            last_lower,
            last_upper,
            number(verdict.map(|verdict| verdict.p_unbalanced)),
            number(verdict.map(|verdict| verdict.p_unbalanced_holm)),
            number(verdict.map(|verdict| verdict.p_balanced)),
            number(verdict.map(|verdict| verdict.p_balanced_holm)),
            number((cell.games > 0).then_some(cell.actions_mean)),
            number(cell.effort_mean),
            number(difference.map(|difference| difference.difference)),
            difference_lower,
            difference_upper,
            text(second.map(|second| second.opening.actions)),
            number(second.and_then(|second| second.score).map(|score| score.score)),
        ]
    }
}

/// Returns the words for a conclusion.
#[must_use]
pub fn conclusion_text(conclusion: Conclusion) -> &'static str {
    match conclusion {
        Conclusion::Balanced => "balanced",
        Conclusion::EvenWithThisPlayer => "even with this player",
        Conclusion::First => "first player ahead",
        Conclusion::Second => "second player ahead",
        Conclusion::Unresolved => "unresolved",
    }
}

/// Returns a doubt in a few words that follow "even with this player:".
#[must_use]
pub fn doubt_text(doubt: Doubt) -> &'static str {
    match doubt {
        Doubt::FewCaptures => "captures in too few games",
        Doubt::CapturesUnknown => "games with captures not counted",
        Doubt::CutOff => "too many games cut off",
        Doubt::NoSearch => "the player does not search",
        Doubt::OneKindOfPlayer => "only one kind of player",
        Doubt::KindsDisagree => "kinds of players disagree",
        Doubt::NotConfirmed => "not confirmed by another kind of player",
    }
}

/// Returns what a stability means.
#[must_use]
pub fn stability_text(stability: Stability) -> &'static str {
    match stability {
        Stability::Stable => "stable",
        Stability::Changed => "changed",
        Stability::Unclear => "unclear",
    }
}

fn text(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// Six digits say all that there is to say.
pub(crate) fn number(value: Option<f64>) -> String {
    let Some(value) = value else { return String::new() };
    if value != 0.0 && value.abs() < 1e-4 { format!("{value:.3e}") } else { format!("{:.6}", Number(value)) }
}

fn ends(interval: Option<Interval>) -> (String, String) {
    (number(interval.map(|interval| interval.lower)), number(interval.map(|interval| interval.upper)))
}

/// Returns the word that JSON has for a value.
fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

/// Quotes a field where its content needs it (RFC 4180).
pub(crate) fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n']) { format!("\"{}\"", field.replace('"', "\"\"")) } else { field.to_owned() }
}

//! The summary as a table: one row per ruleset and agent, as comma separated values.

use std::collections::BTreeMap;

use super::summary::{
    AgentSummary, CellSummary, Derivation, DifferenceSummary, LastDoubling, RulesetSummary, ScoreSummary,
    SecondOpening, StudySummary, VerdictSummary,
};
use crate::Number;

struct Row<'a> {
    ruleset: &'a RulesetSummary,
    agent: &'a AgentSummary,
    cell: &'a CellSummary,
    score: Option<ScoreSummary>,
    verdict: Option<&'a VerdictSummary>,
    derived: Option<&'a Derivation>,
    difference: Option<DifferenceSummary>,
    second: Option<&'a SecondOpening>,
}

impl Row<'_> {
    fn last(&self) -> Option<LastDoubling> {
        self.verdict?.last_doubling
    }
}

type Column = (&'static str, fn(&Row<'_>) -> String);

/// The columns, as docs/FORMATS.md explains them; what is not known is empty.
const COLUMNS: [Column; 49] = [
    ("ruleset", |row| row.ruleset.name.clone()),
    ("fingerprint", |row| row.ruleset.fingerprint.clone()),
    ("base", |row| text(row.derived.map(|derived| &derived.base))),
    ("parameter", |row| text(row.derived.map(|derived| &derived.parameter))),
    ("value", |row| text(row.derived.map(|derived| &derived.value))),
    ("agent", |row| row.cell.agent.clone()),
    ("family", |row| row.agent.family.clone()),
    ("budget", |row| text(row.agent.budget)),
    ("opening_actions", |row| row.cell.opening.actions.to_string()),
    ("games", |row| row.cell.games.to_string()),
    ("games_played", |row| row.cell.games_played.to_string()),
    ("games_repeated", |row| row.cell.games_repeated.to_string()),
    ("openings", |row| row.cell.openings_distinct.to_string()),
    ("effective_games", |row| number(row.cell.effective_games)),
    ("stop", |row| word(&row.cell.stop)),
    ("first_wins", |row| row.cell.outcomes.first_wins.to_string()),
    ("second_wins", |row| row.cell.outcomes.second_wins.to_string()),
    ("rule_draws", |row| row.cell.outcomes.rule_draws.to_string()),
    ("truncated", |row| row.cell.outcomes.truncated.to_string()),
    ("score", |row| number(row.score.map(|found| found.score))),
    ("standard_error", |row| number(row.score.map(|found| found.standard_error))),
    ("lower", |row| number(row.score.map(|found| found.interval.lower))),
    ("upper", |row| number(row.score.map(|found| found.interval.upper))),
    ("simultaneous_lower", |row| number(row.score.map(|found| found.simultaneous.lower))),
    ("simultaneous_upper", |row| number(row.score.map(|found| found.simultaneous.upper))),
    ("truncated_lost", |row| number(row.score.map(|found| found.truncation_bracket.lower))),
    ("truncated_won", |row| number(row.score.map(|found| found.truncation_bracket.upper))),
    ("elo", |row| number(row.score.map(|found| found.elo.value))),
    ("elo_lower", |row| number(row.score.and_then(|found| found.elo.lower))),
    ("elo_upper", |row| number(row.score.and_then(|found| found.elo.upper))),
    ("decisive_rate", |row| number(row.cell.decisive.map(|found| found.rate))),
    ("first_of_decisive", |row| number(row.cell.first_of_decisive.map(|found| found.rate))),
    ("contact_rate", |row| number(row.cell.contact.map(|found| found.rate))),
    ("verdict", |row| row.verdict.map(|found| word(&found.verdict)).unwrap_or_default()),
    ("doubts", |row| {
        row.verdict.map(|found| found.doubts.iter().map(word).collect::<Vec<_>>().join(" ")).unwrap_or_default()
    }),
    ("last_doubling_change", |row| number(row.last().map(|last| last.change.value))),
    ("last_doubling_lower", |row| number(row.last().map(|last| last.interval.lower))),
    ("last_doubling_upper", |row| number(row.last().map(|last| last.interval.upper))),
    ("p_unbalanced", |row| number(row.verdict.map(|found| found.p_unbalanced))),
    ("p_unbalanced_holm", |row| number(row.verdict.map(|found| found.p_unbalanced_holm))),
    ("p_balanced", |row| number(row.verdict.map(|found| found.p_balanced))),
    ("p_balanced_holm", |row| number(row.verdict.map(|found| found.p_balanced_holm))),
    ("actions_mean", |row| number((row.cell.games > 0).then_some(row.cell.actions_mean))),
    ("effort_mean", |row| number(row.cell.effort_mean)),
    ("difference_to_base", |row| number(row.difference.map(|found| found.difference))),
    ("difference_lower", |row| number(row.difference.map(|found| found.interval.lower))),
    ("difference_upper", |row| number(row.difference.map(|found| found.interval.upper))),
    ("second_opening_actions", |row| text(row.second.map(|second| second.opening.actions))),
    ("second_opening_score", |row| number(row.second.and_then(|second| second.score).map(|found| found.score))),
];

impl StudySummary {
    /// Returns the table of all rulesets and agents, with a line of names.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let mut text = COLUMNS.map(|(name, _)| name).join(",") + "\n";
        for ruleset in &self.rulesets {
            let derived = ruleset.derived.as_ref();
            for (index, (agent, cell)) in self.agents.iter().zip(&ruleset.cells).enumerate() {
                let row = Row {
                    ruleset,
                    agent,
                    cell,
                    score: cell.score,
                    verdict: cell.verdict.as_ref(),
                    derived,
                    difference: derived.and_then(|derived| derived.differences.get(index).copied().flatten()),
                    second: cell.second_opening.as_ref(),
                };
                text += &COLUMNS.map(|(_, cell)| quoted(&cell(&row))).join(",");
                text.push('\n');
            }
        }
        text
    }
}

/// Reads a table that [`StudySummary::to_csv`] has written: each row by the names of its columns. Of a text that is no such
/// table the rows have other names or none.
#[must_use]
pub fn read_csv(text: &str) -> Vec<BTreeMap<String, String>> {
    let mut lines = text.lines().map(fields);
    let names = lines.next().unwrap_or_default();
    lines.map(|fields| names.iter().cloned().zip(fields).collect()).collect()
}

/// Parts a line into its fields (RFC 4180, without line breaks in fields).
fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut is_quoted) = (vec![String::new()], false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        let field = fields.last_mut().expect("never empty");
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => field.extend(letters.next()),
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(String::new()),
            _ => field.push(letter),
        }
    }
    fields
}

fn text(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// Six digits say all that there is to say.
pub(crate) fn number(value: Option<f64>) -> String {
    let Some(value) = value else { return String::new() };
    if value != 0.0 && value.abs() < 1e-4 { format!("{value:.3e}") } else { format!("{:.6}", Number(value)) }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_read_as_it_was_written() {
        let written = ["net:a,sims=4", "says \"no\"", "", "0.5"];
        assert_eq!(fields(&written.map(quoted).join(",")), written);
    }
}

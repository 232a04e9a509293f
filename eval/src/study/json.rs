//! The summary of a study as JSON, and read back.

use serde_json::Value;

use super::StudySummary;
use super::summary::{OutcomeCounts, SUMMARY_VERSION};
use crate::Error;

/// What lies deeper than this stands on one line: the parts of a cell's metrics are the last that do not.
const LINES_DOWN_TO: usize = 6;

/// Names of numbers in `[0, 1]`: scores, rates and probabilities.
const FRACTIONS: [&str; 10] = [
    "score",
    "rate",
    "p",
    "p_holm",
    "p_unbalanced",
    "p_unbalanced_holm",
    "p_balanced",
    "p_balanced_holm",
    "draw_rate",
    "decisive_rate",
];
const BOARD_SQUARES_MAX: usize = 256;

/// Checks the numbers of a summary by their names, at every depth: fractions lie in `[0, 1]`, standard errors are not
/// negative, and the bounds of an interval are in order; those of a score or rate lie in `[0, 1]` as well. Ranges of turns
/// begin at 1 or later and are not empty.
fn check_ranges(path: &str, value: &Value) -> Result<(), String> {
    match value {
        Value::Array(values) => {
            let checked = |(index, value): (usize, &Value)| check_ranges(&format!("{path}[{index}]"), value);
            values.iter().enumerate().try_for_each(checked)
        }
        Value::Object(fields) => {
            let number = |name: &str| fields.get(name).and_then(Value::as_f64);
            if let (Some(lower), Some(upper)) = (number("lower"), number("upper"))
                && lower > upper
            {
                return Err(format!("{path} is an interval from {lower} to {upper}"));
            }
            if let (Some(from), Some(to)) = (number("from_turn"), number("to_turn"))
                && !(1.0..=to).contains(&from)
            {
                return Err(format!("{path} is a range of turns from {from} to {to}"));
            }
            for name in FRACTIONS {
                let Some(found) = number(name) else { continue };
                let intervals =
                    ["interval", "simultaneous", "truncation_bracket"].iter().filter_map(|name| fields.get(*name));
                let bounds = intervals.flat_map(|interval| [&interval["lower"], &interval["upper"]]);
                let is_of_fraction = name == "score" || name == "rate";
                let bounds = bounds.filter(|_| is_of_fraction).filter_map(Value::as_f64);
                if let Some(wrong) = std::iter::once(found).chain(bounds).find(|found| !(0.0..=1.0).contains(found)) {
                    return Err(format!("{path}.{name} or its interval is {wrong} and must be from 0 to 1"));
                }
            }
            if let Some(error) = number("standard_error").filter(|error| *error < 0.0) {
                return Err(format!("{path}.standard_error is {error} and must be at least 0"));
            }
            fields.iter().try_for_each(|(name, value)| {
                check_ranges(&if path.is_empty() { name.clone() } else { format!("{path}.{name}") }, value)
            })
        }
        _ => Ok(()),
    }
}

impl StudySummary {
    /// Checks that indices and counts agree.
    fn check(&self) -> Result<(), String> {
        let agents = self.agents.len();
        let demand = |holds: bool, fault: String| if holds { Ok(()) } else { Err(fault) };
        let named = self.headline_agent;
        demand(named < agents, format!("headline_agent is {named}, and there are {agents} agents"))?;
        for ruleset in &self.rulesets {
            let name = &ruleset.name;
            let cells = ruleset.cells.len();
            demand(cells == agents, format!("{name} has {cells} cells, and there are {agents} agents"))?;
            let squares = ruleset.files.saturating_mul(ruleset.ranks);
            demand(
                (1..=BOARD_SQUARES_MAX).contains(&squares) && ruleset.men <= squares,
                format!("{name} has a board of {} x {} with {} men", ruleset.files, ruleset.ranks, ruleset.men),
            )?;
            for cell in &ruleset.cells {
                let OutcomeCounts { first_wins, second_wins, rule_draws, truncated } = cell.outcomes;
                let sum = [first_wins, second_wins, rule_draws, truncated].map(u128::from).iter().sum::<u128>();
                demand(
                    sum == u128::from(cell.games) && cell.games <= cell.games_played,
                    format!("{name}, {}: its {} games are not the {sum} of its outcomes", cell.agent, cell.games),
                )?;
            }
            if let Some(pie) = &ruleset.pie {
                let tried = pie.tried.len();
                demand(
                    pie.chosen.is_none_or(|chosen| chosen < tried),
                    format!("{name}: chosen names none of the {tried} first turns"),
                )?;
            }
        }
        Ok(())
    }

    /// Reads a summary of the format [`SUMMARY_VERSION`].
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn from_json(text: &str) -> Result<StudySummary, Error> {
        let refused = |reason: String| Error::Refused(format!("this is no summary of a balance study: {reason}"));
        let no_summary = |error: serde_json::Error| refused(error.to_string());
        let value: Value = serde_json::from_str(text).map_err(no_summary)?;
        let format = value.get("format").and_then(Value::as_u64);
        let format = format.ok_or_else(|| refused("it has no format".to_owned()))?;
        if format != u64::from(SUMMARY_VERSION) {
            return Err(Error::Refused(format!(
                "it has format {format}, this program reads format {SUMMARY_VERSION}: `latrunculi balance --resume` makes it anew \
                 from the games"
            )));
        }
        check_ranges("", &value).map_err(refused)?;
        let summary: StudySummary = serde_json::from_str(text).map_err(no_summary)?;
        summary.check().map_err(refused)?;
        Ok(summary)
    }

    /// Returns the summary as JSON with a line for everything down to the parts of a cell's metrics. The curves and
    /// maps below, of which there are tens of thousands of numbers, stand on one line each.
    ///
    /// # Errors
    /// Only if the summary holds what JSON cannot write.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        let mut text = String::new();
        let mut is_joined = false;
        for line in serde_json::to_string_pretty(self)?.lines() {
            let content = line.trim_start();
            let depth = (line.len() - content.len()) / 2;
            // What closes a joined part is no deeper than what opens it.
            is_joined = depth > LINES_DOWN_TO || is_joined && depth == LINES_DOWN_TO && content.starts_with([']', '}']);
            if is_joined {
                text.push_str(&without_space(content));
            } else {
                text.push_str(if text.is_empty() { "" } else { "\n" });
                text.push_str(line);
            }
        }
        Ok(text + "\n")
    }
}

/// Returns a line of indented JSON without the space behind its key, if it has one.
fn without_space(line: &str) -> String {
    match line.split_once("\": ") {
        Some((key, value)) if key.starts_with('"') && !key[1..].contains(['"', '\\']) => format!("{key}\":{value}"),
        _ => line.to_owned(),
    }
}

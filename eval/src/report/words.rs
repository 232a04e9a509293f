//! The names of the program's terms in the report.

use crate::study::summary::{AgentSummary, CellSummary, Conclusion, OpeningSummary};

/// Below this share of games won by anybody, a ruleset is called mostly drawn.
const MOSTLY_DRAWN_BELOW: f64 = 0.5;

pub(super) fn agent(agent: &AgentSummary) -> String {
    match (agent.budget, agent.budget_unit.as_deref()) {
        (Some(budget), Some(unit)) => format!("{}, {budget} {unit} a choice", family(&agent.family)),
        _ => family(&agent.family),
    }
}

/// Returns the same in few words, for tables.
pub(super) fn short_agent(agent: &AgentSummary) -> String {
    let (kind, rest) = parts(&agent.family);
    let name = match kind {
        "alphabeta" | "alphabeta by depth" => format!("alpha-beta{rest}"),
        "mcts" => format!("random playouts{rest}"),
        "greedy" | "random" => agent.family.clone(),
        _ => family(&agent.family),
    };
    match (agent.budget, agent.budget_unit.as_deref()) {
        (Some(budget), Some(unit)) => format!("{name}, {budget} {unit}"),
        _ => name,
    }
}

/// Parts the name of a family into the kind of player, and what else all its agents have in common.
fn parts(family: &str) -> (&str, &str) {
    let at = [" to depth ", " with seed "].iter().filter_map(|word| family.find(word)).min();
    family.split_at(at.filter(|_| !family.starts_with("net ")).unwrap_or(family.len()))
}

pub(super) fn family(family: &str) -> String {
    let (kind, rest) = parts(family);
    match kind {
        "alphabeta" => format!("alpha-beta search{rest}"),
        "alphabeta by depth" => format!("alpha-beta search to a fixed depth{rest}"),
        "mcts" => format!("tree search with random playouts{rest}"),
        "greedy" => format!("a greedy player, which maximises its immediate gain{rest}"),
        "random" => format!("a random player{rest}"),
        _ => match family.strip_prefix("net ") {
            Some(model) => format!("neural network {}", model.rsplit('/').next().unwrap_or(model)),
            None => family.to_owned(),
        },
    }
}

pub(super) fn no_score(cell: &CellSummary) -> &'static str {
    if cell.outcomes.games() == 0 { "no games" } else { "one opening only" }
}

/// Returns whether most games of a cell are drawn: what balances it is then the draws, not equal chances to win.
pub(super) fn is_mostly_drawn(cell: &CellSummary) -> bool {
    cell.decisive.is_some_and(|decisive| decisive.rate < MOSTLY_DRAWN_BELOW)
}

/// Returns the class that colours a conclusion, and the mark that says the same without colour.
pub(super) fn verdict_class(conclusion: Conclusion) -> (&'static str, &'static str) {
    match conclusion {
        Conclusion::Balanced => ("even", "="),
        Conclusion::EvenWithThisPlayer => ("open", "≈"),
        Conclusion::First => ("first", "▲"),
        Conclusion::Second => ("second", "▼"),
        Conclusion::Unresolved => ("open", "?"),
    }
}

/// Returns how games were opened.
pub(super) fn opening(opening: &OpeningSummary) -> String {
    match &opening.policy {
        None => format!("{} actions drawn at random", opening.actions),
        Some(agent) => format!("{} actions drawn from the policy of {agent}", opening.actions),
    }
}

/// Returns names in a row: `a`, `a and b`, `a, b and c`.
pub(super) fn list(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

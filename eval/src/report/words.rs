//! The names of the program's terms in the report.

use crate::metrics::GamePhase;
use crate::metrics::material::PieceFeature;
use crate::metrics::mechanics::{Mechanic, MechanicRole};
use crate::study::summary::{AgentSummary, CellSummary, Conclusion, OpeningSummary, StopReason, TrendDirection};

/// Below this share of games won by anybody, a ruleset is called mostly drawn.
const MOSTLY_DRAWN_BELOW: f64 = 0.5;

/// Returns what an agent is, with its budget.
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

/// Returns what agents of a family are.
pub(super) fn family(family: &str) -> String {
    let (kind, rest) = parts(family);
    match kind {
        "alphabeta" => format!("alpha-beta search{rest}"),
        "alphabeta by depth" => format!("alpha-beta search to a fixed depth{rest}"),
        "mcts" => format!("tree search with random playouts{rest}"),
        "greedy" => format!("greedy player, which maximises its immediate gain{rest}"),
        "random" => format!("random player{rest}"),
        _ => match family.strip_prefix("net ") {
            Some(model) => format!("neural network {}", model.rsplit('/').next().unwrap_or(model)),
            None => family.to_owned(),
        },
    }
}

/// Says why a cell has no score.
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

/// Returns what a stronger agent does to the advantage.
pub(super) fn trend(direction: TrendDirection) -> &'static str {
    match direction {
        TrendDirection::Shrinking => "shrinking",
        TrendDirection::Stable => "stable",
        TrendDirection::Growing => "growing",
        TrendDirection::Unclear => "no trend shown",
    }
}

/// Returns why a measurement ended.
pub(super) fn stop(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Width => "the interval has the requested width",
        StopReason::MaxGames => "the maximum number of games was played",
        StopReason::NoMoreOpenings => "there is no other distinct opening",
        StopReason::Interrupted => "the study was interrupted",
    }
}

/// Returns how games were opened.
pub(super) fn opening(opening: &OpeningSummary) -> String {
    match &opening.policy {
        None => format!("{} actions drawn at random", opening.actions),
        Some(agent) => format!("{} actions drawn from the policy of {agent}", opening.actions),
    }
}

/// Returns why games end, from the names in game records.
pub(super) fn end_reason(reason: &str) -> &str {
    match reason {
        "dux enclosed" => "dux enclosed",
        "dux captured" => "dux captured",
        "eliminated" => "men captured down to the limit",
        "blockade" => "too long without a capture, or both sides blocked",
        "repetition" => "position repeated",
        "no legal move" => "a player could not move",
        "ply cap" => "cut off by the program's turn limit",
        "" => "resigned",
        other => other,
    }
}

/// Returns what a mechanism is called.
pub(super) fn mechanic(mechanic: Mechanic) -> &'static str {
    match mechanic {
        Mechanic::Placement => "stone placed",
        Mechanic::Jump => "jump",
        Mechanic::JumpChain => "chain of jumps",
        Mechanic::Capture => "capture",
        Mechanic::MultipleCapture => "several captured at once",
        Mechanic::CornerCapture => "capture in a corner",
        Mechanic::EnclosureCapture => "man captured by enclosure",
        Mechanic::Continuation => "captor moves again",
        Mechanic::ContinuationCapture => "captor moves again and captures",
        Mechanic::ContinuationDeclined => "captor may move again but stops",
        Mechanic::Bound => "enemy bound (alligatus)",
        Mechanic::SelfBound => "own piece bound by own move",
        Mechanic::Released => "bound piece freed",
        Mechanic::Removal => "bound pieces removed",
        Mechanic::Displacement => "bound piece taken by moving onto it",
        Mechanic::SafeEntry => "safe entry between two enemies",
        Mechanic::DuxMove => "dux moves",
        Mechanic::DuxBound => "dux bound",
        Mechanic::DuxCaptured => "dux taken",
        Mechanic::ForcedPass => "forced pass",
    }
}

/// Returns what the use of a mechanism amounts to.
pub(super) fn role(role: MechanicRole) -> &'static str {
    match role {
        MechanicRole::Used => "used",
        MechanicRole::Decorative => "decorative",
        MechanicRole::Undecided => "too few games to say",
    }
}

/// Returns what a feature of a position is called.
pub(super) fn feature(feature: PieceFeature) -> &'static str {
    match feature {
        PieceFeature::Tempo => "being the player to act",
        PieceFeature::Men => "one man more",
        PieceFeature::Dux => "having the dux",
        PieceFeature::BoundMen => "one bound man more",
        PieceFeature::Mobility => "one possible move more",
    }
}

/// Returns what a phase is called.
pub(super) fn phase(phase: GamePhase) -> &'static str {
    match phase {
        GamePhase::Placement => "placement",
        GamePhase::Movement => "movement",
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

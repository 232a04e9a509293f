//! What agents think, as people and programs read it.

use latrunculi_engine::{Action, GameState};
use latrunculi_search::alphabeta::actions_to_end;
use serde_json::{Value, json};

use crate::Number;
use crate::agents::{Candidate, Choice, SearchKind};

/// Returns a score of alpha-beta for people: men ahead, or how far the end is.
#[must_use]
pub fn score_text(score: i32) -> String {
    match actions_to_end(score) {
        Some(actions) if score > 0 => format!("wins in {actions}"),
        Some(actions) => format!("loses in {}", actions.abs()),
        None => format!("{:+.2}", Number(f64::from(score) / 100.0)),
    }
}

/// Returns the texts of actions played one after the other from `state`, up to the first that is not legal.
#[must_use]
pub fn variation_texts(state: &GameState, variation: &[Action]) -> Vec<String> {
    let mut state = state.clone();
    let mut texts = Vec::new();
    for &action in variation {
        if state.outcome().is_some() || !state.is_legal(action) {
            break;
        }
        texts.push(state.action_text(action));
        state.play(action);
    }
    texts
}

/// Returns the actions to list, the best one first: what the agent chose. An agent that compares none lists that alone.
#[must_use]
pub fn listed(choice: &Choice, count: usize) -> Vec<Candidate> {
    if !choice.candidates.is_empty() {
        return choice.candidates.iter().take(count).cloned().collect();
    }
    vec![Candidate {
        value: choice.value,
        score: choice.score,
        depth: choice.depth,
        ..Candidate::bare(choice.action, &choice.principal_variation)
    }]
}

/// Returns the visits of all actions together; `None` where there are none.
#[must_use]
pub fn visits_sum(choice: &Choice) -> Option<f64> {
    let sum: f64 = choice.candidates.iter().map(|candidate| f64::from(candidate.visits)).sum();
    (sum > 0.0).then_some(sum)
}

/// Returns what `agent` thinks of `state`, with the actions to list ([`listed`]), for programs; docs/FORMATS.md, "Analysis".
#[must_use]
pub fn to_json(state: &GameState, agent: &str, choice: &Choice, listed: &[Candidate], is_stopped: bool) -> Value {
    let visits_sum = visits_sum(choice);
    let actions: Vec<_> = listed
        .iter()
        .map(|line| {
            json!({
                "action": state.action_text(line.action),
                "value": line.value,
                "score": line.score,
                "depth": line.depth,
                "prior": choice.search.map(|_| line.prior),
                "visits": choice.search.map(|_| line.visits),
                "visit_share": visits_sum.map(|sum| f64::from(line.visits) / sum),
                "improved_policy": (choice.search == Some(SearchKind::Gumbel)).then_some(line.policy),
                "variation": variation_texts(state, &line.variation),
            })
        })
        .collect();
    json!({
        "ruleset": state.rules().ruleset().id,
        "position": state.rules().position_text(state.position()),
        "player": state.player_to_act().number(),
        "agent": agent,
        "search": choice.search.map(SearchKind::name),
        "action": state.action_text(choice.action),
        "value": choice.value,
        "score": choice.score,
        "win_draw_loss": choice.win_draw_loss,
        "depth": choice.depth,
        "effort": choice.effort,
        "stopped_early": is_stopped,
        "variation": variation_texts(state, &choice.principal_variation),
        "actions": actions,
    })
}

#[cfg(test)]
mod tests {
    use latrunculi_search::alphabeta::WIN;

    use super::*;

    #[test]
    fn scores_read_as_men_or_as_the_way_to_the_end() {
        assert_eq!(score_text(125), "+1.25");
        assert_eq!(score_text(-7), "-0.07");
        assert_eq!(score_text(WIN - 5), "wins in 5");
        assert_eq!(score_text(4 - WIN), "loses in 4");
        assert_eq!((actions_to_end(WIN - 5), actions_to_end(4 - WIN), actions_to_end(0)), (Some(5), Some(-4), None));
    }
}

//! What agents think, as people and programs read it.

use latrunculi_engine::{Action, GameState};
use latrunculi_search::alphabeta::actions_to_end;

/// Returns a score of alpha-beta for people: men ahead, or how far the end is.
pub(crate) fn score_text(score: i32) -> String {
    match actions_to_end(score) {
        Some(actions) if score > 0 => format!("wins in {actions}"),
        Some(actions) => format!("loses in {}", actions.abs()),
        None => format!("{:+.2}", f64::from(score) / 100.0),
    }
}

/// Returns the texts of actions played one after the other.
pub(crate) fn variation_texts(state: &GameState, variation: &[Action]) -> Vec<String> {
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

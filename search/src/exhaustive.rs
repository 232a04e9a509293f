//! The exact value of small games by exhaustive search.

use std::collections::HashMap;

use latrunculi_engine::Player;

use crate::game::Game;

/// An exhaustive search that keeps the values of all positions searched so far.
/// Positions are identified by [`Game::full_key`], so the game must end by what that key covers: turns played,
/// turns without a capture, repetition, passes.
#[derive(Clone, Debug, Default)]
pub struct Exhaustive {
    values: HashMap<u64, i8>,
}

impl Exhaustive {
    /// Creates a search without any known position.
    #[must_use]
    pub fn new() -> Exhaustive {
        Exhaustive::default()
    }

    /// Returns the number of positions with a known value.
    #[must_use]
    pub fn positions(&self) -> usize {
        self.values.len()
    }

    /// Returns the result of perfect play for the **first** player: 1 win, 0 draw, -1 loss; `None` when more
    /// than `positions_max` positions would have to be known.
    /// The game must end on every path; the depth of the recursion is the length of the longest.
    pub fn value<G: Game>(&mut self, game: &G, positions_max: usize) -> Option<i8> {
        if let Some(outcome) = game.outcome() {
            return Some(outcome.value_for(Player::First) as i8);
        }
        let key = game.full_key();
        if let Some(&value) = self.values.get(&key) {
            return Some(value);
        }
        if self.values.len() >= positions_max {
            return None;
        }
        let is_first = game.player_to_act() == Player::First;
        let target = if is_first { 1 } else { -1 };
        let mut best = -target;
        let mut actions = Vec::new();
        game.legal_actions(&mut actions);
        let mut after = game.clone();
        for action in actions {
            after.clone_from(game);
            after.play(action);
            let value = self.value(&after, positions_max)?;
            best = if is_first { best.max(value) } else { best.min(value) };
            if best == target {
                break;
            }
        }
        self.values.insert(key, best);
        Some(best)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use latrunculi_engine::{GameState, RulesetFile};

    use super::*;
    use crate::alphabeta::{AlphaBeta, AlphaBetaSettings, EVALUATION_MAX, Limits};
    use crate::latrunculi::LatrunculiHeuristic;

    /// Two men a side on sixteen squares: the first capture wins, six quiet turns draw.
    const SMALL: &str = r#"
        id = "small"
        name = "small"
        summary = "A board that can be solved."
        source = "none"
        [board]
        files = 4
        ranks = 4
        [setup]
        array = ".mm./..../..../.MM."
        [end]
        eliminate_at = 1
        no_move = "loss"
        quiet_limit = 6
    "#;

    #[test]
    fn a_search_to_the_end_finds_the_same_values() {
        let rules = Arc::new(RulesetFile::parse(SMALL).unwrap().rules());
        let mut search = AlphaBeta::new(AlphaBetaSettings::default(), LatrunculiHeuristic::new(&rules));
        let mut exhaustive = Exhaustive::new();
        let mut state = GameState::new(Arc::clone(&rules));
        let mut actions = Vec::new();
        while state.outcome().is_none() {
            let value = exhaustive.value(&state, 1_000_000).unwrap();
            let score = search.search(&state, Limits { nodes: u64::MAX, depth: 8 }).score;
            let for_mover = if score.abs() > EVALUATION_MAX { score.signum() as i8 } else { 0 };
            let sign = if state.player_to_act() == Player::First { 1 } else { -1 };
            assert_eq!(value, sign * for_mover, "{}", rules.position_text(state.position()));
            state.legal_actions(&mut actions);
            state.play(actions[actions.len() / 2]);
        }
        assert!(exhaustive.positions() > 400, "{} positions", exhaustive.positions());
        assert_eq!(Exhaustive::new().value(&GameState::new(rules), 10), None);
    }
}

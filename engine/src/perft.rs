//! Counting the leaves of the action tree, to check move generators against each other.

use crate::action::Action;
use crate::state::GameState;

/// Counts the paths of exactly `depth` actions from `state`; finished games have no children.
#[must_use]
pub fn perft(state: &GameState, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    let mut leaves = 0;
    // The path that is being counted, from `state` on, then levels whose memory is used again.
    let mut levels = vec![Level::new(state)];
    levels[0].begin();
    let mut length = 1;
    while length > 0 {
        let level = &mut levels[length - 1];
        let action = level.actions.get(level.next).copied();
        match action {
            Some(action) if (length as u64) < u64::from(depth) => {
                level.next += 1;
                if levels.len() == length {
                    levels.push(Level::new(state));
                }
                let (path, below) = levels.split_at_mut(length);
                below[0].state.clone_from(&path[length - 1].state);
                below[0].state.play(action);
                below[0].begin();
                length += 1;
            }
            Some(_) => {
                leaves += level.actions.len() as u64;
                length -= 1;
            }
            None => length -= 1,
        }
    }
    leaves
}

/// Counts the paths below each legal action, in the order of the legal actions.
#[must_use]
pub fn divide(state: &GameState, depth: u32) -> Vec<(Action, u64)> {
    let mut actions = Vec::new();
    state.legal_actions(&mut actions);
    actions
        .into_iter()
        .map(|action| {
            let mut next = state.clone();
            next.play(action);
            (action, perft(&next, depth.saturating_sub(1)))
        })
        .collect()
}

struct Level {
    state: GameState,
    actions: Vec<Action>,
    next: usize,
}

impl Level {
    fn new(state: &GameState) -> Level {
        Level { state: state.clone(), actions: Vec::new(), next: 0 }
    }

    fn begin(&mut self) {
        self.state.legal_actions(&mut self.actions);
        self.next = 0;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::presets;
    use crate::rules::Rules;

    #[test]
    fn a_depth_beyond_the_longest_game_takes_the_memory_of_that_game() {
        let mut ruleset = presets::ruleset("savard").unwrap();
        ruleset.end.max_plies = 2;
        let state = GameState::new(Arc::new(Rules::new(&ruleset).unwrap()));
        let longer = GameState::new(presets::rules("savard"));
        let per_action: u64 = divide(&longer, 2).iter().map(|(_, leaves)| leaves).sum();
        assert_eq!((perft(&state, 0), perft(&state, 2)), (1, per_action));
        assert_eq!(perft(&state, u32::MAX), 0, "every game has ended before");
    }
}

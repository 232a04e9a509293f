//! The distinct first turns of a game; mirror images count as the same.

use std::collections::HashSet;
use std::sync::Arc;

use latrunculi_engine::{Action, GameState, Rules};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::matches::openings::canonical_key;

/// Beginnings of turns after which counting is given up.
const VISITS_MAX: usize = 100_000;

/// The first turns that differ.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct FirstTurns {
    /// Some of them, or all: each a whole turn of the first player that does not end the game.
    pub(super) turns: Vec<Vec<Action>>,
    /// How many there are; `None` if they are too many to count.
    pub(super) count: Option<usize>,
}

/// Returns at most `turns_max` first turns: all if there are no more, otherwise a draw by `seed`.
pub(super) fn first_turns(rules: &Arc<Rules>, turns_max: usize, seed: u64) -> FirstTurns {
    let mut found = TurnSearch { turns: Vec::new(), keys: HashSet::new(), visits_left: VISITS_MAX };
    let initial = GameState::new(Arc::clone(rules));
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    found.extend(&initial, &mut Vec::new(), &mut rng);
    let count = (found.visits_left > 0).then_some(found.turns.len());
    let mut turns = found.turns;
    if turns.len() > turns_max {
        turns.shuffle(&mut rng);
        turns.truncate(turns_max);
    }
    FirstTurns { turns, count }
}

struct TurnSearch {
    turns: Vec<Vec<Action>>,
    keys: HashSet<u64>,
    visits_left: usize,
}

impl TurnSearch {
    fn extend(&mut self, state: &GameState, turn: &mut Vec<Action>, rng: &mut ChaCha8Rng) {
        let mut actions = Vec::new();
        state.legal_actions(&mut actions);
        // Where not all can be visited, those that are shall not be the first of a list.
        actions.shuffle(rng);
        for action in actions {
            if self.visits_left == 0 {
                return;
            }
            self.visits_left -= 1;
            let mut after = state.clone();
            after.play(action);
            if after.outcome().is_some() || !self.keys.insert(canonical_key(state.rules(), after.position(), &[])) {
                continue;
            }
            turn.push(action);
            if after.player_to_act() == state.player_to_act() {
                self.extend(&after, turn, rng);
            } else {
                self.turns.push(turn.clone());
            }
            turn.pop();
        }
    }
}

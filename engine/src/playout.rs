//! Playing a game out with choices made elsewhere, to measure the engine and to roll games out.

use crate::action::Action;
use crate::state::GameState;

/// Plays `state` to its end and returns the number of actions played.
/// `choose` gets the number of legal actions and returns the index of the one to play. `actions` is
/// memory for the legal list, reused.
/// Panics when `choose` returns an index that is not below the number it got.
#[inline]
pub fn play_out(state: &mut GameState, actions: &mut Vec<Action>, mut choose: impl FnMut(usize) -> usize) -> u64 {
    let mut played = 0;
    while state.outcome().is_none() {
        state.legal_actions(actions);
        state.play(actions[choose(actions.len())]);
        played += 1;
    }
    played
}

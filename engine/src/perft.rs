//! Counting the leaves of the action tree, to check move generators against each other.

use crate::action::Action;
use crate::state::GameState;

/// Counts the paths of exactly `depth` actions from `state`; finished games have no children.
#[must_use]
pub fn perft(state: &GameState, depth: u32) -> u64 {
    let mut frames: Vec<Frame> = (0..depth).map(|_| Frame { state: state.clone(), actions: Vec::new() }).collect();
    count(state, &mut frames)
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

/// Memory of one level, reused.
struct Frame {
    state: GameState,
    actions: Vec<Action>,
}

fn count(state: &GameState, frames: &mut [Frame]) -> u64 {
    let Some((frame, deeper)) = frames.split_first_mut() else { return 1 };
    state.legal_actions(&mut frame.actions);
    if deeper.is_empty() {
        return frame.actions.len() as u64;
    }
    let mut leaves = 0;
    for index in 0..frame.actions.len() {
        frame.state.clone_from(state);
        frame.state.play(frame.actions[index]);
        leaves += count(&frame.state, deeper);
    }
    leaves
}

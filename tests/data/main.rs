//! Tests of features, samples, shards and the replay window, without libtorch.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod features;
mod replay;
mod schema;
mod shards;

use std::sync::Arc;

use latrunculi_data::policy_index::action_indices;
use latrunculi_data::{ActionIndices, EncodedPosition, Sample, Samples, Shape};
use latrunculi_engine::presets::rules;
use latrunculi_engine::{Action, GameState, Player, Position, Rules};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Plays a game at random from `seed`, at most `actions_max` actions, and calls `visit` before each.
fn play_at_random(
    rules: &Arc<Rules>,
    seed: u64,
    actions_max: usize,
    visit: &mut dyn FnMut(&GameState, &[Action]),
) -> GameState {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut state = GameState::new(Arc::clone(rules));
    let mut actions = Vec::new();
    for _ in 0..actions_max {
        if state.outcome().is_some() {
            break;
        }
        state.legal_actions(&mut actions);
        visit(&state, &actions);
        state.play(actions[random.random_range(0..actions.len())]);
    }
    state
}

/// Returns samples of two random games, with targets that are made up and different for each.
fn samples(rules: &Arc<Rules>) -> Samples {
    let mut all = Samples::new(Shape::of(rules));
    for game in 0..2 {
        let mut records: Vec<(EncodedPosition, Position, Vec<ActionIndices>)> = Vec::new();
        let end = play_at_random(rules, game, 120, &mut |state, actions| {
            let position = *state.position();
            let indices = actions.iter().map(|&action| action_indices(rules, &position, action)).collect();
            records.push((EncodedPosition::new(rules, &position, state.repetitions()), position, indices));
        });
        let mut samples = Samples::new(Shape::of(rules));
        for (index, (encoded, position, indices)) in records.iter().enumerate() {
            let player = position.player_to_act();
            let sum = (indices.len() * (indices.len() + 1) / 2) as f32;
            let policy: Vec<f32> = (1..=indices.len()).map(|part| part as f32 / sum).collect();
            let next = records[index..].iter().position(|(_, later, _)| later.player_to_act() != player);
            let stones = end.position().stones(Player::First) | end.position().stones(Player::Second);
            let win = 0.5 * index as f32 / records.len() as f32;
            samples.push(&Sample {
                planes: &encoded.planes,
                scalars: &encoded.scalars,
                action_indices: indices,
                policy: &policy,
                win_draw_loss: [0.0, 1.0, 0.0],
                search_win_draw_loss: [win, 0.5, 0.5 - win],
                margin: rules.material_margin(end.position(), player),
                survival: rules.turn_squares(player, stones),
                opponent_policy: next.map(|later| index + later),
                moves_left: u32::from(end.position().turns() - position.turns()),
                games: game as u32,
                turns: u32::from(position.turns()),
            });
        }
        all.append(&samples);
    }
    all
}

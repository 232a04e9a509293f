//! Features and policy indices: laws that hold under every shipped ruleset, checked on random games.

use std::cell::Cell;
use std::collections::HashSet;
use std::sync::Arc;

use latrunculi_data::features::{pack_plane, unpack_plane};
use latrunculi_data::policy_index::{action_indices, augmentations, mapped_indices};
use latrunculi_data::{
    ActionIndices, EncodedPosition, Encoder, ReplaySettings, Sample, Samples, Shape, SparsePolicy, TrainingBatch,
};
use latrunculi_engine::ruleset::RemovalScope;
use latrunculi_engine::{Action, GameState, Player, Position, Rules, SquareSet, Symmetry, presets};

use crate::{play_at_random, rules};

fn on_random_games(law: &mut dyn FnMut(&GameState, &[Action])) {
    for name in presets::NAMES {
        play_at_random(&rules(name), 0, 200, law);
    }
}

fn context(state: &GameState) -> String {
    let rules = state.rules();
    format!("{}: {}\n{}", rules.ruleset().id, rules.position_text(state.position()), state.drawing())
}

#[test]
fn policy_indices_of_legal_actions_differ_and_mirror() {
    on_random_games(&mut |state, actions| {
        assert_indices_differ_and_mirror(state, actions);
        assert_reply_mirrors(state, actions);
    });
}

fn assert_indices_differ_and_mirror(state: &GameState, actions: &[Action]) {
    let rules = state.rules();
    let shape = Shape::of(rules);
    let mut seen = HashSet::new();
    for &action in actions {
        let indices = action_indices(rules, state.position(), action);
        assert!(indices[0] < shape.policy_len() as u32 && indices[1] <= shape.policy_len() as u32);
        assert!(seen.insert(indices), "{action:?} shares its indices\n{}", context(state));
        for symmetry in augmentations(rules) {
            let mapped = rules.map_position(symmetry, state.position());
            let image = rules.map_action(state.position(), symmetry, action);
            let expected = action_indices(rules, &mapped, image);
            assert_eq!(
                mapped_indices(rules, symmetry, indices),
                expected,
                "{action:?} {symmetry:?}\n{}",
                context(state)
            );
        }
    }
}

#[test]
fn policy_indices_of_removals_differ_and_mirror_whatever_one_takes() {
    let scopes = [RemovalScope::One, RemovalScope::Line, RemovalScope::All];
    for (scope, setup) in
        scopes.into_iter().flat_map(|scope| ["beads", "dutch-8x8-placement"].map(|name| (scope, name)))
    {
        let mut ruleset = presets::ruleset("beads").unwrap();
        ruleset.capture.removal_scope = scope;
        let setup_of = presets::ruleset(setup).unwrap();
        (ruleset.setup, ruleset.placement) = (setup_of.setup, setup_of.placement);
        let rules = Arc::new(Rules::new(&ruleset).unwrap());
        let several = Cell::new(0);
        for game in 0..60 {
            play_at_random(&rules, game, 300, &mut |state, actions| {
                assert_indices_differ_and_mirror(state, actions);
                let removed = actions.iter().map(|&action| rules.chosen_victims(state.position(), action).len());
                let lines = removed.filter(|&pieces| pieces > 1).count();
                if lines > 0 {
                    assert_reply_mirrors(state, actions);
                }
                several.set(several.get() + lines);
            });
        }
        assert!(scope == RemovalScope::One || several.get() > 0, "{scope:?} {setup}: no removal takes several pieces");
    }
}

/// The target of a mirrored sample is that of the mirrored position: where the opponent decides in `state`, for who acted before.
fn assert_reply_mirrors(state: &GameState, actions: &[Action]) {
    let rules = state.rules();
    let encoder = Encoder::new(Arc::clone(rules));
    let probability = |part: usize| 2.0 * part as f32 / (actions.len() * (actions.len() + 1)) as f32;
    let policy: Vec<f32> = (1..=actions.len()).map(probability).collect();
    let sorted = |mut entries: Vec<(u32, f32)>| {
        entries.sort_by(|one, other| one.partial_cmp(other).unwrap());
        entries
    };
    let target = |position: &Position, indices: &[ActionIndices], symmetry| {
        let encoded = EncodedPosition::new(rules, position, 1);
        let mut samples = Samples::new(encoder.shape());
        for opponent_policy in [Some(1), None] {
            samples.push(&Sample {
                planes: &encoded.planes,
                scalars: &encoded.scalars,
                action_indices: indices,
                policy: &policy,
                win_draw_loss: [0.0, 1.0, 0.0],
                search_win_draw_loss: [0.0, 1.0, 0.0],
                margin: 0.0,
                survival: SquareSet::EMPTY,
                opponent_policy,
                moves_left: 1,
                games: 0,
                turns: 0,
            });
        }
        let mut batch = TrainingBatch::new(encoder.shape());
        samples.write_into(0, &encoder, symmetry, &ReplaySettings::default(), &mut batch);
        let SparsePolicy { indices, probabilities, .. } = batch.opponent_policy;
        sorted(indices.into_iter().zip(probabilities).collect())
    };
    let indices: Vec<ActionIndices> =
        actions.iter().map(|&action| action_indices(rules, state.position(), action)).collect();
    for symmetry in augmentations(rules) {
        let mapped = rules.map_position(symmetry, state.position());
        let image =
            |&action: &Action| action_indices(rules, &mapped, rules.map_action(state.position(), symmetry, action));
        let images: Vec<ActionIndices> = actions.iter().map(image).collect();
        let plain = target(state.position(), &indices, Symmetry::IDENTITY);
        let turned = plain.into_iter().map(|(entry, part)| (mapped_indices(rules, symmetry, [entry; 2])[0], part));
        let mirrored = target(state.position(), &indices, symmetry);
        assert_eq!(mirrored, sorted(turned.collect()), "{symmetry:?}\n{}", context(state));
        assert_eq!(mirrored, target(&mapped, &images, Symmetry::IDENTITY), "{symmetry:?}\n{}", context(state));
    }
}

#[test]
fn planes_mirror_and_survive_packing() {
    on_random_games(&mut |state, _| {
        let rules = state.rules();
        let encoded = EncodedPosition::new(rules, state.position(), 1);
        for symmetry in augmentations(rules) {
            let mapped = rules.map_position(symmetry, state.position());
            let image = EncodedPosition::new(rules, &mapped, 1);
            assert_eq!(encoded.mapped(rules, symmetry), image, "{symmetry:?} {}", context(state));
        }
        for plane in encoded.planes {
            let mut bytes = Vec::new();
            pack_plane(plane, rules.square_count(), &mut bytes);
            assert_eq!(unpack_plane(&bytes), plane);
        }
        for scalar in encoded.scalars {
            assert!((0.0..=1.0).contains(&scalar), "{scalar} is out of range\n{}", context(state));
        }
    });
}

#[test]
fn the_second_player_sees_the_board_as_the_first_does() {
    // The turned board with colours exchanged gives the same planes.
    let rules = rules("savard");
    let south = rules.parse_pieces("M:b2,c4 D:d3 m:f5,g7 d:d6", Player::First).expect("a position");
    let north = rules.parse_pieces("m:b7,c5 d:d6 M:f4,g2 D:d3", Player::Second).expect("a position");
    assert_eq!(EncodedPosition::new(&rules, &south, 0).planes, EncodedPosition::new(&rules, &north, 0).planes);
    let forward = |position: &Position, from: &str, to: &str| {
        let square = |name| rules.parse_square(name).expect("a square");
        action_indices(&rules, position, Action::moving(square(from), square(to)))
    };
    assert_eq!(forward(&south, "c4", "c5"), forward(&north, "c5", "c4"));
    on_random_games(&mut |state, actions| {
        let (rules, position) = (state.rules(), state.position());
        let twin = rules.exchange_sides(position);
        let encode = |position| EncodedPosition::new(rules, position, 1);
        assert_eq!(encode(position), encode(&twin), "{}", context(state));
        for &action in actions {
            let exchanged = action_indices(rules, &twin, rules.exchange_action(position, action));
            assert_eq!(action_indices(rules, position, action), exchanged, "{action:?}\n{}", context(state));
        }
    });
}

#[test]
fn the_time_left_to_win_in_ends_with_the_last_quiet_turn_or_the_cap() {
    for (name, quiet_limit, cap) in [("savard", 30, 40), ("dutch-8x8", 20, 1000), ("bell", 9, 60), ("savard", 200, 50)]
    {
        let mut ruleset = presets::ruleset(name).unwrap();
        (ruleset.end.quiet_limit, ruleset.end.max_plies) = (quiet_limit, cap);
        let rules = Arc::new(Rules::new(&ruleset).unwrap());
        let mut found = Vec::new();
        for game in 0..6 {
            play_at_random(&rules, game, 300, &mut |state, _| {
                let position = state.position();
                let time_left = EncodedPosition::new(&rules, position, 1).time_left(&rules);
                let turns_left = (quiet_limit - position.quiet_turns()).min(cap - position.turns());
                let expected = f32::from(turns_left - 1) / f32::from(quiet_limit.min(cap) - 1);
                assert_eq!(time_left, expected, "{}", context(state));
                found.push(time_left);
            });
        }
        assert!(found.contains(&0.0) && found.contains(&1.0), "{name}: the first turn and the last");
        ruleset.end.quiet_limit = 0;
        let endless = Rules::new(&ruleset).unwrap();
        let last = EncodedPosition::new(&endless, &endless.initial_position(), 1);
        assert_eq!(last.time_left(&endless), 1.0);
    }
}

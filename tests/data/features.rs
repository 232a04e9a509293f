//! Features and policy indices: laws that hold under every shipped ruleset, checked on random games.

use std::cell::Cell;
use std::collections::HashSet;
use std::sync::Arc;

use latrunculi_data::features::{pack_plane, unpack_plane};
use latrunculi_data::policy_index::{action_indices, augmentations, mapped_indices};
use latrunculi_data::{EncodedPosition, Shape};
use latrunculi_engine::ruleset::RemovalScope;
use latrunculi_engine::{Action, GameState, Player, Position, Rules, presets};

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
    on_random_games(&mut assert_indices_differ_and_mirror);
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
    for scope in [RemovalScope::One, RemovalScope::Line, RemovalScope::All] {
        let mut ruleset = presets::ruleset("beads").unwrap();
        ruleset.capture.removal_scope = scope;
        let rules = Arc::new(Rules::new(&ruleset).unwrap());
        let several = Cell::new(0);
        for game in 0..60 {
            play_at_random(&rules, game, 300, &mut |state, actions| {
                assert_indices_differ_and_mirror(state, actions);
                let removed = actions.iter().map(|&action| rules.chosen_victims(state.position(), action).len());
                several.set(several.get() + removed.filter(|&pieces| pieces > 1).count());
            });
        }
        assert!(scope == RemovalScope::One || several.get() > 0, "{scope:?}: no removal takes several pieces");
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
}

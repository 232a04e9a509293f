//! Laws that hold under every shipped ruleset, checked on random games.

use std::collections::HashSet;
use std::sync::Arc;

use latrunculi_engine::parameters::PARAMETERS;
use latrunculi_engine::presets::rules;
use latrunculi_engine::ruleset::{ExtraMode, Removal, RemovalScope, RowWithDux, Span};
use latrunculi_engine::{
    Action, EndReason, GameState, Phase, Player, Position, Rules, Ruleset, Square, SquareSet, Symmetry, conformance,
    presets,
};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::reference_games::{mixed_values, random_value};

/// Plays random games of every shipped ruleset and shows `law` each state with its legal actions and the
/// action to be played next.
fn on_random_games(games: u64, actions_max: usize, law: impl Fn(&GameState, &[Action], Action)) {
    for id in presets::NAMES {
        let rules = rules(id);
        for game in 0..games {
            play_at_random(&rules, game, actions_max, &law);
        }
    }
}

fn play_at_random(rules: &Arc<Rules>, seed: u64, actions_max: usize, law: &impl Fn(&GameState, &[Action], Action)) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut state = GameState::new(Arc::clone(rules));
    let mut actions = Vec::new();
    for _ in 0..actions_max {
        state.legal_actions(&mut actions);
        if actions.is_empty() {
            break;
        }
        let action = actions[random.random_range(0..actions.len())];
        law(&state, &actions, action);
        state.play(action);
    }
}

fn context(state: &GameState) -> String {
    let rules = state.rules();
    format!("{}: {}\n{}", rules.ruleset().id, rules.position_text(state.position()), state.drawing())
}

/// Every action that could be written on this board, legal or not.
fn conceivable_actions(rules: &Rules) -> Vec<Action> {
    let squares: Vec<Square> = rules.board().iter().collect();
    let mut actions = vec![Action::STOP, Action::PASS];
    for &from in &squares {
        actions.extend([Action::placing_man(from), Action::placing_dux(from)]);
        for &to in &squares {
            actions.extend([Action::moving(from, to), Action::removing(from, to)]);
        }
    }
    actions
}

#[test]
fn legal_list_equals_legality_of_every_conceivable_action() {
    for id in presets::NAMES {
        let rules = rules(id);
        let conceivable = conceivable_actions(&rules);
        let mut random = ChaCha8Rng::seed_from_u64(7);
        let mut state = GameState::new(Arc::clone(&rules));
        let mut actions = Vec::new();
        for step in 0..90 {
            state.legal_actions(&mut actions);
            if actions.is_empty() {
                break;
            }
            if step % 30 == 29 {
                let listed: HashSet<Action> = actions.iter().copied().collect();
                assert_eq!(listed.len(), actions.len(), "an action is listed twice\n{}", context(&state));
                for &action in &conceivable {
                    assert_eq!(state.is_legal(action), listed.contains(&action), "{action:?}\n{}", context(&state));
                }
            }
            let action = actions[random.random_range(0..actions.len())];
            state.play(action);
        }
    }
}

#[test]
fn incremental_hash_equals_hash_from_scratch() {
    on_random_games(3, 400, |state, _, action| {
        let mut next = state.clone();
        next.play(action);
        assert_eq!(next.position().key(), next.position().key_from_scratch(), "{}", context(&next));
    });
}

#[test]
fn different_positions_have_different_hashes() {
    for id in presets::NAMES {
        let mut seen = std::collections::HashMap::new();
        let rules = rules(id);
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let mut state = GameState::new(Arc::clone(&rules));
        let mut actions = Vec::new();
        for _ in 0..300 {
            state.legal_actions(&mut actions);
            if actions.is_empty() {
                break;
            }
            for &action in &actions {
                let mut next = state.clone();
                next.play(action);
                let text = rules.position_text(next.position());
                let known: String = text.split(' ').take(5).collect::<Vec<_>>().join(" ");
                let other = seen.entry(next.position().key()).or_insert_with(|| known.clone());
                assert_eq!(*other, known, "two positions, one hash");
            }
            state.play(actions[random.random_range(0..actions.len())]);
        }
    }
}

#[test]
fn positions_read_back_as_they_were_written() {
    on_random_games(2, 300, |state, _, _| {
        let rules = state.rules();
        let text = rules.position_text(state.position());
        let read = rules.parse_position(&text).unwrap_or_else(|error| panic!("{error}\n{}", context(state)));
        assert_eq!(read, *state.position(), "{text}");
        let opened = GameState::from_position(Arc::clone(rules), read);
        assert_eq!(opened.why_not_under_way(), Vec::<String>::new(), "{}", context(state));
    });
}

#[test]
fn a_position_that_no_game_under_way_comes_to_is_told() {
    for (id, line, told) in [
        ("savard", "8/8/8/8/8/8/8/8 1", &["player 1 has no pieces", "player 2 has no pieces"][..]),
        ("savard", "mmmmdmmm/8/8/8/8/8/8/M7 1", &["player 1 has no dux, and has lost by that"]),
        ("savard", "mmmmdmmm/8/8/8/8/8/8/D7 1", &["player 1 has no men, and has lost by that"]),
        ("savard", "mmmmdmmm/8/8/MMMMMMMM/MMMMMMMM/MMMMMMMM/8/D7 1", &["player 1 has 24 men, but begins with 23"]),
        ("savard", "mmmmdmmm/8/8/8/8/8/8/DM6 1 - move - 1000", &["the game is over here: "]),
        ("savard", "mmmmdmmm/8/8/8/8/8/8/DM6 1", &[]),
    ] {
        let rules = rules(id);
        let position = rules.parse_position(line).expect("a position");
        let faults = GameState::from_position(rules, position).why_not_under_way();
        assert!(faults.len() >= told.len() && (faults.is_empty() || !told.is_empty()), "{line}: {faults:?}");
        for text in told {
            assert!(faults.iter().any(|fault| fault.starts_with(text)), "{line}: {faults:?}");
        }
    }
}

#[test]
fn a_position_after_a_removal_and_a_capturing_move_reads_back() {
    let mut ruleset = presets::ruleset("savard-delayed").expect("shipped");
    ruleset.capture.removal = Removal::PrecedesMove;
    ruleset.extra.mode = ExtraMode::Optional;
    ruleset.end.win_dux = false;
    let rules = Arc::new(Rules::new(&ruleset).expect("playable"));
    let line = "7m/8/8/8/2MmM3/8/M7/d1M4D 1 - move d4- 0 10";
    let mut state = GameState::from_position(Arc::clone(&rules), rules.parse_position(line).expect("a position"));
    for action in ["xd4", "c1-b1"] {
        state.play(state.parse_action(action).expect(action));
        let text = rules.position_text(state.position());
        assert_eq!(rules.parse_position(&text).as_ref(), Ok(state.position()), "{text}");
    }
    assert!(state.position().is_mid_turn() && state.position().dux(Player::Second).is_none(), "{}", context(&state));
}

#[test]
fn a_held_row_goes_free_when_the_dux_that_it_spares_leaves() {
    let mut ruleset = presets::ruleset("savard-delayed").expect("shipped");
    ruleset.capture.span = Span::Row;
    ruleset.capture.row_with_dux = RowWithDux::Spared;
    let rules = Arc::new(Rules::new(&ruleset).expect("playable"));
    let position = rules.parse_pieces("M:b4,f4,a1 D:h1 m:c4 d:d4", Player::First).expect("a position");
    let mut state = GameState::from_position(Arc::clone(&rules), position);
    for (action, bound) in [("f4-e4", "c4"), ("d4-d5", "")] {
        state.play(state.parse_action(action).expect(action));
        assert_eq!(rules.squares_text(state.position().bound(), ","), bound, "{}", context(&state));
        let text = rules.position_text(state.position());
        assert_eq!(rules.parse_position(&text).as_ref(), Ok(state.position()), "{text}");
    }
}

#[test]
fn a_dux_that_displaces_a_flanker_joins_no_row_that_it_held() {
    let mut ruleset = presets::ruleset("savard-displacement").expect("shipped");
    (ruleset.capture.span, ruleset.capture.row_with_dux) = (Span::Row, RowWithDux::Spared);
    let rules = Arc::new(Rules::new(&ruleset).expect("playable"));
    let position = rules.parse_position("8/8/8/8/8/2d4D/mMMmM3/8 2 - move c2-,d2- 0 10").expect("a position");
    let mut state = GameState::from_position(Arc::clone(&rules), position);
    state.play(state.parse_action("c3-c2").expect("bound, and so displaced"));
    assert!(!state.position().bound().contains(rules.parse_square("d2").expect("a square")), "{}", context(&state));
}

#[test]
fn a_removed_line_ends_at_a_held_piece_of_the_player() {
    let mut ruleset = presets::ruleset("savard-delayed").expect("shipped");
    ruleset.capture.removal_scope = RemovalScope::Line;
    let rules = Arc::new(Rules::new(&ruleset).expect("playable"));
    let position = rules.parse_position("7d/8/8/3M4/3m4/3M4/3m4/3M3D 1 - move d2|,d3|,d4| 0 10").expect("a position");
    let state = GameState::from_position(rules, position);
    assert!(state.parse_action("xd2").is_ok() && state.parse_action("xd4").is_ok(), "{}", context(&state));
}

#[test]
fn piece_lists_read_back_as_they_were_written() {
    on_random_games(1, 200, |state, _, _| {
        let rules = state.rules();
        let text = rules.pieces_text(state.position());
        let read = rules.parse_pieces(&text, state.player_to_act()).expect("written by the program");
        for player in Player::BOTH {
            assert_eq!(read.stones(player), state.position().stones(player), "{text}");
            assert_eq!(read.dux(player), state.position().dux(player), "{text}");
        }
    });
}

#[test]
fn actions_read_back_as_they_were_written() {
    on_random_games(1, 200, |state, actions, _| {
        let mut texts = HashSet::new();
        for &action in actions {
            let text = state.action_text(action);
            assert_eq!(state.parse_action(&text), Ok(action), "{text}\n{}", context(state));
            assert!(texts.insert(text.clone()), "{text} stands for two actions\n{}", context(state));
        }
    });
}

#[test]
fn every_symmetry_commutes_with_playing() {
    on_random_games(1, 150, |state, actions, action| {
        let rules = state.rules();
        let symmetries = rules.symmetries();
        assert!(symmetries.contains(&Symmetry::IDENTITY) && symmetries.contains(&Symmetry::MIRROR));
        for symmetry in symmetries {
            let image = |position: &Position| rules.map_position(symmetry, position);
            let map = |action| rules.map_action(state.position(), symmetry, action);
            let mut mapped = GameState::from_position(Arc::clone(rules), image(state.position()));
            let mut mapped_actions = Vec::new();
            mapped.legal_actions(&mut mapped_actions);
            // History is not mapped: where it forbids moves, the image may have more of them.
            let expected: HashSet<Action> = actions.iter().map(|&action| map(action)).collect();
            let found: HashSet<Action> = mapped_actions.into_iter().collect();
            assert!(expected.is_subset(&found), "{symmetry:?}\n{}", context(state));
            mapped.play(map(action));
            let mut next = state.clone();
            next.play(action);
            assert_eq!(*mapped.position(), image(next.position()), "{symmetry:?} {action:?}\n{}", context(state));
        }
    });
}

#[test]
fn every_game_ends_by_the_cap() {
    for id in presets::NAMES {
        let rules = rules(id);
        let mut random = ChaCha8Rng::seed_from_u64(11);
        let mut state = GameState::new(Arc::clone(&rules));
        let mut actions = Vec::new();
        while state.outcome().is_none() {
            state.legal_actions(&mut actions);
            assert!(!actions.is_empty(), "no action, no end\n{}", context(&state));
            state.play(actions[random.random_range(0..actions.len())]);
            assert!(state.position().turns() <= rules.ruleset().end.max_plies);
        }
        state.legal_actions(&mut actions);
        assert!(actions.is_empty(), "{id}: a finished game has no actions");
    }
}

/// Plays the same random game under both rules and tells whether all that is seen of it is the same.
fn play_alike(one: &Ruleset, other: &Ruleset, seed: u64, actions_max: usize) -> bool {
    let state = |ruleset| GameState::new(Arc::new(Rules::new(ruleset).expect("playable")));
    let (mut one, mut other) = (state(one), state(other));
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (mut actions, mut other_actions) = (Vec::new(), Vec::new());
    for _ in 0..actions_max {
        one.legal_actions(&mut actions);
        other.legal_actions(&mut other_actions);
        let ends = [&one, &other].map(|state| (state.outcome(), state.position().bound()));
        // Pieces that move alike are generated together, so that only the order of the actions may differ.
        let sets = [&actions, &other_actions].map(|actions| actions.iter().copied().collect::<HashSet<_>>());
        if ends[0] != ends[1] || sets[0] != sets[1] {
            return false;
        }
        if actions.is_empty() {
            break;
        }
        let captures = |action: &&Action| !one.rules().taken_by(one.position(), **action).is_empty();
        let captures: Vec<Action> = actions.iter().filter(captures).copied().collect();
        // Captures are rare in random play: they are sought, so that games reach what follows from them.
        let from = if captures.is_empty() || random.random_bool(0.5) { &actions } else { &captures };
        let action = from[random.random_range(0..from.len())];
        one.play(action);
        other.play(action);
    }
    true
}

#[test]
fn a_setting_without_effect_changes_no_game() {
    let mut seen = HashSet::new();
    for seed in 0..300 {
        let mut random = ChaCha8Rng::seed_from_u64(2_000_000 + seed);
        let changes = random.random_range(1..=12);
        let values = mixed_values(&mut random, changes);
        let mixed = conformance::ruleset_from_values("mixed", &values).expect("values of the space");
        let Ok(rules) = Rules::new(&mixed) else { continue };
        for parameter in PARAMETERS {
            let (true, Some(value)) = (
                rules.why_without_effect(parameter.name).is_some(),
                random_value(parameter.kind, parameter.name, &mut random),
            ) else {
                continue;
            };
            let mut values = values.clone();
            values.insert(parameter.name.to_owned(), value.clone());
            let changed = conformance::ruleset_from_values("changed", &values).expect("values of the space");
            let is_idle = |rules: Rules| rules.why_without_effect(parameter.name).is_some();
            if changed == (Ruleset { id: changed.id.clone(), ..mixed.clone() })
                || !Rules::new(&changed).is_ok_and(is_idle)
            {
                continue;
            }
            seen.insert(parameter.name);
            assert!(
                play_alike(&mixed, &changed, seed, 120),
                "{} = {value} changes a game under\n{}",
                parameter.name,
                mixed.to_toml()
            );
        }
    }
    assert!(seen.len() > 25, "most parameters have no effect somewhere: {seen:?}");
}

#[test]
fn a_cap_that_ends_the_placement_is_noted() {
    for id in presets::NAMES {
        let mut ruleset = presets::ruleset(id).expect("shipped");
        for opening_group in [None, Some(1), Some(3)] {
            ruleset.placement.opening_group = opening_group;
            for max_plies in 10..40 {
                ruleset.end.max_plies = max_plies;
                let rules = Arc::new(Rules::new(&ruleset).expect("playable"));
                let is_noted = rules.settings_without_effect().iter().any(|note| note.parameter == "end.max_plies");
                let mut state = GameState::new(rules);
                let mut actions = Vec::new();
                while state.outcome().is_none() && state.position().phase() == Phase::Placement {
                    state.legal_actions(&mut actions);
                    state.play(actions[0]);
                }
                let is_cut_off = state.outcome().is_some_and(|outcome| outcome.reason == EndReason::MaxPlies);
                assert_eq!(is_noted, is_cut_off, "{id} with {opening_group:?}, cut off after {max_plies} turns");
            }
        }
    }
}

#[test]
fn sets_of_squares_behave_like_sets() {
    use proptest::prelude::*;
    proptest!(ProptestConfig::with_cases(200), |(a in proptest::collection::btree_set(0usize..256, 0..40),
                b in proptest::collection::btree_set(0usize..256, 0..40))| {
        let set = |squares: &std::collections::BTreeSet<usize>| -> SquareSet {
            squares.iter().map(|&index| Square::from_index(index)).collect()
        };
        let indices = |set: SquareSet| set.iter().map(Square::index).collect::<std::collections::BTreeSet<usize>>();
        prop_assert_eq!(indices(set(&a) | set(&b)), a.union(&b).copied().collect());
        prop_assert_eq!(indices(set(&a) & set(&b)), a.intersection(&b).copied().collect());
        prop_assert_eq!(indices(set(&a) & !set(&b)), a.difference(&b).copied().collect());
        prop_assert_eq!(set(&a).len() as usize, a.len());
        prop_assert_eq!(set(&a).first().map(Square::index), a.first().copied());
    });
}

//! Laws that hold under every shipped ruleset, checked on random games.

use std::collections::HashSet;
use std::sync::Arc;

use latrunculi_engine::{Action, GameState, Phase, Player, Position, Rules, Square, SquareSet, Symmetry, presets};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn rules(id: &str) -> Arc<Rules> {
    Arc::new(Rules::new(&presets::ruleset(id).expect("shipped")).expect("shipped rulesets can be played"))
}

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
                    let before = *state.position();
                    let mut tried = state.clone();
                    let played = tried.try_play(action).is_ok();
                    assert_eq!(played, listed.contains(&action), "{action:?}\n{}", context(&state));
                    assert!(played || *tried.position() == before, "a refused action changed the position");
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
    });
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
fn stones_never_appear_and_never_share_a_square() {
    on_random_games(2, 300, |state, _, action| {
        let count = |state: &GameState, player| {
            state.position().stones(player).len() + u32::from(state.position().hand(player).stones())
        };
        let mut next = state.clone();
        next.play(action);
        for player in Player::BOTH {
            assert!(count(&next, player) <= count(state, player), "{}", context(&next));
        }
        let position = next.position();
        assert!((position.stones(Player::First) & position.stones(Player::Second)).is_empty());
        assert!((position.bound() & !(position.stones(Player::First) | position.stones(Player::Second))).is_empty());
        if position.phase() == Phase::Placement || state.position().phase() == Phase::Placement {
            assert!(next.last_taken().is_empty(), "placement captured\n{}", context(&next));
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

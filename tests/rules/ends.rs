//! Which actions may end the game: the quick answer against playing every action.

use std::sync::Arc;

use latrunculi_engine::{EndReason, GameState, Rules, conformance, presets};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::reference_games::mixed_values;

/// What was seen in the games.
#[derive(Default)]
struct Seen {
    actions: usize,
    may_end: usize,
    /// By the reason's place in [`EndReason::ALL`].
    ends: [usize; EndReason::ALL.len()],
}

/// Plays a random game and plays every action of each position on the way.
fn compare_on_a_game(rules: &Arc<Rules>, random: &mut ChaCha8Rng, seen: &mut Seen) {
    let mut game = GameState::new(Arc::clone(rules));
    let mut actions = Vec::new();
    for _ in 0..300 {
        if game.outcome().is_some() {
            break;
        }
        game.legal_actions(&mut actions);
        let may_end = game.may_end();
        let mut captures = Vec::new();
        for &action in &actions {
            seen.actions += 1;
            seen.may_end += usize::from(may_end.includes(action));
            let mut played = game.clone();
            played.play(action);
            if let Some(outcome) = played.outcome() {
                let place = EndReason::ALL.iter().position(|&reason| reason == outcome.reason);
                seen.ends[place.expect("a reason of the list")] += 1;
                assert!(
                    may_end.includes(action),
                    "{}: {}\n{}\n{}\n{}",
                    outcome.reason,
                    game.action_text(action),
                    game.drawing(),
                    rules.position_text(game.position()),
                    rules.ruleset().to_toml()
                );
            } else if !played.last_taken().is_empty() {
                captures.push(action);
            }
        }
        // Captures are rare in random play: they are sought, so that games reach what follows from them.
        let from = if !captures.is_empty() && random.random_bool(0.5) { &captures } else { &actions };
        game.play(from[random.random_range(0..from.len())]);
    }
}

#[test]
fn no_other_action_ends_a_game_of_the_shipped_rulesets_and_mostly_few_may() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for name in presets::NAMES {
        let rules = presets::rules(name);
        let mut seen = Seen::default();
        (0..2).for_each(|_| compare_on_a_game(&rules, &mut random, &mut seen));
        println!("{name}: {} of {} actions may end the game, {:?} do", seen.may_end, seen.actions, seen.ends);
        assert!(seen.may_end * 2 < seen.actions, "{name}: {} of {}", seen.may_end, seen.actions);
    }
}

#[test]
fn no_other_action_ends_a_game_of_mixed_rules() {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    let games: usize = std::env::var("LATRUNCULI_GAMES").ok().and_then(|games| games.parse().ok()).unwrap_or(300);
    let mut seen = Seen::default();
    for _ in 0..games {
        let changes = random.random_range(1..=12);
        let ruleset = conformance::ruleset_from_values("mixed", &mixed_values(&mut random, changes)).unwrap();
        if let Ok(rules) = Rules::new(&ruleset) {
            compare_on_a_game(&Arc::new(rules), &mut random, &mut seen);
        }
    }
    println!("{} of {} actions may end the game, {:?} do", seen.may_end, seen.actions, seen.ends);
    assert!(seen.ends.iter().all(|&ends| ends > 0), "a reason did not occur: {:?}", seen.ends);
}

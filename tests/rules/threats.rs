//! What could be taken next: the quick answer against trying every action.

use std::sync::Arc;

use latrunculi_engine::parameters::{PARAMETERS, ParameterKind, ParameterValue};
use latrunculi_engine::ruleset::{BoardSize, Setup, SetupMode};
use latrunculi_engine::{ActionKind, GameState, Player, Position, Rules, SquareSet, Threats, presets};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Tries every action, without any thought of which could take something.
fn by_trying(rules: &Arc<Rules>, position: &Position, player: Player) -> Threats {
    let position = position.as_turn_of(player);
    let enemy = player.opponent();
    let begun = GameState::from_position(Arc::clone(rules), position);
    let mut actions = Vec::new();
    begun.legal_actions(&mut actions);
    let mut threats = Threats::default();
    for action in actions {
        let mut game = begun.clone();
        if game.outcome().is_some() || matches!(action.kind(), ActionKind::Stop | ActionKind::Pass) {
            continue;
        }
        game.play(action);
        let after = game.position();
        let mut hit = position.stones(enemy) & !after.stones(enemy);
        hit |= after.bound() & after.stones(enemy) & !position.bound();
        if game.outcome().is_some_and(|outcome| outcome.winner == Some(player) && outcome.reason.is_dux_lost()) {
            hit |= position.dux(enemy).map_or(SquareSet::EMPTY, SquareSet::of);
        }
        threats.pieces |= hit;
        if let (false, ActionKind::Move { to, .. } | ActionKind::MoveTaking { to, .. }) =
            (hit.is_empty(), action.kind())
        {
            threats.landings.insert(to);
        }
    }
    threats
}

fn compare_on_a_game(rules: Rules, random: &mut ChaCha8Rng, found: &mut u32) {
    let rules = Arc::new(rules);
    let mut game = GameState::new(Arc::clone(&rules));
    let mut actions = Vec::new();
    for _ in 0..160 {
        if game.outcome().is_some() {
            break;
        }
        for player in Player::BOTH {
            let threats = rules.threats(game.position(), player);
            let tried = by_trying(&rules, game.position(), player);
            let context = || format!("{player} in {}\n{}", rules.ruleset().id, rules.position_text(game.position()));
            assert_eq!(threats, tried, "{}\n{}", context(), rules.ruleset().to_toml());
            *found += threats.pieces.len();
        }
        game.legal_actions(&mut actions);
        game.play(actions[random.random_range(0..actions.len())]);
    }
}

#[test]
fn what_could_be_taken_is_what_some_action_takes() {
    let mut random = ChaCha8Rng::seed_from_u64(4);
    let mut found = 0;
    for name in presets::NAMES {
        let ruleset = presets::ruleset(name).unwrap();
        (0..2).for_each(|_| compare_on_a_game(Rules::new(&ruleset).unwrap(), &mut random, &mut found));
    }
    assert!(found > 1000, "things could be taken: {found}");
}

#[test]
fn the_same_holds_for_mixed_rules_on_small_boards() {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let games: usize = std::env::var("LATRUNCULI_GAMES").ok().and_then(|games| games.parse().ok()).unwrap_or(60);
    let mut found = 0;
    for _ in 0..games {
        let mut ruleset = presets::ruleset(presets::NAMES[random.random_range(0..presets::NAMES.len())]).unwrap();
        for parameter in PARAMETERS {
            let value = match parameter.kind {
                _ if random.random_bool(0.6) => continue,
                ParameterKind::Boolean => ParameterValue::Boolean(random.random_bool(0.5)),
                ParameterKind::Choice(names) => {
                    ParameterValue::Text(names[random.random_range(0..names.len())].to_owned())
                }
                ParameterKind::Set(names) => {
                    let chosen = names.iter().filter(|_| random.random_bool(0.5));
                    ParameterValue::List(chosen.map(|&name| name.to_owned()).collect())
                }
                _ => continue,
            };
            parameter.set_in(&mut ruleset, &value).unwrap();
        }
        ruleset.setup = Setup::default();
        ruleset.setup.mode = SetupMode::Placement;
        ruleset.board = BoardSize { files: random.random_range(4..=9), ranks: 5 };
        ruleset.placement.men = random.random_range(4..=7);
        ruleset.placement.dux = random.random_range(0..=1);
        if let Ok(rules) = Rules::new(&ruleset) {
            compare_on_a_game(rules, &mut random, &mut found);
        }
    }
    assert!(found > 0);
}

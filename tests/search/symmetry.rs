//! Both players choose alike: with the players exchanged (colours swapped, ranks mirrored) every search chooses the
//! mirrored action. All shipped rulesets treat the players alike, so none is left out; only their first positions may
//! differ from the exchanged ones.

use std::sync::Arc;

use latrunculi_engine::presets::rules;
use latrunculi_engine::{Action, ActionKind, GameState, Player, Rules, Symmetry, presets};
use latrunculi_search::alphabeta::{AlphaBeta, AlphaBetaSettings, Heuristic, Limits};
use latrunculi_search::evaluators::Uniform;
use latrunculi_search::latrunculi::LatrunculiHeuristic;
use latrunculi_search::mcts::{Search, SearchBudget, Settings};
use latrunculi_search::{EvalError, Evaluation, Evaluator, Game};
use rand::RngExt;
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

use crate::legal;

/// Returns a random game of `count` actions, and the same game with the players exchanged.
fn twins(rules: &Arc<Rules>, count: usize, rng: &mut ChaCha8Rng) -> (GameState, GameState) {
    let start = rules.initial_position();
    let mut game = GameState::from_position(Arc::clone(rules), start);
    let mut twin = GameState::from_position(Arc::clone(rules), rules.exchange_sides(&start));
    for _ in 0..count {
        let actions = legal(&game);
        let action = actions[rng.random_range(0..actions.len())];
        let (mut next, mut next_twin) = (game.clone(), twin.clone());
        next.play(action);
        next_twin.play(rules.exchange_action(game.position(), action));
        if next.outcome().is_some() {
            break;
        }
        (game, twin) = (next, next_twin);
    }
    (game, twin)
}

/// Calls `check` with random games of every shipped ruleset and their twins.
fn for_all_twins(count: usize, mut check: impl FnMut(&str, &GameState, &GameState)) {
    for name in presets::NAMES {
        let rules = rules(name);
        let mut rng = ChaCha8Rng::seed_from_u64(31);
        for number in 0..count {
            let played = if number == 0 { 0 } else { rng.random_range(1..160) };
            let (game, twin) = twins(&rules, played, &mut rng);
            check(name, &game, &twin);
        }
    }
}

#[test]
fn a_game_with_the_players_exchanged_has_the_exchanged_actions() {
    for_all_twins(4, |name, game, twin| {
        let rules = game.rules();
        assert_eq!(rules.exchange_sides(game.position()), *twin.position(), "{name}");
        assert_eq!(rules.exchange_sides(twin.position()), *game.position(), "{name}");
        assert_eq!(game.own_position_key(), twin.own_position_key(), "{name}");
        let [mut keys, mut twin_keys] = [game, twin]
            .map(|game| legal(game).into_iter().map(|action| game.own_action_key(action)).collect::<Vec<u64>>());
        for action in legal(game) {
            let exchanged = rules.exchange_action(game.position(), action);
            assert_eq!(game.own_action_key(action), twin.own_action_key(exchanged), "{name}: {action:?}");
        }
        keys.sort_unstable();
        twin_keys.sort_unstable();
        assert_eq!(keys, twin_keys, "{name}");
        keys.dedup();
        assert_eq!(keys.len(), twin_keys.len(), "{name}: two actions with one key");
    });
}

#[test]
fn alpha_beta_chooses_alike_for_both_players() {
    for_all_twins(4, |name, game, twin| {
        let heuristic = LatrunculiHeuristic::new(game.rules());
        // The table is wide enough to keep every entry: which ones a full table drops depends on the side.
        let settings = AlphaBetaSettings { seed: 7, table_bytes: 16 << 20, ..AlphaBetaSettings::default() };
        let mut search = AlphaBeta::new(settings, heuristic);
        for nodes in [20, 150, 600] {
            let found = search.search(game, Limits::nodes(nodes));
            let twin_found = search.search(twin, Limits::nodes(nodes));
            let exchanged = game.rules().exchange_action(game.position(), found.action);
            assert_eq!(
                (exchanged, found.score, found.depth, found.nodes),
                (twin_found.action, twin_found.score, twin_found.depth, twin_found.nodes),
                "{name}, {nodes} nodes:\n{:?}",
                game.position()
            );
        }
    });
}

#[test]
fn alpha_beta_finds_as_much_in_a_position_mirrored_from_left_to_right() {
    for_all_twins(3, |name, game, _| {
        let rules = game.rules();
        let mirrored = rules.map_position(Symmetry::MIRROR, game.position());
        // Without history, which positions do not hold.
        let game = GameState::from_position(Arc::clone(rules), *game.position());
        let mirrored = GameState::from_position(Arc::clone(rules), mirrored);
        let settings = AlphaBetaSettings { quiescence_plies_max: 1, ..AlphaBetaSettings::exact() };
        let mut search = AlphaBeta::new(settings, LatrunculiHeuristic::new(rules));
        let found = search.search(&game, Limits::depth(2));
        let mirrored_found = search.search(&mirrored, Limits::depth(2));
        assert_eq!(found.score, mirrored_found.score, "{name}");
        // The action may be another one of the best.
        let back = rules.map_action(mirrored.position(), Symmetry::MIRROR, mirrored_found.action);
        let lines = search.search_lines(&game, Limits::depth(2), usize::MAX, &mut |_| {});
        let value = lines.iter().find(|line| line.action == back).expect("a legal action").score;
        assert_eq!(value, found.score, "{name}");
    });
}

#[test]
fn the_seed_draws_among_equal_actions() {
    let rules = rules("savard");
    let game = GameState::new(Arc::clone(&rules));
    let action = |seed| {
        let settings = AlphaBetaSettings { seed, ..AlphaBetaSettings::default() };
        AlphaBeta::new(settings, LatrunculiHeuristic::new(&rules)).search(&game, Limits::nodes(50)).action
    };
    assert!((1..10).any(|seed| action(seed) != action(0)));
    assert!((0..10).all(|seed| action(seed) == action(seed)));
}

/// Answers with alpha-beta's static evaluation.
struct Static(LatrunculiHeuristic);

impl Evaluator<GameState> for Static {
    fn evaluate(
        &mut self,
        games: &[&GameState],
        legal_actions: &[&[Action]],
        evaluations: &mut [Evaluation],
    ) -> Result<(), EvalError> {
        for ((game, actions), evaluation) in games.iter().zip(legal_actions).zip(evaluations) {
            let sign = if game.player_to_act() == Player::First { 1.0 } else { -1.0 };
            let lead = (sign * self.0.evaluate(game) as f32 / 300.0).tanh();
            evaluation.win_draw_loss = [(1.0 + lead) / 2.0, 0.0, (1.0 - lead) / 2.0];
            evaluation.policy_logits.clear();
            let logit = |&action: &Action| self.0.capture_gain(game, action).clamp(-200, 200) as f32 / 50.0;
            evaluation.policy_logits.extend(actions.iter().map(logit));
        }
        Ok(())
    }
}

#[test]
fn tree_searches_choose_alike_for_both_players() {
    for_all_twins(4, |name, game, twin| {
        let rules = game.rules();
        let heuristic = LatrunculiHeuristic::new(rules);
        let evaluators: [Box<dyn Evaluator<GameState>>; 2] = [Box::new(Uniform), Box::new(Static(heuristic))];
        for mut evaluator in evaluators {
            for settings in [Settings::gumbel(), Settings::puct()] {
                let mut run = |game: &GameState| {
                    let mut search = Search::new(settings.clone(), game);
                    let budget = SearchBudget { simulations: 100, add_noise: false };
                    search.start(budget, &mut ChaCha8Rng::seed_from_u64(0));
                    search.run(&mut *evaluator).expect("it never fails");
                    search.result()
                };
                let (found, twin_found) = (run(game), run(twin));
                assert!((found.value - twin_found.value).abs() < 1e-5, "{name}");
                let exchanged = |action| rules.exchange_action(game.position(), action);
                assert_eq!(exchanged(found.best_action()), twin_found.best_action(), "{name}: {:?}", settings.mode);
                for (action, visits) in found.actions.iter().zip(&found.visits) {
                    let index = twin_found.actions.iter().position(|&other| other == exchanged(*action));
                    assert_eq!(*visits, twin_found.visits[index.expect("a legal action")], "{name}");
                }
            }
        }
    });
}

#[test]
fn pieces_go_as_far_forward_on_both_sides() {
    // Games of alpha-beta with itself from arrays that look the same to both players.
    let mut checked = 0;
    for name in presets::NAMES {
        let rules = rules(name);
        let start = rules.initial_position();
        let exchanged = rules.exchange_sides(&start);
        let mirrored = rules.map_position(Symmetry::MIRROR, &exchanged);
        let looks_the_same =
            [exchanged, mirrored].iter().any(|other| other.stones(Player::First) == start.stones(Player::First));
        if start.stones(Player::First).is_empty() || !looks_the_same {
            continue;
        }
        let mut ranks = [Vec::new(), Vec::new()];
        for seed in 0..12 {
            let settings = AlphaBetaSettings { seed, table_bytes: 1 << 16, ..AlphaBetaSettings::default() };
            let mut search = AlphaBeta::new(settings, LatrunculiHeuristic::new(&rules));
            let mut game = GameState::new(Arc::clone(&rules));
            for _ in 0..40 {
                if game.outcome().is_some() {
                    break;
                }
                let player = game.player_to_act();
                let action = search.search(&game, Limits::nodes(50)).action;
                if let ActionKind::Move { to, .. } | ActionKind::MoveTaking { to, .. } = action.kind() {
                    let own = rules.turn_square(player, to);
                    ranks[player.index()].push((own.index() / rules.files()) as f64);
                }
                game.play(action);
            }
        }
        let [first, second] = ranks.map(|ranks| ranks.iter().sum::<f64>() / ranks.len() as f64);
        println!("{name}: mean rank of destinations {first:.2} and {second:.2}");
        assert!((first - second).abs() < 1.0, "{name}: {first:.2} and {second:.2}");
        checked += 1;
    }
    assert!(checked >= 14, "{checked} rulesets have such an array");
}

#[test]
fn a_first_iteration_cut_short_returns_the_best_action_searched() {
    for name in presets::NAMES {
        let rules = rules(name);
        let mut rng = ChaCha8Rng::seed_from_u64(41);
        // Without quiescence an action of the first iteration costs one node.
        let settings = AlphaBetaSettings { quiescence_plies_max: 0, ..AlphaBetaSettings::default() };
        let mut search = AlphaBeta::new(settings, LatrunculiHeuristic::new(&rules));
        for _ in 0..6 {
            let played = rng.random_range(0..120);
            let (game, _) = twins(&rules, played, &mut rng);
            let actions = legal(&game);
            if actions.len() < 3 {
                continue;
            }
            let found = search.search(&game, Limits::nodes(actions.len() as u64 - 1));
            assert_eq!(found.depth, 0, "{name}: the iteration is not finished");
            let lines = search.search_lines(&game, Limits::depth(1), usize::MAX, &mut |_| {});
            let value = |action: Action| lines.iter().find(|line| line.action == action).expect("a legal action").score;
            assert_eq!(found.score, value(found.action), "{name}");
            let better = actions.iter().filter(|&&action| value(action) > found.score).count();
            // One action has not been searched.
            assert!(better <= 1, "{name}: {better} actions are better than the one chosen");
        }
    }
}

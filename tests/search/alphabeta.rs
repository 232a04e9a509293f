//! Alpha-beta gives the values of plain minimax.

use std::collections::HashSet;

use latrunculi_engine::Player;
use latrunculi_search::alphabeta::{AlphaBeta, AlphaBetaResult, AlphaBetaSettings, Heuristic, Limits, WIN, minimax};
use latrunculi_search::toy::{NimTurns, OpenLines, StoneParity, TicTacToe, TreeGame, TreeHeuristic};
use latrunculi_search::{Game, StopSignal};
use rand::RngExt;
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

use crate::graph::{GraphGame, GraphHeuristic};
use crate::legal;

/// All settings that must give the exact value.
fn exact_settings() -> Vec<(&'static str, AlphaBetaSettings)> {
    let plain = AlphaBetaSettings::plain();
    let table_bytes = 1 << 16;
    vec![
        ("plain", plain),
        ("ordering", AlphaBetaSettings { ordering: true, ..plain }),
        ("table", AlphaBetaSettings { table_bytes, ..plain }),
        ("tiny table", AlphaBetaSettings { table_bytes: 256, ..plain }),
        ("windows", AlphaBetaSettings { principal_variation_search: true, aspiration: true, ..plain }),
        ("all", AlphaBetaSettings { table_bytes, ..AlphaBetaSettings::exact() }),
        (
            "all, no quiescence",
            AlphaBetaSettings { table_bytes, quiescence_plies_max: 0, ..AlphaBetaSettings::exact() },
        ),
    ]
}

/// Returns the minimax value of one action for the player who takes it, searched `depth` actions deep.
fn value_of<G: Game, H: Heuristic<G>>(game: &G, heuristic: &H, action: G::Action, depth: u32, quiescence: u32) -> i32 {
    let mut child = game.clone();
    child.play(action);
    match child.outcome() {
        Some(outcome) => outcome.value_for(game.player_to_act()) as i32 * (WIN - 1),
        None => {
            let value = minimax(&child, heuristic, depth - 1, quiescence);
            let value = if child.player_to_act() == game.player_to_act() { value } else { -value };
            if value.abs() > WIN / 2 { value - value.signum() } else { value }
        }
    }
}

fn assert_equals_minimax<G: Game, H: Heuristic<G> + Clone>(game: &G, heuristic: &H, depth_max: u32, name: &str) {
    for (settings_name, settings) in exact_settings() {
        let mut search = AlphaBeta::new(settings, heuristic.clone());
        for depth in 1..=depth_max {
            let found = search.search(game, Limits::depth(depth));
            let expected = minimax(game, heuristic, depth, settings.quiescence_plies_max);
            // A search that has seen a certain end stops, and deeper minimax finds the same.
            assert_eq!(found.score, expected, "{name}, {settings_name}, depth {depth}: {found:?}");
            assert_eq!(found.principal_variation.first(), Some(&found.action));
            // The chosen action has the score.
            let value = value_of(game, heuristic, found.action, depth, settings.quiescence_plies_max);
            assert_eq!(value, expected, "{name}, {settings_name}, depth {depth}: {found:?}");
        }
    }
}

fn layered(seed: u64) -> GraphGame {
    GraphGame::layered(&mut ChaCha8Rng::seed_from_u64(seed), 9, 6)
}

#[test]
fn the_scores_of_all_actions_in_the_window_are_those_of_minimax() {
    let (mut inside, mut outside) = (0, 0);
    for seed in 0..60 {
        let game = layered(seed);
        for (name, settings) in exact_settings() {
            let mut search = AlphaBeta::new(settings, GraphHeuristic);
            for (depth, window) in [(1, 1), (2, 30), (3, 90), (4, 5000)] {
                let found = search.search_scores(&game, Limits::depth(depth), window);
                let actions = legal(&game);
                let value =
                    |&action| value_of(&game, &GraphHeuristic, action, found.depth, settings.quiescence_plies_max);
                let values: Vec<i32> = actions.iter().map(value).collect();
                let best = *values.iter().max().unwrap();
                let expected: Vec<Option<i32>> =
                    values.iter().map(|&value| (best - value < window).then_some(value)).collect();
                assert_eq!(found.scores, expected, "seed {seed}, {name}, depth {depth}");
                let chosen = actions.iter().position(|&action| action == found.action).unwrap();
                assert_eq!((found.score, found.scores[chosen]), (best, Some(best)), "seed {seed}, {name}");
                inside += expected.iter().flatten().count();
                outside += expected.iter().filter(|score| score.is_none()).count();
            }
        }
    }
    assert!(inside > 1000 && outside > 1000, "{inside} {outside}");
}

#[test]
fn scores_cut_short_belong_to_one_depth_and_keep_to_the_limit() {
    let settings = AlphaBetaSettings::plain();
    let (mut deepest, mut begun, mut first) = (0, 0, 0);
    for seed in 0..30 {
        let game = layered(seed);
        let actions = legal(&game);
        let mut search = AlphaBeta::new(settings, GraphHeuristic);
        let at_one = |&action| value_of(&game, &GraphHeuristic, action, 1, settings.quiescence_plies_max);
        let values: Vec<i32> = actions.iter().map(at_one).collect();
        let mut best_before = i32::MIN;
        for nodes in (0..40).chain((40..600).step_by(9)) {
            let found = search.search_scores(&game, Limits::nodes(nodes), 40);
            assert!(found.nodes <= nodes);
            let chosen = actions.iter().position(|&action| action == found.action).unwrap();
            match found.depth {
                // The best of those that it came to, of which there are more with more nodes.
                0 if found.score == values[chosen] => {
                    assert!(found.score >= best_before, "seed {seed}, {nodes} nodes");
                    best_before = found.score;
                    begun += 1;
                }
                // The first iteration counts once it has come to all.
                1 if found.scores.iter().flatten().all(|&score| values.contains(&score)) => {
                    assert_eq!(Some(&found.score), values.iter().max(), "seed {seed}, {nodes} nodes");
                    first += 1;
                }
                _ => {}
            }
            for (&action, score) in actions.iter().zip(&found.scores).filter(|(_, score)| score.is_some()) {
                let value = value_of(&game, &GraphHeuristic, action, found.depth, settings.quiescence_plies_max);
                assert_eq!(*score, Some(value), "seed {seed}, {nodes} nodes, depth {}", found.depth);
            }
            deepest = deepest.max(found.depth);
        }
    }
    assert!(deepest >= 3 && begun > 20 && first > 20, "{deepest} {begun} {first}");
}

#[test]
fn random_layered_games_have_their_minimax_value() {
    for seed in 0..150 {
        let game = layered(seed);
        assert_equals_minimax(&game, &GraphHeuristic, 5, &format!("seed {seed}"));
    }
}

#[test]
fn an_iteration_cut_short_has_the_score_of_the_action_that_it_prefers() {
    let settings = AlphaBetaSettings { ordering: true, ..AlphaBetaSettings::plain() };
    let quiescence = settings.quiescence_plies_max;
    let mut changed = 0;
    for seed in 0..30 {
        let game = layered(seed);
        let mut search = AlphaBeta::new(settings, GraphHeuristic);
        for nodes in (20..600).step_by(9) {
            let found = search.search(&game, Limits::nodes(nodes));
            let value = |depth| value_of(&game, &GraphHeuristic, found.action, depth, quiescence);
            if found.depth == 0 {
                continue;
            }
            let last = search.search(&game, Limits::depth(found.depth));
            if last.action == found.action {
                assert!([found.depth, found.depth + 1].map(value).contains(&found.score), "seed {seed}: {found:?}");
            } else {
                // Another action than the last iteration's is from the one that the limit cut short.
                changed += 1;
                assert_eq!(found.score, value(found.depth + 1), "seed {seed}: {found:?} after {last:?}");
            }
        }
    }
    assert!(changed >= 20, "{changed} searches were cut short after they had found something better");
}

#[test]
fn random_games_with_repetition_have_their_minimax_value() {
    for seed in 0..150 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut game = GraphGame::cyclic(&mut rng, 12, 12);
        for _ in 0..rng.random_range(0..6) {
            let actions = legal(&game);
            let mut next = game.clone();
            next.play(actions[rng.random_range(0..actions.len())]);
            if next.outcome().is_none() {
                game = next;
            }
        }
        assert_equals_minimax(&game, &GraphHeuristic, 6, &format!("seed {seed}"));
    }
}

#[test]
fn a_table_that_forgets_the_history_errs_where_the_default_one_does_not() {
    let settings = AlphaBetaSettings { late_move_reductions: false, ..AlphaBetaSettings::default() };
    let settings = AlphaBetaSettings { exact_depth: true, table_bytes: 1 << 16, ..settings };
    let mut errors = 0;
    for seed in 0..60 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let game = GraphGame::cyclic(&mut rng, 6, 40);
        let expected = minimax(&game, &GraphHeuristic, 9, settings.quiescence_plies_max);
        let limits = Limits::depth(9);
        assert_eq!(AlphaBeta::new(settings, GraphHeuristic).search(&game, limits).score, expected, "seed {seed}");
        let forgetful = GraphGame { forgets: true, ..game };
        let found = AlphaBeta::new(settings, GraphHeuristic).search(&forgetful, limits);
        errors += u32::from(found.score != expected);
    }
    assert!(errors >= 5, "{errors} errors: these games do not need a table that knows of repetition");
}

#[test]
fn tic_tac_toe_is_a_draw() {
    assert_equals_minimax(&TicTacToe::new(), &OpenLines, 4, "tic-tac-toe");
    let mut search = AlphaBeta::new(AlphaBetaSettings::default(), OpenLines);
    let found = search.search(&TicTacToe::new(), Limits::depth(9));
    assert_eq!(found.score, 0);
}

#[test]
fn nim_is_won_as_bouton_says() {
    for heaps in [[1, 2, 3, 0], [1, 2, 2, 0], [2, 2, 1, 1], [3, 1, 1, 0], [2, 3, 1, 1]] {
        let game = NimTurns::new(heaps);
        assert_equals_minimax(&game, &StoneParity, 5, "nim");
        let mut search = AlphaBeta::new(AlphaBetaSettings::default(), StoneParity);
        let found = search.search(&game, Limits::depth(20));
        assert_eq!(found.score > 0, game.winner_by_theory() == Player::First, "{heaps:?}");
        assert!(found.score.abs() > WIN / 2);
        assert!(found.plies_to_end().is_some());
    }
}

#[test]
fn a_shorter_win_is_preferred_and_a_longer_loss() {
    let mut search = AlphaBeta::new(AlphaBetaSettings::default(), TreeHeuristic);
    let game = TreeGame::parse("1(2(1(+)) + 2(+))").unwrap();
    assert_eq!(search.search(&game, Limits::depth(4)).action, 1);
    let game = TreeGame::parse("2(1(2(+)) + 1(+))").unwrap();
    let found = search.search(&game, Limits::depth(4));
    assert_eq!((found.action, found.score), (0, -(WIN - 3)));
}

#[test]
fn several_actions_of_one_player_keep_their_sign() {
    // The first player acts twice, then the second twice.
    let game = TreeGame::parse("1(1(2(2(+ -)) 2(2(+ =))) 2(-))").unwrap();
    let mut search = AlphaBeta::new(AlphaBetaSettings::default(), TreeHeuristic);
    let found = search.search(&game, Limits::depth(6));
    assert_eq!((found.action, found.score), (0, 0));
    assert_eq!(found.principal_variation, [0, 1, 0, 1]);
}

#[test]
fn the_node_limit_is_hard_and_some_action_always_comes() {
    for nodes in [0, 1, 2, 7, 100, 1000] {
        let mut search = AlphaBeta::new(AlphaBetaSettings::default(), OpenLines);
        let found = search.search(&TicTacToe::new(), Limits::nodes(nodes));
        assert!(found.nodes <= nodes, "{nodes}: {found:?}");
        assert!(found.action < 9);
    }
}

#[test]
fn a_search_does_not_depend_on_the_searches_before_it() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let settings = AlphaBetaSettings { table_bytes: 4096, ..AlphaBetaSettings::default() };
    let mut used = AlphaBeta::new(settings, GraphHeuristic);
    for _ in 0..20 {
        let game = GraphGame::layered(&mut rng, 14, 8);
        let fresh = AlphaBeta::new(settings, GraphHeuristic).search(&game, Limits::nodes(3000));
        assert_eq!(used.search(&game, Limits::nodes(3000)), fresh);
    }
}

#[test]
fn lines_are_the_best_actions_in_order() {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    for _ in 0..40 {
        let game = GraphGame::layered(&mut rng, 14, 6);
        let actions = legal(&game);
        let ranked = |settings: AlphaBetaSettings| {
            let mut search = AlphaBeta::new(settings, GraphHeuristic);
            let found = search.search_lines(&game, Limits::depth(4), actions.len() + 1, &mut |_| {});
            let distinct: HashSet<_> = found.iter().map(|line| line.action).collect();
            assert_eq!(distinct, actions.iter().copied().collect());
            let scores: Vec<i32> = found.iter().map(|line| line.score).collect();
            assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
            scores
        };
        let table_bytes = 1 << 14;
        let (plain, table) =
            (ranked(AlphaBetaSettings::plain()), AlphaBetaSettings { table_bytes, ..AlphaBetaSettings::exact() });
        assert_eq!(plain, ranked(table));
    }
}

#[test]
fn several_lines_share_one_limit_and_one_depth() {
    let mut rng = ChaCha8Rng::seed_from_u64(12);
    for nodes in [1, 20, 300, 3000] {
        let game = GraphGame::layered(&mut rng, 14, 8);
        let mut search = AlphaBeta::new(AlphaBetaSettings::default(), GraphHeuristic);
        let mut told = Vec::new();
        let found = search.search_lines(&game, Limits::nodes(nodes), 3, &mut |lines| told.push(lines.to_vec()));
        assert!(found.iter().all(|line| line.nodes <= nodes && line.depth == found[0].depth), "{found:?}");
        assert!(found.is_sorted_by(|a, b| a.score >= b.score), "{found:?}");
        // What was cut short does not count once an iteration is whole.
        if let Some(last) = told.last() {
            let actions = |lines: &[AlphaBetaResult<_>]| lines.iter().map(|line| line.action).collect::<Vec<_>>();
            assert_eq!((actions(&found), found[0].depth), (actions(last), last[0].depth));
        }
    }
}

#[test]
fn a_raised_stop_ends_the_search_with_some_action_and_a_lowered_one_does_not() {
    let stop = StopSignal::default();
    let mut search = AlphaBeta::new(AlphaBetaSettings::default(), OpenLines);
    search.stop_by(stop.clone());
    stop.raise();
    let found = search.search(&TicTacToe::new(), Limits::depth(9));
    assert_eq!((found.nodes, found.depth), (1, 0), "one action and no more");
    stop.lower();
    let mut depths = Vec::new();
    let found = search.search_lines(&TicTacToe::new(), Limits::depth(5), 1, &mut |lines| depths.push(lines[0].depth));
    assert_eq!(depths, [1, 2, 3, 4, 5]);
    assert_eq!(found[0].depth, 5);
    // A signal raised during the search ends it.
    let mut reports = 0;
    let found = search.search_lines(&TicTacToe::new(), Limits::depth(9), 1, &mut |_| {
        reports += 1;
        if reports == 4 {
            stop.raise();
        }
    });
    assert!(found[0].depth < 9, "{found:?}");
}

//! MCTS on games with known values.

use latrunculi_engine::Player;
use latrunculi_search::evaluators::{Rollouts, Uniform};
use latrunculi_search::exhaustive::Exhaustive;
use latrunculi_search::mcts::{
    GumbelSettings, LeafBatch, MaxConsideredActions, Mode, Proofs, Search, SearchBudget, SearchResult, Settings, Step,
};
use latrunculi_search::toy::{NimTurns, TicTacToe, TreeGame};
use latrunculi_search::{EvalError, Evaluation, Evaluator, Game, StopSignal};
use rand::RngExt;
use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};

use crate::graph::GraphGame;

fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

fn both_modes() -> [Settings; 2] {
    [Settings::gumbel(), Settings::puct()]
}

/// Evaluates as [`Uniform`] does, and then changes each evaluation.
struct Changed<F>(F);

impl<G: Game, F: FnMut(&G, &mut Evaluation)> Evaluator<G> for Changed<F> {
    fn evaluate(
        &mut self,
        games: &[&G],
        legal_actions: &[&[G::Action]],
        evaluations: &mut [Evaluation],
    ) -> Result<(), EvalError> {
        Uniform.evaluate(games, legal_actions, evaluations)?;
        games.iter().zip(evaluations).for_each(|(game, evaluation)| self.0(game, evaluation));
        Ok(())
    }
}

/// Searches on, and returns what was found.
fn search_on<G: Game>(
    search: &mut Search<G>,
    evaluator: &mut dyn Evaluator<G>,
    simulations: u32,
    add_noise: bool,
    seed: u64,
) -> SearchResult<G::Action> {
    search.start(SearchBudget { simulations, add_noise }, &mut rng(seed));
    search.run(evaluator).expect("it never fails");
    search.result()
}

fn search<G: Game>(
    settings: Settings,
    game: &G,
    simulations: u32,
    add_noise: bool,
    seed: u64,
) -> SearchResult<G::Action> {
    search_on(&mut Search::new(settings, game), &mut Uniform, simulations, add_noise, seed)
}

/// Returns the exact result for the first player under best play.
fn exhaustive<G: Game>(game: &G) -> i8 {
    Exhaustive::new().value(game, usize::MAX).expect("a small game")
}

/// What is proven of a result: of the game, and after how many actions.
fn proven<A>(result: &SearchResult<A>) -> Option<(i8, u16)> {
    result.proven.map(|proven| (proven.result, proven.plies))
}

#[test]
fn eight_actions_are_considered_below_sixty_four_simulations() {
    assert_eq!(MaxConsideredActions::Auto.count(32, 50), 8);
    assert_eq!(MaxConsideredActions::Auto.count(64, 50), 16);
    assert_eq!(MaxConsideredActions::Auto.count(64, 3), 3);
    assert_eq!(MaxConsideredActions::Fixed(4).count(64, 50), 4);
}

#[test]
fn a_win_in_one_is_found_and_proven() {
    for settings in both_modes() {
        let game = TreeGame::parse("2(1(+ -) 1(- +) - 1(= =))").unwrap();
        let result = search(settings, &game, 16, true, 1);
        assert_eq!(result.best_action(), 2);
        assert_eq!(proven(&result), Some((1, 1)));
        assert_eq!(result.value, 1.0);
        assert_eq!(result.policy, [0.0, 0.0, 1.0, 0.0]);
        assert!(result.simulations <= 16);
    }
}

#[test]
fn several_actions_of_one_player_keep_their_sign() {
    for settings in both_modes() {
        // Only by acting twice does the first player win; after either action of the second player it is lost.
        let game = TreeGame::parse("1(2(- +) 1(2(- -) 1(+ -)) 2(= -))").unwrap();
        let result = search(settings, &game, 64, true, 3);
        assert_eq!(result.best_action(), 1, "{result:?}");
        assert_eq!(proven(&result), Some((1, 3)));
        assert_eq!(result.principal_variation, [1, 1, 0]);
    }
}

#[test]
fn the_solver_agrees_with_exhaustive_search() {
    let mut solved = [0, 0];
    for seed in 0..300 {
        let game = GraphGame::layered(&mut rng(seed), 5, 4);
        let expected = exhaustive(&game);
        for (number, settings) in both_modes().into_iter().enumerate() {
            let result = search(settings, &game, 4000, true, seed);
            let Some(proven) = result.proven else { continue };
            let sign = if game.player_to_act() == Player::First { 1 } else { -1 };
            assert_eq!(proven.result * sign, expected, "seed {seed}, mode {number}");
            let mut child = game.clone();
            child.play(result.best_action());
            assert_eq!(exhaustive(&child), expected, "seed {seed}, mode {number}: the action keeps it");
            solved[number] += 1;
        }
    }
    // Few simulations prove most; PUCT, which never stops exploring, all of them.
    assert!(solved[0] > 250 && solved[1] == 300, "{solved:?}");
}

#[test]
fn nim_is_solved_as_bouton_says() {
    for heaps in [[1, 2, 3, 0], [1, 2, 2, 0], [2, 2, 1, 1], [3, 1, 1, 0]] {
        let game = NimTurns::new(heaps);
        for settings in both_modes() {
            let result = search(settings, &game, 60_000, true, 9);
            let wins = game.winner_by_theory() == Player::First;
            assert_eq!(result.proven.map(|p| p.result), Some(if wins { 1 } else { -1 }), "{heaps:?}");
        }
    }
}

#[test]
fn ends_that_rest_on_the_history_are_values_but_no_proofs() {
    let text = "1(+? 2(-? -?))";
    for settings in both_modes() {
        let result = search(settings.clone(), &TreeGame::parse(text).unwrap(), 50, false, 1);
        assert_eq!(result.proven, None);
        assert_eq!(result.best_action(), 0);
        assert_eq!(result.q[0], 1.0);
        let path = Settings { proofs: Proofs::Path, ..settings.clone() };
        let result = search(path, &TreeGame::parse(text).unwrap(), 50, false, 1);
        assert_eq!(result.proven.map(|p| p.result), Some(1));
        let off = Settings { proofs: Proofs::Off, ..settings };
        let result = search(off, &TreeGame::parse("1(+ -)").unwrap(), 50, false, 1);
        assert_eq!(result.proven, None);
        assert_eq!(result.simulations, 50);
    }
}

#[test]
fn an_end_that_the_opponent_can_reach_at_once_is_seen_by_one_visit() {
    // Both of the first player's actions look alike; after one of them the last of many replies wins.
    let open = "1(+? -?)";
    let replies = |last: &str| format!("2({} {last})", [open; 9].join(" "));
    for (end, proven) in [("-", true), ("-?", false)] {
        let game = TreeGame::parse(&format!("1({} {})", replies(end), replies(open))).unwrap();
        for settings in both_modes() {
            let result = search(settings.clone(), &game, 2, false, 1);
            assert_eq!(result.best_action(), 1, "{end}");
            assert_eq!((result.visits[0], result.q[0]), (1, -1.0), "{end}");
            assert_eq!(result.policy[0] == 0.0, proven, "{end}");
            let off = search(Settings { proofs: Proofs::Off, ..settings }, &game, 2, false, 1);
            assert_eq!((off.visits[0], off.q[0]), (1, 0.0), "{end}");
        }
    }
}

#[test]
fn an_end_at_the_root_is_seen_though_nothing_proves_it() {
    // More actions than are considered; the last one ends the game by what was played before.
    let game = TreeGame::parse(&format!("1({} +?)", ["2(+? -?)"; 40].join(" "))).unwrap();
    for settings in both_modes() {
        let result = search(settings.clone(), &game, 16, false, 1);
        assert_eq!((result.best_action(), result.q[40]), (40, 1.0));
        assert!(result.visits[40] > 0 && result.proven.is_none());
        // Without simulations it is the network's policy.
        let alone = search(settings.clone(), &game, 0, false, 1);
        assert!(alone.visits.iter().all(|&visits| visits == 0));
        assert!(alone.policy.iter().all(|p| (p - 1.0 / 41.0).abs() < 1e-6), "{:?}", alone.policy);
    }
}

#[test]
fn an_end_has_its_own_value_before_it_is_visited() {
    // The first player is ahead.
    let mut ahead = Changed(|game: &TreeGame, evaluation: &mut Evaluation| {
        let own = if game.player_to_act() == Player::First { 0.75 } else { 0.25 };
        evaluation.win_draw_loss = [own, 0.0, 1.0 - own];
    });
    for end in ["=", "=?"] {
        let game = TreeGame::parse(&format!("1({end} {})", ["2(1(+? -?) 1(+? -?))"; 12].join(" "))).unwrap();
        let mut not_visited = 0;
        for seed in 0..20 {
            let result = search_on(&mut Search::new(Settings::gumbel(), &game), &mut ahead, 1, true, seed);
            assert_eq!(result.q[0], 0.0, "{result:?}");
            assert!(result.policy[1..].iter().all(|&open| open > result.policy[0]), "{result:?}");
            not_visited += u32::from(result.visits[0] == 0);
        }
        assert!(not_visited > 0);
    }
}

#[test]
fn a_position_whose_actions_all_end_the_game_is_worth_the_best_of_them() {
    let game = TreeGame::parse("1(2(=? =?) 2(+? -? 1(+? -?)))").unwrap();
    for settings in both_modes() {
        // The evaluation, 0, is better for the second player than the draws, which are worth 0.5 to the first.
        let result = search(Settings { draw_value: 0.5, ..settings }, &game, 2, false, 1);
        assert_eq!((result.visits[0], result.q[0]), (1, 0.5));
    }
}

#[test]
fn a_search_is_done_when_an_action_wins_at_once() {
    let game = TreeGame::parse("1(2(+? -?) 2(+? -?) +)").unwrap();
    for settings in both_modes() {
        let result = search(settings, &game, 100, true, 1);
        assert_eq!((result.best_action(), result.simulations), (2, 0));
        assert_eq!(proven(&result), Some((1, 1)));
        assert_eq!((result.value, result.policy[2]), (1.0, 1.0));
    }
}

#[test]
fn a_draw_has_its_value_for_whoever_searches_and_the_opposite_for_his_opponent() {
    // After two actions of the first player the second chooses between a draw and a long game of value 0.
    let long = format!("{}={}", "1(2(".repeat(200), "))".repeat(200));
    let game = TreeGame::parse(&format!("1(1(2(= {long})))")).unwrap();
    for mut settings in both_modes() {
        settings.proofs = Proofs::Off;
        for draw_value in [-0.5, 0.5] {
            settings.draw_value = draw_value;
            let mut own = Search::new(settings.clone(), &game);
            let run = |own: &mut Search<TreeGame>, simulations| search_on(own, &mut Uniform, simulations, false, 1);
            let (takes_draw, plays_on) = (0, 1);
            // What costs the first player half a point gives the second as much.
            let reply = if draw_value < 0.0 { takes_draw } else { plays_on };
            assert_eq!(run(&mut own, 40).principal_variation[..3], [0, 0, reply], "{settings:?}");
            own.advance(0);
            assert_eq!(run(&mut own, 20).principal_variation[..2], [0, reply], "{settings:?}");
            own.advance(0);
            // Now he searches, on the kept tree.
            let result = run(&mut own, 100);
            assert_eq!((result.q[takes_draw], result.q[plays_on]), (draw_value, 0.0));
            assert_eq!(result.best, if draw_value < 0.0 { plays_on } else { takes_draw }, "{settings:?}");
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_result_and_noise_differs_between_seeds() {
    for settings in both_modes() {
        let game = TicTacToe::new();
        let one = search(settings.clone(), &game, 40, true, 11);
        assert_eq!(one, search(settings.clone(), &game, 40, true, 11));
        let is_noisy = (12..20).any(|seed| search(settings.clone(), &game, 40, true, seed).visits != one.visits);
        assert_eq!(is_noisy, matches!(settings.mode, Mode::Gumbel(_)), "PUCT has no noise");
        let quiet = search(settings.clone(), &game, 40, false, 11);
        assert_eq!(quiet, search(settings, &game, 40, false, 12), "no noise, no seed");
    }
}

#[test]
fn results_are_distributions_over_the_legal_actions() {
    for settings in both_modes() {
        for simulations in [0, 1, 5, 16, 100] {
            let result = search(settings.clone(), &TicTacToe::new(), simulations, true, 2);
            assert_eq!(result.actions.len(), 9);
            for shares in [&result.policy[..], &result.prior, &result.win_draw_loss] {
                assert!((shares.iter().sum::<f32>() - 1.0).abs() < 1e-5);
            }
            assert_eq!(result.visits.iter().sum::<u32>(), simulations);
            assert_eq!(result.simulations, simulations);
            assert!(result.q.iter().all(|q| (-1.0..=1.0).contains(q)));
        }
    }
}

#[test]
fn win_draw_and_loss_are_probabilities() {
    let check = |result: SearchResult<_>| {
        for parts in [result.win_draw_loss, result.policy_win_draw_loss] {
            let is_one = |part: &f32| (0.0..=1.0).contains(part) && part.is_sign_positive();
            let sum: f64 = parts.iter().copied().map(f64::from).sum();
            assert!(parts.iter().all(is_one) && (sum - 1.0).abs() < 1e-6, "{parts:?}");
        }
    };
    let mut draws = rng(4);
    let mut network = Changed(|_: &TicTacToe, evaluation: &mut Evaluation| {
        let powers: [f32; 3] = std::array::from_fn(|_| draws.random_range(-20.0_f32..20.0).exp());
        evaluation.win_draw_loss = powers.map(|power| power / powers.iter().sum::<f32>());
    });
    for settings in both_modes() {
        for simulations in 0..50 {
            for seed in 0..20 {
                let mut search = Search::new(settings.clone(), &TicTacToe::new());
                let evaluators: [&mut dyn Evaluator<TicTacToe>; 2] =
                    [&mut Rollouts::new(1, 3 + seed as u32 % 4, rng(seed)), &mut network];
                for evaluator in evaluators {
                    search.set_root(&TicTacToe::new());
                    check(search_on(&mut search, evaluator, simulations, false, seed));
                }
            }
        }
    }
}

#[test]
fn what_is_expected_of_the_policy_is_its_mean_over_visited_actions() {
    for settings in both_modes() {
        let mut gained = 0.0;
        for seed in 0..20 {
            let mut search = Search::new(settings.clone(), &TicTacToe::new());
            let result = search_on(&mut search, &mut Rollouts::new(1, 20, rng(seed)), 24, true, seed);
            assert!(result.proven.is_none(), "nothing is exact yet");
            let visited = || (0..result.actions.len()).filter(|&index| result.visits[index] > 0);
            let weights: f32 = visited().map(|index| result.policy[index]).sum();
            let mean = visited().map(|index| result.policy[index] * result.q[index]).sum::<f32>() / weights;
            let [win, draw, loss] = result.policy_win_draw_loss;
            assert!((win + draw + loss - 1.0).abs() < 1e-5 && (win - loss - mean).abs() < 1e-4, "{result:?}");
            gained += win - loss - result.value;
        }
        // The mean over all visits includes the rejected actions.
        assert!(gained > 0.0, "{gained}");
    }
}

#[test]
fn equal_values_leave_the_policy_unchanged_where_their_range_has_a_floor() {
    let with = |range_min| {
        let mode = Mode::Gumbel(GumbelSettings { range_min, ..GumbelSettings::default() });
        let divergence = |seed| {
            let mut search = Search::new(Settings { mode: mode.clone(), ..Settings::default() }, &TicTacToe::new());
            let result = search_on(&mut search, &mut Rollouts::new(4, 20, rng(seed)), 16, false, seed);
            let terms = result.policy.iter().zip(&result.prior).filter(|(probability, _)| **probability > 0.0);
            terms.map(|(probability, prior)| probability * (probability / prior).ln()).sum::<f32>()
        };
        (1..=40).map(divergence).sum::<f32>() / 40.0
    };
    let divergences = [1e-6, 1.0, 100.0].map(with);
    assert!(divergences[0] > divergences[1] && divergences[1] > divergences[2], "{divergences:?}");
    assert!(divergences[2] < 1e-3, "{divergences:?}");
}

#[test]
fn a_kept_subtree_goes_on_where_it_was() {
    for settings in both_modes() {
        let mut own = Search::new(settings.clone(), &TicTacToe::new());
        let result = search_on(&mut own, &mut Uniform, 200, false, 1);
        let visits = result.visits[result.best];
        own.advance(result.best_action());
        let next = search_on(&mut own, &mut Uniform, 50, true, 2);
        assert_eq!(next.simulations, 50);
        // One of the visits brought the node's own evaluation.
        assert_eq!(next.visits.iter().sum::<u32>(), visits - 1 + 50);
        assert!(next.value.abs() <= 1.0);

        let mut fresh = Search::new(Settings { reuse_tree: false, ..settings }, &TicTacToe::new());
        search_on(&mut fresh, &mut Uniform, 200, false, 1);
        fresh.advance(4);
        assert_eq!(fresh.tree_size(), (0, 0));
    }
}

#[test]
fn a_search_advances_to_a_game_in_its_tree() {
    for settings in both_modes() {
        let mut played = Search::new(settings, &TicTacToe::new());
        let result = search_on(&mut played, &mut Uniform, 200, false, 1);
        let mut advanced = played.clone();
        let mut game = TicTacToe::new();
        for &action in &result.principal_variation[..2] {
            game.play(action);
            played.advance(action);
        }
        advanced.advance_to(&game);
        assert!(played.tree_size().0 > 0 && advanced.tree_size() == played.tree_size());
        let results = [&mut advanced, &mut played].map(|search| search_on(search, &mut Uniform, 50, false, 2));
        assert_eq!(results[0], results[1]);

        advanced.advance_to(&TicTacToe::new());
        assert_eq!(advanced.tree_size(), (0, 0));
        assert_eq!(search_on(&mut advanced, &mut Uniform, 200, false, 1).visits, result.visits);
    }
}

#[test]
fn a_small_part_of_a_full_tree_is_kept() {
    let mut first = Changed(|game: &TicTacToe, evaluation: &mut Evaluation| {
        if *game == TicTacToe::new() {
            evaluation.policy_logits[0] = 20.0;
        }
    });
    let searched = |edges_max, evaluator: &mut dyn Evaluator<TicTacToe>| {
        let mut search = Search::new(Settings { edges_max, ..Settings::puct() }, &TicTacToe::new());
        let line = search_on(&mut search, evaluator, 400, false, 1).principal_variation;
        (search, line)
    };
    let (free, _) = searched(1 << 20, &mut first);
    let (mut full, line) = searched(free.tree_size().1, &mut first);
    assert_eq!(full.tree_size(), free.tree_size());
    let mut game = TicTacToe::new();
    line[..2].iter().for_each(|&action| game.play(action));
    let mut advanced = full.clone();
    advanced.advance_to(&game);
    assert!(advanced.tree_size().0 > 1, "what the two actions lead to");
    full.advance(line[0]);
    assert_eq!(full.tree_size(), (0, 0), "after one action more than half of the tree is left");
}

#[test]
fn a_raised_stop_ends_a_search_whose_simulations_need_no_evaluation() {
    for settings in both_modes() {
        // Every line of the tree soon ends, and nothing is proven.
        let mut own = Search::new(Settings { proofs: Proofs::Off, ..settings }, &NimTurns::new([1, 2, 0, 0]));
        let stop = StopSignal::default();
        own.stop_by(stop.clone());
        assert_eq!(search_on(&mut own, &mut Uniform, 100, false, 1).simulations, 100);
        stop.raise();
        assert_eq!(search_on(&mut own, &mut Uniform, 100_000, false, 1).simulations, 1, "one and no more");
    }
}

#[test]
fn memory_is_bounded() {
    for settings in both_modes() {
        let settings = Settings { edges_max: 60, proofs: Proofs::Off, ..settings };
        let mut own = Search::new(settings, &TicTacToe::new());
        let result = search_on(&mut own, &mut Uniform, 500, true, 1);
        assert!(own.tree_size().1 <= 60);
        assert_eq!(result.visits.iter().sum::<u32>(), 500);
    }
}

#[test]
fn a_batch_of_searches_finds_what_each_finds_alone() {
    for settings in both_modes() {
        let mut searches = Vec::new();
        let mut alone = Vec::new();
        for seed in 0..6 {
            let game = GraphGame::layered(&mut rng(seed), 12, 8);
            alone.push(search(settings.clone(), &game, 40 + seed as u32, true, seed));
            let mut own = Search::new(settings.clone(), &game);
            own.start(SearchBudget { simulations: 40 + seed as u32, add_noise: true }, &mut rng(seed));
            searches.push(own);
        }
        LeafBatch::default().run(&mut searches, &mut Uniform).unwrap();
        let together: Vec<_> = searches.iter().map(Search::result).collect();
        assert_eq!(together, alone);
    }
}

#[test]
fn asking_twice_gives_the_same_leaf() {
    let mut own = Search::new(Settings::default(), &TicTacToe::new());
    own.start(SearchBudget { simulations: 3, add_noise: false }, &mut rng(1));
    let mut evaluations = [Evaluation::default()];
    let mut asked = 0;
    while own.select() == Step::Evaluate {
        assert_eq!(own.select(), Step::Evaluate);
        let leaf = own.leaf();
        Uniform.evaluate(&[leaf.game], &[leaf.legal_actions], &mut evaluations).unwrap();
        own.receive(&evaluations[0]);
        asked += 1;
    }
    assert_eq!(asked, 4, "the root and three simulations");
}

#[test]
fn rollouts_play_tic_tac_toe_without_losing_to_a_fork() {
    // The first player holds two opposite corners, the second the centre: an edge is the only reply.
    let mut game = TicTacToe::new();
    for action in [0, 4, 8] {
        game.play(action);
    }
    let settings = Settings { proofs: Proofs::Off, ..Settings::puct() };
    let mut own = Search::new(settings, &game);
    let result = search_on(&mut own, &mut Rollouts::new(1, 20, rng(4)), 2000, false, 1);
    assert!(matches!(result.best_action(), 1 | 3 | 5 | 7), "{result:?}");
}

#[test]
fn the_actions_considered_are_fewer_than_the_legal_ones() {
    let mut settings = Settings { proofs: Proofs::Off, ..Settings::default() };
    if let Mode::Gumbel(gumbel) = &mut settings.mode {
        gumbel.max_considered_actions = MaxConsideredActions::Fixed(4);
    }
    let result = search(settings, &TicTacToe::new(), 16, true, 1);
    let mut visits = result.visits.clone();
    visits.sort_unstable();
    // 4x2, 2x4: two survivors with six visits, two that fell with two.
    assert_eq!(visits, [0, 0, 0, 0, 0, 2, 2, 6, 6]);
}

#[test]
fn the_more_values_are_shrunk_the_nearer_the_policy_is_to_the_prior() {
    let moved = |shrinkage: f32| {
        let gumbel = GumbelSettings { shrinkage, range_min: 2.0, ..GumbelSettings::default() };
        let settings = Settings { mode: Mode::Gumbel(gumbel), ..Settings::default() };
        // Values that differ from position to position, and no ends within reach.
        let mut evaluator = Changed(|game: &TicTacToe, evaluation: &mut Evaluation| {
            let share = (game.own_position_key() % 1000) as f32 / 1000.0;
            evaluation.win_draw_loss = [share, 0.0, 1.0 - share];
        });
        let found = search_on(&mut Search::new(settings, &TicTacToe::new()), &mut evaluator, 16, true, 3);
        found.policy.iter().zip(&found.prior).map(|(policy, prior)| (policy - prior).abs()).sum::<f32>()
    };
    let [none, some, all] = [0.0, 8.0, 1e9].map(moved);
    assert!(none > 2.0 * some && some > 0.01 && all < 1e-4, "{none} {some} {all}");
}

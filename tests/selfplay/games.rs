//! Games: the same key gives the same game, and its targets are right.

use std::sync::Arc;

use latrunculi_data::{Encoder, ReplaySettings, SCALARS, TrainingBatch};
use latrunculi_engine::{Player, Rules, Square, SquareSet, Symmetry, presets};
use latrunculi_selfplay::{
    PlayoutCapSettings, Pool, PoolPlan, PoolTask, Progress, Quota, SelfPlayError, SelfPlaySettings, StartSettings,
    TeacherSettings, play_pools,
};

use crate::static_evaluator::StaticEvaluator;
use crate::{GAMES, plan, play, play_tasks, rules, techniques};

/// The games of `plan`, played by `actors` actors in as many pools.
fn play_apart(plan: &PoolPlan, actors: u64, parallel_trees: bool) -> Vec<latrunculi_selfplay::PlayedGame> {
    let part = |number: u64| {
        let first_game = GAMES * number / actors;
        let pool = Pool::new(PoolPlan { first_game, ..plan.clone() }).unwrap();
        PoolTask { pool, quota: Quota::PlayOut { until: GAMES * (number + 1) / actors }, journal: None }
    };
    play_tasks((0..actors).map(part).collect(), actors as usize, parallel_trees).concat()
}

#[test]
fn neither_actors_nor_batches_nor_threads_change_a_game() {
    let rules = rules("bell");
    for settings in [plan(&rules, 1).settings, techniques(6)] {
        let with = |in_flight| PoolPlan { settings: settings.clone(), ..plan(&rules, in_flight) };
        let alone = play(&with(1), GAMES);
        assert_eq!(alone.len() as u64, GAMES);
        for (in_flight, parallel_trees, actors) in [(6, false, 1), (4, true, 1), (2, false, 2), (8, true, 3)] {
            assert_eq!(play_apart(&with(in_flight), actors, parallel_trees), alone);
        }
    }
}

#[test]
fn other_pools_and_seeds_play_other_games() {
    let rules = rules("bell");
    let base = plan(&rules, 6);
    let games = play(&base, GAMES);
    for other in [PoolPlan { name: "pool-4".to_owned(), ..base.clone() }, PoolPlan { run_seed: 8, ..base.clone() }] {
        let others = play(&other, GAMES);
        assert!(games.iter().zip(&others).all(|(one, other)| one.samples != other.samples));
    }
}

#[test]
fn targets_are_distributions_and_results_belong_to_the_player_to_act() {
    for name in ["bell", "dutch-8x8", "savard"] {
        let rules = rules(name);
        let base = plan(&rules, 6);
        let bootstrap =
            PoolPlan { teacher: Some(TeacherSettings { nodes: 20, ..TeacherSettings::default() }), ..base.clone() };
        let [own, taught] = [&base, &bootstrap].map(|plan| play(plan, 2));
        for (result_weight, game) in own.iter().map(|game| (1.0, game)).chain(taught.iter().map(|game| (0.3, game))) {
            let samples = &game.samples;
            for index in 0..samples.len() {
                let policy = &samples.policy[samples.action_range(index)];
                assert!((policy.iter().sum::<f32>() - 1.0).abs() < 1e-4, "{name}: the policy sums to 1");
                let expected: f32 = samples.search_win_draw_loss[index].iter().sum();
                assert!((expected - 1.0).abs() < 1e-4, "{name}: the expectation sums to 1");
                let search = samples.search_win_draw_loss[index].map(|part| part * (1.0 - result_weight));
                let value = samples.win_draw_loss[index];
                let result: [f32; 3] =
                    std::array::from_fn(|part| ((value[part] - search[part]) / result_weight).round());
                assert_eq!(result[1] == 1.0, game.outcome.winner.is_none());
                assert_eq!(result.iter().sum::<f32>(), 1.0);
                let mixed: [f32; 3] = std::array::from_fn(|part| result[part] * result_weight + search[part]);
                assert!(value.iter().zip(mixed).all(|(one, other)| (one - other).abs() < 1e-5), "{name}: {value:?}");
            }
            // Who has more pieces at the end of a blockade is who has won.
            let is_counted = game.outcome.reason == latrunculi_engine::EndReason::Blockade && name == "bell";
            for index in (0..samples.len()).filter(|_| is_counted && result_weight == 1.0) {
                let [win, draw, loss] = samples.win_draw_loss[index];
                assert_eq!(samples.margin[index] > 0.0, win == 1.0);
                assert_eq!(samples.margin[index] == 0.0, draw == 1.0);
                assert_eq!(samples.margin[index] < 0.0, loss == 1.0);
            }
        }
    }
}

#[test]
fn survivors_are_left_at_the_end_and_the_opponents_policy_is_his() {
    for name in ["bell", "dutch-8x8", "savard", "beads", "savard-displacement"] {
        let rules = rules(name);
        let teacher = Some(TeacherSettings { nodes: 20, ..TeacherSettings::default() });
        for game in play(&PoolPlan { teacher, ..plan(&rules, 1) }, 3) {
            let samples = &game.samples;
            let side = Player::BOTH.map(|player| rules.pieces_at_start(player)).into_iter().max().unwrap() as f32;
            let encoder = Encoder::new(Arc::clone(&rules));
            let mut batch = TrainingBatch::new(encoder.shape());
            for index in 0..samples.len() {
                samples.write_into(index, &encoder, Symmetry::IDENTITY, &ReplaySettings::default(), &mut batch);
                let survival = &batch.survival[index * rules.square_count()..];
                let survive =
                    |stones: SquareSet| stones.iter().filter(|square| survival[square.index()] == 1.0).count();
                let [own_men, own_dux, enemy_men, enemy_dux, ..] = samples.position(index).planes;
                let (own, enemy) = (survive(own_men | own_dux), survive(enemy_men | enemy_dux));
                let in_hand = samples.position(index).scalars[1..5].iter().any(|&part| part > 0.0);
                if !in_hand && !game.outcome.reason.is_dux_lost() {
                    assert_eq!(own as f32 - enemy as f32, (samples.margin[index] * side).round(), "{name}");
                }
                assert_eq!(samples.turns[index] + samples.moves_left[index], game.turn_count, "{name}");
                let Ok(next) = usize::try_from(samples.opponent_policy[index]) else { continue };
                assert!(next > index && samples.turns[next] > samples.turns[index], "{name}");
                let policy = &batch.opponent_policy;
                let range = policy.offsets[index] as usize..policy.offsets[index + 1] as usize;
                assert!((policy.probabilities[range.clone()].iter().sum::<f32>() - 1.0).abs() < 1e-4);
                // The opponent moves an enemy piece, or one that is placed by then.
                let area = rules.square_count();
                for &entry in policy.indices[range].iter().filter(|entry| (**entry as usize) < area * area) {
                    let from = Square::from_index(entry as usize / area);
                    assert!(in_hand || (enemy_men | enemy_dux).contains(from), "{name}");
                }
            }
        }
    }
}

#[test]
fn a_noisy_player_makes_bootstrap_games_decisive() {
    // Among equals hardly anything is ever captured here.
    let rules = rules("dutch-8x8");
    let uneven = TeacherSettings {
        nodes: 60,
        noisy_player_probability: 1.0,
        noisy_player_random_probability: 0.9,
        ..TeacherSettings::default()
    };
    let games = play(&PoolPlan { teacher: Some(uneven), ..plan(&rules, 1) }, 8);
    let decisive = games.iter().filter(|game| game.outcome.winner.is_some());
    let winners: Vec<_> = decisive.map(|game| game.outcome.winner).collect();
    assert!(winners.len() >= 6, "{winners:?}");
    assert!(winners.contains(&Some(Player::First)) && winners.contains(&Some(Player::Second)), "either side is weak");
    // The noise that decides a game is not in its positions: nothing of how it ended is in their targets.
    for game in &games {
        assert!(!game.is_even && !game.is_counted());
        let samples = &game.samples;
        assert_eq!(samples.win_draw_loss, samples.search_win_draw_loss);
        for index in 0..samples.len() {
            let position = samples.position(index);
            let pieces = |plane: usize| (position.planes[plane] | position.planes[plane + 1]).len() as f32;
            let side = rules.pieces_at_start(Player::First) as f32;
            assert_eq!(samples.margin[index], (pieces(0) - pieces(2)) / side);
        }
    }
}

#[test]
fn an_uneven_beginning_makes_no_samples_and_games_keep_their_end() {
    let rules = rules("dutch-8x8");
    let first_turns = |uneven_probability: f64| {
        let starts = StartSettings { uneven_probability, uneven_actions_max: 60 };
        let settings =
            SelfPlaySettings { simulations: 4, opening_probability: 0.0, starts, ..SelfPlaySettings::default() };
        let games = play(&PoolPlan { settings, ..plan(&rules, 1) }, 12);
        for game in &games {
            assert_eq!(game.is_even, uneven_probability == 0.0);
            // The noise is over when the first sample is made: result and margin are those of the end.
            let samples = &game.samples;
            assert!(samples.win_draw_loss.iter().all(|result| result.contains(&1.0)));
            let ends = samples.margin.iter().map(|margin| margin.abs());
            assert!(ends.clone().all(|end| Some(end) == ends.clone().next()), "one margin, of either side");
        }
        games.iter().map(|game| game.samples.turns[0]).collect::<Vec<u32>>()
    };
    assert!(first_turns(0.0).iter().all(|&turn| turn == 0));
    let uneven = first_turns(1.0);
    assert!(uneven.iter().all(|&turn| turn > 0) && uneven.iter().any(|&turn| turn > 20), "{uneven:?}");
}

#[test]
fn a_beginning_leaves_half_of_the_turns_without_a_capture() {
    let quiet = SCALARS.iter().position(|&name| name == "quiet turns, of the limit").unwrap();
    for name in ["savard", "dutch-8x8", "bell", "falkener", "beads"] {
        let mut ruleset = presets::ruleset(name).unwrap();
        ruleset.end.quiet_limit = 11;
        let rules = Arc::new(Rules::new(&ruleset).unwrap());
        for uneven_probability in [0.0, 1.0] {
            let starts = StartSettings { uneven_probability, uneven_actions_max: 60 };
            let settings =
                SelfPlaySettings { simulations: 1, opening_actions_max: 60, starts, ..SelfPlaySettings::default() };
            let games = play(&PoolPlan { settings, ..plan(&rules, 1) }, 20);
            let first = games
                .iter()
                .filter(|game| !game.samples.is_empty())
                .map(|game| game.samples.position(0).scalars[quiet]);
            let most = first.fold(0.0, f32::max);
            assert_eq!(most, 5.0 / 11.0, "{name}: some beginnings end by this rule");
        }
    }
}

#[test]
fn a_quiet_game_is_searched_less() {
    let rules = rules("dutch-8x8");
    let samples = |quiet_full_probability: f64| {
        let playout_cap = PlayoutCapSettings { quiet_full_probability, ..PlayoutCapSettings::default() };
        let settings = SelfPlaySettings { simulations: 4, playout_cap, ..SelfPlaySettings::default() };
        let games = play(&PoolPlan { settings, ..plan(&rules, 1) }, 12);
        let counted = |game: &latrunculi_selfplay::PlayedGame| game.samples.len() as f64 / f64::from(game.action_count);
        games.iter().map(counted).sum::<f64>() / games.len() as f64
    };
    // Among equals hardly anything is ever captured here: a large part of a game is quiet.
    let (all, fewer) = (samples(1.0), samples(0.1));
    assert!(fewer < 0.85 * all, "{fewer} samples an action, {all} where all are kept");
}

#[test]
fn every_shipped_ruleset_can_be_played_by_search_and_teacher() {
    for name in presets::NAMES {
        let rules = rules(name);
        let settings = SelfPlaySettings { simulations: 1, ..SelfPlaySettings::default() };
        let base = PoolPlan { settings, ..plan(&rules, 1) };
        let teacher = Some(TeacherSettings { nodes: 4, ..TeacherSettings::default() });
        assert_eq!(play(&base, 1).len(), 1, "{name}");
        assert_eq!(play(&PoolPlan { teacher, ..base }, 1).len(), 1, "{name}");
    }
}

#[test]
fn a_watcher_can_stop_the_games_and_bad_settings_are_refused() {
    let rules = rules("bell");
    let task = PoolTask { pool: Pool::new(plan(&rules, 6)).unwrap(), quota: Quota::Games(1), journal: None };
    let mut evaluator = StaticEvaluator::default();
    let goes_on = |_: &Progress| false;
    let stopped = play_pools(vec![task], &mut [&mut evaluator], false, &Progress::default(), &goes_on);
    assert!(matches!(stopped, Err(SelfPlayError::Stopped)));
    let settings = SelfPlaySettings { simulations: 0, opening_probability: 2.0, ..SelfPlaySettings::default() };
    let refused = Pool::new(PoolPlan { settings, in_flight: 0, ..plan(&rules, 6) }).unwrap_err().to_string();
    assert_eq!(refused.split("; ").count(), 3, "{refused}");
}

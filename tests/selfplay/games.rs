//! Games: the same key gives the same game, and its targets are right.

use std::sync::Arc;

use latrunculi_data::{Encoder, ReplaySettings, TrainingBatch};
use latrunculi_engine::{Player, Square, SquareSet, Symmetry, presets};
use latrunculi_selfplay::{
    PlayoutCapSettings, Progress, ResignationSettings, SelfPlayError, SelfPlayPlan, SelfPlaySettings, StartSettings,
    SurpriseSettings, TeacherSettings, play_games,
};

use crate::static_evaluator::StaticEvaluator;
use crate::{plan, play, rules};

#[test]
fn neither_actors_nor_batches_nor_threads_change_a_game() {
    let rules = rules("bell");
    let alone = play(&plan(&rules, 1, false), 1);
    assert_eq!(alone.len(), 6);
    for (in_flight, parallel_trees, actors) in [(6, false, 1), (4, true, 1), (2, false, 2), (8, true, 3)] {
        let together = play(&plan(&rules, in_flight, parallel_trees), actors);
        for (one, other) in alone.iter().zip(&together) {
            assert_eq!((one.index, one.outcome, one.action_count), (other.index, other.outcome, other.action_count));
            assert_eq!(one.samples, other.samples);
        }
    }
}

/// Every technique on.
fn techniques() -> SelfPlaySettings {
    SelfPlaySettings {
        simulations: 6,
        temperature_end: 0.2,
        temperature_half_life: 20.0,
        cache_entries: 1 << 10,
        starts: StartSettings { policy_actions_mean: 2.0, fork_probability: 0.5, fork_actions: 10 },
        playout_cap: PlayoutCapSettings { full_probability: 0.5, fast_simulations: 2 },
        surprise: SurpriseSettings { policy_weight: 0.5, value_weight: 0.1 },
        resignation: ResignationSettings { threshold: 0.5, simulations: 1, ..ResignationSettings::default() },
        ..SelfPlaySettings::default()
    }
}

#[test]
fn with_every_technique_on_a_game_depends_on_its_key_alone() {
    let rules = rules("bell");
    let with = |in_flight, parallel_trees, settings: SelfPlaySettings| SelfPlayPlan {
        settings,
        ..plan(&rules, in_flight, parallel_trees)
    };
    let alone = play(&with(1, false, techniques()), 1);
    let no_cache = SelfPlaySettings { cache_entries: 0, ..techniques() };
    for (plan, actors) in
        [(with(6, false, techniques()), 1), (with(3, true, techniques()), 2), (with(2, false, no_cache), 3)]
    {
        for (one, other) in alone.iter().zip(&play(&plan, actors)) {
            assert_eq!(
                (one.outcome, one.action_count, one.resigned),
                (other.outcome, other.action_count, other.resigned)
            );
            assert_eq!(one.samples, other.samples);
        }
    }
    // Fast searches are mostly not learnt from, and what counts does so a whole number of times.
    let decisions: u32 = alone.iter().map(|game| game.action_count).sum();
    let samples: usize = alone.iter().map(|game| game.samples.len()).sum();
    assert!(samples as u32 * 3 < decisions * 2, "{samples} of {decisions}");
    assert!(alone.iter().flat_map(|game| &game.samples.weights).all(|weight| *weight >= 1.0 && weight.fract() == 0.0));
}

#[test]
fn cached_positions_are_not_evaluated_again() {
    let rules = rules("bell");
    let count = |cache_entries: usize| {
        let settings = SelfPlaySettings { simulations: 16, cache_entries, ..SelfPlaySettings::default() };
        let plan = SelfPlayPlan { settings, ..plan(&rules, 6, false) };
        let progress = Progress::default();
        let mut evaluator = StaticEvaluator::new(&rules);
        play_games(&plan, &mut [&mut evaluator], &progress, &|_: &Progress| true).unwrap();
        let load = |number: &std::sync::atomic::AtomicU64| number.load(std::sync::atomic::Ordering::Relaxed);
        (load(&progress.evaluations), load(&progress.cache_hits))
    };
    let (all, none) = count(0);
    let (evaluated, remembered) = count(1 << 16);
    assert_eq!((all, none), (evaluated + remembered, 0));
    assert!(remembered > 0, "transpositions are met");
}

#[test]
fn other_generations_and_seeds_play_other_games() {
    let rules = rules("bell");
    let base = plan(&rules, 6, false);
    let games = play(&base, 1);
    for other in [SelfPlayPlan { generation: 4, ..base.clone() }, SelfPlayPlan { run_seed: 8, ..base.clone() }] {
        let others = play(&other, 1);
        assert!(games.iter().zip(&others).all(|(one, other)| one.samples != other.samples));
    }
}

#[test]
fn targets_are_distributions_and_results_belong_to_the_player_to_act() {
    for name in ["bell", "dutch-8x8", "savard"] {
        let rules = rules(name);
        let base = plan(&rules, 6, false);
        let bootstrap =
            SelfPlayPlan { teacher: Some(TeacherSettings { nodes: 20, ..TeacherSettings::default() }), ..base.clone() };
        for game in
            play(&SelfPlayPlan { games: 2, ..base }, 1).iter().chain(&play(&SelfPlayPlan { games: 2, ..bootstrap }, 1))
        {
            let samples = &game.samples;
            for index in 0..samples.len() {
                let policy = &samples.policy[samples.action_range(index)];
                assert!((policy.iter().sum::<f32>() - 1.0).abs() < 1e-4, "{name}: the policy sums to 1");
                let expected: f32 = samples.search_win_draw_loss[index].iter().sum();
                assert!((expected - 1.0).abs() < 1e-4, "{name}: the expectation sums to 1");
                let result = samples.win_draw_loss[index];
                assert_eq!(result[1] == 1.0, game.outcome.winner.is_none());
                assert_eq!(result.iter().sum::<f32>(), 1.0);
            }
            // Who has more pieces at the end of a blockade is who has won.
            let is_counted = game.outcome.reason == latrunculi_engine::EndReason::Blockade && name == "bell";
            for index in (0..samples.len()).filter(|_| is_counted) {
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
        let plan = SelfPlayPlan { games: 3, teacher, ..plan(&rules, 1, false) };
        for game in play(&plan, 1) {
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
    let games = play(&SelfPlayPlan { games: 8, teacher: Some(uneven), ..plan(&rules, 1, false) }, 1);
    let decisive = games.iter().filter(|game| game.outcome.winner.is_some());
    let winners: Vec<_> = decisive.map(|game| game.outcome.winner).collect();
    assert!(winners.len() >= 6, "{winners:?}");
    assert!(winners.contains(&Some(Player::First)) && winners.contains(&Some(Player::Second)), "either side is weak");
}

#[test]
fn every_shipped_ruleset_can_be_played_by_search_and_teacher() {
    for name in presets::NAMES {
        let rules = rules(name);
        let base = SelfPlayPlan {
            games: 1,
            settings: SelfPlaySettings { simulations: 1, ..SelfPlaySettings::default() },
            ..plan(&rules, 1, false)
        };
        let teacher = Some(TeacherSettings { nodes: 4, ..TeacherSettings::default() });
        assert_eq!(play(&base, 1).len(), 1, "{name}");
        assert_eq!(play(&SelfPlayPlan { teacher, ..base }, 1).len(), 1, "{name}");
    }
}

#[test]
fn a_watcher_can_stop_the_games_and_bad_settings_are_refused() {
    let rules = rules("bell");
    let mut evaluator = StaticEvaluator::new(&rules);
    let base = plan(&rules, 6, false);
    let stopped = play_games(&base, &mut [&mut evaluator], &Progress::default(), &|_: &Progress| false);
    assert!(matches!(stopped, Err(SelfPlayError::Stopped)));
    let settings = SelfPlaySettings { simulations: 0, opening_probability: 2.0, ..SelfPlaySettings::default() };
    let bad = SelfPlayPlan { settings, in_flight: 0, ..base };
    match play_games(&bad, &mut [&mut evaluator], &Progress::default(), &|_: &Progress| true) {
        Err(SelfPlayError::Settings(reasons)) => assert_eq!(reasons.len(), 3, "{reasons:?}"),
        other => panic!("{other:?}"),
    }
}

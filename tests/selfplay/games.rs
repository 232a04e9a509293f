//! Games: the same key gives the same game, and what it teaches is right.

use latrunculi_engine::presets;
use latrunculi_selfplay::{
    AlphaBetaTeaching, Progress, SelfPlayError, SelfPlayPlan, SelfPlaySettings, Teacher, TeacherSettings, play_games,
};

use crate::{plan, play, rules};

#[test]
fn neither_lanes_nor_batches_nor_threads_change_a_game() {
    let rules = rules("bell");
    let alone = play(&plan(&rules, 1, false), 1);
    assert_eq!(alone.len(), 6);
    for (in_flight, parallel_trees, lanes) in [(6, false, 1), (4, true, 1), (2, false, 2), (8, true, 3)] {
        let together = play(&plan(&rules, in_flight, parallel_trees), lanes);
        for (one, other) in alone.iter().zip(&together) {
            assert_eq!((one.index, one.outcome, one.action_count), (other.index, other.outcome, other.action_count));
            assert_eq!(one.samples, other.samples);
        }
    }
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
        let taught = SelfPlayPlan {
            teaching: Some(AlphaBetaTeaching { nodes: 20, ..AlphaBetaTeaching::default() }),
            ..base.clone()
        };
        for game in
            play(&SelfPlayPlan { games: 2, ..base }, 1).iter().chain(&play(&SelfPlayPlan { games: 2, ..taught }, 1))
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
fn every_shipped_ruleset_can_be_played_and_taught() {
    for name in presets::NAMES {
        let rules = rules(name);
        let base = SelfPlayPlan {
            games: 1,
            settings: SelfPlaySettings { simulations: 1, ..SelfPlaySettings::default() },
            ..plan(&rules, 1, false)
        };
        let teaching = Some(AlphaBetaTeaching { nodes: 4, ..AlphaBetaTeaching::default() });
        assert_eq!(play(&base, 1).len(), 1, "{name}");
        assert_eq!(play(&SelfPlayPlan { teaching, ..base }, 1).len(), 1, "{name}");
    }
}

#[test]
fn a_watcher_can_stop_the_games_and_bad_settings_are_refused() {
    let rules = rules("bell");
    let mut teacher = Teacher::new(&rules, TeacherSettings::default());
    let base = plan(&rules, 6, false);
    let stopped = play_games(&base, &mut [&mut teacher], &Progress::default(), &|_| false);
    assert!(matches!(stopped, Err(SelfPlayError::Stopped)));
    let settings = SelfPlaySettings { simulations: 0, opening_share: 2.0, ..SelfPlaySettings::default() };
    let bad = SelfPlayPlan { settings, in_flight: 0, ..base };
    match play_games(&bad, &mut [&mut teacher], &Progress::default(), &|_| true) {
        Err(SelfPlayError::Settings(faults)) => assert_eq!(faults.len(), 3, "{faults:?}"),
        other => panic!("{other:?}"),
    }
}

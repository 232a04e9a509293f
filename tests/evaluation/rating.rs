//! Ratings of many agents: known strengths are found again, and nothing depends on order, threads or breaks.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use latrunculi_engine::presets::rules;
use latrunculi_eval::rating::{
    ErrorKind, FitSettings, Pairing, RatingConfig, RatingProgress, RatingReport, RatingTable, Test, play_rating,
};
use latrunculi_stats::{Confidence, DrawModel, ELO_PER_NAT, GameResult, SeriesResult, WinDrawLoss};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::agents::{on_threads, opened, spec};
use crate::assert_near;

const MODELS: [DrawModel; 2] = [DrawModel::Davidson, DrawModel::RaoKupper];
const STRENGTHS: [f64; 4] = [0.0, 150.0, -80.0, 320.0];
const ADVANTAGE: f64 = 40.0;
const DRAW_PARAMETER: f64 = 0.5;

fn names(count: usize) -> Vec<String> {
    (0..count).map(|agent| format!("agent {agent}")).collect()
}

/// Returns the games of a round robin over `openings` openings with seats swapped, drawn from the model.
fn simulated(model: DrawModel, openings: u64, seed: u64) -> Vec<SeriesResult> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut results = Vec::new();
    for opening in 0..openings {
        for (first, one) in STRENGTHS.into_iter().enumerate() {
            for (second, other) in STRENGTHS.into_iter().enumerate().filter(|&(second, _)| second != first) {
                let delta = (one - other + ADVANTAGE) / ELO_PER_NAT;
                let chances = model.probabilities(delta, DRAW_PARAMETER).expect("a finite difference");
                let drawn: f64 = rng.random();
                let mut games = WinDrawLoss::default();
                games.record(if drawn < chances.win {
                    GameResult::Win
                } else if drawn < chances.win + chances.draw {
                    GameResult::Draw
                } else {
                    GameResult::Loss
                });
                results.push(SeriesResult { first, second, games, opening });
            }
        }
    }
    results
}

#[test]
fn known_strengths_are_found_again() {
    for model in MODELS {
        let settings = FitSettings { model, ..FitSettings::default() };
        let table = RatingTable::fit(&names(4), &simulated(model, 400, 11), &settings).unwrap();
        assert_eq!(table.errors, ErrorKind::ClusteredByOpening);
        assert!(!table.is_regularised && table.separation.len() == 1);
        let order: Vec<&str> = table.agents.iter().map(|rating| rating.agent.as_str()).collect();
        assert_eq!(order, ["agent 3", "agent 1", "agent 0", "agent 2"]);
        for rating in &table.agents {
            let index: usize = rating.agent["agent ".len()..].parse().unwrap();
            let error = if rating.is_anchor { 1e-9 } else { 3.5 * rating.elo.standard_error };
            assert!(error < 60.0);
            assert_near(&rating.agent, rating.elo.value, STRENGTHS[index], error);
            assert_eq!(rating.games.games(), 400 * 6);
        }
        let advantage = table.advantage;
        assert_near("advantage", advantage.value, ADVANTAGE, 3.5 * advantage.standard_error);
        assert_near("draw parameter", table.draw_parameter, DRAW_PARAMETER, 0.06);
        let truth = model.probabilities(ADVANTAGE / ELO_PER_NAT, DRAW_PARAMETER).unwrap();
        let equal = table.equal_strength;
        let truths = [truth.win, truth.draw, truth.loss, truth.score()];
        for (found, truth) in [equal.win, equal.draw, equal.loss, equal.score].into_iter().zip(truths) {
            assert_near("at equal strength", found.value, truth, 3.5 * found.standard_error);
            assert!(found.standard_error < 0.02 && found.interval.contains(found.value));
        }
        assert_near("sum", equal.win.value + equal.draw.value + equal.loss.value, 1.0, 1e-9);
        // The right model fits, and a true advantage is seen.
        assert!(matches!(&table.goodness_of_fit, Test::Done(test) if test.p > 0.001 && test.degrees > 0));
        assert!(matches!(&table.advantage_test, Test::Done(test) if test.p < 1e-6));
        assert!(matches!(&table.constant_advantage_test, Test::Done(test) if test.p > 0.001 && test.degrees == 3));
        assert!(matches!(&table.advantage_by_strength, Test::Done(test) if test.likelihood_ratio.p > 0.001));
    }
}

#[test]
fn intervals_hold_as_often_as_they_say() {
    let truth = DrawModel::Davidson.probabilities(ADVANTAGE / ELO_PER_NAT, DRAW_PARAMETER).unwrap().score();
    let (mut ratings_held, mut scores_held) = (0, 0);
    const REPLICATIONS: u64 = 100;
    for seed in 0..REPLICATIONS {
        let results = simulated(DrawModel::Davidson, 50, 1000 + seed);
        let table = RatingTable::fit(&names(4), &results, &FitSettings::default()).unwrap();
        let strongest = table.agents.iter().find(|rating| rating.agent == "agent 3").unwrap();
        ratings_held += u64::from(strongest.elo.interval.contains(STRENGTHS[3]));
        scores_held += u64::from(table.equal_strength.score.interval.contains(truth));
    }
    // 95 of 100, with a standard deviation of 2.2.
    assert!((88..=100).contains(&ratings_held), "{ratings_held}");
    assert!((88..=100).contains(&scores_held), "{scores_held}");
}

#[test]
fn anchors_stay_and_the_matrix_of_superiority_is_consistent() {
    let results = simulated(DrawModel::Davidson, 80, 5);
    let anchors = BTreeMap::from([(1, 1000.0), (2, 800.0)]);
    let confidence = Confidence::new(0.9).expect("a level");
    let settings = FitSettings { anchors, confidence, ..FitSettings::default() };
    let table = RatingTable::fit(&names(4), &results, &settings).unwrap();
    assert_eq!(table.confidence, 0.9);
    for rating in &table.agents {
        let given = BTreeMap::from([("agent 1", 1000.0), ("agent 2", 800.0)]).get(rating.agent.as_str()).copied();
        assert_eq!(rating.is_anchor, given.is_some());
        match given {
            Some(elo) => assert_eq!((rating.elo.value, rating.elo.standard_error), (elo, 0.0)),
            None => assert!(rating.elo.standard_error > 0.0),
        }
    }
    for (row, likelihoods) in table.superiority.iter().enumerate() {
        assert_eq!(likelihoods[row], None);
        for (column, likelihood) in likelihoods.iter().enumerate() {
            match (likelihood, table.superiority[column][row]) {
                (Some(above), Some(below)) => {
                    assert_near("sum", above + below, 1.0, 1e-9);
                    // Sorted by strength: the upper half is likelier stronger than not.
                    assert!(column < row || *above >= 0.5);
                }
                (None, None) => {
                    assert!(row == column || (table.agents[row].is_anchor && table.agents[column].is_anchor))
                }
                other => panic!("{other:?}"),
            }
        }
    }
}

#[test]
fn who_took_every_point_is_said() {
    let played = [
        (0, 1, [6, 2, 2]),
        (1, 0, [5, 1, 4]),
        (2, 0, [10, 0, 0]),
        (0, 2, [0, 0, 10]),
        (1, 2, [0, 0, 10]),
        (2, 1, [10, 0, 0]),
    ];
    let series = |(opening, (first, second, [wins, draws, losses])): (u64, (usize, usize, [u64; 3]))| SeriesResult {
        first,
        second,
        games: WinDrawLoss::new(wins, draws, losses),
        opening,
    };
    let results: Vec<SeriesResult> = (0..).zip(played).map(series).collect();
    for model in MODELS {
        let settings = FitSettings { model, ..FitSettings::default() };
        let table = RatingTable::fit(&names(3), &results, &settings).unwrap();
        assert!(!table.is_regularised);
        assert_eq!(table.separation, [vec!["agent 2"], vec!["agent 0", "agent 1"]]);
        assert_eq!(table.agents[0].agent, "agent 2");
        let best = table.agents[0].elo;
        assert!(best.value == f64::INFINITY && best.interval.lower > 200.0 && best.interval.upper == f64::INFINITY);
        assert!(best.bound_text(0).is_some_and(|text| text.starts_with("at least +")), "{best:?}");
        assert!(table.superiority[0][1].unwrap() > 0.999);
        // The others are rated by their own games, and from the best they are at most so far.
        let others = RatingTable::fit(&names(2), &results[..2], &settings).unwrap();
        let second = |table: &RatingTable| {
            table.agents.iter().find(|rating| rating.agent == "agent 1").map(|rating| rating.elo.value).unwrap()
        };
        assert_near("the second", second(&table), second(&others), 1e-6);
        let anchored = FitSettings { anchors: BTreeMap::from([(2, 0.0)]), ..settings };
        let below = RatingTable::fit(&names(3), &results, &anchored).unwrap().agents[1].elo;
        assert!(below.bound_text(0).is_some_and(|text| text.starts_with("at most -")), "{below:?}");
        assert!(matches!(&table.advantage_test, Test::Done(_)));
        assert!(matches!(&table.advantage_by_strength, Test::Refused(reason) if reason.contains("took every point")));
        let json = serde_json::to_value(&table).unwrap();
        assert!(json["agents"][0]["elo"]["value"].is_null());
        assert!(
            json["advantage_by_strength"]["refused"].is_string() && json["goodness_of_fit"]["done"]["p"].is_number()
        );
    }
}

fn config(agents: &[&str], pairs: usize) -> RatingConfig {
    RatingConfig { seed: 1, ..RatingConfig::new(agents.iter().map(|text| spec(text)).collect(), pairs) }
}

fn go_on(_: &RatingProgress<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn play(config: &RatingConfig) -> RatingReport {
    play_rating(&rules("bell-8x8"), config, &mut opened, &mut go_on).expect("a rating")
}

const AGENTS: [&str; 3] = ["random", "greedy", "alphabeta:nodes=60"];

#[test]
fn a_round_robin_ranks_agents_in_the_order_of_their_strength() {
    let report = play(&config(&AGENTS, 12));
    let table = report.table.as_ref().unwrap();
    let order: Vec<&str> = table.agents.iter().map(|rating| rating.agent.as_str()).collect();
    assert_eq!(order, ["alphabeta:nodes=60", "greedy", "random"]);
    assert_eq!((report.pairings.len(), report.games_played), (3, 72));
    assert_eq!(report.games, table.agents.iter().map(|rating| rating.games.games()).sum::<u64>() / 2);
    assert_eq!(report.openings_distinct, 12);
    assert!(table.agents[2].is_anchor && table.agents[2].elo.value == 0.0);
}

#[test]
fn the_order_of_the_agents_and_the_threads_change_nothing() {
    let anchored = |agents: [&str; 3], threads| {
        let anchor = agents.iter().position(|&agent| agent == "greedy").unwrap();
        let mut config = RatingConfig { players: on_threads(threads), ..config(&agents, 4) };
        config.fit.anchors = BTreeMap::from([(anchor, 0.0)]);
        let report = play(&config);
        let table = report.table.unwrap();
        table.agents.iter().map(|rating| (rating.agent.clone(), rating.games)).collect::<Vec<_>>()
    };
    let [a, b, c] = AGENTS;
    let ranked = anchored([a, b, c], 1);
    assert_eq!(ranked, anchored([c, a, b], 3));
    assert_eq!(ranked, anchored([b, c, a], 2));
}

#[test]
fn a_gauntlet_plays_one_agent_against_the_others_only() {
    let report = play(&RatingConfig { pairing: Pairing::Gauntlet(1), ..config(&AGENTS, 4) });
    assert_eq!(report.pairings.len(), 2);
    assert!(report.pairings.iter().all(|pairing| pairing.agents.iter().any(|agent| agent == "greedy")));
}

#[test]
fn what_is_no_rating_is_refused() {
    let refused =
        |agents: &[&str]| play_rating(&rules("bell-8x8"), &config(agents, 1), &mut opened, &mut go_on).unwrap_err();
    for (agents, part) in [
        (&["random"][..], "at least two agents"),
        (&["random", "greedy", "random"], "random is named twice"),
        (&["random", "human"], "human against random: human plays only in `latrunculi play`"),
    ] {
        let error = refused(agents).to_string();
        assert!(error.contains(part), "{error}");
    }
    // Nothing but repetitions: no table, and the reason.
    let report =
        play(&RatingConfig { opening_length: Some(0), ..config(&["alphabeta:nodes=1", "alphabeta:depth=1"], 2) });
    assert_eq!(report.table.is_none(), report.refused.is_some());
}

/// Returns ten pairs of games of two agents: the first game is begun by agent 1, who wins; the second by agent 0, who wins or loses.
fn pairs(second_is_won: bool) -> Vec<SeriesResult> {
    let games = |opening, first, won: bool| SeriesResult {
        first,
        second: 1 - first,
        games: WinDrawLoss::new(won.into(), 0, (!won).into()),
        opening,
    };
    (0..10).flat_map(|opening| [games(opening, 1, true), games(opening, 0, second_is_won)]).collect()
}

#[test]
fn pairs_that_one_seat_wins_say_little_of_the_strengths() {
    // Who begins wins, in one pair who comes second: openings agree that the agents are equal.
    let mut results = pairs(true);
    for result in &mut results[..2] {
        result.games = result.games.reversed();
    }
    for model in MODELS {
        let settings = FitSettings { model, ..FitSettings::default() };
        let table = RatingTable::fit(&names(2), &results, &settings).unwrap();
        assert_eq!(table.errors, ErrorKind::FisherInformation);
        let elo = table.agents.iter().find(|rating| !rating.is_anchor).unwrap().elo;
        assert_near("Elo", elo.value, 0.0, 1e-6);
        assert!(elo.interval.lower < -50.0 && elo.interval.upper > 50.0, "{elo:?}");
    }
}

#[test]
fn one_sided_pairs_say_nothing_of_the_advantage() {
    // The stronger agent wins both games of every pair: openings agree, but about the strengths alone.
    let results = pairs(false);
    for model in MODELS {
        let settings = FitSettings { model, ..FitSettings::default() };
        let table = RatingTable::fit(&names(2), &results, &settings).unwrap();
        assert_eq!(table.errors, ErrorKind::FisherInformation);
        let score = table.equal_strength.score;
        assert_near("score", score.value, 0.5, 1e-6);
        assert!(score.interval.lower < 0.3 && score.interval.upper > 0.7, "{score:?}");
        assert!(0.0 <= score.interval.lower && score.interval.upper <= 1.0 && table.advantage.standard_error > 0.0);
    }
}

//! Metrics of whole matches: laws that hold for every game, and planted truths found again.

use std::ops::ControlFlow;
use std::sync::Arc;

use latrunculi_engine::presets::rules;
use latrunculi_engine::record::RecordedResult;
use latrunculi_engine::{Action, GameRecord, GameState, Player, Rules};
use latrunculi_eval::matches::{MatchConfig, play_match};
use latrunculi_eval::metrics::estimates::{MetricEstimate, Rate};
use latrunculi_eval::metrics::material::PieceFeature;
use latrunculi_eval::metrics::{Metrics, MetricsConfig, measure};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::agents::{opened, spec};
use crate::assert_near;
use crate::metrics::{config, measured};

/// Games of two agents that look ahead a little, and record what they see.
fn games_of(ruleset: &str, pairs: usize) -> (Arc<Rules>, Vec<GameRecord>) {
    let rules = rules(ruleset);
    let agents = [spec("alphabeta:nodes=60"), spec("alphabeta:nodes=30")];
    let config = MatchConfig { seed: 3, keep_records: true, ..MatchConfig::new(agents, pairs) };
    let report = play_match(&rules, &config, &mut opened, &mut |_| ControlFlow::Continue(())).expect("a match");
    let games = report.records.into_iter().map(|game| *game.record.expect("kept")).collect();
    (rules, games)
}

fn assert_inside(what: &str, measured: &MetricEstimate) {
    if let Some(interval) = measured.interval {
        assert!(interval.lower <= measured.value && measured.value <= interval.upper, "{what}: {measured:?}");
    }
}

#[test]
fn the_laws_hold_for_placement_binding_and_jumping_rulesets() {
    for ruleset in ["bell-8x8", "beads", "dux-hunt-16", "savard-displacement", "consensus-8x8"] {
        let (rules, games) = games_of(ruleset, 10);
        let metrics = measured(&rules, &games);
        let outcomes = &metrics.outcomes;
        let share: f64 = outcomes.partition.iter().map(|part| part.share.rate).sum();
        assert_near(ruleset, share, 1.0, 1e-12);
        let wins = outcomes.first_wins.rate;
        assert_near(ruleset, outcomes.score.value, wins + (1.0 - outcomes.decisive.rate) / 2.0, 1e-12);
        let bracket = outcomes.score_bracket;
        assert_near(ruleset, bracket.upper - bracket.lower, outcomes.truncated.rate, 1e-12);

        let sample = metrics.sample;
        assert_near(ruleset, metrics.lengths.actions.mean.value * sample.games as f64, sample.actions as f64, 1e-6);
        let ended: u64 = metrics.lengths.hazard.iter().map(|bin| bin.ended.count).sum();
        assert_eq!(ended, sample.games, "{ruleset}");
        let in_phases: u64 = metrics.branching.phases.iter().map(|phase| phase.overall.mean.observations).sum();
        assert_eq!(in_phases, sample.choices, "{ruleset}");
        for phase in &metrics.branching.phases {
            let in_deciles: u64 = phase.deciles.iter().map(|decile| decile.legal.mean.observations).sum();
            assert_eq!(in_deciles, phase.overall.mean.observations, "{ruleset}");
            assert!(phase.overall.geometric_mean.value <= phase.overall.mean.value, "{ruleset}");
            assert_inside(ruleset, &phase.overall.median);
        }
        let is_placement = metrics.branching.phases.len() == 2;
        assert_eq!(metrics.lengths.placement_turns.is_some(), is_placement, "{ruleset}");

        for usage in &metrics.mechanics {
            let what = format!("{ruleset} {:?}", usage.mechanic);
            let actions = |usage: &Rate| (usage.count, usage.trials);
            let (first, second) = (actions(&usage.first.actions.unwrap()), actions(&usage.second.actions.unwrap()));
            let overall = actions(&usage.overall.actions.unwrap());
            assert_eq!((first.0 + second.0, first.1 + second.1), overall, "{what}");
            assert_eq!(usage.never_seen_upper.is_some(), usage.overall.games.count == 0, "{what}");
            assert!(usage.overall.games.interval.contains(usage.overall.games.rate), "{what}");
            assert_inside(&what, &usage.per_game);
        }
        let heat = &metrics.board.heat;
        let pieces = |colour: usize| heat[colour].occupancy.iter().map(|square| square.value).sum::<f64>();
        assert!(pieces(0) > 1.0 && pieces(0) < rules.men_at_start(Player::First) as f64 + 1.0, "{ruleset}");

        let values = metrics.values.expect("alpha-beta records values");
        let last = values.curve.points.last().expect("a curve");
        assert_near(ruleset, last.value, outcomes.score.value, 0.02);
        for point in &values.curve.points {
            let (Some(alone), Some(together)) = (point.pointwise, point.simultaneous) else { continue };
            assert!(together.half_width() > alone.half_width() * 0.9, "{ruleset} {point:?}");
            assert!((0.0..=1.0).contains(&point.value));
        }
        let split = metrics.phase_split;
        assert_eq!(split.is_some(), is_placement, "{ruleset}");
        if let Some(split) = split {
            assert_near(ruleset, split.placement.value + split.movement.value, split.total.value, 1e-12);
        }
    }
}

#[test]
fn the_numbers_do_not_depend_on_threads_but_on_the_seed() {
    let (rules, games) = games_of("dutch-8x8", 8);
    let records: Vec<&GameRecord> = games.iter().collect();
    let on_threads = |threads: usize, config: &MetricsConfig| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| measure(&rules, &records, config).unwrap().unwrap())
    };
    let alone = on_threads(1, &config());
    assert_eq!(alone, on_threads(3, &config()));
    let other = on_threads(2, &MetricsConfig { seed: 1, ..config() });
    assert_eq!(alone.lengths.turns.mean.value, other.lengths.turns.mean.value);
    assert_ne!(alone.lengths.turns.mean.interval, other.lengths.turns.mean.interval);
}

/// The same game with the colours changed and the board turned upside down: the second player begins it.
fn with_colours_changed(rules: &Arc<Rules>, record: &GameRecord) -> GameRecord {
    let start = rules.position_text(&rules.initial_position()).replacen(" 1 ", " 2 ", 1);
    let position = rules.parse_position(&start).expect("a position");
    let mut state = GameState::from_position(Arc::clone(rules), position);
    let [first, second] = record.agents.clone();
    let mut changed = GameRecord::new(&state, [second, first], record.seed);
    for (number, text) in record.actions.iter().enumerate() {
        let turn = |letter: char| letter.to_digit(10).map_or(letter, |rank| char::from(b'9' - rank as u8));
        let action = state.parse_action(&text.chars().map(turn).collect::<String>()).expect("a legal action");
        let value = record.values.get(number).copied().flatten();
        changed.play(&mut state, action, value, None);
    }
    changed.opening = record.opening;
    changed
}

#[test]
fn changing_colours_changes_nothing_but_the_colours() {
    let (rules, games) = games_of("dutch-8x8-noking", 8);
    let changed: Vec<GameRecord> = games.iter().map(|game| with_colours_changed(&rules, game)).collect();
    let (one, mut other) = (measured(&rules, &games), measured(&rules, &changed));
    let (files, ranks) = (rules.files(), rules.ranks());
    let upside_down = |index: usize| (ranks - 1 - index / files) * files + index % files;
    for colour in 0..2 {
        for square in 0..files * ranks {
            let (map, mirrored) = (&one.board.heat[colour], &other.board.heat[1 - colour]);
            assert_eq!(map.moved_to[square], mirrored.moved_to[upside_down(square)]);
            assert_eq!(map.captured_on[square], mirrored.captured_on[upside_down(square)]);
            assert_eq!(map.occupancy[square], mirrored.occupancy[upside_down(square)]);
        }
    }
    other.board.heat = one.board.heat.clone();
    assert_eq!(one, other);
}

/// A game that is given up after one action; what matters is planted in it.
fn given_up_from(state: &GameState, value: Option<f32>, result: RecordedResult) -> GameRecord {
    let mut state = state.clone();
    let mut record = GameRecord::new(&state, ["a".to_owned(), "b".to_owned()], 0);
    let mut legal: Vec<Action> = Vec::new();
    state.legal_actions(&mut legal);
    record.play(&mut state, legal[0], value, None);
    record.result = Some(result);
    record
}

#[test]
fn a_planted_scale_of_values_is_found_again_and_makes_them_calibrated() {
    const SCALE: f64 = 1.7;
    let rules = rules("dutch-8x8");
    let state = GameState::new(Arc::clone(&rules));
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let games: Vec<GameRecord> = (0..3_000)
        .map(|_| {
            let chance: f64 = rng.random_range(0.02..0.98);
            let value = ((chance / (1.0 - chance)).ln() / (2.0 * SCALE)).tanh();
            let wins = rng.random_range(0.0..1.0) < chance;
            given_up_from(&state, Some(value as f32), if wins { RecordedResult::First } else { RecordedResult::Second })
        })
        .collect();
    let values = measured(&rules, &games).values.expect("values");
    let [scale] = &values.scales[..] else { panic!("one agent has values") };
    assert_eq!(scale.agent, "a");
    // A value that is written as 0 says nothing of the scale.
    assert!(scale.scale.observations > 2_990, "{scale:?}");
    assert_near("scale", scale.scale.value, SCALE, 0.12);
    assert!(scale.scale.interval.unwrap().contains(SCALE), "{scale:?}");
    let calibration = &values.calibration_at_start;
    // A chance p that is known costs p(1 − p): over [0.02, 0.98] that is 0.1736 on average.
    assert_near("Brier score", calibration.brier.value, 0.1736, 0.01);
    assert_near("Brier score of the mean", calibration.brier_of_mean, 0.25, 0.01);
    assert!(calibration.expected_calibration_error < 0.03, "{calibration:?}");
    assert_eq!(calibration.bins.len(), 10);
    assert_near("gap", values.start_gap.value, 0.0, 0.03);
}

#[test]
fn planted_piece_values_are_found_again() {
    let (tempo, man) = (0.2, 0.3);
    let rules = rules("dutch-8x8-noking");
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    let squares: Vec<String> = rules.board().iter().map(|square| rules.square_text(square)).collect();
    let mut games = Vec::new();
    for _ in 0..2_500 {
        let mut free = squares.clone();
        let mut men = [0; 2].map(|_: u32| rng.random_range(3..=9));
        let mut lists = men.map(|count| {
            let list: Vec<String> = (0..count).map(|_| free.swap_remove(rng.random_range(0..free.len()))).collect();
            list.join(",")
        });
        if rng.random_range(0.0..1.0) < 0.5 {
            men.reverse();
            lists.reverse();
        }
        let pieces = format!("M:{} m:{}", lists[0], lists[1]);
        let position = rules.parse_pieces(&pieces, Player::First).expect("a position");
        let expected = (tempo + man * (f64::from(men[0]) - f64::from(men[1]))).tanh();
        let wins = rng.random_range(0.0..1.0) < (1.0 + expected) / 2.0;
        let result = if wins { RecordedResult::First } else { RecordedResult::Second };
        games.push(given_up_from(&GameState::from_position(Arc::clone(&rules), position), None, result));
    }
    let values = measured(&rules, &games).piece_values.expect("piece values");
    // Where something can be taken the position is not quiet.
    assert!(values.positions > 500 && values.positions < 2_500, "{}", values.positions);
    let weight = |feature: PieceFeature| values.weights.iter().find(|weight| weight.feature == feature);
    let men = weight(PieceFeature::Men).expect("men differ");
    assert!(men.weight.interval.unwrap().contains(man), "{men:?}");
    assert_near("a man in men", men.in_men.unwrap().value, 1.0, 1e-12);
    let first = weight(PieceFeature::Tempo).expect("there is always a tempo");
    assert!(first.weight.interval.unwrap().contains(tempo), "{first:?}");
    assert_near("tempo in men", first.in_men.unwrap().value, tempo / man, 0.35);
    assert!(weight(PieceFeature::Mobility).unwrap().weight.interval.unwrap().contains(0.0));
    assert!(weight(PieceFeature::Dux).is_none() && weight(PieceFeature::BoundMen).is_none());
}

#[test]
fn games_of_other_rules_and_no_games_are_errors() {
    let (rules, games) = games_of("dutch-8x8", 1);
    let other = latrunculi_engine::presets::rules("beads");
    let fault = measure(&other, &[&games[0]], &config()).expect_err("other rules").to_string();
    assert!(fault.starts_with("game 1: "), "{fault}");
    assert!(measure(&rules, &[], &config()).unwrap().is_none());
    let mut unfinished = games[0].clone();
    unfinished.actions.truncate(9);
    unfinished.values.truncate(9);
    unfinished.efforts.truncate(9);
    (unfinished.result, unfinished.reason) = (None, None);
    assert!(measure(&rules, &[&unfinished], &config()).unwrap().is_none());
    let metrics = measure(&rules, &[&games[0], &unfinished], &config()).unwrap().unwrap();
    assert_eq!((metrics.sample.games, metrics.sample.unfinished), (1, 1));
}

#[test]
fn metrics_are_written_and_read_back_as_json() {
    let (rules, games) = games_of("savard-delayed", 3);
    let metrics = measured(&rules, &games);
    let text = serde_json::to_string(&metrics).expect("JSON");
    let read: Metrics = serde_json::from_str(&text).expect("the same");
    assert_eq!((read.sample, &read.omitted), (metrics.sample, &metrics.omitted));
    assert_eq!(read.mechanics.len(), metrics.mechanics.len());
    assert_near("score", read.outcomes.score.value, metrics.outcomes.score.value, 1e-12);
}

//! What games are like: numbers counted by hand, mechanisms told apart, published distributions.

use std::sync::Arc;

use latrunculi_engine::presets::rules;
use latrunculi_engine::record::RecordedResult;
use latrunculi_engine::{Action, GameRecord, GameState, Player, Rules, RulesetFile};
use latrunculi_eval::metrics::diversity::DiversitySource;
use latrunculi_eval::metrics::estimates::Rate;
use latrunculi_eval::metrics::mechanics::Mechanic;
use latrunculi_eval::metrics::outcomes::OutcomeClass;
use latrunculi_eval::metrics::{GamePhase, Metrics, MetricsConfig, measure};

use crate::assert_near;

pub(crate) fn config() -> MetricsConfig {
    MetricsConfig { replications: 200, ..MetricsConfig::default() }
}

pub(crate) fn measured(rules: &Arc<Rules>, games: &[GameRecord]) -> Metrics {
    measure(rules, &games.iter().collect::<Vec<_>>(), &config()).expect("games of these rules").expect("games")
}

/// Two men a side on 4x4; a side with one man left has lost.
fn tiny_rules() -> Arc<Rules> {
    let text = "id = \"tiny\"\nname = \"Tiny\"\nsummary = \"For tests.\"\nsource = \"none\"\n\
                [board]\nfiles = 4\nranks = 4\n\
                [setup]\nmode = \"array\"\narray = \".m../..../M.M./...m\"\n\
                [end]\neliminate_at = 1\nno_move = \"loss\"\n[dux]\ncapture = \"never\"\n";
    Arc::new(RulesetFile::parse(text).expect("a ruleset").rules())
}

fn play_on(state: &mut GameState, record: &mut GameRecord, text: &str, value: Option<f32>) {
    let action = state.parse_action(text).expect("a legal action");
    record.play(state, action, value, None);
}

/// A game of these actions; given up with that result if it is not over.
fn game(rules: &Arc<Rules>, actions: &[(&str, Option<f32>)], result: RecordedResult) -> GameRecord {
    game_from(GameState::new(Arc::clone(rules)), actions, result)
}

fn game_from(mut state: GameState, actions: &[(&str, Option<f32>)], result: RecordedResult) -> GameRecord {
    let mut record = GameRecord::new(&state, ["south".to_owned(), "north".to_owned()], 0);
    for &(text, value) in actions {
        play_on(&mut state, &mut record, text, value);
    }
    if state.outcome().is_none() {
        record.result = Some(result);
    }
    record
}

/// A short win of the first player, and a longer game that he gives up.
fn two_games(rules: &Arc<Rules>) -> [GameRecord; 2] {
    let won = [("c2-c3", None), ("b4-b3", None), ("a2-a3", None)];
    // The second player walks in between two enemies, and back.
    let given_up =
        [("c2-c1", None), ("b4-b3", None), ("c1-c2", None), ("b3-b2", None), ("a2-a1", None), ("b2-b3", None)];
    [game(rules, &won, RecordedResult::Draw), game(rules, &given_up, RecordedResult::Second)]
}

fn count_of(rate: &Rate) -> (u64, u64) {
    (rate.count, rate.trials)
}

#[test]
fn two_games_on_a_tiny_board_have_the_numbers_counted_by_hand() {
    let rules = tiny_rules();
    let metrics = measured(&rules, &two_games(&rules));
    let sample = metrics.sample;
    assert_eq!((sample.games, sample.openings, sample.actions, sample.choices), (2, 2, 9, 9));

    let outcomes = &metrics.outcomes;
    let partition: Vec<_> = outcomes.partition.iter().map(|part| (part.class, part.reason.as_str())).collect();
    assert_eq!(partition, [(OutcomeClass::FirstWin, "eliminated"), (OutcomeClass::Adjudicated, "")]);
    assert_eq!(outcomes.score.value, 0.5);
    assert_eq!(count_of(&outcomes.decisive), (2, 2));
    assert_eq!(count_of(&outcomes.first_among_decisive.unwrap()), (1, 2));
    // Of the two games one has a capture, by the first player, who wins it.
    let first = outcomes.first_capture.as_ref().unwrap();
    assert_eq!([&first.by_first, &first.won, &first.drawn].map(count_of), [(1, 1), (1, 1), (0, 1)]);

    let lengths = &metrics.lengths;
    assert_eq!((lengths.actions.mean.value, lengths.turns.mean.value), (4.5, 4.5));
    assert_eq!((lengths.turns.median.value, lengths.turns.p95.value), (3.0, 6.0));
    assert_eq!(lengths.placement_turns, None);
    let hazard: Vec<_> = lengths.hazard.iter().map(|bin| (bin.from_turn, count_of(&bin.ended))).collect();
    assert_eq!(hazard, [(1, (0, 2)), (2, (0, 2)), (3, (1, 2)), (4, (0, 1)), (5, (0, 1)), (6, (1, 1))]);

    // Before the first move a2 and c2 have 3 and 4 moves; and so on.
    let branching = &metrics.branching;
    assert_eq!(count_of(&branching.decision_share), (9, 9));
    let [movement] = &branching.phases[..] else { panic!("there is no placement") };
    assert_eq!(movement.phase, GamePhase::Movement);
    let legal = legal_counts(&rules, &two_games(&rules));
    assert_eq!(legal[0], 7);
    let mean = legal.iter().sum::<u32>() as f64 / 9.0;
    assert_near("legal actions", movement.overall.mean.value, mean, 1e-12);
    let logarithms = legal.iter().map(|&count| f64::from(count).ln()).sum::<f64>() / 9.0;
    assert_near("geometric mean", movement.overall.geometric_mean.value, logarithms.exp(), 1e-12);
    assert_eq!(movement.overall.max, *legal.iter().max().unwrap());

    // c3 a3 and b3; c1 c2 a1 and b3 b2, of 16 squares.
    assert_near("coverage", metrics.board.coverage.value, (3.0 + 5.0) / 32.0, 1e-12);
    let square = |text: &str| rules.parse_square(text).unwrap().index();
    let [south, north] = &metrics.board.heat;
    assert_eq!((south.moved_to[square("a3")].value, north.moved_to[square("b3")].value), (0.5, 1.5));
    assert_eq!((north.captured_on[square("b3")].value, south.captured_on[square("b3")].value), (0.5, 0.0));
    // d1 is never left: it is occupied at the beginning of all 9 turns; a2 of 3 and 5 of them.
    assert_near("d1", north.occupancy[square("d1")].value, 1.0, 1e-12);
    assert_near("a2", south.occupancy[square("a2")].value, 8.0 / 9.0, 1e-12);

    let pieces: Vec<_> = metrics.pieces.second.points.iter().map(|point| (point.turn, point.value)).collect();
    assert_eq!(pieces, [(0, 2.0), (1, 2.0), (2, 2.0), (3, 1.5), (4, 1.5), (5, 1.5), (6, 1.5)]);
    assert_eq!(count_of(&metrics.repetition.positions), (0, 9));
    assert!(metrics.values.is_none() && metrics.phase_split.is_none() && metrics.piece_values.is_none());
    assert_eq!(metrics.omitted.len(), 2, "{:?}", metrics.omitted);
}

fn legal_counts(rules: &Arc<Rules>, games: &[GameRecord]) -> Vec<u32> {
    let mut counts = Vec::new();
    for game in games {
        let count = |_: &GameState, legal: &[Action], _: Action| {
            counts.push(legal.len() as u32);
            Ok(())
        };
        game.replay_among(rules, count).expect("a legal game");
    }
    counts
}

#[test]
fn use_of_mechanisms_is_counted_by_seat_and_by_winner() {
    let rules = tiny_rules();
    let metrics = measured(&rules, &two_games(&rules));
    let mechanics: Vec<Mechanic> = metrics.mechanics.iter().map(|usage| usage.mechanic).collect();
    assert_eq!(mechanics, [Mechanic::Capture, Mechanic::MultipleCapture, Mechanic::SafeEntry]);
    let [capture, multiple, entry] = &metrics.mechanics[..] else { panic!("three mechanisms") };
    assert_eq!((count_of(&capture.overall.games), count_of(&capture.overall.actions.unwrap())), ((1, 2), (1, 9)));
    // The first player makes 2 and 3 actions, the second 1 and 3.
    assert_eq!(count_of(&capture.first.actions.unwrap()), (1, 5));
    assert_eq!(count_of(&capture.second.actions.unwrap()), (0, 4));
    // The winners are the first player of game 1 and the second of game 2.
    assert_eq!(count_of(&capture.winner.unwrap().actions.unwrap()), (1, 5));
    assert_eq!(count_of(&capture.loser.unwrap().games), (0, 2));
    assert_eq!(capture.per_game.value, 0.5);
    assert_eq!(count_of(&entry.second.games), (1, 2));
    assert_eq!(count_of(&entry.first.games), (0, 2));
    let never = multiple.never_seen_upper.unwrap();
    assert_near("never in two games", never, 1.0 - 0.025f64.sqrt(), 1e-12);
    assert_eq!(entry.never_seen_upper, None);
}

/// The mechanisms used by the last of `actions`, which begin with these pieces.
fn used_by_last(ruleset: &str, pieces: &str, actions: &[&str]) -> Vec<Mechanic> {
    let rules = rules(ruleset);
    let position = rules.parse_pieces(pieces, Player::First).expect("a position");
    let actions: Vec<(&str, Option<f32>)> = actions.iter().map(|&text| (text, None)).collect();
    let mut record = game_from(GameState::from_position(Arc::clone(&rules), position), &actions, RecordedResult::Draw);
    record.opening = actions.len() - 1;
    let metrics = measured(&rules, &[record]);
    metrics.mechanics.iter().filter(|usage| usage.overall.games.count > 0).map(|usage| usage.mechanic).collect()
}

#[test]
fn moves_are_told_apart_from_jumps_and_chains() {
    use Mechanic::{DuxMove, Jump, JumpChain};
    assert_eq!(used_by_last("dutch-8x8-noking", "M:c3,c4 m:h8,h7", &["c3-c5"]), [Jump]);
    assert_eq!(used_by_last("dutch-8x8-noking", "M:c3,c4 m:h8,h7", &["c4-c5"]), []);
    assert_eq!(used_by_last("savard", "M:c1,c2,c4 D:h1 m:a8,b8 d:h8", &["c1-c5"]), [Jump, JumpChain]);
    assert_eq!(used_by_last("savard", "M:c1,c2,d3 D:h1 m:a8,b8 d:h8", &["c1-e3"]), [Jump, JumpChain]);
    assert_eq!(used_by_last("beads", "M:a1,b1 D:l1 m:a8,b8 d:l8", &["a1-a5"]), []);
    assert_eq!(used_by_last("beads", "M:b1,c1,h3 D:a1 m:a8,b8 d:l8", &["a1-d1"]), [Jump, DuxMove]);
    assert_eq!(used_by_last("bell-8x8", "M:a1 D:d4 m:d5,h8 d:h1", &["d4-d6"]), [Jump, DuxMove]);
    // What a man may not step back to, he may still jump back to.
    assert_eq!(used_by_last("savard", "M:c4,c3 D:h1 m:a8,b8 d:h8", &["c4-c2"]), [Jump]);
}

#[test]
fn captures_are_told_apart_by_what_held_the_piece() {
    use Mechanic::{Capture, CornerCapture, EnclosureCapture, MultipleCapture};
    assert_eq!(used_by_last("savard", "M:c4,f4 D:h1 m:e4,a8,b8 d:h8", &["c4-d4"]), [Capture]);
    // The piece on d1 has walked in between c1 and e1; the third neighbour takes it.
    assert_eq!(used_by_last("savard", "M:c1,e1,c2 D:h1 m:d1,a8,b8 d:h8", &["c2-d2"]), [Capture, EnclosureCapture]);
    assert_eq!(used_by_last("mac-12x8", "M:a2,c1 D:l4 m:a1,e8 d:f7", &["c1-b1"]), [Capture, CornerCapture]);
    assert_eq!(used_by_last("dutch-8x8-noking", "M:c4,f4,d6 m:e4,d5,h8,h7", &["c4-d4"]), [Capture, MultipleCapture]);
}

#[test]
fn a_piece_that_has_captured_goes_on_or_stops() {
    use Mechanic::{Capture, Continuation, ContinuationCapture, ContinuationDeclined};
    let pieces = "M:c4,f4,d6,e6 m:e4,d5,e5,h8,h7";
    let used = |last| used_by_last("dutch-8x8-noking", pieces, &["c4-d4", last]);
    assert_eq!(used("d4-d3"), [Continuation]);
    assert_eq!(used("d4-e4"), [Capture, Continuation, ContinuationCapture]);
    assert_eq!(used("stop"), [ContinuationDeclined]);
}

#[test]
fn bound_pieces_are_removed_displaced_or_go_free() {
    use Mechanic::{Bound, Capture, Displacement, DuxBound, Released, Removal, SelfBound};
    let beads = "M:d1,f5 D:l1 m:e5,a8 d:l8";
    assert_eq!(used_by_last("beads", beads, &["d1-d5"]), [Bound]);
    assert_eq!(used_by_last("beads", beads, &["d1-d5", "a8-a7", "xe5"]), [Capture, Removal]);
    assert_eq!(used_by_last("beads", beads, &["d1-d5", "a8-a7", "d5-d6"]), [Released]);
    assert_eq!(used_by_last("beads", "M:e1,a1 D:l1 m:d5,f5 d:l8", &["e1-e5"]), [SelfBound]);
    let savard = "M:c4,f4 D:h1 m:e4,a8,b8 d:h8";
    let displaced = &["c4-d4", "a8-a7", "d4-e4"];
    assert_eq!(used_by_last("savard-displacement", savard, displaced), [Capture, Displacement]);
    let enclosing = "M:h7,g7 D:a1 m:a8,b8 d:h8";
    assert_eq!(used_by_last("savard-displacement", enclosing, &["g7-g8"]), [Bound, DuxBound]);
}

#[test]
fn the_dux_is_enclosed_and_a_walled_in_player_passes() {
    let enclosing = "M:h7,g7 D:a1 m:a8,b8 d:h8";
    assert_eq!(used_by_last("dux-hunt-16", enclosing, &["g7-g8"]), [Mechanic::DuxCaptured]);
    assert_eq!(used_by_last("bell-8x8", "M:a1 m:a2,b1,a3,c1", &["pass"]), [Mechanic::ForcedPass]);
}

#[test]
fn a_mechanism_that_the_ruleset_has_not_is_absent() {
    let mechanisms = |ruleset: &str| {
        let rules = rules(ruleset);
        let state = GameState::new(Arc::clone(&rules));
        let mut legal = Vec::new();
        state.legal_actions(&mut legal);
        let first = state.action_text(legal[0]);
        let metrics = measured(&rules, &[game(&rules, &[(&first, None)], RecordedResult::Draw)]);
        metrics.mechanics.iter().map(|usage| format!("{:?}", usage.mechanic)).collect::<Vec<_>>().join(" ")
    };
    for (ruleset, expected) in [
        ("falkener", "Jump Capture MultipleCapture SafeEntry"),
        (
            "bell",
            "Placement Jump Capture Continuation ContinuationCapture ContinuationDeclined SafeEntry DuxMove DuxCaptured ForcedPass",
        ),
        (
            "beads",
            "Jump JumpChain Capture MultipleCapture CornerCapture Bound SelfBound Released Removal DuxMove DuxCaptured ForcedPass",
        ),
    ] {
        assert_eq!(mechanisms(ruleset), expected, "{ruleset}");
    }
}

#[test]
fn effective_actions_are_those_of_the_published_distributions() {
    let rules = rules("bell-8x8");
    let mut state = GameState::new(Arc::clone(&rules));
    let mut record = GameRecord::new(&state, ["a".to_owned(), "b".to_owned()], 0);
    let mut legal = Vec::new();
    for counts in [[1, 1, 1, 1], [4, 2, 1, 1]] {
        state.legal_actions(&mut legal);
        record.note_visits(&state, legal.iter().copied().skip(1).zip(counts));
        record.play(&mut state, legal[1], None, None);
    }
    record.result = Some(RecordedResult::Draw);
    let games = [&record, &record];
    let metrics = measure(&rules, &games, &MetricsConfig { opening_actions: 2, ..config() }).unwrap().unwrap();
    let diversity = metrics.diversity.unwrap();
    assert_eq!(diversity.source, DiversitySource::Visits);
    assert_near("uniform over four", diversity.effective_actions[0].value, 4.0, 1e-9);
    assert_near("a half, a quarter, two eighths", diversity.effective_actions[1].value, 3.3636, 5e-5);
    assert_near("surprisal of both", diversity.entropy.value, 1.386_294 + 2f64.ln(), 1e-6);
    let effective = metrics.branching.phases[0].overall.effective.unwrap();
    assert_near("effective branching", effective.value, ((1.386_294 + 1.213_008) / 2.0f64).exp(), 1e-5);
    assert_eq!(effective.observations, 4);
}

#[test]
fn diversity_goes_as_far_as_half_of_the_games_hold_visits() {
    let rules = rules("bell-8x8");
    let with_visits = |count: usize| {
        let mut state = GameState::new(Arc::clone(&rules));
        let mut record = GameRecord::new(&state, ["a".to_owned(), "b".to_owned()], 0);
        let mut legal = Vec::new();
        for number in 0..6 {
            state.legal_actions(&mut legal);
            if number < count {
                record.note_visits(&state, legal.iter().map(|&action| (action, 1)));
            }
            record.play(&mut state, legal[number], None, None);
        }
        record.result = Some(RecordedResult::Draw);
        record
    };
    let games = [2, 3, 3, 5, 0].map(with_visits);
    let diversity = measured(&rules, &games).diversity.unwrap();
    assert_eq!((diversity.source, diversity.actions), (DiversitySource::Visits, 3));
    assert_eq!((diversity.entropy.observations, diversity.effective_actions.len()), (3, 3));
    assert_near("three uniform choices", diversity.entropy.value, (64.0 * 63.0 * 62.0f64).ln(), 1e-9);
}

#[test]
fn mirror_images_count_once_in_reduced_diversity() {
    let rules = rules("bell-8x8");
    let config = MetricsConfig { opening_actions: 1, ..config() };
    let state = GameState::new(Arc::clone(&rules));
    let mut legal = Vec::new();
    state.legal_actions(&mut legal);
    // All 64 squares alike: four orbits of four on the diagonals, six of eight beside them.
    let mut record = game(&rules, &[], RecordedResult::Draw);
    record.note_visits(&state, legal.iter().map(|&action| (action, 1)));
    record.play(&mut state.clone(), legal[0], None, None);
    let diversity = measure(&rules, &[&record], &config).unwrap().unwrap().diversity.unwrap();
    assert_near("plain", diversity.effective_actions[0].value, 64.0, 1e-9);
    let reduced = 0.25 * 16f64.ln() + 0.75 * 8f64.ln();
    assert_near("reduced", diversity.effective_actions_reduced[0].value, reduced.exp(), 1e-9);
    assert_near("reduced surprisal of a corner", diversity.entropy_reduced.value, 16f64.ln(), 1e-9);

    // Without visits: shares ½, ¼, ¼ and, a1 and h8 being mirror images, ¾, ¼; with Miller and Madow's correction.
    let games = ["@a1", "@a1", "@h8", "@b1"].map(|text| game(&rules, &[(text, None)], RecordedResult::Draw));
    let diversity = measure(&rules, &games.each_ref(), &config).unwrap().unwrap().diversity.unwrap();
    assert_eq!(diversity.source, DiversitySource::Counts);
    assert_near("plain", diversity.entropy.value, 1.5 * 2f64.ln() + 2.0 / 8.0, 1e-12);
    let reduced = 2.0 * 2f64.ln() - 0.75 * 3f64.ln() + 1.0 / 8.0;
    assert_near("reduced", diversity.entropy_reduced.value, reduced, 1e-12);
    assert_near("effective", diversity.effective_actions[0].value, diversity.entropy.value.exp(), 1e-12);
}

#[test]
fn headlines_say_the_numbers_in_words() {
    let rules = tiny_rules();
    let headlines = measured(&rules, &two_games(&rules)).headlines();
    let said = |name: &str| headlines.iter().find(|(known, _)| *known == name).map(|(_, text)| text.as_str());
    assert_eq!(said("games"), Some("2 from 2 openings"));
    assert_eq!(said("first player").unwrap().split(' ').nth(1), Some("0.500"));
    assert!(
        said("ended by").unwrap().starts_with("first wins (men captured down to the limit) 50.0 % ["),
        "{headlines:?}"
    );
    assert!(said("length").unwrap().contains("nine in ten: 3 to 6"), "{headlines:?}");
    assert!(said("used").unwrap().contains("safe entry between two enemies 50.0 %"), "{headlines:?}");
    assert!(said("perhaps used").unwrap().starts_with("several captured at once 0.0 % [0.0, "), "{headlines:?}");
    assert_eq!(said("lead changes"), None);
}

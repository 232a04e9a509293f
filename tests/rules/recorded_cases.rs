//! The engine against every recorded case, game and leaf count.

use latrunculi_engine::{GameState, Player, conformance, perft, presets};

fn assert_all_pass(text: &str) {
    assert_all_pass_but(text, &[]);
}

/// Asserts that what `refused` names fails for the reason beside it, and nothing else fails.
fn assert_all_pass_but(text: &str, refused: &[(&str, &str)]) {
    let is_refused = |id: &str, failure: &str| refused.iter().any(|(name, why)| *name == id && failure.contains(why));
    let reports = conformance::run_file(text, &presets::ruleset).expect("the file can be read");
    let failures = reports.iter().filter_map(|report| Some((&report.id, report.failure.as_ref()?)));
    let (refusals, failures): (Vec<_>, Vec<_>) = failures.partition(|(id, failure)| is_refused(id, failure));
    assert!(failures.is_empty(), "{} of {} failed:\n{failures:#?}", failures.len(), reports.len());
    assert_eq!(refusals.len(), refused.len(), "{refusals:#?}");
}

#[test]
fn every_worked_case_comes_out_as_it_must() {
    assert_all_pass(include_str!("cases/rules.json"));
}

#[test]
fn every_recorded_game_has_the_same_legal_actions() {
    assert_all_pass(include_str!("cases/traces.jsonl"));
}

#[test]
fn every_recorded_game_of_mixed_rules_has_the_same_legal_actions() {
    assert_all_pass(include_str!("cases/traces_mix.jsonl"));
}

#[test]
fn every_recorded_game_in_which_readings_differed_has_the_same_legal_actions_or_is_refused() {
    let refused = [("savard-displacement-mix771002-2", "capture.release: \"effective\" does not say")];
    assert_all_pass_but(include_str!("cases/differences.jsonl"), &refused);
}

#[test]
fn shipped_rulesets_equal_those_of_the_cases() {
    let cases: serde_json::Value = serde_json::from_str(include_str!("cases/rules.json")).unwrap();
    for (id, values) in cases["rulesets"].as_object().unwrap() {
        let expected = conformance::ruleset_from_values(id, values.as_object().unwrap()).unwrap();
        let shipped = presets::ruleset(id).unwrap_or_else(|| panic!("{id} is not shipped"));
        for parameter in latrunculi_engine::parameters::PARAMETERS {
            assert_eq!(parameter.value_in(&shipped), parameter.value_in(&expected), "{id}: {}", parameter.name);
        }
    }
}

#[test]
fn every_leaf_count_agrees() {
    let mut lines = 0;
    for line in include_str!("cases/perft.tsv").lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let rules = presets::rules(fields[0]);
        let state = if fields[1] == "initial" {
            GameState::new(rules)
        } else {
            let position = rules.parse_pieces(fields[1], Player::First).unwrap();
            GameState::from_position(rules, position)
        };
        assert_eq!(perft::perft(&state, fields[2].parse().unwrap()), fields[3].parse::<u64>().unwrap(), "{line}");
        lines += 1;
    }
    assert!(lines > 70, "only {lines} lines were read");
}

#[test]
fn deep_leaf_counts_agree() {
    for (id, depth, leaves) in [("dutch", 4, 91_809), ("savard", 4, 175_913)] {
        let rules = presets::rules(id);
        assert_eq!(perft::perft(&GameState::new(rules), depth), leaves, "{id}");
    }
}

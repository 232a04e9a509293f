//! The reference against the rule cases: worked positions, random games, leaf counts.

#![allow(clippy::unwrap_used, reason = "a test may fail loudly")]

use std::collections::BTreeMap;
use std::path::PathBuf;

use latrunculi_engine::{Rules, conformance};
use serde_json::{Map, Value};

use crate::reference::Reference;

/// Reads a file of `tests/rules/cases`.
fn read_case_file(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/rules/cases").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn rules_json() -> Value {
    serde_json::from_str(&read_case_file("rules.json")).unwrap()
}

/// The parameters of a case: its ruleset with single parameters replaced.
fn parameters(rulesets: &Value, case: &Value) -> Map<String, Value> {
    let name = case["ruleset"].as_str().unwrap();
    let mut parameters = rulesets[name].as_object().unwrap().clone();
    if let Some(overrides) = case["overrides"].as_object() {
        parameters.extend(overrides.clone());
    }
    parameters
}

/// Whether the program refuses rules, so that nothing says how they are played.
fn is_refused(parameters: &Map<String, Value>) -> bool {
    Rules::new(&conformance::ruleset_from_values("mixed", parameters).unwrap()).is_err()
}

fn start(parameters: &Map<String, Value>, case: &Value) -> Reference {
    let position = case["position"].as_str().unwrap();
    if position == "initial" {
        return Reference::new(parameters);
    }
    let side = u8::try_from(case["side_to_move"].as_u64().unwrap()).unwrap();
    let quiet_turns = case["quiet_turns"].as_u64().unwrap_or(0);
    Reference::from_position(parameters, position, side, usize::try_from(quiet_turns).unwrap())
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

fn sorted_texts(value: &Value) -> Vec<String> {
    let mut texts = texts(value);
    texts.sort();
    texts
}

/// The pieces of a position text by square.
fn by_square(pieces: &str) -> BTreeMap<String, String> {
    let mut standing = BTreeMap::new();
    for group in pieces.split_whitespace() {
        let (letter, squares) = group.split_once(':').unwrap();
        for square in squares.split(',') {
            standing.insert(square.to_owned(), letter.to_owned());
        }
    }
    standing
}

/// Compares the legal actions with what a case says of them.
fn check_legal(id: &str, game: &Reference, expected: &Map<String, Value>) {
    let legal = game.legal();
    if let Some(wanted) = expected.get("legal") {
        for action in texts(wanted) {
            assert!(legal.contains(&action), "{id}: {action} must be legal, {legal:?} are");
        }
    }
    if let Some(unwanted) = expected.get("illegal") {
        for action in texts(unwanted) {
            assert!(!legal.contains(&action), "{id}: {action} must be illegal");
        }
    }
    if let Some(count) = expected.get("legal_count") {
        assert_eq!(legal.len() as u64, count.as_u64().unwrap(), "{id}: {legal:?}");
    }
}

/// Compares the state after the actions with what a case says of it.
fn check_after(id: &str, game: &Reference, expected: &Map<String, Value>) {
    let standing = by_square(&game.pieces());
    for (key, value) in expected {
        match key.as_str() {
            "legal" | "illegal" => {}
            "captured" if value.is_null() => {}
            "captured" => assert_eq!(game.captured_by_last(), sorted_texts(value), "{id}"),
            "continuation" => {
                assert_eq!(game.continuation().as_deref(), value.as_str(), "{id}: continuation");
            }
            "next" => assert_eq!(u64::from(game.to_act()), value.as_u64().unwrap(), "{id}: next"),
            "result" => {
                let winner = game.result().map(|(winner, _)| u64::from(winner));
                assert_eq!(winner, value.as_u64(), "{id}: result");
            }
            "reason" => {
                let reason = game.result().map(|(_, reason)| reason);
                assert_eq!(reason.as_deref(), value.as_str(), "{id}: reason");
            }
            "bound" => assert_eq!(game.bound(), sorted_texts(value), "{id}: bound"),
            "pieces" => assert_eq!(standing, by_square(value.as_str().unwrap()), "{id}: pieces"),
            "includes" => {
                for (square, letter) in by_square(value.as_str().unwrap()) {
                    assert_eq!(standing.get(&square), Some(&letter), "{id}: {square}");
                }
            }
            "empty" => {
                for square in value.as_str().unwrap().split(',') {
                    assert!(!standing.contains_key(square), "{id}: {square} must be empty");
                }
            }
            _ => panic!("{id}: {key} is not understood"),
        }
    }
    check_legal(id, game, expected);
}

/// Puts all stones down and writes whose they were: `1122 1D 2D -> player 1 moves`.
fn placement_order(mut game: Reference) -> String {
    let mut order = String::new();
    loop {
        let player = game.to_act();
        let legal = game.legal();
        let middle = legal[legal.len() / 2].clone();
        if middle.starts_with('@') {
            order.push_str(&player.to_string());
        } else if middle.starts_with("D@") {
            order.push_str(&format!(" {player}D"));
        } else {
            return format!("{order} -> player {player} moves");
        }
        game.play(&middle);
    }
}

#[test]
fn reference_agrees_with_every_case() {
    let file = rules_json();
    let cases = file["cases"].as_array().unwrap();
    assert!(!cases.is_empty());
    for case in cases {
        let id = case["id"].as_str().unwrap();
        let mut game = start(&parameters(&file["rulesets"], case), case);
        if let Some(order) = case["placement_order"].as_str() {
            assert_eq!(placement_order(game.clone()), order, "{id}");
        }
        if let Some(before) = case["before"].as_object() {
            check_legal(id, &game, before);
        }
        for action in texts(&case["actions"]) {
            assert!(game.legal().contains(&action), "{id}: {action} among {:?}", game.legal());
            game.play(&action);
        }
        if let Some(after) = case["after"].as_object() {
            check_after(id, &game, after);
        }
    }
}

/// Plays one recorded game and returns how it differs from the record.
fn trace_difference(rulesets: &Value, trace: &Value) -> Result<(), String> {
    let id = trace["id"].as_str().unwrap();
    let overrides = &trace["overrides"];
    let mut game = Reference::new(&parameters(rulesets, trace));
    let actions = texts(&trace["actions"]);
    let counts = texts(&trace["legal"]);
    let movers = trace["movers"].as_str().unwrap().as_bytes();
    for (turn, action) in actions.iter().enumerate() {
        let place = format!("{id} {overrides}, action {turn} ({action}): {}", game.pieces());
        if game.to_act() != movers[turn] - b'0' {
            return Err(format!("{place}: player {} to act", game.to_act()));
        }
        let legal = game.legal();
        let joined = legal.join(",");
        let count = format!("{}:{:08x}", legal.len(), crc32fast::hash(joined.as_bytes()));
        if count != counts[turn] {
            let bound = game.bound();
            return Err(format!("{place}: {count}, not {}: {joined}; bound {bound:?}", counts[turn]));
        }
        game.play(action);
    }
    let (winner, reason) = match game.result() {
        None => (Value::Null, Value::Null),
        Some((winner, reason)) => (Value::from(winner), Value::from(reason)),
    };
    if winner != trace["result"] || reason != trace["reason"] {
        let recorded = format!("{} {}", trace["result"], trace["reason"]);
        return Err(format!("{id} {overrides}: ends {winner} {reason}, not {recorded}"));
    }
    Ok(())
}

fn check_traces(name: &str) {
    let rulesets = rules_json()["rulesets"].take();
    let mut differences = Vec::new();
    for line in read_case_file(name).lines() {
        let trace: Value = serde_json::from_str(line).unwrap();
        if is_refused(&parameters(&rulesets, &trace)) {
            continue;
        }
        differences.extend(trace_difference(&rulesets, &trace).err());
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn reference_agrees_with_every_recorded_game() {
    check_traces("traces.jsonl");
}

#[test]
fn reference_agrees_with_every_recorded_game_of_mixed_parameters() {
    check_traces("traces_mix.jsonl");
}

#[test]
fn reference_agrees_with_every_recorded_game_in_which_readings_differed() {
    check_traces("differences.jsonl");
}

/// Counts the leaves of the action tree; finished games have no children.
fn leaf_count(game: &Reference, depth: u64) -> u64 {
    let legal = game.legal();
    if depth == 1 {
        return legal.len() as u64;
    }
    let child = |action: &String| {
        let mut child = game.clone();
        child.play(action);
        child
    };
    legal.iter().map(|action| leaf_count(&child(action), depth - 1)).sum()
}

#[test]
fn reference_counts_the_recorded_leaves() {
    let rulesets = rules_json()["rulesets"].take();
    for line in read_case_file("perft.tsv").lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let [ruleset, position, depth, leaves] = fields[..] else { panic!("{line}") };
        let parameters = rulesets[ruleset].as_object().unwrap();
        let game = if position == "initial" {
            Reference::new(parameters)
        } else {
            Reference::from_position(parameters, position, 1, 0)
        };
        let counted = leaf_count(&game, depth.parse().unwrap());
        assert_eq!(counted, leaves.parse::<u64>().unwrap(), "{line}");
    }
}

/// Every value of every parameter that a mixed game may have.
const VALUES: &str = r#"{
    "play.first_player": [1, 2],
    "placement.men": [6, 9], "placement.dux": [0, 1], "placement.group": [1, 2, 3],
    "placement.opening_group": [null, 1, 3], "placement.dux_time": ["after_men", "any"],
    "move.lines": ["orthogonal", "all"],
    "man.step": ["all", "forward_sideways", "none"], "dux.step": ["all", "forward_sideways", "none"],
    "man.range": [1, "slide"], "dux.range": [1, "slide"],
    "man.jump_over": [[], ["own"], ["enemy"], ["own", "enemy"]],
    "dux.jump_over": [[], ["own"], ["enemy"], ["own", "enemy"]],
    "man.jump_run": [1, "any"], "dux.jump_run": [1, "any"],
    "man.jump_chain": ["none", "optional", "maximal"], "dux.jump_chain": ["none", "optional", "maximal"],
    "move.jump_over_dux": [true, false], "dux.chain_slides": [false, true],
    "capture.timing": ["immediate", "delayed", "displacement"],
    "capture.lines": ["orthogonal", "all"], "capture.span": [1, "row"],
    "capture.row_with_dux": ["blocks", "spared"], "capture.per_move": ["all", "one"],
    "capture.trigger": ["active", "positional"], "capture.release": ["geometric", "effective"],
    "capture.free_flankers": [false, true], "capture.corner": [false, true],
    "capture.man_by_enclosure": [false, true], "capture.removal": ["replaces_move", "precedes_move"],
    "capture.removal_scope": ["all", "line", "one"],
    "extra.mode": ["none", "optional", "mandatory", "must_capture"],
    "extra.moves": ["piece", "step"], "extra.limit": [null, 1],
    "dux.armed": [true, false], "dux.capture": ["enclosure", "as_man", "never"],
    "dux.enclosure_sides": ["available", "four"], "dux.enclosure_by": ["enemy", "any"],
    "dux.enclosure_trigger": ["active", "positional"], "dux.enclosure_escape": [false, true],
    "end.win_dux": [true, false], "end.eliminate": ["all_men", "all_pieces", "off"],
    "end.eliminate_at": [0, 2], "end.no_move": ["pass", "loss", "draw"], "end.quiet_limit": [0, 20],
    "end.quiet_result": ["draw", "most_pieces"], "end.count_dux": [true, false],
    "end.repetition": ["none", "threefold_draw", "threefold_forbidden", "superko", "shuttle3"],
    "end.max_plies_result": ["draw", "most_pieces"]
}"#;

/// A number below `bound` that depends on the seed and the place alone.
fn drawn(seed: usize, place: &str, bound: usize) -> usize {
    crc32fast::hash(format!("{seed} {place}").as_bytes()) as usize % bound
}

#[test]
fn any_mix_of_parameters_can_be_played_to_an_end() {
    let values: Map<String, Value> = serde_json::from_str(VALUES).unwrap();
    for seed in 0..400 {
        let mut parameters = Map::new();
        for (name, options) in &values {
            let options = options.as_array().unwrap();
            parameters.insert(name.clone(), options[drawn(seed, name, options.len())].clone());
        }
        parameters.insert("setup.mode".into(), "placement".into());
        parameters.insert("board.files".into(), Value::from(5 + drawn(seed, "files", 3)));
        parameters.insert("board.ranks".into(), Value::from(5 + drawn(seed, "ranks", 3)));
        parameters.insert("end.max_plies".into(), Value::from(60));
        let mut game = Reference::new(&parameters);
        let mut step = 0;
        while game.result().is_none() {
            let legal = game.legal();
            assert!(!legal.is_empty(), "{parameters:?}: nothing is legal at {}", game.pieces());
            step += 1;
            game.play(&legal[drawn(seed, &step.to_string(), legal.len())]);
        }
        assert!(game.legal().is_empty(), "{parameters:?}: a finished game goes on");
    }
}

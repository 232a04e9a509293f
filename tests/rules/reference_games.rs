//! The engine against the reference, on random games of shipped and of randomly mixed rules.

use std::sync::Arc;

use latrunculi_engine::parameters::{PARAMETERS, ParameterKind};
use latrunculi_engine::{GameState, Player, Rules, conformance, presets};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Map, Value, json};

use crate::reference::Reference;

/// Plays one random game on both sides and compares all that can be asked of them.
fn compare(values: &Map<String, Value>, seed: u64, actions_max: usize) -> Result<(), String> {
    let ruleset = conformance::ruleset_from_values("mixed", values)?;
    let Ok(rules) = Rules::new(&ruleset) else { return Ok(()) };
    let mut engine = GameState::new(Arc::new(rules));
    if engine.outcome().is_some() {
        // Nobody can move in the opening position; the reference does not judge that before a turn.
        return Ok(());
    }
    let mut reference = Reference::new(values);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut played = Vec::new();
    for _ in 0..actions_max {
        let fail = |what: &str, engine_says: String, reference_says: String| {
            Err(format!(
                "{what}: engine {engine_says}, reference {reference_says}\nrules {}\nseed {seed}, after {}\n{}{}",
                Value::Object(values.clone()),
                played.join(" "),
                engine.drawing(),
                engine.rules().position_text(engine.position())
            ))
        };
        let result =
            engine.outcome().map(|outcome| (outcome.winner.map_or(0, Player::number), outcome.reason.to_string()));
        if result != reference.result() {
            return fail("result", format!("{result:?}"), format!("{:?}", reference.result()));
        }
        if result.is_some() {
            return Ok(());
        }
        let to_act = engine.player_to_act().number();
        if to_act != reference.to_act() {
            return fail("player to act", to_act.to_string(), reference.to_act().to_string());
        }
        let mut actions = Vec::new();
        engine.legal_actions(&mut actions);
        let mut texts: Vec<String> = actions.iter().map(|&action| engine.action_text(action)).collect();
        texts.sort();
        let legal = reference.legal();
        if texts != legal {
            let extra: Vec<&String> = texts.iter().filter(|text| !legal.contains(text)).collect();
            let missing: Vec<&String> = legal.iter().filter(|text| !texts.contains(text)).collect();
            return fail("legal actions", format!("also {extra:?}"), format!("also {missing:?}"));
        }
        let bound = engine.rules().squares_text(engine.position().bound(), " ");
        let mut bound: Vec<&str> = bound.split_whitespace().collect();
        bound.sort_unstable();
        if bound != reference.bound() {
            return fail("bound", format!("{bound:?}"), format!("{:?}", reference.bound()));
        }
        let line = engine.rules().position_text(engine.position());
        let read = engine.rules().parse_position(&line);
        if read.as_ref() != Ok(engine.position()) {
            return fail("position", line, format!("read back {read:?}"));
        }
        let captures: Vec<usize> = (0..actions.len())
            .filter(|&index| !engine.rules().taken_by(engine.position(), actions[index]).is_empty())
            .collect();
        // Captures are rare in random play: they are sought, so that games reach what follows from them.
        let index = if !captures.is_empty() && random.random_bool(0.5) {
            captures[random.random_range(0..captures.len())]
        } else {
            random.random_range(0..actions.len())
        };
        let text = engine.action_text(actions[index]);
        engine.play(actions[index]);
        reference.play(&text);
        played.push(text);
    }
    Ok(())
}

fn shipped_values(id: &str) -> Map<String, Value> {
    let ruleset = presets::ruleset(id).expect("shipped");
    let values = PARAMETERS.iter().map(|parameter| (parameter.name.to_owned(), parameter.value_in(&ruleset).to_json()));
    values.collect()
}

/// Returns a value of the parameter that differs often from the default.
pub(crate) fn random_value(kind: ParameterKind, name: &str, random: &mut ChaCha8Rng) -> Option<Value> {
    Some(match kind {
        ParameterKind::Boolean => json!(random.random_bool(0.5)),
        ParameterKind::Choice(names) => match names[random.random_range(0..names.len())] {
            "1" => json!(1),
            chosen => json!(chosen),
        },
        ParameterKind::Set(names) => {
            json!(names.iter().filter(|_| random.random_bool(0.5)).collect::<Vec<_>>())
        }
        _ => match name {
            "placement.group" => json!(random.random_range(1..=4)),
            "placement.opening_group" => json!(random.random_range(1..=5)),
            "extra.limit" => json!(random.random_range(1..=2)),
            "end.quiet_limit" => json!([0, 12, 40][random.random_range(0..3)]),
            "end.eliminate_at" => json!(random.random_range(0..=3)),
            "end.max_plies" => json!(random.random_range(60..=200)),
            "play.first_player" => json!(random.random_range(1..=2)),
            _ => return None,
        },
    })
}

/// Returns a shipped ruleset with some parameters replaced, often on a small and crowded board.
pub(crate) fn mixed_values(random: &mut ChaCha8Rng, changes: usize) -> Map<String, Value> {
    let mut values = shipped_values(presets::NAMES[random.random_range(0..presets::NAMES.len())]);
    if random.random_bool(0.6) {
        values.insert("board.files".to_owned(), json!(random.random_range(5..=7)));
        values.insert("board.ranks".to_owned(), json!(random.random_range(5..=7)));
        values.insert("setup.mode".to_owned(), json!("placement"));
        values.insert("setup.array".to_owned(), Value::Null);
        values.insert("placement.men".to_owned(), json!(random.random_range(5..=9)));
        values.insert("placement.dux".to_owned(), json!(random.random_range(0..=1)));
    }
    for _ in 0..changes {
        let parameter = &PARAMETERS[random.random_range(0..PARAMETERS.len())];
        if parameter.name == "setup.mode" {
            continue;
        }
        if let Some(value) = random_value(parameter.kind, parameter.name, random) {
            values.insert(parameter.name.to_owned(), value);
        }
    }
    values
}

fn report(failures: &[String], games: usize) {
    let shown: Vec<&str> = failures.iter().take(3).map(String::as_str).collect();
    assert!(failures.is_empty(), "{} of {games} games differ\n\n{}", failures.len(), shown.join("\n\n"));
}

fn games_from_environment(default: usize) -> usize {
    std::env::var("LATRUNCULI_GAMES").ok().and_then(|games| games.parse().ok()).unwrap_or(default)
}

#[test]
fn engine_equals_reference_on_every_shipped_ruleset() {
    let games = games_from_environment(2);
    let mut failures = Vec::new();
    for id in presets::NAMES {
        let values = shipped_values(id);
        for seed in 0..games as u64 {
            failures.extend(compare(&values, seed, 150).err());
        }
    }
    report(&failures, games * presets::NAMES.len());
}

#[test]
fn engine_equals_reference_on_mixed_rules() {
    let games = games_from_environment(150);
    let mut failures = Vec::new();
    for seed in 0..games as u64 {
        let mut random = ChaCha8Rng::seed_from_u64(1_000_000 + seed);
        let changes = random.random_range(1..=12);
        let values = mixed_values(&mut random, changes);
        failures.extend(compare(&values, seed, 150).err());
    }
    report(&failures, games);
}

#[test]
fn engine_equals_reference_where_pieces_are_bound_on_a_small_board() {
    let games = games_from_environment(150);
    let mut failures = Vec::new();
    for seed in 0..games as u64 {
        let mut random = ChaCha8Rng::seed_from_u64(3_000_000 + seed);
        let mut values = shipped_values(["savard-delayed", "savard-displacement"][random.random_range(0..2)]);
        let small = [("board.files", json!(5)), ("board.ranks", json!(5)), ("setup.mode", json!("placement"))];
        let stones = [("setup.array", Value::Null), ("placement.men", json!(7)), ("placement.dux", json!(1))];
        values.extend(small.into_iter().chain(stones).map(|(name, value)| (name.to_owned(), value)));
        values.insert("end.win_dux".to_owned(), json!(false));
        for parameter in PARAMETERS {
            let is_varied = [
                "capture.trigger",
                "capture.release",
                "capture.span",
                "capture.row_with_dux",
                "capture.corner",
                "capture.man_by_enclosure",
                "capture.free_flankers",
                "capture.removal",
                "capture.removal_scope",
                "dux.enclosure_trigger",
                "dux.enclosure_by",
                "dux.armed",
                "dux.jump_over",
                "extra.mode",
            ];
            if is_varied.contains(&parameter.name) {
                let value = random_value(parameter.kind, parameter.name, &mut random).expect("a choice");
                values.insert(parameter.name.to_owned(), value);
            }
        }
        let ruleset = conformance::ruleset_from_values("bound", &values).expect("a ruleset");
        if let Err(refused) = Rules::new(&ruleset) {
            assert!(refused.faults.iter().all(|fault| fault.parameter == "capture.release"), "{refused}");
            continue;
        }
        failures.extend(compare(&values, seed, 300).err());
    }
    report(&failures, games);
}

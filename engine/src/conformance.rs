//! Runs rule cases and recorded games against the engine; tests/rules/cases/README.md describes their files.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::action::Action;
use crate::outcome::Outcome;
use crate::parameters::{Parameter, ParameterValue};
use crate::player::Player;
use crate::position::Phase;
use crate::rules::Rules;
use crate::ruleset::Ruleset;
use crate::squares::SquareSet;
use crate::state::GameState;

/// What one case or trace came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseReport {
    /// The case's name, as `BELL-05`.
    pub id: String,
    /// What went wrong, with the drawn board; `None` when all of it was as expected.
    pub failure: Option<String>,
}

#[derive(Deserialize)]
struct CaseFile {
    rulesets: BTreeMap<String, Map<String, Value>>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    id: String,
    ruleset: String,
    #[serde(default)]
    #[serde(rename = "clause")]
    _clause: String,
    #[serde(default)]
    #[serde(rename = "note")]
    _note: String,
    #[serde(default)]
    overrides: Map<String, Value>,
    position: String,
    side_to_move: u64,
    #[serde(default)]
    quiet_turns: u16,
    #[serde(default)]
    before: Expected,
    #[serde(default)]
    actions: Vec<String>,
    #[serde(default)]
    after: Expected,
    placement_order: Option<String>,
}

/// What a case expects of a position. A key that is there with `null` differs from one that is absent.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expected {
    #[serde(default)]
    legal: Vec<String>,
    #[serde(default)]
    illegal: Vec<String>,
    legal_count: Option<usize>,
    captured: Option<Vec<String>>,
    #[serde(default, deserialize_with = "present")]
    continuation: Option<Option<String>>,
    next: Option<u64>,
    #[serde(default, deserialize_with = "present")]
    result: Option<Option<u64>>,
    reason: Option<String>,
    bound: Option<Vec<String>>,
    pieces: Option<String>,
    includes: Option<String>,
    empty: Option<String>,
}

fn present<'de, T: Deserialize<'de>, D: serde::Deserializer<'de>>(value: D) -> Result<Option<T>, D::Error> {
    T::deserialize(value).map(Some)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Trace {
    id: String,
    ruleset: String,
    #[serde(default)]
    overrides: Map<String, Value>,
    actions: Vec<String>,
    legal: Vec<String>,
    /// One digit per action: the player to act.
    movers: String,
    result: Option<u64>,
    reason: Option<String>,
}

/// Runs every case or trace of a file's `text`. Rulesets that the file does not define are asked of
/// `shipped`.
/// Fails when the text is neither kind of file. What fails inside a case is in its report.
pub fn run_file(text: &str, shipped: &dyn Fn(&str) -> Option<Ruleset>) -> Result<Vec<CaseReport>, String> {
    let first = text.trim_start().lines().next().unwrap_or_default();
    let is_trace = serde_json::from_str::<Map<String, Value>>(first).is_ok_and(|line| line.contains_key("movers"));
    let reports = if is_trace { run_traces(text, shipped)? } else { run_cases(text, shipped)? };
    if reports.is_empty() { Err("the file holds no cases".to_owned()) } else { Ok(reports) }
}

fn run_cases(text: &str, shipped: &dyn Fn(&str) -> Option<Ruleset>) -> Result<Vec<CaseReport>, String> {
    let file: CaseFile = serde_json::from_str(text).map_err(|error| wrong_form(error.line(), &error))?;
    let ruleset = |id: &str| match file.rulesets.get(id) {
        Some(values) => ruleset_from_values(id, values).map(Some),
        None => Ok(shipped(id)),
    };
    Ok(file
        .cases
        .iter()
        .map(|case| {
            let outcome = rules_of(&case.ruleset, &case.overrides, &ruleset).and_then(|rules| run_case(case, &rules));
            CaseReport { id: case.id.clone(), failure: outcome.err() }
        })
        .collect())
}

fn wrong_form(line: usize, error: &serde_json::Error) -> String {
    format!("line {line}: not a rule case file or a trace file: {error}")
}

fn run_traces(text: &str, shipped: &dyn Fn(&str) -> Option<Ruleset>) -> Result<Vec<CaseReport>, String> {
    let ruleset = |id: &str| Ok(shipped(id));
    let mut reports = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let trace: Trace = serde_json::from_str(line).map_err(|error| wrong_form(index + 1, &error))?;
        let outcome = rules_of(&trace.ruleset, &trace.overrides, &ruleset).and_then(|rules| run_trace(&trace, &rules));
        reports.push(CaseReport { id: trace.id, failure: outcome.err() });
    }
    Ok(reports)
}

/// Returns a ruleset from parameter values, all others having their defaults.
/// Error: a sentence that names the first parameter that is unknown or has an impossible value.
pub fn ruleset_from_values(id: &str, values: &Map<String, Value>) -> Result<Ruleset, String> {
    let mut ruleset = Ruleset { id: id.to_owned(), ..Ruleset::default() };
    set_values(&mut ruleset, values)?;
    Ok(ruleset)
}

/// Sets parameters of `ruleset` to `values`.
/// Error: a sentence that names the first parameter that is unknown or has an impossible value.
pub fn set_values(ruleset: &mut Ruleset, values: &Map<String, Value>) -> Result<(), String> {
    for (name, value) in values {
        let parameter = Parameter::named(name).ok_or_else(|| format!("{name} is not a parameter of rulesets"))?;
        let value = ParameterValue::from_json(value).ok_or_else(|| format!("{name}: {value} is not a value"))?;
        parameter.set_in(ruleset, &value).map_err(|fault| format!("{name}: {fault}"))?;
    }
    Ok(())
}

fn rules_of(
    id: &str,
    overrides: &Map<String, Value>,
    ruleset: &dyn Fn(&str) -> Result<Option<Ruleset>, String>,
) -> Result<Arc<Rules>, String> {
    let mut ruleset = ruleset(id)?.ok_or_else(|| format!("there is no ruleset {id:?}"))?;
    set_values(&mut ruleset, overrides)?;
    Rules::new(&ruleset).map(Arc::new).map_err(|error| error.to_string())
}

fn with_board(state: &GameState, message: &str) -> String {
    format!("{message}\n{}", state.drawing())
}

fn legal_texts(state: &GameState) -> Vec<String> {
    let mut actions = Vec::new();
    state.legal_actions(&mut actions);
    actions.into_iter().map(|action| state.action_text(action)).collect()
}

fn play_text(state: &mut GameState, text: &str) -> Result<(), String> {
    let action: Action = state.parse_action(text).map_err(|error| with_board(state, &error.to_string()))?;
    state.play(action);
    Ok(())
}

fn run_case(case: &Case, rules: &Arc<Rules>) -> Result<(), String> {
    let to_act = Player::from_number(case.side_to_move).ok_or("side_to_move is neither 1 nor 2")?;
    let mut state = if case.position == "initial" {
        GameState::new(Arc::clone(rules))
    } else {
        let mut position = rules.parse_pieces(&case.position, to_act).map_err(|error| error.to_string())?;
        position.quiet_turns = case.quiet_turns;
        GameState::from_position(Arc::clone(rules), position)
    };
    if state.player_to_act() != to_act {
        return Err(format!("player {} is to act at the start, not {}", state.player_to_act().number(), to_act));
    }
    if let Some(order) = &case.placement_order {
        let played = placement_order(&mut state);
        if played != *order {
            return Err(format!("stones were placed in the order\n  {played}, expected\n  {order}"));
        }
    }
    check(&state, &case.before).map_err(|message| with_board(&state, &format!("before: {message}")))?;
    for text in &case.actions {
        play_text(&mut state, text)?;
    }
    check(&state, &case.after).map_err(|message| with_board(&state, &format!("after: {message}")))
}

/// Puts all stones down at varying legal squares and tells whose each was.
fn placement_order(state: &mut GameState) -> String {
    let mut order = String::new();
    let mut actions = Vec::new();
    let mut step = 0;
    while state.position().phase() == Phase::Placement && state.outcome().is_none() {
        state.legal_actions(&mut actions);
        step += 7;
        let action = actions[step % actions.len()];
        let player = state.player_to_act().number();
        if state.action_text(action).starts_with('D') {
            order.push_str(&format!(" {player}D"));
        } else {
            order.push_str(&player.to_string());
        }
        state.play(action);
    }
    format!("{order} -> player {} moves", state.player_to_act().number())
}

fn check(state: &GameState, expected: &Expected) -> Result<(), String> {
    let legal = legal_texts(state);
    for text in &expected.legal {
        if !legal.contains(text) {
            return Err(format!("{text} should be legal; legal are {}", legal.join(" ")));
        }
    }
    for text in &expected.illegal {
        if legal.contains(text) {
            return Err(format!("{text} should not be legal"));
        }
    }
    check_equal("number of legal actions", expected.legal_count, legal.len())?;
    if let Some(captured) = &expected.captured {
        check_squares(state, "captured", captured, state.last_taken())?;
    }
    let continuation = state.position().continuation().map(|go_on| state.rules().square_text(go_on.square));
    check_equal("continuation", expected.continuation.clone(), continuation)?;
    check_equal("next player", expected.next, state.player_to_act().number().into())?;
    check_equal("result", expected.result, state.outcome().map(result_number))?;
    let reason = state.outcome().map(|outcome| outcome.reason.to_string());
    check_equal("reason", expected.reason.clone().map(Some), reason)?;
    if let Some(bound) = &expected.bound {
        check_squares(state, "bound", bound, state.position().bound())?;
    }
    if let Some(pieces) = &expected.pieces {
        let expected = state.rules().parse_pieces(pieces, Player::First).map_err(|error| error.to_string())?;
        if (expected.stones, expected.dux) != (state.position().stones, state.position().dux) {
            return Err(format!("the board should be {pieces}, is {}", state.rules().pieces_text(state.position())));
        }
    }
    if let Some(includes) = &expected.includes {
        let expected = state.rules().parse_pieces(includes, Player::First).map_err(|error| error.to_string())?;
        for square in (expected.stones[0] | expected.stones[1]).iter() {
            if expected.piece_at(square) != state.position().piece_at(square) {
                return Err(format!("{} does not hold the piece of {includes}", state.rules().square_text(square)));
            }
        }
    }
    if let Some(empty) = &expected.empty {
        for name in empty.split(',') {
            let square = state.rules().parse_square(name).ok_or_else(|| format!("{name} is not a square"))?;
            if state.position().piece_at(square).is_some() {
                return Err(format!("{name} should be empty"));
            }
        }
    }
    Ok(())
}

fn check_equal<T: PartialEq + std::fmt::Debug>(what: &str, expected: Option<T>, found: T) -> Result<(), String> {
    match expected {
        Some(expected) if expected != found => Err(format!("{what} should be {expected:?}, is {found:?}")),
        _ => Ok(()),
    }
}

fn check_squares(state: &GameState, what: &str, expected: &[String], found: SquareSet) -> Result<(), String> {
    let mut expected_squares = SquareSet::EMPTY;
    for name in expected {
        expected_squares.insert(state.rules().parse_square(name).ok_or_else(|| format!("{name} is not a square"))?);
    }
    if expected_squares != found {
        let found = state.rules().squares_text(found, ",");
        return Err(format!("{what} should be {}, is {found}", expected.join(",")));
    }
    Ok(())
}

fn result_number(outcome: Outcome) -> u64 {
    outcome.winner.map_or(0, |winner| winner.number().into())
}

fn run_trace(trace: &Trace, rules: &Arc<Rules>) -> Result<(), String> {
    let mut state = GameState::new(Arc::clone(rules));
    for (index, text) in trace.actions.iter().enumerate() {
        let place = |message: String| with_board(&state, &format!("action {} ({text}): {message}", index + 1));
        if let Some(outcome) = state.outcome() {
            return Err(place(format!("the game is over already: {}", outcome.reason)));
        }
        let mover = char::from(b'0' + state.player_to_act().number());
        let recorded = Some(trace.movers.chars().nth(index).unwrap_or('-'));
        check_equal("player to act", recorded, mover).map_err(place)?;
        let mut legal = legal_texts(&state);
        legal.sort_unstable();
        let summary = format!("{}:{:08x}", legal.len(), crc32fast::hash(legal.join(",").as_bytes()));
        if trace.legal.get(index) != Some(&summary) {
            let expected = trace.legal.get(index).map_or("nothing", String::as_str);
            return Err(place(format!(
                "legal actions should have the mark {expected}, have {summary}: {}",
                legal.join(" ")
            )));
        }
        play_text(&mut state, text).map_err(|message| format!("action {}: {message}", index + 1))?;
    }
    let result = state.outcome().map(result_number);
    let reason = state.outcome().map(|outcome| outcome.reason.to_string());
    check_equal("result", Some((trace.result, trace.reason.clone())), (result, reason))
        .map_err(|message| with_board(&state, &message))
}

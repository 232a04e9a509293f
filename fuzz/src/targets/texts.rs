//! Texts of the engine: rulesets, positions, cases; texts of agents.

use std::sync::{Arc, OnceLock};

use latrunculi_engine::conformance::run_file;
use latrunculi_engine::{GameState, Player, Position, Rules, RulesetFile, presets};
use latrunculi_eval::AgentSpec;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::text;
use crate::driver::Target;
use crate::mutate::mutated;

/// Most actions of a playout.
const ACTIONS_MAX: usize = 300;

/// A ruleset, its text, and a game of random actions by it.
pub(super) const RULESET: Target = Target {
    name: "ruleset",
    seeds: || {
        presets::NAMES.iter().filter_map(|name| presets::text(name)).map(|text| text.as_bytes().to_vec()).collect()
    },
    mutate: mutated,
    check: |input| {
        let Some(text) = text(input) else { return false };
        let Ok(file) = RulesetFile::parse(text) else { return false };
        let written = file.ruleset.to_toml();
        let again = RulesetFile::parse(&written).expect("what is written is read");
        assert_eq!(again.ruleset, file.ruleset, "a ruleset survives being written");
        let rules = Arc::new(Rules::new(&file.ruleset).expect("what is accepted can be played"));
        play_some(GameState::new(rules), u64::from(crc32fast::hash(input)), ACTIONS_MAX);
        true
    },
};

/// Plays random actions; positions and actions must survive being written.
fn play_some(mut state: GameState, seed: u64, actions_max: usize) {
    let mut stream = ChaCha8Rng::seed_from_u64(seed);
    let mut actions = Vec::new();
    for number in 0..actions_max {
        state.legal_actions(&mut actions);
        assert_eq!(actions.is_empty(), state.outcome().is_some(), "a game goes on while there are actions");
        if actions.is_empty() {
            return;
        }
        let action = actions[stream.random_range(0..actions.len())];
        if number % 16 == 0 {
            let text = state.action_text(action);
            assert_eq!(state.parse_action(&text).expect("its own text"), action, "{text}");
            survives(state.rules(), state.position());
        }
        state.play(action);
    }
}

fn survives(rules: &Rules, position: &Position) {
    let text = rules.position_text(position);
    let again = rules.parse_position(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(again, *position, "{text}");
}

/// Every shipped ruleset; the first byte of an input of positions names one.
fn shipped(input: &[u8]) -> Option<(&'static Arc<Rules>, &str)> {
    static ALL: OnceLock<Vec<Arc<Rules>>> = OnceLock::new();
    let all = ALL.get_or_init(|| presets::NAMES.iter().map(|name| super::rules(name)).collect());
    let (first, line) = input.split_first()?;
    Some((&all[usize::from(*first) % all.len()], text(line)?))
}

/// Positions from games of random actions, of every ruleset.
fn positions(write: fn(&Rules, &Position) -> String) -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (index, name) in presets::NAMES.iter().enumerate() {
        let mut state = GameState::new(super::rules(name));
        let mut stream = ChaCha8Rng::seed_from_u64(index as u64);
        let mut actions = Vec::new();
        for number in 0..120 {
            state.legal_actions(&mut actions);
            if actions.is_empty() {
                break;
            }
            if number % 30 == 0 {
                seeds.push([&[index as u8][..], write(state.rules(), state.position()).as_bytes()].concat());
            }
            state.play(actions[stream.random_range(0..actions.len())]);
        }
    }
    seeds
}

/// Tells whether an input is read as a position, which must survive being written, and from which a game can be played.
fn is_playable(input: &[u8], read: fn(&Rules, &str) -> Option<Position>) -> bool {
    let Some((rules, line)) = shipped(input) else { return false };
    let Some(position) = read(rules, line) else { return false };
    survives(rules, &position);
    play_some(GameState::from_position(Arc::clone(rules), position), u64::from(crc32fast::hash(input)), 24);
    true
}

/// The line of a position, and actions from there on.
pub(super) const POSITION: Target = Target {
    name: "position",
    seeds: || positions(|rules, position| rules.position_text(position)),
    mutate: mutated,
    check: |input| is_playable(input, |rules, line| rules.parse_position(line).ok()),
};

/// A list of pieces.
pub(super) const PIECES: Target = Target {
    name: "pieces",
    seeds: || {
        let mut seeds = positions(|rules, position| rules.pieces_text(position));
        // An empty board is no list of pieces.
        seeds.retain(|seed| shipped(seed).is_some_and(|(rules, line)| rules.parse_pieces(line, Player::First).is_ok()));
        seeds
    },
    mutate: mutated,
    check: |input| is_playable(input, |rules, line| rules.parse_pieces(line, Player::First).ok()),
};

/// The text of an agent.
pub(super) const AGENT: Target = Target {
    name: "agent",
    seeds: || {
        [
            "random",
            "greedy:seed=3",
            "human",
            "alphabeta:nodes=2000",
            "alphabeta:depth=3,nodes=500,seed=7",
            "mcts:sims=50",
            "net:a/b.safetensors,sims=64",
            "net:model.safetensors,sims=8,search=puct,seed=9",
        ]
        .map(|text| text.as_bytes().to_vec())
        .to_vec()
    },
    mutate: mutated,
    check: |input| {
        let Some(text) = text(input) else { return false };
        let Ok(agent) = text.parse::<AgentSpec>() else { return false };
        let written = agent.to_string();
        let again: AgentSpec = written.parse().unwrap_or_else(|error| panic!("{written:?}: {error}"));
        assert_eq!(again, agent, "{written:?}");
        true
    },
};

/// Files of cases and of traces.
pub(super) const CASES: Target = Target {
    name: "cases",
    seeds: || {
        // The whole files are long: a case and a trace stand for them.
        let cases: serde_json::Value =
            serde_json::from_str(include_str!("../../../tests/rules/cases/rules.json")).expect("JSON");
        let small = |case: &serde_json::Value| {
            let name = case["ruleset"].as_str().unwrap_or_default();
            let rulesets = serde_json::json!({ name: cases["rulesets"][name] });
            serde_json::json!({ "rulesets": rulesets, "cases": [case] }).to_string().into_bytes()
        };
        let all = cases["cases"].as_array().expect("a list");
        let traces = include_str!("../../../tests/rules/cases/traces.jsonl");
        all.iter().step_by(9).map(small).chain(traces.lines().take(2).map(|line| line.as_bytes().to_vec())).collect()
    },
    mutate: mutated,
    check: |input| {
        let Some(text) = text(input) else { return false };
        let Ok(reports) = run_file(text, &presets::ruleset) else { return false };
        assert!(!reports.is_empty(), "a file without cases is refused");
        true
    },
};

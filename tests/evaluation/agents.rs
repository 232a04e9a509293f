//! Agents by their texts, and that they are functions of seed and budget.

use std::sync::Arc;

use latrunculi_engine::{GameState, Rules, presets};
use latrunculi_eval::agents::NetworkEvaluator;
use latrunculi_eval::{AgentError, AgentSpec};
use latrunculi_search::evaluators::Uniform;

pub(crate) fn rules(name: &str) -> Arc<Rules> {
    Arc::new(Rules::new(&presets::ruleset(name).expect("shipped")).expect("valid"))
}

pub(crate) fn spec(text: &str) -> AgentSpec {
    text.parse().expect("an agent")
}

pub(crate) fn uniform(_model: &str) -> Result<NetworkEvaluator<'static>, String> {
    Ok(Box::new(Uniform))
}

#[test]
fn agent_texts_are_written_as_they_are_read() {
    for text in [
        "random",
        "random:seed=3",
        "greedy",
        "alphabeta:depth=4",
        "alphabeta:nodes=20000",
        "alphabeta:depth=4,nodes=20000,seed=1",
        "mcts:sims=2000",
        "net:runs/a,b=c/best.safetensors,sims=64",
        "net:best,sims=0,seed=9",
        "human",
    ] {
        assert_eq!(spec(text).to_string(), text);
        assert_eq!(spec(&format!(" {text} ")), spec(text));
    }
    assert_eq!(spec("alphabeta:nodes=20_000"), spec("alphabeta:nodes=20000"));
    assert_eq!(spec("net:best").to_string(), "net:best,sims=64");
}

#[test]
fn a_wrong_agent_text_is_refused_with_what_is_known_and_the_nearest_name() {
    for (text, parts) in [
        ("alfabeta:depth=4", &["no agent \"alfabeta\"", "did you mean alphabeta?", "mcts:sims=2000"][..]),
        ("", &["known are random, greedy"]),
        ("alphabeta", &["needs a limit", "alphabeta:nodes=20000"]),
        ("alphabeta:node=5", &["no setting \"node\"", "did you mean nodes?", "depth=, nodes=, seed="]),
        ("alphabeta:depth=0", &["depth=0", "from 1 to 96"]),
        ("alphabeta:nodes=many", &["nodes=many"]),
        ("alphabeta:depth=2,depth=3", &["given twice"]),
        ("mcts:sims=0", &["sims=0", "from 1"]),
        ("random:sims=3", &["random has no setting"]),
        ("net:", &["needs a model"]),
        ("net:sims=3", &["needs a model"]),
    ] {
        let error = text.parse::<AgentSpec>().unwrap_err().to_string();
        for part in parts {
            assert!(error.contains(part), "{text}: {error} lacks {part}");
        }
    }
}

#[test]
fn every_agent_repeats_its_game_under_the_same_seed() {
    let rules = rules("bell-8x8");
    let play = |text: &str, seed: u64| {
        let mut agent = spec(text).make(&rules, &mut uniform).unwrap();
        agent.new_game(seed);
        let mut state = GameState::new(Arc::clone(&rules));
        let mut texts = Vec::new();
        while texts.len() < 50 && state.outcome().is_none() {
            let choice = agent.choose(&state).unwrap();
            assert!(state.is_legal(choice.action), "{text}");
            assert_eq!(choice.principal_variation.first(), Some(&choice.action), "{text}");
            assert!(choice.value.is_none_or(|value| (-1.0..=1.0).contains(&value)), "{text}");
            texts.push(state.action_text(choice.action));
            state.play(choice.action);
        }
        texts
    };
    for text in ["random", "greedy", "alphabeta:nodes=300", "alphabeta:depth=2", "mcts:sims=10", "net:any,sims=8"] {
        assert_eq!(play(text, 5), play(text, 5), "{text}");
    }
    for text in ["random", "greedy", "mcts:sims=10"] {
        assert_ne!(play(text, 5), play(text, 6), "{text}");
    }
}

#[test]
fn agents_that_cannot_play_here_say_so() {
    let rules = rules("bell");
    assert!(matches!(spec("human").make_alone(&rules), Err(AgentError::Human)));
    let error = spec("net:lost.safetensors").make(&rules, &mut |_| Err("no such file".to_owned())).err().unwrap();
    assert_eq!(error.to_string(), "network \"lost.safetensors\": no such file");
}

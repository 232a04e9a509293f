//! Agents by their texts, and that they are functions of seed and budget.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use latrunculi_engine::presets::rules;
use latrunculi_engine::{Action, GameState, Rules, presets};
use latrunculi_eval::agents::{OpenedNetwork, split_precision};
use latrunculi_eval::{AgentError, AgentSpec, Choice, Players, SearchKind, SearchLimits, SearchOptions};
use latrunculi_search::evaluators::Uniform;
use latrunculi_search::{EvalError, Evaluation, Evaluator};

pub(crate) fn spec(text: &str) -> AgentSpec {
    text.parse().expect("an agent")
}

pub(crate) fn uniform(_model: &str) -> Result<OpenedNetwork<'static>, String> {
    Ok(OpenedNetwork::plain(Box::new(Uniform)))
}

/// A network for games.
pub(crate) fn opened(_rules: &Arc<Rules>, model: &str) -> Result<(String, OpenedNetwork<'static>), String> {
    Ok(("identity".to_owned(), uniform(model)?))
}

pub(crate) fn on_threads(threads: usize) -> Players {
    Players { threads, ..Players::default() }
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
        "net:best,sims=8,search=puct",
        "net:best,sims=8,search=gumbel,seed=9",
        "alphabeta:seconds=0.25",
        "alphabeta:depth=4,seconds=2,seed=1",
        "mcts:seconds=1",
        "mcts:sims=9,memory_mib=1,seed=2",
        "net:best,seconds=0.5,memory_mib=65536",
        "net:best,seconds=0.5",
        "net:best@f32,sims=8",
        "net:runs/v1.5/best,sims=8,seconds=1",
        "human",
    ] {
        assert_eq!(spec(text).to_string(), text);
        assert_eq!(spec(&format!(" {text} ")), spec(text));
    }
    assert_eq!(spec("alphabeta:nodes=20_000"), spec("alphabeta:nodes=20000"));
    assert_eq!(spec("net:best").to_string(), "net:best,sims=64");
    assert_eq!(split_precision("runs/a@b/best@bf16"), ("runs/a@b/best", Some("bf16")));
    assert_eq!(split_precision("@int8"), ("universal", Some("int8")));
    assert_eq!(split_precision("best@64"), ("best@64", None));
    // Without a model it is the one that is part of the program.
    assert_eq!(spec("net").to_string(), "net:universal,sims=64");
    assert_eq!(spec("net:sims=3,seed=2").to_string(), "net:universal,sims=3,seed=2");
}

#[test]
fn a_wrong_agent_text_is_refused_with_what_is_known_and_the_nearest_name() {
    for (text, parts) in [
        ("alfabeta:depth=4", &["no agent \"alfabeta\"", "did you mean alphabeta?", "mcts:sims=2000"][..]),
        ("", &["known are random, greedy"]),
        ("alphabeta", &["needs a limit", "alphabeta:nodes=20000"]),
        ("alphabeta,nodes=5", &["did you mean alphabeta:nodes=5?"]),
        ("net@int8,sims=16", &["did you mean net:@int8,sims=16?"]),
        ("alphabeta:node=5", &["no setting \"node\"", "did you mean nodes?", "depth=, nodes=, seconds=, seed="]),
        ("alphabeta:depth=0", &["depth=0", "from 1 to 96"]),
        ("alphabeta:nodes=many", &["nodes=many"]),
        ("alphabeta:depth=2,depth=3", &["given twice"]),
        ("mcts:sims=0", &["sims=0", "from 1"]),
        ("random:sims=3", &["random has no setting"]),
        ("alphabeta:seconds=0", &["seconds=0", "from 0.01"]),
        ("net:seconds=NaN", &["seconds=NaN", "from 0.01"]),
        ("greedy:seconds=1", &["greedy has no setting"]),
        ("mcts:memory_mib=0", &["memory_mib=0", "from 1 to 65536"]),
        ("alphabeta:depth=2,memory_mib=9", &["alphabeta has no setting"]),
        ("net:best,search=ucb", &["search=ucb", "gumbel or puct"]),
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
    assert!(matches!(spec("human").check_repeats(), Err(AgentError::Human)));
    assert!(matches!(spec("net:seconds=1").check_repeats(), Err(AgentError::Timed { .. })));
    assert!(spec("net:sims=1").check_repeats().is_ok());
    let error = spec("net:lost.safetensors").make(&rules, &mut |_| Err("no such file".to_owned())).err().unwrap();
    assert_eq!(error.to_string(), "network \"lost.safetensors\": no such file");
}

/// Lets a fresh agent think about the beginning of a game; returns its choice and what it told before.
fn thought(text: &str, change: impl FnOnce(&mut SearchOptions<'_>)) -> (Choice, Vec<Choice>) {
    let rules = rules("bell-8x8");
    let mut agent = spec(text).make(&rules, &mut uniform).expect("an agent");
    agent.new_game(3);
    let mut told = Vec::new();
    let mut report = |choice: &Choice| told.push(choice.clone());
    let mut options = SearchOptions::reporting(&mut report);
    change(&mut options);
    let choice = agent.choose_with(&GameState::new(rules), &mut options).expect("a choice");
    (choice, told)
}

#[test]
fn agents_by_the_clock_search_until_their_time_is_over() {
    for text in
        ["alphabeta:seconds=0.3", "mcts:seconds=0.3", "net:any,seconds=0.3", "net:any,search=gumbel,seconds=0.3"]
    {
        let begun = Instant::now();
        let (choice, _) = thought(text, |_| {});
        // Gumbel search stops a little earlier, because it plans its simulations.
        assert!(begun.elapsed() >= Duration::from_millis(50) && choice.effort > 0, "{text}: {}", choice.effort);
        // Another limit counts beside it.
        let few = text
            .replace("seconds=0.3", if text.starts_with('a') { "nodes=50,seconds=60" } else { "sims=50,seconds=60" });
        assert!((1..=50).contains(&thought(&few, |_| {}).0.effort), "{few}");
    }
}

#[test]
fn a_network_searches_by_puct_from_64_simulations_on_and_by_the_clock() {
    let rules = rules("bell-8x8");
    let start = GameState::new(Arc::clone(&rules));
    let of = |simulations| SearchLimits { simulations: Some(simulations), ..SearchLimits::default() };
    let timed = SearchLimits { time: Some(Duration::from_millis(10)), ..SearchLimits::default() };
    let own = SearchLimits::default();
    for (text, limits, kind) in [
        ("net:any,sims=63", own, SearchKind::Gumbel),
        ("net:any,sims=64", own, SearchKind::Puct),
        ("net:any,sims=64", of(63), SearchKind::Gumbel),
        ("net:any,sims=63", of(64), SearchKind::Puct),
        ("net:any,sims=63", timed, SearchKind::Puct),
        ("net:any,seconds=0.01", own, SearchKind::Puct),
        ("net:any,sims=9,seconds=60", own, SearchKind::Gumbel),
        ("net:any,sims=64,search=gumbel", own, SearchKind::Gumbel),
        ("net:any,search=gumbel,seconds=0.01", own, SearchKind::Gumbel),
        ("net:any,sims=9,search=puct", own, SearchKind::Puct),
    ] {
        assert_eq!(thought(text, |options| options.limits = limits).0.search, Some(kind), "{text} {limits:?}");
    }
    // One agent changes from search to search.
    let mut agent = spec("net:any,sims=63").make(&rules, &mut uniform).unwrap();
    agent.new_game(3);
    for simulations in [63, 64, 63] {
        let mut quiet = |_: &Choice| {};
        let mut options = SearchOptions::reporting(&mut quiet);
        options.limits = of(simulations);
        let choice = agent.choose_with(&start, &mut options).unwrap();
        assert_eq!(choice, thought("net:any,sims=63", |options| options.limits = of(simulations)).0, "{simulations}");
    }
}

/// Counts the positions that it is asked for.
struct Counted(Rc<Cell<u64>>);

impl Evaluator<GameState> for Counted {
    fn evaluate(
        &mut self,
        games: &[&GameState],
        legal_actions: &[&[Action]],
        evaluations: &mut [Evaluation],
    ) -> Result<(), EvalError> {
        self.0.set(self.0.get() + games.len() as u64);
        Uniform.evaluate(games, legal_actions, evaluations)
    }
}

#[test]
fn a_network_has_answered_before_the_clock_starts_and_a_search_that_is_over_at_once_is_one() {
    let rules = rules("savard");
    let start = GameState::new(Arc::clone(&rules));
    for text in ["net:any,seconds=0.01", "mcts:seconds=0.01", "alphabeta:seconds=0.01"] {
        let count = Rc::new(Cell::new(0));
        let counted = Rc::clone(&count);
        let mut open = move |_: &str| Ok(OpenedNetwork::plain(Box::new(Counted(Rc::clone(&counted)))));
        let mut agent = spec(text).make(&rules, &mut open).unwrap();
        assert_eq!(count.get(), u64::from(text.starts_with("net")), "{text}");
        let mut quiet = |_: &Choice| {};
        let mut options = SearchOptions::reporting(&mut quiet);
        options.stop = options.stop.until(Instant::now());
        let choice = agent.choose_with(&start, &mut options).unwrap();
        assert_eq!(choice.effort, 1, "{text}: {choice:?}");
    }
}

#[test]
fn progress_reports_change_no_choice() {
    let rules = rules("bell-8x8");
    for text in ["random", "greedy", "alphabeta:nodes=3000", "mcts:sims=200", "net:any,sims=200", "net:any,sims=0"] {
        let mut agent = spec(text).make(&rules, &mut uniform).unwrap();
        agent.new_game(3);
        let quiet = agent.choose(&GameState::new(Arc::clone(&rules))).unwrap();
        let (choice, told) = thought(text, |_| {});
        assert_eq!(choice, quiet, "{text}");
        let efforts: Vec<u64> = told.iter().map(|told| told.effort).collect();
        match text {
            "mcts:sims=200" | "net:any,sims=200" => assert_eq!(efforts, [64, 128], "{text}"),
            "alphabeta:nodes=3000" => {
                let depths: Vec<Option<u32>> = told.iter().map(|told| told.depth).collect();
                assert_eq!(depths, (1..=choice.depth.unwrap()).map(Some).collect::<Vec<_>>());
            }
            _ => assert!(told.is_empty(), "{text}"),
        }
    }
}

#[test]
fn limits_given_with_the_question_replace_those_of_the_agent() {
    let (choice, _) = thought("alphabeta:nodes=3000", |options| options.limits.depth = Some(2));
    assert_eq!(choice.depth, Some(2));
    let (choice, _) = thought("alphabeta:depth=9", |options| options.limits.nodes = Some(500));
    assert!(choice.effort <= 500);
    for text in ["mcts:sims=9", "net:any,sims=9"] {
        let (choice, _) = thought(text, |options| options.limits.simulations = Some(31));
        assert_eq!(choice.effort, 31, "{text}");
    }
}

#[test]
fn a_stopped_agent_answers_with_what_it_has() {
    for text in ["alphabeta:depth=96", "mcts:sims=1000000", "net:any,sims=1000000"] {
        let (choice, told) = thought(text, |options| options.stop.raise());
        assert!(choice.effort <= 1 && told.is_empty(), "{text}: {choice:?}");
    }
}

#[test]
fn alpha_beta_weighs_as_many_actions_as_it_is_asked_for() {
    let (choice, _) = thought("alphabeta:depth=3", |options| options.lines = 4);
    assert_eq!(choice.candidates.len(), 4);
    assert_eq!(choice.candidates[0].action, choice.action);
    assert_eq!(choice.candidates[0].variation, choice.principal_variation);
    assert!(choice.candidates.is_sorted_by(|a, b| a.score >= b.score));
    let (tree, _) = thought("mcts:sims=300", |options| options.lines = 4);
    assert_eq!(tree.candidates.iter().map(|candidate| candidate.visits).sum::<u32>(), 300);
    assert!(tree.candidates.iter().all(|candidate| candidate.variation[0] == candidate.action));
}

#[test]
fn a_changed_ruleset_is_judged_as_the_one_that_it_was_made_from() {
    let base = rules("dutch");
    let mut changed = base.ruleset().clone();
    changed.end.quiet_limit += 1;
    let changed = Arc::new(Rules::new(&changed).expect("valid"));
    let value = |rules: &Arc<Rules>, evaluated_as: &Rules| {
        let mut agent = spec("alphabeta:depth=2").make_evaluated_as(rules, evaluated_as.ruleset()).expect("an agent");
        let mut state = GameState::new(Arc::clone(rules));
        let mut actions = Vec::new();
        for _ in 0..20 {
            state.legal_actions(&mut actions);
            state.play(actions[actions.len() / 3]);
        }
        agent.choose(&state).expect("a choice").value
    };
    // The fitted weights of the base are not those that a ruleset without any of its own gets.
    assert_ne!(value(&base, &base), value(&changed, &changed));
    assert_eq!(value(&base, &base), value(&changed, &base));
}

#[test]
fn greedy_chooses_alike_for_both_players() {
    for name in presets::NAMES {
        let rules = rules(name);
        let start = rules.initial_position();
        let mut game = GameState::from_position(Arc::clone(&rules), start);
        let mut twin = GameState::from_position(Arc::clone(&rules), rules.exchange_sides(&start));
        let mut agents = [spec("greedy"), spec("greedy")].map(|spec| spec.make_alone(&rules).unwrap());
        for agent in &mut agents {
            agent.new_game(5);
        }
        for _ in 0..40 {
            if game.outcome().is_some() {
                break;
            }
            let [action, twin_action] =
                [(0, &game), (1, &twin)].map(|(index, state)| agents[index].choose(state).unwrap().action);
            assert_eq!(rules.exchange_action(game.position(), action), twin_action, "{name}");
            game.play(action);
            twin.play(twin_action);
        }
    }
}

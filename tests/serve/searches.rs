//! Searches: what they answer, what they refuse, and how they end.

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::time::{Duration, Instant};

use latrunculi_engine::{RulesetFile, presets};
use latrunculi_serve::Settings;
use serde_json::{Value, json};

use crate::client::{Served, settings};

#[test]
fn agents_of_every_kind_judge_and_choose() {
    let served = Served::bare();
    let game = json!({ "ruleset": "bell-8x8", "actions": ["@d4"] });
    for agent in
        ["random", "greedy", "alphabeta:nodes=500", "alphabeta:depth=1", "mcts:sims=8", "net:sims=16", "net:sims=0"]
    {
        let news = served.result(&served.search(&game, agent, 60.0));
        assert_eq!(news["phase"], "done", "{agent}: {news}");
        let analysis = &news["analysis"];
        let action = analysis["action"].as_str().expect("an action");
        let played = served.post("/api/game", &json!({ "ruleset": "bell-8x8", "actions": ["@d4", action] }));
        assert_eq!(played.status, 200, "{agent}: {}", played.body);
        let listed = analysis["actions"].as_array().expect("actions");
        if agent.starts_with("net") {
            for share in ["prior", "improved_policy"] {
                let sum: f64 = listed.iter().map(|line| line[share].as_f64().expect("a share")).sum();
                assert!((sum - 1.0).abs() < 1e-3 && analysis["win_draw_loss"].is_array(), "{agent}: {share} {sum}");
            }
        }
        if agent == "alphabeta:nodes=500" {
            assert_eq!(listed.len(), 3, "as many as were asked for");
        }
    }
}

#[test]
fn a_network_that_was_not_trained_on_the_ruleset_is_named() {
    let mut own = presets::ruleset("bell").expect("shipped");
    own.id = "mine".to_owned();
    own.end.quiet_limit = 9;
    let nowhere = Path::new("no such folder");
    let rulesets = vec![RulesetFile::parse(&own.to_toml()).expect("valid")];
    let settings = Settings { rulesets, ..settings(IpAddr::V4(Ipv4Addr::LOCALHOST), nowhere, nowhere) };
    let served = Served::start(settings);
    let notice = |ruleset: &str, agent: &str| {
        let news = served.result(&served.search(&json!({ "ruleset": ruleset }), agent, 60.0));
        assert_eq!(news["phase"], "done", "{news}");
        news["notice"].clone()
    };
    // The second time the network is open already.
    for agent in ["net:sims=0", "net:sims=2"] {
        let said = notice("mine", agent);
        assert!(said.as_str().expect("a sentence").starts_with("universal in mine: the network is near"), "{said}");
    }
    assert_eq!((notice("bell", "net:sims=0"), notice("mine", "greedy")), (Value::Null, Value::Null));
}

#[test]
fn the_same_question_has_the_same_answer_whatever_came_between() {
    let served = Served::bare();
    let ask = |actions: &[&str], agent: &str| {
        let news = served.result(&served.search(&json!({ "ruleset": "dutch-8x8", "actions": actions }), agent, 60.0));
        news["analysis"].clone()
    };
    for agent in ["net:sims=32", "mcts:sims=20", "random", "greedy", "alphabeta:nodes=2000"] {
        let first = ask(&[], agent);
        let second = ask(&[first["action"].as_str().expect("an action")], agent);
        assert_ne!(first["player"], second["player"], "{agent}");
        assert_eq!(ask(&[], agent), first, "{agent}");
    }
}

#[test]
fn a_search_is_stopped_with_what_it_has_found_and_ends_in_time() {
    let served = Served::bare();
    let game = json!({ "ruleset": "savard" });
    let search = served.search(&game, "alphabeta:nodes=20000000", 120.0);
    // Something has been found before it is stopped.
    let mut news = served.get(&search).json();
    while news["analysis"].is_null() {
        news = served.get(&format!("{search}?seen={}", news["version"])).json();
    }
    assert_eq!(served.delete(&search).status, 200);
    let news = served.result(&search);
    assert_eq!((&news["phase"], &news["analysis"]["stopped_early"]), (&json!("done"), &json!(true)));

    let begin = Instant::now();
    let news = served.result(&served.search(&game, "alphabeta:nodes=20000000", 0.2));
    assert_eq!((&news["phase"], &news["analysis"]["stopped_early"]), (&json!("done"), &json!(true)));
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
}

#[test]
fn a_hint_is_that_of_an_agent_that_fits_the_opponent() {
    let served = Served::bare();
    let hint = |opponent: &str| {
        let body = json!({ "game": { "ruleset": "bell-8x8" }, "agent": opponent, "is_hint": true, "seconds": 60 });
        let id = served.post("/api/searches", &body).json()["id"].as_str().expect("an id").to_owned();
        let news = served.result(&format!("/api/searches/{id}"));
        news["analysis"]["agent"].as_str().expect("an agent").to_owned()
    };
    assert_eq!(hint("alphabeta:nodes=500"), "net:universal,sims=400");
    assert_eq!(hint("net:sims=500"), "net:universal,sims=500");
    assert_eq!(hint("human"), "net:universal,sims=400");
}

#[test]
fn a_search_tells_what_it_has_found_meanwhile() {
    let served = Served::bare();
    let search = served.search(&json!({ "ruleset": "savard" }), "net:sims=200000,search=puct,memory_mib=65536", 100.0);
    let (mut efforts, mut news) = (Vec::new(), served.get(&search).json());
    // Not only whenever the simulations have doubled.
    while !efforts.windows(2).any(|pair: &[u64]| pair[0] < pair[1] && pair[1] < 2 * pair[0]) {
        assert!(news["phase"] != "done" && news["phase"] != "failed", "{news} after {efforts:?}");
        efforts.extend(news["analysis"]["effort"].as_u64());
        news = served.get(&format!("{search}?seen={}", news["version"])).json();
    }
    assert!(efforts.is_sorted(), "{efforts:?}");
    served.delete(&search);
    assert_eq!(served.result(&search)["analysis"]["stopped_early"], true);
}

#[test]
fn the_first_search_by_the_clock_is_a_search() {
    let served = Served::bare();
    for (ruleset, agent, seconds) in [
        ("bell", "net:seconds=0.01", 60.0),
        ("savard", "net:sims=1000", 0.001),
        ("savard", "mcts:sims=10000", 0.001),
        ("bell-8x8", "alphabeta:nodes=20000000", 0.001),
    ] {
        let news = served.result(&served.search(&json!({ "ruleset": ruleset }), agent, seconds));
        assert_eq!(news["phase"], "done", "{agent}: {news}");
        assert!(news["analysis"]["effort"].as_u64().expect("a number") > 0, "{agent}: {news}");
        assert_eq!(news["analysis"]["stopped_early"], seconds < 1.0, "{agent}: {news}");
    }
}

#[test]
fn two_searches_run_side_by_side_and_so_many_wait() {
    let served = Served::bare();
    let game = json!({ "ruleset": "savard" });
    let long = served.search(&game, "alphabeta:nodes=20000000", 120.0);
    let short = served.search(&game, "alphabeta:nodes=200", 60.0);
    assert_eq!(served.result(&short)["phase"], "done", "beside the long one");
    assert_eq!(served.get(&long).json()["phase"], "thinking");

    let mut searches = vec![long];
    let refused = loop {
        let body = json!({ "game": game, "agent": "alphabeta:nodes=20000000", "seconds": 120 });
        let answer = served.post("/api/searches", &body);
        if answer.status != 200 {
            break answer;
        }
        searches.push(format!("/api/searches/{}", answer.json()["id"].as_str().expect("an id")));
        assert!(searches.len() < 100, "so many may not wait");
    };
    assert!(refused.refusal(503).contains("waiting"));
    // What has not begun yet is stopped without a result.
    let last = searches.last().expect("a search");
    served.delete(last);
    assert!(served.result(last)["error"].as_str().expect("a reason").contains("before it began"));
}

#[test]
fn what_is_too_much_or_not_offered_is_refused() {
    let served = Served::bare();
    let refusal = |game: serde_json::Value, agent: &str, seconds: f64| {
        let body = json!({ "game": game, "agent": agent, "seconds": seconds });
        served.post("/api/searches", &body).refusal(422)
    };
    let bell = json!({ "ruleset": "bell" });
    assert!(refusal(bell.clone(), "net:sims=1000000", 1.0).contains("200000 simulations"));
    assert!(refusal(bell.clone(), "mcts:sims=1000000", 1.0).contains("200000 simulations"));
    assert!(refusal(bell.clone(), "alphabeta:nodes=100000000", 1.0).contains("20000000 nodes"));
    assert!(refusal(bell.clone(), "random", 1e9).contains("seconds"));
    assert!(refusal(bell.clone(), "human", 1.0).contains("human"));
    assert!(refusal(bell.clone(), "oracle", 1.0).contains("oracle"));
    assert!(refusal(bell, "net:/etc/passwd,sims=1", 1.0).contains("runs/NAME"));
    let over = json!({ "ruleset": "savard", "start": "7d/8/8/8/8/Mm6/2M5/D7 1", "actions": ["c2-c3"] });
    assert!(refusal(over, "random", 1.0).contains("the game is over"));
    served.get("/api/searches/0").refusal(404);
}

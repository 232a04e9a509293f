//! `analyse`, as a user and as a program meets it.

use serde_json::Value;

use crate::support::{Shell, assert_contains, assert_fits};

#[test]
fn alpha_beta_lists_scores_best_first_with_what_follows() {
    let won = "analyse savard --position '7d/8/8/8/8/Mm6/2M5/D7 1'";
    let text = Shell::in_root().prints(&format!("{won} --agent alphabeta:depth=3 --best 3"));
    let parts = ["3  M  m  .", "player 1 to act, alphabeta:depth=3 judges", "value   +1.000", "wins in 1", "looked"];
    assert_contains(&text, &parts);
    assert_fits(&text);
    let rows: Vec<&str> = text.trim_end().lines().rev().take(3).collect();
    assert!(rows[2].starts_with("  1  c2-c3"), "{text}");
    // All are searched equally deep.
    let depth = |row: &&str| row.split("  ").filter(|cell| !cell.is_empty()).nth(4).map(|cell| cell.trim().to_owned());
    let depths: Vec<String> = rows.iter().rev().filter_map(depth).collect();
    assert_eq!(depths, ["3", "3", "3"], "{text}");
}

#[test]
fn one_budget_is_for_all_actions_and_the_best_value_stands_first() {
    for (ruleset, agent) in [("dutch-8x8", "alphabeta:nodes=3000"), ("savard", "alphabeta:nodes=3000,depth=3")] {
        let answer = Shell::in_root().prints_json(&format!("analyse {ruleset} --agent {agent} --best 6"));
        assert!(answer["effort"].as_u64() <= Some(3000), "{answer}");
        let actions = answer["actions"].as_array().expect("actions");
        assert_eq!((actions.len(), &actions[0]["action"]), (6, &answer["action"]));
        let scores: Vec<_> = actions.iter().map(|line| line["score"].as_i64()).collect();
        assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
        assert!(actions.iter().all(|line| line["depth"] == answer["depth"]), "{answer}");
    }
}

#[test]
fn the_network_is_asked_by_puct_unless_its_search_is_named() {
    let shell = Shell::in_root();
    let ask = |agent: &str| shell.prints_json(&format!("analyse savard --agent {agent} --best 1000"));
    let number = |line: &Value, key: &str| line[key].as_f64().expect("a number");
    let sum = |answer: &Value, key: &str| {
        answer["actions"].as_array().expect("actions").iter().map(|line| number(line, key)).sum::<f64>()
    };
    let puct = ask("net:sims=60");
    assert_eq!(
        (puct["search"].as_str(), puct["agent"].as_str()),
        (Some("puct"), Some("net:universal,sims=60,search=puct"))
    );
    let visits: Vec<f64> =
        puct["actions"].as_array().expect("actions").iter().map(|line| number(line, "visits")).collect();
    assert!(visits.is_sorted_by(|a, b| a >= b) && visits.iter().sum::<f64>() == 60.0, "{visits:?}");
    assert_eq!(puct["actions"][0]["visit_share"], visits[0] / 60.0);
    assert!(puct["actions"][0]["improved_policy"].is_null());
    let gumbel = ask("net:sims=60,search=gumbel");
    assert_eq!(gumbel["search"], "gumbel");
    for (answer, key) in [(&puct, "prior"), (&puct, "visit_share"), (&gumbel, "prior"), (&gumbel, "improved_policy")] {
        assert!((sum(answer, key) - 1.0).abs() < 1e-3, "{key}: {answer}");
    }
    // Without a simulation nothing is visited: the network's policy alone.
    let bare = ask("net:sims=0");
    assert!(bare["actions"][0]["visit_share"].is_null(), "{bare}");
    let priors: Vec<f64> =
        bare["actions"].as_array().expect("actions").iter().map(|line| number(line, "prior")).collect();
    assert!(priors.is_sorted_by(|a, b| a >= b), "{priors:?}");

    let text = shell.prints("analyse savard --agent net:sims=60");
    assert_contains(&text, &["prior", "visits", "share"]);
    assert!(!text.contains("improved policy"), "{text}");
    let text = shell.prints("analyse savard --agent net:sims=60,search=gumbel");
    assert_contains(&text, &["improved policy: what training", "stretches small differences"]);
    assert_fits(&text);
}

#[test]
fn the_schema_is_the_same_for_every_agent() {
    let keys = |value: &Value| value.as_object().expect("an object").keys().cloned().collect::<Vec<_>>().join(" ");
    for agent in ["random", "greedy", "alphabeta:nodes=2000", "mcts:sims=100"] {
        let answer = Shell::in_root().prints_json(&format!("analyse --ruleset bell --agent {agent} --best 4"));
        let expected = "action actions agent depth effort player position ruleset score search stopped_early value variation win_draw_loss";
        assert_eq!(keys(&answer), expected);
        let actions = answer["actions"].as_array().expect("actions");
        assert_eq!(keys(&actions[0]), "action depth improved_policy prior score value variation visit_share visits");
        assert_eq!(actions[0]["action"], answer["action"], "{agent}");
        let weighs = !matches!(agent, "random" | "greedy");
        assert_eq!(actions.len(), if weighs { 4 } else { 1 }, "{agent}");
        assert_eq!(answer["effort"].as_u64().expect("a number") > 0, weighs, "{agent}");
        assert_eq!(answer["win_draw_loss"].is_array(), agent.starts_with("mcts"), "{agent}");
        for value in actions.iter().chain([&answer]) {
            assert_eq!(value["depth"].is_number(), agent.starts_with("alphabeta"), "{agent}");
        }
    }
}

#[test]
fn a_position_is_named_by_line_pieces_actions_or_a_place_in_a_recorded_game() {
    let shell = Shell::new();
    let position = |line: &str| {
        let answer = shell.prints_json(&format!("analyse {line} --agent random"));
        answer["position"].as_str().expect("a line").to_owned()
    };
    let played = position("--ruleset savard --actions 'a3-a4 a6-a5'");
    assert_eq!(played, "mmmmmmmm/mmmmmmmm/1mmdmmmm/m7/M7/1MMDMMMM/MMMMMMMM/MMMMMMMM 1 - move - 2 2");
    let pieces = position("--ruleset savard --position 'M:a3,c2 D:a1 m:b3 d:h8' --player 2");
    assert!(pieces.starts_with("7d/8/8/8/8/Mm6/2M5/D7 2 "), "{pieces}");

    for seed in [1, 2] {
        let agents = "--first random --second random";
        shell.prints(&format!("play --ruleset savard {agents} --record games.jsonl --seed {seed}"));
    }
    let at = |game: u32, ply: u32| position(&format!("--record games.jsonl --game {game} --ply {ply}"));
    assert_eq!(at(1, 0), at(2, 0));
    assert_ne!(at(1, 9), at(2, 9));
    let record = &shell.lines("games.jsonl")[1];
    let actions: Vec<&str> = record["actions"].as_array().expect("actions").iter().filter_map(Value::as_str).collect();
    assert_eq!(at(2, 9), position(&format!("--ruleset savard --actions '{}'", actions[..9].join(" "))));
    // Unless another is named, the last state in which there is something to decide.
    assert_eq!(position("--record games.jsonl"), at(2, actions.len() as u32 - 1));
    let end = format!("--ply {}", actions.len());
    for (line, parts) in [
        (end.as_str(), &["the game is over here"][..]),
        ("--game 3", &["holds 2 games"]),
        ("--ply 100000", &["there is no ply 100000"]),
        ("--ruleset bell --ply 1", &["not of \"bell\""]),
    ] {
        shell.refuses(&format!("analyse --record games.jsonl {line}"), 1, parts);
    }
}

#[test]
fn nonsense_is_refused_with_its_reason() {
    for (line, status, part) in [
        ("", 2, "For example: latrunculi analyse dutch-8x8"),
        ("--ruleset bel", 1, "did you mean bell?"),
        ("--ruleset ''", 1, "no ruleset"),
        ("--ruleset bell --position ''", 1, "board is missing"),
        ("--ruleset bell --position '8/8 3'", 1, "7 ranks"),
        ("--ruleset bell --agent human", 1, "play"),
        ("--ruleset bell --agent alphabeta:nodes=-1", 2, "at least 1"),
        ("--ruleset bell --agent net:nowhere.safetensors", 1, "nowhere.safetensors"),
        ("--ruleset bell --best 0", 2, "--best"),
        ("--ruleset bell --best many", 2, "--best"),
        ("--ruleset bell --player 3", 2, "--player"),
        ("--ruleset bell --player 2", 1, "--player is for a list of pieces"),
        ("--ruleset bell --actions '@a1 a1-a2'", 1, "action 2 of --actions"),
        ("--ruleset bell --ply 3", 2, "--record"),
        ("--record no-such-file", 1, "no-such-file"),
        ("--record .", 1, "is not a file"),
        ("--record Cargo.toml", 1, "line 1"),
    ] {
        Shell::in_root().refuses(&format!("analyse {line}"), status, &[part]);
    }
}

#[test]
fn the_first_search_by_the_clock_is_a_search() {
    for agent in ["net:seconds=0.01", "mcts:seconds=0.01", "alphabeta:seconds=0.01"] {
        let answer = Shell::in_root().prints_json(&format!("analyse --ruleset bell --agent {agent}"));
        assert!(answer["effort"].as_u64() > Some(0), "{agent}: {answer}");
    }
}

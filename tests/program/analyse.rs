//! `analyse`, as a user and as a program meets it.

use serde_json::Value;

use crate::support::{assert_refused, complaint, latrunculi, printed};

/// A position in which player 1 takes the last man.
const WON: &str = "7d/8/8/8/8/Mm6/2M5/D7 1";

fn analysis(arguments: &[&str]) -> String {
    let output = latrunculi(&[&["analyse"], arguments].concat());
    assert!(output.status.success(), "{}", complaint(&output));
    printed(&output)
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&analysis(&[arguments, &["--json"]].concat())).expect("JSON")
}

#[test]
fn alpha_beta_lists_scores_best_first_with_what_follows() {
    let text = analysis(&["savard", "--position", WON, "--agent", "alphabeta:depth=3", "--best", "3"]);
    for part in ["3  M  m  .", "player 1 to act, alphabeta:depth=3 judges", "value       +1.000", "wins in 1", "looked"]
    {
        assert!(text.contains(part), "{part:?} is missing from\n{text}");
    }
    let rows: Vec<&str> = text.lines().rev().skip(3).take(3).collect();
    assert!(rows[2].starts_with("  1  c2-c3"), "{text}");
    // Each line tells how far ahead was looked for it: a win in one needs no more.
    let depths: Vec<&str> = rows
        .iter()
        .rev()
        .map(|row| row.split("  ").filter(|cell| !cell.is_empty()).nth(4).expect("a cell").trim())
        .collect();
    assert_eq!(depths, ["1", "3", "3"], "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn the_schema_is_the_same_for_every_agent() {
    let keys = |value: &Value| value.as_object().expect("an object").keys().cloned().collect::<Vec<_>>();
    for agent in ["random", "greedy", "alphabeta:nodes=2000", "mcts:sims=100"] {
        let answer = json(&["--ruleset", "bell", "--agent", agent, "--best", "4"]);
        assert_eq!(
            keys(&answer),
            [
                "action",
                "actions",
                "agent",
                "depth",
                "effort",
                "player",
                "position",
                "ruleset",
                "score",
                "stopped_early",
                "value",
                "variation",
                "win_draw_loss"
            ]
        );
        let actions = answer["actions"].as_array().expect("actions");
        assert_eq!(keys(&actions[0]), ["action", "depth", "policy", "score", "value", "variation", "visits"]);
        assert_eq!(actions[0]["action"], answer["action"], "{agent}");
        let weighs = !matches!(agent, "random" | "greedy");
        assert_eq!(actions.len(), if weighs { 4 } else { 1 }, "{agent}");
        assert_eq!(answer["effort"].as_u64().expect("a number") > 0, weighs, "{agent}");
        assert_eq!(answer["win_draw_loss"].is_array(), agent.starts_with("mcts"), "{agent}");
        assert!(actions.iter().all(|action| action["depth"].is_number() == agent.starts_with("alphabeta")), "{agent}");
        assert_eq!(answer["depth"].is_number(), agent.starts_with("alphabeta"), "{agent}");
    }
}

#[test]
fn a_position_is_named_by_line_pieces_actions_or_a_place_in_a_recorded_game() {
    let position = |arguments: &[&str]| json(&[arguments, &["--agent", "random"]].concat())["position"].clone();
    let played = position(&["--ruleset", "savard", "--actions", "a3-a4 a6-a5"]);
    assert_eq!(played, "mmmmmmmm/mmmmmmmm/1mmdmmmm/m7/M7/1MMDMMMM/MMMMMMMM/MMMMMMMM 1 - move - 2 2");
    let pieces = position(&["--ruleset", "savard", "--position", "M:a3,c2 D:a1 m:b3 d:h8", "--player", "2"]);
    assert!(pieces.as_str().expect("a line").starts_with("7d/8/8/8/8/Mm6/2M5/D7 2 "));

    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("games.jsonl");
    let path = path.to_str().expect("a path");
    let playing = ["play", "--ruleset", "savard", "--first", "random", "--second", "random", "--record", path];
    for seed in ["1", "2"] {
        assert!(latrunculi(&[&playing[..], &["--seed", seed]].concat()).status.success());
    }
    let at = |game: &str, ply: &str| position(&["--record", path, "--game", game, "--ply", ply]);
    assert_eq!(at("1", "0"), at("2", "0"));
    assert_ne!(at("1", "9"), at("2", "9"));
    let records = std::fs::read_to_string(path).expect("records");
    let record: Value = serde_json::from_str(records.lines().nth(1).expect("a game")).expect("JSON");
    let actions: Vec<&str> = record["actions"]
        .as_array()
        .expect("actions")
        .iter()
        .take(9)
        .map(|action| action.as_str().expect("a text"))
        .collect();
    assert_eq!(at("2", "9"), position(&["--ruleset", "savard", "--actions", &actions.join(" ")]));
    let last = record["actions"].as_array().expect("actions").len() - 1;
    let way_back = format!("choose an earlier state with --ply N (0 to {last})");
    assert_refused(&["analyse", "--record", path], 1, &["the game is over here", &way_back]);
    assert_refused(&["analyse", "--record", path, "--game", "3"], 1, &["holds 2 games"]);
    assert_refused(&["analyse", "--record", path, "--ply", "100000"], 1, &["there is no ply 100000"]);
    assert_refused(&["analyse", "--record", path, "--ruleset", "bell", "--ply", "1"], 1, &["not of \"bell\""]);
}

#[test]
fn nonsense_is_refused_with_its_reason() {
    for (arguments, status, word) in [
        (&["analyse"][..], 2, "<RULESET>"),
        (&["analyse", "--ruleset", "bel"], 1, "did you mean bell?"),
        (&["analyse", "--ruleset", ""], 1, "no ruleset"),
        (&["analyse", "--ruleset", "bell", "--position", ""], 1, "board is missing"),
        (&["analyse", "--ruleset", "bell", "--position", "8/8 3"], 1, "7 ranks"),
        (&["analyse", "--ruleset", "bell", "--agent", "human"], 1, "play"),
        (&["analyse", "--ruleset", "bell", "--agent", "alphabeta:nodes=-1"], 2, "at least 1"),
        (&["analyse", "--ruleset", "bell", "--agent", "net:nowhere.safetensors"], 1, "nowhere.safetensors"),
        (&["analyse", "--ruleset", "bell", "--best", "0"], 2, "--best"),
        (&["analyse", "--ruleset", "bell", "--best", "many"], 2, "--best"),
        (&["analyse", "--ruleset", "bell", "--player", "3"], 2, "--player"),
        (&["analyse", "--ruleset", "bell", "--player", "2"], 1, "--player is for a list of pieces"),
        (&["analyse", "--ruleset", "bell", "--actions", "@a1 a1-a2"], 1, "action 2 of --actions"),
        (&["analyse", "--ruleset", "bell", "--ply", "3"], 2, "--record"),
        (&["analyse", "--record", "no-such-file"], 1, "no-such-file"),
        (&["analyse", "--record", "."], 1, "is not a file"),
        (&["analyse", "--record", "Cargo.toml"], 1, "line 1"),
    ] {
        assert_refused(arguments, status, &[word]);
    }
}

#[test]
fn the_first_search_by_the_clock_is_a_search() {
    for agent in ["net:seconds=0.01", "mcts:seconds=0.01", "alphabeta:seconds=0.01"] {
        let answer = json(&["--ruleset", "bell", "--agent", agent]);
        assert!(answer["effort"].as_u64().expect("a number") > 0, "{agent}: {answer}");
    }
}

//! `rate` as a user meets it.

use std::fs;
use std::path::Path;

use crate::support::{complaint, latrunculi, printed};

fn rate(folder: &Path, more: &[&str]) -> std::process::Output {
    let folder = folder.to_str().expect("a path");
    let mut arguments = vec!["rate", "random", "greedy", "alphabeta:nodes=30", "--ruleset", "bell-8x8"];
    arguments.extend(["--games", "6", "--threads", "2", "--out", folder]);
    arguments.extend(more);
    latrunculi(&arguments)
}

#[test]
fn a_rating_leaves_games_and_tables_and_goes_on_from_them() {
    let folder = tempfile::tempdir().unwrap();
    let output = rate(folder.path(), &[]);
    assert!(output.status.success(), "{}", complaint(&output));
    let text = printed(&output);
    for part in ["bell-8x8: 18 games", "95 % interval", "the player who begins, against an equal", "Davidson"] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let (json, csv) = (read("rating.json"), read("rating.csv"));
    assert_eq!(read("games.jsonl").lines().count(), 18);
    // The table says the same as the data.
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    for (line, rating) in csv.lines().skip(1).zip(report["table"]["agents"].as_array().unwrap()) {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells[1].trim_matches('"'), rating["agent"].as_str().unwrap());
        // What the games bound from one side only is empty here and null there.
        let told =
            |number: &serde_json::Value| number.as_f64().map(|number| format!("{number:.3}")).unwrap_or_default();
        let elo = &rating["elo"];
        assert_eq!(
            [cells[2], cells[4], cells[5]],
            [&elo["value"], &elo["interval"]["lower"], &elo["interval"]["upper"]].map(told)
        );
    }
    assert_eq!(csv.lines().count(), 4);

    // Killed: some of the games are lost, the result is the same.
    let games = read("games.jsonl");
    fs::write(folder.path().join("games.jsonl"), &games[..games.len() / 2]).unwrap();
    let again = rate(folder.path(), &["--json", "--quiet"]);
    assert_eq!((printed(&again), read("rating.json")), (json.clone(), json));
    assert_eq!(read("rating.csv"), csv);
    assert!(complaint(&again).is_empty());

    // Another model has the same games to fit.
    let other = rate(folder.path(), &["--model", "rao-kupper", "--csv", "--anchor", "greedy=100"]);
    assert!(printed(&other).contains("\"greedy\",100.000,0.000,100.000,100.000,true"), "{}", printed(&other));
    assert_eq!(read("games.jsonl").lines().count(), 18);
}

#[test]
fn a_rating_with_a_network_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().expect("a path");
    let rate = |games: &str| {
        let output = latrunculi(&[
            "rate",
            "random",
            "net:sims=1",
            "--ruleset",
            "bell-8x8",
            "--games",
            games,
            "--quiet",
            "--json",
            "--out",
            out,
        ]);
        assert!(output.status.success(), "{}", complaint(&output));
        let report: serde_json::Value = serde_json::from_str(&printed(&output)).unwrap();
        (report["games_played"].as_u64(), fs::read_to_string(folder.path().join("games.jsonl")).unwrap())
    };
    let (before, games) = rate("4");
    let (again, same) = rate("4");
    assert_eq!((before, again, &games), (Some(4), Some(4), &same), "nothing is played again");
    let (more, longer) = rate("6");
    assert!(more == Some(6) && longer.starts_with(&games), "{more:?}");
}

#[test]
fn another_rating_is_not_replaced_and_one_with_more_agents_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("rating");
    let rate = |agents: &[&str], ruleset: &str, more: &[&str]| {
        let fixed = ["--games", "4", "--quiet", "--ruleset", ruleset, "--out", out.to_str().expect("a path")];
        latrunculi(&[&["rate"], agents, &fixed, more].concat())
    };
    let output = rate(&["random", "greedy"], "bell-8x8", &[]);
    assert!(output.status.success(), "{}", complaint(&output));
    let read = |name: &str| fs::read(out.join(name)).unwrap();
    let before = ["rating.json", "rating.csv", "games.jsonl"].map(read);
    let own = folder.path().join("own.toml");
    fs::write(&own, "id = \"bell-8x8\"\nbase = \"bell-8x8\"\n[end]\nmax_plies = 77\n").unwrap();
    for (agents, ruleset, more, part) in [
        (&["random", "greedy"][..], "savard", &[][..], "ruleset is \"bell-8x8\" there and \"savard\" here"),
        (&["random", "greedy"], own.to_str().expect("a path"), &[], "ruleset fingerprint is"),
        (&["random", "greedy"], "bell-8x8", &["--seed", "1"], "seed is 0 there and 1 here"),
        (&["random", "greedy"], "bell-8x8", &["--opening", "3"], "opening length is 8 there and 3 here"),
        (&["random", "greedy:seed=1"], "bell-8x8", &[], "greedy against random was played there"),
    ] {
        let refused = rate(agents, ruleset, more);
        assert_eq!(refused.status.code(), Some(1), "{part}");
        assert!(complaint(&refused).contains(part), "{part}: {}", complaint(&refused));
        assert!(complaint(&refused).contains("--out"), "{}", complaint(&refused));
    }
    assert!(before == ["rating.json", "rating.csv", "games.jsonl"].map(read), "all is as it was");
    let three = ["random", "greedy", "greedy:seed=1"];
    assert!(rate(&three, "bell-8x8", &[]).status.success(), "an agent may be added");
    let gauntlet = rate(&three, "bell-8x8", &["--gauntlet", "random"]);
    assert!(complaint(&gauntlet).contains("greedy against greedy:seed=1 was played there"), "{}", complaint(&gauntlet));
    fs::write(out.join("rating.json"), "my notes").unwrap();
    assert!(complaint(&rate(&three, "bell-8x8", &[])).contains("not a rating"));
    assert_eq!(read("rating.json"), b"my notes");
}

#[test]
fn nonsense_is_refused_before_anything_is_played() {
    let refused = |more: &[&str], status: i32, part: &str| {
        let mut arguments = vec!["rate", "--ruleset", "bell-8x8"];
        arguments.extend(more);
        let output = latrunculi(&arguments);
        assert_eq!(output.status.code(), Some(status), "{more:?}");
        assert!(complaint(&output).contains(part), "{more:?}: {}", complaint(&output));
    };
    refused(&["random"], 1, "at least two agents");
    refused(&["random", "human"], 1, "human plays only in `latrunculi play`");
    refused(&["random", "greedy", "random"], 1, "random is named twice");
    refused(&["random", "greedy", "--games", "0"], 1, "--games is a number");
    refused(&["random", "greedy", "--anchor", "mcts:sims=1=0"], 1, "mcts:sims=1 is not among the agents");
    refused(&["random", "greedy", "--gauntlet", "greedy:seed=1"], 1, "greedy:seed=1 is not among the agents");
    refused(&["random", "greedy", "--anchor", "random=0", "--anchor", "random=1"], 1, "two ratings");
    refused(&["random", "greedy", "--anchor", "random"], 2, "random=0");
    refused(&["random", "greedy", "--anchor", "random=NaN"], 2, "random=0");
    refused(&["random", "gredy"], 2, "did you mean greedy?");
    refused(&["random", "greedy", "--model", "elo"], 2, "davidson");
    refused(&["random", "greedy", "--opening", "18446744073709551615"], 2, "--opening");
    refused(&["random", "greedy", "--threads", "99999"], 2, "--threads");
}

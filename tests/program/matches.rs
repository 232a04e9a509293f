//! `match`, as a user meets it.

use std::fs;

use serde_json::Value;

use crate::support::{assert_refused, complaint, latrunculi, printed};

fn matched(arguments: &[&str]) -> String {
    let output = latrunculi(&[&["match"], arguments].concat());
    assert!(output.status.success(), "{}", complaint(&output));
    printed(&output)
}

#[test]
fn a_match_tells_score_interval_and_how_its_games_ended() {
    let text = matched(&["greedy", "random", "--ruleset", "savard", "--games", "12", "--quiet"]);
    for part in ["A greedy", "B random", "score of A", "95 %", "Elo", "distinct games", "ends", "per game"] {
        assert!(text.contains(part), "{part:?} is missing from\n{text}");
    }
    assert!(text.contains("savard, 12 games count") && !text.contains("not counted"), "{text}");
    // A word that people do not know is explained.
    let text = matched(&["random", "random:seed=2", "--ruleset", "bell-8x8", "--games", "8", "--quiet"]);
    assert!(text.contains("blockade") && text.contains("too long without a capture"), "{text}");
}

#[test]
fn matches_of_several_rulesets_are_those_of_each_alone_with_their_mean() {
    let arguments = ["greedy", "random", "--games", "6", "--seed", "3", "--quiet"];
    let told = |more: &[&str]| matched(&[&arguments[..], more].concat());
    let json = |more: &[&str]| serde_json::from_str::<Value>(&told(&[more, &["--json"]].concat())).expect("JSON");
    let [savard, bell] = ["savard", "bell-8x8"].map(|name| json(&["--ruleset", name]));
    let both = json(&["--ruleset", "savard,bell-8x8"]);
    assert_eq!(both["matches"].as_array().expect("matches")[..], [savard.clone(), bell.clone()]);
    let mean = &both["mean"];
    let number = |value: &Value| value.as_f64().expect("a number");
    let score = (number(&savard["score"]) + number(&bell["score"])) / 2.0;
    assert!((number(&mean["score"]) - score).abs() < 1e-12 && mean["rulesets"] == 2, "{mean}");
    let [lower, upper] = ["lower", "upper"].map(|end| number(&mean["interval"][end]));
    assert!(lower < score && score <= upper, "{mean}");

    let text = told(&["--ruleset", "savard,bell-8x8"]);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for (name, report) in [("savard ", &savard), ("bell-8x8 ", &bell), ("mean ", mean)] {
        let row = text.lines().find(|line| line.starts_with(name)).expect("a row");
        assert!(row.contains(&format!(" {:.1} [", 100.0 * number(&report["score"]))), "{text}");
        let [wins, draws, losses] = ["wins", "draws", "losses"].map(|result| &report["total"][result]);
        assert!(row.contains(&format!("+{wins} ={draws} -{losses}")), "{text}");
    }
    // One ledger and one file of records hold the games of all.
    let folder = tempfile::tempdir().expect("a folder");
    let [ledger, records] = ["ledger.jsonl", "records.jsonl"].map(|name| folder.path().join(name));
    let kept = ["--ledger", ledger.to_str().expect("a path"), "--records", records.to_str().expect("a path")];
    assert_eq!(told(&[&["--ruleset", "savard,bell-8x8"], &kept[..]].concat()), text);
    let lines = fs::read_to_string(&ledger).expect("the ledger");
    assert_eq!((lines.lines().count(), fs::read_to_string(&records).expect("records").lines().count()), (12, 12));
    fs::write(&ledger, lines.lines().take(7).map(|line| format!("{line}\n")).collect::<String>()).expect("written");
    assert_eq!(told(&[&["--ruleset", "savard,bell-8x8"], &kept[..2]].concat()), text);
    assert_eq!(fs::read_to_string(&ledger).expect("the ledger").lines().count(), 12);
}

#[test]
fn a_match_that_could_only_repeat_one_game_says_so_and_gives_no_interval() {
    // Neither agent draws lots and no action opens the game: all pairs are the first.
    let arguments =
        ["alphabeta:depth=1", "alphabeta:depth=2", "--ruleset", "dutch-8x8", "--games", "20", "--opening", "0"];
    let text = matched(&[&arguments[..], &["--quiet"]].concat());
    assert!(text.contains("no interval") && text.contains("distinct games  2 of"), "{text}");
    let report: Value =
        serde_json::from_str(&matched(&[&arguments[..], &["--json", "--quiet"]].concat())).expect("JSON");
    assert!(report["interval"].is_null());
    assert!(report["interval_refused"].is_string(), "{report}");
    assert_eq!(report["games_distinct"], 2);
}

#[test]
fn a_match_in_which_no_game_counts_is_refused() {
    let same = ["alphabeta:nodes=5", "alphabeta:nodes=5", "--ruleset", "bell-8x8", "--games", "10", "--opening", "0"];
    for more in [&["--quiet"][..], &["--quiet", "--json"]] {
        let arguments = [&["match"], &same[..], more].concat();
        assert_refused(&arguments, 1, &["no game of this match counts", "--opening N"]);
        assert!(printed(&latrunculi(&arguments)).is_empty());
    }
}

#[test]
fn a_score_at_the_end_of_the_scale_has_no_finite_elo() {
    let arguments = ["random", "alphabeta:nodes=3000", "--ruleset", "savard", "--games", "8", "--quiet"];
    let text = matched(&arguments);
    assert!(text.contains("results of A    +0 =0 -8"), "the example has changed: {text}");
    assert!(text.contains("Elo             -∞, below -"), "{text}");
    let [a, b] = [arguments[1], arguments[0]];
    let text = matched(&[&[a, b], &arguments[2..]].concat());
    assert!(text.contains("Elo             +∞, above +"), "{text}");
}

#[test]
fn openings_that_leave_nothing_to_play_are_refused() {
    let long = ["--ruleset", "savard", "--opening", "1000", "--games", "2"];
    for command in ["match", "rate"] {
        let words = ["--opening 1000", "savard", "choose fewer"];
        assert_refused(&[&[command, "random", "greedy"], &long[..]].concat(), 1, &words);
    }
}

#[test]
fn a_match_goes_on_from_its_ledger_and_comes_to_the_same_result() {
    let folder = tempfile::tempdir().expect("a folder");
    let ledger = folder.path().join("ledger.jsonl");
    let ledger = ledger.to_str().expect("a path");
    let arguments = ["greedy", "random", "--ruleset", "savard", "--games", "10", "--seed", "4", "--quiet"];
    let whole = matched(&arguments);
    let first = matched(&[&arguments[..], &["--ledger", ledger]].concat());
    assert_eq!(first, whole);
    let lines = fs::read_to_string(ledger).expect("the ledger");
    assert_eq!(lines.lines().count(), 10);
    // Killed in the middle of the fourth line.
    let end = lines.match_indices('\n').nth(2).expect("three lines").0;
    fs::write(ledger, &lines[..end + 40]).expect("written");
    assert_eq!(matched(&[&arguments[..], &["--ledger", ledger]].concat()), whole);
    assert_eq!(fs::read_to_string(ledger).expect("the ledger").lines().count(), 10);
    // The games that count, as records that other commands read.
    let records = folder.path().join("records.jsonl");
    let records = records.to_str().expect("a path");
    matched(&[&arguments[..], &["--ledger", ledger, "--records", records]].concat());
    assert!(printed(&latrunculi(&["inspect", records])).contains("savard"));
    assert_refused(&["match", "greedy", "random", "--ruleset", "savard", "--records", records], 1, &["exists already"]);
    assert_refused(
        &["match", "greedy", "random", "--ruleset", "savard", "--ledger", "Cargo.toml", "--quiet"],
        1,
        &["Cargo.toml", "line 1"],
    );
}

#[test]
fn nonsense_is_refused_with_its_reason() {
    for (arguments, status, word) in [
        (&["match"][..], 2, "<A>"),
        (&["match", "random", "greedy"], 2, "--ruleset"),
        (&["match", "random", "greedy", "--ruleset", "bel"], 1, "did you mean bell?"),
        (&["match", "random", "greedy", "--ruleset", "all,savard"], 1, "--ruleset names savard twice"),
        (&["match", "random", "greedy", "--ruleset", "bell,savard", "--sprt", "0,5"], 1, "name only one"),
        (&["match", "rndom", "greedy", "--ruleset", "bell"], 2, "did you mean random?"),
        (&["match", "random,seed=2", "greedy", "--ruleset", "bell"], 2, "did you mean random:seed=2?"),
        (&["match", "human", "greedy", "--ruleset", "bell"], 1, "play"),
        (&["match", "random", "net:lost.safetensors", "--ruleset", "bell"], 1, "lost.safetensors"),
        (&["match", "random", "greedy", "--ruleset", "bell", "--games", "0"], 2, "1..=1000000"),
        (&["match", "random", "greedy", "--ruleset", "bell", "--games", "-3"], 2, "-3"),
        (&["match", "random", "greedy", "--ruleset", "bell", "--sprt", "5,5"], 2, "less than"),
        (&["match", "random", "greedy", "--ruleset", "bell", "--sprt", "NaN,5"], 2, "two numbers"),
        (&["match", "random", "greedy", "--ruleset", "bell", "--sprt", "0,inf"], 2, "two numbers"),
        (&["match", "random", "greedy", "--ruleset", "bell", "--sprt", "0,20", "--alpha", "0"], 1, "alpha"),
        (&["match", "random", "greedy", "--ruleset", "bell", "--sprt", "0,20", "--beta", "NaN"], 1, "beta"),
        (&["match", "random", "greedy", "--ruleset", "bell", "--alpha", "0.1"], 2, "--sprt"),
        (&["match", "random", "greedy", "--ruleset", "bell", "--opening-temperature", "2"], 2, "--opening-policy"),
        (&["match", "random", "greedy", "--ruleset", "bell", "--records", "no/such/folder/x"], 1, "no/such/folder"),
        (&["match", "random", "greedy", "--ruleset", "bell", "--ledger", "no/such/folder/x"], 1, "no/such/folder"),
        (
            &["match", "random", "greedy", "--ruleset", "bell", "--ledger", "/dev/full", "--quiet"],
            1,
            "it is not a file",
        ),
        (&["match", "random", "greedy", "--ruleset", "bell", "--ledger", ".", "--quiet"], 1, "s a directory"),
        (&["match", "random", "greedy", "--ruleset", "bell", "--games-at-once", "0"], 2, "--games-at-once"),
        (&["match", "random", "greedy", "--ruleset", "bell", "--threads", "99999"], 2, "--threads"),
        (&["match", "random", "greedy", "--ruleset", "bell", "--opening", "100000"], 2, "--opening"),
    ] {
        assert_refused(arguments, status, &[word]);
    }
}

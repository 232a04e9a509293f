//! `match`, as a user meets it.

use serde_json::Value;

use crate::support::{Shell, assert_contains, assert_fits, printed};

#[test]
fn a_match_tells_score_interval_and_how_its_games_ended() {
    let text = Shell::new().prints("match greedy random --ruleset savard --games 12 --quiet");
    assert_contains(&text, &["A greedy", "B random", "score of A", "95 %", "Elo", "ends", "per game"]);
    assert!(text.starts_with("A is stronger than B in savard: A scores "), "{text}");
    assert!(text.contains("savard, 12 games count") && !text.contains("not counted"), "{text}");
    assert_fits(&text);
    // Why games end is told in words, and so is what the games do not show.
    let text = Shell::new().prints("match random random:seed=2 --ruleset bell-8x8 --games 8 --quiet");
    assert_contains(&text, &["too long without a capture, or both sides blocked: "]);
    assert!(text.starts_with("Too few games to say which agent is stronger in bell-8x8: A scores "), "{text}");
    assert_contains(&text, &["Next: about --games "]);
}

#[test]
fn matches_of_several_rulesets_are_those_of_each_alone_with_their_mean() {
    let shell = Shell::new();
    let of = |rulesets: &str| format!("match greedy random --games 6 --seed 3 --quiet --ruleset {rulesets}");
    let [savard, bell] = ["savard", "bell-8x8"].map(|name| shell.prints_json(&of(name)));
    let several = of("savard,bell-8x8");
    let both = shell.prints_json(&several);
    assert_eq!(both["matches"].as_array().expect("matches")[..], [savard.clone(), bell.clone()]);
    let mean = &both["mean"];
    let number = |value: &Value| value.as_f64().expect("a number");
    let score = (number(&savard["score"]) + number(&bell["score"])) / 2.0;
    assert!((number(&mean["score"]) - score).abs() < 1e-12 && mean["rulesets"] == 2, "{mean}");
    let [lower, upper] = ["lower", "upper"].map(|end| number(&mean["interval"][end]));
    assert!(lower < score && score <= upper, "{mean}");

    let text = shell.prints(&several);
    assert_fits(&text);
    for (name, report) in [("savard ", &savard), ("bell-8x8 ", &bell), ("mean ", mean)] {
        let row = text.lines().find(|line| line.starts_with(name)).expect("a row");
        assert!(row.contains(&format!(" {:.1} [", 100.0 * number(&report["score"]))), "{text}");
        let [wins, draws, losses] = ["wins", "draws", "losses"].map(|result| &report["total"][result]);
        assert!(row.contains(&format!("+{wins} ={draws} -{losses}")), "{text}");
    }
    // One ledger and one file of records hold the games of all.
    assert_eq!(shell.prints(&format!("{several} --ledger ledger --records records")), text);
    let lines = shell.text("ledger");
    assert_eq!((lines.lines().count(), shell.text("records").lines().count()), (12, 12));
    shell.write("ledger", lines.lines().take(7).map(|line| format!("{line}\n")).collect::<String>());
    assert_eq!(shell.prints(&format!("{several} --ledger ledger")), text);
    assert_eq!(shell.text("ledger").lines().count(), 12);
}

#[test]
fn a_match_that_could_only_repeat_one_game_says_so_and_gives_no_interval() {
    // Neither agent draws lots and no action opens the game: all pairs are the first.
    let line = "match alphabeta:depth=1 alphabeta:depth=2 --ruleset dutch-8x8 --games 20 --opening 0 --quiet";
    assert_contains(&Shell::new().prints(line), &["no interval", "9 pairs left out"]);
    let report = Shell::new().prints_json(line);
    assert!(report["interval"].is_null());
    assert!(report["interval_refused"].is_string(), "{report}");
    assert_eq!(report["games_distinct"], 2);
}

#[test]
fn a_match_in_which_no_game_would_count_is_refused() {
    let shell = Shell::new();
    for more in ["", " --json"] {
        let line = format!("match alphabeta:nodes=5 alphabeta:nodes=5 --ruleset bell-8x8 --games 10 --quiet{more}");
        shell.refuses(
            &line,
            1,
            &["alphabeta:nodes=5 against itself", "balance --rulesets bell-8x8 --agents alphabeta:nodes=5"],
        );
        assert!(printed(&shell.run(&line)).is_empty());
    }
}

#[test]
fn a_score_at_the_end_of_the_scale_has_no_finite_elo() {
    let more = "--ruleset savard --games 8 --quiet";
    let text = Shell::new().prints(&format!("match random alphabeta:nodes=3000 {more}"));
    assert!(text.contains("results of A   +0 =0 -8"), "the example has changed: {text}");
    assert_contains(&text, &["Elo            -∞, below -"]);
    let text = Shell::new().prints(&format!("match alphabeta:nodes=3000 random {more}"));
    assert_contains(&text, &["Elo            +∞, above +"]);
}

#[test]
fn openings_that_leave_nothing_to_play_are_refused() {
    for command in ["match", "rate"] {
        let line = format!("{command} random greedy --ruleset savard --opening 1000 --games 2");
        Shell::new().refuses(&line, 1, &["--opening 1000", "savard", "choose fewer"]);
    }
}

#[test]
fn a_match_goes_on_from_its_ledger_and_comes_to_the_same_result() {
    let shell = Shell::new();
    let line = "match greedy random --ruleset savard --games 10 --seed 4 --quiet";
    let with_ledger = format!("{line} --ledger ledger");
    let whole = shell.prints(line);
    assert_eq!(shell.prints(&with_ledger), whole);
    let lines = shell.text("ledger");
    assert_eq!(lines.lines().count(), 10);
    // Killed in the middle of the fourth line.
    let end = lines.match_indices('\n').nth(2).expect("three lines").0;
    shell.write("ledger", &lines[..end + 40]);
    assert_eq!(shell.prints(&with_ledger), whole);
    assert_eq!(shell.text("ledger").lines().count(), 10);
    // The games that count, as records that other commands read.
    shell.prints(&format!("{with_ledger} --records records.jsonl"));
    assert!(shell.prints("inspect records.jsonl").contains("savard"));
    shell.refuses("match greedy random --ruleset savard --records records.jsonl", 1, &["exists already"]);
    shell.write("Cargo.toml", "[package]\n");
    let line = "match greedy random --ruleset savard --ledger Cargo.toml --quiet";
    shell.refuses(line, 1, &["Cargo.toml", "line 1"]);
}

#[test]
fn nonsense_is_refused_with_its_reason() {
    let shell = Shell::new();
    for (line, status, word) in [
        ("match", 2, "<A>"),
        ("match random greedy", 2, "--ruleset"),
        ("match random greedy --ruleset bel", 1, "did you mean bell?"),
        ("match random greedy --ruleset all,savard", 1, "--ruleset names savard twice"),
        ("match random greedy --ruleset bell,savard --sprt 0,5", 1, "name only one"),
        ("match rndom greedy --ruleset bell", 2, "did you mean random?"),
        ("match random,seed=2 greedy --ruleset bell", 2, "did you mean random:seed=2?"),
        ("match human greedy --ruleset bell", 1, "play"),
        ("match random net:lost.safetensors --ruleset bell", 1, "lost.safetensors"),
        ("match random greedy --ruleset bell --games 0", 2, "1..=1000000"),
        ("match random greedy --ruleset bell --games -3", 2, "-3"),
        ("match random greedy --ruleset bell --sprt 5,5", 2, "less than"),
        ("match random greedy --ruleset bell --sprt NaN,5", 2, "two numbers"),
        ("match random greedy --ruleset bell --sprt 0,inf", 2, "two numbers"),
        ("match random greedy --ruleset bell --sprt 0,20 --alpha 0", 1, "alpha"),
        ("match random greedy --ruleset bell --sprt 0,20 --beta NaN", 1, "beta"),
        ("match random greedy --ruleset bell --alpha 0.1", 2, "--sprt"),
        ("match random greedy --ruleset bell --opening-temperature 2", 2, "--opening-policy"),
        ("match random greedy --ruleset bell --records no/such/folder/x", 1, "no/such/folder"),
        ("match random greedy --ruleset bell --ledger no/such/folder/x", 1, "no/such/folder"),
        ("match random greedy --ruleset bell --ledger /dev/full --quiet", 1, "it is not a file"),
        ("match random greedy --ruleset bell --ledger . --quiet", 1, "s a directory"),
        ("match random greedy --ruleset bell --games-at-once 0", 2, "--games-at-once"),
        ("match random greedy --ruleset bell --threads 99999", 2, "--threads"),
        ("match random greedy --ruleset bell --opening 100000", 2, "--opening"),
    ] {
        shell.refuses(line, status, &[word]);
    }
}

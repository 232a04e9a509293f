//! `rate` as a user meets it.

use serde_json::Value;

use crate::support::{Shell, assert_contains, assert_fits, complaint, printed};

#[test]
fn a_rating_leaves_games_and_tables_and_goes_on_from_them() {
    let shell = Shell::new();
    let rate = "rate random greedy alphabeta:nodes=30 --ruleset bell-8x8 --games 6 --threads 2 --out rating";
    let text = shell.prints(rate);
    let parts = ["bell-8x8: 18 games", "95 % interval", "the player who begins, against an equal", "Davidson"];
    assert_contains(&text, &parts);
    assert!(text.lines().next().is_some_and(|line| line.contains("the strongest")), "{text}");
    assert_fits(&text);
    let (json, csv, games) = (shell.text("rating/rating.json"), shell.text("rating/rating.csv"), "rating/games.jsonl");
    assert_eq!(shell.lines(games).len(), 18);
    // The table says the same as the data.
    let report: Value = serde_json::from_str(&json).expect("JSON");
    for (line, rating) in csv.lines().skip(1).zip(report["table"]["agents"].as_array().expect("agents")) {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells[1].trim_matches('"'), rating["agent"]);
        // What the games bound from one side only is empty here and null there.
        let told = |number: &Value| number.as_f64().map(|number| format!("{number:.3}")).unwrap_or_default();
        let elo = &rating["elo"];
        let expected = [&elo["value"], &elo["interval"]["lower"], &elo["interval"]["upper"]].map(told);
        assert_eq!([cells[2], cells[4], cells[5]], expected);
    }
    assert_eq!(csv.lines().count(), 4);

    // Killed: some of the games are lost, the result is the same.
    let whole = shell.text(games);
    shell.write(games, &whole[..whole.len() / 2]);
    let again = shell.run(&format!("{rate} --json --quiet"));
    assert_eq!((printed(&again), complaint(&again)), (json.clone(), String::new()));
    assert_eq!((shell.text("rating/rating.json"), shell.text("rating/rating.csv")), (json, csv));

    // Another model has the same games to fit.
    let other = shell.prints(&format!("{rate} --model rao-kupper --csv --anchor greedy=100"));
    assert_contains(&other, &["\"greedy\",100.000,0.000,100.000,100.000,true"]);
    assert_eq!(shell.lines(games).len(), 18);
}

#[test]
fn a_rating_with_a_network_goes_on() {
    let shell = Shell::new();
    let rate = |games: u32| {
        let line = format!("rate random net:sims=1 --ruleset bell-8x8 --games {games} --quiet --out rating");
        (shell.prints_json(&line)["games_played"].clone(), shell.text("rating/games.jsonl"))
    };
    let first = rate(4);
    assert_eq!(first.0, 4);
    assert_eq!(rate(4), first, "nothing is played again");
    let (more, longer) = rate(6);
    assert!(more == 6 && longer.starts_with(&first.1), "{more}");
}

#[test]
fn another_rating_is_not_replaced_and_one_with_more_agents_goes_on() {
    let shell = Shell::new();
    let fixed = "--games 4 --quiet --out rating";
    let read = || ["json", "csv"].map(|end| shell.text(&format!("rating/rating.{end}")));
    shell.prints(&format!("rate random greedy --ruleset bell-8x8 {fixed}"));
    let (before, games) = (read(), shell.text("rating/games.jsonl"));
    shell.write("own.toml", "id = \"bell-8x8\"\nbase = \"bell-8x8\"\n[end]\nmax_plies = 77\n");
    for (line, part) in [
        ("random greedy --ruleset savard", "ruleset is \"bell-8x8\" there and \"savard\" here"),
        ("random greedy --ruleset own.toml", "ruleset fingerprint is"),
        ("random greedy --ruleset bell-8x8 --seed 1", "seed is 0 there and 1 here"),
        ("random greedy --ruleset bell-8x8 --opening 3", "opening length is 8 there and 3 here"),
        ("random greedy:seed=1 --ruleset bell-8x8", "greedy against random was played there"),
    ] {
        shell.refuses(&format!("rate {line} {fixed}"), 1, &[part, "--out"]);
    }
    assert!(before == read() && games == shell.text("rating/games.jsonl"), "all is as it was");
    let three = format!("rate random greedy greedy:seed=1 --ruleset bell-8x8 {fixed}");
    shell.prints(&three);
    let all = shell.text("rating/games.jsonl");
    assert!(all.starts_with(&games) && all.lines().count() == 3 * games.lines().count(), "it plays its own games only");
    let gauntlet = format!("{three} --gauntlet random");
    shell.refuses(&gauntlet, 1, &["greedy against greedy:seed=1 was played there"]);
    shell.write("rating/rating.json", "my notes");
    shell.refuses(&three, 1, &["not a rating"]);
    assert_eq!(shell.text("rating/rating.json"), "my notes");
}

#[test]
fn nonsense_is_refused_before_anything_is_played() {
    for (line, status, part) in [
        ("random", 1, "at least two agents"),
        ("random human", 1, "human plays only in `latrunculi play`"),
        ("random greedy random", 1, "random is named twice"),
        ("random greedy --games 0", 2, "--games"),
        ("random greedy --anchor mcts:sims=1=0", 1, "mcts:sims=1 is not among the agents"),
        ("random greedy --gauntlet greedy:seed=1", 1, "greedy:seed=1 is not among the agents"),
        ("random greedy --anchor random=0 --anchor random=1", 1, "two ratings"),
        ("random greedy --anchor random", 2, "random=0"),
        ("random greedy --anchor random=NaN", 2, "random=0"),
        ("random gredy", 2, "did you mean greedy?"),
        ("random greedy --model elo", 2, "davidson"),
        ("random greedy --opening 18446744073709551615", 2, "--opening"),
        ("random greedy --threads 99999", 2, "--threads"),
    ] {
        Shell::in_root().refuses(&format!("rate --ruleset bell-8x8 {line}"), status, &[part]);
    }
}

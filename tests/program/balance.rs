//! `balance` as a user meets it: a study, killed and gone on with; what is wrong is said at once.

use std::fs;

use crate::support::{Shell, assert_contains, assert_fits};

const STUDY: &str = "balance --rulesets bell-8x8,dutch-8x8-placement --agents alphabeta:nodes=100,alphabeta:nodes=400 \
                     --max-games 30 --seed 3";

#[test]
fn what_would_make_a_ruleset_fair_is_printed() {
    let printed = Shell::new().prints(
        "balance --rulesets bell-8x8 --agents alphabeta:nodes=5 --max-games 20 --pie --phases --quiet --out study",
    );
    let parts = ["bell-8x8, pie rule: after the fairest first turn tried, @", "bell-8x8, phases: placing is worth "];
    assert_contains(&printed, &parts);
}

#[test]
fn a_study_that_is_killed_goes_on_to_the_same_report() {
    let shell = Shell::new();
    let study = format!("{STUDY} --compensation=1 --quiet --out");
    let printed = shell.prints(&format!("{study} whole"));
    let parts = ["alphabeta:nodes=400 (headline)", "in 1 of 2: bell-8x8", "bell-8x8, compensation: "];
    assert_contains(&printed, &parts);
    // The last line has the path of the folder.
    let table = &printed[..printed.find("written: ").expect("the path")];
    assert!(table.lines().count() > 4, "{printed}");
    assert_fits(table);

    let ledger = "killed/games/bell-8x8/alphabeta-nodes-400.jsonl";
    shell.stopped_by("-KILL", &format!("{study} killed --threads 1"), || shell.is_longer(ledger, 5_000));
    assert!(!shell.has("killed/summary.json"), "it was over before it could be killed");
    // The folder knows what was asked.
    let summary = shell.prints_json("balance --resume killed --quiet");
    for file in ["summary.json", "balance.csv", "study.toml", "report.html"] {
        assert_eq!(shell.text(&format!("killed/{file}")), shell.text(&format!("whole/{file}")), "{file}");
    }
    assert_eq!(summary["is_complete"], true);
    assert_eq!(summary["rulesets"][0]["cells"][1]["games"], 30);
    let command = summary["command"].as_str().expect("a command");
    let asked = command.replace(" --half-width 3", "").replace("--min-games 30 ", "");
    assert_eq!(asked, format!("latrunculi {STUDY} --compensation 1 --out DIR"));
    // Every game is a record that other commands read.
    let csv = shell.text("whole/balance.csv");
    assert_eq!(csv.lines().count(), 5, "{csv}");

    // The page is made again from the summary, and from nothing else that must be there.
    let page = shell.text("whole/report.html");
    assert_contains(&page, &["id=\"r-bell-8x8\"", "class=\"opening\""]);
    fs::remove_file(shell.path("whole/report.html")).expect("removed");
    fs::remove_dir_all(shell.path("whole/games")).expect("removed");
    shell.prints("balance --report-only whole");
    assert_eq!(shell.text("whole/report.html"), page);
    let text = shell.text("whole/summary.json");
    for (wrong, part) in [
        (&text[..text.len() / 2], "no summary of a balance study"),
        ("{}", "no summary of a balance study"),
        (&text.replacen("\"format\": 4", "\"format\": 9", 1), "format 9, this program reads"),
    ] {
        shell.write("whole/summary.json", wrong);
        shell.refuses("balance --report-only whole", 1, &["summary.json", part]);
    }
    assert_eq!(shell.text("whole/report.html"), page, "it was left alone");
}

#[test]
fn no_verdict_contradicts_the_interval_beside_it() {
    let shell = Shell::new();
    for seed in ["0", "1", "2", "3"] {
        let few = "balance --rulesets dutch-noking,bell,savard --agents random --max-games 4 --quiet";
        let summary = shell.prints_json(&format!("{few} --seed {seed} --out {seed}"));
        for ruleset in summary["rulesets"].as_array().expect("rulesets") {
            let cell = &ruleset["cells"][0];
            let bound = |name: &str| cell["score"]["interval"][name].as_f64().expect("a bound");
            let is_open = bound("lower") <= 0.5 && bound("upper") >= 0.5;
            let verdict = cell["verdict"]["verdict"].as_str().expect("a verdict");
            assert!(!is_open || matches!(verdict, "unresolved" | "even_with_this_player"), "{ruleset}");
            assert_eq!(is_open, cell["verdict"]["p_unbalanced"].as_f64() > Some(0.05), "{ruleset}");
        }
    }
}

#[test]
fn contact_openings_and_the_pie_rule_are_as_asked() {
    let shell = Shell::new();
    let study = "balance --rulesets dutch-noking --agents greedy --max-games 20 --margin 40 --pie --opening 4 \
                 --opening-policy mcts:sims=8 --opening-temperature 0.5 --quiet";
    let [any, all] = ["0", "100"].map(|min| shell.prints_json(&format!("{study} --min-contact {min} --out {min}")));
    for (summary, has_few_captures) in [(&any, false), (&all, true)] {
        let ruleset = &summary["rulesets"][0];
        let cell = &ruleset["cells"][0];
        assert_eq!(cell["opening"]["policy"], "mcts:sims=8 temperature=0.5");
        assert_eq!(cell["opening"]["actions"], 4);
        // Not every game of random openings has a capture, so that the floor of 100 % finds few.
        assert!(cell["contact"]["rate"].as_f64() < Some(1.0), "{cell}");
        let doubts = cell["verdict"]["doubts"].as_array().expect("doubts");
        assert_eq!(doubts.iter().any(|doubt| doubt == "few_captures"), has_few_captures, "{doubts:?}");
        let pie = &ruleset["pie"];
        let tried = pie["tried"].as_array().expect("first turns");
        assert!(tried.len() > 1 && tried.len() == pie["first_turns"].as_u64().expect("a number") as usize, "{pie}");
    }
    assert_eq!(any["rulesets"][0]["pie"], all["rulesets"][0]["pie"], "the floor plays no other games");
}

#[test]
fn nonsense_is_refused_before_anything_is_played() {
    let shell = Shell::new();
    let refuses = |arguments: &str, status: i32, parts: &[&str]| {
        shell.refuses(&format!("balance {arguments} --out study"), status, parts);
    };
    for (arguments, status, parts) in [
        ("--rulesets bel --agents greedy", 1, &["no ruleset", "did you mean bell?"][..]),
        ("--rulesets bell --agents alfabeta:nodes=5", 1, &["did you mean alphabeta?"]),
        ("--rulesets bell", 1, &["agents: the list is empty"]),
        ("--agents greedy", 1, &["rulesets: the list is empty"]),
        ("--rulesets bell --agents greedy --half-width 70", 2, &["--half-width", "below 50 points"]),
        ("--rulesets bell --agents greedy --half-width 0.05", 2, &["--half-width", "at least 0.1 and below 50 points"]),
        ("--rulesets bell --agents greedy --margin nan", 2, &["--margin", "below 50 points"]),
        ("--rulesets bell --agents greedy --sweep capture.per_mov=one", 1, &["did you mean capture.per_move?"]),
        ("--rulesets bell --agents greedy --sweep nothing", 2, &["write a parameter and its values"]),
        ("--rulesets bell --agents greedy --opening-policy mcts:seconds=1", 1, &["opening.policy: mcts:seconds=1"]),
        ("--rulesets bell --agents greedy --opening-temperature 2", 1, &["name one with --opening-policy"]),
        ("--rulesets bell --agents net:none.safetensors", 1, &["can play none", "none.safetensors"]),
    ] {
        refuses(arguments, status, parts);
    }
    shell.write("study.toml", "rulesets = [\"bell\"]\nhalf_widht = 0.1\n[opening]\nfirst = 3\n");
    refuses("study.toml", 1, &["half_widht; did you mean half_width?", "opening.first"]);
    shell.write("study.toml", "rulesets = [\"bell\"]\nagents = [\"greedy\"]\nhalf_width = 3.0\nmargin = 3.0\n");
    let range = |name: &str| format!("{name} must be at least 0.001 and below 0.5 (0.03 is 3 points of 100)");
    refuses("study.toml", 1, &[&range("half_width"), &range("margin")]);
    shell.write("study.toml", "rulesets = \"bell\"");
    refuses("study.toml", 1, &["study.toml"]);
    shell.write("study.toml", "id = \"mine\"\nbase = \"bell\"\n");
    for given in ["bell", "study.toml"] {
        refuses(given, 1, &[&format!("is a ruleset, not a study: write --rulesets {given}")]);
    }
    assert!(!shell.has("study"), "a refused study leaves nothing behind");
    shell.refuses("balance --resume study", 1, &["there is no study"]);
    // What a study is asked stands in its folder: an option that would change nothing is not passed over.
    for option in
        ["--margin 2", "--metrics", "--compensation", "--seed 1", "--opening 4", "--sweep capture.per_move=one"]
    {
        let name = option.split(' ').next().expect("a name");
        for going_on in ["--resume", "--report-only"] {
            shell.refuses(&format!("balance {going_on} study {option}"), 2, &["cannot be used with", name]);
        }
    }
}

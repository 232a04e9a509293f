//! `balance` as a user meets it: a study, killed and gone on with; what is wrong is said at once.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_latrunculi"));
    command.arg("balance").args(arguments);
    command
}

fn balance(arguments: &[&str]) -> Output {
    program(arguments).output().expect("the program starts")
}

fn complaint(arguments: &[&str]) -> String {
    let output = balance(arguments);
    assert!(!output.status.success(), "{arguments:?} should fail");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn path(path: &Path) -> &str {
    path.to_str().expect("a path")
}

const STUDY: [&str; 10] = [
    "--rulesets",
    "bell-8x8,dutch-8x8-placement",
    "--agents",
    "alphabeta:nodes=100,alphabeta:nodes=400",
    "--max-games",
    "30",
    "--seed",
    "3",
    "--compensation=1",
    "--quiet",
];

fn study(folder: &Path) -> Vec<&str> {
    [&STUDY[..], &["--out", path(folder)]].concat()
}

#[test]
fn a_study_that_is_killed_goes_on_to_the_same_report() {
    let folder = tempfile::tempdir().expect("a folder");
    let (whole, killed) = (folder.path().join("whole"), folder.path().join("killed"));
    let output = balance(&study(&whole));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(printed.contains("alphabeta:nodes=400 (headline)") && printed.contains("bell-8x8"), "{printed}");
    // The last line has the path of the folder.
    let table = printed.lines().take_while(|line| !line.starts_with("written: "));
    assert!(table.clone().count() > 4 && table.clone().all(|line| line.chars().count() <= 80), "{printed}");

    let mut child = program(&study(&killed)).args(["--threads", "1"]).stdout(Stdio::null()).spawn().expect("a start");
    let ledger = killed.join("games/bell-8x8/alphabeta-nodes-400.jsonl");
    let begun = Instant::now();
    while fs::metadata(&ledger).map_or(0, |about| about.len()) < 5_000 {
        assert!(begun.elapsed() < Duration::from_secs(60), "no game ends");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().expect("killed");
    child.wait().expect("its end");
    assert!(!killed.join("summary.json").exists(), "it was over before it could be killed");
    // The folder knows what was asked.
    let output = balance(&["--resume", path(&killed), "--quiet", "--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for file in ["summary.json", "balance.csv", "study.toml", "report.html"] {
        let read = |folder: &Path| fs::read_to_string(folder.join(file)).expect("a file");
        assert_eq!(read(&killed), read(&whole), "{file}");
    }
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(summary["is_complete"], true);
    assert_eq!(summary["rulesets"][0]["cells"][1]["games"], 30);
    let command = summary["command"].as_str().expect("a command");
    assert_eq!(
        command.replace(" --half-width 3", "").replace("--min-games 30 ", ""),
        "latrunculi balance ".to_owned() + &STUDY[..8].join(" ") + " --compensation 1 --out DIR"
    );
    // Every game is a record that other commands read.
    let csv = fs::read_to_string(whole.join("balance.csv")).expect("a table");
    assert_eq!(csv.lines().count(), 5, "{csv}");

    // The page is made again from the summary, and from nothing else that must be there.
    let page = fs::read_to_string(whole.join("report.html")).expect("a page");
    assert!(page.contains("id=\"r-bell-8x8\"") && page.contains("class=\"opening\""));
    fs::remove_file(whole.join("report.html")).expect("removed");
    fs::remove_dir_all(whole.join("games")).expect("removed");
    assert!(balance(&["--report-only", path(&whole)]).status.success());
    assert_eq!(fs::read_to_string(whole.join("report.html")).expect("a page"), page);
    let summary = whole.join("summary.json");
    let text = fs::read_to_string(&summary).expect("a summary");
    for (wrong, part) in [
        (&text[..text.len() / 2], "no summary of a balance study"),
        ("{}", "no summary of a balance study"),
        (&text.replacen("\"format\": 4", "\"format\": 9", 1), "format 9, this program reads"),
    ] {
        fs::write(&summary, wrong).expect("written");
        let complaint = complaint(&["--report-only", path(&whole)]);
        assert!(complaint.contains("summary.json") && complaint.contains(part), "{complaint}");
    }
    assert_eq!(fs::read_to_string(whole.join("report.html")).expect("a page"), page, "it was left alone");
}

#[test]
fn no_verdict_contradicts_the_interval_beside_it() {
    let folder = tempfile::tempdir().expect("a folder");
    for seed in ["0", "1", "2", "3"] {
        let out = folder.path().join(seed);
        let few = ["--rulesets", "dutch-noking,bell,savard", "--agents", "random", "--max-games", "4", "--quiet"];
        let output = balance(&[&few[..], &["--json", "--seed", seed, "--out", path(&out)]].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let summary: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
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
    let folder = tempfile::tempdir().expect("a folder");
    let summary = |min_contact: &str| -> serde_json::Value {
        let out = folder.path().join(min_contact);
        let arguments = "--rulesets dutch-noking --agents greedy --max-games 20 --margin 40 --pie --opening 4 \
                         --opening-policy mcts:sims=8 --opening-temperature 0.5 --quiet --json --min-contact";
        let mut arguments: Vec<&str> = arguments.split_whitespace().collect();
        arguments.extend([min_contact, "--out", path(&out)]);
        let output = balance(&arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("JSON")
    };
    let [any, all] = ["0", "100"].map(summary);
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
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("study");
    let with = |more: &[&str]| complaint(&[more, &["--out", path(&out)]].concat());
    for (arguments, parts) in [
        (&["--rulesets", "bel", "--agents", "greedy"][..], &["no ruleset", "did you mean bell?"][..]),
        (&["--rulesets", "bell", "--agents", "alfabeta:nodes=5"], &["did you mean alphabeta?"]),
        (&["--rulesets", "bell"], &["agents: the list is empty"]),
        (&["--agents", "greedy"], &["rulesets: the list is empty"]),
        (&["--rulesets", "bell", "--agents", "greedy", "--half-width", "70"], &["--half-width", "below 50 points"]),
        (&["--rulesets", "bell", "--agents", "greedy", "--margin", "nan"], &["--margin", "below 50 points"]),
        (
            &["--rulesets", "bell", "--agents", "greedy", "--sweep", "capture.per_mov=one"],
            &["did you mean capture.per_move?"],
        ),
        (&["--rulesets", "bell", "--agents", "greedy", "--sweep", "nothing"], &["write a parameter and its values"]),
        (
            &["--rulesets", "bell", "--agents", "greedy", "--opening-policy", "mcts:seconds=1"],
            &["opening.policy: mcts:seconds=1"],
        ),
        (
            &["--rulesets", "bell", "--agents", "greedy", "--opening-temperature", "2"],
            &["name one with --opening-policy"],
        ),
        (&["--rulesets", "bell", "--agents", "net:none.safetensors"], &["can play none", "none.safetensors"]),
    ] {
        let complaint = with(arguments);
        assert!(parts.iter().all(|part| complaint.contains(part)), "{arguments:?}: {complaint}");
    }
    let file = folder.path().join("study.toml");
    fs::write(&file, "rulesets = [\"bell\"]\nhalf_widht = 0.1\n[opening]\nfirst = 3\n").expect("written");
    let complaint = with(&[path(&file)]);
    assert!(
        complaint.contains("half_widht; did you mean half_width?") && complaint.contains("opening.first"),
        "{complaint}"
    );
    fs::write(&file, "rulesets = [\"bell\"]\nagents = [\"greedy\"]\nhalf_width = 3.0\nmargin = 3.0\n")
        .expect("written");
    let complaint = with(&[path(&file)]);
    assert!(complaint.contains("half_width must be above 0 and below 0.5 (0.03 is 3 points of 100)"), "{complaint}");
    assert!(complaint.contains("margin must be above 0 and below 0.5 (0.03 is 3 points of 100)"), "{complaint}");
    fs::write(&file, "rulesets = \"bell\"").expect("written");
    assert!(with(&[path(&file)]).contains("study.toml"));
    fs::write(&file, "id = \"mine\"\nbase = \"bell\"\n").expect("written");
    for given in ["bell", path(&file)] {
        let complaint = with(&[given]);
        assert!(complaint.contains(&format!("is a ruleset, not a study: write --rulesets {given}")), "{complaint}");
    }
    assert!(!out.exists(), "a refused study leaves nothing behind");
    let complaint = self::complaint(&["--resume", path(&out)]);
    assert!(complaint.contains("study.json"), "{complaint}");
    // What a study is asked stands in its folder: an option that would change nothing is not passed over.
    for option in [
        &["--margin", "2"][..],
        &["--metrics"],
        &["--compensation"],
        &["--seed", "1"],
        &["--opening", "4"],
        &["--sweep", "capture.per_move=one"],
    ] {
        for going_on in ["--resume", "--report-only"] {
            let output = balance(&[&[going_on, path(&out)], option].concat());
            let complaint = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{going_on} {option:?}: {complaint}");
            assert!(complaint.contains("cannot be used with") && complaint.contains(option[0]), "{complaint}");
        }
    }
}

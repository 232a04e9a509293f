//! Ctrl-C: long work stops with what it has found, says how it goes on, and ends with the status of what was stopped.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::support::{complaint, printed, program};

/// Starts the program, sends it `signal` as soon as `is_at_work`, and returns how it ended.
fn stopped_by(signal: &str, arguments: &[&str], is_at_work: &dyn Fn() -> bool) -> Output {
    let child = program(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let begun = Instant::now();
    while !is_at_work() {
        assert!(begun.elapsed() < Duration::from_secs(120), "{arguments:?} does not come on");
        sleep(Duration::from_millis(5));
    }
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
    child.wait_with_output().unwrap()
}

/// Tells, some time from now on, that a program must have come to listen.
fn after(wait: Duration) -> impl Fn() -> bool {
    let begun = Instant::now();
    move || begun.elapsed() > wait
}

fn holds_a_line(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|about| about.len() > 0)
}

/// So many games that they are not over before the signal comes.
const MANY: [&str; 4] = ["--ruleset", "bell-8x8", "--games", "100000"];

#[test]
fn a_match_that_is_stopped_says_how_the_rest_is_played() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = folder.path().join("ledger.jsonl");
    let records = folder.path().join("records.jsonl");
    let agents = ["match", "alphabeta:nodes=2000", "greedy", "--quiet", "--ledger", ledger.to_str().unwrap()];
    let recorded = [&agents[..], &["--records", records.to_str().unwrap()], &MANY].concat();
    let kept = stopped_by("-INT", &recorded, &|| holds_a_line(&ledger));
    assert_eq!(kept.status.code(), Some(130), "{}", complaint(&kept));
    assert!(!records.exists(), "the same command needs a file that is new");
    assert!(printed(&kept).contains("stopped early  run the same command to play the rest"), "{}", printed(&kept));
    assert!(printed(&kept).contains("A alphabeta:nodes=2000") && complaint(&kept).is_empty(), "{}", complaint(&kept));
    let many = ["--ruleset", "bell-8x8,savard", "--games", "100000"];
    let kept = stopped_by("-INT", &[&agents[..], &many].concat(), &after(Duration::from_secs(3)));
    assert_eq!(kept.status.code(), Some(130), "{}", complaint(&kept));
    let told = printed(&kept);
    assert!(told.contains("bell-8x8") && told.contains("stopped early; run the same command"), "{told}");
    assert!(!told.contains("savard"), "{told}");
    // Without a ledger there is no rest to be played.
    let lost = stopped_by("-INT", &[&agents[..4], &MANY].concat(), &after(Duration::from_secs(3)));
    assert_eq!(lost.status.code(), Some(130), "{}", complaint(&lost));
    assert!(printed(&lost).contains("without --ledger FILE the games are lost"), "{}", printed(&lost));
    // What workers have played lies in the store.
    let store = folder.path().join("store");
    std::fs::create_dir(&store).unwrap();
    let shared = [&agents[..4], &["--store", store.to_str().unwrap()], &MANY].concat();
    let waited = after(Duration::from_secs(3));
    let kept = stopped_by("-INT", &shared, &|| store.join("games").is_dir() && waited());
    assert_eq!(kept.status.code(), Some(130), "{}", complaint(&kept));
    assert!(printed(&kept).contains("stopped early  run the same command to play the rest"), "{}", printed(&kept));
}

#[test]
fn ratings_studies_and_analyses_that_are_stopped_end_with_130() {
    let folder = tempfile::tempdir().unwrap();
    let [rating, study] = ["rating", "study"].map(|name| folder.path().join(name));
    let agents = ["rate", "alphabeta:nodes=2000", "greedy", "--quiet", "--out", rating.to_str().unwrap()];
    let kept = stopped_by("-INT", &[&agents[..], &MANY].concat(), &|| holds_a_line(&rating.join("games.jsonl")));
    assert_eq!(kept.status.code(), Some(130), "{}", complaint(&kept));
    assert!(printed(&kept).contains("stopped early; run the same command to play the rest"), "{}", printed(&kept));
    assert!(rating.join("rating.json").is_file());
    let report: serde_json::Value =
        serde_json::from_slice(&std::fs::read(rating.join("rating.json")).unwrap()).unwrap();
    let waits = report["games_waiting"].as_u64().unwrap();
    let told = printed(&kept);
    assert_eq!(told.contains(&format!("not counted: {waits} games that have ended")), waits > 0, "{told}");
    let lost = stopped_by("-INT", &[&agents[..4], &MANY].concat(), &after(Duration::from_secs(3)));
    assert_eq!(lost.status.code(), Some(130), "{}", complaint(&lost));
    assert!(printed(&lost).contains("without --out DIR the games are lost"), "{}", printed(&lost));

    let balance = ["balance", "--rulesets", "bell-8x8", "--agents", "alphabeta:nodes=2000", "--half-width", "0.1"];
    let out = ["--out", study.to_str().unwrap(), "--quiet"];
    let ledger = study.join("games/bell-8x8/alphabeta-nodes-2000.jsonl");
    let kept = stopped_by("-INT", &[&balance[..], &out].concat(), &|| holds_a_line(&ledger));
    assert_eq!(kept.status.code(), Some(130), "{}", complaint(&kept));
    assert!(printed(&kept).contains("stopped early; latrunculi balance --resume"), "{}", printed(&kept));

    let analyse = ["analyse", "--ruleset", "bell-8x8", "--agent", "alphabeta:nodes=100000000000", "--json"];
    let cut = stopped_by("-INT", &analyse, &after(Duration::from_secs(3)));
    assert_eq!(cut.status.code(), Some(130), "{}", complaint(&cut));
    assert!(printed(&cut).contains("\"stopped_early\": true"), "{}", printed(&cut));
}

#[test]
fn a_game_that_is_left_with_a_signal_while_a_line_is_awaited_is_recorded() {
    let folder = tempfile::tempdir().unwrap();
    for signal in ["-INT", "-TERM", "-HUP"] {
        let record = folder.path().join(signal);
        let play = ["play", "bell", "--second", "human", "--record", record.to_str().unwrap()];
        let mut child =
            program(&play).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the program starts");
        let mut typed = child.stdin.take().unwrap();
        typed.write_all(b"@a1\n@b1\n").unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
        let begun = said.by_ref().any(|line| line.unwrap().contains("on the board 2 : 0"));
        assert!(begun, "{signal}: the first turn is played");
        sleep(Duration::from_millis(300));
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        assert!(child.wait().unwrap().success(), "{signal}: as after quit");
        let games = std::fs::read_to_string(&record).expect(signal);
        assert!(games.contains("\"@a1\",\"@b1\""), "{signal}: {games}");
        drop(typed);
    }
}

#[test]
fn a_game_that_cannot_be_recorded_after_a_signal_is_not_lost_without_a_word() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("games.jsonl");
    let play = ["play", "bell", "--first", "random", "--second", "random", "--delay", "1", "--record"];
    let mut child = program(&[&play[..], &[record.to_str().unwrap()]].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(said.by_ref().any(|line| line.unwrap().contains("random: @")), "an action is played");
    std::fs::write(&record, "no game\n").unwrap();
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    said.for_each(drop);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", complaint(&output));
    assert!(complaint(&output).contains("games cannot be added"), "{}", complaint(&output));
}

#[cfg(feature = "libtorch")]
#[test]
fn training_and_its_halves_that_are_stopped_say_how_they_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let [shards, fitted, few] = ["shards", "fitted", "few"].map(|name| folder.path().join(name));
    let shown = |path: &Path| path.to_str().unwrap().to_owned();
    let smoke = "configs/train/smoke.toml";
    let many = ["--quiet", "--set", "teacher.games=100000", "--set", "games.actors=2"];
    for (signal, status) in [("-INT", 130), ("-TERM", 143)] {
        let run = folder.path().join(signal);
        let journal = run.join("shards/000000-bell.journal");
        let path = shown(&run);
        let train = [&["train", smoke, "--run", &path], &many[..]].concat();
        let output = stopped_by(signal, &train, &|| holds_a_line(&journal));
        assert_eq!(output.status.code(), Some(status), "{}", complaint(&output));
        assert!(
            complaint(&output).contains("continue from it with: latrunculi train --resume"),
            "{}",
            complaint(&output)
        );
    }
    let path = shown(&shards);
    let play = [&["selfplay", smoke, "--out", &path], &many[..]].concat();
    let output = stopped_by("-INT", &play, &|| holds_a_line(&shards.join("000000.journal")));
    assert_eq!(output.status.code(), Some(130), "{}", complaint(&output));
    assert_eq!(complaint(&output), "stopped; run the same command to continue\n");

    let few_games = ["selfplay", smoke, "--quiet", "--set", "teacher.games=4", "--out", &shown(&few)];
    assert!(program(&few_games).output().unwrap().status.success());
    let fit = ["fit", smoke, "--json", "--shards", &shown(&few), "--out", &shown(&fitted)];
    let steps = ["--steps", "1000000", "--checkpoint-every", "5"];
    let output = stopped_by("-INT", &[&fit[..], &steps].concat(), &|| fitted.join("checkpoint.safetensors").is_file());
    assert_eq!(output.status.code(), Some(130), "{}", complaint(&output));
    assert!(complaint(&output).starts_with("stopped after "), "{}", complaint(&output));
    assert!(complaint(&output).ends_with("steps; run the same command to continue\n"), "{}", complaint(&output));
}

#[cfg(feature = "libtorch")]
#[test]
fn final_matches_that_have_ended_are_not_played_again() {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let [played, result] = ["final.json", "result.json"].map(|name| run.join(name));
    let path = run.to_str().unwrap();
    // The match against the anchor comes last, and is long.
    let settings = ["budget.generations=1", "evaluation.every=0", "evaluation.opening_pairs=400"];
    let settings = settings.map(|setting| ["--set", setting]).concat();
    let train = [&["train", "configs/train/smoke.toml", "--run", path, "--quiet"], &settings[..]].concat();
    let output = stopped_by("-INT", &train, &|| holds_a_line(&played));
    assert_eq!(output.status.code(), Some(130), "{}", complaint(&output));
    let read =
        |path: &Path| serde_json::from_str::<serde_json::Value>(&std::fs::read_to_string(path).unwrap()).expect("JSON");
    let verified = program(&["inspect", "--verify", path]).output().unwrap();
    assert!(verified.status.success(), "{}", complaint(&verified));
    // A result that no match has shows that it was read.
    let mut kept = read(&played);
    assert_eq!(kept["matches"].as_array().map(Vec::len), Some(1), "{kept}");
    kept["matches"][0]["verdict"]["wins"] = 1234.into();
    std::fs::write(&played, kept.to_string()).unwrap();
    assert!(!result.exists());
    let output = program(&["train", "--resume", path, "--quiet"]).output().unwrap();
    assert!(output.status.success(), "{}", complaint(&output));
    assert_eq!(read(&result)["verdicts"]["bell"]["wins"], 1234);
    assert!(!played.exists());
}

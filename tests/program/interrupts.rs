//! Ctrl-C: long work stops with what it has found, says how it goes on, and ends with the status of what was stopped.

#![cfg(unix)]

use std::io::{BufRead, BufReader, Write};
use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::support::{Shell, assert_contains, complaint, printed, send};

/// Sends Ctrl-C to a line that is at work, which must end with status 130; returns what it prints, and what it complains of.
#[track_caller]
fn interrupted(shell: &Shell, line: &str, is_at_work: impl Fn() -> bool) -> (String, String) {
    let output = shell.stopped_by("-INT", line, is_at_work);
    assert_eq!(output.status.code(), Some(130), "{line}: {}", complaint(&output));
    (printed(&output), complaint(&output))
}

/// Tells, some time from now on, that a program must have come to listen.
fn later() -> impl Fn() -> bool {
    let begun = Instant::now();
    move || begun.elapsed() > Duration::from_secs(3)
}

const STRONG: &str = "alphabeta:nodes=2000";
/// So many games that they are not over before the signal comes.
const MANY: &str = "--ruleset bell-8x8 --games 100000";

#[test]
fn a_match_that_is_stopped_says_how_the_rest_is_played() {
    let shell = Shell::new();
    let agents = format!("match {STRONG} greedy --quiet");
    let whole = format!("{agents} {MANY} --ledger ledger --records records");
    let (kept, complaint) = interrupted(&shell, &whole, || shell.is_longer("ledger", 0));
    assert!(!shell.has("records"), "the same command needs a file that is new");
    let rest = "run the same command to play the rest";
    assert_contains(&kept, &[rest, "A alphabeta:nodes=2000"]);
    assert_eq!(complaint, "");
    let several = format!("{agents} --ledger ledger --ruleset bell-8x8,savard --games 100000");
    let (kept, _) = interrupted(&shell, &several, later());
    assert_contains(&kept, &["bell-8x8", "stopped early; run the same command"]);
    assert!(!kept.contains("savard"), "{kept}");
    // Without a ledger there is no rest to be played.
    let (lost, _) = interrupted(&shell, &format!("{agents} {MANY}"), later());
    assert_contains(&lost, &["without --ledger FILE the games are lost"]);
    // What workers have played lies in the store.
    std::fs::create_dir(shell.path("store")).expect("made");
    let waited = later();
    let shared = format!("{agents} {MANY} --store store");
    let (kept, _) = interrupted(&shell, &shared, || shell.has("store/games") && waited());
    assert_contains(&kept, &[rest]);
}

#[test]
fn ratings_studies_and_analyses_that_are_stopped_end_with_130() {
    let shell = Shell::new();
    let rate = format!("rate {STRONG} greedy {MANY} --quiet");
    let whole = format!("{rate} --out rating");
    let (kept, _) = interrupted(&shell, &whole, || shell.is_longer("rating/games.jsonl", 0));
    assert_contains(&kept, &["stopped early; run the same command to play the rest"]);
    let waits = shell.json("rating/rating.json")["games_waiting"].as_u64().expect("a number");
    assert_eq!(kept.contains(&format!("not counted: {waits} games that have ended")), waits > 0, "{kept}");
    let (lost, _) = interrupted(&shell, &rate, later());
    assert_contains(&lost, &["without --out DIR the games are lost"]);

    let balance = format!("balance --rulesets bell-8x8 --agents {STRONG} --half-width 0.1 --out study --quiet");
    let ledger = "study/games/bell-8x8/alphabeta-nodes-2000.jsonl";
    let (kept, _) = interrupted(&shell, &balance, || shell.is_longer(ledger, 0));
    assert_contains(&kept, &["stopped early; latrunculi balance --resume"]);

    let analyse = "analyse --ruleset bell-8x8 --agent alphabeta:nodes=100000000000 --json";
    assert_contains(&interrupted(&shell, analyse, later()).0, &["\"stopped_early\": true"]);
}

/// Waits until the program has printed a line with that part, and returns what reads on.
fn await_line(child: &mut Child, part: &str) -> impl Iterator<Item = String> + use<> {
    let mut said = BufReader::new(child.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
    assert!(said.by_ref().any(|line| line.contains(part)), "{part:?} is not said");
    said
}

#[test]
fn a_game_that_is_left_with_a_signal_while_a_line_is_awaited_is_recorded() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        let shell = Shell::new();
        let mut child = shell.start("play bell --second human --record games");
        let mut typed = child.stdin.take().expect("a pipe");
        typed.write_all(b"@a1\n@b1\n").expect("typed");
        let _said = await_line(&mut child, "on the board 2 : 0");
        sleep(Duration::from_millis(300));
        send(signal, &child);
        assert!(child.wait().expect("the end").success(), "{signal}: as after quit");
        assert_contains(&shell.text("games"), &["\"@a1\",\"@b1\""]);
    }
}

#[test]
fn a_game_that_cannot_be_recorded_after_a_signal_is_not_lost_without_a_word() {
    let shell = Shell::new();
    let mut child = shell.start("play bell --first random --second random --delay 1 --record games");
    let said = await_line(&mut child, "random: @");
    shell.write("games", "no game\n");
    send("-TERM", &child);
    said.for_each(drop);
    let output = child.wait_with_output().expect("the end");
    assert_eq!(output.status.code(), Some(1), "{}", complaint(&output));
    assert_contains(&complaint(&output), &["games cannot be added"]);
}

#[cfg(feature = "libtorch")]
#[test]
fn training_and_its_halves_that_are_stopped_say_how_they_go_on() {
    let shell = Shell::new();
    let many = "--quiet --set teacher.games=100000 --set games.actors=2";
    for (signal, status) in [("-INT", 130), ("-TERM", 143)] {
        let journal = format!("{signal}/shards/000000-bell.journal");
        let train = format!("train smoke --run ./{signal} {many}");
        let output = shell.stopped_by(signal, &train, || shell.is_longer(&journal, 0));
        assert_eq!(output.status.code(), Some(status), "{}", complaint(&output));
        assert_contains(&complaint(&output), &["continue from it with: latrunculi train --resume"]);
    }
    let play = format!("selfplay smoke --out shards {many}");
    let (_, complaint) = interrupted(&shell, &play, || shell.is_longer("shards/000000.journal", 0));
    assert_eq!(complaint, "stopped; run the same command to continue\n");

    shell.prints("selfplay smoke --quiet --set teacher.games=4 --out few");
    let fit = "fit smoke --json --shards few --out fitted --steps 1000000 --checkpoint-every 5";
    let (_, complaint) = interrupted(&shell, fit, || shell.has("fitted/checkpoint.safetensors"));
    assert!(complaint.starts_with("stopped after "), "{complaint}");
    assert!(complaint.ends_with("steps; run the same command to continue\n"), "{complaint}");
}

#[cfg(feature = "libtorch")]
#[test]
fn final_matches_that_have_ended_are_not_played_again() {
    let shell = Shell::new();
    // The match against the anchor comes last, and is long.
    let train = "train smoke --run run --quiet --set budget.generations=1 --set evaluation.every=0 \
        --set evaluation.opening_pairs=400";
    interrupted(&shell, train, || shell.is_longer("run/final.json", 0));
    shell.prints("inspect --verify run");
    // A result that no match has shows that it was read.
    let mut kept = shell.json("run/final.json");
    assert_eq!(kept["matches"].as_array().map(Vec::len), Some(1), "{kept}");
    kept["matches"][0]["verdict"]["wins"] = 1234.into();
    shell.write("run/final.json", kept.to_string());
    assert!(!shell.has("run/result.json"));
    shell.prints("train --resume run --quiet");
    assert_eq!(shell.json("run/result.json")["verdicts"]["bell"]["wins"], 1234);
    assert!(!shell.has("run/final.json"));
}

//! `play`, through pipes and through a terminal.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{assert_refused, complaint, latrunculi_reading, printed};

/// Player 1 takes the last man with c2-c3.
const WON: &str = "7d/8/8/8/8/Mm6/2M5/D7 1";

fn played(arguments: &[&str], lines: &str) -> String {
    let output = latrunculi_reading(&[&["play"], arguments].concat(), lines.as_bytes());
    assert!(output.status.success(), "{}", complaint(&output));
    assert_eq!(complaint(&output), "");
    printed(&output)
}

fn games(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("records");
    text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

#[test]
fn a_person_plays_with_words_however_short_and_is_told_what_was_wrong() {
    let lines = "\nhelp\nmoves\nb1-b2\nc2-c9\nnonsense\nundo\nh8-h7\nposition\nc2c3\nundo\nc3\nc2-c3\nsave\nquit\n";
    let said = played(&["--ruleset", "savard", "--position", WON, "--second", "random"], lines);
    for part in [
        "savard - ",
        "player 1 (upper case) human, player 2 (lower case) random",
        "Shorter forms work if they are clear",
        "c2-c3",
        "b1-b2 is not legal here: there is no piece on b1",
        "\"c9\" is not a square of this board",
        "\"nonsense\" is not an action",
        "there is nothing to take back",
        "c3 may mean c2-c3, a3-c3: write more of it",
        "the piece on h8 belongs to player 2 (lower case)",
        WON,
        "3  M  x [M] .",
        "player 1 wins: eliminated",
        "save which file? write save FILE",
    ] {
        assert!(said.contains(part), "{part:?} is missing from\n{said}");
    }
    assert!(said.contains("1. c2-c3\n"), "the record: {said}");
    let pieces = "D:a1 M:c2 M:a3 m:b3 d:h8";
    for (position, line) in [("initial", "mmmmmmmm"), (pieces, WON)] {
        let said = played(&["--ruleset", "savard", "--position", position], "position\nquit\n");
        assert!(said.contains(line), "{position}: {said}");
    }
    assert_eq!(said.matches("player 1 wins").count(), 2, "once before undo, once after: {said}");
    assert!(!said.contains('\u{1b}'), "no colours without a terminal");
}

#[test]
fn the_rules_captures_and_several_actions_taken_back() {
    let arguments = ["--ruleset", "savard", "--position", WON, "--second", "human"];
    let said = played(&arguments, "rules\nmoves\nundo 1\na3-b3\nundo 2\nundo x\nundo 1\nundo\nquit\n");
    for part in [
        "Winning and drawing\n  ",
        "c2-c3 (1)",
        "(1) takes one piece",
        "there is nothing to take back",
        "undo takes a number of actions, not \"x\"",
    ] {
        assert!(said.contains(part), "{part:?} is missing from\n{said}");
    }
}

#[test]
fn a_game_is_saved_loaded_resigned_and_taken_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("my games.jsonl");
    let shown = path.to_str().expect("a path");
    let arguments = ["--ruleset", "bell", "--second", "human", "--hint", "alphabeta:depth=1"];
    let said =
        played(&arguments, &format!("c3\nd4\nsave {shown}\nhint\nresign\nresign\nundo\nresign\nsave {shown}\nquit\n"));
    assert!(said.contains("alphabeta:depth=1: @"), "{said}");
    assert!(said.contains("player 1 wins: player 2 resigned"), "{said}");
    assert!(said.contains("the game is over"), "{said}");
    let saved = games(&path);
    assert_eq!(saved.len(), 2);
    assert_eq!(saved[0]["actions"], serde_json::json!(["@c3", "@d4"]));
    assert_eq!((&saved[0]["result"], &saved[1]["result"]), (&Value::Null, &Value::from("1")));
    // The record names its rules.
    let said = played(&[&arguments[2..], &["--load", shown, "--record", shown]].concat(), "undo\n@e5\n");
    assert!(said.contains(&format!("the game was added to {shown}")), "{said}");
    assert_eq!(games(&path)[2]["actions"], serde_json::json!(["@c3", "@d4", "@e5"]));
    // What is not saved is not left unasked.
    let said = played(&arguments, &format!("e5\nload {shown}\nrecord\nload {shown}\nrecord\nquit\n"));
    assert!(said.contains("this game is not saved: save FILE first, or write load again to leave it"), "{said}");
    assert!(said.contains("1. @e5\n") && said.contains("1. @c3"), "{said}");
    let kept = folder.path().join("kept.jsonl");
    let kept = kept.to_str().expect("a path");
    let said = played(&[&arguments[..], &["--record", kept]].concat(), &format!("e5\nload {shown}\nquit\n"));
    assert_eq!(said.matches(&format!("the game was added to {kept}")).count(), 2, "{said}");
    assert_eq!(games(Path::new(kept))[0]["actions"], serde_json::json!(["@e5"]));
    // Where both are one file, its last game is the one that was there before.
    let said = played(&[&arguments[..], &["--record", kept]].concat(), &format!("f4\nload {kept}\nrecord\nquit\n"));
    assert!(said.contains("1. @c3") && !said.contains("1. @f4"), "{said}");
    assert_eq!(games(Path::new(kept))[2]["actions"], serde_json::json!(["@f4"]));
    // A file of something else is left alone, and so is the game.
    let other = folder.path().join("other.txt");
    fs::write(&other, "my diary\n").expect("written");
    let said = played(
        &arguments,
        &format!("c3\nsave {0}\nload {0}\nload {shown}.lost\nsave /dev/full\nmoves\n", other.display()),
    );
    // Long messages are in lines; what has no space, as a path, may be longer.
    let is_broken = |line: &str| line.chars().count() <= 80 || line.split_whitespace().count() == 1;
    assert!(said.lines().all(is_broken), "{said}");
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.contains("which is left as it is") && said.contains("line 1"), "{said}");
    assert_eq!(fs::read_to_string(&other).expect("there"), "my diary\n");
    assert!(said.contains("@d4"), "the game goes on: {said}");
}

#[test]
fn two_agents_are_watched_to_the_end_and_leave_a_record_and_a_curve() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("games.jsonl");
    let shown = path.to_str().expect("a path");
    let arguments = [
        "--ruleset",
        "savard",
        "--first",
        "alphabeta:nodes=300",
        "--second",
        "random",
        "--record",
        shown,
        "--seed",
        "3",
    ];
    let said = played(&arguments, "");
    assert!(said.contains("player 1 wins") && said.contains("+1 wins |") && said.contains("actions\n"), "{said}");
    let record = &games(&path)[0];
    let listed = said.split("player 1 wins").nth(1).expect("what follows the end");
    let first = record["actions"][0].as_str().expect("an action");
    assert!(listed.contains(&format!("1. {first}  2. ")), "the record: {listed}");
    assert_eq!(record["result"], "1");
    assert_eq!(record["values"].as_array().map(Vec::len), record["actions"].as_array().map(Vec::len));
    let coloured = played(&[&arguments[..], &["--color", "always"]].concat(), "");
    assert!(coloured.contains("\u{1b}["));
}

#[test]
fn lines_that_nobody_types_are_named_and_passed_over() {
    let endless = "x".repeat((1 << 20) + 1);
    let said =
        played(&["--ruleset", "savard", "--position", WON, "--second", "random"], &format!("{endless}\nc2-c3\n"));
    assert!(said.contains("more than 1048576 bytes") && said.contains("player 1 wins"), "{said}");
}

#[test]
fn nonsense_is_refused_with_its_reason() {
    for (arguments, status, word) in [
        (&["play"][..], 2, "<RULESET>"),
        (&["play", "--ruleset", "savrd"], 1, "did you mean savard?"),
        (&["play", "--ruleset", "bell", "--first", "nobody"], 2, "no agent"),
        (&["play", "--ruleset", "bell", "--hint", "human"], 1, "--hint"),
        (&["play", "--ruleset", "bell", "--delay", "-1"], 2, "-1"),
        (&["play", "--ruleset", "bell", "--delay", "NaN"], 2, "number of seconds"),
        (&["play", "--ruleset", "bell", "--color", "sometimes"], 2, "never"),
        (&["play", "--ruleset", "bell", "--position", "x"], 1, "not a position"),
        (&["play", "--ruleset", "bell", "--load", "no-such-file"], 1, "no-such-file"),
        (&["play", "--ruleset", "bell", "--record", "no/such/folder/x"], 1, "there is no folder"),
        (&["play", "--ruleset", "bell", "--record", "Cargo.toml"], 1, "left as it is"),
    ] {
        assert_refused(arguments, status, &[word]);
    }
}

#[cfg(unix)]
mod on_a_terminal {
    use rexpect::process::{Signal, WaitStatus};
    use rexpect::session::{PtySession, spawn_command};

    use super::*;
    use crate::support::program;

    /// Long enough for a machine that has much else to do.
    const PATIENCE_MILLISECONDS: u64 = 60_000;

    fn start(arguments: &[&str], environment: &[(&str, &str)]) -> PtySession {
        let mut command = program(&[&["play"], arguments].concat());
        command.env("TERM", "xterm").env_remove("NO_COLOR").envs(environment.iter().copied());
        spawn_command(command, Some(PATIENCE_MILLISECONDS)).expect("a terminal")
    }

    /// Starts a game of two persons whose first action is played.
    fn begun(arguments: &[&str]) -> PtySession {
        let mut terminal = start(&[&["--ruleset", "bell", "--second", "human"], arguments].concat(), &[]);
        terminal.exp_string("player 1 (M)> ").expect("a prompt");
        terminal.send_line("c3").expect("typed");
        terminal.exp_string("player 1 (M)> ").expect("a prompt");
        terminal
    }

    #[test]
    fn tab_completes_what_is_legal_and_the_arrow_brings_back_what_was_typed() {
        let mut terminal = start(&["--ruleset", "savard", "--position", WON, "--second", "human"], &[]);
        terminal.exp_string("player 1 (M)> ").expect("a prompt");
        terminal.send("c2-c3\u{8}\u{8}\t").expect("typed");
        terminal.flush().expect("typed");
        // Two targets begin with c2-: they are listed.
        terminal.exp_string("c2-d2").expect("the list");
        terminal.send_control('u').expect("typed");
        terminal.send_line("posit\t").expect("typed");
        terminal.exp_string(WON).expect("the position");
        terminal.exp_string("player 1 (M)> ").expect("a prompt");
        terminal.send("\u{1b}[A").expect("typed");
        terminal.send_line("").expect("typed");
        terminal.exp_string(WON).expect("the position again");
        terminal.exp_string("player 1 (M)> ").expect("a prompt");
        terminal.send_line("quit").expect("typed");
        terminal.exp_eof().expect("the end");
    }

    #[test]
    fn who_leaves_is_asked_where_to_save_the_game() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("game.jsonl");
        let mut terminal = begun(&[]);
        terminal.send_control('c').expect("typed");
        terminal.exp_string("this game is not saved").expect("the question");
        terminal.send_line("Cargo.toml").expect("typed");
        terminal.exp_string("left as it is").expect("a refusal");
        terminal.exp_string("this game is not saved").expect("the question again");
        terminal.send_line(path.to_str().expect("a path")).expect("typed");
        terminal.exp_string("saved to").expect("an answer");
        terminal.exp_eof().expect("the end");
        assert_eq!(games(&path)[0]["actions"], serde_json::json!(["@c3"]));
    }

    #[test]
    fn where_the_record_cannot_be_written_another_file_is_asked_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let [gone, path] = ["gone", "game.jsonl"].map(|name| folder.path().join(name));
        fs::create_dir(&gone).expect("a folder");
        let record = gone.join("game.jsonl");
        let mut terminal = begun(&["--record", record.to_str().expect("a path")]);
        fs::remove_dir(&gone).expect("an empty folder");
        terminal.send_line("quit").expect("typed");
        terminal.exp_string("cannot write").expect("the reason");
        terminal.exp_string("this game is not saved").expect("the question");
        terminal.send_line(path.to_str().expect("a path")).expect("typed");
        terminal.exp_string("saved to").expect("an answer");
        terminal.exp_eof().expect("the end");
        assert_eq!(games(&path)[0]["actions"], serde_json::json!(["@c3"]));
    }

    #[test]
    fn ctrl_c_ends_an_agents_thinking_and_the_record_is_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("game.jsonl");
        let shown = path.to_str().expect("a path");
        let mut terminal = start(
            &["--ruleset", "bell", "--first", "random", "--second", "mcts:sims=10000000", "--record", shown],
            &[],
        );
        terminal.exp_string("mcts:sims=10000000 thinks").expect("somebody thinks");
        terminal.send_control('c').expect("typed");
        terminal.exp_string("the game was added to").expect("the record");
        terminal.exp_eof().expect("the end");
        assert!(matches!(terminal.process().wait(), Ok(WaitStatus::Exited(_, 130))));
        assert!(!games(&path)[0]["actions"].as_array().expect("actions").is_empty());
    }

    #[test]
    fn a_polite_kill_and_the_end_of_the_terminal_keep_the_record() {
        let folder = tempfile::tempdir().expect("a folder");
        for signal in [Signal::SIGTERM, Signal::SIGHUP] {
            let path = folder.path().join(signal.as_str());
            let mut terminal = begun(&["--record", path.to_str().expect("a path")]);
            terminal.process_mut().signal(signal).expect("sent");
            terminal.exp_eof().expect("the end");
            assert_eq!(games(&path)[0]["actions"], serde_json::json!(["@c3"]), "{signal}");
        }
    }

    #[test]
    fn colours_are_for_terminals_that_want_them() {
        let first_board = |arguments: &[&str], environment: &[(&str, &str)]| {
            let position = ["--ruleset", "savard", "--position", WON, "--second", "human"];
            let mut terminal = start(&[&position[..], arguments].concat(), environment);
            let board = terminal.exp_string("on the board").expect("a board");
            terminal.exp_string("> ").expect("a prompt");
            terminal.send_line("quit").expect("typed");
            terminal.exp_eof().expect("the end");
            board
        };
        assert!(first_board(&[], &[]).contains("\u{1b}[1m\u{1b}[4m\u{1b}[96mD"), "{:?}", first_board(&[], &[]));
        assert!(!first_board(&[], &[("NO_COLOR", "1")]).contains('\u{1b}'));
        assert!(!first_board(&["--color", "never"], &[]).contains('\u{1b}'));
        assert!(!first_board(&[], &[("TERM", "dumb")]).contains('\u{1b}'));
    }
}

#[test]
fn the_first_search_by_the_clock_is_a_search() {
    let folder = tempfile::tempdir().expect("a folder");
    let record = folder.path().join("games.jsonl");
    let arguments = ["savard", "--second", "net:seconds=0.01", "--record", record.to_str().expect("a path")];
    played(&arguments, "a3-a4\nquit\n");
    let efforts = &games(&record)[0]["efforts"];
    assert!(efforts[1].as_u64().is_some_and(|simulations| simulations > 0), "{efforts}");
}

//! `play`, through pipes and through a terminal.

use serde_json::json;

use crate::support::{Shell, assert_contains, complaint, printed};

/// Player 1 takes the last man with c2-c3.
const WON: &str = "7d/8/8/8/8/Mm6/2M5/D7 1";

/// The options of a game from [`WON`].
fn won() -> String {
    format!("--ruleset savard --position '{WON}' --second")
}

/// Plays in a folder, with these lines as input.
fn played_in(shell: &Shell, options: &str, lines: &str) -> String {
    let output = shell.run_reading(&format!("play {options}"), lines.as_bytes());
    assert!(output.status.success() && complaint(&output).is_empty(), "{}", complaint(&output));
    printed(&output)
}

fn played(options: &str, lines: &str) -> String {
    played_in(&Shell::new(), options, lines)
}

#[test]
fn the_rest_of_the_stones_is_placed_for_a_person() {
    let said = played("dutch-8x8-placement --second greedy --hint greedy", "@c3\nplace\nposition\nplace\nquit\n");
    assert_contains(&said, &[" - move - ", "there is nothing to place"]);
}

#[test]
fn a_person_plays_with_words_however_short_and_is_told_what_was_wrong() {
    let lines = "\nhelp\nmoves\nb1-b2\nc2-c9\nnonsense\nundo\nh8-h7\nposition\nc2c3\nundo\nc3\nc2-c3\nsave\nquit\n";
    let said = played(&(won() + " random"), lines);
    let parts = [
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
        "player 1 wins: all men captured",
        "save which file? write save FILE",
        "1. c2-c3\n",
    ];
    assert_contains(&said, &parts);
    assert_eq!(said.matches("player 1 wins").count(), 2, "once before undo, once after: {said}");
    assert!(!said.contains('\u{1b}'), "no colours without a terminal");
    for (position, line) in [("initial", "mmmmmmmm"), ("D:a1 M:c2 M:a3 m:b3 d:h8", WON)] {
        let said = played(&format!("--ruleset savard --position '{position}'"), "position\nquit\n");
        assert_contains(&said, &[line]);
    }
}

#[test]
fn the_rules_captures_and_several_actions_taken_back() {
    let said = played(&(won() + " human"), "rules\nmoves\nundo 1\na3-b3\nundo 2\nundo x\nundo 1\nundo\nquit\n");
    let parts = [
        "Winning and drawing\n  ",
        "c2-c3 (1)",
        "(1) takes one piece",
        "there is nothing to take back",
        "undo takes a number of actions, not \"x\"",
    ];
    assert_contains(&said, &parts);
}

#[test]
fn hints_are_of_an_agent_that_fits_the_opponent_and_say_what_its_network_does_not_know() {
    let shell = Shell::new();
    shell.write("own.toml", "id = \"own\"\nbase = \"bell\"\n[end]\nquiet_limit = 9\n");
    let note = "note: universal in own: the network is near what it was trained on";
    let said = played_in(&shell, "own.toml --second greedy", "hint\nhint\nquit\n");
    assert_contains(&said, &["net:universal,sims=400: @", note]);
    assert_eq!(said.matches(note).count(), 2, "with each hint: {said}");
    let said = played_in(&shell, "bell --second net:sims=500", "hint\nquit\n");
    assert_contains(&said, &["net:universal,sims=500: @"]);
    assert!(!said.contains("note: "), "{said}");
}

#[test]
fn a_game_is_saved_loaded_resigned_and_taken_back() {
    let shell = Shell::new();
    let bell = "--ruleset bell --second human --hint alphabeta:depth=1";
    let saved = played_in(&shell, bell, "c3\nd4\nsave a b\nhint\nresign\nresign\nundo\nresign\nsave a b\nquit\n");
    assert_contains(&saved, &["alphabeta:depth=1: @", "player 1 wins: player 2 resigned", "the game is over"]);
    let games = shell.lines("a b");
    assert_eq!(games.len(), 2);
    assert_eq!(games[0]["actions"], json!(["@c3", "@d4"]));
    assert_eq!((&games[0]["result"], &games[1]["result"]), (&json!(null), &json!("1")));
    // The record names its rules.
    let said = played_in(&shell, "--second human --load 'a b' --record 'a b'", "undo\n@e5\n");
    assert_contains(&said, &["the game was added to a b"]);
    assert_eq!(shell.lines("a b")[2]["actions"], json!(["@c3", "@d4", "@e5"]));
    // What is not saved is not left unasked.
    let said = played_in(&shell, bell, "e5\nload a b\nrecord\nload a b\nrecord\nquit\n");
    let asked = "this game is not saved: save FILE first, or write load again to leave it";
    assert_contains(&said, &[asked, "1. @e5\n", "1. @c3"]);
    let recorded = format!("{bell} --record kept");
    let said = played_in(&shell, &recorded, "e5\nload a b\nquit\n");
    assert_eq!(said.matches("the game was added to kept").count(), 2, "{said}");
    assert_eq!(shell.lines("kept")[0]["actions"], json!(["@e5"]));
    // Where both are one file, its last game is the one that was there before.
    let said = played_in(&shell, &recorded, "f4\nload kept\nrecord\nquit\n");
    assert!(said.contains("1. @c3") && !said.contains("1. @f4"), "{said}");
    assert_eq!(shell.lines("kept")[2]["actions"], json!(["@f4"]));
    // A file of something else is left alone, and so is the game.
    shell.write("diary", "my diary\n");
    let other = shell.path("diary").display().to_string();
    let lines = format!("c3\nsave {other}\nload {other}\nload {other}.lost\nsave /dev/full\nmoves\n");
    let said = played_in(&shell, bell, &lines);
    // Long messages are in lines; what has no space, as a path, may be longer.
    let is_broken = |line: &str| line.chars().count() <= 80 || line.split_whitespace().count() == 1;
    assert!(said.lines().all(is_broken), "{said}");
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_contains(&said, &["which is left as it is", "line 1", "@d4"]);
    assert_eq!(shell.text("diary"), "my diary\n");
}

#[test]
fn two_agents_are_watched_to_the_end_and_leave_a_record_and_a_curve() {
    let shell = Shell::new();
    let options = "--ruleset savard --first alphabeta:nodes=300 --second random --seed 3 --record games";
    let said = played_in(&shell, options, "");
    assert_contains(&said, &["+1 wins |", "actions\n"]);
    let (_, listed) = said.split_once("player 1 wins").expect("an end");
    let record = &shell.lines("games")[0];
    let first = record["actions"][0].as_str().expect("an action");
    assert_contains(listed, &[&format!("1. {first}  2. ")]);
    assert_eq!(record["result"], "1");
    assert_eq!(record["values"].as_array().map(Vec::len), record["actions"].as_array().map(Vec::len));
    assert_contains(&played_in(&shell, &format!("{options} --color always"), ""), &["\u{1b}["]);
}

#[test]
fn lines_that_nobody_types_are_named_and_passed_over() {
    let endless = "x".repeat((1 << 20) + 1);
    let said = played(&(won() + " random"), &format!("{endless}\nc2-c3\n"));
    assert_contains(&said, &["more than 1048576 bytes", "player 1 wins"]);
}

#[test]
fn nonsense_is_refused_with_its_reason() {
    for (line, status, part) in [
        ("", 2, "<RULESET>"),
        ("--ruleset savrd", 1, "did you mean savard?"),
        ("--ruleset bell --first nobody", 2, "no agent"),
        ("--ruleset bell --hint human", 1, "--hint"),
        ("--ruleset bell --delay -1", 2, "-1"),
        ("--ruleset bell --delay NaN", 2, "number of seconds"),
        ("--ruleset bell --color sometimes", 2, "never"),
        ("--ruleset bell --position x", 1, "not a position"),
        ("--ruleset bell --load no-such-file", 1, "no-such-file"),
        ("--ruleset bell --record no/such/folder/x", 1, "there is no folder"),
        ("--ruleset bell --record Cargo.toml", 1, "left as it is"),
    ] {
        Shell::in_root().refuses(&format!("play {line}"), status, &[part]);
    }
}

#[test]
fn the_first_search_by_the_clock_is_a_search() {
    let shell = Shell::new();
    played_in(&shell, "savard --second net:seconds=0.01 --record games", "a3-a4\nquit\n");
    let efforts = &shell.lines("games")[0]["efforts"];
    assert!(efforts[1].as_u64() > Some(0), "{efforts}");
}

#[cfg(unix)]
mod on_a_terminal {
    use rexpect::process::{Signal, WaitStatus};
    use rexpect::session::{PtySession, spawn_command};

    use super::*;

    /// Long enough for a machine that has much else to do.
    const PATIENCE_MILLISECONDS: u64 = 60_000;

    /// A game that is played on a terminal.
    struct Terminal(PtySession);

    impl Terminal {
        fn start(shell: &Shell, options: &str, environment: &[(&str, &str)]) -> Terminal {
            let mut command = shell.command(&format!("play {options}"));
            command.env("TERM", "xterm").env_remove("NO_COLOR").envs(environment.iter().copied());
            Terminal(spawn_command(command, Some(PATIENCE_MILLISECONDS)).expect("a terminal"))
        }

        /// Starts a game of two persons whose first action is played.
        fn begun(shell: &Shell, options: &str) -> Terminal {
            let mut terminal = Terminal::start(shell, &format!("--ruleset bell --second human {options}"), &[]);
            terminal.expect(&[PROMPT]);
            terminal.enter("c3");
            terminal.expect(&[PROMPT]);
            terminal
        }

        /// Waits for one text after another.
        fn expect(&mut self, texts: &[&str]) {
            for text in texts {
                self.0.exp_string(text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
            }
        }

        fn enter(&mut self, line: &str) {
            self.0.send_line(line).expect("typed");
        }

        fn press(&mut self, letter_with_control: char) {
            self.0.send_control(letter_with_control).expect("typed");
        }

        /// Waits for one text after another, and for the end.
        fn ends_with(&mut self, texts: &[&str]) {
            self.expect(texts);
            self.0.exp_eof().expect("the end");
        }
    }

    const PROMPT: &str = "player 1 (M)> ";

    #[test]
    fn tab_completes_what_is_legal_and_the_arrow_brings_back_what_was_typed() {
        let mut terminal = Terminal::start(&Shell::in_root(), &(won() + " human"), &[]);
        terminal.expect(&[PROMPT]);
        terminal.0.send("c2-c3\u{8}\u{8}\t").expect("typed");
        terminal.0.flush().expect("typed");
        // Two targets begin with c2-: they are listed.
        terminal.expect(&["c2-d2"]);
        terminal.press('u');
        terminal.enter("posit\t");
        terminal.expect(&[WON, PROMPT]);
        terminal.enter("\u{1b}[A");
        terminal.expect(&[WON, PROMPT]);
        terminal.enter("quit");
        terminal.ends_with(&[]);
    }

    #[test]
    fn who_leaves_is_asked_where_to_save_the_game() {
        let shell = Shell::new();
        shell.write("diary", "my diary\n");
        let mut terminal = Terminal::begun(&shell, "");
        terminal.press('c');
        terminal.expect(&["this game is not saved"]);
        terminal.enter("diary");
        terminal.expect(&["left as it is", "this game is not saved"]);
        terminal.enter("game");
        terminal.ends_with(&["saved to"]);
        assert_eq!(shell.lines("game")[0]["actions"], json!(["@c3"]));
    }

    #[test]
    fn where_the_record_cannot_be_written_another_file_is_asked_for() {
        let shell = Shell::new();
        std::fs::create_dir(shell.path("gone")).expect("a folder");
        let mut terminal = Terminal::begun(&shell, "--record gone/game");
        std::fs::remove_dir(shell.path("gone")).expect("an empty folder");
        terminal.enter("quit");
        terminal.expect(&["cannot write", "this game is not saved"]);
        terminal.enter("game");
        terminal.ends_with(&["saved to"]);
        assert_eq!(shell.lines("game")[0]["actions"], json!(["@c3"]));
    }

    #[test]
    fn ctrl_c_ends_an_agents_thinking_and_the_record_is_kept() {
        let shell = Shell::new();
        let options = "--ruleset bell --first random --second mcts:sims=10000000 --record game";
        let mut terminal = Terminal::start(&shell, options, &[]);
        terminal.expect(&["mcts:sims=10000000 thinks"]);
        terminal.press('c');
        terminal.ends_with(&["the game was added to"]);
        assert!(matches!(terminal.0.process().wait(), Ok(WaitStatus::Exited(_, 130))));
        assert!(shell.lines("game")[0]["actions"][0].is_string());
    }

    #[test]
    fn sigterm_and_the_end_of_the_terminal_keep_the_record() {
        for signal in [Signal::SIGTERM, Signal::SIGHUP] {
            let shell = Shell::new();
            let mut terminal = Terminal::begun(&shell, "--record game");
            terminal.0.process_mut().signal(signal).expect("sent");
            terminal.ends_with(&[]);
            assert_eq!(shell.lines("game")[0]["actions"], json!(["@c3"]), "{signal}");
        }
    }

    #[test]
    fn colours_are_for_terminals_that_want_them() {
        let first_board = |options: &str, environment: &[(&str, &str)]| {
            let mut terminal = Terminal::start(&Shell::in_root(), &format!("{} human {options}", won()), environment);
            let board = terminal.0.exp_string("on the board").expect("a board");
            terminal.expect(&["> "]);
            terminal.enter("quit");
            terminal.ends_with(&[]);
            board
        };
        assert_contains(&first_board("", &[]), &["\u{1b}[1m\u{1b}[4m\u{1b}[96mD"]);
        let plain = [("", &[("NO_COLOR", "1")][..]), ("--color never", &[]), ("", &[("TERM", "dumb")])];
        for (options, environment) in plain {
            assert!(!first_board(options, environment).contains('\u{1b}'), "{options} {environment:?}");
        }
    }
}

//! Completions, manual pages, and how the program behaves among other programs.

use std::process::Stdio;

use crate::support::{assert_refused, complaint, latrunculi, printed, program};

/// Every command of the program.
fn commands() -> Vec<String> {
    let help = printed(&latrunculi(&["--help"]));
    let (_, list) = help.split_once("Commands:\n").expect("a list");
    list.lines()
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next().map(str::to_owned))
        .collect()
}

#[test]
fn completions_know_every_command_and_the_names_of_rulesets_and_agents() {
    for shell in ["bash", "zsh", "fish"] {
        let script = printed(&latrunculi(&["completions", shell]));
        for word in commands().iter().map(String::as_str).chain(["x-museum-quintana", "alphabeta"]) {
            assert!(script.contains(word), "{word} is missing for {shell}");
        }
    }
    assert_refused(&["completions", "cmd"], 2, &["bash"]);
    // What may follow an option is offered by its kind; the first value stands on the option's line.
    let fish = printed(&latrunculi(&["completions", "fish"]));
    let offered = |command: &str, option: &str| {
        let is_its = |line: &&str| line.contains(command) && line.contains(&format!("-l {option} "));
        let line = fish.lines().find(is_its).unwrap_or_else(|| panic!("no {option} of {command}"));
        line.rsplit_once(" -a \"").map_or("", |(_, values)| values.split('\\').next().unwrap_or_default())
    };
    for (command, option, first) in [
        ("subcommand play", "ruleset", "bell"),
        ("subcommand play", "second", "human"),
        ("subcommand balance", "rulesets", "bell"),
        ("subcommand rate", "gauntlet", "human"),
        ("subcommand selfplay", "first", ""),
    ] {
        assert_eq!(offered(command, option), first, "{command} --{option}");
    }
}

#[test]
fn there_is_a_manual_page_for_every_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let pages = folder.path().join("man");
    let output = latrunculi(&["man", "--out", pages.to_str().expect("a path")]);
    assert!(output.status.success(), "{}", complaint(&output));
    let commands = commands();
    assert!(commands.len() > 12, "{commands:?}");
    for command in commands.iter().filter(|command| *command != "help") {
        let page = std::fs::read_to_string(pages.join(format!("latrunculi-{command}.1"))).expect("a page");
        assert!(page.contains(".TH") && page.contains(&format!("latrunculi\\-{command}")), "{command}");
    }
    assert!(printed(&latrunculi(&["man", "play"])).contains(".TH latrunculi-play"));
    assert!(printed(&latrunculi(&["man"])).contains(".TH latrunculi"));
    for words in [&["man", "rulesets", "list"][..], &["man", "rulesets list"]] {
        assert!(
            printed(&latrunculi(words)).contains(".TH latrunculi-rulesets-list"),
            "{}",
            printed(&latrunculi(words))
        );
    }
    assert_refused(&["man", "pley"], 1, &["did you mean play? The commands are"]);
    assert_refused(&["man", "foo"], 1, &["no command \"foo\". The commands are"]);
    assert_refused(&["man", "play", "list"], 1, &["play has no commands of its own"]);
    assert_refused(&["man", "--out", "Cargo.toml"], 1, &["Cargo.toml"]);
}

#[test]
fn every_command_explains_itself_and_refuses_what_it_does_not_know() {
    for command in commands().iter().filter(|command| *command != "help") {
        let help = latrunculi(&[command, "--help"]);
        assert!(help.status.success() && printed(&help).contains("Usage: latrunculi"), "{command}");
        assert_refused(&[command, "--no-such-option"], 2, &["--no-such-option"]);
    }
    assert_refused(&["paly"], 2, &["'play'"]);
    assert_eq!(latrunculi(&[]).status.code(), Some(2));
}

#[test]
fn a_reader_who_has_had_enough_is_no_error() {
    for arguments in [
        &["rulesets", "list"][..],
        &["rulesets", "document"],
        &["completions", "bash"],
        &["man"],
        &["--help"],
        &["perft", "--ruleset", "bell", "--depth", "2", "--divide"],
        &["analyse", "--ruleset", "bell", "--agent", "random"],
        &["play", "--ruleset", "bell", "--first", "random", "--second", "random"],
        &["match", "random", "random", "--ruleset", "savard", "--games", "2", "--quiet"],
        &["inspect", "configs/rulesets/bell.toml"],
        &["doctor"],
    ] {
        let mut child = program(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("the end");
        assert!(!complaint(&output).contains("panicked"), "{arguments:?}: {}", complaint(&output));
        assert_ne!(output.status.code(), Some(101), "{arguments:?}");
        assert_eq!(complaint(&output).lines().filter(|line| line.starts_with("error")).count(), 0, "{arguments:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_and_no_panic() {
    for arguments in [
        &["rulesets", "list"][..],
        &["rulesets", "document"],
        &["perft", "--ruleset", "bell", "--depth", "1", "--divide"],
        &["analyse", "--ruleset", "bell", "--agent", "random"],
        &["analyse", "--ruleset", "bell", "--agent", "random", "--json"],
        &["play", "--ruleset", "bell", "--first", "random", "--second", "random"],
        &["match", "random", "random", "--ruleset", "savard", "--games", "2", "--quiet"],
        &["inspect", "configs/rulesets/bell.toml"],
        &["completions", "bash"],
        &["man"],
        &["doctor"],
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
        let output = program(arguments).stdin(Stdio::null()).stdout(full).output().expect("the program runs");
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {}", complaint(&output));
        assert!(complaint(&output).starts_with("error: "), "{arguments:?}: {}", complaint(&output));
        assert!(!complaint(&output).contains("panicked"), "{arguments:?}: {}", complaint(&output));
    }
}

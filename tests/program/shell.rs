//! Completions, manual pages, and how the program behaves among other programs.

use crate::support::{Shell, assert_contains, complaint};

/// Every command of the program.
fn commands() -> Vec<String> {
    let help = Shell::in_root().prints("--help");
    let (_, list) = help.split_once("Commands:\n").expect("a list");
    list.lines()
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next().map(str::to_owned))
        .collect()
}

#[test]
fn completions_know_every_command_and_the_names_of_rulesets_and_agents() {
    let shell = Shell::in_root();
    let commands = commands();
    let words: Vec<&str> = commands.iter().map(String::as_str).chain(["x-museum-quintana", "alphabeta"]).collect();
    for name in ["bash", "zsh", "fish"] {
        assert_contains(&shell.prints(&format!("completions {name}")), &words);
    }
    shell.refuses("completions cmd", 2, &["bash"]);
    // What may follow an option is offered by its kind; the first value stands on the option's line.
    let fish = shell.prints("completions fish");
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
    let shell = Shell::new();
    shell.prints("man --out man");
    let commands = commands();
    assert!(commands.len() > 12, "{commands:?}");
    for command in commands.iter().filter(|command| *command != "help") {
        let page = shell.text(&format!("man/latrunculi-{command}.1"));
        assert_contains(&page, &[".TH", &format!("latrunculi\\-{command}")]);
    }
    for (line, title) in [
        ("man", ".TH latrunculi"),
        ("man play", ".TH latrunculi-play"),
        ("man rulesets list", ".TH latrunculi-rulesets-list"),
        ("man 'rulesets list'", ".TH latrunculi-rulesets-list"),
    ] {
        assert_contains(&shell.prints(line), &[title]);
    }
    shell.write("file", "");
    for (line, part) in [
        ("man pley", "did you mean play?"),
        ("man foo", "no command \"foo\" among rulesets"),
        ("man play list", "play has no commands of its own"),
        ("man --out file", "file"),
    ] {
        shell.refuses(line, 1, &[part]);
    }
}

#[test]
fn every_command_explains_itself_and_refuses_what_it_does_not_know() {
    let shell = Shell::in_root();
    for command in commands().iter().filter(|command| *command != "help") {
        assert_contains(&shell.prints(&format!("{command} --help")), &["Usage: latrunculi"]);
        shell.refuses(&format!("{command} --no-such-option"), 2, &["--no-such-option"]);
    }
    shell.refuses("paly", 2, &["'play'"]);
    assert_eq!(shell.run("").status.code(), Some(2));
}

/// Command lines that print much or little.
const PRINTING: [&str; 12] = [
    "--help",
    "rulesets list",
    "rulesets document",
    "completions bash",
    "man",
    "perft --ruleset bell --depth 2 --divide",
    "analyse --ruleset bell --agent random",
    "analyse --ruleset bell --agent random --json",
    "play --ruleset bell --first random --second random",
    "match random random --ruleset savard --games 2 --quiet",
    "inspect configs/rulesets/bell.toml",
    "doctor",
];

#[test]
fn a_reader_who_has_had_enough_is_no_error() {
    for line in PRINTING {
        let mut child = Shell::in_root().start(line);
        drop((child.stdin.take(), child.stdout.take()));
        let output = child.wait_with_output().expect("the end");
        assert_ne!(output.status.code(), Some(101), "{line}");
        let is_error = |said: &str| said.starts_with("error") || said.contains("panicked");
        assert!(!complaint(&output).lines().any(is_error), "{line}: {}", complaint(&output));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_and_no_panic() {
    // The parser of arguments prints the help.
    for line in &PRINTING[1..] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("/dev/full");
        let output = Shell::in_root().command(line).stdout(full).output().expect("the program runs");
        assert_eq!(output.status.code(), Some(1), "{line}: {}", complaint(&output));
        assert!(complaint(&output).starts_with("error: "), "{line}: {}", complaint(&output));
        assert!(!complaint(&output).contains("panicked"), "{line}: {}", complaint(&output));
    }
}

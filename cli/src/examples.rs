//! A line that works, for whoever leaves out what a command needs.

use clap::error::{ContextKind, ErrorKind};

/// Commands that need to be told something, each with what may stand behind it.
const EXAMPLES: [(&str, &str); 22] = [
    ("analyse", "dutch-8x8"),
    ("balance", "--rulesets dutch-8x8 --agents alphabeta:nodes=500 --max-games 100 --out studies/first"),
    ("completions", "bash"),
    ("conformance", "tests/rules/cases/*"),
    ("curves", "runs/quick-1"),
    ("export", "runs/quick-1 --out exported"),
    ("fit", "quick --shards shards --out fitted"),
    ("inspect", "runs/quick-1"),
    ("match", "net:sims=64 alphabeta:nodes=2000 --ruleset dutch-8x8 --games 20"),
    ("perft", "dutch-8x8 --depth 3"),
    ("play", "dutch-8x8"),
    ("rate", "net:sims=16 alphabeta:nodes=200 greedy --ruleset dutch-8x8"),
    ("rulesets check", "my.toml"),
    ("rulesets diff", "bell bell-8x8"),
    ("rulesets new", "mine --base bell"),
    ("rulesets show", "dutch-8x8"),
    ("rulesets try", "dutch-8x8"),
    ("selfplay", "quick --out shards"),
    ("solve", "configs/small/bell-4x4.toml"),
    ("status", "runs/quick-1"),
    ("train", "quick"),
    ("worker", "--store /shared/store"),
];

/// Ends the program over its arguments; where some are missing, with a line that has them all.
pub(crate) fn refuse(error: &clap::Error) -> ! {
    // Nothing is left to be done where it cannot be printed.
    _ = error.print();
    if let Some(example) = example_for(error) {
        eprintln!("For example: {example}");
    }
    std::process::exit(error.exit_code())
}

/// Returns a line with the command that lacks arguments, if that is what is wrong.
fn example_for(error: &clap::Error) -> Option<String> {
    let is_missing = error.kind() == ErrorKind::MissingRequiredArgument;
    // The usage, "Usage: PROGRAM COMMAND …", has the command by its own name, whatever was typed.
    let usage = error.get(ContextKind::Usage).filter(|_| is_missing)?.to_string();
    let line = usage.splitn(3, ' ').nth(2)?;
    let (command, rest) = EXAMPLES.iter().find(|(command, _)| line.starts_with(&format!("{command} ")))?;
    Some(format!("latrunculi {command} {rest}"))
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::Cli;

    #[test]
    fn whoever_leaves_out_what_is_needed_is_told_a_line_that_is_understood() {
        let mut told = 0;
        let top = Cli::command();
        for command in top.get_subcommands() {
            let below = command.get_subcommands().map(|below| vec![command.get_name(), below.get_name()]);
            for words in below.chain([vec![command.get_name()]]) {
                let Err(error) = Cli::try_parse_from([&["renamed"], &words[..]].concat()) else { continue };
                if error.kind() == ErrorKind::MissingRequiredArgument {
                    let example = example_for(&error).unwrap_or_else(|| panic!("{words:?} has no example"));
                    assert!(Cli::try_parse_from(example.split(' ')).is_ok(), "{example}");
                    told += 1;
                }
            }
        }
        assert_eq!(told, EXAMPLES.len());
    }
}

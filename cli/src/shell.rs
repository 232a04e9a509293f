//! `completions` and `man`: what a shell and its reader want to know of the commands.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use clap::builder::PossibleValuesParser;
use clap::{Args, Command};
use latrunculi_engine::parameters::did_you_mean;
use latrunculi_engine::presets;
use latrunculi_train::SHIPPED_CONFIGS;

/// The beginnings of agents' texts.
const AGENTS: [&str; 6] = ["human", "random", "greedy", "alphabeta:nodes=", "mcts:sims=", "net:"];
/// The names of values that are agents' texts.
const AGENT_VALUES: [&str; 4] = ["AGENT", "AGENT,AGENT", "A", "B"];
/// The names of values that are rulesets.
const RULESET_VALUES: [&str; 2] = ["RULESET", "RULESET,RULESET"];

#[derive(Args)]
pub(crate) struct CompletionsArgs {
    /// Which shell
    shell: clap_complete::Shell,
}

/// Writes the completions of a shell to standard output.
pub(crate) fn completions(args: &CompletionsArgs, program: Command) -> anyhow::Result<()> {
    let name = program.get_name().to_owned();
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut with_values(program), name, &mut text);
    Ok(std::io::stdout().write_all(&text)?)
}

/// Returns the command with the values that arguments are likely to have; the program itself takes others as
/// well.
fn with_values(command: Command) -> Command {
    let command = command.mut_args(|argument| {
        let is_of = |names: &[&str]| {
            argument.get_value_names().is_some_and(|found| found.iter().any(|name| names.contains(&name.as_str())))
        };
        if is_of(&RULESET_VALUES) {
            argument.value_parser(PossibleValuesParser::new(presets::NAMES))
        } else if is_of(&AGENT_VALUES) {
            argument.value_parser(PossibleValuesParser::new(AGENTS))
        } else if is_of(&["CONFIG"]) {
            argument.value_parser(PossibleValuesParser::new(SHIPPED_CONFIGS))
        } else {
            argument
        }
    });
    command.mut_subcommands(with_values)
}

#[derive(Args)]
pub(crate) struct ManArgs {
    /// The command whose page to write, as play, or rulesets list [default: that of the program itself]
    command: Vec<String>,
    /// Writes the pages of all commands into this folder, one a file
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    out: Option<PathBuf>,
}

/// Writes a manual page to standard output, or all of them into a folder.
pub(crate) fn man(args: &ManArgs, program: Command) -> anyhow::Result<()> {
    if let Some(folder) = &args.out {
        return write_all(program, folder);
    }
    let mut page = program;
    if !args.command.is_empty() {
        page.build();
    }
    for name in args.command.iter().flat_map(|names| names.split_whitespace()) {
        page = subcommand(&page, name)?;
    }
    let mut text = Vec::new();
    clap_mangen::Man::new(page).render(&mut text)?;
    Ok(std::io::stdout().write_all(&text)?)
}

/// Returns the command of that name within `command`, which is built.
fn subcommand(command: &Command, name: &str) -> anyhow::Result<Command> {
    let names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
    ensure!(!names.is_empty(), "{} has no commands of its own, so that there is no {name:?}", command.get_name());
    let hint = did_you_mean(name, names.iter().copied());
    let found = command.find_subcommand(name).cloned();
    found.with_context(|| format!("there is no command {name:?} among {}{hint}", names.join(", ")))
}

fn write_all(program: Command, folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    clap_mangen::generate_to(program, folder)
        .with_context(|| format!("cannot write the pages into {}", folder.display()))?;
    println!("the pages are in {}; `man -l {}/latrunculi.1` shows the first", folder.display(), folder.display());
    Ok(())
}

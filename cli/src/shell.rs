//! `completions` and `man`: what a shell and its reader want to know of the commands.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::builder::PossibleValuesParser;
use clap::{Args, Command};
use latrunculi_engine::parameters::nearest;
use latrunculi_engine::presets;

/// The beginnings of agents' texts.
const AGENTS: [&str; 6] = ["human", "random", "greedy", "alphabeta:nodes=", "mcts:sims=", "net:"];
/// Arguments whose value is an agent's text.
const AGENT_ARGUMENTS: [&str; 5] = ["first", "second", "hint", "agent", "agents"];

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
        if argument.get_id() == "ruleset" {
            argument.value_parser(PossibleValuesParser::new(presets::NAMES))
        } else if AGENT_ARGUMENTS.contains(&argument.get_id().as_str()) {
            argument.value_parser(PossibleValuesParser::new(AGENTS))
        } else {
            argument
        }
    });
    command.mut_subcommands(with_values)
}

#[derive(Args)]
pub(crate) struct ManArgs {
    /// The command whose page to write [default: that of the program itself]
    command: Option<String>,
    /// Writes the pages of all commands into this folder, one a file
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    out: Option<PathBuf>,
}

/// Writes a manual page to standard output, or all of them into a folder.
pub(crate) fn man(args: &ManArgs, program: Command) -> anyhow::Result<()> {
    if let Some(folder) = &args.out {
        return write_all(program, folder);
    }
    let page = match &args.command {
        None => program,
        Some(name) => subcommand(program, name)?,
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page).render(&mut text)?;
    Ok(std::io::stdout().write_all(&text)?)
}

fn subcommand(mut program: Command, name: &str) -> anyhow::Result<Command> {
    program.build();
    let names: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
    let hint = nearest(name, names.iter().copied()).map(|near| format!("; did you mean {near}?")).unwrap_or_default();
    let known = names.join(", ");
    let found = program
        .find_subcommand(name)
        .with_context(|| format!("there is no command {name:?}{hint} The commands are {known}"))?;
    Ok(found.clone())
}

fn write_all(program: Command, folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    clap_mangen::generate_to(program, folder)
        .with_context(|| format!("cannot write the pages into {}", folder.display()))?;
    println!("the pages are in {}; `man -l {}/latrunculi.1` shows the first", folder.display(), folder.display());
    Ok(())
}

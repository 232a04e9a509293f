//! The program `latrunculi`: parses arguments, calls the libraries, prints.
//!
//! It is made twice: without libtorch (`latrunculi`, from `main.rs`), and with it (`latrunculi-libtorch`, in `bin/`), which
//! the first one executes for what needs it ([`libtorch`]).
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "printing is what a program is for")]

mod analyse;
mod balance;
pub mod bench;
pub mod config_args;
mod conformance;
mod curves;
pub mod display;
mod doctor;
mod engine;
mod examples;
mod explain;
pub mod export;
pub mod fit;
mod game;
mod game_files;
mod games_args;
mod input_lines;
mod inspect;
pub mod interrupt;
pub mod libtorch;
mod lines;
mod match_command;
mod network;
pub mod origin;
mod perft;
mod play;
mod position_args;
mod progress;
mod rate;
mod rulesets;
mod selfplay;
mod serve;
mod shell;
mod solve;
mod status;
pub mod train;
mod worker;

use std::path::Path;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use interrupt::Stopped;
use latrunculi_train::error_chain;
use libtorch::Libtorch;

/// The exit status that other programs may rely on.
const EXIT_STATUS: &str =
    "Exit status: 0 done, 1 failed, 2 wrong usage, 130 or 143 stopped by Ctrl-C or TERM before its end";

/// Trains and plays agents for 26 reconstructed rulesets of the Roman game Latrunculi, and measures their fairness
#[derive(Parser)]
#[command(name = "latrunculi", version, arg_required_else_help = true, after_help = EXIT_STATUS)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Lists, shows and checks rulesets
    Rulesets(rulesets::RulesetsArgs),
    /// Counts the leaves of the action tree
    Perft(perft::PerftArgs),
    /// Solves a ruleset of a small board exactly, and shows how well agents know its positions
    Solve(solve::SolveArgs),
    /// Runs rule cases and traces against the engine
    Conformance(conformance::ConformanceArgs),
    /// Trains a network by self-play and measures its strength
    Train(train::TrainArgs),
    /// Only plays training games, with or without a model, and writes them as shards
    Selfplay(selfplay::SelfplayArgs),
    /// Only trains, on existing shards
    Fit(fit::FitArgs),
    /// Shows how far a training run has come, also while it goes on, or what the workers of a store have done
    Status(status::StatusArgs),
    /// Shows the strength of training runs over time, as a table and a page
    Curves(curves::CurvesArgs),
    /// Plays two agents against each other and estimates the difference in strength
    Match(match_command::MatchArgs),
    /// Rates many agents jointly from games between them
    Rate(rate::RateArgs),
    /// Estimates the first player's advantage in many rulesets
    Balance(balance::BalanceArgs),
    /// Plays for studies, matches, ratings and training runs of other machines that share a store
    Worker(worker::WorkerArgs),
    /// Plays a game in the terminal
    Play(play::PlayArgs),
    /// Serves a page on which to play, analyse and replay games, and to watch runs and studies, in a browser
    Serve(serve::ServeArgs),
    /// Shows the best actions of a position with value, visits and principal variation
    #[command(alias = "analyze")]
    Analyse(analyse::AnalyseArgs),
    /// Answers the commands of other programs, line by line (docs/PROTOCOL.md)
    Engine(engine::EngineArgs),
    /// Writes a model in other formats, each read back and compared
    Export(export::ExportArgs),
    /// Describes a shard, model, checkpoint, file of game records or run folder
    Inspect(inspect::InspectArgs),
    /// Shows the hardware and libraries found, and which are used
    Doctor(doctor::DoctorArgs),
    /// Measures the speed of this machine
    Bench(bench::BenchArgs),
    /// Writes the completions of a shell to standard output
    Completions(shell::CompletionsArgs),
    /// Writes the manual page of the program or of a command to standard output, or all into a folder
    Man(shell::ManArgs),
}

/// Does what the arguments of the program say. `libtorch` is what this program has of it.
#[must_use]
pub fn main(libtorch: Option<&Libtorch>) -> ExitCode {
    end_quietly_on_a_closed_pipe();
    let cli = Cli::try_parse().unwrap_or_else(|error| examples::refuse(&error));
    match run(cli.command, libtorch) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => match error.downcast_ref::<Stopped>() {
            Some(stopped) => {
                let message = stopped.to_string();
                if !message.is_empty() {
                    eprintln!("{message}");
                }
                ExitCode::from(stopped.status())
            }
            None => {
                eprintln!("error: {}", shown(&error_chain(error.as_ref())));
                ExitCode::FAILURE
            }
        },
    }
}

fn run(command: Command, libtorch: Option<&Libtorch>) -> anyhow::Result<()> {
    match command {
        Command::Rulesets(args) => rulesets::run(args, libtorch),
        Command::Perft(args) => perft::run(args),
        Command::Solve(args) => solve::run(args, libtorch),
        Command::Conformance(args) => conformance::run(args),
        Command::Train(args) => (libtorch::needed(libtorch, "train")?.train)(&args),
        Command::Selfplay(args) => selfplay::run(&args, libtorch),
        Command::Fit(args) => (libtorch::needed(libtorch, "fit")?.fit)(&args),
        Command::Status(args) => status::run(&args),
        Command::Curves(args) => curves::run(&args),
        Command::Match(args) => match_command::run(args, libtorch),
        Command::Rate(args) => rate::run(args, libtorch),
        Command::Balance(args) => balance::run(args, libtorch),
        Command::Worker(args) => worker::run(&args, libtorch),
        Command::Play(args) => play::run(args, libtorch),
        Command::Serve(args) => serve::run(args, libtorch),
        Command::Analyse(args) => analyse::run(args, libtorch),
        Command::Engine(args) => engine::run(args, libtorch),
        Command::Export(args) => (libtorch::needed(libtorch, "export")?.export)(args),
        Command::Inspect(args) => inspect::run(args),
        Command::Doctor(args) => doctor::run(&args, libtorch),
        Command::Bench(args) => bench::run(args, libtorch),
        Command::Completions(args) => shell::completions(&args, Cli::command()),
        Command::Man(args) => shell::man(&args, Cli::command()),
    }
}

/// Returns a text, parts of which come from files, as a terminal may show it: control characters other than the ends of lines
/// and tabs are written out.
pub(crate) fn shown(text: &str) -> String {
    let show = |letter: char| match letter.is_control() && letter != '\n' && letter != '\t' {
        true => letter.escape_default().to_string(),
        false => letter.to_string(),
    };
    text.chars().map(show).collect()
}

/// Returns a path as a shell takes it for one word.
#[must_use]
pub fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./:@%+=,".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// Makes `latrunculi … | head` end without a message and a full disk with one, where Rust would panic, and so it would where
/// the standard error cannot be written.
fn end_quietly_on_a_closed_pipe() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let message = panic.payload().downcast_ref::<String>().map_or("", String::as_str);
        if message.starts_with("failed printing to stderr: ") {
            // There is no place left to say anything.
            std::process::exit(1);
        }
        match message.strip_prefix("failed printing to stdout: ") {
            Some(reason) if reason.contains("Broken pipe") => std::process::exit(0),
            Some(reason) => {
                eprintln!("error: cannot write to the standard output: {reason}");
                std::process::exit(1);
            }
            None => report(panic),
        }
    }));
}

/// Returns whether the reader of the output has closed it.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word_of_a_shell() {
        for (path, word) in
            [("runs/quick-1", "runs/quick-1"), ("my run", "'my run'"), ("it's", "'it'\\''s'"), ("$x", "'$x'")]
        {
            assert_eq!(quoted(Path::new(path)), word);
        }
    }

    /// Returns the commands of the program in the examples for a shell of a document, taken apart into words.
    fn examples(document: &str) -> Vec<Vec<String>> {
        let shell = document.split("```sh\n").skip(1).filter_map(|block| block.split("```").next());
        let lines = shell.flat_map(|block| block.replace("\\\n", " ").lines().map(str::to_owned).collect::<Vec<_>>());
        let words =
            lines.map(|line| line.split_whitespace().map(|word| word.trim_matches(['\'', '"']).to_owned()).collect());
        let commands = words.flat_map(|words: Vec<String>| {
            // A comment ends a line; what stands before another sign is a command of its own.
            let shown = words.split(|word| word.starts_with('#')).next().unwrap_or_default().to_owned();
            shown
                .split(|word| ["|", ">", "&", "&&"].contains(&word.as_str()))
                .map(<[String]>::to_vec)
                .collect::<Vec<_>>()
        });
        commands.filter(|words| words.first().is_some_and(|word| word.ends_with("latrunculi"))).collect()
    }

    #[test]
    fn the_commands_in_the_documents_are_understood() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository");
        let mut all = 0;
        for name in ["README.md", "docs/tutorial.md", "docs/workers.md", "docs/BROWSER.md", "docs/results.md"] {
            let text = std::fs::read_to_string(root.join(name)).expect(name);
            for command in examples(&text) {
                let told = Cli::try_parse_from(&command).err().map(|error| error.to_string());
                assert_eq!(told, None, "{name}: {command:?}");
                all += 1;
            }
        }
        assert!(all > 50, "{all} commands");
    }
}

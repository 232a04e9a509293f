//! The program `latrunculi`: parses, wires the crates together, prints.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "printing is what a program is for")]

mod analyse;
mod balance;
mod bench;
mod conformance;
mod curves;
mod doctor;
mod engine;
mod errors;
mod explain;
mod export;
mod fit;
mod game;
mod game_files;
mod inspect;
mod interrupt;
mod match_command;
mod model_card;
mod network;
mod opinion;
mod perft;
mod play;
mod position_args;
mod progress;
mod provenance;
mod rate;
mod report;
mod rulesets;
mod rulesets_source;
mod run_dir;
mod selfplay;
mod shell;
mod train;
mod train_config;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};
use interrupt::Stopped;

/// What other programs may rely on.
const EXIT_STATUS: &str = "Exit status: 0 done, 1 failed, 2 wrong usage, 130 stopped by Ctrl-C before its end";

/// Learns, plays and judges every reconstruction of the Roman game Latrunculi
#[derive(Parser)]
#[command(name = "latrunculi", version, arg_required_else_help = true, after_help = EXIT_STATUS)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// The reconstructions: list, show, check
    Rulesets(rulesets::RulesetsArgs),
    /// Counts the leaves of the action tree
    Perft(perft::PerftArgs),
    /// Runs rule cases and traces against the engine
    Conformance(conformance::ConformanceArgs),
    /// The main job: self-play, training and evaluation, generation after generation
    Train(train::TrainArgs),
    /// Games into shards, from a model or from none: one half of `train` alone
    Selfplay(selfplay::SelfplayArgs),
    /// Training steps on shards that are there: the other half
    Fit(fit::FitArgs),
    /// Learning curves of training runs: how strong their networks were when, in a table and a page
    Curves(curves::CurvesArgs),
    /// Two agents, paired openings, and what the result says
    Match(match_command::MatchArgs),
    /// Many agents, every pairing played, one joint rating
    Rate(rate::RateArgs),
    /// The first player's advantage of many rulesets, and how sure it is
    Balance(balance::BalanceArgs),
    /// Plays in the terminal on a drawn board
    Play(play::PlayArgs),
    /// The best actions of a position with value, visits and principal variation
    Analyse(analyse::AnalyseArgs),
    /// Answers the commands of other programs, line by line (docs/PROTOCOL.md)
    Engine(engine::EngineArgs),
    /// Writes a model in the formats of other programs, read back and compared
    Export(export::ExportArgs),
    /// Says what a shard, model, checkpoint, game record or run directory holds
    Inspect(inspect::InspectArgs),
    /// Says what was found on this machine and what will be used
    Doctor(doctor::DoctorArgs),
    /// Measures what this machine gives
    Bench(bench::BenchArgs),
    /// Writes the completions of a shell to standard output
    Completions(shell::CompletionsArgs),
    /// Writes the manual page of the program or of a command to standard output, or all into a folder
    Man(shell::ManArgs),
}

fn main() -> ExitCode {
    end_quietly_when_nobody_reads();
    let cli = Cli::parse();
    match run(cli.command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => match error.downcast_ref::<Stopped>() {
            Some(stopped) => {
                let told = stopped.to_string();
                if !told.is_empty() {
                    eprintln!("{told}");
                }
                ExitCode::from(stopped.status())
            }
            None => {
                eprintln!("error: {}", errors::told(&error));
                ExitCode::FAILURE
            }
        },
    }
}

fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Rulesets(args) => rulesets::run(args),
        Command::Perft(args) => perft::run(args),
        Command::Conformance(args) => conformance::run(args),
        Command::Train(args) => train::run(args),
        Command::Selfplay(args) => selfplay::run(&args),
        Command::Fit(args) => fit::run(&args),
        Command::Curves(args) => curves::run(&args),
        Command::Match(args) => match_command::run(args),
        Command::Rate(args) => rate::run(args),
        Command::Balance(args) => balance::run(args),
        Command::Play(args) => play::run(args),
        Command::Analyse(args) => analyse::run(args),
        Command::Engine(args) => engine::run(args),
        Command::Export(args) => export::run(args),
        Command::Inspect(args) => inspect::run(args),
        Command::Doctor(args) => doctor::run(args),
        Command::Bench(args) => bench::run(args),
        Command::Completions(args) => shell::completions(&args, Cli::command()),
        Command::Man(args) => shell::man(&args, Cli::command()),
    }
}

/// Makes `latrunculi … | head` end without a word, and a full disk with one: where printing fails, Rust
/// panics.
fn end_quietly_when_nobody_reads() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let message = panic.payload().downcast_ref::<String>().map_or("", String::as_str);
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

/// Tells whether whoever read our output has had enough of it.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe)
}

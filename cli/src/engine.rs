//! `engine`: the line protocol by which other programs think with this one; docs/PROTOCOL.md describes it.
//!
//! A thread reads lines and hands them on; the session answers one after the other. Only `stop` has an effect
//! before its turn comes: it ends the search of the last `go` or `genmove` before it.

mod commands;
mod search;
mod session;

use std::io::{BufReader, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use anyhow::Context;
use clap::Args;
use latrunculi_eval::AgentSpec;
use latrunculi_search::StopSignal;
use latrunculi_train::error_chain;

use crate::input_lines::{InputLine, read_line};
use crate::libtorch::Libtorch;
use crate::network::NetworkArgs;
use session::Session;

/// The version of the protocol, as `protocol_version` says it.
pub(crate) const PROTOCOL_VERSION: u32 = 1;

/// How many lines may wait for their answers before no more are read.
const LINES_WAITING_MAX: usize = 1024;

#[derive(Args)]
pub(crate) struct EngineArgs {
    /// The ruleset at the beginning: a shipped name, or the path of a file
    #[arg(long, alias = "rulesets", default_value = "bell")]
    ruleset: String,
    /// Who thinks at the beginning: random, greedy, alphabeta:nodes=20000, mcts:sims=2000, net:MODEL,sims=64. A tree (mcts,
    /// net) takes up to 400 MiB, or memory_mib=N
    #[arg(long, default_value = "alphabeta:nodes=20000")]
    agent: AgentSpec,
    /// Everything random follows from it
    #[arg(long, default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    network: NetworkArgs,
}

/// A line of the other program, as it was read, and what ends the search that it may ask for.
struct Input {
    line: InputLine,
    stop: StopSignal,
}

pub(crate) fn run(args: EngineArgs, libtorch: Option<&Libtorch>) -> anyhow::Result<()> {
    // The other program may ask for a network at any time.
    let networks = args.network.opener(true, libtorch)?.for_single_positions();
    let mut session = Session::new(&args.ruleset, args.agent, args.seed, networks)?;
    let (sender, inputs) = sync_channel(LINES_WAITING_MAX);
    std::thread::spawn(move || read_lines(&sender));
    converse(&mut session, &inputs, &mut std::io::stdout().lock())
}

fn read_lines(sender: &SyncSender<Input>) {
    let mut input = BufReader::new(std::io::stdin());
    // What ends the last search that was asked for.
    let mut stop = StopSignal::default();
    while let Some(line) = read_line(&mut input) {
        if let Ok(Ok(line)) = &line
            && let Some(Request { command, .. }) = Request::read(line)
        {
            match command {
                "stop" => stop.raise(),
                "go" | "genmove" => stop = StopSignal::default(),
                _ => {}
            }
        }
        let is_last = line.is_err();
        // Nobody listens any more after `quit`.
        if sender.send(Input { line, stop: stop.clone() }).is_err() || is_last {
            return;
        }
    }
}

/// One line of the other program, taken apart.
struct Request<'a> {
    /// The number before the command; it stands before the answer as well.
    id: &'a str,
    command: &'a str,
    /// What follows the command, without white space around it.
    rest: &'a str,
}

impl Request<'_> {
    /// Takes a line apart; `None` for empty lines and comments.
    fn read(line: &str) -> Option<Request<'_>> {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            return None;
        }
        let split = |text: &'_ str| -> usize { text.find(char::is_whitespace).unwrap_or(text.len()) };
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        let is_id = digits > 0 && line[digits..].chars().next().is_none_or(char::is_whitespace);
        let (id, line) = if is_id { (&line[..digits], line[digits..].trim_start()) } else { ("", line) };
        let (command, rest) = line.split_at(split(line));
        Some(Request { id, command: commands::meant(command), rest: rest.trim_start() })
    }
}

/// Answers lines until there are no more, or until `quit`.
fn converse(session: &mut Session, inputs: &Receiver<Input>, output: &mut dyn Write) -> anyhow::Result<()> {
    for Input { line, stop } in inputs {
        let line = match line.context("cannot read the commands")? {
            Ok(line) => line,
            Err(fault) => {
                answer(output, "", Err(anyhow::Error::msg(fault)))?;
                continue;
            }
        };
        let Some(Request { id, command, rest }) = Request::read(&line) else { continue };
        let found = commands::execute(session, command, rest, stop, output)?;
        let is_end = command == "quit" && found.is_ok();
        answer(output, id, found)?;
        if is_end {
            return Ok(());
        }
    }
    Ok(())
}

/// Writes one answer: `=` or `?`, the number of the command if it had one, the text, an empty line. A text of
/// several lines begins on a line of its own.
fn answer(output: &mut dyn Write, id: &str, answer: anyhow::Result<String>) -> std::io::Result<()> {
    let (sign, text) = match answer {
        Ok(text) => ('=', text),
        Err(error) => ('?', error_chain(error.as_ref())),
    };
    // An empty line would end the answer.
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let text = lines.join("\n");
    let space = match lines.len() {
        0 => "",
        1 => " ",
        _ => "\n",
    };
    write!(output, "{sign}{id}{space}{text}\n\n")?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_taken_apart_into_number_command_and_rest() {
        let parts = |line| Request::read(line).map(|request| (request.id, request.command, request.rest));
        assert_eq!(parts(" 7  play  a1-a2 \r"), Some(("7", "play", "a1-a2")));
        assert_eq!(parts("legal"), Some(("", "legal", "")));
        assert_eq!(parts("2 board"), Some(("2", "show", "")));
        assert_eq!(parts("12"), Some(("12", "", "")));
        assert_eq!(parts("3x legal"), Some(("", "3x", "legal")));
        assert_eq!(parts("agent net:a b.safetensors"), Some(("", "agent", "net:a b.safetensors")));
        assert_eq!(parts("  # a remark"), None);
        assert_eq!(parts(" \t"), None);
    }

    #[test]
    fn an_answer_ends_with_its_first_empty_line() {
        let written = |text| {
            let mut output = Vec::new();
            answer(&mut output, "5", text).unwrap();
            String::from_utf8(output).unwrap()
        };
        assert_eq!(written(Ok(String::new())), "=5\n\n");
        assert_eq!(written(Ok("one\n\n two  \n".to_owned())), "=5\none\n two\n\n");
        assert_eq!(written(Err(anyhow::anyhow!("inner").context("outer"))), "?5 outer: inner\n\n");
    }
}

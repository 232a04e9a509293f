//! What people type: with line editing, history and completion on a terminal, plain lines otherwise.

use std::io::{BufReader, IsTerminal, Write};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::time::Duration;

use anyhow::Context;
use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::Validator;
use rustyline::{CompletionType, Config, Editor, Helper};

use crate::input_lines::{InputLine, read_line};
use crate::interrupt::Interrupt;

pub(super) enum Input {
    Terminal(Typing),
    /// A pipe or a file, read by a thread, so that Ctrl-C is heard while nothing comes.
    Plain(Receiver<InputLine>),
}

/// A person at a terminal. A thread reads what is typed, so that SIGTERM and the end of the terminal are heard meanwhile.
pub(super) struct Typing {
    /// Prompts, each with the words that may be completed.
    prompts: Sender<(String, Vec<String>)>,
    lines: Receiver<rustyline::Result<String>>,
    /// How the terminal was, to be set again when a line is no longer waited for.
    #[cfg(unix)]
    modes: Option<rustix::termios::Termios>,
}

impl Input {
    /// Opens the standard input; on a terminal with line editing.
    pub(super) fn open() -> anyhow::Result<Input> {
        if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
            // One line ahead.
            let (sender, lines) = sync_channel(1);
            std::thread::spawn(move || read_lines(&sender));
            return Ok(Input::Plain(lines));
        }
        Ok(Input::Terminal(Typing::begin().context("the terminal cannot be used for typing")?))
    }

    pub(super) fn is_terminal(&self) -> bool {
        matches!(self, Input::Terminal(_))
    }

    /// Asks for a line without its end; `None` where there are no more (Ctrl-D), or at Ctrl-C. `words` are what may be completed
    /// at its beginning.
    pub(super) fn ask(
        &mut self,
        prompt: &str,
        words: Vec<String>,
        interrupt: &Interrupt,
        output: &mut dyn Write,
    ) -> anyhow::Result<Option<String>> {
        output.flush()?;
        if interrupt.during(|| ()).1 {
            return Ok(None);
        }
        match self {
            Input::Terminal(typing) => match typing.ask(prompt, words, interrupt) {
                Some(Ok(line)) => Ok(Some(line)),
                None | Some(Err(ReadlineError::Eof | ReadlineError::Interrupted | ReadlineError::Signal(_))) => {
                    Ok(None)
                }
                Some(Err(error)) => Err(error).context("cannot read what you type"),
            },
            Input::Plain(lines) => {
                let line = next_line(lines, interrupt).transpose().context("cannot read what you type")?;
                Ok(match line.transpose() {
                    Ok(line) => line,
                    Err(fault) => {
                        writeln!(output, "{fault}")?;
                        Some(String::new())
                    }
                })
            }
        }
    }
}

impl Typing {
    fn begin() -> rustyline::Result<Typing> {
        #[cfg(unix)]
        let modes = rustix::termios::tcgetattr(std::io::stdin()).ok();
        let ((prompts, asked), (typed, lines)) = (channel::<(String, Vec<String>)>(), channel());
        let (begun, is_there) = channel();
        std::thread::spawn(move || {
            let mut editor = match editor() {
                Ok(editor) => editor,
                Err(error) => return begun.send(Err(error)).unwrap_or(()),
            };
            _ = begun.send(Ok(()));
            for (prompt, words) in asked {
                editor.set_helper(Some(Words { words, ..Words::default() }));
                if typed.send(editor.readline(&prompt)).is_err() {
                    return;
                }
            }
        });
        // The thread ends only after it has said so.
        is_there.recv().unwrap_or(Ok(()))?;
        Ok(Typing {
            prompts,
            lines,
            #[cfg(unix)]
            modes,
        })
    }

    /// Asks for a line; `None` at a signal, and when the thread has ended.
    fn ask(&self, prompt: &str, words: Vec<String>, interrupt: &Interrupt) -> Option<rustyline::Result<String>> {
        self.prompts.send((prompt.to_owned(), words)).ok()?;
        let line = next_line(&self.lines, interrupt);
        #[cfg(unix)]
        if let (None, Some(modes)) = (&line, &self.modes) {
            // The terminal may be gone.
            _ = rustix::termios::tcsetattr(std::io::stdin(), rustix::termios::OptionalActions::Now, modes);
        }
        line
    }
}

fn editor() -> rustyline::Result<Editor<Words, MemHistory>> {
    let config = Config::builder()
        .completion_type(CompletionType::List)
        .completion_show_all_if_ambiguous(true)
        .auto_add_history(true)
        .build();
    Editor::with_history(config, MemHistory::new())
}

fn read_lines(sender: &SyncSender<InputLine>) {
    let mut input = BufReader::new(std::io::stdin());
    while let Some(line) = read_line(&mut input) {
        let is_last = line.is_err();
        // Nobody listens any more after `quit`.
        if sender.send(line).is_err() || is_last {
            return;
        }
    }
}

/// Waits for a line; `None` when there are no more, or at Ctrl-C.
fn next_line<T>(lines: &Receiver<T>, interrupt: &Interrupt) -> Option<T> {
    const SLICE: Duration = Duration::from_millis(20);
    let stop = interrupt.stop();
    let wait = || loop {
        match lines.recv_timeout(SLICE) {
            Err(RecvTimeoutError::Timeout) if !stop.is_raised() => {}
            line => return line.ok(),
        }
    };
    let (line, is_stopped) = interrupt.during(wait);
    line.filter(|_| !is_stopped)
}

/// Completes words at the beginning of a line, and names of files after `save` and `load`.
pub(super) struct Words {
    words: Vec<String>,
    files: FilenameCompleter,
}

impl Default for Words {
    fn default() -> Words {
        Words { words: Vec::new(), files: FilenameCompleter::new() }
    }
}

impl Completer for Words {
    type Candidate = Pair;

    fn complete(&self, line: &str, end: usize, _: &rustyline::Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let typed = &line[..end];
        if ["save ", "load "].iter().any(|command| typed.trim_start().starts_with(command)) {
            return self.files.complete_path(line, end);
        }
        let begin = typed.len() - typed.trim_start().len();
        Ok((begin, fitting(&self.words, typed.trim_start())))
    }
}

/// Returns the words that begin with what was typed; the sign before a square need not be.
fn fitting(words: &[String], typed: &str) -> Vec<Pair> {
    let begins = |word: &str| word.starts_with(typed);
    words
        .iter()
        .filter(|word| begins(word) || word.strip_prefix('@').is_some_and(begins))
        .map(|word| Pair { display: word.clone(), replacement: word.clone() })
        .collect()
}

impl Hinter for Words {
    type Hint = String;
}
impl Highlighter for Words {}
impl Validator for Words {}
impl Helper for Words {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_is_completed_with_or_without_its_sign() {
        let words = ["@c3", "@c4", "D@c3", "c1-c2", "curve"].map(str::to_owned);
        let completed =
            |typed| -> Vec<String> { fitting(&words, typed).into_iter().map(|pair| pair.replacement).collect() };
        assert_eq!(completed("c"), ["@c3", "@c4", "c1-c2", "curve"]);
        assert_eq!(completed("@c"), ["@c3", "@c4"]);
        assert_eq!(completed("cu"), ["curve"]);
        assert_eq!(completed("x"), Vec::<String>::new());
    }
}

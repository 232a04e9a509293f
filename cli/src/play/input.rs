//! What people type: with line editing, history and completion on a terminal, plain lines otherwise.

use std::io::{BufRead, IsTerminal, Write};

use anyhow::Context;
use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::Validator;
use rustyline::{CompletionType, Config, Editor, Helper};

/// What came of asking for a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// A line, without its end.
    Line(String),
    /// There are no more lines (Ctrl-D), or Ctrl-C.
    End,
}

/// Where lines come from.
pub(super) enum Input {
    /// A terminal.
    Terminal(Box<Editor<Words, MemHistory>>),
    /// A pipe or a file.
    Plain,
}

impl Input {
    /// Opens the standard input; on a terminal with line editing.
    pub(super) fn open() -> anyhow::Result<Input> {
        if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
            return Ok(Input::Plain);
        }
        let config = Config::builder()
            .completion_type(CompletionType::List)
            .completion_show_all_if_ambiguous(true)
            .auto_add_history(true)
            .build();
        let mut editor =
            Editor::with_history(config, MemHistory::new()).context("the terminal cannot be used for typing")?;
        editor.set_helper(Some(Words::default()));
        Ok(Input::Terminal(Box::new(editor)))
    }

    /// Tells whether a person types.
    pub(super) fn is_terminal(&self) -> bool {
        matches!(self, Input::Terminal(_))
    }

    /// Asks for a line; `words` are what may be completed at its beginning.
    pub(super) fn ask(&mut self, prompt: &str, words: Vec<String>, output: &mut dyn Write) -> anyhow::Result<Asked> {
        output.flush()?;
        match self {
            Input::Terminal(editor) => {
                if let Some(helper) = editor.helper_mut() {
                    helper.words = words;
                }
                match editor.readline(prompt) {
                    Ok(line) => Ok(Asked::Line(line)),
                    Err(ReadlineError::Eof | ReadlineError::Interrupted) => Ok(Asked::End),
                    Err(error) => Err(error).context("cannot read what you type"),
                }
            }
            Input::Plain => {
                let mut bytes = Vec::new();
                let read =
                    std::io::stdin().lock().read_until(b'\n', &mut bytes).context("cannot read what you type")?;
                let line = String::from_utf8_lossy(&bytes).into_owned();
                Ok(if read == 0 { Asked::End } else { Asked::Line(line) })
            }
        }
    }
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

/// Returns the words that begin with what was typed.
fn fitting(words: &[String], typed: &str) -> Vec<Pair> {
    words
        .iter()
        .filter(|word| word.starts_with(typed))
        .map(|word| Pair { display: word.clone(), replacement: word.clone() })
        .collect()
}

impl Hinter for Words {
    type Hint = String;
}
impl Highlighter for Words {}
impl Validator for Words {}
impl Helper for Words {}

//! What a run shows: bars on a terminal, plain lines otherwise.

use std::io::IsTerminal;

use indicatif::ProgressBar;

use crate::progress;

/// Shows how far things are.
pub(crate) struct Display {
    is_shown: bool,
    bar: ProgressBar,
}

impl Display {
    /// Creates a display; without bars where nobody looks or `quiet` is set.
    pub(crate) fn new(quiet: bool) -> Display {
        let is_shown = !quiet && std::io::stderr().is_terminal();
        Display { is_shown, bar: ProgressBar::hidden() }
    }

    /// Begins a piece of work of `len` parts. `left_secs` is what is left of the run.
    pub(crate) fn begin(&mut self, name: &str, len: u64, left_secs: Option<f64>) {
        if !self.is_shown {
            return;
        }
        let left = left_secs.map(|secs| format!(" · run {:.1} min left", secs / 60.0)).unwrap_or_default();
        self.bar = ProgressBar::new(len);
        let template = "{msg:32} [{bar:30}] {pos}/{len} {rate:>10} {eta:>4}{prefix}";
        self.bar.set_style(progress::style(template));
        self.bar.set_prefix(left);
        self.bar.set_message(name.to_owned());
    }

    /// Says how many parts are done.
    pub(crate) fn set(&self, done: u64) {
        if self.is_shown {
            self.bar.set_position(done);
        }
    }

    /// Ends the piece of work.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// Prints a line.
    pub(crate) fn say(&self, line: &str) {
        self.bar.suspend(|| println!("{line}"));
    }
}

//! Progress of long work: bars on a terminal, plain lines otherwise.

use std::io::IsTerminal;

use indicatif::{MultiProgress, ProgressBar};
use latrunculi_train::WorkProgress;

use crate::progress;

/// Shows the progress of several pieces of work at once.
#[derive(Debug)]
pub struct Display {
    bars: Option<MultiProgress>,
}

/// The bar of one piece of work; it disappears when dropped.
#[derive(Debug)]
pub struct Work {
    bar: ProgressBar,
}

impl Display {
    /// Creates a display, without bars if `quiet` or if the standard error is not a terminal.
    pub fn new(quiet: bool) -> Display {
        Display { bars: (!quiet && std::io::stderr().is_terminal()).then(MultiProgress::new) }
    }

    /// Begins a piece of work of `len` parts. `left_secs` is what is left of the run's budget.
    pub fn begin(&self, name: &str, len: u64, left_secs: Option<f64>) -> Work {
        let Some(bars) = &self.bars else { return Work { bar: ProgressBar::hidden() } };
        let left = left_secs.map(|secs| format!(" · run {:.1} min left", secs / 60.0)).unwrap_or_default();
        let bar = bars.add(ProgressBar::new(len));
        bar.set_style(progress::style("{msg:32} [{bar:30}] {pos}/{len} {rate:>10} {eta:>4}{prefix}"));
        bar.set_prefix(left);
        bar.set_message(name.to_owned());
        Work { bar }
    }

    /// Prints a line above the bars.
    pub fn say(&self, line: &str) {
        match &self.bars {
            Some(bars) => bars.suspend(|| println!("{line}")),
            None => println!("{line}"),
        }
    }
}

impl WorkProgress for Work {
    fn set(&self, done: u64) {
        self.bar.set_position(done);
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

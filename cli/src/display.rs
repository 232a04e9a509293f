//! Progress of long work: bars on a terminal, plain lines otherwise.

use std::fmt;
use std::io::{IsTerminal, Write as _};
use std::time::{Duration, Instant};

use console::Term;
use indicatif::{MultiProgress, ProgressBar, ProgressState};
use latrunculi_train::Work;

use crate::progress;
use crate::train::time_text;

/// Returns how many letters a line of the standard output has; `None` where it is not a terminal.
#[must_use]
pub fn width() -> Option<usize> {
    let terminal = Term::stdout();
    terminal.is_term().then(|| usize::from(terminal.size().1))
}

/// Shows the progress of several pieces of work at once.
#[derive(Debug)]
pub struct Display {
    bars: Option<MultiProgress>,
}

/// The bar of one piece of work; it disappears when dropped.
struct Bar(ProgressBar);

impl Display {
    /// Creates a display, without bars if `quiet` or if the standard error is not a terminal.
    pub fn new(quiet: bool) -> Display {
        Display { bars: (!quiet && std::io::stderr().is_terminal()).then(MultiProgress::new) }
    }

    /// Begins a piece of work of `len` parts, which `unit` names. `left_secs` is what is left of the run's budget.
    pub fn begin(&self, name: &str, len: u64, unit: &'static str, left_secs: Option<f64>) -> Work<'static> {
        let Some(bars) = &self.bars else { return Box::new(|_| ()) };
        let bar = bars.add(ProgressBar::new(len));
        let begun = Instant::now();
        let left = move |_: &ProgressState, text: &mut dyn fmt::Write| {
            if let Some(secs) = left_secs {
                // A bar that cannot be written is no reason to stop.
                _ = write!(text, "  run {}", time_text((secs - begun.elapsed().as_secs_f64()).max(0.0)));
            }
        };
        let speed = move |state: &ProgressState, text: &mut dyn fmt::Write| {
            _ = write!(text, "{:.1} {unit}/s", state.per_sec());
        };
        let style = progress::style("{msg:28} [{wide_bar}] {percent:>3} % {speed:>14} {eta:>4}{left}");
        bar.set_style(style.with_key("left", left).with_key("speed", speed));
        bar.set_message(name.to_owned());
        // The times go on between two parts.
        bar.enable_steady_tick(Duration::from_secs(1));
        let bar = Bar(bar);
        Box::new(move |done| bar.0.set_position(done))
    }

    /// Prints a line above the bars.
    pub fn say(&self, line: &str) {
        match &self.bars {
            Some(bars) => bars.suspend(|| print_or_fail(line)),
            None => print_or_fail(line),
        }
    }
}

/// Prints a line of long work. Where nobody reads it any more, the program ends with status 1, since the work is not done.
fn print_or_fail(line: &str) {
    if let Err(error) = writeln!(std::io::stdout(), "{line}") {
        eprintln!("error: cannot write to the standard output: {error}");
        std::process::exit(1);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

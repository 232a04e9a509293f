//! Progress of matches, ratings and studies, and the style of all progress bars.

use std::fmt::Write;
use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressState, ProgressStyle};

/// Returns a style from an indicatif template, in which `{rate}` is the number of parts done a second and `{left}` the time left.
///
/// indicatif's `{per_sec}` shows ten digits after the point, and its `{eta}` is 0 until the first part is done.
pub(crate) fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    let style = style.progress_chars("=> ").with_key("rate", |state: &ProgressState, text: &mut dyn Write| {
        // A bar that cannot be written is no reason to stop.
        _ = write!(text, "{:.1}/s", state.per_sec());
    });
    style.with_key("left", |state: &ProgressState, text: &mut dyn Write| {
        _ = match state.pos() {
            0 => Ok(()),
            _ => write!(text, "{:#} left", HumanDuration(state.eta())),
        };
    })
}

/// Seconds between two lines where there is no bar.
const LINE_SECS: u64 = 10;

/// The progress of games: a bar on a terminal, otherwise a line now and then.
pub(crate) struct GamesProgress {
    bar: ProgressBar,
    prints_lines: bool,
    last_line: Mutex<Instant>,
}

impl GamesProgress {
    /// Shows nothing if `quiet`. The bar follows an indicatif template.
    pub(crate) fn new(quiet: bool, template: &str) -> GamesProgress {
        let is_terminal = std::io::stderr().is_terminal();
        let bar = if quiet || !is_terminal { ProgressBar::hidden() } else { ProgressBar::no_length() };
        bar.set_style(style(template));
        GamesProgress { bar, prints_lines: !quiet && !is_terminal, last_line: Mutex::new(Instant::now()) }
    }

    /// Sets the bar, which is first drawn when it is known of how many games.
    fn set(&self, games: u64, games_max: u64) {
        if self.bar.length().is_none() {
            self.bar.enable_steady_tick(Duration::from_millis(500));
        }
        self.bar.set_length(games_max);
        self.bar.set_position(games);
    }

    /// Shows what is done before the games begin.
    pub(crate) fn tell(&self, message: String) {
        self.print_now_and_then(&message);
        self.bar.set_message(message);
    }

    fn print_now_and_then(&self, line: &str) {
        if let Ok(mut last) = self.last_line.lock()
            && self.prints_lines
            && last.elapsed() > Duration::from_secs(LINE_SECS)
        {
            *last = Instant::now();
            eprintln!("{line}");
        }
    }

    /// Shows that `games` of at most `games_max` have ended; goes on unless `stop` is set. Games without a message were read and
    /// not played, and do not count for the rate.
    pub(crate) fn follow(
        &self,
        games: u64,
        games_max: u64,
        message: Option<String>,
        stop: &AtomicBool,
    ) -> ControlFlow<()> {
        self.set(games, games_max);
        match message {
            None => self.bar.reset_eta(),
            Some(message) => {
                self.print_now_and_then(&format!("{games}/{games_max} games  {message}"));
                self.bar.set_message(message);
            }
        }
        if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_empty_until_it_is_known_of_how_many_games() {
        let progress = GamesProgress::new(true, "{bar}");
        assert_eq!((progress.bar.length(), progress.bar.is_finished()), (None, false));
        assert!(progress.follow(0, 200, None, &AtomicBool::new(false)).is_continue());
        assert_eq!((progress.bar.length(), progress.bar.position()), (Some(200), 0));
    }
}

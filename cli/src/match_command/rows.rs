//! Matches of several rulesets as a table with a row for each, printed as they end.

use std::sync::Arc;

use latrunculi_engine::Rules;
use latrunculi_eval::Number;
use latrunculi_eval::matches::{MatchReport, MeanReport};
use latrunculi_stats::{Estimate, Interval, WinDrawLoss};

use super::text::waiting_text;
use crate::lines::beside;

/// The heading of the first column.
const RULESET: &str = "ruleset";

/// The table.
pub(super) struct Rows {
    /// Columns of the longest name.
    name: usize,
    has_heading: bool,
}

impl Rows {
    pub(super) fn new(played: &[Arc<Rules>]) -> Rows {
        let name = played.iter().map(|rules| rules.ruleset().id.chars().count()).max().unwrap_or_default();
        Rows { name: name.max(RULESET.len()), has_heading: false }
    }

    /// Prints the row of a match, before the first one who plays and what the columns are.
    pub(super) fn print(&mut self, report: &MatchReport) {
        if !self.has_heading {
            self.has_heading = true;
            let [a, b] = &report.agents;
            println!("A {a}\nB {b}\nscore and margin of A in %, {:.0} % intervals\n", report.confidence * 100.0);
            self.print_cells([RULESET, "score", "+ = -", "margin of men"]);
        }
        match report.score {
            Some(score) => self.print_row(&report.ruleset, score, report.interval, report.total, report.margin),
            None => self.print_cells([&report.ruleset, "no game counts", "", ""]),
        }
        if report.games_waiting > 0 {
            println!("{}", beside("not counted: ", &waiting_text(report.games_waiting)));
        }
    }

    /// Prints the mean of the rulesets; `stopped` says whether the games of a match that was stopped are kept.
    pub(super) fn print_mean(&self, mean: &MeanReport, stopped: Option<bool>) {
        if let Some(score) = mean.score {
            self.print_row("mean", score, mean.interval, mean.total, mean.margin);
        }
        println!("\nThe mean is over {} rulesets, each with the same weight.", mean.rulesets);
        match stopped {
            None => {}
            Some(true) => println!("stopped early; run the same command to play the rest"),
            Some(false) => println!("stopped early; without --ledger FILE the games are lost"),
        }
    }

    fn print_row(
        &self,
        name: &str,
        score: f64,
        interval: Option<Interval>,
        games: WinDrawLoss,
        margin: Option<Estimate>,
    ) {
        let interval = interval.map(|found| format!(" [{:.1}, {:.1}]", 100.0 * found.lower, 100.0 * found.upper));
        let margin =
            margin.map(|found| format!("{:+.1} ± {:.1}", Number(100.0 * found.value), 100.0 * found.standard_error));
        self.print_cells([
            name,
            &format!("{:.1}{}", 100.0 * score, interval.unwrap_or_default()),
            &format!("+{} ={} -{}", games.wins, games.draws, games.losses),
            &margin.unwrap_or_default(),
        ]);
    }

    fn print_cells(&self, [name, score, results, margin]: [&str; 4]) {
        let line = format!("{name:<width$}  {score:<19}  {results:<15}  {margin}", width = self.name);
        println!("{}", line.trim_end());
    }
}

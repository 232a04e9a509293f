//! Matches of several rulesets as a table with a row for each, printed as they end.

use std::sync::Arc;

use latrunculi_engine::Rules;
use latrunculi_eval::Number;
use latrunculi_eval::matches::{MatchReport, MeanReport};
use latrunculi_stats::{Estimate, Interval, WinDrawLoss};

use super::text::{rest_text, waiting_text};
use crate::lines::{Table, beside};

/// The table.
pub(super) struct Rows {
    table: Table<'static, Row>,
    has_heading: bool,
}

/// A match, or the mean of all.
struct Row {
    name: String,
    score: f64,
    interval: Option<Interval>,
    games: WinDrawLoss,
    margin: Option<Estimate>,
}

impl Rows {
    pub(super) fn new(played: &[Arc<Rules>]) -> Rows {
        let widest = played.iter().map(|rules| rules.ruleset().id.chars().count()).max().unwrap_or_default();
        let score = |row: &Row| match row.interval {
            Some(interval) => format!("{:.1} {:.1}", 100.0 * row.score, interval.percent()),
            None => format!("{:.1}", 100.0 * row.score),
        };
        let margin =
            |margin: Estimate| format!("{:+.1} ± {:.1}", Number(100.0 * margin.value), 100.0 * margin.standard_error);
        let table = Table::new()
            .left("ruleset", widest, |row: &Row| row.name.clone())
            .left("score", 19, score)
            .left("+ = -", 15, |row| row.games.to_string())
            .left("margin of men", 0, move |row| row.margin.map(margin).unwrap_or_default());
        Rows { table, has_heading: false }
    }

    /// Prints the row of a match, before the first one who plays and what the columns are.
    pub(super) fn print(&mut self, report: &MatchReport) {
        if !self.has_heading {
            self.has_heading = true;
            let [a, b] = &report.agents;
            println!("A {a}\nB {b}\nscore and margin of A in %, {:.0} % intervals\n", report.confidence * 100.0);
            println!("{}", self.table.head());
        }
        let MatchReport { ruleset, interval, total, margin, .. } = report;
        match report.score {
            Some(score) => {
                let (name, interval, games, margin) = (ruleset.clone(), *interval, *total, *margin);
                println!("{}", self.table.row(&Row { name, score, interval, games, margin }));
            }
            None => println!("{ruleset}  no game counts"),
        }
        if report.games_waiting > 0 {
            println!("{}", beside("not counted: ", &waiting_text(report.games_waiting)));
        }
    }

    /// Prints the mean of the rulesets; `stopped` says whether the games of a match that was stopped are kept.
    pub(super) fn print_mean(&self, mean: &MeanReport, stopped: Option<bool>) {
        if let Some(score) = mean.score {
            let &MeanReport { interval, total: games, margin, .. } = mean;
            println!("{}", self.table.row(&Row { name: "mean".to_owned(), score, interval, games, margin }));
        }
        println!("\nThe mean is over {} rulesets, each with the same weight.", mean.rulesets);
        if let Some(is_kept) = stopped {
            println!("stopped early; {}", rest_text(is_kept, "--ledger FILE"));
        }
    }
}

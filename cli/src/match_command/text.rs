//! Matches as text: one, or several as a table with a row for each, printed as they end.

use std::sync::Arc;

use latrunculi_engine::{EndReason, Rules};
use latrunculi_eval::Number;
use latrunculi_eval::matches::{MatchProgress, MatchReport, MeanReport, SprtReport};
use latrunculi_stats::score::EloEstimate;
use latrunculi_stats::sprt::SprtVerdict;
use latrunculi_stats::{Confidence, Estimate, Interval, Sprt, WinDrawLoss};

use crate::lines::{Table, beside, facts, wrapped};

/// The likelihood of superiority above which an agent is called clearly stronger.
pub(crate) const CLEARLY: f64 = 0.995;
/// Agents are called equally strong if their score is shown to be nearer to a half than this.
const EVEN: f64 = 0.03;

/// Returns the report; `is_kept` says whether the games are in a ledger or a store.
pub(super) fn text(report: &MatchReport, is_kept: bool) -> String {
    let [a, b] = &report.agents;
    let mut rows = Vec::new();
    let mut row = |name: &'static str, value: String| rows.push((name, value));
    if let Some(score) = report.score {
        let interval = report.interval.map(|found| format!(" {:.2}", found.percent())).unwrap_or_default();
        row("score of A", format!("{:.2} %{interval}", 100.0 * score));
    }
    if let Some(reason) = &report.interval_refused {
        row("no interval", reason.clone());
    }
    if let Some(margin) = report.margin {
        let confidence = Confidence::new(report.confidence).unwrap_or(Confidence::NINETY_FIVE);
        let (value, interval) = (Number(100.0 * margin.value), margin.interval_of_margin(confidence).percent());
        row("margin of A", format!("{value:+.2} % {interval:+.2} of a side's men, at the end"));
    }
    if let Some(elo) = report.elo {
        row("Elo", elo_text(elo, report.score));
    }
    if let Some(likelihood) = report.likelihood_of_superiority {
        row("A is stronger", format!("{:.2} % likely", likelihood * 100.0));
    }
    if let Some(test) = &report.sprt {
        row("SPRT", sprt_text(test));
    }
    row("results of A", report.total.to_string());
    row("A beginning", report.by_seat.beginning.to_string());
    row("A replying", report.by_seat.replying.to_string());
    row("first player", report.beginner.to_string());
    let openings = format!("{}, of {} drawn actions each", report.openings_distinct, report.opening_length);
    let redrawn = match report.openings_redrawn {
        0 => String::new(),
        redrawn => format!("; {redrawn} redrawn because they repeated or mirrored another"),
    };
    row("openings", openings + &redrawn);
    let cut = report.records.iter().filter(|game| game.game.opening < report.opening_length).count();
    if cut > 0 {
        row("without opening", format!("{cut} games, whose drawn opening ended the game"));
    }
    if report.pairs_repeated > 0 {
        row(
            "repetitions",
            format!("{} pairs left out because a game of theirs repeats an earlier one", report.pairs_repeated),
        );
    }
    let end = |(reason, count): (&&str, &u64)| format!("{}: {count}", EndReason::words_for(reason));
    let ends: Vec<String> = report.ends.iter().map(end).collect();
    row("ends", ends.join("; "));
    if report.truncated > 0 {
        row("truncated", format!("{} games by the program's own limit, counted as draws", report.truncated));
    }
    let effort = |effort: Option<f64>| effort.map_or("-".to_owned(), |effort| format!("{effort:.0}"));
    let efforts = report.effort_mean.map(effort);
    row("per game", format!("{:.1} actions", report.actions_mean));
    if report.effort_mean.iter().any(Option::is_some) {
        row("per choice", format!("A {}, B {} nodes or simulations", efforts[0], efforts[1]));
    }
    if let Some(threads) = report.threads_per_game {
        row("by the clock", clock_text(threads));
    }
    if report.is_interrupted {
        row("stopped early", rest_text(is_kept, "--ledger FILE"));
        if report.games_waiting > 0 {
            row("not counted", waiting_text(report.games_waiting));
        }
    }
    let (ruleset, games) = (&report.ruleset, report.games);
    let confidence = 100.0 * report.confidence;
    format!(
        "{}\n\nA {a}\nB {b}\n{ruleset}, {games} games count, in pairs of one opening; [{confidence:.0} % intervals]\n{}",
        wrapped(&headline(report), 0),
        facts(2, &rows)
    )
}

/// Returns what the match has shown, in a sentence or two.
fn headline(report: &MatchReport) -> String {
    let ruleset = &report.ruleset;
    if let Some(test) = report.sprt.as_ref().filter(|test| test.is_decided) {
        return format!("The test is decided: {}.", verdict_text(test));
    }
    let (Some(score), Some(interval), Some(likelihood)) =
        (report.score, report.interval, report.likelihood_of_superiority)
    else {
        return format!("Too few games to say which agent is stronger in {ruleset}.");
    };
    let clearly = if likelihood.max(1.0 - likelihood) > CLEARLY { "clearly " } else { "" };
    let points = format!("A scores {:.1} points of 100", 100.0 * score);
    match interval {
        Interval { lower, .. } if lower > 0.5 => format!("A is {clearly}stronger than B in {ruleset}: {points}."),
        Interval { upper, .. } if upper < 0.5 => format!("B is {clearly}stronger than A in {ruleset}: {points}."),
        Interval { lower, upper } if lower > 0.5 - EVEN && upper < 0.5 + EVEN => {
            format!("A and B are equally strong in {ruleset}, within {:.0} points of 100.", 100.0 * EVEN)
        }
        Interval { lower, upper } => {
            // An interval narrows with the root of the number of games.
            let half_width = (upper - lower) / 2.0;
            let needed = report.games as f64 * (half_width / (score - 0.5).abs().max(EVEN)).powi(2);
            let games = (needed / 100.0).ceil() * 100.0;
            format!(
                "Too few games to say which agent is stronger in {ruleset}: {points}, which may be chance. \
                 Next: about --games {games:.0}."
            )
        }
    }
}

/// Says how what was stopped is played to its end, if its games are kept, and else with which option they would be.
pub(crate) fn rest_text(is_kept: bool, option: &str) -> String {
    match is_kept {
        true => "run the same command to play the rest".to_owned(),
        false => format!("without {option} the games are lost"),
    }
}

/// Says what it means that an agent plays by the clock, with so many threads for each game.
pub(crate) fn clock_text(threads: usize) -> String {
    let s = if threads == 1 { "" } else { "s" };
    format!("each game has {threads} thread{s}; the same command will play other games")
}

/// Says why games that have ended do not count yet.
pub(crate) fn waiting_text(games: u64) -> String {
    format!(
        "{games} games that have ended: a pair counts once both of its games and all pairs before it have ended, since \
         else the shortest games would count first"
    )
}

/// Returns an Elo difference as text. A score of 0 or 1 gives only a bound.
pub(crate) fn elo_text(elo: EloEstimate, score: Option<f64>) -> String {
    let bound =
        |bound: Option<f64>, open: &str| bound.map_or(open.to_owned(), |bound| format!("{:+.1}", Number(bound)));
    match score {
        Some(score) if score <= 0.0 => format!("-∞, below {}", bound(elo.upper, "+∞")),
        Some(score) if score >= 1.0 => format!("+∞, above {}", bound(elo.lower, "-∞")),
        _ => format!("{:+.1}  [{}, {}]", Number(elo.value), bound(elo.lower, "-∞"), bound(elo.upper, "+∞")),
    }
}

fn verdict_text(test: &SprtReport) -> String {
    let Sprt { elo0, elo1, .. } = test.sprt;
    match test.verdict {
        SprtVerdict::AcceptH0 => format!("the lead of A is {elo0:+} Elo or less rather than {elo1:+} or more"),
        SprtVerdict::AcceptH1 => format!("the lead of A is {elo1:+} Elo or more rather than {elo0:+} or less"),
        SprtVerdict::Continue => format!("undecided between a lead of A of {elo0:+} and of {elo1:+} Elo"),
    }
}

fn sprt_text(test: &SprtReport) -> String {
    let bounds = test.sprt.bounds;
    let verdict = verdict_text(test);
    let ratio = Number(test.log_likelihood_ratio);
    let caution = if test.is_decided { "; the score above is biased by stopping then" } else { "" };
    format!("{verdict}, log-likelihood ratio {ratio:.2} in [{:.2}, {:.2}]{caution}", bounds.lower, bounds.upper)
}

pub(super) fn progress(at: &MatchProgress<'_>) -> String {
    let mut message = at.results.to_string();
    if let Some(test) = at.sprt {
        let bounds = test.sprt.bounds;
        let ratio = Number(test.log_likelihood_ratio);
        message.push_str(&format!("  LLR {ratio:.2} in [{:.2}, {:.2}]", bounds.lower, bounds.upper));
    }
    message
}

pub(super) struct Rows {
    table: Table<'static, Row>,
    has_heading: bool,
}

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
        println!(
            "{}",
            match mean.interval {
                Some(Interval { lower, .. }) if lower > 0.5 => "A is stronger than B over all of them.",
                Some(Interval { upper, .. }) if upper < 0.5 => "B is stronger than A over all of them.",
                _ => "Too few games to say which agent is stronger over all of them.",
            }
        );
        if let Some(is_kept) = stopped {
            println!("stopped early; {}", rest_text(is_kept, "--ledger FILE"));
        }
    }
}

#[cfg(test)]
mod tests {
    use latrunculi_stats::SprtBounds;

    use super::*;

    #[test]
    fn a_sequential_test_is_told_in_words_that_hold_for_bounds_of_any_sign() {
        let bounds = SprtBounds::new(0.05, 0.05).expect("probabilities");
        for (elo0, elo1, verdict, said) in [
            (-1500.0, -500.0, SprtVerdict::AcceptH0, "the lead of A is -1500 Elo or less rather than -500 or more,"),
            (-1500.0, -500.0, SprtVerdict::AcceptH1, "the lead of A is -500 Elo or more rather than -1500 or less,"),
            (-1500.0, -500.0, SprtVerdict::Continue, "undecided between a lead of A of -1500 and of -500 Elo,"),
            (0.0, 20.0, SprtVerdict::AcceptH1, "the lead of A is +20 Elo or more rather than +0 or less,"),
        ] {
            let sprt = Sprt { elo0, elo1, bounds };
            let is_decided = verdict != SprtVerdict::Continue;
            let text = sprt_text(&SprtReport { sprt, log_likelihood_ratio: 1.0, is_decided, verdict });
            assert!(text.starts_with(said), "{text}");
        }
    }
}

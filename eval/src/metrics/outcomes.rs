//! The results of games and the reasons for their ends.

use latrunculi_engine::EndReason;
use serde::{Deserialize, Serialize};

use super::estimates::{MetricEstimate, Rate, Sampling};
use super::mechanics::Mechanic;
use super::trace::{FIRST, Trace};
use latrunculi_stats::{GameResult, Interval, WinDrawLoss};

/// With more than this fraction of truncated games the score depends on the ply cap.
pub const TRUNCATED_MAX: f64 = 0.01;

/// The class of a game's end. The classes are disjoint, and every finished game is in one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeClass {
    /// The first player won by the rules.
    FirstWin,
    /// The second player won by the rules.
    SecondWin,
    /// Drawn by the rules.
    RuleDraw,
    /// The program's ply cap ended it: counted as a draw, and bracketed.
    Truncated,
    /// A player resigned.
    Adjudicated,
}

/// The share of games of one class that ended for one reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutcomeShare {
    /// The class.
    pub class: OutcomeClass,
    /// The reason, as game records write it; empty where a game was given up.
    pub reason: String,
    /// Its share of all games.
    pub share: Rate,
}

/// The results of games.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcomes {
    /// Every class and reason that occurred; the shares sum to 1.
    pub partition: Vec<OutcomeShare>,
    /// Games that the first player won, given-up ones included.
    pub first_wins: Rate,
    /// Games that the second player won, given-up ones included.
    pub second_wins: Rate,
    /// Games drawn by the rules.
    pub rule_draws: Rate,
    /// Games ended by the program's ply cap.
    pub truncated: Rate,
    /// Decisive games.
    pub decisive: Rate,
    /// The fraction of decisive games that the first player won.
    pub first_among_decisive: Option<Rate>,
    /// The first player's mean score; a draw and a truncated game count one half. Where all games ended alike the
    /// interval is that of the score test.
    pub score: MetricEstimate,
    /// The score if every truncated game were lost, and if every one were won.
    pub score_bracket: Interval,
    /// Whether at most 1 % of the games were truncated.
    pub is_truncation_small: bool,
    /// What the first capture came to; `None` where nobody captured, and in files of before.
    pub first_capture: Option<FirstCapture>,
}

/// Games in which an agent captured, by who did so first; captures of the random opening do not count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FirstCapture {
    /// Games in which that was the first player.
    pub by_first: Rate,
    /// Games that whoever captured first won.
    pub won: Rate,
    /// Games drawn.
    pub drawn: Rate,
}

impl FirstCapture {
    fn measure(traces: &[Trace], sampling: &Sampling<'_>) -> Option<FirstCapture> {
        let captor = |trace: &Trace| {
            trace.choices.iter().find(|choice| choice.used.contains(Mechanic::Capture)).map(|choice| choice.seat)
        };
        let captors: Vec<(usize, usize)> =
            traces.iter().enumerate().filter_map(|(game, trace)| Some((game, captor(trace)?))).collect();
        let rate = |has: &dyn Fn(usize, usize) -> bool| {
            sampling.rate(captors.iter().map(|&(game, seat)| (game, u64::from(has(game, seat)), 1)))
        };
        Some(FirstCapture {
            by_first: rate(&|_, seat| seat == FIRST)?,
            won: rate(&|game, seat| traces[game].winner() == Some(seat))?,
            drawn: rate(&|game, _| traces[game].winner().is_none())?,
        })
    }
}

impl OutcomeClass {
    fn of(trace: &Trace) -> OutcomeClass {
        match (trace.reason, trace.result) {
            (None, _) => OutcomeClass::Adjudicated,
            (Some(EndReason::MaxPlies), _) => OutcomeClass::Truncated,
            (Some(_), GameResult::Win) => OutcomeClass::FirstWin,
            (Some(_), GameResult::Draw) => OutcomeClass::RuleDraw,
            (Some(_), GameResult::Loss) => OutcomeClass::SecondWin,
        }
    }
}

/// Returns the reason as game records write it; empty for a game that was given up.
pub(super) fn reason_text(reason: Option<EndReason>) -> String {
    reason.map_or_else(String::new, |reason| reason.as_str().to_owned())
}

impl Outcomes {
    pub(super) fn measure(traces: &[Trace], sampling: &Sampling<'_>) -> Option<Outcomes> {
        let classes: Vec<OutcomeClass> = traces.iter().map(OutcomeClass::of).collect();
        let mut kinds: Vec<(OutcomeClass, Option<EndReason>)> =
            classes.iter().zip(traces).map(|(&class, trace)| (class, trace.reason)).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let share_of = |(class, reason): (OutcomeClass, Option<EndReason>)| {
            let share = sampling.rate_of_games(|game| (classes[game], traces[game].reason) == (class, reason))?;
            Some(OutcomeShare { class, reason: reason_text(reason), share })
        };
        let with_result = |result| sampling.rate_of_games(|game| traces[game].result == result);
        let of_class = |class| sampling.rate_of_games(|game| classes[game] == class);
        let is_decisive = |game: usize| traces[game].result != GameResult::Draw;
        let truncated = of_class(OutcomeClass::Truncated)?;
        let mut scores = sampling.sums(1);
        let mut counts = WinDrawLoss::default();
        for (game, trace) in traces.iter().enumerate() {
            sampling.add(&mut scores, game, 0, trace.score());
            counts.record(trace.result);
        }
        let mut score = sampling.ratios("score", &scores)[0]?;
        if score.interval.is_none() && sampling.openings >= 2 {
            // Each opening then counts as one game.
            let share = sampling.openings as f64 / traces.len() as f64;
            score.interval = Some(counts.mean_test().of_share(share).interval(sampling.confidence));
        }
        let hidden = truncated.rate / 2.0;
        Some(Outcomes {
            partition: kinds.into_iter().filter_map(share_of).collect(),
            first_wins: with_result(GameResult::Win)?,
            second_wins: with_result(GameResult::Loss)?,
            rule_draws: of_class(OutcomeClass::RuleDraw)?,
            truncated,
            decisive: sampling.rate_of_games(is_decisive)?,
            first_among_decisive: sampling.rate(
                (0..traces.len())
                    .filter(|&game| is_decisive(game))
                    .map(|game| (game, u64::from(traces[game].result == GameResult::Win), 1)),
            ),
            score,
            score_bracket: Interval { lower: score.value - hidden, upper: score.value + hidden },
            is_truncation_small: truncated.rate <= TRUNCATED_MAX,
            first_capture: FirstCapture::measure(traces, sampling),
        })
    }
}

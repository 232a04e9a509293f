//! How games end, and for whom.

use latrunculi_engine::EndReason;
use serde::{Deserialize, Serialize};

use super::estimates::{Measured, Rate, Sampling};
use super::trace::Trace;
use crate::statistics::{GameResult, Interval, Trinomial};

/// More truncated games than this share make the score a matter of the limit.
pub const TRUNCATED_MAX: f64 = 0.01;

/// For whom a game ended, and how: the classes are disjoint, and every finished game is in one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeClass {
    /// The first player won by the rules.
    FirstWin,
    /// The second player won by the rules.
    SecondWin,
    /// The rules called it a draw.
    RuleDraw,
    /// The program's own limit of turns ended it: counted as a draw, and bracketed.
    Truncated,
    /// It was given up before the rules ended it.
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

/// How games ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcomes {
    /// Every class and reason that occurred; the shares sum to 1.
    pub partition: Vec<OutcomeShare>,
    /// Games that the first player won, given-up ones included.
    pub first_wins: Rate,
    /// Games that the second player won, given-up ones included.
    pub second_wins: Rate,
    /// Games that the rules called a draw.
    pub rule_draws: Rate,
    /// Games that the program's own limit of turns ended.
    pub truncated: Rate,
    /// Games that somebody won.
    pub decisive: Rate,
    /// Of those, the games that the first player won.
    pub first_among_decisive: Option<Rate>,
    /// The first player's mean score; a draw and a truncated game count one half. Where all games ended alike the
    /// interval is the credible one.
    pub score: Measured,
    /// The same with every truncated game lost, and with every one won: what the limit can hide.
    pub score_bracket: Interval,
    /// Whether at most 1 % of the games were truncated.
    pub is_truncation_small: bool,
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
        let mut counts = Trinomial::default();
        for (game, trace) in traces.iter().enumerate() {
            sampling.add(&mut scores, game, 0, trace.score());
            counts.record(trace.result);
        }
        let mut score = sampling.ratios("score", &scores)[0]?;
        if score.interval.is_none() && sampling.openings >= 2 {
            score.interval = Some(counts.credible_interval(sampling.confidence));
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
        })
    }
}

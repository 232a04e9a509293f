//! The mean of matches of the same agents in several rulesets.

use latrunculi_stats::{Estimate, Interval, WinDrawLoss};
use serde::Serialize;

use super::MatchReport;

/// The mean over rulesets, each with the same weight however many games it has. Rulesets in which no game counts are not
/// part of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MeanReport {
    /// Rulesets that are part of it.
    pub rulesets: usize,
    /// Wins, draws and losses of the first agent in all of them.
    pub total: WinDrawLoss,
    /// Mean of the first agent's scores, in `[0, 1]`.
    pub score: Option<f64>,
    /// Its interval ([`Interval::of_mean`]); `None` where a ruleset has none.
    pub interval: Option<Interval>,
    /// Mean of the first agent's material margins, in shares of a side's men; `None` where a ruleset has none.
    pub margin: Option<Estimate>,
}

impl MeanReport {
    /// Returns the mean of matches of the same agents.
    #[must_use]
    pub fn of(reports: &[MatchReport]) -> MeanReport {
        let counted: Vec<&MatchReport> = reports.iter().filter(|report| report.score.is_some()).collect();
        let mut total = WinDrawLoss::default();
        for report in &counted {
            total.wins += report.total.wins;
            total.draws += report.total.draws;
            total.losses += report.total.losses;
        }
        let scores: Vec<f64> = counted.iter().filter_map(|report| report.score).collect();
        let parts: Option<Vec<(f64, Interval)>> =
            counted.iter().map(|report| Some((report.score?, report.interval?))).collect();
        let margins: Option<Vec<Estimate>> = counted.iter().map(|report| report.margin).collect();
        let count = scores.len() as f64;
        MeanReport {
            rulesets: counted.len(),
            total,
            score: (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / count),
            interval: parts.and_then(|parts| Interval::of_mean(&parts)),
            margin: margins.filter(|margins| !margins.is_empty()).map(|margins| Estimate {
                value: margins.iter().map(|one| one.value).sum::<f64>() / count,
                standard_error: margins.iter().map(|one| one.standard_error.powi(2)).sum::<f64>().sqrt() / count,
            }),
        }
    }
}

//! Scores, rates and differences with their intervals.

use super::summary::{DifferenceSummary, RateSummary, ScoreSummary};
use super::tally::mean_test;
use latrunculi_stats::multiplicity::BalanceEvidence;
use latrunculi_stats::proportion::wilson;
use latrunculi_stats::{Confidence, Estimate, StatisticsError, WinDrawLoss};

/// Returns what a score says about the balance, by the test that agrees with [`ScoreSummary::interval`]: where that
/// contains ½ at `confidence`, "the expected score is ½" is not rejected.
///
/// # Errors
/// As [`BalanceEvidence::new`].
pub(super) fn balance_evidence(
    score: &ScoreSummary,
    games: WinDrawLoss,
    openings: u64,
    margin: f64,
) -> Result<BalanceEvidence, StatisticsError> {
    BalanceEvidence::new(&mean_test(games, score.standard_error, openings), margin)
}

/// Returns the standard error that the interval of a score stands for. That of the sample is too small where nearly all
/// games ended alike.
pub(super) fn effective_error(score: &ScoreSummary, confidence: Confidence) -> f64 {
    score.interval.half_width() / confidence.z()
}

/// Returns a score with [`effective_error`].
pub(super) fn estimate(score: &ScoreSummary, confidence: Confidence) -> Estimate {
    Estimate { value: score.score, standard_error: effective_error(score, confidence) }
}

/// Returns `one` less `other`, of independent games.
pub(super) fn difference(one: &ScoreSummary, other: &ScoreSummary, confidence: Confidence) -> DifferenceSummary {
    let standard_error = effective_error(one, confidence).hypot(effective_error(other, confidence));
    as_difference(Estimate { value: one.score - other.score, standard_error }, confidence)
}

pub(super) fn as_difference(estimate: Estimate, confidence: Confidence) -> DifferenceSummary {
    DifferenceSummary {
        difference: estimate.value,
        standard_error: estimate.standard_error,
        interval: estimate.interval(confidence),
        p: estimate.two_sided_p(0.0),
        p_holm: None,
    }
}

/// Returns a rate with Wilson's interval; `None` of none.
pub(super) fn rate(count: u64, of: u64, confidence: Confidence) -> Option<RateSummary> {
    let interval = wilson(count, of, confidence).ok()?;
    Some(RateSummary { count, of, rate: count as f64 / of as f64, interval })
}

#[cfg(test)]
mod tests {
    use latrunculi_stats::score::EloEstimate;

    use super::*;

    #[test]
    fn no_verdict_contradicts_the_interval_beside_it() {
        let confidence = Confidence::NINETY_FIVE;
        for games in 2..=16_u64 {
            for wins in 0..=games {
                for draws in 0..=games - wins {
                    let games = WinDrawLoss::new(wins, draws, games - wins - draws);
                    let score = games.score().unwrap();
                    let openings = games.games();
                    let interval = mean_test(games, score.standard_error(), openings).interval(confidence);
                    let summary = ScoreSummary {
                        score: score.mean(),
                        standard_error: score.standard_error(),
                        interval,
                        simultaneous: interval,
                        half_width: interval.half_width(),
                        truncation_bracket: interval,
                        elo: EloEstimate { value: 0.0, lower: None, upper: None },
                    };
                    let found = balance_evidence(&summary, games, openings, 0.03).unwrap();
                    let is_open = interval.contains(0.5);
                    assert_eq!(found.p_unbalanced > confidence.alpha(), is_open, "{games:?}: {found:?}, {interval:?}");
                }
            }
        }
    }
}

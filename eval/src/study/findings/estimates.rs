//! Scores, rates and differences with their intervals.

use crate::study::summary::{DifferenceSummary, RateSummary, ScoreSummary};
use crate::study::tally::SeriesTally;
use latrunculi_stats::multiplicity::BalanceEvidence;
use latrunculi_stats::proportion::wilson;
use latrunculi_stats::score::EloEstimate;
use latrunculi_stats::{Confidence, Estimate, Interval, Score, StatisticsError, WinDrawLoss};

/// Returns the score of counted games; `rulesets` intervals shall hold together.
pub(in crate::study) fn score_summary(
    tally: &SeriesTally,
    confidence: Confidence,
    rulesets: usize,
) -> Option<ScoreSummary> {
    let outcomes = tally.counts.outcomes;
    let score = tally.score()?.score;
    let (mean, standard_error) = (score.mean(), score.standard_error());
    let estimate = Estimate { value: mean, standard_error };
    let interval = |confidence: Confidence| score_interval(estimate, outcomes.win_draw_loss(), confidence);
    let own = interval(confidence);
    let games = outcomes.games() as f64;
    let hidden = outcomes.truncated as f64 / games / 2.0;
    Some(ScoreSummary {
        score: mean,
        standard_error,
        interval: own,
        simultaneous: interval(confidence.simultaneous(rulesets)),
        half_width: own.half_width(),
        truncation_bracket: Interval { lower: mean - hidden, upper: mean + hidden },
        elo: EloEstimate::of_score(mean, Some(own)),
    })
}

/// Returns the normal interval of a score, if it has a spread and the interval lies inside `(0, 1)`.
fn normal_interval(score: Estimate, confidence: Confidence) -> Option<Interval> {
    let normal = score.interval(confidence);
    (score.standard_error > 0.0 && normal.lower > 0.0 && normal.upper < 1.0).then_some(normal)
}

/// Returns the interval of a score that `games` came to: the normal one, or the credible one where that cannot stand.
fn score_interval(score: Estimate, games: WinDrawLoss, confidence: Confidence) -> Interval {
    normal_interval(score, confidence).unwrap_or_else(|| {
        let credible = games.credible_interval(confidence);
        // An interval that leaves out what was seen would be absurd, though equal tails can give one.
        Interval { lower: credible.lower.min(score.value), upper: credible.upper.max(score.value) }
    })
}

/// Returns what a score says about the balance, by the test that agrees with [`ScoreSummary::interval`]: where that
/// contains ½ at `confidence`, "the expected score is ½" is not rejected.
///
/// # Errors
/// As [`BalanceEvidence::of_games`].
pub(super) fn balance_evidence(
    score: &ScoreSummary,
    games: WinDrawLoss,
    margin: f64,
    confidence: Confidence,
) -> Result<BalanceEvidence, StatisticsError> {
    let estimate = Estimate { value: score.score, standard_error: score.standard_error };
    match normal_interval(estimate, confidence) {
        Some(_) => BalanceEvidence::of_score(Score::new(score.score, score.standard_error, games.games())?, margin),
        None => BalanceEvidence::of_games(games, margin),
    }
}

/// Returns the standard error; where all games ended alike, the one that the credible interval stands for.
pub(super) fn effective_error(score: &ScoreSummary, confidence: Confidence) -> f64 {
    if score.standard_error > 0.0 { score.standard_error } else { score.interval.half_width() / confidence.z() }
}

/// Returns a score with [`effective_error`].
pub(in crate::study) fn estimate(score: &ScoreSummary, confidence: Confidence) -> Estimate {
    Estimate { value: score.score, standard_error: effective_error(score, confidence) }
}

/// Returns `one` less `other`, of independent games.
pub(in crate::study) fn difference(
    one: &ScoreSummary,
    other: &ScoreSummary,
    confidence: Confidence,
) -> DifferenceSummary {
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
pub(in crate::study) fn rate(count: u64, of: u64, confidence: Confidence) -> Option<RateSummary> {
    let interval = wilson(count, of, confidence).ok()?;
    Some(RateSummary { count, of, rate: count as f64 / of as f64, interval })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_verdict_contradicts_the_interval_beside_it() {
        let confidence = Confidence::NINETY_FIVE;
        for games in 2..=16_u64 {
            for wins in 0..=games {
                for draws in 0..=games - wins {
                    let games = WinDrawLoss::new(wins, draws, games - wins - draws);
                    let score = games.score().unwrap();
                    let estimate = Estimate { value: score.mean(), standard_error: score.standard_error() };
                    let interval = score_interval(estimate, games, confidence);
                    let summary = ScoreSummary {
                        score: estimate.value,
                        standard_error: estimate.standard_error,
                        interval,
                        simultaneous: interval,
                        half_width: interval.half_width(),
                        truncation_bracket: interval,
                        elo: EloEstimate { value: 0.0, lower: None, upper: None },
                    };
                    let found = balance_evidence(&summary, games, 0.03, confidence).unwrap();
                    let is_open = interval.contains(0.5);
                    assert_eq!(found.p_unbalanced > confidence.alpha(), is_open, "{games:?}: {found:?}, {interval:?}");
                }
            }
        }
    }
}

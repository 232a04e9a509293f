//! Scores, rates and differences with their intervals.

use crate::statistics::proportion::wilson;
use crate::statistics::score::EloEstimate;
use crate::statistics::{Confidence, Estimate, Interval};
use crate::study::summary::{DifferenceSummary, RateSummary, ScoreSummary};
use crate::study::tally::SeriesTally;

/// Returns the score of counted games; `rulesets` intervals shall hold together.
pub(in crate::study) fn score_summary(
    tally: &SeriesTally,
    confidence: Confidence,
    rulesets: usize,
) -> Option<ScoreSummary> {
    let outcomes = tally.counts.outcomes;
    let score = tally.score()?.score;
    let (mean, standard_error) = (score.mean(), score.standard_error());
    let interval = |confidence: Confidence| {
        let normal = Estimate { value: mean, standard_error }.interval(confidence);
        if standard_error > 0.0 && normal.lower > 0.0 && normal.upper < 1.0 {
            return normal;
        }
        let credible = outcomes.trinomial().credible_interval(confidence);
        // An interval that leaves out what was seen would be absurd, though equal tails can give one.
        Interval { lower: credible.lower.min(mean), upper: credible.upper.max(mean) }
    };
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

/// Returns the standard error; where all games ended alike, the one that the credible interval stands for.
pub(super) fn effective_error(score: &ScoreSummary, confidence: Confidence) -> f64 {
    if score.standard_error > 0.0 { score.standard_error } else { score.interval.half_width() / confidence.z() }
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

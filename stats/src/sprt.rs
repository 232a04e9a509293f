//! The sequential probability ratio test of an Elo difference, on pairs of games.

use serde::{Deserialize, Serialize};

use super::distribution::bisect;
use super::error::StatisticsError;
use super::pairs::Pentanomial;
use super::score::score_from_elo;

/// The count used for a class without observations, so that no likelihood is zero.
/// Source: fastchess, fishtest, OpenBench.
pub const EMPTY_CLASS_COUNT: f64 = 1e-3;

/// The log-likelihood ratios, in nats, at which a test ends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SprtBounds {
    /// H0 is accepted at or below this value: `ln(β/(1−α))`, negative.
    pub lower: f64,
    /// H1 is accepted at or above this value: `ln((1−β)/α)`, positive.
    pub upper: f64,
}

impl SprtBounds {
    /// Makes Wald's bounds from the probabilities of accepting H1 wrongly (`alpha`) and H0 wrongly (`beta`).
    /// Fails with [`StatisticsError::OutOfRange`] unless both are above 0 and below ½.
    /// Source: Wald 1947, "Sequential Analysis".
    pub fn new(alpha: f64, beta: f64) -> Result<SprtBounds, StatisticsError> {
        let range = "above 0 and below 1/2";
        StatisticsError::check("alpha", alpha, range, alpha > 0.0 && alpha < 0.5)?;
        StatisticsError::check("beta", beta, range, beta > 0.0 && beta < 0.5)?;
        Ok(SprtBounds { lower: (beta / (1.0 - alpha)).ln(), upper: ((1.0 - beta) / alpha).ln() })
    }

    /// Returns the decision at a log-likelihood ratio.
    #[must_use]
    pub fn verdict(self, log_likelihood_ratio: f64) -> SprtVerdict {
        if log_likelihood_ratio >= self.upper {
            SprtVerdict::AcceptH1
        } else if log_likelihood_ratio <= self.lower {
            SprtVerdict::AcceptH0
        } else {
            SprtVerdict::Continue
        }
    }
}

/// The state of a sequential test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SprtVerdict {
    /// Neither bound is reached.
    Continue,
    /// The lower bound is reached.
    AcceptH0,
    /// The upper bound is reached.
    AcceptH1,
}

/// A sequential test of "the Elo difference is `elo1`" (H1) against "it is `elo0`" (H0).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sprt {
    /// The logistic Elo difference under H0, less than `elo1`.
    pub elo0: f64,
    /// The logistic Elo difference under H1.
    pub elo1: f64,
    /// The bounds at which the test ends.
    pub bounds: SprtBounds,
}

impl Sprt {
    /// Checks that H0 lies below H1 and that both can be tested.
    /// Fails with [`StatisticsError::OutOfRange`] otherwise.
    pub fn validate(&self) -> Result<(), StatisticsError> {
        let (elo0, elo1) = (self.elo0, self.elo1);
        StatisticsError::check("elo1 − elo0", elo1 - elo0, "above 0", elo1 > elo0)?;
        // A score that rounds to 0 or 1 leaves no distribution of results.
        for elo in [elo0, elo1] {
            let score = score_from_elo(elo);
            StatisticsError::check("score under a hypothesis", score, "inside 0 and 1", score > 0.0 && score < 1.0)?;
        }
        Ok(())
    }

    /// Returns the generalised log-likelihood ratio of H1 to H0 in nats, positive when H1 fits better.
    ///
    /// `LLR = N·Σ p̂ᵢ ln(p⁽¹⁾ᵢ/p⁽⁰⁾ᵢ)` over the five classes of a pair. `p⁽ʲ⁾` is the most likely distribution
    /// whose mean score is that of hypothesis `j`, so no draw rate and no correlation within a pair is assumed.
    /// `pairs` counts the pairs from the view of the side under test. Empty classes count as
    /// [`EMPTY_CLASS_COUNT`].
    /// Fails with [`StatisticsError::NoObservations`] without pairs; otherwise as [`Sprt::validate`].
    ///
    /// Source: Van den Bergh, "A practical introduction to the GSPRT"; fastchess, fishtest.
    pub fn log_likelihood_ratio(&self, pairs: Pentanomial) -> Result<f64, StatisticsError> {
        self.validate()?;
        if pairs.pairs() == 0 {
            return Err(StatisticsError::NoObservations("results"));
        }
        let counts = pairs.counts.map(|count| if count == 0 { EMPTY_CLASS_COUNT } else { count as f64 });
        let total: f64 = counts.iter().sum();
        let frequencies = counts.map(|count| count / total);
        let null = most_likely_with_mean(&frequencies, score_from_elo(self.elo0));
        let alternative = most_likely_with_mean(&frequencies, score_from_elo(self.elo1));
        let terms = frequencies.iter().zip(null.iter().zip(alternative));
        Ok(total * terms.map(|(p, (p0, p1))| p * (p1 / p0).ln()).sum::<f64>())
    }

    /// Returns the log-likelihood ratio and the decision after `pairs`.
    /// The first decision other than [`SprtVerdict::Continue`] is final, whatever later results show. The
    /// mean score at that moment is biased: do not report it as an estimate.
    pub fn test(&self, pairs: Pentanomial) -> Result<(f64, SprtVerdict), StatisticsError> {
        let ratio = self.log_likelihood_ratio(pairs)?;
        Ok((ratio, self.bounds.verdict(ratio)))
    }
}

/// Returns the most likely probabilities of the five classes with mean score `score`, in `(0, 1)`.
/// `pᵢ = p̂ᵢ/(1 + θφᵢ)` with `φᵢ = aᵢ − score`; `θ` is the root of `Σ p̂ᵢφᵢ/(1 + θφᵢ)`, which falls from +∞ to −∞
/// in `(−1/max φ, −1/min φ)`.
/// Source: Van den Bergh, "support_MLE_multinomial", proposition 1.1.
fn most_likely_with_mean(frequencies: &[f64; 5], score: f64) -> [f64; 5] {
    let offsets = Pentanomial::SCORES.map(|class| class - score);
    let (smallest, largest) = (offsets[0], offsets[4]);
    let theta = bisect(-1.0 / largest, -1.0 / smallest, |theta| {
        let weighted = frequencies.iter().zip(offsets);
        weighted.map(|(p, offset)| p * offset / (1.0 + theta * offset)).sum::<f64>() > 0.0
    });
    std::array::from_fn(|class| frequencies[class] / (1.0 + theta * offsets[class]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sprt(elo0: f64, elo1: f64) -> Sprt {
        Sprt { elo0, elo1, bounds: SprtBounds::new(0.05, 0.05).unwrap() }
    }

    #[test]
    fn bounds_have_their_published_values() {
        for (alpha, beta, lower, upper) in [
            (0.05, 0.05, -2.944_439, 2.944_439),
            (0.05, 0.10, -2.251_292, 2.890_372),
            (0.01, 0.01, -4.595_120, 4.595_120),
        ] {
            let bounds = SprtBounds::new(alpha, beta).unwrap();
            assert!((bounds.lower - lower).abs() < 1e-6 && (bounds.upper - upper).abs() < 1e-6);
        }
        assert!(SprtBounds::new(0.0, 0.05).is_err());
        assert!(SprtBounds::new(0.05, f64::NAN).is_err());
    }

    #[test]
    fn most_likely_distribution_sums_to_one_and_has_the_mean() {
        let frequencies = [365.0, 16_618.0, 36_229.0, 16_974.0, 390.0].map(|count| count / 70_576.0);
        for score in [0.2, 0.5, score_from_elo(2.0), 0.9] {
            let found = most_likely_with_mean(&frequencies, score);
            assert!((found.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            let mean: f64 = found.iter().zip(Pentanomial::SCORES).map(|(p, class)| p * class).sum();
            assert!((mean - score).abs() < 1e-12);
        }
    }

    #[test]
    fn ratio_is_near_its_quadratic_approximation() {
        // fishtest's LLR_alt2: N(s₁−s₀)(2s̄−s₀−s₁)/(2σ̂²).
        let pairs = Pentanomial { counts: [223, 9_863, 21_279, 10_037, 246] };
        let exact = sprt(0.5, 2.5).log_likelihood_ratio(pairs).unwrap();
        let (s0, s1) = (score_from_elo(0.5), score_from_elo(2.5));
        let quadratic = pairs.pairs() as f64 * (s1 - s0) * (2.0 * pairs.mean().unwrap() - s0 - s1)
            / (2.0 * pairs.variance().unwrap());
        assert!((exact - quadratic).abs() < 2e-3);
    }

    #[test]
    fn impossible_hypotheses_are_errors() {
        let pairs = Pentanomial { counts: [3, 5, 10, 4, 2] };
        for (elo0, elo1) in [(2.0, 0.0), (0.0, f64::NAN), (0.0, 1e5), (-1e6, 0.0)] {
            let found = sprt(elo0, elo1).log_likelihood_ratio(pairs);
            assert!(matches!(found, Err(StatisticsError::OutOfRange { .. })), "{elo0} {elo1}");
        }
        assert!(sprt(0.0, 2.0).log_likelihood_ratio(Pentanomial::default()).is_err());
    }
}

//! Intervals that may be looked at after every game.

use super::error::StatisticsError;
use super::interval::{Confidence, Interval};
use super::score::Score;

/// An asymptotic confidence sequence: intervals that hold at all times together.
///
/// An ordinary interval watched while games come in excludes ½ sooner or later for a fair game (35 % of
/// the time when looked at every 100 games). This one excludes it with probability `alpha` in all, and is
/// 1.55 times as wide at the length it is tuned to.
///
/// Source: Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, arXiv 2103.06476.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConfidenceSequence {
    alpha: f64,
    rho_squared: f64,
}

impl ConfidenceSequence {
    /// Makes the sequence that is about narrowest after `games` games.
    ///
    /// `ρ² = (−2 ln α + ln(−2 ln α) + 1)/games`.
    ///
    /// # Errors
    /// [`StatisticsError::OutOfRange`] when the confidence is too low for the formula, `ρ² <= 0`;
    /// [`StatisticsError::NoObservations`] for 0 games.
    pub fn tuned_to(games: u64, confidence: Confidence) -> Result<ConfidenceSequence, StatisticsError> {
        if games == 0 {
            return Err(StatisticsError::NoObservations("games"));
        }
        let alpha = confidence.alpha();
        let surprise = -2.0 * alpha.ln();
        let rho_squared = (surprise + surprise.ln() + 1.0) / games as f64;
        let rho_squared = StatisticsError::check("rho squared", rho_squared, "above 0", rho_squared > 0.0)?;
        Ok(ConfidenceSequence { alpha, rho_squared })
    }

    /// Returns the tuning parameter `ρ²`.
    #[must_use]
    pub fn rho_squared(self) -> f64 {
        self.rho_squared
    }

    /// Returns the half-width after `games` games of deviation `σ`; infinite before the first.
    ///
    /// `σ·√[2(nρ²+1)/(n²ρ²) · ln(√(nρ²+1)/α)]`.
    ///
    /// # Errors
    /// [`StatisticsError::OutOfRange`] for a deviation that is negative or not finite.
    pub fn half_width(self, deviation: f64, games: u64) -> Result<f64, StatisticsError> {
        StatisticsError::check("deviation", deviation, "at least 0", deviation >= 0.0)?;
        if games == 0 {
            return Ok(f64::INFINITY);
        }
        let n = games as f64;
        let grown = n * self.rho_squared + 1.0;
        let factor = 2.0 * grown / (n * n * self.rho_squared) * (grown.sqrt() / self.alpha).ln();
        Ok(deviation * factor.sqrt())
    }

    /// Returns the interval around a score, in terms of its [`Score::game_deviation`].
    ///
    /// The ends may leave `[0, 1]`.
    ///
    /// # Errors
    /// [`StatisticsError::NoVariance`] when every observation was the same.
    pub fn interval(self, score: Score) -> Result<Interval, StatisticsError> {
        score.estimate()?;
        let half_width = self.half_width(score.game_deviation(), score.games())?;
        Ok(Interval { lower: score.mean() - half_width, upper: score.mean() + half_width })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::score::Trinomial;

    #[test]
    fn tuning_and_width_have_their_published_values() {
        let sequence = ConfidenceSequence::tuned_to(5_000, Confidence::NINETY_FIVE).unwrap();
        assert!((sequence.rho_squared() - 0.001_756_36).abs() < 5e-9);
        let deviation = 0.175f64.sqrt();
        let half_width = sequence.half_width(deviation, 5_000).unwrap();
        assert!((half_width - 0.0180).abs() < 5e-5);
        let fixed = Confidence::NINETY_FIVE.z() * deviation / 5_000f64.sqrt();
        assert!((half_width / fixed - 1.55).abs() < 0.005);
    }

    #[test]
    fn impossible_sequences_are_errors() {
        assert!(ConfidenceSequence::tuned_to(0, Confidence::NINETY_FIVE).is_err());
        let sure_of_nothing = Confidence::new(0.01).unwrap();
        assert!(ConfidenceSequence::tuned_to(100, sure_of_nothing).is_err());
        let sequence = ConfidenceSequence::tuned_to(100, Confidence::NINETY_FIVE).unwrap();
        assert!(sequence.half_width(f64::NAN, 10).is_err());
        assert_eq!(sequence.half_width(0.4, 0), Ok(f64::INFINITY));
        let alike = Trinomial::new(0, 50, 0).score().unwrap();
        assert_eq!(sequence.interval(alike), Err(StatisticsError::NoVariance));
    }
}

//! A stopping rule that does not bias the estimate.

use super::error::StatisticsError;
use super::interval::Confidence;
use super::score::Score;

/// Stops when the interval is narrow enough, wherever it lies.
/// Unlike a stop at a significant result, this keeps the mean nearly unbiased and the coverage of a 95 %
/// interval at 94 to 95 %, so the score may be published.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FixedWidth {
    half_width: f64,
    games_min: u64,
    confidence: Confidence,
}

impl FixedWidth {
    /// Makes the rule `z·SE <= half_width` and at least `games_min` games.
    /// After some hundred games the variance itself is known well enough to stop on.
    /// Fails with [`StatisticsError::OutOfRange`] unless `0 < half_width < ½`.
    pub fn new(half_width: f64, games_min: u64, confidence: Confidence) -> Result<FixedWidth, StatisticsError> {
        let inside = half_width > 0.0 && half_width < 0.5;
        StatisticsError::check("half-width", half_width, "above 0 and below 1/2", inside)?;
        Ok(FixedWidth { half_width, games_min, confidence })
    }

    /// Returns the half-width that is to be reached.
    #[must_use]
    pub fn half_width(&self) -> f64 {
        self.half_width
    }

    /// Returns the confidence of the interval.
    #[must_use]
    pub fn confidence(&self) -> Confidence {
        self.confidence
    }

    /// Returns the half-width that is known after these games.
    /// `z·SE`; or, when every result was the same, the Clopper-Pearson upper end `1 − (α/2)^(1/n)` for the rate
    /// of other results in `n` openings, which bounds how far the score can be off.
    #[must_use]
    pub fn reached_half_width(&self, score: Score, openings: u64) -> f64 {
        if score.standard_error() > 0.0 {
            self.confidence.z() * score.standard_error()
        } else {
            1.0 - (self.confidence.alpha() / 2.0).powf(1.0 / openings as f64)
        }
    }

    /// Returns whether the measurement is complete.
    /// `score` must have the standard error of its `openings`, not of its games, when openings repeat.
    #[must_use]
    pub fn is_reached(&self, score: Score, openings: u64) -> bool {
        score.games() >= self.games_min && self.reached_half_width(score, openings) <= self.half_width
    }

    /// Returns about how many games are still missing, if the variance stays; 0 when done.
    #[must_use]
    pub fn games_left(&self, score: Score, openings: u64) -> u64 {
        if self.is_reached(score, openings) {
            return 0;
        }
        let needed = if score.standard_error() > 0.0 {
            score.games() as f64 * (self.reached_half_width(score, openings) / self.half_width).powi(2)
        } else {
            let needed_openings = (self.confidence.alpha() / 2.0).ln() / (-self.half_width).ln_1p();
            needed_openings * score.games() as f64 / openings.max(1) as f64
        };
        (needed.ceil() as u64).max(self.games_min).saturating_sub(score.games()).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::WinDrawLoss;

    fn rule() -> FixedWidth {
        FixedWidth::new(0.03, 400, Confidence::NINETY_FIVE).unwrap()
    }

    #[test]
    fn narrow_enough_with_enough_games_is_done() {
        let wide = WinDrawLoss::new(140, 120, 140).score().unwrap();
        assert!(!rule().is_reached(wide, 400));
        let left = rule().games_left(wide, 400);
        assert!((340..=360).contains(&left), "{left}");
        assert!(rule().is_reached(WinDrawLoss::new(280, 240, 280).score().unwrap(), 800));
        let few = WinDrawLoss::new(1, 100, 1).score().unwrap();
        let early = FixedWidth::new(0.03, 50, Confidence::NINETY_FIVE).unwrap();
        assert!(!rule().is_reached(few, 102) && early.is_reached(few, 102));
        assert_eq!(rule().games_left(few, 102), 298);
    }

    #[test]
    fn results_all_alike_end_the_measurement_too() {
        let alike = WinDrawLoss::new(400, 0, 0).score().unwrap();
        assert!(rule().is_reached(alike, 400));
        assert!((rule().reached_half_width(alike, 400) - (1.0 - 0.025f64.powf(1.0 / 400.0))).abs() < 1e-12);
        let strict = FixedWidth::new(0.005, 400, Confidence::NINETY_FIVE).unwrap();
        assert!(!strict.is_reached(alike, 400));
        let left = strict.games_left(alike, 400);
        assert!(strict.is_reached(WinDrawLoss::new(400 + left, 0, 0).score().unwrap(), 400 + left));
        // Games of few openings tell what the openings do.
        assert!(!rule().is_reached(alike, 40));
        assert_eq!(rule().games_left(alike, 40), 812);
    }

    #[test]
    fn impossible_widths_are_errors() {
        for half_width in [0.0, -0.1, 0.5, f64::NAN] {
            assert!(FixedWidth::new(half_width, 400, Confidence::NINETY_FIVE).is_err());
        }
    }
}

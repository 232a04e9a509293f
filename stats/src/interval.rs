//! Confidence levels, intervals, and a value with its standard error.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::distribution::{normal_cdf, normal_quantile};
use super::error::StatisticsError;
use super::number::Number;

/// A two-sided confidence level, strictly between 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Confidence {
    level: f64,
}

impl Confidence {
    /// 95 %, the level of every published interval; `z = 1.959963984540054`.
    pub const NINETY_FIVE: Confidence = Confidence { level: 0.95 };

    /// Makes a level such as `0.95`.
    /// Fails with [`StatisticsError::OutOfRange`] unless `0 < level < 1`.
    pub fn new(level: f64) -> Result<Confidence, StatisticsError> {
        let level = StatisticsError::check("confidence level", level, "between 0 and 1", level > 0.0 && level < 1.0)?;
        Ok(Confidence { level })
    }

    /// Returns the level, in `(0, 1)`.
    #[must_use]
    pub fn level(self) -> f64 {
        self.level
    }

    /// Returns the error probability of both sides together, `1 − level`.
    #[must_use]
    pub fn alpha(self) -> f64 {
        1.0 - self.level
    }

    /// Returns the two-sided normal critical value `z = Φ⁻¹(½ + level/2)`.
    #[must_use]
    pub fn z(self) -> f64 {
        -normal_quantile(self.alpha() / 2.0)
    }

    /// Returns the level that each of `count` intervals needs so that all hold at once (Šidák).
    /// The single level is `level^(1/count)`, exact for independent intervals and safe for normal ones.
    /// A `count` of 0 or 1 changes nothing.
    /// Source: Šidák 1967, JASA 62, 626-633.
    #[must_use]
    pub fn simultaneous(self, count: usize) -> Confidence {
        Confidence { level: self.level.powf(1.0 / count.max(1) as f64) }
    }

    /// Returns the level that each of `count` intervals needs by Bonferroni, `1 − alpha/count`.
    /// Never less than [`Confidence::simultaneous`], and right whatever the dependence.
    #[must_use]
    pub fn bonferroni(self, count: usize) -> Confidence {
        Confidence { level: 1.0 - self.alpha() / count.max(1) as f64 }
    }
}

/// A range of values, `lower <= upper`, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The lower end.
    pub lower: f64,
    /// The upper end.
    pub upper: f64,
}

impl Interval {
    /// Returns the interval of the mean of independent values, each given with its own interval of the wanted
    /// confidence; `None` without values.
    /// With the estimates `x_i` in `[l_i, u_i]` it reaches from `x̄ − sqrt(Σ(x_i − l_i)²)/n` to
    /// `x̄ + sqrt(Σ(u_i − x_i)²)/n`, so that values at an end of their range, whose standard error is 0, count with
    /// what their intervals leave open.
    /// Source: Zou and Donner 2008, Statistics in Medicine 27, 1693-1702 (confidence limits of sums from those of the
    /// parts).
    #[must_use]
    pub fn of_mean(parts: &[(f64, Interval)]) -> Option<Interval> {
        let count = parts.len() as f64;
        let mean = parts.iter().map(|(value, _)| value).sum::<f64>() / count;
        let below: f64 = parts.iter().map(|(value, interval)| (value - interval.lower).powi(2)).sum();
        let above: f64 = parts.iter().map(|(value, interval)| (interval.upper - value).powi(2)).sum();
        (!parts.is_empty()).then(|| Interval { lower: mean - below.sqrt() / count, upper: mean + above.sqrt() / count })
    }

    /// Returns an interval of shares in hundredths.
    #[must_use]
    pub fn percent(self) -> Interval {
        Interval { lower: 100.0 * self.lower, upper: 100.0 * self.upper }
    }

    /// Returns half of the distance between the ends.
    #[must_use]
    pub fn half_width(self) -> f64 {
        (self.upper - self.lower) / 2.0
    }

    /// Returns whether `value` lies inside or on an end.
    #[must_use]
    pub fn contains(self, value: f64) -> bool {
        self.lower <= value && value <= self.upper
    }

    /// Returns the part inside `[lower, upper]`; an interval wholly outside collapses onto the nearer end.
    #[must_use]
    pub fn clamped(self, lower: f64, upper: f64) -> Interval {
        Interval { lower: self.lower.max(lower).min(upper), upper: self.upper.min(upper).max(lower) }
    }
}

/// Shows `[lower, upper]`, each end as the format says.
impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        Number(self.lower).fmt(f)?;
        f.write_str(", ")?;
        Number(self.upper).fmt(f)?;
        f.write_str("]")
    }
}

/// A value with its standard error, normal in large samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The point estimate.
    pub value: f64,
    /// Its standard error, at least 0; 0 means the value was fixed, not estimated.
    pub standard_error: f64,
}

impl Estimate {
    /// Returns the interval of the mean of values in `[-1, 1]`, such as material margins; it never leaves that range.
    /// It is [`Estimate::interval`] where that stays inside. Otherwise it is normal on the scale of `atanh`, where the
    /// standard error is `SE/(1 − m²)`; of a mean of ±1 it is the part of the normal interval inside the range.
    /// Source: Fisher 1915 (the transformation), the delta method.
    #[must_use]
    pub fn interval_of_margin(self, confidence: Confidence) -> Interval {
        let normal = self.interval(confidence);
        let slope = 1.0 - self.value * self.value;
        if normal.lower >= -1.0 && normal.upper <= 1.0 {
            return normal;
        }
        if slope <= 0.0 {
            return normal.clamped(-1.0, 1.0);
        }
        let half = confidence.z() * self.standard_error / slope;
        Interval { lower: (self.value.atanh() - half).tanh(), upper: (self.value.atanh() + half).tanh() }
    }

    /// Returns the mean of independent values with its standard error `sqrt(Σ(x − x̄)²/(n(n − 1)))`; `None` below two.
    #[must_use]
    pub fn of_mean(values: &[f64]) -> Option<Estimate> {
        let count = values.len() as f64;
        if values.len() < 2 {
            return None;
        }
        let value = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|x| (x - value).powi(2)).sum();
        Some(Estimate { value, standard_error: (squares / (count * (count - 1.0))).sqrt() })
    }

    /// Returns `value ± z·SE`.
    #[must_use]
    pub fn interval(self, confidence: Confidence) -> Interval {
        let half_width = confidence.z() * self.standard_error;
        Interval { lower: self.value - half_width, upper: self.value + half_width }
    }

    /// Returns the two-sided p-value `2Φ(−|value − hypothesis|/SE)`; `None` for a fixed value.
    #[must_use]
    pub fn two_sided_p(self, hypothesis: f64) -> Option<f64> {
        (self.standard_error > 0.0).then(|| 2.0 * normal_cdf(-((self.value - hypothesis) / self.standard_error).abs()))
    }

    /// Returns how likely the true value is to exceed `hypothesis`, `Φ((value − hypothesis)/SE)`; `None` for a fixed value.
    #[must_use]
    pub fn likelihood_above(self, hypothesis: f64) -> Option<f64> {
        (self.standard_error > 0.0).then(|| normal_cdf((self.value - hypothesis) / self.standard_error))
    }

    /// Returns value and standard error times `factor`: a change of unit.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Estimate {
        Estimate { value: self.value * factor, standard_error: self.standard_error * factor.abs() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bootstrap::{BootstrapKey, draw_index};
    use crate::pairs::Pentanomial;

    #[test]
    fn the_interval_of_a_mean_is_that_of_its_normal_parts() {
        let normal = |value: f64, standard_error: f64| {
            let estimate = Estimate { value, standard_error };
            (value, estimate.interval(Confidence::NINETY_FIVE))
        };
        assert_eq!(Interval::of_mean(&[]), None);
        let mean = Interval::of_mean(&[normal(0.2, 0.03), normal(0.6, 0.04)]).unwrap();
        let expected = Estimate { value: 0.4, standard_error: 0.025 }.interval(Confidence::NINETY_FIVE);
        assert!((mean.lower - expected.lower).abs() < 1e-12 && (mean.upper - expected.upper).abs() < 1e-12);
        // What one part leaves open on one side is open on that side of the mean.
        let all_won = (1.0, Interval { lower: 0.8, upper: 1.0 });
        let mean = Interval::of_mean(&[all_won, all_won]).unwrap();
        assert!(mean.upper == 1.0 && (mean.lower - (1.0 - 0.2 / 2.0_f64.sqrt())).abs() < 1e-12, "{mean:?}");
    }

    #[test]
    fn the_interval_of_a_mean_of_few_and_one_sided_results_holds_the_truth() {
        // Pairs of ½, 1 and 2 points in rulesets that are nearly always drawn, nearly always won, or in between.
        let chances = [[0.0, 0.98, 0.02], [0.01, 0.95, 0.04], [0.3, 0.4, 0.3], [0.0, 0.05, 0.95], [0.1, 0.2, 0.7]];
        let truth = chances.iter().map(|[low, middle, high]| 0.25 * low + 0.5 * middle + high).sum::<f64>() / 5.0;
        let (repeats, pairs) = (2000, 8);
        let mut held = 0;
        for replicate in 0..repeats {
            let mut stream = BootstrapKey { seed: 3, ruleset: "", statistic: "mean" }.stream(replicate);
            let parts = chances.map(|[low, middle, _]| {
                let mut found = Pentanomial::default();
                for _ in 0..pairs {
                    let drawn = draw_index(&mut stream, 1_000_000) as f64 / 1e6;
                    let points = if drawn < low {
                        1
                    } else if drawn < low + middle {
                        2
                    } else {
                        4
                    };
                    found.counts[points] += 1;
                }
                (found.mean().unwrap(), found.mean_test().interval(Confidence::NINETY_FIVE))
            });
            held += u64::from(Interval::of_mean(&parts).unwrap().contains(truth));
        }
        let share = held as f64 / repeats as f64;
        assert!((0.94..=1.0).contains(&share), "{share}");
    }

    #[test]
    fn the_interval_of_a_margin_stays_in_its_range() {
        let at = |value: f64, standard_error: f64| {
            Estimate { value, standard_error }.interval_of_margin(Confidence::NINETY_FIVE)
        };
        for (value, error) in [(0.97, 0.2), (-0.6, 0.5), (0.0, 3.0)] {
            let Interval { lower, upper } = at(value, error);
            assert!(-1.0 <= lower && lower < value && value < upper && upper <= 1.0, "{value}: {lower} to {upper}");
        }
        for value in [-0.4, 0.0, 0.2] {
            assert_eq!(at(value, 0.01), Estimate { value, standard_error: 0.01 }.interval(Confidence::NINETY_FIVE));
        }
        assert!(at(1.0, 0.1).lower < 0.81 && at(1.0, 0.1).upper == 1.0);
        assert_eq!(at(1.0, 0.0), Interval { lower: 1.0, upper: 1.0 });
        assert_eq!(at(0.25, 0.0).half_width(), 0.0);
    }
}

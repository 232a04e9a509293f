//! Confidence intervals of a rate (draws, use of a rule, agreement). A score with draws is not a rate: its variance is
//! smaller than `s(1−s)`, see [`super::score`].

use super::distribution::beta_quantile;
use super::error::StatisticsError;
use super::interval::{Confidence, Interval};

/// Returns Wilson's score interval of the rate `p̂ = successes/trials`, inside `[0, 1]`.
/// Centre `(p̂ + z²/2n)/(1 + z²/n)`, half-width `z/(1 + z²/n)·√(p̂(1−p̂)/n + z²/4n²)`. The usual choice:
/// its coverage is near the level on average.
/// Fails with [`StatisticsError::NoObservations`] without trials, [`StatisticsError::OutOfRange`] for more successes than
/// trials.
/// Source: Wilson 1927; Newcombe 1998, Statistics in Medicine 17, 857-872, method 3.
pub fn wilson(successes: u64, trials: u64, confidence: Confidence) -> Result<Interval, StatisticsError> {
    check(successes, trials)?;
    Ok(wilson_effective(successes as f64 / trials as f64, trials as f64, confidence))
}

/// Returns Wilson's interval of a `rate` in `[0, 1]` with an effective number of independent `trials`, above 0 and
/// not necessarily whole.
#[must_use]
pub fn wilson_effective(rate: f64, trials: f64, confidence: Confidence) -> Interval {
    let (n, z) = (trials, confidence.z());
    let shrink = 1.0 + z * z / n;
    let centre = (rate + z * z / (2.0 * n)) / shrink;
    let half_width = z / shrink * (rate * (1.0 - rate) / n + z * z / (4.0 * n * n)).sqrt();
    // At 0 and 1 the formula gives 0 and 1 but for rounding.
    Interval {
        lower: if rate == 0.0 { 0.0 } else { centre - half_width },
        upper: if rate == 1.0 { 1.0 } else { centre + half_width },
    }
}

/// Returns the Clopper-Pearson interval of a rate, inside `[0, 1]`, which never covers less than its level.
/// `[B⁻¹(α/2; k, n−k+1), B⁻¹(1−α/2; k+1, n−k)]`, with 0 at `k = 0` and 1 at `k = n`. For claims like
/// "never happened": the upper end of 0 of `n` is `1 − (α/2)^(1/n)`.
/// Fails with [`StatisticsError::NoObservations`] without trials, [`StatisticsError::OutOfRange`] for more successes than
/// trials.
/// Source: Clopper and Pearson 1934; Newcombe 1998, method 5.
pub fn clopper_pearson(successes: u64, trials: u64, confidence: Confidence) -> Result<Interval, StatisticsError> {
    check(successes, trials)?;
    let (k, n) = (successes as f64, trials as f64);
    let tail = confidence.alpha() / 2.0;
    Ok(Interval {
        lower: if successes == 0 { 0.0 } else { beta_quantile(k, n - k + 1.0, tail) },
        upper: if successes == trials { 1.0 } else { beta_quantile(k + 1.0, n - k, 1.0 - tail) },
    })
}

fn check(successes: u64, trials: u64) -> Result<(), StatisticsError> {
    if trials == 0 {
        return Err(StatisticsError::NoObservations("trials"));
    }
    StatisticsError::check("number of successes", successes as f64, "at most the number of trials", successes <= trials)
        .map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn never_in_twenty_has_the_closed_form() {
        let exact = clopper_pearson(0, 20, Confidence::NINETY_FIVE).unwrap();
        assert!((exact.upper - (1.0 - 0.025f64.powf(1.0 / 20.0))).abs() < 1e-12);
    }

    #[test]
    fn successes_and_failures_mirror() {
        for (k, n) in [(0, 7), (3, 7), (7, 7), (120, 1_000)] {
            for method in [wilson, clopper_pearson] {
                let one = method(k, n, Confidence::NINETY_FIVE).unwrap();
                let other = method(n - k, n, Confidence::NINETY_FIVE).unwrap();
                assert!((one.lower + other.upper - 1.0).abs() < 1e-12);
                assert!(one.contains(k as f64 / n as f64));
            }
        }
    }

    #[test]
    fn impossible_counts_are_errors() {
        for method in [wilson, clopper_pearson] {
            assert!(matches!(method(0, 0, Confidence::NINETY_FIVE), Err(StatisticsError::NoObservations(_))));
            assert!(matches!(method(3, 2, Confidence::NINETY_FIVE), Err(StatisticsError::OutOfRange { .. })));
        }
    }
}

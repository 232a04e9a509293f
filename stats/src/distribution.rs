//! The normal, beta and chi-squared distributions, as far as the statistics need them.

use std::f64::consts::SQRT_2;

use statrs::function::beta::checked_beta_reg;
use statrs::function::erf::{erfc, erfc_inv};
use statrs::function::gamma::checked_gamma_ur;

/// Returns `Φ(x)` to about ten digits, relative in both tails.
pub(crate) fn normal_cdf(x: f64) -> f64 {
    0.5 * erfc(-x / SQRT_2)
}

/// Returns `Φ⁻¹(probability)` to about fifteen digits; the ends of `[0, 1]` give infinities.
pub(crate) fn normal_quantile(probability: f64) -> f64 {
    -SQRT_2 * erfc_inv(2.0 * probability)
}

/// Returns the distribution function of Beta(`a`, `b`) at `x`, for `a, b > 0`; `x` is clamped to `[0, 1]`.
pub(crate) fn beta_cdf(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        0.0
    } else if x >= 1.0 {
        1.0
    } else {
        checked_beta_reg(a, b, x).expect("shapes are positive and x is inside (0, 1)")
    }
}

/// Returns the `probability` quantile of Beta(`a`, `b`), by bisection to the last bit.
pub(crate) fn beta_quantile(a: f64, b: f64, probability: f64) -> f64 {
    bisect(0.0, 1.0, |x| beta_cdf(a, b, x) < probability)
}

/// Returns `P(X > statistic)` for X chi-squared with `degrees` degrees of freedom, at least 1.
pub(crate) fn chi_squared_tail(statistic: f64, degrees: usize) -> f64 {
    if statistic <= 0.0 {
        return 1.0;
    }
    checked_gamma_ur(degrees as f64 / 2.0, statistic / 2.0).expect("degrees and statistic are positive")
}

/// Returns the point of `[lower, upper]` where `is_below` turns false, to the last bit.
pub(crate) fn bisect(mut lower: f64, mut upper: f64, is_below: impl Fn(f64) -> bool) -> f64 {
    // Each step halves the range: some 1100 steps reach the smallest float, 60 or so are usual.
    for _ in 0..1_100 {
        let middle = lower + (upper - lower) / 2.0;
        if middle <= lower || middle >= upper {
            break;
        }
        if is_below(middle) {
            lower = middle;
        } else {
            upper = middle;
        }
    }
    lower + (upper - lower) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_quantile_is_exact_to_fifteen_digits() {
        assert!((normal_quantile(0.975) - 1.959_963_984_540_054).abs() < 1e-14);
        assert!((normal_quantile(0.025) + 1.959_963_984_540_054).abs() < 1e-14);
        assert!((normal_cdf(-4.0) / 3.167_124_183_311_997e-5 - 1.0).abs() < 1e-9);
        assert!((normal_cdf(normal_quantile(0.2)) - 0.2).abs() < 1e-10);
        assert!((normal_quantile(1e-9) + 5.997_807_015_007_687).abs() < 1e-12);
        assert_eq!(normal_quantile(0.5), 0.0);
        assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(normal_quantile(1.0), f64::INFINITY);
    }

    #[test]
    fn beta_quantile_inverts_the_closed_forms() {
        // Beta(1, b): x = 1 − (1−p)^(1/b). Beta(a, 1): x = p^(1/a).
        assert!((beta_quantile(1.0, 20.0, 0.975) - (1.0 - 0.025f64.powf(0.05))).abs() < 1e-13);
        assert!((beta_quantile(7.0, 1.0, 0.3) - 0.3f64.powf(1.0 / 7.0)).abs() < 1e-13);
    }

    #[test]
    fn chi_squared_tail_matches_the_tables() {
        assert!((chi_squared_tail(3.841_458_820_694_124, 1) - 0.05).abs() < 1e-10);
        assert!((chi_squared_tail(18.307_038_053_275_15, 10) - 0.05).abs() < 1e-10);
        assert_eq!(chi_squared_tail(0.0, 3), 1.0);
    }
}

//! A straight line fitted to independent estimates.

use super::distribution::chi_squared_tail;
use super::error::StatisticsError;
use super::interval::Estimate;

/// A line `y = a + b·x` fitted to independent estimates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineFit {
    /// The slope `b`.
    pub slope: Estimate,
    /// The fitted `y` at the largest `x`.
    pub at_end: f64,
    /// `P(χ² > Σ (y−ŷ)²/SE²)` with two degrees of freedom fewer than points; `None` with two points.
    pub p_straight: Option<f64>,
}

/// Fits a line by least squares with weights `1/SE²`.
///
/// With `x̄ = Σwx/Σw`: `b = Σw(x−x̄)y / Σw(x−x̄)²`, `SE(b) = 1/√Σw(x−x̄)²`.
///
/// # Errors
/// [`StatisticsError::TooFew`] below two different `x`; [`StatisticsError::NoVariance`] when an estimate has no
/// standard error and so no weight.
pub fn fit_line(points: &[(f64, Estimate)]) -> Result<LineFit, StatisticsError> {
    if points.iter().any(|(_, estimate)| estimate.standard_error <= 0.0) {
        return Err(StatisticsError::NoVariance);
    }
    let weight = |estimate: &Estimate| estimate.standard_error.powi(-2);
    let total: f64 = points.iter().map(|(_, y)| weight(y)).sum();
    let mean_x = points.iter().map(|(x, y)| weight(y) * x).sum::<f64>() / total;
    let mean_y = points.iter().map(|(_, y)| weight(y) * y.value).sum::<f64>() / total;
    let spread: f64 = points.iter().map(|(x, y)| weight(y) * (x - mean_x).powi(2)).sum();
    // NaN without points.
    if spread.is_nan() || spread <= 0.0 {
        return Err(StatisticsError::TooFew { what: "different budgets", needed: 2, found: points.len().min(1) });
    }
    let slope = points.iter().map(|(x, y)| weight(y) * (x - mean_x) * y.value).sum::<f64>() / spread;
    let fitted = |x: f64| mean_y + slope * (x - mean_x);
    let misfit: f64 = points.iter().map(|(x, y)| weight(y) * (y.value - fitted(*x)).powi(2)).sum();
    let largest = points.iter().map(|(x, _)| *x).fold(f64::NEG_INFINITY, f64::max);
    Ok(LineFit {
        slope: Estimate { value: slope, standard_error: spread.sqrt().recip() },
        at_end: fitted(largest),
        p_straight: (points.len() > 2).then(|| chi_squared_tail(misfit, points.len() - 2)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(value: f64, standard_error: f64) -> Estimate {
        Estimate { value, standard_error }
    }

    #[test]
    fn points_on_a_line_give_the_line() {
        let points: Vec<_> = [9.0, 11.0, 13.0].map(|x| (x, estimate(0.4 + 0.01 * x, 0.01))).to_vec();
        let fit = fit_line(&points).unwrap();
        assert!((fit.slope.value - 0.01).abs() < 1e-12 && (fit.at_end - 0.53).abs() < 1e-12);
        assert!((fit.slope.standard_error - 0.01 / 8f64.sqrt()).abs() < 1e-12);
        assert!(fit.p_straight.unwrap() > 0.999);
    }

    #[test]
    fn two_points_give_their_difference() {
        let fit = fit_line(&[(0.0, estimate(0.5, 0.03)), (2.0, estimate(0.6, 0.04))]).unwrap();
        assert!((fit.slope.value - 0.05).abs() < 1e-12 && (fit.slope.standard_error - 0.025).abs() < 1e-12);
        assert_eq!(fit.p_straight, None);
    }

    #[test]
    fn a_bent_line_is_found() {
        let fit = fit_line(&[(0.0, estimate(0.5, 0.01)), (1.0, estimate(0.6, 0.01)), (2.0, estimate(0.5, 0.01))]);
        assert!(fit.unwrap().p_straight.unwrap() < 1e-6);
    }

    #[test]
    fn one_budget_has_no_trend() {
        assert!(fit_line(&[]).is_err());
        assert!(fit_line(&[(3.0, estimate(0.5, 0.1)), (3.0, estimate(0.6, 0.1))]).is_err());
        assert_eq!(fit_line(&[(3.0, estimate(0.5, 0.0)), (4.0, estimate(0.6, 0.1))]), Err(StatisticsError::NoVariance));
    }
}

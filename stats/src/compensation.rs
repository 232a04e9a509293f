//! Fair compensation: the handicap at which both sides have the same expected score.

use nalgebra::{Matrix2, Vector2};
use serde::{Deserialize, Serialize};

use super::cholesky::cholesky;
use super::error::StatisticsError;
use super::interval::{Confidence, Estimate, Interval};

/// The least effect of a man that counts as one, in nats: rounding leaves some 1e-18 of none.
const SLOPE_MIN: f64 = 1e-9;

/// The first player's score at one handicap.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompensationCell {
    /// The compensation given to the second player, in men or any unit that can be counted.
    pub handicap: f64,
    /// The number of games.
    pub games: f64,
    /// The first player's mean score, in `[0, 1]`.
    pub score: f64,
    /// The standard error of the score.
    pub standard_error: f64,
}

impl CompensationCell {
    fn regressors(&self) -> Vector2<f64> {
        Vector2::new(1.0, self.handicap)
    }
}

/// A logistic regression of the first player's score on the handicap, `s(h) = 1/(1+e^(−b₀−b₁h))`.
#[derive(Clone, Debug)]
pub struct CompensationFit {
    coefficients: Vector2<f64>,
    covariance: Matrix2<f64>,
}

impl CompensationFit {
    /// Fits with the measured standard error of each cell, which accounts for draws and repeated openings.
    ///
    /// The covariance is the sandwich `I⁻¹·(Σ (n·SE)²·xxᵀ)·I⁻¹` around the Fisher information
    /// `I = Σ n·s(1−s)·xxᵀ`, `x = (1, h)`.
    /// Fails with [`StatisticsError::NoObservations`] without cells, [`StatisticsError::OutOfRange`] for an impossible cell,
    /// [`StatisticsError::Unidentified`] below two different handicaps, [`StatisticsError::Separated`] when one side has every
    /// point on one side of a handicap.
    pub fn measured(cells: &[CompensationCell]) -> Result<CompensationFit, StatisticsError> {
        let (coefficients, information) = solve(cells)?;
        let mut middle = Matrix2::zeros();
        for cell in cells {
            let x = cell.regressors();
            middle.ger((cell.games * cell.standard_error).powi(2), &x, &x, 1.0);
        }
        let bread = inverse(information)?;
        let covariance = Matrix2::from_fn(|row, column| bread.column(row).dot(&(middle * bread.column(column))));
        Ok(CompensationFit { coefficients, covariance })
    }

    /// Returns `b₀` and `b₁`, in nats and nats per unit of handicap.
    #[must_use]
    pub fn coefficients(&self) -> [f64; 2] {
        self.coefficients.into()
    }

    /// Returns the first player's expected score at a handicap, with its standard error.
    #[must_use]
    pub fn score(&self, handicap: f64) -> Estimate {
        let score = logistic(self.coefficients.dot(&Vector2::new(1.0, handicap)));
        let slope = score * (1.0 - score);
        Estimate { value: score, standard_error: slope * self.form(Vector2::new(1.0, handicap)).sqrt() }
    }

    /// Returns the handicap `h* = −b₀/b₁` at which the expected score is ½.
    /// Fails with [`StatisticsError::Unidentified`] when the handicap has no effect at all.
    pub fn fair_handicap(&self) -> Result<f64, StatisticsError> {
        let [intercept, slope] = self.coefficients();
        // What rounding leaves of an effect that is 0 gives no handicap.
        if slope.abs() < SLOPE_MIN {
            return Err(StatisticsError::Unidentified);
        }
        Ok(-intercept / slope)
    }

    /// Returns Fieller's confidence set of the fair handicap.
    /// The handicaps `h` with `(b₀ + b₁h)² <= z²·(V₀₀ + 2hV₀₁ + h²V₁₁)`. An interval as long as the
    /// handicap's effect is itself significant.
    /// Source: Fieller 1954, JRSS B 16, 175-185.
    #[must_use]
    pub fn fair_handicap_set(&self, confidence: Confidence) -> FiellerSet {
        let [b0, b1] = self.coefficients();
        let [v00, v01, v11] = [(0, 0), (0, 1), (1, 1)].map(|entry| self.covariance[entry]);
        let z_squared = confidence.z().powi(2);
        let quadratic = b1 * b1 - z_squared * v11;
        let half_linear = b0 * b1 - z_squared * v01;
        let constant = b0 * b0 - z_squared * v00;
        let discriminant = half_linear * half_linear - quadratic * constant;
        if quadratic == 0.0 || discriminant < 0.0 {
            return FiellerSet::Everything;
        }
        // The root of larger size first, so that the other does not lose its digits.
        let sum = -half_linear - half_linear.signum() * discriminant.sqrt();
        let (one, other) = if sum == 0.0 { (0.0, 0.0) } else { (sum / quadratic, constant / sum) };
        let ends = Interval { lower: one.min(other), upper: one.max(other) };
        if quadratic > 0.0 { FiellerSet::Within(ends) } else { FiellerSet::Outside(ends) }
    }

    /// Returns the mixture of the two whole handicaps around `h*` that is fair on average.
    /// The fraction `(s₋ − ½)/(s₋ − s₊)` of the games gets the larger handicap, `s₋` and `s₊` being the
    /// expected scores at the smaller and larger one. Its score is ½ by construction; the standard
    /// error is its uncertainty.
    /// Source: the idea of KataGo's `adjustKomiToEven`.
    pub fn whole_handicaps(&self) -> Result<WholeHandicaps, StatisticsError> {
        let smaller = self.fair_handicap()?.floor();
        let larger = smaller + 1.0;
        let (low, high) = (self.score(smaller).value, self.score(larger).value);
        let larger_share = ((low - 0.5) / (low - high)).clamp(0.0, 1.0);
        let (low_slope, high_slope) = (low * (1.0 - low), high * (1.0 - high));
        let gradient = Vector2::new(
            (1.0 - larger_share) * low_slope + larger_share * high_slope,
            (1.0 - larger_share) * low_slope * smaller + larger_share * high_slope * larger,
        );
        Ok(WholeHandicaps {
            smaller,
            larger,
            larger_share,
            score: Estimate {
                value: (1.0 - larger_share) * low + larger_share * high,
                standard_error: self.form(gradient).sqrt(),
            },
        })
    }

    /// Returns `xᵀ V x`, the variance of a combination of the coefficients.
    fn form(&self, x: Vector2<f64>) -> f64 {
        let [v00, v01, v11] = [(0, 0), (0, 1), (1, 1)].map(|entry| self.covariance[entry]);
        (x[0] * x[0] * v00 + 2.0 * x[0] * x[1] * v01 + x[1] * x[1] * v11).max(0.0)
    }
}

/// A confidence set of a ratio.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum FiellerSet {
    /// The values inside.
    Within(Interval),
    /// The values outside: the denominator may be zero, so the ratio may be anything large.
    Outside(Interval),
    /// Every value.
    Everything,
}

/// Two neighbouring whole handicaps, and how often to give the larger one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WholeHandicaps {
    /// The smaller handicap.
    pub smaller: f64,
    /// The larger handicap.
    pub larger: f64,
    /// The share of games with the larger handicap, in `[0, 1]`.
    pub larger_share: f64,
    /// The first player's expected score over the mixture.
    pub score: Estimate,
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Returns the coefficients and their Fisher information, by damped Newton.
fn solve(cells: &[CompensationCell]) -> Result<(Vector2<f64>, Matrix2<f64>), StatisticsError> {
    const ITERATIONS_MAX: usize = 100;
    for cell in cells {
        StatisticsError::check("handicap", cell.handicap, "finite", true)?;
        StatisticsError::check("games", cell.games, "above 0", cell.games > 0.0)?;
        let possible = (0.0..=1.0).contains(&cell.score);
        StatisticsError::check("score", cell.score, "between 0 and 1", possible)?;
        let error = cell.standard_error;
        StatisticsError::check("standard error", error, "at least 0", error >= 0.0)?;
    }
    let first = cells.first().ok_or(StatisticsError::NoObservations("handicaps"))?.handicap;
    if cells.iter().all(|cell| cell.handicap == first) {
        return Err(StatisticsError::Unidentified);
    }
    let likelihood = |b: &Vector2<f64>| -> f64 {
        let term = |cell: &CompensationCell| {
            let x = b.dot(&cell.regressors());
            // s·x − ln(1 + eˣ), without overflow.
            cell.games * (cell.score * x - x.max(0.0) - (-x.abs()).exp().ln_1p())
        };
        cells.iter().map(term).sum()
    };
    let mut b = Vector2::zeros();
    for _ in 0..ITERATIONS_MAX {
        let mut information = Matrix2::zeros();
        let mut gradient = Vector2::zeros();
        for cell in cells {
            let x = cell.regressors();
            let expected = logistic(b.dot(&x));
            information.ger(cell.games * expected * (1.0 - expected), &x, &x, 1.0);
            gradient += cell.games * (cell.score - expected) * x;
        }
        // Data that separate push the slope out until no information is left.
        let factor = cholesky(information).ok_or(StatisticsError::Separated)?;
        let step = factor.solve(&gradient);
        let decrement = step.dot(&gradient);
        if decrement < 1e-20 {
            // An error of ten nats on a cell's own score means that the maximum lies at infinity.
            let covariance = factor.inverse();
            let unbounded = cells.iter().any(|cell| {
                let x = cell.regressors();
                x.dot(&(covariance * x)) > 100.0
            });
            return if unbounded { Err(StatisticsError::Separated) } else { Ok((b, information)) };
        }
        let before = likelihood(&b);
        let mut size = 1.0;
        loop {
            let next = b + size * step;
            if decrement < 1e-9 || likelihood(&next) > before || size < 1e-9 {
                b = next;
                break;
            }
            size /= 2.0;
        }
    }
    Err(StatisticsError::Separated)
}

fn inverse(information: Matrix2<f64>) -> Result<Matrix2<f64>, StatisticsError> {
    Ok(cholesky(information).ok_or(StatisticsError::Unidentified)?.inverse())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(scores: &[f64]) -> Vec<CompensationCell> {
        scores
            .iter()
            .enumerate()
            .map(|(handicap, &score)| {
                let (handicap, games) = (handicap as f64, 1_000.0);
                CompensationCell { handicap, games, score, standard_error: (score * (1.0 - score) / games).sqrt() }
            })
            .collect()
    }

    #[test]
    fn mixture_is_fair_and_lies_between_its_parts() {
        let fit = CompensationFit::measured(&cells(&[0.6, 0.47, 0.35])).unwrap();
        let mixture = fit.whole_handicaps().unwrap();
        assert_eq!((mixture.smaller, mixture.larger), (0.0, 1.0));
        assert!((mixture.score.value - 0.5).abs() < 1e-12);
        assert!(mixture.larger_share > 0.7 && mixture.larger_share < 0.85);
        let widest = fit.score(0.0).standard_error.max(fit.score(1.0).standard_error);
        assert!(mixture.score.standard_error > 0.0 && mixture.score.standard_error < widest);
    }

    #[test]
    fn measured_errors_of_a_saturated_fit_pass_through() {
        // Two cells, two coefficients: the fitted scores are the cells, and so are their errors.
        let cells = [
            CompensationCell { handicap: 0.0, games: 500.0, score: 0.56, standard_error: 0.013 },
            CompensationCell { handicap: 1.0, games: 800.0, score: 0.45, standard_error: 0.021 },
        ];
        let fit = CompensationFit::measured(&cells).unwrap();
        for cell in cells {
            let score = fit.score(cell.handicap);
            assert!((score.value - cell.score).abs() < 1e-10);
            assert!((score.standard_error - cell.standard_error).abs() < 1e-10);
        }
    }

    #[test]
    fn a_handicap_without_sure_effect_has_no_bounded_set() {
        let confidence = Confidence::NINETY_FIVE;
        let weak = CompensationFit::measured(&cells(&[0.60, 0.595])).unwrap();
        assert!(matches!(weak.fair_handicap_set(confidence), FiellerSet::Outside(_)));
        let none = CompensationFit::measured(&cells(&[0.501, 0.5, 0.5])).unwrap();
        assert_eq!(none.fair_handicap_set(confidence), FiellerSet::Everything);
        for score in [0.5, 0.5025, 0.51, 0.6, 0.7, 0.83] {
            let flat = CompensationFit::measured(&cells(&[score, score])).unwrap();
            assert_eq!(flat.fair_handicap(), Err(StatisticsError::Unidentified), "{score}");
            assert!(flat.whole_handicaps().is_err(), "{score}");
        }
    }

    #[test]
    fn impossible_cells_are_errors() {
        assert!(matches!(CompensationFit::measured(&[]), Err(StatisticsError::NoObservations("handicaps"))));
        let one = cells(&[0.6]);
        assert!(matches!(CompensationFit::measured(&one), Err(StatisticsError::Unidentified)));
        // In the second, only the games at one handicap are mixed: the slope still runs away.
        for separated in [[1.0, 1.0, 0.0], [1.0, 0.6, 0.0]] {
            let separated = CompensationFit::measured(&cells(&separated));
            assert!(matches!(separated, Err(StatisticsError::Separated)));
        }
        assert!(CompensationFit::measured(&cells(&[1.0, 0.6, 0.1])).is_ok());
        assert!(CompensationFit::measured(&cells(&[1.0, 0.0, 1.0])).is_ok());
        assert!(matches!(CompensationFit::measured(&cells(&[1.4, 0.5])), Err(StatisticsError::OutOfRange { .. })));
        let empty = [CompensationCell { games: 0.0, ..one[0] }, CompensationCell { handicap: 1.0, ..one[0] }];
        assert!(CompensationFit::measured(&empty).is_err());
    }
}

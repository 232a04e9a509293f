//! How a difference in strength becomes wins, draws and losses.

use serde::{Deserialize, Serialize};

use super::error::StatisticsError;
use super::interval::Estimate;
use super::score::GameResult;

/// The way draws enter a Bradley-Terry model.
/// `Δ` is the first player's strength less the second's plus the first-move advantage, in nats. Without
/// draws both are `P(first) = 1/(1 + e^(−Δ))`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DrawModel {
    /// `P(first) = 1/(1+e^(−Δ+δ))`, `P(second) = 1/(1+e^(Δ+δ))`, the rest drawn; parameter `δ > 0`.
    /// BayesElo's model; `δ` in Elo is its `drawElo`.
    /// Source: Rao and Kupper 1967, JASA 62, 194-204.
    RaoKupper,
    /// `P(first) : P(draw) : P(second) = e^(Δ/2) : ν : e^(−Δ/2)`; parameter `ν > 0`.
    /// An exponential family in `Δ` whose sufficient statistic is the score, so the fit reproduces every
    /// agent's points.
    /// Source: Davidson 1970, JASA 65, 317-328; Davidson and Beaver 1977, Biometrics 33, 693-702.
    Davidson,
}

/// Probabilities of a game's results for the first player; they sum to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OutcomeProbabilities {
    /// The first player wins.
    pub win: f64,
    /// Nobody wins.
    pub draw: f64,
    /// The second player wins.
    pub loss: f64,
}

impl OutcomeProbabilities {
    /// Returns the first player's expected score, `win + draw/2`.
    #[must_use]
    pub fn score(self) -> f64 {
        self.win + self.draw / 2.0
    }
}

impl DrawModel {
    /// Returns the probabilities at `delta` nats; `draw_parameter` is `δ` or `ν`, at least 0.
    /// Fails with [`StatisticsError::OutOfRange`] for a `delta` that is not finite or a parameter below 0.
    pub fn probabilities(self, delta: f64, draw_parameter: f64) -> Result<OutcomeProbabilities, StatisticsError> {
        StatisticsError::check("delta", delta, "finite", true)?;
        let not_negative = draw_parameter >= 0.0;
        StatisticsError::check("draw parameter", draw_parameter, "at least 0", not_negative)?;
        let internal = (draw_parameter > 0.0).then(|| self.to_internal(draw_parameter));
        Ok(Outcomes::new(self, delta, internal).probabilities())
    }

    /// Returns the draw parameter, `δ` or `ν`, that gives equally strong agents just these results, in closed form.
    /// The counts are the first player's, the wins and losses positive. Rao-Kupper:
    /// `δ = ½·ln[(1−p_L)/p_L · (1−p_W)/p_W]`; Davidson: `ν = p_D/√(p_W·p_L)`.
    pub(super) fn draw_parameter_of_equals(self, [wins, draws, losses]: [f64; 3]) -> f64 {
        match self {
            DrawModel::RaoKupper => 0.5 * ((wins + draws) / losses * (losses + draws) / wins).ln(),
            DrawModel::Davidson => draws / (wins * losses).sqrt(),
        }
    }

    /// Returns the coordinate in which the log-likelihood is concave: `δ` itself, or `ln ν`.
    pub(super) fn to_internal(self, draw_parameter: f64) -> f64 {
        match self {
            DrawModel::RaoKupper => draw_parameter,
            DrawModel::Davidson => draw_parameter.ln(),
        }
    }

    pub(super) fn of_internal(self, internal: f64) -> f64 {
        match self {
            DrawModel::RaoKupper => internal,
            DrawModel::Davidson => internal.exp(),
        }
    }

    /// Returns whether an internal coordinate is one of the model's.
    pub(super) fn allows(self, internal: f64) -> bool {
        internal.is_finite() && (self == DrawModel::Davidson || internal > 0.0)
    }
}

/// One result's log-probability with its derivatives by `Δ` and the internal draw coordinate `κ`.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutcomeTerms {
    pub(super) log_probability: f64,
    /// By `Δ` and by `κ`.
    pub(super) gradient: [f64; 2],
    /// By `ΔΔ`, `Δκ` and `κκ`.
    pub(super) hessian: [f64; 3],
}

/// The three results at one `Δ`, in the order of [`GameResult::ALL`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcomes {
    pub(super) terms: [OutcomeTerms; 3],
}

impl Outcomes {
    pub(super) fn new(model: DrawModel, delta: f64, kappa: Option<f64>) -> Outcomes {
        match (model, kappa) {
            (_, None) => Outcomes::without_draws(delta),
            (DrawModel::RaoKupper, Some(kappa)) => Outcomes::rao_kupper(delta, kappa),
            (DrawModel::Davidson, Some(kappa)) => Outcomes::davidson(delta, kappa),
        }
    }

    fn without_draws(delta: f64) -> Outcomes {
        let win = log_logistic(delta, [1.0, 0.0]);
        let loss = log_logistic(-delta, [-1.0, 0.0]);
        let draw = OutcomeTerms { log_probability: f64::NEG_INFINITY, gradient: [0.0; 2], hessian: [0.0; 3] };
        Outcomes { terms: [win, draw, loss] }
    }

    /// With `δ = κ`, `P(draw) = P(first)·P(second)·(e^(2δ) − 1)`.
    fn rao_kupper(delta: f64, kappa: f64) -> Outcomes {
        let win = log_logistic(delta - kappa, [1.0, -1.0]);
        let loss = log_logistic(-delta - kappa, [-1.0, -1.0]);
        let rest = -(-2.0 * kappa).exp_m1();
        let draw = OutcomeTerms {
            log_probability: win.log_probability + loss.log_probability + 2.0 * kappa + rest.ln(),
            gradient: [win.gradient[0] + loss.gradient[0], win.gradient[1] + loss.gradient[1] + 2.0 / rest],
            hessian: [
                win.hessian[0] + loss.hessian[0],
                win.hessian[1] + loss.hessian[1],
                win.hessian[2] + loss.hessian[2] - 4.0 * (1.0 - rest) / (rest * rest),
            ],
        };
        Outcomes { terms: [win, draw, loss] }
    }

    /// With `ν = e^κ`, natural parameters `Δ` and `κ` of the statistics `t = (½, 0, −½)` and `(0, 1, 0)`.
    fn davidson(delta: f64, kappa: f64) -> Outcomes {
        const STATISTICS: [[f64; 2]; 3] = [[0.5, 0.0], [0.0, 1.0], [-0.5, 0.0]];
        let weights = STATISTICS.map(|statistics| statistics[0] * delta + statistics[1] * kappa);
        let largest = weights.into_iter().fold(f64::NEG_INFINITY, f64::max);
        let normaliser = largest + weights.iter().map(|weight| (weight - largest).exp()).sum::<f64>().ln();
        let probabilities = weights.map(|weight| (weight - normaliser).exp());
        let [win, draw, loss] = probabilities;
        let mean = [(win - loss) / 2.0, draw];
        let hessian = [-((win + loss) / 4.0 - mean[0] * mean[0]), mean[0] * draw, -draw * (win + loss)];
        let terms = |index: usize| OutcomeTerms {
            log_probability: weights[index] - normaliser,
            gradient: [STATISTICS[index][0] - mean[0], STATISTICS[index][1] - mean[1]],
            hessian,
        };
        Outcomes { terms: [terms(0), terms(1), terms(2)] }
    }

    pub(super) fn probabilities(&self) -> OutcomeProbabilities {
        let [win, draw, loss] = self.terms.map(|terms| terms.log_probability.exp());
        OutcomeProbabilities { win, draw, loss }
    }

    /// Returns the first player's expected score and its derivatives by `Δ` and `κ`.
    pub(super) fn score_gradient(&self) -> (f64, [f64; 2]) {
        let mut score = 0.0;
        let mut gradient = [0.0; 2];
        for (terms, result) in self.terms.iter().zip(GameResult::ALL) {
            let points = result.score() * terms.log_probability.exp();
            score += points;
            gradient[0] += points * terms.gradient[0];
            gradient[1] += points * terms.gradient[1];
        }
        (score, gradient)
    }
}

/// Returns `ln 1/(1 + e^(−x))` where `x` changes by `direction` with `Δ` and `κ`.
fn log_logistic(x: f64, direction: [f64; 2]) -> OutcomeTerms {
    let log_probability = if x > 0.0 { -(-x).exp().ln_1p() } else { x - x.exp().ln_1p() };
    let probability = log_probability.exp();
    let rest = 1.0 / (1.0 + x.exp());
    let curvature = -probability * rest;
    OutcomeTerms {
        log_probability,
        gradient: direction.map(|slope| slope * rest),
        hessian: [
            curvature * direction[0] * direction[0],
            curvature * direction[0] * direction[1],
            curvature * direction[1] * direction[1],
        ],
    }
}

/// Returns an [`Estimate`] from a variance that rounding may have left a hair below 0.
pub(super) fn estimate(value: f64, variance: f64) -> Estimate {
    Estimate { value, standard_error: variance.max(0.0).sqrt() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODELS: [DrawModel; 2] = [DrawModel::RaoKupper, DrawModel::Davidson];

    #[test]
    fn probabilities_sum_to_one_even_far_out() {
        for model in MODELS {
            for delta in [-800.0, -3.0, 0.0, 0.4, 50.0, 800.0] {
                for parameter in [0.0, 1e-6, 0.5, 3.0] {
                    let p = model.probabilities(delta, parameter).unwrap();
                    assert!((p.win + p.draw + p.loss - 1.0).abs() < 1e-12, "{model:?} {delta}");
                    assert!(p.win >= 0.0 && p.draw >= 0.0 && p.loss >= 0.0);
                }
            }
            assert!(model.probabilities(f64::NAN, 0.5).is_err());
            assert!(model.probabilities(0.0, -0.5).is_err());
        }
    }

    #[test]
    fn derivatives_are_those_of_the_log_probability() {
        const STEP: f64 = 1e-5;
        for model in MODELS {
            for (delta, kappa) in [(0.3, 0.4), (-2.0, 1.5), (4.0, 0.1)] {
                let at = |d: f64, k: f64| Outcomes::new(model, d, Some(k)).terms;
                for outcome in 0..3 {
                    let here = at(delta, kappa)[outcome];
                    let value = |d: f64, k: f64| at(delta + d, kappa + k)[outcome];
                    let by_delta = (value(STEP, 0.0), value(-STEP, 0.0));
                    let by_kappa = (value(0.0, STEP), value(0.0, -STEP));
                    let slope = |pair: (OutcomeTerms, OutcomeTerms)| {
                        (pair.0.log_probability - pair.1.log_probability) / (2.0 * STEP)
                    };
                    let bend = |pair: (OutcomeTerms, OutcomeTerms), k: usize| {
                        (pair.0.gradient[k] - pair.1.gradient[k]) / (2.0 * STEP)
                    };
                    assert!((here.gradient[0] - slope(by_delta)).abs() < 1e-7);
                    assert!((here.gradient[1] - slope(by_kappa)).abs() < 1e-6);
                    assert!((here.hessian[0] - bend(by_delta, 0)).abs() < 1e-7);
                    assert!((here.hessian[1] - bend(by_kappa, 0)).abs() < 1e-7);
                    assert!((here.hessian[2] - bend(by_kappa, 1)).abs() < 1e-4);
                }
            }
        }
    }
}

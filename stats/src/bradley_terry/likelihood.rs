//! What is maximised: the log-likelihood of the games over the parameters, and its maximum.

use std::collections::BTreeMap;

use nalgebra::{DMatrix, DVector};

use super::{BradleyTerry, PRIOR_DEVIATION, SeriesResult};
use crate::cholesky::cholesky;
use crate::draw_model::{DrawModel, Outcomes};
use crate::error::StatisticsError;
use crate::score::WinDrawLoss;

/// A standard error, in nats, beyond which a maximum is taken to lie at infinity.
const UNBOUNDED_ERROR: f64 = 10.0;

/// The index or the fixed value of each strength and of the advantage among the parameters.
#[derive(Clone, Debug)]
pub(super) struct ParameterLayout {
    pub(super) strengths: Vec<Parameter>,
    pub(super) advantage: Option<usize>,
    pub(super) fixed_advantage: f64,
    pub(super) linear_count: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Parameter {
    Fixed(f64),
    Free(usize),
}

impl ParameterLayout {
    pub(super) fn strength(&self, agent: usize, parameters: &[f64]) -> f64 {
        match self.strengths[agent] {
            Parameter::Fixed(value) => value,
            Parameter::Free(index) => parameters[index],
        }
    }

    pub(super) fn advantage(&self, parameters: &[f64]) -> f64 {
        self.advantage.map_or(self.fixed_advantage, |index| parameters[index])
    }

    /// Returns `θ_first(1 + slope/2) − θ_second(1 − slope/2) + γ` as offset and terms.
    pub(super) fn delta(&self, first: usize, second: usize, slope: f64) -> (f64, Vec<(usize, f64)>) {
        let mut offset = self.fixed_advantage;
        let mut terms: Vec<(usize, f64)> = Vec::with_capacity(3);
        for (agent, weight) in [(first, 1.0 + slope / 2.0), (second, slope / 2.0 - 1.0)] {
            match self.strengths[agent] {
                Parameter::Fixed(value) => offset += weight * value,
                Parameter::Free(index) => terms.push((index, weight)),
            }
        }
        terms.extend(self.advantage.map(|index| (index, 1.0)));
        (offset, terms)
    }
}

/// Games that share a `Δ`.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) first: usize,
    pub(super) second: usize,
    pub(super) offset: f64,
    pub(super) terms: Vec<(usize, f64)>,
    /// Wins, draws, losses of the first player.
    pub(super) counts: [f64; 3],
}

impl Row {
    pub(super) fn delta(&self, parameters: &[f64]) -> f64 {
        self.offset + self.terms.iter().map(|&(index, weight)| weight * parameters[index]).sum::<f64>()
    }

    pub(super) fn games(&self) -> f64 {
        self.counts.iter().sum()
    }
}

/// A concave function to maximise: a log-likelihood, linear in the parameters up to the draw model.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    model: DrawModel,
    pub(super) rows: Vec<Row>,
    pub(super) phantom: Option<Row>,
    /// Index, mean and precision of each normal prior.
    priors: Vec<(usize, f64, f64)>,
    /// Where the search begins, for each linear parameter.
    pub(super) linear_start: Vec<f64>,
    pub(super) has_draws: bool,
}

pub(super) struct Maximum {
    pub(super) parameters: Vec<f64>,
    pub(super) log_likelihood: f64,
    /// The inverse of the observed information: of minus the second derivatives at the maximum, the prior's included.
    pub(super) covariance: DMatrix<f64>,
}

impl Problem {
    pub(super) fn new(model: &BradleyTerry, layout: &ParameterLayout, results: &[SeriesResult], slope: f64) -> Problem {
        let mut pairings: BTreeMap<(usize, usize), WinDrawLoss> = BTreeMap::new();
        for result in results.iter().filter(|result| result.games.games() > 0) {
            *pairings.entry((result.first, result.second)).or_default() += result.games;
        }
        let rows: Vec<Row> = pairings
            .into_iter()
            .map(|((first, second), games)| {
                let (offset, terms) = layout.delta(first, second, slope);
                let counts = [games.wins as f64, games.draws as f64, games.losses as f64];
                Row { first, second, offset, terms, counts }
            })
            .collect();
        let mut linear_start = vec![model.mean_anchor(); layout.linear_count];
        if let Some(index) = layout.advantage {
            linear_start[index] = 0.0;
        }
        Problem {
            model: model.model,
            has_draws: rows.iter().any(|row| row.counts[1] > 0.0),
            rows,
            phantom: None,
            priors: Vec::new(),
            linear_start,
        }
    }

    pub(super) fn with_prior(mut self, model: &BradleyTerry, layout: &ParameterLayout) -> Problem {
        let precision = PRIOR_DEVIATION.powi(-2);
        self.priors = (0..model.agent_count)
            .filter_map(|agent| match layout.strengths[agent] {
                Parameter::Free(index) => Some((index, model.mean_anchor(), precision)),
                Parameter::Fixed(_) => None,
            })
            .collect();
        self.phantom = Some(Row {
            first: 0,
            second: 0,
            offset: layout.fixed_advantage,
            terms: layout.advantage.map(|index| (index, 1.0)).into_iter().collect(),
            counts: [0.5, 0.0, 0.5],
        });
        self
    }

    fn parameter_count(&self) -> usize {
        self.linear_start.len() + usize::from(self.has_draws)
    }

    /// Returns the index of the draw coordinate: after the linear parameters.
    fn draw_index(&self) -> usize {
        self.linear_start.len()
    }

    fn kappa(&self, parameters: &[f64]) -> Option<f64> {
        self.has_draws.then(|| parameters[self.draw_index()])
    }

    pub(super) fn outcomes(&self, row: &Row, parameters: &[f64]) -> Outcomes {
        Outcomes::new(self.model, row.delta(parameters), self.kappa(parameters))
    }

    /// Checks that the games determine all linear parameters.
    pub(super) fn check_identified(&self) -> Result<(), StatisticsError> {
        let mut design = DMatrix::zeros(self.linear_start.len(), self.linear_start.len());
        for row in &self.rows {
            let mut column = DVector::zeros(self.linear_start.len());
            for &(index, weight) in &row.terms {
                column[index] += weight;
            }
            design.ger(1.0, &column, &column, 1.0);
        }
        cholesky(design).map(drop).ok_or(StatisticsError::Unidentified)
    }

    fn log_likelihood<'a>(&self, rows: impl Iterator<Item = &'a Row>, parameters: &[f64]) -> f64 {
        rows.map(|row| {
            let outcomes = self.outcomes(row, parameters);
            let counted = row.counts.iter().zip(&outcomes.terms);
            counted.filter(|&(&count, _)| count > 0.0).map(|(count, terms)| count * terms.log_probability).sum::<f64>()
        })
        .sum()
    }

    /// Returns what is maximised: the log-likelihood with the prior, if there is one.
    fn objective(&self, parameters: &[f64]) -> f64 {
        let prior =
            |&(index, mean, precision): &(usize, f64, f64)| -0.5 * precision * (parameters[index] - mean).powi(2);
        self.log_likelihood(self.rows.iter().chain(&self.phantom), parameters)
            + self.priors.iter().map(prior).sum::<f64>()
    }

    /// Adds `weight` times a row's derivatives by `Δ` and `κ` to a gradient over the parameters.
    pub(super) fn add_gradient(&self, gradient: &mut DVector<f64>, row: &Row, local: [f64; 2], weight: f64) {
        for &(index, slope) in &row.terms {
            gradient[index] += weight * slope * local[0];
        }
        if self.has_draws {
            gradient[self.draw_index()] += weight * local[1];
        }
    }

    /// Adds a row's second derivatives by `ΔΔ`, `Δκ`, `κκ` to a matrix over the parameters.
    fn add_curvature(&self, matrix: &mut DMatrix<f64>, row: &Row, local: [f64; 3]) {
        for &(one, left) in &row.terms {
            for &(other, right) in &row.terms {
                matrix[(one, other)] += left * right * local[0];
            }
            if self.has_draws {
                matrix[(one, self.draw_index())] += left * local[1];
                matrix[(self.draw_index(), one)] += left * local[1];
            }
        }
        if self.has_draws {
            matrix[(self.draw_index(), self.draw_index())] += local[2];
        }
    }

    /// Returns the gradient and minus the matrix of second derivatives.
    fn derivatives(&self, parameters: &[f64]) -> (DVector<f64>, DMatrix<f64>) {
        let mut gradient = DVector::zeros(self.parameter_count());
        let mut curvature = DMatrix::zeros(self.parameter_count(), self.parameter_count());
        for row in self.rows.iter().chain(&self.phantom) {
            let outcomes = self.outcomes(row, parameters);
            let mut bend = [0.0; 3];
            for (&count, terms) in row.counts.iter().zip(&outcomes.terms) {
                self.add_gradient(&mut gradient, row, terms.gradient, count);
                for (sum, second) in bend.iter_mut().zip(terms.hessian) {
                    *sum -= count * second;
                }
            }
            self.add_curvature(&mut curvature, row, bend);
        }
        for &(index, mean, precision) in &self.priors {
            gradient[index] -= precision * (parameters[index] - mean);
            curvature[(index, index)] += precision;
        }
        (gradient, curvature)
    }

    fn start(&self) -> Vec<f64> {
        let mut parameters = self.linear_start.clone();
        if self.has_draws {
            let mut counts = [0.5; 3];
            for row in &self.rows {
                for (sum, count) in counts.iter_mut().zip(row.counts) {
                    *sum += count;
                }
            }
            let draw_parameter = self.model.draw_parameter_of_equals(counts);
            parameters.push(self.model.to_internal(draw_parameter));
        }
        parameters
    }

    /// Finds the maximum by Newton steps, halved until the objective rises.
    pub(super) fn maximise(&self) -> Result<Maximum, StatisticsError> {
        const ITERATIONS_MAX: usize = 200;
        /// Below this, twice the objective still to be gained, a full step is safe.
        const NEAR: f64 = 1e-9;
        const CONVERGED: f64 = 1e-22;
        const POLISHING_MAX: usize = 4;
        let mut parameters = self.start();
        let mut value = self.objective(&parameters);
        let mut polishing = 0;
        for _ in 0..ITERATIONS_MAX {
            let (gradient, curvature) = self.derivatives(&parameters);
            let factor = cholesky(curvature).ok_or(StatisticsError::Separated)?;
            let step = factor.solve(&gradient);
            let decrement = step.dot(&gradient);
            polishing += usize::from(decrement < NEAR);
            if decrement < CONVERGED || polishing > POLISHING_MAX {
                return self.maximum(parameters);
            }
            let mut size = 1.0;
            loop {
                let next: Vec<f64> = parameters.iter().zip(step.iter()).map(|(at, by)| at + size * by).collect();
                let allowed = self.kappa(&next).is_none_or(|kappa| self.model.allows(kappa));
                let next_value = if allowed { self.objective(&next) } else { f64::NEG_INFINITY };
                if next_value > value || (allowed && decrement < NEAR) {
                    parameters = next;
                    value = next_value;
                    break;
                }
                size /= 2.0;
                if size < 1e-12 {
                    return Err(StatisticsError::NoConvergence {
                        what: "the fit of strengths",
                        iterations: ITERATIONS_MAX,
                    });
                }
            }
        }
        Err(StatisticsError::Separated)
    }

    fn maximum(&self, parameters: Vec<f64>) -> Result<Maximum, StatisticsError> {
        let information = self.derivatives(&parameters).1;
        let covariance = cholesky(information).ok_or(StatisticsError::Separated)?.inverse();
        let unbounded =
            (0..self.parameter_count()).any(|index| covariance[(index, index)] > UNBOUNDED_ERROR * UNBOUNDED_ERROR);
        if unbounded {
            return Err(StatisticsError::Separated);
        }
        let log_likelihood = self.log_likelihood(self.rows.iter(), &parameters);
        Ok(Maximum { parameters, log_likelihood, covariance })
    }
}

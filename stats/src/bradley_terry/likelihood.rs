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

/// Where the strengths and the advantage stand among the parameters. No parameter is an anchor: all strengths are free up to a
/// common shift, so that nothing but a shift depends on the anchor.
#[derive(Clone, Debug)]
pub(super) struct ParameterLayout {
    /// Of each agent the index of its parameter, and what its strength is above that: agents with given strengths share one.
    pub(super) strengths: Vec<(usize, f64)>,
    /// An agent with a given strength, and that strength.
    pub(super) anchor: (usize, f64),
    pub(super) advantage: Option<usize>,
    pub(super) fixed_advantage: f64,
    pub(super) linear_count: usize,
}

impl ParameterLayout {
    /// Returns a strength, up to the shift that all agents of its group share.
    pub(super) fn strength(&self, agent: usize, parameters: &[f64]) -> f64 {
        let (index, above) = self.strengths[agent];
        parameters[index] + above
    }

    pub(super) fn advantage(&self, parameters: &[f64]) -> f64 {
        self.advantage.map_or(self.fixed_advantage, |index| parameters[index])
    }

    /// Returns `θ_first(1 + slope/2) − θ_second(1 − slope/2) + γ` as offset and terms.
    pub(super) fn delta(&self, first: usize, second: usize, slope: f64) -> (f64, Vec<(usize, f64)>) {
        let mut offset = self.fixed_advantage;
        let mut terms: Vec<(usize, f64)> = Vec::with_capacity(3);
        for (agent, weight) in [(first, 1.0 + slope / 2.0), (second, slope / 2.0 - 1.0)] {
            let (index, above) = self.strengths[agent];
            offset += weight * above;
            terms.push((index, weight));
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

/// Returns the games of each pairing of `chosen` agents, by who plays first.
pub(super) fn rows(
    layout: &ParameterLayout,
    results: &[SeriesResult],
    slope: f64,
    chosen: impl Fn(usize, usize) -> bool,
) -> Vec<Row> {
    let mut pairings: BTreeMap<(usize, usize), WinDrawLoss> = BTreeMap::new();
    for result in results.iter().filter(|result| result.games.games() > 0) {
        if chosen(result.first, result.second) {
            *pairings.entry((result.first, result.second)).or_default() += result.games;
        }
    }
    let row = |((first, second), games): ((usize, usize), WinDrawLoss)| {
        let (offset, terms) = layout.delta(first, second, slope);
        let counts = [games.wins as f64, games.draws as f64, games.losses as f64];
        Row { first, second, offset, terms, counts }
    };
    pairings.into_iter().map(row).collect()
}

/// A term `−precision/2·(offset + Σ weight·parameter)²` of what is maximised.
#[derive(Clone, Debug)]
struct Penalty {
    offset: f64,
    terms: Vec<(usize, f64)>,
    precision: f64,
}

impl Penalty {
    fn deviation(&self, parameters: &[f64]) -> f64 {
        self.offset + self.terms.iter().map(|&(index, weight)| weight * parameters[index]).sum::<f64>()
    }
}

/// A concave function to maximise: a log-likelihood, linear in the parameters up to the draw model.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    model: DrawModel,
    pub(super) rows: Vec<Row>,
    pub(super) phantom: Option<Row>,
    penalties: Vec<Penalty>,
    pub(super) linear_count: usize,
    pub(super) has_draws: bool,
    /// The draw coordinate where it is not estimated.
    kappa: Option<f64>,
}

pub(super) struct Maximum {
    pub(super) parameters: Vec<f64>,
    pub(super) log_likelihood: f64,
    /// The inverse of the observed information: of minus the second derivatives at the maximum, the prior's included.
    pub(super) covariance: DMatrix<f64>,
}

impl Problem {
    /// Makes the problem of the games within `groups` of agents. The strengths of a group have the sum 0, which games do not
    /// determine.
    pub(super) fn new(
        model: &BradleyTerry,
        layout: &ParameterLayout,
        results: &[SeriesResult],
        slope: f64,
        groups: &[Vec<usize>],
    ) -> Problem {
        let sum = |group: &Vec<usize>| Penalty {
            offset: 0.0,
            terms: group.iter().map(|&agent| (layout.strengths[agent].0, 1.0)).collect(),
            precision: 1.0,
        };
        let rows = rows(layout, results, slope, |one, other| {
            groups.iter().any(|group| group.contains(&one) && group.contains(&other))
        });
        Problem {
            model: model.model,
            has_draws: rows.iter().any(|row| row.counts[1] > 0.0),
            rows,
            phantom: None,
            penalties: groups.iter().map(sum).collect(),
            linear_count: layout.linear_count,
            kappa: None,
        }
    }

    /// Makes the problem of rows over parameters of their own, the draw coordinate given.
    pub(super) fn of_rows(model: DrawModel, rows: Vec<Row>, linear_count: usize, kappa: Option<f64>) -> Problem {
        Problem { model, rows, phantom: None, penalties: Vec::new(), linear_count, has_draws: false, kappa }
    }

    /// Adds the weak prior: each strength `N(mean of its group, 600 Elo)`, and one game at equal strength, half won and half lost.
    pub(super) fn with_prior(mut self, layout: &ParameterLayout, groups: &[Vec<usize>]) -> Problem {
        for group in groups {
            for agent in group {
                let weights = group.iter().map(|other| (other, f64::from(other == agent) - 1.0 / group.len() as f64));
                let (mut offset, mut terms) = (0.0, Vec::with_capacity(group.len()));
                for (&other, weight) in weights {
                    let (index, above) = layout.strengths[other];
                    offset += weight * above;
                    terms.push((index, weight));
                }
                self.penalties.push(Penalty { offset, terms, precision: PRIOR_DEVIATION.powi(-2) });
            }
        }
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
        self.linear_count + usize::from(self.has_draws)
    }

    /// Returns the index of the draw coordinate: after the linear parameters.
    fn draw_index(&self) -> usize {
        self.linear_count
    }

    fn kappa(&self, parameters: &[f64]) -> Option<f64> {
        if self.has_draws { Some(parameters[self.draw_index()]) } else { self.kappa }
    }

    pub(super) fn outcomes(&self, row: &Row, parameters: &[f64]) -> Outcomes {
        Outcomes::new(self.model, row.delta(parameters), self.kappa(parameters))
    }

    /// Checks that the games determine all linear parameters.
    pub(super) fn check_identified(&self) -> Result<(), StatisticsError> {
        let mut design = DMatrix::zeros(self.linear_count, self.linear_count);
        let rows = self.rows.iter().chain(&self.phantom);
        for terms in rows.map(|row| &row.terms).chain(self.penalties.iter().map(|penalty| &penalty.terms)) {
            let mut column = DVector::zeros(self.linear_count);
            for &(index, weight) in terms {
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

    /// Returns what is maximised: the log-likelihood with the penalties.
    fn objective(&self, parameters: &[f64]) -> f64 {
        let penalty = |penalty: &Penalty| -0.5 * penalty.precision * penalty.deviation(parameters).powi(2);
        self.log_likelihood(self.rows.iter().chain(&self.phantom), parameters)
            + self.penalties.iter().map(penalty).sum::<f64>()
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
        for penalty in &self.penalties {
            let pull = penalty.precision * penalty.deviation(parameters);
            for &(one, left) in &penalty.terms {
                gradient[one] -= pull * left;
                for &(other, right) in &penalty.terms {
                    curvature[(one, other)] += penalty.precision * left * right;
                }
            }
        }
        (gradient, curvature)
    }

    fn start(&self) -> Vec<f64> {
        let mut parameters = vec![0.0; self.linear_count];
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

    /// Finds the maximum, which the games must determine.
    pub(super) fn maximise(&self) -> Result<Maximum, StatisticsError> {
        self.check_identified()?;
        self.maximum(self.climb()?.0)
    }

    /// Finds the maximum by Newton steps, halved until the objective rises; returns where it is, and the objective.
    pub(super) fn climb(&self) -> Result<(Vec<f64>, f64), StatisticsError> {
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
                return Ok((parameters, value));
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

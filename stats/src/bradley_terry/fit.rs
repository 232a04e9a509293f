//! A fitted model: estimates with their errors, and how well it fits.

use std::collections::BTreeMap;

use nalgebra::{DMatrix, DVector};
use serde::Serialize;

use super::likelihood::{Maximum, ParameterLayout, Problem, Row, rows};
use super::separation::Separation;
use super::{BradleyTerry, SeriesResult};
use crate::distribution::chi_squared_tail;
use crate::draw_model::{DrawModel, OutcomeProbabilities, Outcomes, estimate};
use crate::error::StatisticsError;
use crate::interval::{Confidence, Estimate, Interval};
use crate::score::Score;

/// The kind of standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Covariance {
    /// The inverse of the joint observed Fisher information: every game independent, the model right.
    /// For Davidson's model observed and expected information are the same; for Rao and Kupper's the
    /// observed one is that of the games as they were.
    /// Source: Efron and Hinkley 1978, Biometrika 65, 457-487.
    Fisher,
    /// The sandwich by opening, `V = I⁻¹(Σ_c g_c·g_cᵀ)I⁻¹·C/(C−1)`, `g_c` the summed score of opening `c`.
    /// Right when the games of an opening resemble each other, or when the model is somewhat wrong.
    Clustered,
}

/// A fitted model.
#[derive(Clone, Debug)]
pub struct Fit {
    model: DrawModel,
    layout: ParameterLayout,
    separation: Separation,
    parameters: Vec<f64>,
    /// Those that the games determine: in each group of agents the sum of the strengths is given.
    parameter_count: usize,
    has_draws: bool,
    log_likelihood: f64,
    regularised: bool,
    games: u64,
    fisher: DMatrix<f64>,
    clustered: Option<DMatrix<f64>>,
    opening_count: usize,
    pairings: Vec<Row>,
    /// The pairings of agents of different groups, in which one took every point.
    one_sided: Vec<Row>,
}

impl Fit {
    pub(super) fn new(
        model: &BradleyTerry,
        layout: ParameterLayout,
        separation: Separation,
        problem: Problem,
        maximum: Maximum,
        results: &[SeriesResult],
    ) -> Fit {
        let results: Vec<SeriesResult> = results.iter().filter(|result| result.games.games() > 0).copied().collect();
        let (within, between): (Vec<SeriesResult>, Vec<SeriesResult>) =
            results.iter().partition(|result| separation.joins(result.first, result.second));
        let parameter_count = maximum.parameters.len() - separation.groups().len();
        let (clustered, opening_count) = sandwich(&layout, &problem, &maximum, &within, parameter_count);
        Fit {
            model: model.model,
            one_sided: rows(&layout, &between, 0.0, |_, _| true),
            parameter_count,
            layout,
            separation,
            has_draws: problem.has_draws,
            log_likelihood: maximum.log_likelihood,
            regularised: problem.phantom.is_some(),
            games: results.iter().map(|result| result.games.games()).sum(),
            parameters: maximum.parameters,
            fisher: maximum.covariance,
            clustered,
            opening_count,
            pairings: problem.rows,
        }
    }

    /// Returns the log-likelihood of the games, without constants and without any prior.
    #[must_use]
    pub fn log_likelihood(&self) -> f64 {
        self.log_likelihood
    }

    /// Returns groups of agents, best first, such that each agent of a group took every point against each agent of a later
    /// group that it met. Agents with given strengths are in one group.
    #[must_use]
    pub fn groups(&self) -> Vec<Vec<usize>> {
        self.separation.groups()
    }

    /// Returns whether the games within the groups had no finite fit, so that a weak prior was added.
    #[must_use]
    pub fn regularised(&self) -> bool {
        self.regularised
    }

    /// Returns the number of parameters estimated.
    #[must_use]
    pub fn parameter_count(&self) -> usize {
        self.parameter_count
    }

    /// Returns an agent's strength in nats; an anchored one has standard error 0.
    /// Fails with [`StatisticsError::UnknownAgent`]; [`StatisticsError::TooFew`] openings for [`Covariance::Clustered`];
    /// [`StatisticsError::Separated`] where no chain of points joins it to the anchors in both directions.
    pub fn strength(&self, agent: usize, covariance: Covariance) -> Result<Estimate, StatisticsError> {
        let (anchor, given) = self.layout.anchor;
        let Estimate { value, standard_error } = self.difference(agent, anchor, covariance)?;
        Ok(Estimate { value: given + value, standard_error })
    }

    /// Returns one agent's strength less another's, in nats. It depends on an anchor only where there are several.
    pub fn difference(&self, agent: usize, other: usize, covariance: Covariance) -> Result<Estimate, StatisticsError> {
        self.check_agent(agent)?;
        self.check_agent(other)?;
        if !self.separation.joins(agent, other) {
            return Err(StatisticsError::Separated);
        }
        let mut direction = DVector::zeros(self.parameters.len());
        direction[self.layout.strengths[agent].0] += 1.0;
        direction[self.layout.strengths[other].0] -= 1.0;
        let strength = |agent| self.layout.strength(agent, &self.parameters);
        let value = strength(agent) - strength(other);
        Ok(estimate(value, form(self.covariance(covariance)?, &direction)))
    }

    /// Returns an agent's strength in nats as [`Fit::difference_interval`] does.
    pub fn strength_interval(
        &self,
        agent: usize,
        covariance: Covariance,
        confidence: Confidence,
    ) -> Result<Interval, StatisticsError> {
        let (anchor, given) = self.layout.anchor;
        let Interval { lower, upper } = self.difference_interval(agent, anchor, covariance, confidence)?;
        Ok(Interval { lower: given + lower, upper: given + upper })
    }

    /// Returns the interval of one agent's strength less another's, in nats.
    ///
    /// Between groups the games bound it from one side only, or not at all: one end or both are infinite. The finite end
    /// is where every point of the games between the two groups, chains over other groups included, has the probability
    /// `alpha` that it went as it did. What lies within the groups is taken as estimated.
    /// Fails with [`StatisticsError::UnknownAgent`]; [`StatisticsError::TooFew`] openings for [`Covariance::Clustered`];
    /// [`StatisticsError::NoConvergence`].
    ///
    /// Source: Geyer 2009, Electronic Journal of Statistics 3, 259-289 (one-sided intervals).
    pub fn difference_interval(
        &self,
        agent: usize,
        other: usize,
        covariance: Covariance,
        confidence: Confidence,
    ) -> Result<Interval, StatisticsError> {
        const TOLERANCE: f64 = 1e-9;
        match self.difference(agent, other, covariance) {
            Err(StatisticsError::Separated) => {}
            found => return Ok(found?.interval(confidence)),
        }
        let bound = |above: usize, below: usize| -> Result<f64, StatisticsError> {
            if !self.separation.reaches(above, below) {
                return Ok(f64::NEG_INFINITY);
            }
            let is_too_close = |difference: f64| -> Result<bool, StatisticsError> {
                Ok(self.one_sidedness(above, below, difference)? < confidence.alpha().ln())
            };
            let (mut lower, mut upper) = (-1.0, 1.0);
            while is_too_close(upper)? {
                upper *= 2.0;
            }
            while !is_too_close(lower)? {
                lower *= 2.0;
            }
            while upper - lower > TOLERANCE {
                let middle = f64::midpoint(lower, upper);
                *if is_too_close(middle)? { &mut lower } else { &mut upper } = middle;
            }
            Ok(upper)
        };
        Ok(Interval { lower: bound(agent, other)?, upper: -bound(other, agent)? })
    }

    /// Returns how likely one agent is stronger than another, in `[0, 1]`: 1 less the one-sided p-value of "as strong".
    /// `None` where their difference is given or no games compare them.
    /// Between groups the p-value is half the probability that every point went as it did (mid-p).
    pub fn likelihood_stronger(
        &self,
        agent: usize,
        other: usize,
        covariance: Covariance,
    ) -> Result<Option<f64>, StatisticsError> {
        match self.difference(agent, other, covariance) {
            Err(StatisticsError::Separated) => {}
            found => return Ok(found?.likelihood_above(0.0)),
        }
        if self.separation.reaches(agent, other) {
            Ok(Some(1.0 - self.one_sidedness(agent, other, 0.0)?.exp() / 2.0))
        } else if self.separation.reaches(other, agent) {
            Ok(Some(self.one_sidedness(other, agent, 0.0)?.exp() / 2.0))
        } else {
            Ok(None)
        }
    }

    /// Returns the logarithm of the largest probability that every point went as it did in the games on a way down from the
    /// group of one agent to that of another, if the former is `difference` nats stronger. It rises with the difference.
    fn one_sidedness(&self, above: usize, below: usize, difference: f64) -> Result<f64, StatisticsError> {
        let level = |agent: usize| self.layout.strength(agent, &self.parameters);
        let is_between = |agent: usize| self.separation.reaches(above, agent) && self.separation.reaches(agent, below);
        // What each group is shifted by: that of `below` by nothing, that of `above` to the difference, others freely.
        let mut free: Vec<usize> = Vec::new();
        let mut shifted = Vec::new();
        for row in self.one_sided.iter().filter(|row| is_between(row.first) && is_between(row.second)) {
            let (mut offset, mut terms) = (row.delta(&self.parameters), Vec::new());
            for (agent, sign) in [(row.first, 1.0), (row.second, -1.0)] {
                if self.separation.joins(agent, above) {
                    offset += sign * (difference - level(above) + level(below));
                } else if !self.separation.joins(agent, below) {
                    let head = self.separation.head(agent);
                    let index = free.iter().position(|&known| known == head).unwrap_or_else(|| {
                        free.push(head);
                        free.len() - 1
                    });
                    terms.push((index, sign));
                }
            }
            shifted.push(Row { offset, terms, ..row.clone() });
        }
        Ok(Problem::of_rows(self.model, shifted, free.len(), self.kappa()).climb()?.1)
    }

    /// Returns the first-move advantage `γ` in nats, its error including that of the strengths.
    /// Fails with [`StatisticsError::TooFew`] openings for [`Covariance::Clustered`].
    pub fn advantage(&self, covariance: Covariance) -> Result<Estimate, StatisticsError> {
        let matrix = self.covariance(covariance)?;
        let variance = self.layout.advantage.map_or(0.0, |index| matrix[(index, index)]);
        Ok(estimate(self.layout.advantage(&self.parameters), variance))
    }

    /// Returns `δ` in nats (Rao-Kupper) or `ν` (Davidson); 0 if no game was drawn.
    #[must_use]
    pub fn draw_parameter(&self) -> f64 {
        self.kappa().map_or(0.0, |kappa| self.model.of_internal(kappa))
    }

    /// Returns the probabilities of a game's results, for the first player.
    /// Fails with [`StatisticsError::UnknownAgent`]; [`StatisticsError::Separated`] for agents of different groups.
    pub fn probabilities(&self, first: usize, second: usize) -> Result<OutcomeProbabilities, StatisticsError> {
        self.check_agent(first)?;
        self.check_agent(second)?;
        if !self.separation.joins(first, second) {
            return Err(StatisticsError::Separated);
        }
        let (offset, terms) = self.layout.delta(first, second, 0.0);
        let delta = offset + terms.iter().map(|&(index, weight)| weight * self.parameters[index]).sum::<f64>();
        Ok(Outcomes::new(self.model, delta, self.kappa()).probabilities())
    }

    /// Returns the probabilities of a game's results between equally strong agents, for the first player.
    #[must_use]
    pub fn equal_strength(&self) -> OutcomeProbabilities {
        self.equal_strength_outcomes().probabilities()
    }

    /// Returns the first player's expected score at equal strength, `s* = p_W + p_D/2`: the headline number.
    /// The standard error is the delta method's, from the joint covariance of advantage and draws.
    /// Fails with [`StatisticsError::TooFew`] openings for [`Covariance::Clustered`].
    pub fn equal_strength_score(&self, covariance: Covariance) -> Result<Score, StatisticsError> {
        let (score, local) = self.equal_strength_outcomes().score_gradient();
        let mut gradient = DVector::zeros(self.parameters.len());
        if let Some(index) = self.layout.advantage {
            gradient[index] = local[0];
        }
        if self.has_draws {
            gradient[self.layout.linear_count] = local[1];
        }
        let found = estimate(score, form(self.covariance(covariance)?, &gradient));
        Score::new(found.value, found.standard_error, self.games)
    }

    /// Returns the probabilities of [`Fit::equal_strength`], win, draw and loss of the first player, with their errors by the
    /// delta method.
    /// Fails with [`StatisticsError::TooFew`] openings for [`Covariance::Clustered`].
    pub fn equal_strength_probabilities(&self, covariance: Covariance) -> Result<[Estimate; 3], StatisticsError> {
        let matrix = self.covariance(covariance)?;
        Ok(self.equal_strength_outcomes().terms.map(|terms| {
            let share = terms.log_probability.exp();
            let mut gradient = DVector::zeros(self.parameters.len());
            if let Some(index) = self.layout.advantage {
                gradient[index] = share * terms.gradient[0];
            }
            if self.has_draws {
                gradient[self.layout.linear_count] = share * terms.gradient[1];
            }
            estimate(share, form(matrix, &gradient))
        }))
    }

    /// Tests the model against the table of pairings by results: Pearson's `χ² = Σ(O − E)²/E`.
    /// Fails with [`StatisticsError::TooFew`] cells when the model has as many parameters as the table.
    pub fn goodness_of_fit(&self) -> Result<GoodnessOfFit, StatisticsError> {
        let per_pairing = if self.has_draws { 2 } else { 1 };
        let cells = per_pairing * self.pairings.len();
        if cells <= self.parameter_count {
            return Err(StatisticsError::TooFew {
                what: "free cells of pairings by results",
                needed: self.parameter_count + 1,
                found: cells,
            });
        }
        let mut statistic = 0.0;
        for row in &self.pairings {
            let outcomes = Outcomes::new(self.model, row.delta(&self.parameters), self.kappa());
            for (&count, terms) in row.counts.iter().zip(&outcomes.terms) {
                let expected = row.games() * terms.log_probability.exp();
                if expected > 0.0 {
                    statistic += (count - expected).powi(2) / expected;
                }
            }
        }
        let degrees = cells - self.parameter_count;
        Ok(GoodnessOfFit { statistic, degrees, p: chi_squared_tail(statistic, degrees) })
    }

    fn kappa(&self) -> Option<f64> {
        self.has_draws.then(|| self.parameters[self.layout.linear_count])
    }

    fn equal_strength_outcomes(&self) -> Outcomes {
        Outcomes::new(self.model, self.layout.advantage(&self.parameters), self.kappa())
    }

    fn covariance(&self, kind: Covariance) -> Result<&DMatrix<f64>, StatisticsError> {
        match (kind, &self.clustered) {
            (Covariance::Fisher, _) => Ok(&self.fisher),
            (Covariance::Clustered, Some(matrix)) => Ok(matrix),
            (Covariance::Clustered, None) => Err(StatisticsError::TooFew {
                what: "openings",
                needed: self.parameter_count + 1,
                found: self.opening_count,
            }),
        }
    }

    fn check_agent(&self, agent: usize) -> Result<(), StatisticsError> {
        let agent_count = self.layout.strengths.len();
        if agent < agent_count { Ok(()) } else { Err(StatisticsError::UnknownAgent { agent, agent_count }) }
    }
}

fn form(matrix: &DMatrix<f64>, x: &DVector<f64>) -> f64 {
    x.dot(&(matrix * x))
}

/// Returns the cluster-robust covariance, if there are more openings than parameters, and their number.
fn sandwich(
    layout: &ParameterLayout,
    problem: &Problem,
    maximum: &Maximum,
    results: &[SeriesResult],
    needed: usize,
) -> (Option<DMatrix<f64>>, usize) {
    let parameter_count = maximum.parameters.len();
    let mut scores: BTreeMap<u64, DVector<f64>> = BTreeMap::new();
    for result in results {
        let (offset, terms) = layout.delta(result.first, result.second, 0.0);
        let games = result.games;
        let counts = [games.wins as f64, games.draws as f64, games.losses as f64];
        let row = Row { first: result.first, second: result.second, offset, terms, counts };
        let outcomes = problem.outcomes(&row, &maximum.parameters);
        let score = scores.entry(result.opening).or_insert_with(|| DVector::zeros(parameter_count));
        for (&count, terms) in row.counts.iter().zip(&outcomes.terms) {
            problem.add_gradient(score, &row, terms.gradient, count);
        }
    }
    let opening_count = scores.len();
    if opening_count < 2 || opening_count <= needed {
        return (None, opening_count);
    }
    let mut middle = DMatrix::zeros(parameter_count, parameter_count);
    for score in scores.values() {
        middle.ger(1.0, score, score, 1.0);
    }
    let correction = opening_count as f64 / (opening_count as f64 - 1.0);
    (Some(&maximum.covariance * middle * &maximum.covariance * correction), opening_count)
}

/// Pearson's test of a fit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct GoodnessOfFit {
    /// `χ²`.
    pub statistic: f64,
    /// Degrees of freedom.
    pub degrees: usize,
    /// The probability of a larger statistic if the model is right.
    pub p: f64,
}

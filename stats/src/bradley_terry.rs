//! A joint fit of all agents of a ruleset: strengths, first-move advantage, draws.
//!
//! `Δ = θ_first − θ_second + γ` in nats; [`DrawModel`] turns it into results. `θ` is an agent's strength, `γ`
//! the advantage of the first move at equal strength. Strengths are never shared between rulesets, and
//! `γ` and the draw parameter belong to one ruleset, so the joint likelihood of many rulesets is the
//! product of theirs: one fit per ruleset is the whole fit.

use std::collections::BTreeMap;

use nalgebra::{DMatrix, DVector};
use serde::Serialize;

use super::cholesky::cholesky;
use super::distribution::chi_squared_tail;
use super::draw_model::{DrawModel, OutcomeProbabilities, Outcomes, estimate};
use super::error::StatisticsError;
use super::interval::Estimate;
use super::score::{ELO_PER_NAT, Score, WinDrawLoss};

/// Spread of the strengths in the prior that is used only when the games alone give no finite fit: 600 Elo.
pub const PRIOR_DEVIATION: f64 = 600.0 / ELO_PER_NAT;

/// A standard error, in nats, beyond which a maximum is taken to lie at infinity.
const UNBOUNDED_ERROR: f64 = 10.0;

/// Games of one opening between two agents in given seats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesResult {
    /// The index of the agent who played first.
    pub first: usize,
    /// The index of the agent who played second; the same one in self-play, which determines the
    /// advantage but no strength.
    pub second: usize,
    /// The results, from the first player's view.
    pub games: WinDrawLoss,
    /// The opening that the games share, as errors are taken to be independent between openings only.
    pub opening: u64,
}

/// A model to fit: the draw model, the anchored strengths, and whether the advantage is fixed.
#[derive(Clone, Debug)]
pub struct BradleyTerry {
    model: DrawModel,
    agent_count: usize,
    anchors: BTreeMap<usize, f64>,
    fixed_advantage: Option<f64>,
}

impl BradleyTerry {
    /// Makes a model of `agent_count` agents, agent 0 at strength 0, with the advantage to be estimated.
    #[must_use]
    pub fn new(model: DrawModel, agent_count: usize) -> BradleyTerry {
        let anchors = BTreeMap::from([(0, 0.0)]);
        BradleyTerry { model, agent_count, anchors, fixed_advantage: None }
    }

    /// Fixes the strengths, in nats, of these agents and of no others.
    #[must_use]
    pub fn anchored(mut self, anchors: impl IntoIterator<Item = (usize, f64)>) -> BradleyTerry {
        self.anchors = anchors.into_iter().collect();
        self
    }

    /// Fixes the first-move advantage at `nats`; 0 for games without seats.
    #[must_use]
    pub fn with_advantage(mut self, nats: f64) -> BradleyTerry {
        self.fixed_advantage = Some(nats);
        self
    }

    /// Finds the most likely parameters by damped Newton steps.
    ///
    /// The log-likelihood is concave in `(θ, γ, δ)` and in `(θ, γ, ln ν)`, so the maximum found is the only
    /// one. Without a drawn game the draw parameter is 0 and not estimated. If the maximum lies at
    /// infinity, because some side has every point, a weak prior makes it finite and
    /// [`Fit::regularised`] says so: `θ ~ N(mean anchor, 600 Elo)` and one phantom game at equal strength,
    /// half won and half lost.
    ///
    /// # Errors
    /// [`StatisticsError::NoObservations`] without games; [`StatisticsError::UnknownAgent`] for an index out of
    /// range; [`StatisticsError::OutOfRange`] for an anchor or advantage that is not finite;
    /// [`StatisticsError::Unconnected`] for an agent without a chain of games to an anchor;
    /// [`StatisticsError::Unidentified`] when agents never change seats; [`StatisticsError::NoConvergence`].
    ///
    /// Source: Hunter 2004, Annals of Statistics 32, 384-406 (existence); Coulom, BayesElo.
    pub fn fit(&self, results: &[SeriesResult]) -> Result<Fit, StatisticsError> {
        let layout = self.layout(results)?;
        let problem = Problem::new(self, &layout, results, 0.0);
        problem.check_identified()?;
        match problem.maximise() {
            Ok(maximum) => Ok(Fit::new(self, layout, problem, maximum, results)),
            Err(StatisticsError::Separated) => {
                let problem = problem.with_prior(self, &layout);
                let maximum = problem.maximise()?;
                Ok(Fit::new(self, layout, problem, maximum, results))
            }
            Err(error) => Err(error),
        }
    }

    /// Tests "there is no first-move advantage" by the likelihood ratio, one degree of freedom.
    ///
    /// # Errors
    /// As [`BradleyTerry::fit`], and [`StatisticsError::Separated`] where the fit would need its prior.
    pub fn advantage_test(&self, results: &[SeriesResult]) -> Result<LikelihoodRatio, StatisticsError> {
        let without = self.clone().with_advantage(0.0).plain_maximum(results, 0.0)?;
        let mut with = self.clone();
        with.fixed_advantage = None;
        let with = with.plain_maximum(results, 0.0)?;
        Ok(LikelihoodRatio::new(without.log_likelihood, with.log_likelihood, 1))
    }

    /// Tests "the advantage is the same for every agent" against one advantage for each agent that plays first.
    ///
    /// # Errors
    /// As [`BradleyTerry::advantage_test`]; [`StatisticsError::Unidentified`] with fewer than three agents.
    pub fn constant_advantage_test(&self, results: &[SeriesResult]) -> Result<LikelihoodRatio, StatisticsError> {
        let mut one = self.clone();
        one.fixed_advantage = None;
        let layout = one.layout(results)?;
        let single = one.plain_maximum(results, 0.0)?;
        let mut problem = Problem::new(&one, &layout, results, 0.0);
        let shared = layout.advantage.expect("the advantage is estimated here");
        // The first agent to be met keeps the shared column, the others get one each.
        let mut columns: BTreeMap<usize, usize> = BTreeMap::new();
        for row in &mut problem.rows {
            let column = match columns.get(&row.first) {
                Some(&column) => column,
                None if columns.is_empty() => shared,
                None => {
                    problem.linear_start.push(0.0);
                    problem.linear_start.len() - 1
                }
            };
            columns.insert(row.first, column);
            for (index, _) in &mut row.terms {
                if *index == shared {
                    *index = column;
                }
            }
        }
        let extra = columns.len() - 1;
        if extra == 0 {
            return Err(StatisticsError::Unidentified);
        }
        problem.check_identified()?;
        let each = problem.maximise()?;
        Ok(LikelihoodRatio::new(single.log_likelihood, each.log_likelihood, extra))
    }

    /// Tests "the advantage does not change with strength" against `γ + λ·(θ_first + θ_second)/2`.
    ///
    /// For a given `λ` the model is linear in the strengths, so `λ` is found by a search along the profile,
    /// within ±[`STRENGTH_SLOPE_MAX`].
    ///
    /// # Errors
    /// As [`BradleyTerry::advantage_test`]; [`StatisticsError::Unidentified`] with two agents that do not also
    /// play themselves.
    pub fn advantage_by_strength_test(&self, results: &[SeriesResult]) -> Result<AdvantageByStrength, StatisticsError> {
        const GRID: usize = 12;
        let mut model = self.clone();
        model.fixed_advantage = None;
        let layout = model.layout(results)?;
        let constant = model.plain_maximum(results, 0.0)?;
        model.check_slope_identified(&layout, results, &constant)?;
        let profile =
            |slope: f64| -> Result<f64, StatisticsError> { Ok(model.plain_maximum(results, slope)?.log_likelihood) };
        let step = 2.0 * STRENGTH_SLOPE_MAX / GRID as f64;
        let mut best = (0.0, constant.log_likelihood);
        for node in 0..=GRID {
            let slope = -STRENGTH_SLOPE_MAX + node as f64 * step;
            // A slope at which the games separate is not a candidate.
            if let Ok(value) = profile(slope)
                && value > best.1
            {
                best = (slope, value);
            }
        }
        // Golden section around the best node.
        let ratio = (5f64.sqrt() - 1.0) / 2.0;
        let (mut lower, mut upper) =
            ((best.0 - step).max(-STRENGTH_SLOPE_MAX), (best.0 + step).min(STRENGTH_SLOPE_MAX));
        let value_at = |slope: f64| profile(slope).unwrap_or(f64::NEG_INFINITY);
        let mut inner = (upper - ratio * (upper - lower), lower + ratio * (upper - lower));
        let mut values = (value_at(inner.0), value_at(inner.1));
        while upper - lower > 1e-6 {
            if values.0 > values.1 {
                upper = inner.1;
                inner = (upper - ratio * (upper - lower), inner.0);
                values = (value_at(inner.0), values.0);
            } else {
                lower = inner.0;
                inner = (inner.1, lower + ratio * (upper - lower));
                values = (values.1, value_at(inner.1));
            }
        }
        let found = if values.0 > values.1 { (inner.0, values.0) } else { (inner.1, values.1) };
        let (slope, value) = if found.1 > best.1 { found } else { best };
        Ok(AdvantageByStrength { slope, likelihood_ratio: LikelihoodRatio::new(constant.log_likelihood, value, 1) })
    }

    fn mean_anchor(&self) -> f64 {
        self.anchors.values().sum::<f64>() / self.anchors.len().max(1) as f64
    }

    fn plain_maximum(&self, results: &[SeriesResult], slope: f64) -> Result<Maximum, StatisticsError> {
        let layout = self.layout(results)?;
        let problem = Problem::new(self, &layout, results, slope);
        problem.check_identified()?;
        problem.maximise()
    }

    /// Checks that the derivative by the slope is no combination of the other parameters.
    fn check_slope_identified(
        &self,
        layout: &ParameterLayout,
        results: &[SeriesResult],
        constant: &Maximum,
    ) -> Result<(), StatisticsError> {
        let mut problem = Problem::new(self, layout, results, 0.0);
        let slope_index = problem.linear_start.len();
        let strength = |agent: usize| layout.strength(agent, &constant.parameters);
        for row in &mut problem.rows {
            row.terms.push((slope_index, (strength(row.first) + strength(row.second)) / 2.0));
        }
        problem.linear_start.push(0.0);
        problem.check_identified()
    }

    fn layout(&self, results: &[SeriesResult]) -> Result<ParameterLayout, StatisticsError> {
        if results.iter().all(|result| result.games.games() == 0) {
            return Err(StatisticsError::NoObservations("games"));
        }
        let named = results.iter().flat_map(|result| [result.first, result.second]);
        if let Some(agent) = named.chain(self.anchors.keys().copied()).find(|&agent| agent >= self.agent_count) {
            return Err(StatisticsError::UnknownAgent { agent, agent_count: self.agent_count });
        }
        for &anchor in self.anchors.values() {
            StatisticsError::check("anchor", anchor, "finite", true)?;
        }
        if let Some(advantage) = self.fixed_advantage {
            StatisticsError::check("advantage", advantage, "finite", true)?;
        }
        self.check_connected(results)?;
        let mut linear_count = 0;
        let mut next = || {
            linear_count += 1;
            linear_count - 1
        };
        let strengths = (0..self.agent_count)
            .map(|agent| match self.anchors.get(&agent) {
                Some(&anchor) => Parameter::Fixed(anchor),
                None => Parameter::Free(next()),
            })
            .collect();
        let advantage = self.fixed_advantage.is_none().then(&mut next);
        Ok(ParameterLayout { strengths, advantage, fixed_advantage: self.fixed_advantage.unwrap_or(0.0), linear_count })
    }

    fn check_connected(&self, results: &[SeriesResult]) -> Result<(), StatisticsError> {
        let mut reached: Vec<bool> = (0..self.agent_count).map(|agent| self.anchors.contains_key(&agent)).collect();
        let mut grew = true;
        while grew {
            grew = false;
            for result in results.iter().filter(|result| result.games.games() > 0) {
                if reached[result.first] != reached[result.second] {
                    reached[result.first] = true;
                    reached[result.second] = true;
                    grew = true;
                }
            }
        }
        match reached.iter().position(|&reached| !reached) {
            Some(agent) => Err(StatisticsError::Unconnected { agent }),
            None => Ok(()),
        }
    }
}

/// The largest change of the advantage per nat of strength that is searched.
pub const STRENGTH_SLOPE_MAX: f64 = 1.5;

/// The index or the fixed value of each strength and of the advantage among the parameters.
#[derive(Clone, Debug)]
struct ParameterLayout {
    strengths: Vec<Parameter>,
    advantage: Option<usize>,
    fixed_advantage: f64,
    linear_count: usize,
}

#[derive(Clone, Copy, Debug)]
enum Parameter {
    Fixed(f64),
    Free(usize),
}

impl ParameterLayout {
    fn strength(&self, agent: usize, parameters: &[f64]) -> f64 {
        match self.strengths[agent] {
            Parameter::Fixed(value) => value,
            Parameter::Free(index) => parameters[index],
        }
    }

    fn advantage(&self, parameters: &[f64]) -> f64 {
        self.advantage.map_or(self.fixed_advantage, |index| parameters[index])
    }

    /// Returns `θ_first(1 + slope/2) − θ_second(1 − slope/2) + γ` as offset and terms.
    fn delta(&self, first: usize, second: usize, slope: f64) -> (f64, Vec<(usize, f64)>) {
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
struct Row {
    first: usize,
    second: usize,
    offset: f64,
    terms: Vec<(usize, f64)>,
    /// Wins, draws, losses of the first player.
    counts: [f64; 3],
}

impl Row {
    fn delta(&self, parameters: &[f64]) -> f64 {
        self.offset + self.terms.iter().map(|&(index, weight)| weight * parameters[index]).sum::<f64>()
    }

    fn games(&self) -> f64 {
        self.counts.iter().sum()
    }
}

/// A concave function to maximise: a log-likelihood, linear in the parameters up to the draw model.
#[derive(Clone, Debug)]
struct Problem {
    model: DrawModel,
    rows: Vec<Row>,
    phantom: Option<Row>,
    /// Index, mean and precision of each normal prior.
    priors: Vec<(usize, f64, f64)>,
    /// Where the search begins, for each linear parameter.
    linear_start: Vec<f64>,
    has_draws: bool,
}

struct Maximum {
    parameters: Vec<f64>,
    log_likelihood: f64,
    /// The inverse of the observed information: of minus the second derivatives at the maximum, the prior's included.
    covariance: DMatrix<f64>,
}

impl Problem {
    fn new(model: &BradleyTerry, layout: &ParameterLayout, results: &[SeriesResult], slope: f64) -> Problem {
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

    fn with_prior(mut self, model: &BradleyTerry, layout: &ParameterLayout) -> Problem {
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

    fn outcomes(&self, row: &Row, parameters: &[f64]) -> Outcomes {
        Outcomes::new(self.model, row.delta(parameters), self.kappa(parameters))
    }

    /// Checks that the games determine all linear parameters.
    fn check_identified(&self) -> Result<(), StatisticsError> {
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
    fn add_gradient(&self, gradient: &mut DVector<f64>, row: &Row, local: [f64; 2], weight: f64) {
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
    fn maximise(&self) -> Result<Maximum, StatisticsError> {
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

/// The kind of standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Covariance {
    /// The inverse of the joint observed Fisher information: every game independent, the model right.
    ///
    /// For Davidson's model observed and expected information are the same; for Rao and Kupper's the
    /// observed one is that of the games as they were.
    ///
    /// Source: Efron and Hinkley 1978, Biometrika 65, 457-487.
    Fisher,
    /// The sandwich by opening, `V = I⁻¹(Σ_c g_c·g_cᵀ)I⁻¹·C/(C−1)`, `g_c` the summed score of opening `c`.
    ///
    /// Right when the games of an opening resemble each other, or when the model is somewhat wrong.
    Clustered,
}

/// A fitted model.
#[derive(Clone, Debug)]
pub struct Fit {
    model: DrawModel,
    layout: ParameterLayout,
    parameters: Vec<f64>,
    has_draws: bool,
    log_likelihood: f64,
    regularised: bool,
    games: u64,
    fisher: DMatrix<f64>,
    clustered: Option<DMatrix<f64>>,
    opening_count: usize,
    pairings: Vec<Row>,
}

impl Fit {
    fn new(
        model: &BradleyTerry,
        layout: ParameterLayout,
        problem: Problem,
        maximum: Maximum,
        results: &[SeriesResult],
    ) -> Fit {
        let (clustered, opening_count) = sandwich(&layout, &problem, &maximum, results);
        Fit {
            model: model.model,
            layout,
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

    /// Returns whether the games alone had no finite fit, so that a weak prior was added.
    #[must_use]
    pub fn regularised(&self) -> bool {
        self.regularised
    }

    /// Returns the number of parameters estimated.
    #[must_use]
    pub fn parameter_count(&self) -> usize {
        self.parameters.len()
    }

    /// Returns an agent's strength in nats; an anchored one has standard error 0.
    ///
    /// # Errors
    /// [`StatisticsError::UnknownAgent`]; [`StatisticsError::TooFew`] openings for [`Covariance::Clustered`].
    pub fn strength(&self, agent: usize, covariance: Covariance) -> Result<Estimate, StatisticsError> {
        self.check_agent(agent)?;
        let mut direction = DVector::zeros(self.parameters.len());
        if let Parameter::Free(index) = self.layout.strengths[agent] {
            direction[index] = 1.0;
        }
        let value = self.layout.strength(agent, &self.parameters);
        Ok(estimate(value, form(self.covariance(covariance)?, &direction)))
    }

    /// Returns one agent's strength less another's, in nats.
    ///
    /// # Errors
    /// As [`Fit::strength`].
    pub fn difference(&self, agent: usize, other: usize, covariance: Covariance) -> Result<Estimate, StatisticsError> {
        self.check_agent(agent)?;
        self.check_agent(other)?;
        let mut direction = DVector::zeros(self.parameters.len());
        for (agent, sign) in [(agent, 1.0), (other, -1.0)] {
            if let Parameter::Free(index) = self.layout.strengths[agent] {
                direction[index] += sign;
            }
        }
        let strength = |agent| self.layout.strength(agent, &self.parameters);
        let value = strength(agent) - strength(other);
        Ok(estimate(value, form(self.covariance(covariance)?, &direction)))
    }

    /// Returns the first-move advantage `γ` in nats, its error including that of the strengths.
    ///
    /// # Errors
    /// [`StatisticsError::TooFew`] openings for [`Covariance::Clustered`].
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
    ///
    /// # Errors
    /// [`StatisticsError::UnknownAgent`].
    pub fn probabilities(&self, first: usize, second: usize) -> Result<OutcomeProbabilities, StatisticsError> {
        self.check_agent(first)?;
        self.check_agent(second)?;
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
    ///
    /// The standard error is the delta method's, from the joint covariance of advantage and draws.
    ///
    /// # Errors
    /// [`StatisticsError::TooFew`] openings for [`Covariance::Clustered`].
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
    ///
    /// # Errors
    /// [`StatisticsError::TooFew`] openings for [`Covariance::Clustered`].
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
    ///
    /// # Errors
    /// [`StatisticsError::TooFew`] cells when the model has as many parameters as the table.
    pub fn goodness_of_fit(&self) -> Result<GoodnessOfFit, StatisticsError> {
        let per_pairing = if self.has_draws { 2 } else { 1 };
        let cells = per_pairing * self.pairings.len();
        if cells <= self.parameters.len() {
            return Err(StatisticsError::TooFew {
                what: "free cells of pairings by results",
                needed: self.parameters.len() + 1,
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
        let degrees = cells - self.parameters.len();
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
                needed: self.parameters.len() + 1,
                found: self.opening_count,
            }),
        }
    }

    fn check_agent(&self, agent: usize) -> Result<(), StatisticsError> {
        let agent_count = self.layout.strengths.len();
        if agent < agent_count { Ok(()) } else { Err(StatisticsError::UnknownAgent { agent, agent_count }) }
    }
}

/// Returns `xᵀ M x`.
fn form(matrix: &DMatrix<f64>, x: &DVector<f64>) -> f64 {
    x.dot(&(matrix * x))
}

/// Returns the cluster-robust covariance, if there are more openings than parameters, and their number.
fn sandwich(
    layout: &ParameterLayout,
    problem: &Problem,
    maximum: &Maximum,
    results: &[SeriesResult],
) -> (Option<DMatrix<f64>>, usize) {
    let parameter_count = maximum.parameters.len();
    let mut scores: BTreeMap<u64, DVector<f64>> = BTreeMap::new();
    for result in results.iter().filter(|result| result.games.games() > 0) {
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
    if opening_count < 2 || opening_count <= parameter_count {
        return (None, opening_count);
    }
    let mut middle = DMatrix::zeros(parameter_count, parameter_count);
    for score in scores.values() {
        middle.ger(1.0, score, score, 1.0);
    }
    let correction = opening_count as f64 / (opening_count as f64 - 1.0);
    (Some(&maximum.covariance * middle * &maximum.covariance * correction), opening_count)
}

/// Twice the difference of two nested log-likelihoods, chi-squared if the smaller model is right.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LikelihoodRatio {
    /// `2(ℓ₁ − ℓ₀)`, at least 0.
    pub statistic: f64,
    /// The number of parameters that the larger model has more.
    pub degrees: usize,
    /// The probability of a larger statistic under the smaller model.
    pub p: f64,
}

impl LikelihoodRatio {
    fn new(smaller: f64, larger: f64, degrees: usize) -> LikelihoodRatio {
        let statistic = (2.0 * (larger - smaller)).max(0.0);
        LikelihoodRatio { statistic, degrees, p: chi_squared_tail(statistic, degrees) }
    }
}

/// The change of the advantage with strength.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AdvantageByStrength {
    /// The change `λ` of the advantage per nat of mean strength, within ±[`STRENGTH_SLOPE_MAX`].
    pub slope: f64,
    /// The test of `λ = 0`.
    pub likelihood_ratio: LikelihoodRatio,
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

#[cfg(test)]
mod tests {
    use super::*;

    const MODELS: [DrawModel; 2] = [DrawModel::RaoKupper, DrawModel::Davidson];

    fn series(first: usize, second: usize, games: [u64; 3], opening: u64) -> SeriesResult {
        let [wins, draws, losses] = games;
        SeriesResult { first, second, games: WinDrawLoss::new(wins, draws, losses), opening }
    }

    fn three_agents() -> Vec<SeriesResult> {
        vec![
            series(0, 1, [62, 18, 20], 0),
            series(1, 0, [38, 22, 40], 1),
            series(0, 2, [70, 15, 15], 2),
            series(2, 0, [33, 20, 47], 3),
            series(1, 2, [55, 20, 25], 4),
            series(2, 1, [45, 22, 33], 5),
        ]
    }

    #[test]
    fn self_play_alone_gives_the_closed_form() {
        for model in MODELS {
            let games = WinDrawLoss::new(480, 240, 280);
            let fit = BradleyTerry::new(model, 1).fit(&[series(0, 0, [480, 240, 280], 0)]).unwrap();
            let closed = match model {
                DrawModel::RaoKupper => 0.5 * (480.0 / 280.0 * 720.0 / 520.0f64).ln(),
                DrawModel::Davidson => (480.0 / 280.0f64).ln(),
            };
            let advantage = fit.advantage(Covariance::Fisher).unwrap();
            assert!((advantage.value - closed).abs() < 1e-10);
            let draw_parameter = model.draw_parameter_of_equals([480.0, 240.0, 280.0]);
            assert!((fit.draw_parameter() - draw_parameter).abs() < 1e-10);
            let score = fit.equal_strength_score(Covariance::Fisher).unwrap();
            let plain = games.score().unwrap();
            assert!((score.mean() - plain.mean()).abs() < 1e-10);
            assert!((score.standard_error() - plain.standard_error()).abs() < 1e-10);
        }
    }

    #[test]
    fn davidson_reproduces_every_agents_points() {
        let results = three_agents();
        let fit = BradleyTerry::new(DrawModel::Davidson, 3).fit(&results).unwrap();
        for agent in 0..3 {
            let mut points = 0.0;
            let mut expected = 0.0;
            for result in &results {
                let games = result.games.games() as f64;
                let score = fit.probabilities(result.first, result.second).unwrap().score();
                if result.first == agent {
                    points += result.games.points();
                    expected += games * score;
                } else if result.second == agent {
                    points += games - result.games.points();
                    expected += games * (1.0 - score);
                }
            }
            assert!((points - expected).abs() < 1e-9);
        }
    }

    #[test]
    fn anchors_move_the_scale_and_nothing_else() {
        for model in MODELS {
            let at_zero = BradleyTerry::new(model, 3).fit(&three_agents()).unwrap();
            let shifted = BradleyTerry::new(model, 3).anchored([(2, 8.0)]).fit(&three_agents());
            let shifted = shifted.unwrap();
            assert!((at_zero.log_likelihood() - shifted.log_likelihood()).abs() < 1e-9);
            let one = at_zero.difference(0, 1, Covariance::Fisher).unwrap();
            let other = shifted.difference(0, 1, Covariance::Fisher).unwrap();
            assert!((one.value - other.value).abs() < 1e-9);
            assert!((one.standard_error - other.standard_error).abs() < 1e-9);
            let anchor = shifted.strength(2, Covariance::Fisher).unwrap();
            assert_eq!(anchor, Estimate { value: 8.0, standard_error: 0.0 });
            let two = BradleyTerry::new(model, 3).anchored([(0, 0.0), (1, -0.5)]);
            assert!(two.fit(&three_agents()).unwrap().log_likelihood() <= one_less(&at_zero));
        }
    }

    fn one_less(fit: &Fit) -> f64 {
        fit.log_likelihood() + 1e-9
    }

    #[test]
    fn copies_of_an_opening_do_not_shrink_the_clustered_error() {
        let results: Vec<SeriesResult> = (0..60u64)
            .map(|opening| {
                let games = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]][(opening % 4) as usize];
                series((opening / 4 % 2) as usize, ((opening / 4 + 1) % 2) as usize, games, opening)
            })
            .collect();
        let copied: Vec<SeriesResult> = results.iter().cycle().take(10 * results.len()).copied().collect();
        for model in MODELS {
            let fit = BradleyTerry::new(model, 2);
            let once = fit.fit(&results).unwrap().equal_strength_score(Covariance::Clustered);
            let ten = fit.fit(&copied).unwrap().equal_strength_score(Covariance::Clustered);
            let (once, ten) = (once.unwrap(), ten.unwrap());
            assert!((once.standard_error() - ten.standard_error()).abs() < 1e-9);
            let trusting = fit.fit(&copied).unwrap().equal_strength_score(Covariance::Fisher);
            assert!(trusting.unwrap().standard_error() < 0.4 * ten.standard_error());
        }
    }

    #[test]
    fn clusters_of_one_game_agree_with_the_fisher_information() {
        let mut results = Vec::new();
        for pairing in three_agents() {
            let games = pairing.games;
            for (result, count) in [([1, 0, 0], games.wins), ([0, 1, 0], games.draws), ([0, 0, 1], games.losses)] {
                for _ in 0..count {
                    let opening = results.len() as u64;
                    results.push(series(pairing.first, pairing.second, result, opening));
                }
            }
        }
        for model in MODELS {
            let fit = BradleyTerry::new(model, 3).fit(&results).unwrap();
            let clustered = fit.equal_strength_score(Covariance::Clustered).unwrap();
            let fisher = fit.equal_strength_score(Covariance::Fisher).unwrap();
            assert!((clustered.standard_error() / fisher.standard_error() - 1.0).abs() < 0.05);
        }
    }

    #[test]
    fn one_sided_games_are_fitted_with_a_prior_and_say_so() {
        for model in MODELS {
            for games in [[[50, 0, 0], [0, 0, 50]], [[50, 3, 0], [0, 2, 50]], [[0, 9, 0], [0, 9, 0]]] {
                let results = [series(0, 1, games[0], 0), series(1, 0, games[1], 1)];
                let fit = BradleyTerry::new(model, 2).fit(&results).unwrap();
                assert!(fit.regularised(), "{model:?} {games:?}");
                let difference = fit.difference(0, 1, Covariance::Fisher).unwrap();
                assert!(difference.value.is_finite() && difference.value >= -1e-9);
                assert!(difference.value * ELO_PER_NAT < 1_500.0);
                assert!(difference.standard_error.is_finite());
            }
            let always_first = [series(0, 1, [9, 0, 0], 0), series(1, 0, [9, 0, 0], 1)];
            let fit = BradleyTerry::new(model, 2).fit(&always_first).unwrap();
            assert!(fit.regularised());
            assert!(fit.equal_strength().score() > 0.9);
            let plain = BradleyTerry::new(model, 3).fit(&three_agents()).unwrap();
            assert!(!plain.regularised());
        }
    }

    #[test]
    fn games_that_say_nothing_are_errors() {
        let model = BradleyTerry::new(DrawModel::Davidson, 3);
        assert!(matches!(model.fit(&[]), Err(StatisticsError::NoObservations("games"))));
        assert!(matches!(
            model.fit(&[series(0, 7, [1, 1, 1], 0)]),
            Err(StatisticsError::UnknownAgent { agent: 7, agent_count: 3 })
        ));
        assert!(matches!(model.fit(&three_agents()[..2]), Err(StatisticsError::Unconnected { agent: 2 })));
        let seats_kept = [series(0, 1, [5, 5, 5], 0), series(0, 2, [5, 5, 5], 1)];
        assert!(matches!(model.fit(&seats_kept), Err(StatisticsError::Unidentified)));
        let fixed = model.clone().with_advantage(0.0).fit(&seats_kept).unwrap();
        assert_eq!(fixed.advantage(Covariance::Fisher).unwrap().standard_error, 0.0);
        assert!(matches!(
            model.clone().with_advantage(f64::NAN).fit(&three_agents()),
            Err(StatisticsError::OutOfRange { .. })
        ));
        let fit = model.fit(&three_agents()).unwrap();
        assert!(fit.strength(3, Covariance::Fisher).is_err());
        assert!(model.fit(&three_agents()[..1]).is_err());
    }

    #[test]
    fn a_changing_advantage_is_found_and_a_constant_one_is_not() {
        let expected = |slope: f64| -> Vec<SeriesResult> {
            let strengths = [0.0, 0.8, 1.6, 2.4];
            let mut results = Vec::new();
            for (first, one) in strengths.iter().enumerate() {
                for (second, other) in strengths.iter().enumerate() {
                    let delta = one - other + 0.3 + slope * (one + other) / 2.0;
                    let p = DrawModel::Davidson.probabilities(delta, 0.6).unwrap();
                    let count = |share: f64| (20_000.0 * share).round() as u64;
                    let games = [count(p.win), count(p.draw), count(p.loss)];
                    results.push(series(first, second, games, results.len() as u64));
                }
            }
            results
        };
        let model = BradleyTerry::new(DrawModel::Davidson, 4);
        let constant = expected(0.0);
        assert!(model.constant_advantage_test(&constant).unwrap().p > 0.9);
        let found = model.advantage_by_strength_test(&constant).unwrap();
        assert!(found.slope.abs() < 0.01 && found.likelihood_ratio.p > 0.5);
        assert!(model.fit(&constant).unwrap().goodness_of_fit().unwrap().p > 0.99);
        let changing = expected(0.2);
        assert!(model.constant_advantage_test(&changing).unwrap().p < 1e-6);
        let found = model.advantage_by_strength_test(&changing).unwrap();
        assert!((found.slope - 0.2).abs() < 0.01, "{found:?}");
        assert!(found.likelihood_ratio.p < 1e-6);
        assert!(model.fit(&changing).unwrap().goodness_of_fit().unwrap().p < 1e-6);
        let two = [series(0, 1, [5, 2, 3], 0), series(1, 0, [4, 2, 4], 1)];
        let two_agents = BradleyTerry::new(DrawModel::Davidson, 2);
        assert!(matches!(two_agents.advantage_by_strength_test(&two), Err(StatisticsError::Unidentified)));
        assert!(matches!(two_agents.constant_advantage_test(&two), Err(StatisticsError::Unidentified)));
    }

    #[test]
    fn shares_at_equal_strength_have_the_errors_of_proportions() {
        for model in MODELS {
            let fit = BradleyTerry::new(model, 1).fit(&[series(0, 0, [480, 240, 280], 0)]).unwrap();
            let shares = fit.equal_strength_probabilities(Covariance::Fisher).unwrap();
            for (found, share) in shares.into_iter().zip([0.48, 0.24, 0.28f64]) {
                assert!((found.value - share).abs() < 1e-9, "{model:?} {found:?}");
                let error = (share * (1.0 - share) / 1000.0).sqrt();
                assert!((found.standard_error - error).abs() < 1e-9, "{model:?} {found:?}, {error}");
            }
        }
    }
}

//! A joint fit of all agents of a ruleset: strengths `θ`, first-move advantage `γ`, draws. `Δ = θ_first − θ_second + γ` in
//! nats; [`DrawModel`] turns it into results. Nothing is shared between rulesets: one fit per ruleset is the whole fit.

mod fit;
mod likelihood;
mod separation;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::Serialize;

use super::distribution::chi_squared_tail;
use super::draw_model::DrawModel;
use super::error::StatisticsError;
use super::score::{ELO_PER_NAT, WinDrawLoss};
pub use fit::{Covariance, Fit, GoodnessOfFit};
use likelihood::{Maximum, ParameterLayout, Problem};
use separation::Separation;

/// Spread of the strengths in the prior that is used only when the games alone give no finite fit: 600 Elo.
pub const PRIOR_DEVIATION: f64 = 600.0 / ELO_PER_NAT;

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
    /// one. Without a drawn game the draw parameter is 0 and not estimated. An anchor shifts all strengths alike;
    /// several anchors fix the differences between them, as well.
    ///
    /// Where some agents took every point off others, the maximum lies at infinity: their groups ([`Fit::groups`])
    /// are infinitely far apart, and the games between them say nothing more. What is estimated is then the limit,
    /// from the games within the groups, and [`Fit::difference_interval`] bounds the distance of two groups.
    /// If the games within the groups give no finite fit either, a weak prior makes it finite and
    /// [`Fit::regularised`] says so: `θ ~ N(mean of the group, 600 Elo)` and one phantom game at equal strength,
    /// half won and half lost.
    /// Fails with [`StatisticsError::NoObservations`] without games; [`StatisticsError::UnknownAgent`] for an index out of
    /// range; [`StatisticsError::OutOfRange`] for an anchor or advantage that is not finite; [`StatisticsError::Unconnected`]
    /// for an agent without a chain of games to an anchor; [`StatisticsError::Unidentified`] when agents never change seats;
    /// [`StatisticsError::NoConvergence`].
    ///
    /// Source: Hunter 2004, Annals of Statistics 32, 384-406 (existence); Geyer 2009, Electronic Journal of
    /// Statistics 3, 259-289 (the limit at infinity); Coulom, BayesElo.
    pub fn fit(&self, results: &[SeriesResult]) -> Result<Fit, StatisticsError> {
        let layout = self.layout(results)?;
        let all = [(0..self.agent_count).collect()];
        Problem::new(self, &layout, results, 0.0, &all).check_identified()?;
        let separation = Separation::new(self, results);
        let groups = separation.groups();
        let mut problem = Problem::new(self, &layout, results, 0.0, &groups);
        let maximum = match problem.maximise() {
            Err(StatisticsError::Separated | StatisticsError::Unidentified) => {
                problem = problem.with_prior(&layout, &groups);
                problem.maximise()?
            }
            found => found?,
        };
        Ok(Fit::new(self, layout, separation, problem, maximum, results))
    }

    /// Tests "there is no first-move advantage" by the likelihood ratio, one degree of freedom.
    /// Fails as [`BradleyTerry::fit`], and [`StatisticsError::Separated`] or [`StatisticsError::Unidentified`] where the fit
    /// would need its prior.
    pub fn advantage_test(&self, results: &[SeriesResult]) -> Result<LikelihoodRatio, StatisticsError> {
        let without = self.clone().with_advantage(0.0).plain_maximum(results, 0.0)?;
        let mut with = self.clone();
        with.fixed_advantage = None;
        let with = with.plain_maximum(results, 0.0)?;
        Ok(LikelihoodRatio::new(without.log_likelihood, with.log_likelihood, 1))
    }

    /// Tests "the advantage is the same for every agent" against one advantage for each agent that plays first.
    /// Fails as [`BradleyTerry::advantage_test`]; [`StatisticsError::Unidentified`] with fewer than three agents.
    pub fn constant_advantage_test(&self, results: &[SeriesResult]) -> Result<LikelihoodRatio, StatisticsError> {
        let mut one = self.clone();
        one.fixed_advantage = None;
        let layout = one.layout(results)?;
        let single = one.plain_maximum(results, 0.0)?;
        let mut problem = Problem::new(&one, &layout, results, 0.0, &Separation::new(&one, results).groups());
        let shared = layout.advantage.expect("the advantage is estimated here");
        // The first agent to be met keeps the shared column, the others get one each.
        let mut columns: BTreeMap<usize, usize> = BTreeMap::new();
        for row in &mut problem.rows {
            let column = match columns.get(&row.first) {
                Some(&column) => column,
                None if columns.is_empty() => shared,
                None => {
                    problem.linear_count += 1;
                    problem.linear_count - 1
                }
            };
            columns.insert(row.first, column);
            for (index, _) in &mut row.terms {
                if *index == shared {
                    *index = column;
                }
            }
        }
        let extra = columns.len().saturating_sub(1);
        if extra == 0 {
            return Err(StatisticsError::Unidentified);
        }
        let each = problem.maximise()?;
        Ok(LikelihoodRatio::new(single.log_likelihood, each.log_likelihood, extra))
    }

    /// Tests "the advantage does not change with strength" against `γ + λ·(θ_first + θ_second)/2`.
    /// For a given `λ` the model is linear in the strengths, so `λ` is found by a search along the profile,
    /// within ±[`STRENGTH_SLOPE_MAX`].
    /// Fails as [`BradleyTerry::advantage_test`]; [`StatisticsError::Unidentified`] with two agents that do not also play
    /// themselves; [`StatisticsError::Separated`] with agents infinitely far apart.
    pub fn advantage_by_strength_test(&self, results: &[SeriesResult]) -> Result<AdvantageByStrength, StatisticsError> {
        const GRID: usize = 12;
        let mut model = self.clone();
        model.fixed_advantage = None;
        let layout = model.layout(results)?;
        if Separation::new(&model, results).groups().len() > 1 {
            return Err(StatisticsError::Separated);
        }
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

    fn plain_maximum(&self, results: &[SeriesResult], slope: f64) -> Result<Maximum, StatisticsError> {
        let layout = self.layout(results)?;
        Problem::new(self, &layout, results, slope, &Separation::new(self, results).groups()).maximise()
    }

    /// Checks that the derivative by the slope is no combination of the other parameters.
    fn check_slope_identified(
        &self,
        layout: &ParameterLayout,
        results: &[SeriesResult],
        constant: &Maximum,
    ) -> Result<(), StatisticsError> {
        let mut problem = Problem::new(self, layout, results, 0.0, &[(0..self.agent_count).collect()]);
        let slope_index = problem.linear_count;
        let strength = |agent: usize| layout.strength(agent, &constant.parameters);
        for row in &mut problem.rows {
            row.terms.push((slope_index, (strength(row.first) + strength(row.second)) / 2.0));
        }
        problem.linear_count += 1;
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
        let (&agent, &given) = self.anchors.first_key_value().expect("some agent is connected to an anchor");
        // The agents with given strengths share the first parameter.
        let mut linear_count = 1;
        let mut next = || {
            linear_count += 1;
            linear_count - 1
        };
        let strengths = (0..self.agent_count)
            .map(|agent| match self.anchors.get(&agent) {
                Some(&strength) => (0, strength - given),
                None => (next(), 0.0),
            })
            .collect();
        let advantage = self.fixed_advantage.is_none().then(&mut next);
        let fixed_advantage = self.fixed_advantage.unwrap_or(0.0);
        Ok(ParameterLayout { strengths, anchor: (agent, given), advantage, fixed_advantage, linear_count })
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

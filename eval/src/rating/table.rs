//! The table of a joint fit of all agents.

use std::collections::BTreeMap;

use serde::Serialize;

use latrunculi_stats::bradley_terry::{AdvantageByStrength, GoodnessOfFit, LikelihoodRatio};
use latrunculi_stats::score::EloEstimate;
use latrunculi_stats::{
    BradleyTerry, Confidence, Covariance, DrawModel, ELO_PER_NAT, Estimate, Fit, Interval, SeriesResult,
    StatisticsError, WinDrawLoss,
};

use crate::Number;

/// What is asked of a fit.
#[derive(Clone, Debug)]
pub struct FitSettings {
    /// How draws arise.
    pub model: DrawModel,
    /// The ratings in Elo that are given, by agent; empty for agent 0 at 0.
    pub anchors: BTreeMap<usize, f64>,
    /// The confidence of all intervals.
    pub confidence: Confidence,
}

impl Default for FitSettings {
    fn default() -> Self {
        FitSettings { model: DrawModel::Davidson, anchors: BTreeMap::new(), confidence: Confidence::NINETY_FIVE }
    }
}

/// The joint fit of all agents under one ruleset.
#[derive(Clone, Debug, Serialize)]
pub struct RatingTable {
    /// How draws arise.
    pub model: DrawModel,
    /// The agents, strongest first.
    pub agents: Vec<AgentRating>,
    /// How likely the agent of the row is stronger than that of the column, in `[0, 1]`, both in the order of
    /// `agents`; `None` on the diagonal, between two anchors, and where no games compare the two.
    pub superiority: Vec<Vec<Option<f64>>>,
    /// The first-move advantage `γ` at equal strength, in Elo.
    pub advantage: Rated,
    /// `ν` (Davidson) or `δ` in nats (Rao-Kupper); 0 if no game was drawn.
    pub draw_parameter: f64,
    /// What the first player may expect of an opponent as strong as himself.
    pub equal_strength: EqualStrength,
    /// Which errors the intervals come from.
    pub errors: ErrorKind,
    /// The model against the table of agents by seats.
    pub goodness_of_fit: Test<GoodnessOfFit>,
    /// "There is no first-move advantage" against "there is one".
    pub advantage_test: Test<LikelihoodRatio>,
    /// "The advantage is the same for all agents" against "every agent has one of its own".
    pub constant_advantage_test: Test<LikelihoodRatio>,
    /// "The advantage does not change with strength" against "it does".
    pub advantage_by_strength: Test<AdvantageByStrength>,
    /// Groups of agents, best first, of which each took every point against the later ones that it met: their distance is
    /// bounded from one side only. One group where all ratings are finite; anchors are in one.
    pub separation: Vec<Vec<String>>,
    /// Whether the games within the groups gave no finite fit, so that a weak prior was added.
    pub is_regularised: bool,
    /// The confidence of all intervals.
    pub confidence: f64,
}

/// One agent's rating.
#[derive(Clone, Debug, Serialize)]
pub struct AgentRating {
    /// Its text.
    pub agent: String,
    /// Its rating in Elo.
    pub elo: Rated,
    /// Whether the rating was given, so that it has no interval.
    pub is_anchor: bool,
    /// Its results against all others.
    pub games: WinDrawLoss,
    /// Its mean score against all others.
    pub score: Option<f64>,
}

/// An estimate with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Rated {
    /// The point estimate; `±∞` where the games give but a bound, NaN where not even that. In JSON what is not finite is `null`.
    pub value: f64,
    /// Its standard error; 0 for what was given, infinite where there is no finite estimate.
    pub standard_error: f64,
    /// Its interval; an end may be infinite.
    pub interval: Interval,
}

impl Rated {
    fn new(estimate: Estimate, confidence: Confidence) -> Rated {
        let Estimate { value, standard_error } = estimate;
        Rated { value, standard_error, interval: estimate.interval(confidence) }
    }

    /// Returns in words what the games say where there is no finite estimate: a bound, or nothing; `None` where there is one.
    #[must_use]
    pub fn bound_text(&self, decimals: usize) -> Option<String> {
        let Interval { lower, upper } = self.interval;
        match (lower.is_finite(), upper.is_finite()) {
            (true, true) => None,
            (true, false) => Some(format!("at least {:+.decimals$}", Number(lower))),
            (false, true) => Some(format!("at most {:+.decimals$}", Number(upper))),
            (false, false) => Some("not compared".to_owned()),
        }
    }

    pub(crate) fn elo(
        fit: &Fit,
        agent: usize,
        covariance: Covariance,
        confidence: Confidence,
    ) -> Result<Rated, StatisticsError> {
        match fit.strength(agent, covariance) {
            Ok(strength) => Ok(Rated::new(strength.scaled(ELO_PER_NAT), confidence)),
            Err(StatisticsError::Separated) => {
                let Interval { lower, upper } = fit.strength_interval(agent, covariance, confidence)?;
                let interval = Interval { lower: lower * ELO_PER_NAT, upper: upper * ELO_PER_NAT };
                // The end that is finite is the other one; from −∞ to ∞ the sum is not a number.
                let value = if lower.is_finite() { upper } else { lower + upper };
                Ok(Rated { value, standard_error: f64::INFINITY, interval })
            }
            Err(error) => Err(error),
        }
    }

    /// As [`Rated::new`], the interval cut to `[0, 1]`.
    fn share(estimate: Estimate, confidence: Confidence) -> Rated {
        let rated = Rated::new(estimate, confidence);
        Rated { interval: rated.interval.clamped(0.0, 1.0), ..rated }
    }
}

/// The results of a game between equally strong agents, for the player who begins.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct EqualStrength {
    /// Probability that he wins.
    pub win: Rated,
    /// Probability of a draw.
    pub draw: Rated,
    /// Probability that he loses.
    pub loss: Rated,
    /// His expected score.
    pub score: Rated,
    /// The logistic Elo difference that the score amounts to; not the `γ` of the model.
    pub elo: EloEstimate,
}

/// Where the errors come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The sandwich by opening.
    ClusteredByOpening,
    /// The joint Fisher information, a prior's included: there were no more openings than parameters, the games of every opening
    /// say the same of the advantage or of a strength, or a prior holds the fit, which openings do not vary.
    FisherInformation,
}

/// A test, or why there is none.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Test<T> {
    /// What it gave.
    Done(T),
    /// Why the games allow none.
    Refused(String),
}

impl<T> Test<T> {
    /// Returns the test with another view of what it gave.
    pub fn map<U>(&self, view: impl FnOnce(&T) -> U) -> Test<U> {
        match self {
            Test::Done(found) => Test::Done(view(found)),
            Test::Refused(reason) => Test::Refused(reason.clone()),
        }
    }
}

impl<T> From<Result<T, StatisticsError>> for Test<T> {
    fn from(result: Result<T, StatisticsError>) -> Test<T> {
        match result {
            Ok(value) => Test::Done(value),
            Err(StatisticsError::Separated) => {
                Test::Refused("some agents took every point, so that their distance has no bound".to_owned())
            }
            Err(StatisticsError::Unidentified) => {
                Test::Refused("the games of agents that took points off one another are too few for it".to_owned())
            }
            Err(error) => Test::Refused(error.to_string()),
        }
    }
}

impl RatingTable {
    /// Fits all agents at once.
    ///
    /// `agents` are their texts; `results` name them by index, each from the view of whoever began the game.
    ///
    /// # Errors
    /// As [`BradleyTerry::fit`].
    pub fn fit(
        agents: &[String],
        results: &[SeriesResult],
        settings: &FitSettings,
    ) -> Result<RatingTable, StatisticsError> {
        let anchors: BTreeMap<usize, f64> =
            if settings.anchors.is_empty() { BTreeMap::from([(0, 0.0)]) } else { settings.anchors.clone() };
        let in_nats = anchors.iter().map(|(&agent, &elo)| (agent, elo / ELO_PER_NAT));
        let model = BradleyTerry::new(settings.model, agents.len()).anchored(in_nats);
        let fit = model.fit(results)?;
        let groups = fit.groups();
        let (errors, covariance) = if !fit.regularised() && clustering_tells(&fit, &groups)? {
            (ErrorKind::ClusteredByOpening, Covariance::Clustered)
        } else {
            (ErrorKind::FisherInformation, Covariance::Fisher)
        };
        let of_fit = FittedAgents { fit: &fit, covariance, confidence: settings.confidence };

        let mut order = Vec::with_capacity(agents.len());
        for group in &groups {
            let mut members: Vec<(f64, usize)> = Vec::with_capacity(group.len());
            for &agent in group {
                members.push((fit.difference(agent, group[0], covariance)?.value, agent));
            }
            members.sort_by(|(one, first), (other, second)| {
                other.total_cmp(one).then_with(|| agents[*first].cmp(&agents[*second]))
            });
            order.extend(members.into_iter().map(|(_, agent)| agent));
        }
        let mut rated = Vec::with_capacity(agents.len());
        for &index in &order {
            let games = games_of(index, results);
            let elo = match anchors.get(&index) {
                Some(&value) => Rated::new(Estimate { value, standard_error: 0.0 }, settings.confidence),
                None => Rated::elo(&fit, index, covariance, settings.confidence)?,
            };
            let is_anchor = anchors.contains_key(&index);
            let agent = agents[index].clone();
            rated.push(AgentRating { agent, elo, is_anchor, games, score: games.mean() });
        }
        Ok(RatingTable {
            model: settings.model,
            superiority: of_fit.superiority(&order)?,
            agents: rated,
            advantage: Rated::new(fit.advantage(covariance)?.scaled(ELO_PER_NAT), settings.confidence),
            draw_parameter: fit.draw_parameter(),
            equal_strength: of_fit.equal_strength()?,
            errors,
            goodness_of_fit: fit.goodness_of_fit().into(),
            advantage_test: model.advantage_test(results).into(),
            constant_advantage_test: model.constant_advantage_test(results).into(),
            advantage_by_strength: model.advantage_by_strength_test(results).into(),
            separation: groups
                .into_iter()
                .map(|group| group.into_iter().map(|agent| agents[agent].clone()).collect())
                .collect(),
            is_regularised: fit.regularised(),
            confidence: settings.confidence.level(),
        })
    }
}

/// Below this ratio to the Fisher information's error, one clustered by opening is rounding alone.
const ROUNDING: f64 = 1e-6;

/// Returns whether openings differ enough to estimate errors from them. If one agent wins all games of every pair, the pairs
/// contribute nothing to the score of the advantage, and if one seat does, nothing to that of the strengths: the clustered error
/// would be zero although little is known.
fn clustering_tells(fit: &Fit, groups: &[Vec<usize>]) -> Result<bool, StatisticsError> {
    let tells = |fisher: Estimate, clustered: Estimate| {
        fisher.standard_error == 0.0 || clustered.standard_error > ROUNDING * fisher.standard_error
    };
    let (fisher, clustered) = (Covariance::Fisher, Covariance::Clustered);
    let Ok(advantage) = fit.advantage(clustered) else { return Ok(false) };
    let mut all_tell = tells(fit.advantage(fisher)?, advantage);
    // Every difference, as the anchor must not decide which errors are told.
    for group in groups {
        for (index, &one) in group.iter().enumerate() {
            for &other in &group[..index] {
                all_tell &= tells(fit.difference(one, other, fisher)?, fit.difference(one, other, clustered)?);
            }
        }
    }
    Ok(all_tell)
}

struct FittedAgents<'a> {
    fit: &'a Fit,
    covariance: Covariance,
    confidence: Confidence,
}

impl FittedAgents<'_> {
    fn superiority(&self, order: &[usize]) -> Result<Vec<Vec<Option<f64>>>, StatisticsError> {
        let likelihood = |one: usize, other: usize| -> Result<Option<f64>, StatisticsError> {
            if one == other {
                return Ok(None);
            }
            self.fit.likelihood_stronger(one, other, self.covariance)
        };
        order.iter().map(|&one| order.iter().map(|&other| likelihood(one, other)).collect()).collect()
    }

    fn equal_strength(&self) -> Result<EqualStrength, StatisticsError> {
        let share = |estimate| Rated::share(estimate, self.confidence);
        let [win, draw, loss] = self.fit.equal_strength_probabilities(self.covariance)?.map(share);
        let found = self.fit.equal_strength_score(self.covariance)?;
        let score = share(Estimate { value: found.mean(), standard_error: found.standard_error() });
        let elo = EloEstimate::of_score(score.value, Some(score.interval));
        Ok(EqualStrength { win, draw, loss, score, elo })
    }
}

/// Returns an agent's results against all others.
fn games_of(agent: usize, results: &[SeriesResult]) -> WinDrawLoss {
    let mut games = WinDrawLoss::default();
    for result in results.iter().filter(|result| result.first != result.second) {
        if result.first == agent {
            games += result.games;
        } else if result.second == agent {
            games += result.games.reversed();
        }
    }
    games
}

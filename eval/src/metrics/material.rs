//! Piece values, fitted to the results of games.

use latrunculi_engine::{Action, Player, Position, Rules};
use nalgebra::{DMatrix, DVector};
use serde::{Deserialize, Serialize};

use super::estimates::{MetricEstimate, Sampling};
use super::trace::Trace;
use latrunculi_engine::named;
use latrunculi_stats::cholesky::cholesky;

/// The number of random actions of a game tried to find one that begins a turn in a quiet position.
pub(super) const QUIET_DRAWS: usize = 16;
/// The number of positions needed for each weight.
const POSITIONS_PER_WEIGHT: usize = 10;
/// The regularisation of every weight towards 0, equivalent to this number of drawn games with one typical unit of its
/// feature.
const REGULARISATION: f64 = 0.5;
/// The largest number of steps of a fit.
const STEPS_MAX: usize = 50;

named! {
    /// A material or mobility difference between the players.
    #[derive(PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub PieceFeature {
        /// Being the player to act.
        Tempo = "being the player to act",
        /// Men on the board.
        Men = "one man more",
        /// The dux on the board.
        Dux = "having the dux",
        /// Men on the board that are bound.
        BoundMen = "one bound man more",
        /// The moves a player would have if it were that player's turn.
        Mobility = "one possible move more",
    }
}

/// Piece values: the weights `w` that minimise `Σ(z − tanh(w·x))²`.
///
/// `x` holds the feature differences for the player to act, `z` in `{-1, 0, 1}` that player's result. Each game
/// gives one position, drawn at random among the starts of turns of the movement phase without a capture.
/// Features that do not vary or are combinations of others are left out. A slight regularisation towards 0
/// keeps the weights finite if one side always won.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PieceValues {
    /// Positions, one a game at most.
    pub positions: u64,
    /// The weights.
    pub weights: Vec<PieceWeight>,
    /// The fraction of the variance of the results that the fit explains, `1 − Σ(z − tanh)²/Σ(z − z̄)²`.
    pub explained: f64,
}

/// The weight of one feature.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PieceWeight {
    /// The feature.
    pub feature: PieceFeature,
    /// Its weight inside the `tanh`, per unit.
    pub weight: MetricEstimate,
    /// The same in men: divided by the weight of a man. `None` where that may be 0.
    pub in_men: Option<MetricEstimate>,
}

/// A position without a capture for the player to act.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct QuietPosition {
    pub(super) player: Player,
    /// The feature differences, in the order of [`PieceFeature::ALL`].
    pub(super) features: [f64; 5],
    /// That player's result: 1, 0 or −1.
    pub(super) result: f64,
}

impl QuietPosition {
    /// Describes a position; `None` if one of its `legal` actions captures.
    pub(super) fn new(rules: &Rules, position: &Position, legal: &[Action]) -> Option<QuietPosition> {
        if legal.iter().any(|&action| !rules.taken_by(position, action).is_empty()) {
            return None;
        }
        let player = position.player_to_act();
        let more = |count: &dyn Fn(Player) -> u32| f64::from(count(player)) - f64::from(count(player.opponent()));
        let features = PieceFeature::ALL.map(|feature| match feature {
            PieceFeature::Tempo => 1.0,
            PieceFeature::Men => more(&|player| position.men(player).len()),
            PieceFeature::Dux => more(&|player| u32::from(position.dux(player).is_some())),
            PieceFeature::BoundMen => more(&|player| (position.men(player) & position.bound()).len()),
            PieceFeature::Mobility => more(&|player| rules.mobility(position, player)),
        });
        Some(QuietPosition { player, features, result: 0.0 })
    }
}

/// One position of the regression: feature differences and result for the player to act.
struct Row {
    x: DVector<f64>,
    z: f64,
}

/// Returns the weights that minimise `Σ(z − tanh(w·x))² + Σ pull·w²`, starting from `start`, by the
/// Levenberg-Marquardt method.
fn fit(rows: &[&Row], pulls: &[f64], start: &DVector<f64>, tolerance: f64) -> Option<DVector<f64>> {
    let loss = |weights: &DVector<f64>| {
        let pull: f64 = weights.iter().zip(pulls).map(|(weight, pull)| pull * weight * weight).sum();
        rows.iter().map(|row| (row.z - weights.dot(&row.x).tanh()).powi(2)).sum::<f64>() + pull
    };
    let mut weights = start.clone();
    let mut best = loss(&weights);
    let mut damping = 1e-4;
    for _ in 0..STEPS_MAX {
        let mut normal = DMatrix::zeros(weights.len(), weights.len());
        let mut slope = DVector::zeros(weights.len());
        for row in rows {
            let expected = weights.dot(&row.x).tanh();
            let steepness = 1.0 - expected * expected;
            normal.ger(steepness * steepness, &row.x, &row.x, 1.0);
            slope.axpy(steepness * (row.z - expected), &row.x, 1.0);
        }
        for (k, (&weight, &pull)) in weights.iter().zip(pulls).enumerate() {
            slope[k] -= pull * weight;
            normal[(k, k)] += pull;
            normal[(k, k)] += damping * normal[(k, k)];
        }
        let next = &weights + cholesky(normal)?.solve(&slope);
        let reached = loss(&next);
        if reached < best {
            let is_settled = best - reached <= tolerance * best;
            (weights, best) = (next, reached);
            damping /= 10.0;
            if is_settled {
                break;
            }
        } else {
            damping *= 10.0;
            if damping > 1e6 {
                break;
            }
        }
    }
    Some(weights)
}

/// Returns the features that vary over the positions and are no combination of earlier ones.
fn independent_features(positions: &[(usize, QuietPosition)]) -> Vec<usize> {
    let mut kept = Vec::new();
    for feature in 0..PieceFeature::ALL.len() {
        kept.push(feature);
        let mut moments = DMatrix::zeros(kept.len(), kept.len());
        for (_, position) in positions {
            let x = DVector::from_iterator(kept.len(), kept.iter().map(|&feature| position.features[feature]));
            moments.ger(1.0, &x, &x, 1.0);
        }
        if cholesky(moments).is_none() {
            kept.pop();
        }
    }
    kept
}

impl PieceValues {
    pub(super) fn measure(traces: &[Trace], sampling: &Sampling<'_>) -> Option<PieceValues> {
        let positions: Vec<(usize, QuietPosition)> =
            traces.iter().enumerate().filter_map(|(game, trace)| Some((game, trace.quiet?))).collect();
        let features = independent_features(&positions);
        if features.is_empty() || positions.len() < POSITIONS_PER_WEIGHT * features.len() {
            return None;
        }
        let men = features.iter().position(|&feature| PieceFeature::ALL[feature] == PieceFeature::Men);
        let mut by_opening: Vec<Vec<Row>> = (0..sampling.openings).map(|_| Vec::new()).collect();
        for (game, position) in &positions {
            let x = DVector::from_iterator(features.len(), features.iter().map(|&feature| position.features[feature]));
            by_opening[sampling.opening_of[*game]].push(Row { x, z: position.result });
        }
        let all: Vec<&Row> = by_opening.iter().flatten().collect();
        let mean_square = |column: usize| all.iter().map(|row| row.x[column].powi(2)).sum::<f64>() / all.len() as f64;
        let pulls: Vec<f64> = (0..features.len()).map(|column| REGULARISATION * mean_square(column)).collect();
        let weights = fit(&all, &pulls, &DVector::zeros(features.len()), 1e-12)?;
        let mean = all.iter().map(|row| row.z).sum::<f64>() / all.len() as f64;
        let left: f64 = all.iter().map(|row| (row.z - weights.dot(&row.x).tanh()).powi(2)).sum();
        let spread: f64 = all.iter().map(|row| (row.z - mean).powi(2)).sum();

        let ratios = |weights: &DVector<f64>| -> Vec<f64> {
            let man = men.map_or(1.0, |men| weights[men]);
            weights.iter().copied().chain(weights.iter().map(|weight| weight / man)).collect()
        };
        let statistic = |openings: &[usize]| {
            let rows: Vec<&Row> = openings.iter().flat_map(|&opening| &by_opening[opening]).collect();
            Some(ratios(&fit(&rows, &pulls, &weights, 1e-6)?))
        };
        let band = sampling.bootstrap("piece values", sampling.openings).run(statistic).ok();
        let intervals = band.map(|band| band.percentiles(sampling.confidence));
        let values = ratios(&weights);
        let observations = positions.len() as u64;
        let measured = |column: usize| {
            let interval = intervals.as_ref().map(|intervals| intervals[column]);
            MetricEstimate {
                value: values[column],
                interval: interval.filter(|interval| interval.lower < interval.upper),
                observations,
            }
        };
        // A ratio to a man is meaningless if the value of a man may be 0.
        let is_man_worth = men.is_some_and(|men| measured(men).interval.is_some_and(|interval| interval.lower > 0.0));
        let weight = |column: usize| PieceWeight {
            feature: PieceFeature::ALL[features[column]],
            weight: measured(column),
            in_men: is_man_worth.then(|| measured(features.len() + column)),
        };
        Some(PieceValues {
            positions: observations,
            weights: (0..features.len()).map(weight).collect(),
            explained: if spread > 0.0 { 1.0 - left / spread } else { 0.0 },
        })
    }
}

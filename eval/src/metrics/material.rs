//! What pieces are worth, from how games end.

use latrunculi_engine::{Action, Player, Position, Rules};
use serde::{Deserialize, Serialize};

use super::estimates::{Measured, Sampling};
use super::trace::Trace;
use crate::statistics::linear_algebra::{SymmetricMatrix, dot};

/// So many actions of a game are tried for one that begins a turn in a quiet position.
pub(super) const QUIET_DRAWS: usize = 16;
/// So many positions are needed for each weight.
const POSITIONS_PER_WEIGHT: usize = 10;
/// The pull of every weight towards 0: as much as that of so many drawn games with one typical unit of its feature.
const PULL: f64 = 0.5;
/// A fit ends after so many steps at the latest.
const STEPS_MAX: usize = 50;

/// Something that a player may have more of than his opponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Feature {
    /// Being the one to act.
    Tempo,
    /// Men on the board.
    Men,
    /// The dux on the board.
    Dux,
    /// Bound men, less of them being better.
    BoundMen,
    /// Moves that his pieces would have if it were his turn.
    Mobility,
}

/// What pieces are worth: the weights `w` that minimise `Σ(z − tanh(w·x))²`.
///
/// `x` is what the player to act has more of than his opponent, `z` in `{-1, 0, 1}` the result for him. Each
/// game gives one position, drawn at random among the beginnings of turns of the movement phase at which
/// the player to act can take nothing. Features that do not vary, or follow from the others, are left out. A
/// slight pull of all weights towards 0 keeps them finite where one side always won.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PieceValues {
    /// Positions, one a game at most.
    pub positions: u64,
    /// The weights.
    pub weights: Vec<FeatureWeight>,
    /// The share of the variance of the results that the fit explains, `1 − Σ(z − tanh)²/Σ(z − z̄)²`.
    pub explained: f64,
}

/// The weight of one feature.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FeatureWeight {
    /// The feature.
    pub feature: Feature,
    /// Its weight inside the `tanh`, per unit.
    pub weight: Measured,
    /// The same in men: divided by the weight of a man. `None` where that may be 0.
    pub in_men: Option<Measured>,
}

impl Feature {
    const ALL: [Feature; 5] = [Feature::Tempo, Feature::Men, Feature::Dux, Feature::BoundMen, Feature::Mobility];
}

/// A position at which the player to act can take nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct QuietPosition {
    /// Who is to act.
    pub(super) player: Player,
    /// What he has more of than his opponent, in the order of [`Feature::ALL`].
    pub(super) features: [f64; 5],
    /// The result for him: 1, 0 or −1.
    pub(super) result: f64,
}

impl QuietPosition {
    /// Describes a position; `None` if one of its `legal` actions takes something.
    pub(super) fn new(rules: &Rules, position: &Position, legal: &[Action]) -> Option<QuietPosition> {
        if legal.iter().any(|&action| rules.captures_of(position, action) > 0) {
            return None;
        }
        let player = position.player_to_act();
        let more = |count: &dyn Fn(Player) -> u32| f64::from(count(player)) - f64::from(count(player.opponent()));
        let features = Feature::ALL.map(|feature| match feature {
            Feature::Tempo => 1.0,
            Feature::Men => more(&|player| position.men(player).len()),
            Feature::Dux => more(&|player| u32::from(position.dux(player).is_some())),
            Feature::BoundMen => more(&|player| (position.men(player) & position.bound()).len()),
            Feature::Mobility => more(&|player| rules.mobility(position, player)),
        });
        Some(QuietPosition { player, features, result: 0.0 })
    }
}

/// One position of the regression: what the player to act has more of, and the result for him.
struct Row {
    x: Vec<f64>,
    z: f64,
}

/// Returns the weights that minimise `Σ(z − tanh(w·x))² + Σ pull·w²`, from `start` on, by Levenberg's and
/// Marquardt's method.
fn fit(rows: &[&Row], pulls: &[f64], start: &[f64], tolerance: f64) -> Option<Vec<f64>> {
    let loss = |weights: &[f64]| {
        let pull: f64 = weights.iter().zip(pulls).map(|(weight, pull)| pull * weight * weight).sum();
        rows.iter().map(|row| (row.z - dot(weights, &row.x).tanh()).powi(2)).sum::<f64>() + pull
    };
    let mut weights = start.to_vec();
    let mut best = loss(&weights);
    let mut damping = 1e-4;
    for _ in 0..STEPS_MAX {
        let mut normal = SymmetricMatrix::zeros(weights.len());
        let mut slope = vec![0.0; weights.len()];
        for row in rows {
            let expected = dot(&weights, &row.x).tanh();
            let steepness = 1.0 - expected * expected;
            normal.add_outer(&row.x, steepness * steepness);
            slope.iter_mut().zip(&row.x).for_each(|(sum, x)| *sum += steepness * x * (row.z - expected));
        }
        for (k, (&weight, &pull)) in weights.iter().zip(pulls).enumerate() {
            slope[k] -= pull * weight;
            normal.add(k, k, pull);
            normal.add(k, k, damping * normal.at(k, k));
        }
        let step = normal.cholesky()?.solve(&slope);
        let next: Vec<f64> = weights.iter().zip(&step).map(|(weight, step)| weight + step).collect();
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

/// Returns the features that vary over the positions and do not follow from those before them.
fn independent_features(positions: &[(usize, QuietPosition)]) -> Vec<usize> {
    let mut kept = Vec::new();
    for feature in 0..Feature::ALL.len() {
        kept.push(feature);
        let mut moments = SymmetricMatrix::zeros(kept.len());
        for (_, position) in positions {
            let x: Vec<f64> = kept.iter().map(|&feature| position.features[feature]).collect();
            moments.add_outer(&x, 1.0);
        }
        if moments.cholesky().is_none() {
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
        let men = features.iter().position(|&feature| Feature::ALL[feature] == Feature::Men);
        let mut by_opening: Vec<Vec<Row>> = (0..sampling.openings).map(|_| Vec::new()).collect();
        for (game, position) in &positions {
            let x = features.iter().map(|&feature| position.features[feature]).collect();
            by_opening[sampling.opening_of[*game]].push(Row { x, z: position.result });
        }
        let all: Vec<&Row> = by_opening.iter().flatten().collect();
        let mean_square = |column: usize| all.iter().map(|row| row.x[column].powi(2)).sum::<f64>() / all.len() as f64;
        let pulls: Vec<f64> = (0..features.len()).map(|column| PULL * mean_square(column)).collect();
        let weights = fit(&all, &pulls, &vec![0.0; features.len()], 1e-12)?;
        let mean = all.iter().map(|row| row.z).sum::<f64>() / all.len() as f64;
        let left: f64 = all.iter().map(|row| (row.z - dot(&weights, &row.x).tanh()).powi(2)).sum();
        let spread: f64 = all.iter().map(|row| (row.z - mean).powi(2)).sum();

        let ratios = |weights: &[f64]| -> Vec<f64> {
            let man = men.map_or(1.0, |men| weights[men]);
            weights.iter().copied().chain(weights.iter().map(|weight| weight / man)).collect()
        };
        let statistic = |openings: &[usize]| {
            let rows: Vec<&Row> = openings.iter().flat_map(|&opening| &by_opening[opening]).collect();
            Some(ratios(&fit(&rows, &pulls, &weights, 1e-6)?))
        };
        let band = sampling.bootstrap("piece values", sampling.openings).run_band(statistic).ok();
        let intervals = band.map(|band| band.percentiles(sampling.confidence));
        let values = ratios(&weights);
        let observations = positions.len() as u64;
        let measured = |column: usize| {
            let interval = intervals.as_ref().map(|intervals| intervals[column]);
            Measured {
                value: values[column],
                interval: interval.filter(|interval| interval.lower < interval.upper),
                observations,
            }
        };
        // A ratio to a man means nothing where a man may be worth nothing.
        let is_man_worth = men.is_some_and(|men| measured(men).interval.is_some_and(|interval| interval.lower > 0.0));
        let weight = |column: usize| FeatureWeight {
            feature: Feature::ALL[features[column]],
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

//! Conversion of recorded values to the first player's expected score, and its calibration.
//!
//! A recorded value `v` is in `[-1, 1]` for the player to act. Its latent strength is `x = atanh v`; the expected
//! score is `p = 1/(1 + e^(−2kx))`, with one scale `k` for each agent under each ruleset. With `k = 1` that is
//! `(1 + v)/2`, as for tree searches. Alpha-beta records `tanh(score/400)` with its score in
//! hundredths of a man, so `2k/400` is the logistic slope per hundredth of a man. A value of ±1 is a proved
//! result and stays 1 or 0. The scale is fitted to the games themselves: it maximises the
//! likelihood of the results (a draw counts half a win and half a loss); every game has the same weight,
//! whatever its number of values. There is no constant term: a value of 0 is ½, so the gap between the values
//! at the start and the results stays visible.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::estimates::{MetricEstimate, Sampling};
use latrunculi_stats::Estimate;

/// The scale of one agent's values under one ruleset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentScale {
    /// The agent's text.
    pub agent: String,
    /// The scale `k`, at least 0; the observations are games with values of this agent.
    pub scale: MetricEstimate,
}

/// How well expected scores agree with results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Mean squared difference between expected score and result (1, ½, 0); the observations are games.
    pub brier: MetricEstimate,
    /// The same if every game were expected to end with the mean score: what knowing nothing costs.
    pub brier_of_mean: f64,
    /// The mean over bins, by their weight, of the difference between mean expected and mean real score.
    pub expected_calibration_error: f64,
    /// By tenth of the expected score; empty tenths are left out.
    pub bins: Vec<CalibrationBin>,
}

/// Games whose expected score lies in one tenth of the scale.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CalibrationBin {
    /// The tenth, 0 to 9; the last one includes 1.
    pub tenth: u8,
    /// The first player's mean expected score.
    pub expected: f64,
    /// His mean score; the observations are games.
    pub score: MetricEstimate,
}

/// The largest scale: beyond it every value but 0 is as good as a result.
const SCALE_MAX: f64 = 50.0;

pub(super) struct AgentGame {
    pub(super) game: usize,
    pub(super) score: f64,
    /// Its values, in `[-1, 1]` for itself.
    pub(super) values: Vec<f32>,
}

/// Returns the expected score, in `[0, 1]`, of a player whose value is `value`.
pub(super) fn expected_score(value: f32, scale: f64) -> f64 {
    if value >= 1.0 {
        1.0
    } else if value <= -1.0 {
        0.0
    } else {
        logistic(2.0 * scale * f64::from(value).atanh())
    }
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

impl AgentScale {
    /// Fits the scale of an agent; `None` if it has no values but 0 and ±1.
    ///
    /// The log-likelihood is concave in the scale; its slope is found 0 by Newton steps inside a bracket. The
    /// standard error is the sandwich over openings.
    pub(super) fn fit(agent: &str, games: &[AgentGame], sampling: &Sampling<'_>) -> Option<AgentScale> {
        // Per game: the latent strengths, doubled, and the score.
        let latent: Vec<(usize, Vec<f64>, f64)> = games
            .iter()
            .map(|game| {
                let inside = game.values.iter().filter(|value| value.abs() < 1.0);
                (game.game, inside.map(|&value| 2.0 * f64::from(value).atanh()).collect(), game.score)
            })
            .filter(|(_, strengths, _): &(_, Vec<f64>, _)| strengths.iter().any(|&strength| strength != 0.0))
            .collect();
        if latent.is_empty() {
            return None;
        }
        let game_slope = |strengths: &[f64], score: f64, scale: f64| {
            let (mut slope, mut curvature) = (0.0, 0.0);
            for &strength in strengths {
                let expected = logistic(scale * strength);
                slope += strength * (score - expected);
                curvature += strength * strength * expected * (1.0 - expected);
            }
            (slope / strengths.len() as f64, curvature / strengths.len() as f64)
        };
        let slope_at = |scale: f64| {
            latent.iter().fold((0.0, 0.0), |sum, (_, strengths, score)| {
                let (slope, curvature) = game_slope(strengths, *score, scale);
                (sum.0 + slope, sum.1 + curvature)
            })
        };
        let scale = root_inside(slope_at);
        let mut by_opening = vec![0.0; sampling.openings];
        let mut with_values = vec![false; sampling.openings];
        for (game, strengths, score) in &latent {
            by_opening[sampling.opening_of[*game]] += game_slope(strengths, *score, scale).0;
            with_values[sampling.opening_of[*game]] = true;
        }
        let openings = with_values.iter().filter(|&&with| with).count() as f64;
        let squares: f64 = by_opening.iter().map(|slope| slope * slope).sum();
        let is_inside = scale > 0.0 && scale < SCALE_MAX && openings >= 2.0;
        let interval = is_inside.then(|| {
            let standard_error = (openings / (openings - 1.0) * squares).sqrt() / slope_at(scale).1;
            Estimate { value: scale, standard_error }.interval(sampling.confidence).clamped(0.0, SCALE_MAX)
        });
        // Who plays himself is there once for each seat.
        let distinct: BTreeSet<usize> = latent.iter().map(|(game, ..)| *game).collect();
        let scale = MetricEstimate { value: scale, interval, observations: distinct.len() as u64 };
        Some(AgentScale { agent: agent.to_owned(), scale })
    }
}

/// Returns the point of `[0, SCALE_MAX]` where a falling function is 0, or the end that is nearest to it.
///
/// `slope_at` answers the function and its falling rate.
fn root_inside(slope_at: impl Fn(f64) -> (f64, f64)) -> f64 {
    let (mut lower, mut upper) = (0.0, SCALE_MAX);
    if slope_at(lower).0 <= 0.0 {
        return lower;
    }
    if slope_at(upper).0 >= 0.0 {
        return upper;
    }
    let mut scale = 1.0;
    for _ in 0..100 {
        let (slope, falling) = slope_at(scale);
        if slope > 0.0 {
            lower = scale;
        } else {
            upper = scale;
        }
        let newton = scale + slope / falling;
        let next = if newton > lower && newton < upper { newton } else { (lower + upper) / 2.0 };
        if (next - scale).abs() < 1e-12 {
            return next;
        }
        scale = next;
    }
    scale
}

impl Calibration {
    /// Compares expected scores with results, each given with the index of its game.
    pub(super) fn measure(name: &str, games: &[(usize, f64, f64)], sampling: &Sampling<'_>) -> Option<Calibration> {
        let count = games.len() as f64;
        let tenth_of = |expected: f64| ((expected * 10.0) as usize).min(9);
        let mean_score = games.iter().map(|&(_, _, score)| score).sum::<f64>() / count;
        let (mut squares, mut bins) = (sampling.sums(1), sampling.sums(10));
        let mut expected_sums = [(0.0, 0.0); 10];
        for &(game, expected, score) in games {
            sampling.add(&mut squares, game, 0, (expected - score).powi(2));
            sampling.add(&mut bins, game, tenth_of(expected), score);
            let sum = &mut expected_sums[tenth_of(expected)];
            *sum = (sum.0 + expected, sum.1 + 1.0);
        }
        let scores = sampling.ratios(&format!("scores by tenth {name}"), &bins);
        let bins: Vec<CalibrationBin> = (0..10u8)
            .filter_map(|tenth| {
                let (expected, count) = expected_sums[usize::from(tenth)];
                Some(CalibrationBin { tenth, expected: expected / count, score: scores[usize::from(tenth)]? })
            })
            .collect();
        let error = |bin: &CalibrationBin| (bin.expected - bin.score.value).abs() * bin.score.observations as f64;
        Some(Calibration {
            brier: sampling.ratios(&format!("Brier score {name}"), &squares)[0]?,
            brier_of_mean: games.iter().map(|&(_, _, score)| (score - mean_score).powi(2)).sum::<f64>() / count,
            expected_calibration_error: bins.iter().map(error).sum::<f64>() / count,
            bins,
        })
    }
}

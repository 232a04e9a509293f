//! How the values that agents record become the first player's expected score, and how far that holds.
//!
//! A recorded value `v` is in `[-1, 1]` for the player to act. Its latent strength is `x = atanh v`; the expected
//! score is `p = 1/(1 + e^(−2kx))`, with one scale `k` for each agent under each ruleset. With `k = 1` that is
//! `(1 + v)/2`, what a tree search means by its value. Alpha-beta records `tanh(score/400)`, its score being in
//! hundredths of a man, so that there `2k/400` is the logistic slope per hundredth of a man. A value of ±1 is
//! a result seen to its end and stays 1 or 0. The scale is fitted to the games themselves: it maximises the
//! likelihood of the results (a draw counts half a win and half a loss), every game having the same weight,
//! however many values it holds. There is no constant: a value of 0 is ½, so that the gap between the values
//! at the start and the results remains to be seen.

use serde::{Deserialize, Serialize};

use super::estimates::Measured;

/// The scale of one agent's values under one ruleset.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentScale {
    /// The agent's text.
    pub agent: String,
    /// The scale `k`, at least 0; the observations are games with values of this agent.
    pub scale: Measured,
}

/// How well expected scores agree with results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Mean squared difference between expected score and result (1, ½, 0); the observations are games.
    pub brier: Measured,
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
    pub score: Measured,
}

//! Numbers with their intervals: rates, means, quantiles and curves over games of many openings.

use serde::{Deserialize, Serialize};

use crate::statistics::Interval;

/// How often something happens: so many of so many, with Wilson's interval.
///
/// Trials of one opening resemble each other (two games of it, or the actions of one game), so the interval is
/// that of `effective_trials` independent ones.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// How often it happened.
    pub count: u64,
    /// How often it could have happened, at least 1.
    pub trials: u64,
    /// `count / trials`.
    pub rate: f64,
    /// Wilson's interval at the confidence of the sample, inside `[0, 1]`.
    pub interval: Interval,
    /// Independent trials worth as much, at most `trials`; where the rate is 0 or 1, the openings with trials.
    pub effective_trials: f64,
}

/// A mean, quantile or fitted number.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The point estimate.
    pub value: f64,
    /// Its interval at the confidence of the sample; `None` where too few openings speak of it.
    pub interval: Option<Interval>,
    /// How many observations (games, positions: the field says which) it rests on.
    pub observations: u64,
}

/// A mean over games that runs with the turns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// Its points by rising turn.
    pub points: Vec<CurvePoint>,
}

/// One point of a [`Curve`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// The turn: 0 is before the first one.
    pub turn: u32,
    /// The mean over games.
    pub value: f64,
    /// The interval of this point alone (percentile of the bootstrap over openings).
    pub pointwise: Option<Interval>,
    /// The interval that holds at all points of the curve together (max-t).
    pub simultaneous: Option<Interval>,
    /// Games in the mean, those over already included.
    pub games: u64,
    /// Games among them still going on.
    pub games_going_on: u64,
}

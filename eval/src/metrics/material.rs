//! What pieces are worth, from how games end.

use serde::{Deserialize, Serialize};

use super::estimates::Measured;

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
/// the player to act can take nothing. Features that do not vary, or follow from the others, are left out.
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

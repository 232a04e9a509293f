//! How much openings differ.

use serde::{Deserialize, Serialize};

use super::estimates::Measured;

/// What the diversity of openings was computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DiversitySource {
    /// The visits of the searches: `H_T = −E[Σ ln π(aₜ|sₜ)]`, `M(t) = exp(E[H(π(·|sₜ))])`.
    Visits,
    /// Counts of how the games began, where no visits are recorded: `H_T` is the entropy of the first `T`
    /// actions with Miller and Madow's correction, `M(t) = exp(H_{t+1} − H_t)`. Bounded by the number of games.
    Counts,
}

/// How much the agents' openings differ, over the first `T` actions after a random opening.
///
/// Source: Tomašev et al. 2020, "Assessing Game Balance with AlphaZero", arXiv 2009.04374.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpeningDiversity {
    /// What it was computed from.
    pub source: DiversitySource,
    /// The number of actions `T`.
    pub actions: u32,
    /// `H_T` in nats; the observations are games.
    pub entropy: Measured,
    /// `H_T` where actions count as one that a symmetry of the position exchanges.
    pub entropy_reduced: Measured,
    /// The effective number of actions `M(t)` at each action `t = 0..T`; the observations are games.
    pub effective_actions: Vec<Measured>,
    /// The same where actions count as one that a symmetry of the position exchanges.
    pub effective_actions_reduced: Vec<Measured>,
}

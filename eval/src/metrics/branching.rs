//! How much there is to choose from.

use serde::{Deserialize, Serialize};

use super::GamePhase;
use super::estimates::{Measured, Rate};

/// How much there is to choose from, where an agent chose: random openings do not count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Branching {
    /// Of all choices, those with at least two legal actions.
    pub decision_share: Rate,
    /// The same and more by phase; phases without choices are left out.
    pub phases: Vec<PhaseBranching>,
}

/// How much there is to choose from in one phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseBranching {
    /// The phase.
    pub phase: GamePhase,
    /// Of its choices, those with at least two legal actions.
    pub decision_share: Rate,
    /// Over the whole phase.
    pub overall: LegalActions,
    /// By tenth of the game: decile `d` holds the actions whose number, from 0, is in `[d, d+1)` tenths of the
    /// game's length. Deciles without choices are left out.
    pub deciles: Vec<DecileBranching>,
}

/// How much there is to choose from in one tenth of the game.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DecileBranching {
    /// The tenth, 0 to 9.
    pub decile: u8,
    /// The number of legal actions.
    pub legal: LegalActions,
}

/// A distribution of the number of legal actions; the observations are choices.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LegalActions {
    /// The mean.
    pub mean: Measured,
    /// The median.
    pub median: Measured,
    /// The number that 95 % of the choices do not exceed.
    pub p95: Measured,
    /// The smallest number met.
    pub min: u32,
    /// The largest number met.
    pub max: u32,
    /// `exp(E[ln n])` of the number `n` of legal actions: effective branching if all were equally good.
    pub geometric_mean: Measured,
    /// `exp(E[H])` with the entropy `H` of the visits, in nats: the options that matter. `None` where no visits
    /// are recorded.
    pub effective: Option<Measured>,
}

//! What the agents' own values say of the course of games.

use serde::{Deserialize, Serialize};

use super::calibration::{AgentScale, Calibration};
use super::estimates::{Curve, Measured, Rate};

/// The course of games as the agents saw it.
///
/// `v` is the first player's expected score in `[0, 1]` at the beginning of each turn (that of the turn's first
/// action with a value), see [`super::calibration`]; `v_w` is the same for the winner. A value is that of
/// whoever acts: where two agents play, they take turns in judging. Random openings have no values. The
/// observations are games with values, decisive ones where a winner is needed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ValueMetrics {
    /// The scales by which values became expected scores.
    pub scales: Vec<AgentScale>,
    /// Calibration of the first value of each game.
    pub calibration_at_start: Calibration,
    /// Calibration of the value in the middle of each game, by turns.
    pub calibration_at_middle: Calibration,
    /// Mean first value less mean score: what the agents do not see at the start.
    pub start_gap: Measured,
    /// Times per game that the lead passes from one player to the other: `v` leaves `[0.45, 0.55]` on the other side
    /// than it last did.
    pub lead_changes: Measured,
    /// Games in which the lead changes at all.
    pub games_with_lead_change: Rate,
    /// In those, the turn of the last change as a share of the game's turns.
    pub last_lead_change: Option<Measured>,
    /// Mean of `√(½ − v_w)` over the turns with `v_w < ½`, 0 if there are none, over decisive games.
    pub drama: Option<Measured>,
    /// Decisive games in which `v_w < ¼` at some turn.
    pub comebacks: Option<Rate>,
    /// Mean binary entropy of `v`, in bits, by tenth of the game's turns.
    pub uncertainty: Vec<Option<Measured>>,
    /// The same over the last quarter of the game's turns.
    pub late_uncertainty: Option<Measured>,
    /// Mean of the largest 1 % (at least one) of the changes `|Δv|` from turn to turn in a game.
    pub largest_swing: Option<Measured>,
    /// Decisive games in which `v` changes by at least ½ in the winner's favour from one turn to the next.
    pub killer_moves: Option<Rate>,
    /// The first turn from which on `v_w ≥ 0.9`, as a share of the game's turns; 1 where there is none.
    pub decisiveness_point: Option<Measured>,
    /// The mean of `v` by turn; after a game's end its result.
    pub curve: Curve,
}

/// How much of the first player's advantage is there when the last stone is placed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseSplit {
    /// `E[v] − ½` at the beginning of the first turn of the movement phase.
    pub placement: Measured,
    /// The rest, `s − E[v]` with the first player's score `s` of the same games.
    pub movement: Measured,
    /// Their sum, `s − ½`.
    pub total: Measured,
}

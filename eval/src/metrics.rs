//! What the games of one ruleset are like: length, choice, use of the rules, drama, the worth of pieces.
//!
//! Everything is computed from game records, played over under their rules; nothing here plays. "First player"
//! is whoever begins a game, "actions" are atomic decisions, "turns" all that one player does until the other
//! is to act. Estimates have intervals over openings: Wilson's for rates (with the effective number of
//! trials), Woodruff's for quantiles, the bootstrap over openings for means, curves and fits.
//!
//! Sources: Tomašev et al. 2020, arXiv 2009.04374; Browne 2008, "Automatic Generation and Evaluation of
//! Recombination Games"; Ludii's metrics, redefined so that each has a unit and an interval.

use serde::{Deserialize, Serialize};

pub mod board;
pub mod branching;
pub mod calibration;
pub mod diversity;
pub mod estimates;
pub mod lengths;
pub mod material;
pub mod mechanics;
pub mod outcomes;
pub mod values;

use board::{BoardUse, PieceCurves, Repetition};
use branching::Branching;
use diversity::OpeningDiversity;
use lengths::Lengths;
use material::PieceValues;
use mechanics::MechanicUse;
use outcomes::Outcomes;
use values::{PhaseSplit, ValueMetrics};

/// A phase of the game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GamePhase {
    /// Stones go from the hand onto the board.
    Placement,
    /// Pieces move.
    Movement,
}

/// What the games of one ruleset are like.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// The ruleset's id.
    pub ruleset: String,
    /// What its parameters are, in short.
    pub ruleset_fingerprint: String,
    /// What it all rests on.
    pub sample: SampleSize,
    /// How games end, and for whom.
    pub outcomes: Outcomes,
    /// How long they are.
    pub lengths: Lengths,
    /// How much there is to choose from.
    pub branching: Branching,
    /// How much openings differ; `None` where neither visits nor games without a random opening tell.
    pub diversity: Option<OpeningDiversity>,
    /// The mechanisms that the ruleset has, in the order of [`mechanics::Mechanic`].
    pub mechanics: Vec<MechanicUse>,
    /// What of the board is used.
    pub board: BoardUse,
    /// How the pieces become fewer.
    pub pieces: PieceCurves,
    /// How often positions come back.
    pub repetition: Repetition,
    /// What the agents' values say; `None` where none are recorded.
    pub values: Option<ValueMetrics>,
    /// How the advantage divides between placement and movement; `None` without either values or placement.
    pub phase_split: Option<PhaseSplit>,
    /// What pieces are worth; `None` where the games do not tell.
    pub piece_values: Option<PieceValues>,
    /// What is missing above, each with the reason, in words.
    pub omitted: Vec<String>,
}

/// What metrics rest on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SampleSize {
    /// Finished games.
    pub games: u64,
    /// Unfinished games, which count nowhere.
    pub unfinished: u64,
    /// Openings: games that begin with the same random opening, or a mirror image of it, are one
    /// observation. Without a random opening each game is one of its own.
    pub openings: u64,
    /// Actions of all games.
    pub actions: u64,
    /// Actions among them that an agent chose.
    pub choices: u64,
    /// Games with values.
    pub games_with_values: u64,
    /// Games with visits.
    pub games_with_visits: u64,
    /// The confidence of all intervals.
    pub confidence: f64,
    /// Draws of each bootstrap.
    pub replications: u64,
    /// The seed of everything random.
    pub seed: u64,
}

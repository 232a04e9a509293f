//! Which mechanisms of the rules are used, how often and by whom.

use serde::{Deserialize, Serialize};

use super::estimates::{Measured, Rate};

/// A mechanism that an action may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mechanic {
    /// A stone is placed.
    Placement,
    /// A piece jumps, once or several times. What a step or slide reaches as well is none.
    Jump,
    /// A piece makes several jumps in one move. Where one jump reaches as far it is none.
    JumpChain,
    /// Enemy pieces leave the board, removals included.
    Capture,
    /// At least two enemy pieces leave the board at once.
    MultipleCapture,
    /// A man in a corner of the board is taken.
    CornerCapture,
    /// A man outside the corners is taken between no two flankers, but with enemies on all its sides.
    EnclosureCapture,
    /// The piece that has captured goes on in the same turn.
    Continuation,
    /// It goes on and captures again.
    ContinuationCapture,
    /// A continuation is declined.
    ContinuationDeclined,
    /// An enemy piece becomes bound.
    Bound,
    /// A piece of one's own becomes bound by one's own action.
    SelfBound,
    /// A bound piece of either side goes free.
    Released,
    /// Bound enemy pieces are removed by an action of its own.
    Removal,
    /// A bound enemy piece is taken by moving onto it.
    Displacement,
    /// A piece ends its move between two enemies and is not held by them.
    SafeEntry,
    /// The dux moves.
    DuxMove,
    /// The enemy dux becomes bound.
    DuxBound,
    /// The enemy dux is taken or enclosed.
    DuxCaptured,
    /// The player can do nothing else.
    ForcedPass,
}

/// What a share of games says of a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MechanicRole {
    /// The whole interval lies at or above 1 % of the games.
    Used,
    /// The whole interval lies below 1 % of the games.
    Decorative,
    /// Too few games to say.
    Undecided,
}

/// How a mechanism that the ruleset has is used, where agents chose: random openings do not count.
///
/// Mechanisms that a ruleset does not have are absent, not zero.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MechanicUse {
    /// The mechanism.
    pub mechanic: Mechanic,
    /// By anybody: the games in which it occurs, and its share of all actions.
    pub overall: Usage,
    /// Uses per game; the observations are games.
    pub per_game: Measured,
    /// By the first player.
    pub first: Usage,
    /// By the second player.
    pub second: Usage,
    /// By the winners, over decisive games only.
    pub winner: Option<Usage>,
    /// By the losers, over decisive games only.
    pub loser: Option<Usage>,
    /// If it was never seen: the upper end of the Clopper-Pearson interval of the share of games, each opening
    /// counted once.
    pub never_seen_upper: Option<f64>,
    /// Whether the share of games is below 1 %.
    pub role: MechanicRole,
}

/// How often somebody uses a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Games in which he uses it.
    pub games: Rate,
    /// Of his actions, those that use it; `None` if he never chose.
    pub actions: Option<Rate>,
}

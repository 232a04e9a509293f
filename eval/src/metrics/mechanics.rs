//! The use of the rules' mechanisms: frequency and player.

use serde::{Deserialize, Serialize};

use super::detector::Detector;
use super::estimates::{MetricEstimate, Rate, Sampling};
use super::trace::{FIRST, SECOND, Trace};
use latrunculi_engine::named;
use latrunculi_stats::Interval;
use latrunculi_stats::proportion::clopper_pearson;

/// A mechanism used in fewer games than this share is decorative.
pub const DECORATIVE_BELOW: f64 = 0.01;

named! {
    /// A mechanism that an action may use.
    #[derive(PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub Mechanic {
        /// A stone is placed.
        Placement = "stone placed",
        /// A piece jumps, once or several times. What a step or slide reaches as well is none.
        Jump = "jump",
        /// A piece makes several jumps in one move. Where one jump reaches as far it is none.
        JumpChain = "chain of jumps",
        /// Enemy pieces leave the board, removals included.
        Capture = "capture",
        /// At least two enemy pieces leave the board at once.
        MultipleCapture = "several captured at once",
        /// A man in a corner of the board is taken.
        CornerCapture = "capture in a corner",
        /// A man outside the corners is taken between no two flankers, but with enemies on all its sides.
        EnclosureCapture = "man captured by enclosure",
        /// The piece that has captured goes on in the same turn.
        Continuation = "captor moves again",
        /// It goes on and captures again.
        ContinuationCapture = "captor moves again and captures",
        /// A continuation is declined.
        ContinuationDeclined = "captor may move again but stops",
        /// An enemy piece becomes bound.
        Bound = "enemy bound (alligatus)",
        /// A piece of one's own becomes bound by one's own action.
        SelfBound = "own piece bound by own move",
        /// A bound piece of either side goes free.
        Released = "bound piece freed",
        /// Bound enemy pieces are removed by an action of its own.
        Removal = "bound pieces removed",
        /// A bound enemy piece is taken by moving onto it.
        Displacement = "bound piece taken by moving onto it",
        /// A piece ends its move between two enemies and is not held by them.
        SafeEntry = "safe entry between two enemies",
        /// The dux moves.
        DuxMove = "dux moves",
        /// The enemy dux becomes bound.
        DuxBound = "dux bound",
        /// The enemy dux is taken or enclosed.
        DuxCaptured = "dux taken",
        /// The player can do nothing else.
        ForcedPass = "forced pass",
    }
}

named! {
    /// What a share of games says of a mechanism.
    #[derive(PartialOrd, Ord, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub MechanicRole {
        /// The whole interval lies at or above 1 % of the games.
        Used = "used",
        /// The whole interval lies below 1 % of the games.
        Decorative = "decorative",
        /// Too few games to say.
        Undecided = "too few games to say",
    }
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
    pub per_game: MetricEstimate,
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

impl MechanicRole {
    /// Returns the role of a mechanism that is used in at least `lower` and at most `upper` of the games.
    fn of(lower: f64, upper: f64) -> MechanicRole {
        if lower >= DECORATIVE_BELOW {
            MechanicRole::Used
        } else if upper < DECORATIVE_BELOW {
            MechanicRole::Decorative
        } else {
            MechanicRole::Undecided
        }
    }
}

/// How often somebody uses a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Games in which he uses it.
    pub games: Rate,
    /// Of his actions, those that use it; `None` if he never chose.
    pub actions: Option<Rate>,
}

/// Measures every mechanism that the ruleset has.
pub(super) fn measure(detector: &Detector, traces: &[Trace], sampling: &Sampling<'_>) -> Vec<MechanicUse> {
    let mechanisms: Vec<Mechanic> = detector.mechanisms().collect();
    let mut uses = sampling.sums(mechanisms.len());
    for (game, trace) in traces.iter().enumerate() {
        for (column, &mechanic) in mechanisms.iter().enumerate() {
            let count = trace.choices.iter().filter(|choice| choice.used.contains(mechanic)).count();
            sampling.add(&mut uses, game, column, count as f64);
        }
    }
    let per_game = sampling.ratios("uses of mechanisms per game", &uses);
    mechanisms
        .into_iter()
        .zip(per_game)
        .filter_map(|(mechanic, per_game)| MechanicUse::measure(mechanic, per_game?, traces, sampling))
        .collect()
}

impl MechanicUse {
    fn measure(
        mechanic: Mechanic,
        per_game: MetricEstimate,
        traces: &[Trace],
        sampling: &Sampling<'_>,
    ) -> Option<MechanicUse> {
        let usage =
            |is_user: &dyn Fn(&Trace, usize) -> Option<bool>| Usage::measure(mechanic, traces, sampling, is_user);
        let by_result = |wins: bool| usage(&|trace, seat| trace.winner().map(|winner| (winner == seat) == wins));
        let overall = usage(&|_, _| Some(true))?;
        let is_never_seen = overall.games.count == 0;
        let never_seen_upper = is_never_seen
            .then(|| clopper_pearson(0, overall.games.effective_trials as u64, sampling.confidence).ok())
            .flatten()
            .map(|interval| interval.upper);
        let Interval { lower, upper } = overall.games.interval;
        let role = MechanicRole::of(lower, never_seen_upper.unwrap_or(upper));
        Some(MechanicUse {
            mechanic,
            overall,
            per_game,
            first: usage(&|_, seat| Some(seat == FIRST))?,
            second: usage(&|_, seat| Some(seat == SECOND))?,
            winner: by_result(true),
            loser: by_result(false),
            never_seen_upper,
            role,
        })
    }
}

impl Usage {
    /// Measures the use by those seats of which `is_user` says so; games of which it says nothing do not count.
    fn measure(
        mechanic: Mechanic,
        traces: &[Trace],
        sampling: &Sampling<'_>,
        is_user: &dyn Fn(&Trace, usize) -> Option<bool>,
    ) -> Option<Usage> {
        let counts: Vec<(usize, u64, u64)> = traces
            .iter()
            .enumerate()
            .filter(|(_, trace)| is_user(trace, FIRST).is_some())
            .map(|(game, trace)| {
                let chosen = || trace.choices.iter().filter(|choice| is_user(trace, choice.seat) == Some(true));
                (game, chosen().filter(|choice| choice.used.contains(mechanic)).count() as u64, chosen().count() as u64)
            })
            .collect();
        Some(Usage {
            games: sampling.rate(counts.iter().map(|&(game, uses, _)| (game, u64::from(uses > 0), 1)))?,
            actions: sampling.rate(counts.iter().copied()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_is_known_where_the_interval_is_on_one_side() {
        for (lower, upper, role) in [
            (0.01, 0.3, MechanicRole::Used),
            (0.0, 0.0099, MechanicRole::Decorative),
            (0.0, 0.01, MechanicRole::Undecided),
            (0.009, 0.2, MechanicRole::Undecided),
        ] {
            assert_eq!(MechanicRole::of(lower, upper), role, "{lower} to {upper}");
        }
    }
}

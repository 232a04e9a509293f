//! The lengths of games.

use serde::{Deserialize, Serialize};

use super::estimates::{MetricEstimate, Rate, Sampling};
use super::outcomes::reason_text;
use super::trace::Trace;

/// The hazard is given in so many ranges of turns.
const HAZARD_BINS: u32 = 20;

/// How long games are, in actions and in turns.
///
/// An action is one atomic decision (one stone placed, one move, one continuation); a turn is all that one
/// player does until the other is to act. Openings that were played at random are part of the length.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lengths {
    /// Actions per game.
    pub actions: LengthSummary,
    /// Turns per game.
    pub turns: LengthSummary,
    /// Turns of the placement phase; `None` where nothing is placed.
    pub placement_turns: Option<LengthSummary>,
    /// Turns of the movement phase; `None` where nothing is placed, since they are all turns then.
    pub movement_turns: Option<LengthSummary>,
    /// Actions per turn.
    pub actions_per_turn: MetricEstimate,
    /// The same by the reason for which games ended.
    pub by_reason: Vec<ReasonLengths>,
    /// How likely a game is to end within a range of turns if it has come so far.
    pub hazard: Vec<HazardBin>,
}

/// How long the games are that ended for one reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReasonLengths {
    /// The reason, as game records write it; empty where a game was given up.
    pub reason: String,
    /// Actions per game.
    pub actions: LengthSummary,
    /// Turns per game.
    pub turns: LengthSummary,
}

/// A distribution of lengths; the observations are games.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LengthSummary {
    /// The mean.
    pub mean: MetricEstimate,
    /// The median.
    pub median: MetricEstimate,
    /// The length that 5 % of the games do not exceed.
    pub p5: MetricEstimate,
    /// The length that 95 % of the games do not exceed.
    pub p95: MetricEstimate,
    /// The shortest game.
    pub shortest: u32,
    /// The longest game.
    pub longest: u32,
}

/// How likely a game is to end within a range of turns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HazardBin {
    /// The first turn of the range, from 1.
    pub from_turn: u32,
    /// The last turn of the range.
    pub to_turn: u32,
    /// Of the games that reach the range, those that end in it.
    pub ended: Rate,
    /// The hazard of a single turn in the range, `1 − (1 − rate)^(1/width)`.
    pub per_turn: f64,
}

impl Lengths {
    pub(super) fn measure(traces: &[Trace], sampling: &Sampling<'_>) -> Option<Lengths> {
        let all: Vec<usize> = (0..traces.len()).collect();
        let summary = |name: &str, games: &[usize], length: &dyn Fn(&Trace) -> u32| {
            LengthSummary::measure(name, games, &|game| length(&traces[game]), sampling)
        };
        let actions: &dyn Fn(&Trace) -> u32 = &|trace| trace.actions;
        let turns: &dyn Fn(&Trace) -> u32 = &Trace::turn_count;
        let has_placement = traces.iter().any(|trace| trace.placement_turns > 0);
        let in_phases =
            |name: &str, length: &dyn Fn(&Trace) -> u32| has_placement.then(|| summary(name, &all, length)).flatten();
        let mut reasons: Vec<_> = traces.iter().map(|trace| trace.reason).collect();
        reasons.sort_unstable();
        reasons.dedup();
        let by_reason = reasons.into_iter().filter_map(|reason| {
            let games: Vec<usize> = all.iter().copied().filter(|&game| traces[game].reason == reason).collect();
            let reason = reason_text(reason);
            Some(ReasonLengths {
                actions: summary(&format!("actions to {reason}"), &games, actions)?,
                turns: summary(&format!("turns to {reason}"), &games, turns)?,
                reason,
            })
        });
        let mut per_turn = sampling.sums(1);
        for (game, trace) in traces.iter().enumerate() {
            sampling.add_weighted(&mut per_turn, game, 0, trace.actions.into(), trace.turn_count().into());
        }
        Some(Lengths {
            actions: summary("actions", &all, actions)?,
            turns: summary("turns", &all, turns)?,
            placement_turns: in_phases("placement turns", &|trace| trace.placement_turns),
            movement_turns: in_phases("movement turns", &|trace| trace.turn_count() - trace.placement_turns),
            actions_per_turn: sampling.ratios("actions per turn", &per_turn)[0]?,
            by_reason: by_reason.collect(),
            hazard: hazard(traces, sampling),
        })
    }
}

impl LengthSummary {
    fn measure(
        name: &str,
        games: &[usize],
        length: &dyn Fn(usize) -> u32,
        sampling: &Sampling<'_>,
    ) -> Option<LengthSummary> {
        let lengths: Vec<(usize, u32)> = games.iter().map(|&game| (game, length(game))).collect();
        let mut sums = sampling.sums(1);
        lengths.iter().for_each(|&(game, length)| sampling.add(&mut sums, game, 0, length.into()));
        Some(LengthSummary {
            mean: sampling.ratios(name, &sums)[0]?,
            median: sampling.quantile(&lengths, 0.5)?,
            p5: sampling.quantile(&lengths, 0.05)?,
            p95: sampling.quantile(&lengths, 0.95)?,
            shortest: lengths.iter().map(|&(_, length)| length).min()?,
            longest: lengths.iter().map(|&(_, length)| length).max()?,
        })
    }
}

/// Returns the hazard in ranges of equal width that reach to the longest game.
fn hazard(traces: &[Trace], sampling: &Sampling<'_>) -> Vec<HazardBin> {
    let longest = traces.iter().map(Trace::turn_count).max().unwrap_or(0);
    let width = longest.div_ceil(HAZARD_BINS).max(1);
    let bin = |from_turn: u32| {
        let to_turn = from_turn + width - 1;
        let reaching = traces.iter().enumerate().filter(|(_, trace)| trace.turn_count() >= from_turn);
        let ended = sampling.rate(reaching.map(|(game, trace)| (game, u64::from(trace.turn_count() <= to_turn), 1)))?;
        let per_turn = 1.0 - (1.0 - ended.rate).powf(1.0 / f64::from(width));
        Some(HazardBin { from_turn, to_turn, ended, per_turn })
    };
    (0..HAZARD_BINS).map(|index| 1 + index * width).take_while(|&from| from <= longest).filter_map(bin).collect()
}

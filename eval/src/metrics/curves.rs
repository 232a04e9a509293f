//! Means by turn, with bands.

use super::estimates::{Curve, CurvePoint, Sampling};
use super::trace::Trace;

/// A curve has at most about so many points.
const POINTS_MAX: u32 = 80;

pub(super) struct Timeline {
    turns: Vec<u32>,
}

impl Timeline {
    /// Returns turns at equal distances, from 0 to the one that 99 % of the games do not exceed.
    pub(super) fn new(traces: &[Trace]) -> Timeline {
        let mut lengths: Vec<u32> = traces.iter().map(Trace::turn_count).collect();
        lengths.sort_unstable();
        let last = lengths.get((lengths.len() * 99).div_ceil(100).saturating_sub(1)).copied().unwrap_or(0);
        let stride = last.div_ceil(POINTS_MAX).max(1);
        Timeline { turns: (0..=last.div_ceil(stride)).map(|index| index * stride).collect() }
    }
}

/// Returns the mean of `value` over games at each turn of the timeline, from the first turn on at which half of
/// the games have one.
///
/// `value` is given the index of a game and a turn, which may lie beyond the game's end.
pub(super) fn measure(
    name: &str,
    timeline: &Timeline,
    traces: &[Trace],
    sampling: &Sampling<'_>,
    value: impl Fn(usize, usize) -> Option<f64>,
) -> Curve {
    let at = |turn: u32| PointValues {
        turn,
        values: (0..traces.len()).filter_map(|game| Some((game, value(game, turn as usize)?))).collect(),
    };
    let points: Vec<PointValues> = timeline
        .turns
        .iter()
        .map(|&turn| at(turn))
        .skip_while(|point| point.values.is_empty() || 2 * point.values.len() < traces.len())
        .collect();
    let mut sums = sampling.sums(points.len());
    for (column, point) in points.iter().enumerate() {
        point.values.iter().for_each(|&(game, value)| sampling.add(&mut sums, game, column, value));
    }
    let bands = sampling.bands(name, &sums);
    let of_point = |(column, point): (usize, &PointValues)| CurvePoint {
        turn: point.turn,
        value: point.values.iter().map(|(_, value)| value).sum::<f64>() / point.values.len() as f64,
        pointwise: bands.as_ref().and_then(|bands| bands.pointwise[column]),
        simultaneous: bands.as_ref().and_then(|bands| bands.simultaneous[column]),
        games: point.values.len() as u64,
        games_going_on: traces.iter().filter(|trace| trace.turn_count() > point.turn).count() as u64,
    };
    Curve { points: points.iter().enumerate().map(of_point).collect() }
}

struct PointValues {
    turn: u32,
    values: Vec<(usize, f64)>,
}

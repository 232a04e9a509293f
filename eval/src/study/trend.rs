//! How far the first player's score is from one half with growing budgets.

use super::estimates::estimate;
use super::summary::{AgentSummary, CellSummary, LastDoubling, Stability, TrendDirection, TrendSummary};
use latrunculi_stats::{Confidence, Estimate, Interval};

type Rung = (u64, Estimate);

/// Returns the trend of each family that has a score with at least two budgets; those of so many `rulesets` shall hold
/// together.
pub(super) fn trends(
    agents: &[AgentSummary],
    cells: &[CellSummary],
    confidence: Confidence,
    rulesets: usize,
    margin: f64,
) -> Vec<TrendSummary> {
    ladders(agents)
        .into_iter()
        .filter_map(|ladder| {
            let rungs = rungs(agents, cells, &ladder, confidence);
            trend(&agents[ladder[0]].family, &rungs, confidence.simultaneous(rulesets), margin)
        })
        .collect()
}

/// Returns the change of the score with `agent` since the largest budget that is at most half of its own; of depths,
/// since the next smaller one.
pub(super) fn last_doubling(
    agents: &[AgentSummary],
    cells: &[CellSummary],
    agent: usize,
    confidence: Confidence,
    margin: f64,
) -> Option<LastDoubling> {
    let ladder = families(agents).into_iter().find(|family| family.contains(&agent))?;
    let own = agents[agent].budget?;
    // One action deeper takes several times as many nodes.
    let below = if agents[agent].budget_unit.as_deref() == Some("plies") { own.checked_sub(1)? } else { own / 2 };
    step(&rungs(agents, cells, &ladder, confidence), below, own, confidence, margin)
}

/// Returns the change of the score from the largest budget up to `below` to the budget `own`.
fn step(rungs: &[Rung], below: u64, own: u64, confidence: Confidence, margin: f64) -> Option<LastDoubling> {
    let &(_, to) = rungs.iter().find(|&&(budget, _)| budget == own)?;
    let &(budget, from) = rungs.iter().rev().find(|&&(budget, _)| budget < own && budget <= below)?;
    let change =
        Estimate { value: to.value - from.value, standard_error: from.standard_error.hypot(to.standard_error) };
    let interval = change.interval(confidence);
    let stability = if is_within(interval, margin) {
        Stability::Stable
    } else if interval.contains(0.0) {
        Stability::Unclear
    } else {
        Stability::Changed
    };
    Some(LastDoubling { budgets: [budget, own], change, interval, stability })
}

/// Returns the agents of each family that has at least two budgets, rising.
pub(super) fn ladders(agents: &[AgentSummary]) -> Vec<Vec<usize>> {
    families(agents).into_iter().filter(|ladder| ladder.len() > 1).collect()
}

/// Returns the agent of the largest budget of each family.
pub(super) fn tops(agents: &[AgentSummary]) -> Vec<usize> {
    families(agents).into_iter().filter_map(|ladder| ladder.last().copied()).collect()
}

fn families(agents: &[AgentSummary]) -> Vec<Vec<usize>> {
    let mut families: Vec<Vec<usize>> = Vec::new();
    for agent in 0..agents.len() {
        match families.iter_mut().find(|family| agents[family[0]].family == agents[agent].family) {
            Some(family) => family.push(agent),
            None => families.push(vec![agent]),
        }
    }
    for family in &mut families {
        family.sort_by_key(|&agent| agents[agent].budget);
    }
    families
}

/// Returns the budgets of a ladder with their scores, rising.
fn rungs(agents: &[AgentSummary], cells: &[CellSummary], ladder: &[usize], confidence: Confidence) -> Vec<Rung> {
    let rung = |&agent: &usize| Some((agents[agent].budget?, estimate(&cells[agent].score?, confidence)));
    ladder.iter().filter_map(rung).collect()
}

fn trend(family: &str, rungs: &[Rung], confidence: Confidence, margin: f64) -> Option<TrendSummary> {
    let [(_, first), .., (_, last)] = rungs else { return None };
    let change = change_of_distance(*first, *last);
    let interval = change.interval(confidence);
    let direction = if interval.lower > 0.0 {
        TrendDirection::Growing
    } else if interval.upper < 0.0 {
        TrendDirection::Shrinking
    } else if is_within(interval, margin) {
        TrendDirection::Stable
    } else {
        TrendDirection::Unclear
    };
    let [side, other] = [first, last].map(|score| side(score.interval(confidence)));
    Some(TrendSummary {
        family: family.to_owned(),
        budgets: rungs.iter().map(|&(budget, _)| budget).collect(),
        distances: [distance(*first), distance(*last)],
        change,
        interval,
        direction,
        is_monotone: is_monotone(rungs, confidence),
        changes_side: side * other < 0,
    })
}

fn distance(score: Estimate) -> f64 {
    (score.value - 0.5).abs()
}

/// Returns the distance of `to` from one half less that of `from`.
///
/// The interval of the result covers the true change at least at its confidence: every change of two distances is one of
/// the four sums `±to ± from`, which all have this standard error.
fn change_of_distance(from: Estimate, to: Estimate) -> Estimate {
    Estimate { value: distance(to) - distance(from), standard_error: from.standard_error.hypot(to.standard_error) }
}

/// Returns whether the budgets do not show both that the distance rises and that it falls, with all pairs of budgets
/// tested together.
fn is_monotone(rungs: &[Rung], confidence: Confidence) -> bool {
    let pairs = rungs.len() * (rungs.len() - 1) / 2;
    let confidence = confidence.bonferroni(pairs);
    let changes = || {
        let pairs = rungs.iter().enumerate().flat_map(|(at, from)| rungs[at + 1..].iter().map(move |to| (from, to)));
        pairs.map(|(from, to)| change_of_distance(from.1, to.1).interval(confidence))
    };
    !(changes().any(|change| change.lower > 0.0) && changes().any(|change| change.upper < 0.0))
}

/// Returns the side of one half that an interval lies on, 0 if it contains one half.
fn side(score: Interval) -> i32 {
    i32::from(score.lower > 0.5) - i32::from(score.upper < 0.5)
}

pub(super) fn is_within(interval: Interval, margin: f64) -> bool {
    -margin < interval.lower && interval.upper < margin
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARGIN: f64 = 0.03;

    /// Returns the trend of scores in points of 100, with a standard error of so many points.
    fn of(points: &[f64], standard_error: f64) -> TrendSummary {
        let score = |value: f64| Estimate { value: value / 100.0, standard_error: standard_error / 100.0 };
        let rungs: Vec<Rung> = points.iter().zip([50, 200, 800, 3200]).map(|(&value, at)| (at, score(value))).collect();
        trend("alphabeta", &rungs, Confidence::NINETY_FIVE, MARGIN).unwrap()
    }

    fn direction(points: &[f64]) -> TrendDirection {
        let found = of(points, 1.5);
        assert!(found.is_monotone, "{points:?}");
        assert!(found.interval.contains(found.change.value));
        assert!((found.change.value - (found.distances[1] - found.distances[0])).abs() < 1e-12);
        found.direction
    }

    #[test]
    fn an_advantage_that_ends_nearer_to_one_half_shrinks() {
        assert_eq!(direction(&[23.5, 47.2, 50.0]), TrendDirection::Shrinking);
        assert_eq!(direction(&[28.9, 50.0, 49.8]), TrendDirection::Shrinking);
        assert_eq!(direction(&[41.5, 48.0, 51.0]), TrendDirection::Shrinking);
        assert_eq!(direction(&[74.5, 66.3]), TrendDirection::Shrinking);
        let found = of(&[23.5, 47.2, 50.0], 1.5);
        assert_eq!(found.budgets, [50, 200, 800]);
        assert!((found.change.value + 0.265).abs() < 1e-12 && found.interval.upper < -0.2);
    }

    #[test]
    fn an_advantage_that_ends_farther_from_one_half_grows() {
        assert_eq!(direction(&[52.0, 58.0, 66.0]), TrendDirection::Growing);
        assert_eq!(direction(&[48.0, 40.0]), TrendDirection::Growing);
        assert_eq!(direction(&[50.0, 50.2, 30.0]), TrendDirection::Growing);
    }

    #[test]
    fn one_that_stays_is_stable_only_where_the_interval_is_narrow() {
        assert_eq!(direction(&[60.0, 60.5, 60.2]), TrendDirection::Unclear);
        assert_eq!(of(&[60.0, 60.5, 60.2], 0.5).direction, TrendDirection::Stable);
        assert_eq!(of(&[50.0, 50.0], 0.5).direction, TrendDirection::Stable);
        assert_eq!(direction(&[53.0, 50.5, 50.0]), TrendDirection::Unclear);
    }

    #[test]
    fn a_path_that_turns_back_is_not_monotone() {
        let back = of(&[50.0, 70.0, 52.0], 1.5);
        assert!(!back.is_monotone && back.direction == TrendDirection::Unclear);
        // It ends nearer to one half than it began, after having been farther away.
        let farther = of(&[60.0, 75.0, 50.0], 1.5);
        assert!(!farther.is_monotone && farther.direction == TrendDirection::Shrinking);
        // Through one half to the other side: the distance falls and rises.
        let through = of(&[35.0, 50.0, 65.0], 1.5);
        assert!(!through.is_monotone && through.changes_side);
        // Two budgets cannot show it.
        let across = of(&[40.0, 60.0], 0.5);
        assert!(across.is_monotone && across.changes_side && across.direction == TrendDirection::Stable);
    }

    #[test]
    fn chance_alone_seldom_shows_a_turn_or_a_trend() {
        use rand::RngExt;
        use rand_chacha::ChaCha8Rng;
        use rand_chacha::rand_core::SeedableRng;
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        // The sum of twelve uniform numbers less six is nearly normal with variance 1.
        let mut normal = || (0..12).map(|_| rng.random::<f64>()).sum::<f64>() - 6.0;
        for truth in [50.0, 51.0, 60.0] {
            let (mut missed, mut turned) = (0, 0);
            for _ in 0..2_000 {
                let points: Vec<f64> = (0..3).map(|_| truth + 1.5 * normal()).collect();
                let found = of(&points, 1.5);
                missed += u32::from(!found.interval.contains(0.0));
                turned += u32::from(!found.is_monotone);
            }
            // 5 % of 2,000 with three standard errors.
            assert!(missed <= 130 && turned <= 130, "{truth}: {missed} and {turned}");
        }
    }

    #[test]
    fn the_last_doubling_reaches_back_to_half_of_the_budget() {
        let last = |points: [f64; 3], standard_error: f64, own: u64| {
            let rung = |budget, value: f64| (budget, Estimate { value: value / 100.0, standard_error });
            let rungs = [rung(200, points[0]), rung(800, points[1]), rung(1000, points[2])];
            step(&rungs, own / 2, own, Confidence::NINETY_FIVE, MARGIN)
        };
        let found = last([51.0, 70.0, 50.0], 0.005, 1000).unwrap();
        assert_eq!((found.budgets, found.stability), ([200, 1000], Stability::Stable));
        assert!((found.change.value + 0.01).abs() < 1e-12 && found.interval.contains(-0.01));
        assert_eq!(last([51.0, 70.0, 50.0], 0.005, 800).unwrap().stability, Stability::Changed);
        assert_eq!(last([51.0, 70.0, 50.0], 0.015, 1000).unwrap().stability, Stability::Unclear);
        assert_eq!(last([51.0, 70.0, 50.0], 0.005, 200), None);
    }
}

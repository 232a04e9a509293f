//! The diversity of openings.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use latrunculi_engine::record::RecordFault;
use latrunculi_engine::{Action, GameRecord, Position, Rules, Symmetry};
use serde::{Deserialize, Serialize};

use super::estimates::{MetricEstimate, Sampling};
use super::trace::Trace;
use latrunculi_stats::Estimate;

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
    /// The number of actions `T`: as many as were asked for, or for which half of the games hold visits.
    pub actions: u32,
    /// `H_T` in nats; the observations are games.
    pub entropy: MetricEstimate,
    /// `H_T` where actions count as one that a symmetry of the position exchanges.
    pub entropy_reduced: MetricEstimate,
    /// The effective number of actions `M(t)` at each action `t = 0..T`; the observations are games.
    pub effective_actions: Vec<MetricEstimate>,
    /// The same where actions count as one that a symmetry of the position exchanges.
    pub effective_actions_reduced: Vec<MetricEstimate>,
}

/// What the visits of one choice say; entropies and surprisals in nats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct VisitTrace {
    /// `H(π)` of the visits' distribution `π`.
    pub(super) entropy: f64,
    /// `−ln π(a)` of the action that was played.
    pub(super) surprisal: f64,
    /// The same two where actions count as one that a symmetry of the position exchanges; `None` where that was
    /// not asked for.
    pub(super) reduced: Option<(f64, f64)>,
}

impl VisitTrace {
    /// Computes them from the visits of the `legal` actions; `None` if there was no visit.
    pub(super) fn new(
        rules: &Rules,
        position: &Position,
        legal: &[Action],
        visits: &[u32],
        played: Action,
        reduces: bool,
    ) -> Option<VisitTrace> {
        let played = legal.iter().position(|&action| action == played)?;
        let (entropy, surprisal) = entropy_and_surprisal(visits, played)?;
        let reduced = reduces.then(|| {
            let orbit_of = orbits(rules, position, legal);
            let mut by_orbit = vec![0; legal.len()];
            visits.iter().zip(&orbit_of).for_each(|(count, &orbit)| by_orbit[orbit] += count);
            entropy_and_surprisal(&by_orbit, orbit_of[played])
        });
        Some(VisitTrace { entropy, surprisal, reduced: reduced.flatten() })
    }
}

/// Returns `H(π)` and `−ln π(a)` in nats of a distribution of visits; `None` without visits.
///
/// An action without visits that was played all the same counts as half a visit.
fn entropy_and_surprisal(visits: &[u32], played: usize) -> Option<(f64, f64)> {
    let total: f64 = visits.iter().map(|&count| f64::from(count)).sum();
    if total == 0.0 {
        return None;
    }
    let information = |count: f64| -(count / total).ln();
    let entropy = visits
        .iter()
        .filter(|&&count| count > 0)
        .map(|&count| f64::from(count) / total * information(count.into()))
        .sum();
    Some((entropy, information(f64::from(visits[played]).max(0.5))))
}

/// Returns for each legal action the place of the first one that a symmetry of the position makes of it.
fn orbits(rules: &Rules, position: &Position, legal: &[Action]) -> Vec<usize> {
    let of_position: Vec<Symmetry> = rules
        .symmetries()
        .into_iter()
        .filter(|&symmetry| symmetry != Symmetry::IDENTITY && rules.map_position(symmetry, position) == *position)
        .collect();
    let image = |place: usize, symmetry| {
        let mapped = rules.map_action(position, symmetry, legal[place]);
        legal.iter().position(|&action| action == mapped).unwrap_or(place)
    };
    (0..legal.len())
        .map(|place| of_position.iter().map(|&symmetry| image(place, symmetry)).fold(place, usize::min))
        .collect()
}

/// For each length the hash of so many first actions, as they are and up to symmetry.
pub(super) struct Beginning {
    plain: Vec<u64>,
    reduced: Vec<u64>,
}

impl Beginning {
    /// Reads the first `actions` actions of a game; `None` where the first of them were nobody's choice.
    pub(super) fn of(
        rules: &Arc<Rules>,
        record: &GameRecord,
        actions: usize,
    ) -> Result<Option<Beginning>, RecordFault> {
        if record.opening > 0 || record.start.is_some() {
            return Ok(None);
        }
        let symmetries = rules.symmetries();
        let mut hashers = vec![DefaultHasher::new(); symmetries.len()];
        let mut beginning = Beginning { plain: Vec::new(), reduced: Vec::new() };
        record.replay_among(rules, |state, _, action| {
            if beginning.plain.len() < actions {
                for (hasher, &symmetry) in hashers.iter_mut().zip(&symmetries) {
                    rules.map_action(state.position(), symmetry, action).hash(hasher);
                }
                // The identity comes first.
                beginning.plain.push(hashers[0].finish());
                beginning.reduced.push(hashers.iter().map(Hasher::finish).min().unwrap_or_default());
            }
            Ok(())
        })?;
        Ok(Some(beginning))
    }
}

impl OpeningDiversity {
    /// Measures by visits where they are recorded, otherwise by counts of the `beginnings`.
    pub(super) fn measure(
        actions: u32,
        traces: &[Trace],
        beginnings: &[Option<Beginning>],
        sampling: &Sampling<'_>,
    ) -> Option<OpeningDiversity> {
        Self::by_visits(actions as usize, traces, sampling)
            .or_else(|| Self::by_counts(actions as usize, beginnings, sampling))
    }

    fn by_visits(actions_max: usize, traces: &[Trace], sampling: &Sampling<'_>) -> Option<OpeningDiversity> {
        let openings: Vec<Vec<&VisitTrace>> = traces
            .iter()
            .map(|trace| trace.choices.iter().take(actions_max).map_while(|choice| choice.visits.as_ref()).collect())
            .collect();
        let mut lengths: Vec<usize> = openings.iter().map(Vec::len).filter(|&length| length > 0).collect();
        lengths.sort_unstable();
        let actions = *lengths.get(lengths.len() / 2)?;
        // Columns: the two sums of surprisals, then the entropies at each action, plain and reduced.
        let mut sums = sampling.sums(2 + 2 * actions);
        for (game, (trace, visits)) in traces.iter().zip(&openings).enumerate() {
            // A game may end sooner, but visits that end sooner say nothing of what follows.
            if visits.len() < actions.min(trace.choices.len()) {
                continue;
            }
            let visits = &visits[..actions.min(visits.len())];
            let reduced = |visits: &VisitTrace| visits.reduced.unwrap_or((visits.entropy, visits.surprisal));
            sampling.add(&mut sums, game, 0, visits.iter().map(|visits| visits.surprisal).sum());
            sampling.add(&mut sums, game, 1, visits.iter().map(|visits| reduced(visits).1).sum());
            for (number, visits) in visits.iter().enumerate() {
                sampling.add(&mut sums, game, 2 + number, visits.entropy);
                sampling.add(&mut sums, game, 2 + actions + number, reduced(visits).0);
            }
        }
        let measured = sampling.functions_of_ratios("opening diversity", &sums, |ratios| {
            ratios.iter().enumerate().map(|(column, &mean)| if column < 2 { mean } else { mean.exp() }).collect()
        });
        Some(OpeningDiversity {
            source: DiversitySource::Visits,
            actions: actions as u32,
            entropy: measured[0]?,
            entropy_reduced: measured[1]?,
            effective_actions: measured[2..2 + actions].iter().map_while(|measured| *measured).collect(),
            effective_actions_reduced: measured[2 + actions..].iter().map_while(|measured| *measured).collect(),
        })
    }

    fn by_counts(
        actions: usize,
        beginnings: &[Option<Beginning>],
        sampling: &Sampling<'_>,
    ) -> Option<OpeningDiversity> {
        let plain: Vec<&[u64]> = beginnings.iter().flatten().map(|beginning| beginning.plain.as_slice()).collect();
        let reduced: Vec<&[u64]> = beginnings.iter().flatten().map(|beginning| beginning.reduced.as_slice()).collect();
        let measured = |entropy: Estimate, transform: fn(f64) -> f64| {
            let mut interval = entropy.interval(sampling.confidence);
            interval.lower = transform(interval.lower.max(0.0));
            interval.upper = transform(interval.upper);
            let interval = (entropy.standard_error > 0.0).then_some(interval);
            MetricEstimate { value: transform(entropy.value), interval, observations: plain.len() as u64 }
        };
        let effective = |prefixes: &[&[u64]]| {
            (1..=actions)
                .map_while(|length| Some(measured(conditional_entropy(prefixes, length)?, f64::exp)))
                .collect::<Vec<_>>()
        };
        Some(OpeningDiversity {
            source: DiversitySource::Counts,
            actions: actions as u32,
            entropy: measured(entropy_of_prefixes(&plain, actions)?, |nats| nats),
            entropy_reduced: measured(entropy_of_prefixes(&reduced, actions)?, |nats| nats),
            effective_actions: effective(&plain),
            effective_actions_reduced: effective(&reduced),
        })
    }
}

/// Returns the entropy, in nats, of the first `length` actions with the correction of Miller and Madow and its
/// standard error; shorter games count as they are. `None` below two games.
///
/// With shares `p` of `n` games and `K` different beginnings: `−Σp ln p + (K−1)/2n`, variance
/// `(Σp ln²p − (Σp ln p)²)/n`.
///
/// Source: Miller 1955, "Note on the bias of information estimates".
fn entropy_of_prefixes(prefixes: &[&[u64]], length: usize) -> Option<Estimate> {
    let ends = prefixes.iter().map(|prefix| prefix.get(..length).unwrap_or(prefix).last().copied().unwrap_or_default());
    entropy_of(ends.collect())
}

fn entropy_of(outcomes: Vec<u64>) -> Option<Estimate> {
    if outcomes.len() < 2 {
        return None;
    }
    let n = outcomes.len() as f64;
    let mut counts: BTreeMap<u64, f64> = BTreeMap::new();
    outcomes.into_iter().for_each(|outcome| *counts.entry(outcome).or_default() += 1.0);
    let moment = |power: i32| counts.values().map(|count| count / n * (count / n).ln().powi(power)).sum::<f64>();
    let value = -moment(1) + (counts.len() as f64 - 1.0) / (2.0 * n);
    Some(Estimate { value, standard_error: ((moment(2) - moment(1).powi(2)).max(0.0) / n).sqrt() })
}

/// Returns the entropy, in nats, of action `length` (from 1) given those before it, over the games that have it.
///
/// The spread of `−ln p(last | before)` over games gives the standard error.
fn conditional_entropy(prefixes: &[&[u64]], length: usize) -> Option<Estimate> {
    let long: Vec<&&[u64]> = prefixes.iter().filter(|prefix| prefix.len() >= length).collect();
    if long.len() < 2 {
        return None;
    }
    let count = |length: usize| {
        let mut counts: BTreeMap<u64, f64> = BTreeMap::new();
        for prefix in &long {
            *counts.entry(length.checked_sub(1).map_or(0, |last| prefix[last])).or_default() += 1.0;
        }
        counts
    };
    let (before, with) = (count(length - 1), count(length));
    let n = long.len() as f64;
    let surprisals: Vec<f64> = long
        .iter()
        .map(|prefix| {
            let before = before[&length.checked_sub(2).map_or(0, |last| prefix[last])];
            -(with[&prefix[length - 1]] / before).ln()
        })
        .collect();
    let mean = surprisals.iter().sum::<f64>() / n;
    let variance = surprisals.iter().map(|surprisal| (surprisal - mean).powi(2)).sum::<f64>() / n;
    // Miller and Madow's corrections of both entropies.
    let correction = (with.len() as f64 - before.len() as f64) / (2.0 * n);
    Some(Estimate { value: mean + correction, standard_error: (variance / n).sqrt() })
}

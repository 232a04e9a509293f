//! Which pool an actor plays next: the one that will take longest, so that all end at about the same time.

use std::time::Duration;

/// How long an actor plays a pool before it looks for one that will take longer.
pub(crate) const TURN: Duration = Duration::from_millis(250);

/// How far a pool is, and how long it took to come there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// What is to be played, in samples.
    pub(crate) quota: f64,
    /// What has been played of it.
    pub(crate) done: f64,
    /// Nanoseconds that an actor has spent on it.
    pub(crate) nanos: f64,
    /// Nanoseconds of a sample when the pool was played last, if it was.
    pub(crate) usual: Option<f64>,
    /// What a sample costs beside those of other pools, where nothing was measured.
    pub(crate) cost: f64,
}

impl Pace {
    /// Samples that [`Pace::usual`] counts for beside those that have been played now.
    fn weight(&self) -> f64 {
        (self.quota / 4.0).max(1.0)
    }

    /// Returns the nanoseconds of a sample and how many samples they were measured by.
    fn measured(&self) -> (f64, f64) {
        let (usual, weight) = self.usual.map_or((0.0, 0.0), |usual| (usual * self.weight(), self.weight()));
        (self.nanos + usual, self.done + weight)
    }

    /// Returns the nanoseconds of a sample, where `unit` are those of one that costs 1.
    pub(crate) fn per_sample(&self, unit: f64) -> f64 {
        let usual = self.usual.unwrap_or(self.cost * unit);
        (self.nanos + usual * self.weight()) / (self.done + self.weight())
    }

    /// Returns the nanoseconds until it is done.
    fn left(&self, unit: f64) -> f64 {
        (self.quota - self.done).max(0.0) * self.per_sample(unit)
    }
}

/// The pools that wait for an actor.
#[derive(Debug)]
pub(crate) struct Turns<P>(Vec<P>);

impl<P> Turns<P> {
    pub(crate) fn new(pools: Vec<P>) -> Turns<P> {
        Turns(pools)
    }

    /// Takes the pool that will take longest.
    pub(crate) fn take(&mut self, pace: impl Fn(&P) -> Pace) -> Option<P> {
        self.longest(None, &pace).map(|(index, _)| self.0.swap_remove(index))
    }

    /// Gives `own` back for one that will take longer by more than a turn, if there is one.
    pub(crate) fn exchange(&mut self, own: P, pace: impl Fn(&P) -> Pace) -> P {
        match self.longest(Some(&own), &pace) {
            Some((index, ahead)) if ahead > TURN.as_nanos() as f64 => std::mem::replace(&mut self.0[index], own),
            _ => own,
        }
    }

    /// Returns the pool that will take longest, and by how many nanoseconds longer than `own`.
    fn longest(&self, own: Option<&P>, pace: &impl Fn(&P) -> Pace) -> Option<(usize, f64)> {
        let (mut nanos, mut cost) = (0.0, 0.0);
        for pace in self.0.iter().chain(own).map(pace) {
            let (measured, samples) = pace.measured();
            if samples > 0.0 {
                nanos += measured;
                cost += pace.cost * samples;
            }
        }
        let unit = if cost > 0.0 { nanos / cost } else { 1.0 };
        let lefts = self.0.iter().enumerate().map(|(index, pool)| (index, pace(pool).left(unit)));
        let longest = lefts.max_by(|(first, one), (second, other)| one.total_cmp(other).then(second.cmp(first)))?;
        Some((longest.0, longest.1 - own.map_or(0.0, |own| pace(own).left(unit))))
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    use super::*;

    /// Rulesets of `universal` and six mixes: samples owed by a generation of 40,000, and milliseconds of a core for each, measured on
    /// two cores with AVX-512 in the second generation of a run from the network of the program.
    const UNIVERSAL: [(f64, f64); 32] = [
        (2668.0, 4.2),
        (2668.0, 4.1),
        (1778.0, 2.9),
        (1782.0, 2.8),
        (1774.0, 2.7),
        (1782.0, 1.8),
        (1780.0, 1.8),
        (1338.0, 2.0),
        (1778.0, 1.5),
        (1334.0, 2.0),
        (666.0, 3.9),
        (664.0, 3.8),
        (1332.0, 1.8),
        (1334.0, 1.8),
        (1340.0, 1.8),
        (1072.0, 2.1),
        (1068.0, 2.1),
        (1066.0, 2.1),
        (1082.0, 2.0),
        (668.0, 3.2),
        (692.0, 3.0),
        (1074.0, 1.9),
        (1084.0, 1.9),
        (1074.0, 1.9),
        (1078.0, 1.8),
        (1088.0, 1.8),
        (1066.0, 1.8),
        (668.0, 2.5),
        (678.0, 2.4),
        (1332.0, 1.1),
        (678.0, 2.1),
        (680.0, 2.1),
    ];

    /// Returns what fraction of the time `actors` play, where each pool has samples and milliseconds of a sample.
    fn busy(pools: &[(f64, f64)], actors: usize, knows_costs: bool) -> f64 {
        let pace = |&(quota, millis): &(f64, f64)| {
            let usual = knows_costs.then_some(1.2 * millis * 1e6);
            (Pace { quota, done: 0.0, nanos: 0.0, usual, cost: 1.0 }, millis * 1e6)
        };
        let mut turns = Turns::new(pools.iter().map(pace).collect());
        let of = |pool: &(Pace, f64)| pool.0;
        // When each actor is free, with the pool that it has.
        let mut free: BinaryHeap<Reverse<(u64, usize)>> = (0..actors).map(|actor| Reverse((0, actor))).collect();
        let mut own: Vec<Option<(Pace, f64)>> = vec![None; actors];
        let (mut played, mut end) = (0, 0);
        while let Some(Reverse((now, actor))) = free.pop() {
            let next = match own[actor].take() {
                Some(pool) if pool.0.done < pool.0.quota => Some(turns.exchange(pool, of)),
                _ => turns.take(of),
            };
            let Some((mut pace, nanos)) = next else {
                end = end.max(now);
                continue;
            };
            let samples = (TURN.as_nanos() as f64 / nanos).ceil().min(pace.quota - pace.done).max(1.0);
            pace.done += samples;
            pace.nanos += samples * nanos;
            played += (samples * nanos) as u64;
            own[actor] = Some((pace, nanos));
            free.push(Reverse((now + (samples * nanos) as u64, actor)));
        }
        played as f64 / (actors as u64 * end) as f64
    }

    /// Divides the pools as a run does: by share among twice as many as there are actors.
    fn divided(actors: usize) -> Vec<(f64, f64)> {
        let all: f64 = UNIVERSAL.iter().map(|(quota, _)| quota).sum();
        let part = |&(quota, millis): &(f64, f64)| {
            let count = (2.0 * actors as f64 * quota / all).ceil();
            (0..count as usize).map(move |_| (quota / count, millis))
        };
        UNIVERSAL.iter().flat_map(part).collect()
    }

    #[test]
    fn sixteen_actors_end_a_generation_of_many_rulesets_together() {
        for actors in [2, 4, 8, 16] {
            for knows_costs in [false, true] {
                let busy = busy(&divided(actors), actors, knows_costs);
                assert!(busy > 0.95, "{actors} actors: {busy}");
            }
        }
        // With one pool of each the largest would decide.
        assert!(busy(&UNIVERSAL, 16, true) < 0.7);
    }

    #[test]
    fn actors_with_a_pool_each_of_one_ruleset_end_together() {
        assert!(busy(&[(640.0, 10.0); 32], 16, false) > 0.95);
    }
}

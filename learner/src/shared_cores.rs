//! How games and training that run beside each other share the cores.

use std::sync::atomic::{AtomicUsize, Ordering};

use latrunculi_train::fair_gate::FairGate;

/// Gives cores to whichever of games and training would end later.
#[derive(Debug)]
pub(crate) struct SharedCores {
    actors: usize,
    /// Threads that training has at least.
    least: usize,
    /// Threads that it has at most: more have no part of a step to compute.
    most: usize,
    /// Threads that training has, unless games leave more.
    training: AtomicUsize,
}

impl SharedCores {
    /// Shares the cores of so many actors, of which at most `beside` play while there is training, whose steps have so many parts.
    pub(crate) fn new(actors: usize, beside: usize, parts: usize) -> SharedCores {
        let least = actors.saturating_sub(beside).max(1);
        let most = actors.saturating_sub(1).min(parts).max(least);
        SharedCores { actors, least, most, training: AtomicUsize::new(least) }
    }

    /// Returns how many threads the next step has, where these fractions of the training and of the games are done, and lets the
    /// other cores play. One of two cores plays and one trains.
    pub(crate) fn for_training(&self, trained: f64, played: f64, gate: &FairGate) -> usize {
        let now = self.training.load(Ordering::Relaxed);
        let next = if trained < played { now + 1 } else { now.saturating_sub(1) }.clamp(self.least, self.most);
        self.training.store(next, Ordering::Relaxed);
        let capacity = self.actors.saturating_sub(next).max(1);
        let playing = gate.set_capacity(capacity).min(capacity);
        // At the end of the games some actors have none left.
        self.actors.saturating_sub(playing).max(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_cores_each_has_one() {
        let (cores, gate) = (SharedCores::new(2, 1, 2), FairGate::new(2));
        gate.enter();
        assert!([0.0, 0.5, 1.0].into_iter().all(|trained| cores.for_training(trained, 0.6, &gate) == 1));
    }

    #[test]
    fn training_has_no_more_threads_than_parts() {
        let (cores, gate) = (SharedCores::new(8, 7, 2), FairGate::new(8));
        (0..8).for_each(|_| gate.enter());
        assert!((0..20).all(|_| cores.for_training(0.1, 0.9, &gate) <= 2));
    }

    /// Returns when training and games end that take so many seconds of one core, and how busy 16 cores are until both have.
    fn ends(training: f64, games: f64) -> (f64, f64, f64) {
        const STEP: f64 = 0.05;
        let (cores, gate) = (SharedCores::new(16, 15, 16), FairGate::new(16));
        (0..16).for_each(|_| gate.enter());
        let (mut trained, mut played, mut secs, mut ended) = (0.0, 0.0, 0.0, [0.0_f64; 2]);
        while trained < 1.0 || played < 1.0 {
            let threads = match (trained < 1.0, played < 1.0) {
                (true, true) => cores.for_training(trained, played, &gate),
                (true, false) => 16,
                _ => 0,
            };
            secs += STEP;
            for (done, work, own, end) in [(&mut trained, training, threads, 0), (&mut played, games, 16 - threads, 1)]
            {
                if *done < 1.0 {
                    *done += STEP * own as f64 / work;
                    ended[end] = secs;
                }
            }
        }
        (ended[0], ended[1], (training + games) / (16.0 * secs))
    }

    #[test]
    fn both_end_together_whichever_is_more_and_no_core_waits() {
        for (training, games) in [(40.0, 400.0), (200.0, 200.0), (400.0, 40.0)] {
            let (trained, played, busy) = ends(training, games);
            assert!((trained - played).abs() <= 0.05 * trained.max(played), "{training}, {games}: {trained}, {played}");
            assert!(busy > 0.95, "{training}, {games}: {busy}");
        }
    }
}

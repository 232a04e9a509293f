//! A gate that limits how many actors of self-play compute at a time.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Lets a limited number of actors in at a time, in the order in which they come.
/// It reserves a core for the training beside self-play. Without it, two actors and the training on two cores share them
/// by the operating system's clock, and games and training end at different times.
#[derive(Debug)]
pub struct FairGate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    /// Actors that may be inside.
    capacity: usize,
    inside: usize,
    /// The number that the next actor to come draws.
    next_number: u64,
    /// The lowest number that is not inside yet.
    now_served: u64,
}

impl FairGate {
    /// Lets `capacity` actors in at a time; at least 1.
    #[must_use]
    pub fn new(capacity: usize) -> FairGate {
        let state = State { capacity: capacity.max(1), inside: 0, next_number: 0, now_served: 0 };
        FairGate { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Waits for all who came before and for free capacity, then enters.
    pub fn enter(&self) {
        let mut state = self.lock();
        let number = state.next_number;
        state.next_number += 1;
        while state.now_served != number || state.inside >= state.capacity {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.now_served += 1;
        state.inside += 1;
        self.changed.notify_all();
    }

    /// Leaves.
    pub fn leave(&self) {
        self.lock().inside -= 1;
        self.changed.notify_all();
    }

    /// Lets `capacity` actors in at a time from now on, at least 1; returns how many are inside or wait.
    pub fn set_capacity(&self, capacity: usize) -> usize {
        let mut state = self.lock();
        state.capacity = capacity.max(1);
        self.changed.notify_all();
        state.inside + (state.next_number - state.now_served) as usize
    }

    /// Removes the limit.
    pub fn open(&self) {
        self.set_capacity(usize::MAX);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // No statement leaves the numbers inconsistent, so a panic elsewhere does no harm.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn no_more_than_the_capacity_are_inside_and_all_get_in() {
        let gate = FairGate::new(2);
        let (inside, most, passed) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        gate.enter();
                        most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        thread::yield_now();
                        inside.fetch_sub(1, Ordering::SeqCst);
                        gate.leave();
                        passed.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert!(most.into_inner() <= 2);
        assert_eq!(passed.into_inner(), 200);
    }

    #[test]
    fn an_open_gate_has_no_limit() {
        let gate = FairGate::new(1);
        gate.enter();
        gate.open();
        // Nobody has left, and yet:
        gate.enter();
        gate.enter();
    }
}

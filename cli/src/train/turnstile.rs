//! How many lanes of self-play compute at a time.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Lets so many lanes in at a time, in the order in which they come.
///
/// Training beside self-play gets a core of its own in this way: without it, two lanes and the training on two
/// cores share them by the system's clock, and games and training end at different times.
#[derive(Debug)]
pub(crate) struct Turnstile {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    /// Lanes that may be inside.
    room: usize,
    inside: usize,
    /// The number that the next lane to come draws.
    next_number: u64,
    /// The lowest number that is not inside yet.
    now_served: u64,
}

impl Turnstile {
    /// Lets `room` lanes in at a time; at least 1.
    pub(crate) fn new(room: usize) -> Turnstile {
        let state = State { room: room.max(1), inside: 0, next_number: 0, now_served: 0 };
        Turnstile { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Comes in, after those who came before, as soon as there is room.
    pub(crate) fn enter(&self) {
        let mut state = self.lock();
        let number = state.next_number;
        state.next_number += 1;
        while state.now_served != number || state.inside >= state.room {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.now_served += 1;
        state.inside += 1;
        self.changed.notify_all();
    }

    /// Goes out.
    pub(crate) fn leave(&self) {
        self.lock().inside -= 1;
        self.changed.notify_all();
    }

    /// Lets everybody in from now on.
    pub(crate) fn open(&self) {
        self.lock().room = usize::MAX;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The numbers are whole between any two statements, whatever panicked elsewhere.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn no_more_than_the_room_are_inside_and_all_come_through() {
        let turnstile = Turnstile::new(2);
        let (inside, most, passed) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        turnstile.enter();
                        most.fetch_max(inside.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        thread::yield_now();
                        inside.fetch_sub(1, Ordering::SeqCst);
                        turnstile.leave();
                        passed.fetch_add(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert!(most.into_inner() <= 2);
        assert_eq!(passed.into_inner(), 200);
    }

    #[test]
    fn an_open_turnstile_lets_everybody_in() {
        let turnstile = Turnstile::new(1);
        turnstile.enter();
        turnstile.open();
        // Nobody has left, and yet:
        turnstile.enter();
        turnstile.enter();
    }
}

//! A wish, from outside, that a search ends early.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A wish that a search ends early with the best that it has found, shared between threads: a clone is the
/// same signal.
///
/// # Examples
/// ```
/// use latrunculi_search::StopSignal;
///
/// let signal = StopSignal::default();
/// signal.clone().raise();
/// assert!(signal.is_raised());
/// signal.lower();
/// assert!(!signal.is_raised());
/// ```
#[derive(Clone, Debug, Default)]
pub struct StopSignal(Arc<AtomicBool>);

impl StopSignal {
    /// Wishes that the search ends.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Takes the wish back.
    pub fn lower(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// Tells whether the search is to end.
    #[must_use]
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Returns the flag itself, for signal handlers that set it.
    #[must_use]
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0)
    }
}

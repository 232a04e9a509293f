//! A wish, from outside, that searches end early.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A wish that searches end early with the best that they have found, shared between threads.
///
/// It counts: searches end while it has been raised more often than lowered. A clone is the same signal.
///
/// # Examples
/// ```
/// use latrunculi_search::StopSignal;
///
/// let signal = StopSignal::default();
/// let clone = signal.clone();
/// clone.raise();
/// assert!(signal.is_raised());
/// signal.lower();
/// assert!(!clone.is_raised());
/// ```
#[derive(Clone, Debug, Default)]
pub struct StopSignal(Arc<AtomicUsize>);

impl StopSignal {
    /// Wishes that searches end.
    pub fn raise(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes one wish back, if there is one.
    pub fn lower(&self) {
        // An error says that there was none, which is as it should be.
        _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |wishes| wishes.checked_sub(1));
    }

    /// Takes all wishes back.
    pub fn clear(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// Tells whether searches are to end.
    #[must_use]
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }

    /// Returns the counter itself, for signal handlers that set it to something but 0.
    #[must_use]
    pub fn counter(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.0)
    }
}

//! What ends searches early: a cancellation flag, and a deadline.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// A cancellation flag shared between threads, which may have a deadline; a clone is the same flag with the same deadline.
///
/// A search that sees it raised ends early with the best action found so far.
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
pub struct StopSignal {
    flag: Arc<AtomicBool>,
    deadline: Option<Instant>,
}

impl StopSignal {
    /// Raises the flag: searches end.
    pub fn raise(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// Lowers the flag again.
    pub fn lower(&self) {
        self.flag.store(false, Ordering::Relaxed);
    }

    /// Tells whether the flag is raised or the deadline has passed.
    #[must_use]
    pub fn is_raised(&self) -> bool {
        self.flag.load(Ordering::Relaxed) || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Returns the same flag with a deadline; the earlier one counts where it has one already.
    #[must_use]
    pub fn until(&self, deadline: Instant) -> StopSignal {
        let earlier = self.deadline.map_or(deadline, |known| known.min(deadline));
        StopSignal { flag: Arc::clone(&self.flag), deadline: Some(earlier) }
    }

    /// Returns the flag itself, for signal handlers that set it.
    #[must_use]
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.flag)
    }
}

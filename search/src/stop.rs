//! A cancellation flag for searches.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A cancellation flag shared between threads; a clone is the same flag.
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
pub struct StopSignal(Arc<AtomicBool>);

impl StopSignal {
    /// Raises the flag: searches end.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Lowers the flag again.
    pub fn lower(&self) {
        self.0.store(false, Ordering::Relaxed);
    }

    /// Tells whether the flag is raised.
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

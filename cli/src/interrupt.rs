//! Ctrl-C while something thinks.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use latrunculi_search::StopSignal;

/// What Ctrl-C does: it ends the program, but while something thinks the first one ends the thinking.
pub(crate) struct Interrupt {
    stop: StopSignal,
    ends_program: Arc<AtomicBool>,
}

impl Interrupt {
    /// Listens for Ctrl-C from now on.
    pub(crate) fn listen() -> anyhow::Result<Interrupt> {
        use signal_hook::consts::SIGINT;
        use signal_hook::flag;
        let stop = StopSignal::default();
        let ends_program = Arc::new(AtomicBool::new(true));
        let register = || -> std::io::Result<()> {
            flag::register_conditional_default(SIGINT, Arc::clone(&ends_program))?;
            flag::register(SIGINT, Arc::clone(&ends_program))?;
            flag::register(SIGINT, stop.flag())?;
            Ok(())
        };
        register().context("cannot listen for Ctrl-C")?;
        Ok(Interrupt { stop, ends_program })
    }

    /// Returns what thinking must look at to be ended.
    pub(crate) fn stop(&self) -> StopSignal {
        self.stop.clone()
    }

    /// Does `work`, which Ctrl-C ends through [`Interrupt::stop`]; tells whether it did.
    pub(crate) fn during<T>(&self, work: impl FnOnce() -> T) -> (T, bool) {
        self.stop.lower();
        self.ends_program.store(false, Ordering::SeqCst);
        let done = work();
        self.ends_program.store(true, Ordering::SeqCst);
        (done, self.stop.is_raised())
    }
}

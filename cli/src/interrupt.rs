//! Ctrl-C: while something thinks, and while long work goes on.

use std::ffi::c_int;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use anyhow::Context;
use latrunculi_search::StopSignal;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// The signal that has asked the program to stop; 0 while none has.
static SIGNAL: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

/// Listens for Ctrl-C, and returns what becomes true when it asks long work to stop. The second time ends the program at
/// once.
///
/// # Errors
/// When the system refuses.
pub(crate) fn stop_on_interrupt() -> anyhow::Result<Arc<AtomicBool>> {
    stop_on(&[SIGINT])
}

/// Listens for Ctrl-C and for SIGTERM, as `stop_on_interrupt` does.
///
/// # Errors
/// When the system refuses.
pub fn stop_on_signals() -> anyhow::Result<Arc<AtomicBool>> {
    stop_on(&[SIGINT, SIGTERM])
}

fn stop_on(signals: &[c_int]) -> anyhow::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for &signal in signals {
        // This is looked at before the flag is set.
        signal_hook::flag::register_conditional_shutdown(signal, status_of(signal), Arc::clone(&stop))
            .and_then(|_| signal_hook::flag::register_usize(signal, Arc::clone(&SIGNAL), signal as usize))
            .and_then(|_| signal_hook::flag::register(signal, Arc::clone(&stop)))
            .context("cannot listen for Ctrl-C")?;
    }
    Ok(stop)
}

/// Returns the exit status that shells give a program which a signal has ended.
fn status_of(signal: c_int) -> c_int {
    128 + signal
}

/// The work was stopped before its end, as the user wished: no failure, but not done either.
#[derive(Debug)]
pub struct Stopped {
    /// What is still to be said of it; nothing where that stands in what was printed.
    told: String,
}

impl Stopped {
    /// Says how the work goes on.
    #[must_use]
    pub fn telling(told: impl Into<String>) -> Stopped {
        Stopped { told: told.into() }
    }

    /// Says nothing more.
    #[must_use]
    pub fn silently() -> Stopped {
        Stopped { told: String::new() }
    }

    /// Returns the exit status: 130 after Ctrl-C, 143 after SIGTERM, 129 after the end of the terminal.
    pub(crate) fn status(&self) -> u8 {
        let signal = SIGNAL.load(Ordering::SeqCst) as c_int;
        u8::try_from(status_of(if signal == 0 { SIGINT } else { signal })).unwrap_or(1)
    }
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.told)
    }
}

impl std::error::Error for Stopped {}

/// What Ctrl-C does, and SIGTERM or the end of the terminal: while something thinks, or a line is waited for, the first
/// one ends that. At other times it ends the program, or the next such work as soon as that begins.
pub(crate) struct Interrupt {
    stop: StopSignal,
    ends_program: Arc<AtomicBool>,
    /// Whether it ends the program at other times.
    ends_between: bool,
}

impl Interrupt {
    /// Listens from now on. `ends_between` tells whether a signal ends the program where nothing is done that it could end.
    pub(crate) fn listen(ends_between: bool) -> anyhow::Result<Interrupt> {
        use signal_hook::flag;
        let stop = StopSignal::default();
        let ends_program = Arc::new(AtomicBool::new(ends_between));
        let register = || -> std::io::Result<()> {
            for signal in [SIGINT, SIGTERM, SIGHUP] {
                flag::register_conditional_default(signal, Arc::clone(&ends_program))?;
                flag::register(signal, Arc::clone(&ends_program))?;
                flag::register_usize(signal, Arc::clone(&SIGNAL), signal as usize)?;
                flag::register(signal, stop.flag())?;
            }
            Ok(())
        };
        register().context("cannot listen for Ctrl-C")?;
        Ok(Interrupt { stop, ends_program, ends_between })
    }

    /// Tells whether SIGTERM or the end of the terminal has come: then nobody is to be asked anything.
    pub(crate) fn was_told_to_end(&self) -> bool {
        [SIGTERM, SIGHUP].contains(&(SIGNAL.load(Ordering::SeqCst) as c_int))
    }

    /// Returns what thinking must look at to be ended.
    pub(crate) fn stop(&self) -> StopSignal {
        self.stop.clone()
    }

    /// Does `work`, which Ctrl-C ends through [`Interrupt::stop`]; tells whether it did, or had come before.
    pub(crate) fn during<T>(&self, work: impl FnOnce() -> T) -> (T, bool) {
        self.ends_program.store(false, Ordering::SeqCst);
        let done = work();
        let is_stopped = self.stop.flag().swap(false, Ordering::SeqCst);
        self.ends_program.store(self.ends_between, Ordering::SeqCst);
        (done, is_stopped)
    }
}

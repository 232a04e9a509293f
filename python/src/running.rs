//! Long work: without the interpreter's lock, with progress, and ended by Ctrl-C.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use latrunculi_search::StopSignal;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// How often Ctrl-C is looked for.
const INTERVAL: Duration = Duration::from_millis(50);

/// Where work tells how far it is.
pub(crate) type Progress<P> = Sender<P>;

/// Does `work` on a thread of its own while other threads of Python go on, and calls `tell` with what it sends. When Ctrl-C has
/// been pressed or `tell` fails, `stop` is raised, and that exception is the answer as soon as the work has ended.
pub(crate) fn run<T: Send, P: Send>(
    py: Python<'_>,
    stop: &StopSignal,
    tell: impl Fn(Python<'_>, P) -> PyResult<()> + Send + Sync,
    work: impl FnOnce(Progress<P>) -> T + Send,
) -> PyResult<T> {
    let (sender, receiver) = channel();
    let done = py.detach(move || {
        thread::scope(|scope| {
            let working = scope.spawn(move || work(sender));
            let watched = watch(&receiver, stop, &tell);
            let done = working.join();
            watched.map(|()| done)
        })
    })?;
    done.map_err(|panic| {
        let told = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref().copied());
        PyRuntimeError::new_err(format!("a fault of the program: {}", told.unwrap_or("it panicked")))
    })
}

/// Waits until the work has ended.
fn watch<P>(
    receiver: &Receiver<P>,
    stop: &StopSignal,
    tell: &(impl Fn(Python<'_>, P) -> PyResult<()> + Sync),
) -> PyResult<()> {
    let mut failed = Ok(());
    loop {
        let told = match receiver.recv_timeout(INTERVAL) {
            Ok(progress) if failed.is_ok() => Python::attach(|py| tell(py, progress)),
            Ok(_) => Ok(()),
            Err(RecvTimeoutError::Timeout) => Ok(()),
            Err(RecvTimeoutError::Disconnected) => return failed,
        };
        if failed.is_ok() {
            failed = told.and_then(|()| Python::attach(|py| py.check_signals()));
            if failed.is_err() {
                stop.raise();
            }
        }
    }
}

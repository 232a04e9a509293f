//! Fuzz targets: mutated files and texts for every reader of the program.
//!
//! A [`Target`] has seeds (valid inputs), a mutator and a check. The check reads the input as the program does and panics
//! where something that was accepted is not true: it must be within its ranges, be playable, and survive being written and
//! read again. Mutators know the structure of their input and repair its checksums, so that the checks behind them are
//! reached.
//!
//! [`Target::run`] is deterministic: the same seed gives the same inputs. Every input has a limit of processor time and
//! of memory. What broke a reader once is in `corpus/NAME/` and is tried first.

mod driver;
mod mutate;
pub mod targets;

pub use driver::{Failure, Target};
pub use mutate::{Mutator, mutated};

/// Counts the memory in use.
#[global_allocator]
pub static MEMORY: peak_alloc::PeakAlloc = peak_alloc::PeakAlloc;

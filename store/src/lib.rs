//! Object stores by URL: a folder that machines share, or a bucket of S3, Google Cloud or Azure.
//!
//! What is written under a name is written once ([`Store::create`]): whoever comes second is refused, and that is no error.
//! So any number of machines may do the same work at any time, and what counts does not depend on clocks or on who is
//! alive. The functions block; each gives up after a bounded time, and within a fraction of a second after the stop flag
//! is set.

mod errors;
#[cfg(feature = "faults")]
pub mod faults;
mod open;
mod proof;
mod store;
mod unit;
mod worker;

pub use errors::StoreError;
pub use proof::{Check, Proof};
pub use store::{Created, Object, Patience, StopFlag, Store, sha256};
pub use unit::{HEADER_BYTES_MAX, REJECTED, UNITS, UnitHeader, Version, Waiting};
pub use worker::{PlayedUnit, WorkDone, WorkOrder, Worker};

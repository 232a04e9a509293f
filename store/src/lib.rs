//! Object stores by URL: a folder that machines share, or a bucket. What is written under a name is written once, and whoever comes
//! second is refused. The functions block, give up after a bounded time, and end soon after the stop flag is set.

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

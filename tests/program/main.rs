//! The program as a user meets it.

mod analyse;
#[cfg(feature = "libtorch")]
mod bad_files;
mod balance;
mod commands;
mod engine;
#[cfg(feature = "libtorch")]
mod halves;
mod inspect;
mod interrupts;
mod matches;
mod play;
mod rate;
mod serve;
mod shell;
mod support;
#[cfg(feature = "libtorch")]
mod train;
mod train_script;
mod without_libtorch;
mod workers;

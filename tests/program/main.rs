//! The program as a user meets it.

mod bad_files;
mod balance;
mod commands;
mod halves;
mod rate;
mod train;

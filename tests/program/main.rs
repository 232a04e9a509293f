//! The program as a user meets it.

mod balance;
mod commands;
mod halves;
mod rate;
mod train;

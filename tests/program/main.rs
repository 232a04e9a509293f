//! The program as a user meets it.

mod balance;
mod commands;
mod rate;
mod train;

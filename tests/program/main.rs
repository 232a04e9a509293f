//! The program as a user meets it.

mod commands;
mod rate;
mod train;

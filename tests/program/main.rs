//! The program as a user meets it.

mod analyse;
mod bad_files;
mod balance;
mod commands;
mod engine;
mod halves;
mod inspect;
mod interrupts;
mod matches;
mod play;
mod rate;
mod shell;
mod support;
mod train;
mod train_script;

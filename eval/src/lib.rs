//! Agents, matches and their statistics.

pub mod statistics;

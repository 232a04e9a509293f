//! Agents, matches, ratings, fairness studies and their reports.

pub mod agents;
mod error;
pub mod learning;
pub mod matches;
pub mod metrics;
pub mod opinion;
mod players;
pub mod rating;
pub mod report;
pub mod study;
pub mod workers;

pub use agents::{
    Agent, AgentError, AgentKind, AgentSpec, AgentTextError, Candidate, Choice, OnThreads, SearchKind, SearchLimits,
    SearchOptions,
};
pub use error::Error;
pub use latrunculi_stats::Number;
pub use matches::{MatchConfig, MatchGame, MatchProgress, MatchReport, play_match};
pub use players::{OpenNetwork, Players};

//! Agents, matches, ratings, fairness studies and their reports.

pub mod agents;
pub mod learning;
pub mod matches;
pub mod metrics;
pub mod opinion;
pub mod rating;
pub mod report;
pub mod study;
pub mod workers;

pub use agents::{
    Agent, AgentError, AgentKind, AgentSpec, AgentTextError, Candidate, Choice, OnThreads, SearchLimits, SearchOptions,
};
pub use latrunculi_stats::Number;
pub use matches::{MatchConfig, MatchError, MatchGame, MatchProgress, MatchReport, play_match};

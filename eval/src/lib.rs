//! Agents, matches and their statistics.

pub mod agents;
mod game_play;
pub mod learning;
pub mod ledger;
pub mod match_play;
pub mod metrics;
pub mod openings;
pub mod rating;
pub mod report;
pub mod statistics;
pub mod study;

pub use agents::{
    Agent, AgentError, AgentKind, AgentSpec, AgentTextError, Candidate, Choice, Thinking, ThinkingLimits,
};
pub use match_play::{MatchConfig, MatchError, MatchProgress, MatchReport, PlayedGame, play_match};

//! Plays many games at once and turns them into training samples.
//!
//! No network is named here: callers bring an evaluator ([`latrunculi_search::Evaluator`]), such as a network, or let
//! alpha-beta play ([`TeacherSettings`]).

pub mod actors;
pub mod ended;
pub mod error;
pub mod journal;
pub mod pool;
pub mod seeds;
pub mod settings;
pub mod teacher;

mod active_game;
mod openings;
mod record;

pub use actors::{ActorEvaluator, PlayedGame, PoolResult, PoolTask, Progress, Quota, Watch, play_pools};
pub use ended::{EndedGame, ended_to_bytes, judge_ended};
pub use error::SelfPlayError;
pub use journal::Journal;
pub use pool::{Pool, PoolPlan, PoolState, states_from_bytes, states_to_bytes};
pub use seeds::{GameKey, Purpose};
pub use settings::{PlayoutCapSettings, SelfPlaySettings, StartSettings};
pub use teacher::{TeacherSettings, ValueSettings};

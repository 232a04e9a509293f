//! Plays many games at once and turns them into training samples.
//! No network is named here: callers bring an evaluator ([`latrunculi_search::Evaluator`]), such as a network, or let
//! alpha-beta play ([`TeacherSettings`]).

pub mod error;
pub mod finished;
pub mod journal;
pub mod pool;
pub mod seeds;
pub mod settings;
pub mod teacher;

mod active_game;
mod record;
mod turns;

pub use error::SelfPlayError;
pub use finished::{FinishedGame, finished_to_bytes, verify_finished};
pub use journal::Journal;
pub use pool::{
    ActorEvaluator, PlayedGame, PlayedPools, Pool, PoolPlan, PoolState, PoolTask, Progress, Quota, Watch, play_pools,
    states_from_bytes, states_to_bytes,
};
pub use seeds::{GameKey, Purpose};
pub use settings::{PlayoutCapSettings, SelfPlaySettings, StartSettings};
pub use teacher::{TeacherSettings, ValueSettings};

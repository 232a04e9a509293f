//! Many games at once into training shards, and the window of shards that training draws from.
//!
//! No network is named here: whoever plays brings an evaluator (`latrunculi_search::Evaluator`), be it a
//! network, the static evaluation of alpha-beta ([`Teacher`]), or a stub.

pub mod error;
pub mod games;
pub mod journal;
pub mod replay;
pub mod samples;
pub mod seeds;
pub mod settings;
pub mod shard;
mod shard_summary;
pub mod teacher;

pub mod weighting;

mod cache;
mod openings;
mod slot;

pub use error::{JournalError, SelfPlayError, ShardError};
pub use games::{PlayedGame, Progress, SelfPlayPlan, Watch, play_games};
pub use journal::Journal;
pub use replay::{ReplaySettings, ReplayWindow};
pub use samples::Samples;
pub use seeds::{GameKey, Purpose};
pub use settings::{PlayoutCapSettings, SelfPlaySettings, StartSettings};
pub use shard::{ShardInfo, read_shard, write_shard};
pub use shard_summary::ShardSummary;
pub use teacher::{AlphaBetaTeaching, Teacher, TeacherSettings};
pub use weighting::{ResignationSettings, SurpriseSettings};

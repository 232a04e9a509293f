//! What a network sees and learns from: features, policy index, samples, shards, replay window. And the files of networks.
//! Plain vectors and files; nothing here knows libtorch.
//! Legend: `N` samples or `B` positions of a batch, `C` planes, `S` scalars (of positions alone in shards, with those
//! of the ruleset in batches), `H` ranks, `W` files, `A = H * W` squares, `P = ceil(A / 8)` bytes of a packed plane, `L`
//! legal actions of all positions.

mod batch;
mod device_choice;
mod error;
pub mod exported;
pub mod features;
pub mod files;
pub mod heads;
pub mod layout;
pub mod model_file;
pub mod model_info;
pub mod network_config;
pub mod npz;
pub mod policy_index;
mod precision;
pub mod ranges;
pub mod replay;
pub mod rule_inputs;
mod ruleset_cache;
pub mod sample;
pub mod schema;
pub mod shard;
pub mod tensor_file;
pub mod trained_ruleset;
pub mod training_config;

pub use batch::{Answers, PositionBatch};
pub use device_choice::{DeviceChoice, UnknownDevice};
pub use error::{Error, check_length};
pub use exported::{ExportFormat, read_exported, verify_check_data};
pub use features::{ENCODING_VERSION, EncodedPosition, Encoder, EncodingNames, PLANES, SCALARS, Shape};
pub use layout::ParameterLayout;
pub use model_file::{StoredCheckpoint, StoredModel};
pub use model_info::{MatchScore, MeasuredMargin, Measurement, ModelHistory, ModelInfo};
pub use network_config::{NetworkConfig, Pooling};
pub use policy_index::ActionIndices;
pub use precision::{Precision, PrecisionDifference, cpu_has_bf16};
pub use replay::{Draws, ReplayPart, ReplaySettings, ReplayWindow, ReplayWindows};
pub use ruleset_cache::RulesetCache;
pub use sample::{Sample, Samples, SparsePolicy, TrainingBatch, sums_to_one};
pub use shard::{SHARD_VERSION, ShardInfo, ShardSummary, read_shard, write_shard};
pub use tensor_file::{NamedTensor, TensorFileHeader};
pub use trained_ruleset::{Familiarity, TrainedRuleset};
pub use training_config::{StepReport, TrainingConfig, TrainingCounters};

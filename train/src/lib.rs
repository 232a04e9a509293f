//! Training runs and networks in play, without libtorch.
//! A run is a folder ([`run_dir`]), made from a [`TrainConfig`]. This crate reads such folders, plays the games of a
//! generation ([`generation`]) with a network ([`networks`]) or alpha-beta, and defines what a run reports ([`metrics`],
//! [`observer`]). The training itself, which needs libtorch, is the crate `latrunculi-learner`. The library prints nothing.

pub mod config;
pub mod run_dir;
pub mod runs;

pub mod evaluation;
pub mod fair_gate;
pub mod generation;
pub mod metrics;
pub mod networks;
pub mod observer;
pub mod precision;
pub mod workers;

pub mod curves;
pub mod events;
pub mod model_card;
pub mod models;
pub mod provenance;

pub mod error;
pub mod files;
pub mod folders;
pub mod mixes;
pub mod rulesets;
pub mod run_rulesets;
pub mod studies;

pub use config::{ConfigSource, RulesetChoice, SHIPPED_CONFIGS, TrainConfig};
pub use error::{Error, error_chain};
pub use observer::{Event, Observer, Work};
pub use precision::{PrecisionChoice, choose_precision};
pub use provenance::Origin;

//! Training runs as a library: self-play, training and evaluation, round after round.
//!
//! A run is a folder ([`run_dir`]). [`TrainingRun::begin`] makes one from a [`TrainConfig`], [`TrainingRun::resume`] opens
//! one that was interrupted, and [`TrainingRun::run`] goes on to its end. Progress goes to an [`Observer`]; the library
//! prints nothing.
//!
//! ```no_run
//! use std::path::Path;
//!
//! use latrunculi_train::{ConfigSource, Origin, StopFlag, TrainConfig, TrainingRun};
//!
//! let mut config = TrainConfig::read(&ConfigSource::find("quick")?, &[])?;
//! config.rulesets = "savard".into();
//! config.budget.minutes = 30.0;
//! let folder = Path::new("runs/savard-1");
//! let mut run = TrainingRun::begin(config, folder, &Origin::default(), StopFlag::default(), &())?;
//! run.run()?;
//! // runs/savard-1/export/model.safetensors is the trained network, result.json its measured strength.
//! # Ok::<(), latrunculi_train::Error>(())
//! ```

pub mod config;
pub mod run_dir;
pub mod runs;

mod conclude;
mod round;
mod run;
mod run_pools;
mod state;

pub mod evaluation;
pub mod fair_gate;
pub mod generation;
pub mod learner;
pub mod metrics;
pub mod observer;
pub mod play_network;

pub mod curves;
pub mod events;
pub mod export;
pub mod model_card;
pub mod models;
pub mod provenance;

pub mod error;
pub mod files;
pub mod mixes;
pub mod rulesets;
pub mod run_rulesets;

pub use config::{ConfigSource, RulesetChoice, SHIPPED_CONFIGS, TrainConfig};
pub use error::{Error, error_chain};
pub use metrics::{GameMetrics, RoundMetrics, RulesetMetrics, TrainingMetrics};
pub use observer::{Event, Observer, WorkProgress};
pub use provenance::Origin;
pub use run::{RunEnd, StopFlag, TrainingRun};

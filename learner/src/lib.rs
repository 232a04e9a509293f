//! Training runs with libtorch: self-play, training and evaluation, round after round.
//!
//! [`TrainingRun::begin`] makes the folder of a run from a [`TrainConfig`], [`TrainingRun::resume`] opens one that was
//! interrupted, and [`TrainingRun::run`] goes on to its end. Progress goes to an [`Observer`]; the library prints nothing.
//! Configurations, folders and metrics are those of `latrunculi-train`.
//!
//! ```no_run
//! use std::path::PathBuf;
//!
//! use latrunculi_train::{ConfigSource, Origin, TrainConfig};
//! use latrunculi_learner::{StopFlag, TrainingRun};
//!
//! let mut config = TrainConfig::read(&ConfigSource::find("quick")?, &[])?;
//! config.rulesets = "savard".into();
//! config.budget.minutes = 30.0;
//! let folder = || Ok(PathBuf::from("runs/savard-1"));
//! let mut run = TrainingRun::begin(config, folder, &Origin::default(), StopFlag::default(), &())?;
//! run.run()?;
//! // runs/savard-1/export/model.safetensors is the trained network, result.json its measured strength.
//! # Ok::<(), latrunculi_train::Error>(())
//! ```

mod conclude;
mod confirm;
mod final_matches;
mod round;
mod run;
mod run_pools;
mod shared_cores;
mod state;

mod error;
pub mod export;
pub mod play_network;

#[cfg(doc)]
use latrunculi_train::{Observer, TrainConfig};

pub use error::{OfLibtorch, is_divergence};
pub use play_network::{LibtorchNetwork, OnDevice};
pub use round::{StepPlan, train_steps};
pub use run::{RunEnd, StopFlag, TrainingRun};

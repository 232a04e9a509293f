//! Who follows a run: a program that prints, a test that counts, or nobody.

use std::collections::BTreeMap;
use std::path::Path;

use latrunculi_data::{Precision, PrecisionDifference};
use latrunculi_eval::learning::{Round, RunMatch};

use crate::TrainConfig;

/// Something that happened in a run.
#[derive(Debug)]
pub enum Event<'a> {
    /// The network plays in 32 bits because its answers in fewer bits differ too much.
    RoundingRefused {
        /// The generation that is played.
        generation: u64,
        /// How far the answers differ.
        difference: PrecisionDifference,
    },
    /// The metrics of the rounds so far are gone.
    MetricsMissing {
        /// The file where they were.
        path: &'a Path,
    },
    /// The run begins, or goes on after a break.
    Started {
        /// The run's folder.
        folder: &'a Path,
        /// The configuration.
        config: &'a TrainConfig,
        /// Number of the network's weights.
        parameters: usize,
        /// The device.
        device: String,
        /// Precision of self-play.
        precision: Precision,
        /// What was done before the break.
        done: Totals,
    },
    /// A round has ended and its checkpoint is on the disk.
    RoundEnded {
        /// The numbers of the round.
        metrics: &'a Round,
        /// The configuration.
        config: &'a TrainConfig,
        /// Seconds left of the budget, if it limits the time.
        secs_left: Option<f64>,
    },
    /// One of several final matches is over.
    FinalMatchEnded {
        /// How many are, this one included.
        done: usize,
        /// How many there will be.
        all: usize,
        /// The ruleset.
        ruleset: &'a str,
        /// The result.
        verdict: &'a RunMatch,
    },
    /// The final matches are over and all files are written.
    Finished {
        /// What the whole run did.
        done: Totals,
        /// Training steps made.
        steps: u64,
        /// Seconds that the rounds took.
        elapsed_secs: f64,
        /// Seconds of the final match.
        match_secs: f64,
        /// The results of the final matches by ruleset.
        verdicts: &'a BTreeMap<String, RunMatch>,
        /// One line for each file written, naming its path.
        written: &'a [String],
    },
}

/// What a run has done so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Totals {
    /// Generations played.
    pub generations: u64,
    /// Games played.
    pub games: u64,
    /// Samples made of them.
    pub samples: u64,
}

/// Follows a run. Its methods are called from several threads.
pub trait Observer: Sync {
    /// Receives an event.
    fn event(&self, _event: Event<'_>) {}

    /// Is called when a piece of work of `parts` parts begins; `unit` says what they are: games, samples or steps.
    /// `secs_left` is what is left of the budget. The returned value receives the progress and is dropped when the work ends.
    fn begin(&self, _work: &str, _parts: u64, _unit: &'static str, _secs_left: Option<f64>) -> Work<'_> {
        Box::new(|_| ())
    }
}

/// Receives how many parts of one piece of work are done.
pub type Work<'a> = Box<dyn Fn(u64) + Send + Sync + 'a>;

/// Ignores everything.
impl Observer for () {}

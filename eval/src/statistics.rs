//! What results of games say, and how surely: scores, ratings, sequential tests, intervals.
//!
//! Plain functions of counts; nothing here plays a game, keeps state on disk or prints. Everything is
//! deterministic: the bootstrap takes a key, and gives the same numbers on any number of threads.
//!
//! # Conventions
//! - A win counts 1, a draw ½, a loss 0. Every count and score names **whose** it is: "first player" is
//!   the player who makes the first placement or move of the game; "agent" is one contestant,
//!   whichever seat it has.
//! - `N` counts games, `σ²` is the variance of one game's score, `s` a mean score in `[0, 1]`.
//! - Strengths are in nats inside the fits; one nat is [`ELO_PER_NAT`] Elo.
//! - A number that data cannot give is a [`StatisticsError`] or `None`, never `NaN`.
//!
//! # Reading order
//! [`score`] and [`pairs`] describe one match; [`sprt`] and [`stopping`] say when to end it;
//! [`bradley_terry`] joins many agents; [`multiplicity`] judges many rulesets at once.

pub mod bootstrap;
pub mod bradley_terry;
pub mod clusters;
pub mod compensation;
pub mod confidence_sequence;
pub mod draw_model;
pub mod error;
pub mod interval;
pub mod multiplicity;
pub mod pairs;
pub mod proportion;
pub mod rank;
pub mod sample_size;
pub mod score;
pub mod sprt;
pub mod stopping;
pub mod trend;

mod distribution;
pub(crate) mod linear_algebra;

pub use bootstrap::{Bootstrap, BootstrapKey};
pub use bradley_terry::{BradleyTerry, Covariance, Fit, SeriesResult};
pub use clusters::ClusteredScore;
pub use draw_model::DrawModel;
pub use error::StatisticsError;
pub use interval::{Confidence, Estimate, Interval};
pub use multiplicity::{BalanceVerdict, Equivalence};
pub use pairs::{PairTable, Pentanomial};
pub use score::{ELO_PER_NAT, GameResult, Score, Trinomial};
pub use sprt::{Hypotheses, Sample, Sprt, SprtBounds};
pub use stopping::FixedWidth;

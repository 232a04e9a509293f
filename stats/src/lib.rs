//! Statistics of game results: scores, intervals, the bootstrap, sequential tests, ratings, multiple testing.
//!
//! Functions of counts and numbers; nothing here plays a game, reads files or prints. All results are
//! deterministic: the bootstrap takes a key and gives the same numbers on any number of threads.
//!
//! # Conventions
//! - A win counts 1, a draw ½, a loss 0. Every count and score names **whose** it is: "first player" is
//!   the player who makes the first placement or move of the game; "agent" is one contestant,
//!   whether it plays first or second.
//! - `N` counts games, `σ²` is the variance of one game's score, `s` a mean score in `[0, 1]`.
//! - Strengths are in nats inside the fits; one nat is [`ELO_PER_NAT`] Elo.
//! - A number that the data do not determine is a [`StatisticsError`] or `None`, never `NaN`.
//!
//! # Reading order
//! [`score`] and [`pairs`] describe one match; [`sprt`] and [`stopping`] decide when to end it;
//! [`bradley_terry`] rates many agents; [`multiplicity`] tests many rulesets at once.

pub mod bootstrap;
pub mod bradley_terry;
pub mod cholesky;
pub mod clusters;
pub mod compensation;
pub mod draw_model;
pub mod error;
pub mod interval;
pub mod mean_test;
pub mod multiplicity;
pub mod pairs;
pub mod proportion;
pub mod rank;
pub mod score;
pub mod sprt;
pub mod stopping;

mod distribution;
mod number;

pub use bootstrap::{Bootstrap, BootstrapKey};
pub use bradley_terry::{BradleyTerry, Covariance, Fit, SeriesResult};
pub use clusters::ClusteredScore;
pub use draw_model::DrawModel;
pub use error::StatisticsError;
pub use interval::{Confidence, Estimate, Interval};
pub use mean_test::MeanTest;
pub use multiplicity::{BalanceVerdict, Equivalence};
pub use number::Number;
pub use pairs::{PairTable, Pentanomial};
pub use score::{ELO_PER_NAT, GameResult, Score, WinDrawLoss};
pub use sprt::{Sprt, SprtBounds, SprtVerdict};
pub use stopping::FixedWidth;

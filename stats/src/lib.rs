//! Statistics of game results: scores, intervals, the bootstrap, sequential tests, ratings, multiple testing. The same
//! numbers on any number of threads.
//! A win counts 1, a draw ½, a loss 0, of the player or agent that each count and score names. `N` counts games, `σ²` is the
//! variance of one game's score, `s` a mean score in `[0, 1]`. Strengths are in nats, of [`ELO_PER_NAT`] Elo. A number that the
//! data do not determine is a [`StatisticsError`] or `None`, never `NaN`.

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

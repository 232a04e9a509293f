//! Tree search: one narrow [`Game`] trait, one [`Evaluator`] trait, alpha-beta and MCTS over them.

pub mod alphabeta;
pub mod evaluator;
pub mod evaluators;
pub mod exhaustive;
pub mod game;
pub mod latrunculi;
pub mod mcts;
mod mix;
mod stop;
pub mod toy;

pub use evaluator::{EvalError, Evaluation, Evaluator, win_draw_loss};
pub use game::Game;
pub use mix::mix;
pub use stop::StopSignal;

/// Version of the searches' behaviour. Ledgers of games and study folders store it, so that games of different versions
/// do not mix.
///
/// Raise it with every change after which a search may, in some position and within the same limits, choose another
/// action, spend other nodes or simulations, or return another value: alpha-beta and its features, the tree searches,
/// the playouts, the agents' settings for them. Changed weights of the features need no new version: ledgers store
/// [`latrunculi::Weights::numbers`] themselves. A golden test fails when alpha-beta's results change.
pub const SEARCH_VERSION: u32 = 12;

/// The example of README.md.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

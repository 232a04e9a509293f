//! Tree search: one narrow [`Game`] trait, one [`Evaluator`] trait, alpha-beta and MCTS over them.

pub mod alphabeta;
pub mod evaluator;
pub mod evaluators;
pub mod exhaustive;
pub mod game;
pub mod latrunculi;
pub mod mcts;
mod stop;
pub mod toy;

pub use evaluator::{EvalError, Evaluation, Evaluator};
pub use game::Game;
pub use stop::StopSignal;

/// Stands for how the searches of this crate choose, so that nobody mixes their games with those of another version:
/// ledgers of games and the folders of studies hold it.
///
/// To be raised with every change of the code after which a search may, in some position and within the same limits,
/// choose another action, spend another effort or tell another value: of alpha-beta and its features, of the tree
/// searches, of the playouts, of what agents ask of them. The weights of alpha-beta's features are told apart by
/// themselves ([`latrunculi::Weights::numbers`]). A test holds what version 1 of alpha-beta finds, and fails where that
/// changes.
pub const SEARCH_VERSION: u32 = 1;

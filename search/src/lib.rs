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

//! Tree search: one narrow [`Game`] trait, one [`Evaluator`] trait, alpha-beta and MCTS over them.

pub mod evaluator;
pub mod game;

pub use evaluator::{EvalError, Evaluation, Evaluator};
pub use game::Game;

//! Tests of the searches on games with known values, and against mctx.

mod alphabeta;
mod graph;
mod mcts;

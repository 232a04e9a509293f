//! Tests of the searches on games with known values, and against mctx.

mod alphabeta;
mod golden;
mod graph;
mod latrunculi;
mod mcts;
mod symmetry;

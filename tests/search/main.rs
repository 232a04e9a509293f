//! Tests of the searches on games with known values, and against mctx.

mod alphabeta;
mod evaluation;
mod golden;
mod graph;
mod latrunculi;
mod mcts;
mod symmetry;

//! Tests of the searches on games with known values, and against mctx.

mod alphabeta;
mod evaluation;
mod golden;
mod graph;
mod latrunculi;
mod mcts;
mod solved;
mod symmetry;

use latrunculi_search::Game;

fn legal<G: Game>(game: &G) -> Vec<G::Action> {
    let mut actions = Vec::new();
    game.legal_actions(&mut actions);
    actions
}

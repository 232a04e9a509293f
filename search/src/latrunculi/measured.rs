//! What `bench engine` and `bench search` measure.

use latrunculi_engine::{Action, GameState, play_out};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::LatrunculiHeuristic;
use crate::alphabeta::{AlphaBeta, AlphaBetaResult, AlphaBetaSettings, Limits};
use crate::evaluator::EvalError;
use crate::evaluators::Uniform;
use crate::mcts::{Search, SearchBudget, SearchResult, Settings};
use crate::mix;

/// Plays `state` to its end with uniformly random actions and returns their number.
/// `actions` is memory for the legal list, reused.
pub fn play_at_random(state: &mut GameState, actions: &mut Vec<Action>, seed: u64) -> u64 {
    let mut random = seed;
    play_out(state, actions, |count| {
        random = mix(random);
        ((u128::from(random) * count as u128) >> 64) as usize
    })
}

/// Both searches of one ruleset, to measure their speed.
/// They have no type parameters, so they are compiled in this crate; the program that measures them is not optimised.
pub struct MeasuredSearches {
    alphabeta: AlphaBeta<GameState, LatrunculiHeuristic>,
    mcts: Search<GameState>,
}

impl MeasuredSearches {
    /// Returns searches for games of the rules of `start`.
    pub fn new(start: &GameState) -> MeasuredSearches {
        let heuristic = LatrunculiHeuristic::new(start.rules());
        MeasuredSearches {
            alphabeta: AlphaBeta::new(AlphaBetaSettings::default(), heuristic),
            mcts: Search::new(Settings::gumbel(), start),
        }
    }

    /// Searches `game` with alpha-beta for `nodes` nodes.
    pub fn alphabeta(&mut self, game: &GameState, nodes: u64) -> AlphaBetaResult<Action> {
        self.alphabeta.search(game, Limits::nodes(nodes))
    }

    /// Makes `game` the root of a new tree for that many simulations; `seed` determines them.
    pub fn begin_tree(&mut self, game: &GameState, simulations: u32, seed: u64) {
        self.mcts.set_root(game);
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        self.mcts.start(SearchBudget { simulations, add_noise: false }, &mut random);
    }

    /// Runs the simulations of the tree that was begun, with a uniform policy and the value 0, and returns what was found.
    /// Error: those of an evaluator; the uniform one has none.
    pub fn grow_tree(&mut self) -> Result<SearchResult<Action>, EvalError> {
        self.mcts.run(&mut Uniform)?;
        Ok(self.mcts.result())
    }

    /// Returns the simulations that the last tree has had.
    pub fn simulations(&self) -> u32 {
        self.mcts.simulations()
    }
}

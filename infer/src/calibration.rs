//! Positions of games that a network plays by its own policy: what the scales of 8-bit activations are taken from. They
//! depend on the weights and the rules alone.

use std::sync::Arc;

use latrunculi_data::Error;
use latrunculi_engine::{Action, GameState, Rules};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::model::Session;
use crate::policy;
use latrunculi_data::{Answers, PositionBatch};

/// Games, decisions of each, and every how many decisions a position is taken.
const GAMES: usize = 16;
const DECISIONS: usize = 96;
const STRIDE: usize = 12;
const SEED: u64 = 1;

/// Returns 128 positions of games whose actions are drawn from the network's policy.
pub(crate) fn positions(session: &mut Session, rules: &Arc<Rules>) -> Result<PositionBatch, Error> {
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let mut games: Vec<GameState> = (0..GAMES).map(|_| GameState::new(Arc::clone(rules))).collect();
    let (mut taken, mut current) = (PositionBatch::default(), PositionBatch::default());
    let mut answers = Answers::default();
    let mut legal: Vec<Vec<Action>> = vec![Vec::new(); GAMES];
    for decision in 0..DECISIONS {
        current.clear();
        for (game, actions) in games.iter_mut().zip(&mut legal) {
            if game.outcome().is_some() {
                *game = GameState::new(Arc::clone(rules));
            }
            game.legal_actions(actions);
            current.push_game(game, actions);
            if decision % STRIDE == STRIDE - 1 {
                taken.push_game(game, actions);
            }
        }
        session.answer(&current, &mut answers)?;
        for ((game, actions), pair) in games.iter_mut().zip(&legal).zip(answers.offsets.windows(2)) {
            game.play(actions[policy::draw(&answers.logits[pair[0]..pair[1]], &mut rng)]);
        }
    }
    Ok(taken)
}

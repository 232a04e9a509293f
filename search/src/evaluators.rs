//! Evaluators that need no network.

use latrunculi_engine::Player;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::evaluator::{EvalError, Evaluation, Evaluator};
use crate::game::Game;

/// Uniform policy; win and loss have equal probability.
#[derive(Clone, Copy, Debug, Default)]
pub struct Uniform;

impl<G: Game> Evaluator<G> for Uniform {
    fn evaluate(
        &mut self,
        _games: &[&G],
        legal_actions: &[&[G::Action]],
        evaluations: &mut [Evaluation],
    ) -> Result<(), EvalError> {
        for (actions, evaluation) in legal_actions.iter().zip(evaluations) {
            write_uniform(actions.len(), evaluation);
            evaluation.win_draw_loss = [0.5, 0.0, 0.5];
        }
        Ok(())
    }

    fn for_another_thread(&self) -> Option<Box<dyn Evaluator<G> + Send + '_>> {
        Some(Box::new(Uniform))
    }
}

fn write_uniform(action_count: usize, evaluation: &mut Evaluation) {
    evaluation.policy_logits.clear();
    evaluation.policy_logits.resize(action_count, 0.0);
}

/// Evaluates a position by random playouts; the policy is uniform.
/// Source: Coulom 2006, "Efficient selectivity and backup operators in Monte-Carlo tree search".
#[derive(Clone, Debug)]
pub struct Rollouts<G: Game> {
    rng: ChaCha8Rng,
    rollouts: u32,
    plies_max: u32,
    scratch: Option<G>,
    actions: Vec<G::Action>,
}

impl<G: Game> Rollouts<G> {
    /// Creates an evaluator that averages `rollouts` random games of at most `plies_max` actions each; a
    /// game that is not over by then counts as a draw.
    /// Panics when `rollouts` is 0.
    #[must_use]
    pub fn new(rollouts: u32, plies_max: u32, rng: ChaCha8Rng) -> Rollouts<G> {
        assert!(rollouts > 0, "at least one rollout");
        Rollouts { rng, rollouts, plies_max, scratch: None, actions: Vec::new() }
    }

    /// Begins the random numbers anew.
    pub fn reseed(&mut self, seed: u64) {
        self.rng = ChaCha8Rng::seed_from_u64(seed);
    }

    /// Plays `game` to its end at random; returns the winner, `None` for a draw or a game that is too long.
    fn play_out(&mut self, game: &G) -> Option<Player> {
        let scratch = self.scratch.get_or_insert_with(|| game.clone());
        scratch.clone_from(game);
        for _ in 0..self.plies_max {
            if let Some(outcome) = scratch.outcome() {
                return outcome.winner;
            }
            scratch.legal_actions(&mut self.actions);
            scratch.play(self.actions[self.rng.random_range(0..self.actions.len())]);
        }
        scratch.outcome().and_then(|outcome| outcome.winner)
    }
}

impl<G: Game> Evaluator<G> for Rollouts<G> {
    fn evaluate(
        &mut self,
        games: &[&G],
        legal_actions: &[&[G::Action]],
        evaluations: &mut [Evaluation],
    ) -> Result<(), EvalError> {
        for ((game, actions), evaluation) in games.iter().zip(legal_actions).zip(evaluations) {
            write_uniform(actions.len(), evaluation);
            let player = game.player_to_act();
            let mut counts = [0u32; 3];
            for _ in 0..self.rollouts {
                counts[match self.play_out(game) {
                    Some(winner) if winner == player => 0,
                    None => 1,
                    Some(_) => 2,
                }] += 1;
            }
            evaluation.win_draw_loss = counts.map(|count| count as f32 / self.rollouts as f32);
        }
        Ok(())
    }
}

impl<G: Game, E: Evaluator<G> + ?Sized> Evaluator<G> for Box<E> {
    fn evaluate(
        &mut self,
        games: &[&G],
        legal_actions: &[&[G::Action]],
        evaluations: &mut [Evaluation],
    ) -> Result<(), EvalError> {
        (**self).evaluate(games, legal_actions, evaluations)
    }

    fn positions_at_once(&self) -> usize {
        (**self).positions_at_once()
    }

    fn for_another_thread(&self) -> Option<Box<dyn Evaluator<G> + Send + '_>> {
        (**self).for_another_thread()
    }
}

//! Evaluators that need no network, and a cache for any.

use std::num::NonZeroUsize;

use latrunculi_engine::Player;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::evaluator::{EvalError, Evaluation, Evaluator};
use crate::game::Game;

/// Knows nothing: every action is as likely, win and loss balance.
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
}

fn write_uniform(action_count: usize, evaluation: &mut Evaluation) {
    evaluation.policy_logits.clear();
    evaluation.policy_logits.resize(action_count, 0.0);
}

/// Judges a position by playing it out at random; its policy is uniform.
///
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
    ///
    /// # Panics
    /// When `rollouts` is 0.
    #[must_use]
    pub fn new(rollouts: u32, plies_max: u32, rng: ChaCha8Rng) -> Rollouts<G> {
        assert!(rollouts > 0, "at least one rollout");
        Rollouts { rng, rollouts, plies_max, scratch: None, actions: Vec::new() }
    }

    /// Plays `game` out; returns the winner, if anybody won in time.
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

/// Remembers the answers of another evaluator.
///
/// Keyed by [`Game::full_key`], so by everything that an evaluator can see. A table of fixed size in which a
/// newer answer takes the place of an older one with the same slot; to be cleared when the evaluator
/// behind it changes.
#[derive(Clone, Debug)]
pub struct Cache<E> {
    inner: E,
    slots: Vec<Slot>,
    hits: u64,
    misses: u64,
    missing: Vec<usize>,
    answers: Vec<Evaluation>,
}

#[derive(Clone, Debug, Default)]
struct Slot {
    key: u64,
    /// An empty policy marks an empty slot.
    evaluation: Evaluation,
}

impl<E> Cache<E> {
    /// Wraps `inner` by a cache of `slots` answers, rounded up to a power of two.
    #[must_use]
    pub fn new(inner: E, slots: NonZeroUsize) -> Cache<E> {
        let slots = vec![Slot::default(); slots.get().next_power_of_two()];
        Cache { inner, slots, hits: 0, misses: 0, missing: Vec::new(), answers: Vec::new() }
    }

    /// Forgets all answers.
    pub fn clear(&mut self) {
        for slot in &mut self.slots {
            slot.evaluation.policy_logits.clear();
        }
    }

    /// Returns how many positions were answered from memory, and how many were not.
    #[must_use]
    pub fn hits_and_misses(&self) -> (u64, u64) {
        (self.hits, self.misses)
    }

    /// Returns the evaluator behind the cache. Clear the cache after changing it.
    pub fn inner_mut(&mut self) -> &mut E {
        &mut self.inner
    }

    fn slot_index(&self, key: u64) -> usize {
        key as usize & (self.slots.len() - 1)
    }
}

impl<G: Game, E: Evaluator<G>> Evaluator<G> for Cache<E> {
    fn evaluate(
        &mut self,
        games: &[&G],
        legal_actions: &[&[G::Action]],
        evaluations: &mut [Evaluation],
    ) -> Result<(), EvalError> {
        self.missing.clear();
        for (index, (game, actions)) in games.iter().zip(legal_actions).enumerate() {
            let key = game.full_key();
            let slot = &self.slots[self.slot_index(key)];
            if slot.key == key && slot.evaluation.policy_logits.len() == actions.len() {
                copy(&slot.evaluation, &mut evaluations[index]);
            } else {
                self.missing.push(index);
            }
        }
        self.hits += (games.len() - self.missing.len()) as u64;
        self.misses += self.missing.len() as u64;
        if self.missing.is_empty() {
            return Ok(());
        }
        if self.answers.len() < self.missing.len() {
            self.answers.resize_with(self.missing.len(), Evaluation::default);
        }
        let missing_games: Vec<&G> = self.missing.iter().map(|&index| games[index]).collect();
        let missing_actions: Vec<&[G::Action]> = self.missing.iter().map(|&index| legal_actions[index]).collect();
        let answers = &mut self.answers[..self.missing.len()];
        self.inner.evaluate(&missing_games, &missing_actions, answers)?;
        for position in 0..self.missing.len() {
            let index = self.missing[position];
            let key = games[index].full_key();
            let slot_index = self.slot_index(key);
            let slot = &mut self.slots[slot_index];
            slot.key = key;
            copy(&self.answers[position], &mut slot.evaluation);
            copy(&self.answers[position], &mut evaluations[index]);
        }
        Ok(())
    }
}

fn copy(from: &Evaluation, to: &mut Evaluation) {
    to.policy_logits.clear();
    to.policy_logits.extend_from_slice(&from.policy_logits);
    to.win_draw_loss = from.win_draw_loss;
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
}

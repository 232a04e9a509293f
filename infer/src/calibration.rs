//! Positions of games that a network plays by its own policy: what the scales of 8-bit activations are taken from, and
//! what kernels are compared on. They depend on the weights and the rules alone.

use std::fmt;
use std::sync::Arc;

use latrunculi_engine::{Action, GameState, Rules};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

use crate::batch::{Answers, PositionBatch};
use crate::error::{AnswerError, KernelError};
use crate::model::{InferenceModel, Kernel, Session};

/// Games, decisions of each, and every how many decisions a position is taken.
const GAMES: usize = 16;
const DECISIONS: usize = 96;
const STRIDE: usize = 12;
/// Seed of their actions.
const SEED: u64 = 1;

/// Returns 128 positions of games whose actions are drawn from the network's policy.
///
/// # Errors
/// As [`Session::answer`].
pub(crate) fn positions(session: &mut Session, rules: &Arc<Rules>) -> Result<PositionBatch, AnswerError> {
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
            let mut rest = rng.random::<f64>();
            let drawn = probabilities(&answers.logits[pair[0]..pair[1]]).iter().position(|probability| {
                rest -= probability;
                rest < 0.0
            });
            game.play(actions[drawn.unwrap_or(actions.len() - 1)]);
        }
    }
    Ok(taken)
}

/// How far answers differ from those in 32 bits, mean over positions; infinite where an answer is not finite.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AnswerDifference {
    /// Total variation distance of the policies over the legal actions, in `[0, 1]`.
    pub policy: f64,
    /// Absolute difference of the expected results (win minus loss), in `[0, 2]`.
    pub value: f64,
}

/// Largest mean difference, of the policy and of the value, that is taken for rounding.
const DIFFERENCE_MAX: f64 = 0.03;

impl AnswerDifference {
    /// Compares a kernel's answers with those in 32 bits on positions of games that the network plays by its own policy.
    ///
    /// # Errors
    /// When the kernel is not available, or the answers in 32 bits are not finite.
    pub fn of_kernel(
        model: &InferenceModel,
        kernel: Kernel,
        rules: &Arc<Rules>,
    ) -> Result<AnswerDifference, KernelError> {
        let networks = model.networks(kernel)?;
        let session = |kernel: Kernel| Ok::<_, KernelError>(model.networks(kernel)?.get(rules)?.session());
        let batch = match positions(&mut session(Kernel::best())?, rules) {
            Err(AnswerError::NotFinite) => return Ok(AnswerDifference::INFINITE),
            found => found?,
        };
        let mut answers = [Answers::default(), Answers::default()];
        session(Kernel::F32)?.answer(&batch, &mut answers[0])?;
        match networks.get(rules)?.session().answer(&batch, &mut answers[1]) {
            Ok(()) => {}
            Err(AnswerError::NotFinite) => return Ok(AnswerDifference::INFINITE),
            Err(error) => return Err(error.into()),
        }
        let [exact, short] = &answers;
        let numbers = |answers: &Answers| (answers.logits.clone(), answers.win_draw_loss.clone());
        Ok(AnswerDifference::between(&exact.offsets, &numbers(exact), &numbers(short)))
    }

    /// That of answers that are not finite.
    pub const INFINITE: AnswerDifference = AnswerDifference { policy: f64::INFINITY, value: f64::INFINITY };

    /// Compares the answers to one batch of `B` positions: logits and probabilities of win, draw and loss, `[L]` and
    /// `[B]`; the logits of position `i` are `offsets[i]..offsets[i + 1]`.
    #[must_use]
    pub fn between(
        offsets: &[usize],
        exact: &(Vec<f32>, Vec<[f32; 3]>),
        short: &(Vec<f32>, Vec<[f32; 3]>),
    ) -> AnswerDifference {
        let (mut policy, mut value) = (0.0, 0.0);
        for (position, pair) in offsets.windows(2).enumerate() {
            let [left, right] = [exact, short].map(|(logits, _)| probabilities(&logits[pair[0]..pair[1]]));
            policy += left.iter().zip(&right).map(|(left, right)| (left - right).abs()).sum::<f64>() / 2.0;
            let [left, right] = [exact, short].map(|(_, values)| {
                let [win, _, loss] = values[position].map(f64::from);
                win - loss
            });
            value += (left - right).abs();
        }
        let mean = |sum: f64| {
            let mean = sum / (offsets.len() - 1) as f64;
            if mean.is_finite() { mean } else { f64::INFINITY }
        };
        AnswerDifference { policy: mean(policy), value: mean(value) }
    }

    /// Tells whether it is taken for rounding.
    #[must_use]
    pub fn is_small(&self) -> bool {
        self.policy <= DIFFERENCE_MAX && self.value <= DIFFERENCE_MAX
    }
}

impl fmt::Display for AnswerDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "policy {:.4}, value {:.4}, allowed {DIFFERENCE_MAX}", self.policy, self.value)
    }
}

/// Returns the softmax of `logits`.
#[must_use]
pub fn probabilities(logits: &[f32]) -> Vec<f64> {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let weights: Vec<f64> = logits.iter().map(|logit| f64::from(logit - largest).exp()).collect();
    let total: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / total).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_answers_differ_and_equal_ones_do_not() {
        let answers = |logits: [f32; 3], win: f32| (logits.to_vec(), vec![[win, 0.0, 1.0 - win]; 2]);
        let (exact, offsets) = (answers([1.0, 2.0, 0.0], 0.5), [0, 2, 3]);
        let between = |other| AnswerDifference::between(&offsets, &exact, &other);
        assert_eq!(between(exact.clone()), AnswerDifference { policy: 0.0, value: 0.0 });
        assert!((between(answers([2.0, 1.0, 0.0], 0.5)).policy - 0.5 * 0.4621).abs() < 1e-3);
        assert!((between(answers([1.0, 2.0, 0.0], 0.6)).value - 0.2).abs() < 1e-6);
        assert!(!between(answers([f32::NAN, 2.0, 0.0], 0.5)).is_small());
    }
}

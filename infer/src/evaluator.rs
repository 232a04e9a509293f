//! The network as search sees it.

use std::sync::Arc;

use latrunculi_data::{Shape, rule_inputs};
use latrunculi_engine::{Action, GameState, Rules};
use latrunculi_search::{EvalError, Evaluation, Evaluator};

use crate::batch::{Answers, PositionBatch};
use crate::error::BatchError;
use crate::model::{InferenceNetwork, Session};

/// Answers for search with a network, a batch at a time, on the calling thread. Each evaluating thread has its own.
#[derive(Debug)]
pub struct InferenceEvaluator {
    session: Session,
    positions: PositionBatch,
    answers: Answers,
    /// The rules of the last batch and their inputs.
    rules: Option<(Arc<Rules>, Vec<f32>)>,
}

impl InferenceEvaluator {
    /// Makes an evaluator with buffers of its own; the weights are shared.
    #[must_use]
    pub fn new(network: &InferenceNetwork) -> InferenceEvaluator {
        InferenceEvaluator {
            session: network.session(),
            positions: PositionBatch::default(),
            answers: Answers::default(),
            rules: None,
        }
    }

    /// Returns the network.
    #[must_use]
    pub fn network(&self) -> &InferenceNetwork {
        self.session.network()
    }
}

impl Evaluator<GameState> for InferenceEvaluator {
    fn evaluate(
        &mut self,
        games: &[&GameState],
        legal_actions: &[&[Action]],
        evaluations: &mut [Evaluation],
    ) -> Result<(), EvalError> {
        assert!(games.len() == legal_actions.len() && games.len() == evaluations.len(), "one of each per position");
        let Some(game) = games.first() else { return Ok(()) };
        let (batch, network) = (Shape::of(game.rules()), *self.network().shape());
        if batch != network {
            let error = BatchError::Shape { batch: format!("{batch:?}"), network: format!("{network:?}") };
            return Err(EvalError::Device(error.to_string()));
        }
        let rules = game.rules();
        let (_, inputs) = match &mut self.rules {
            Some(known) if Arc::ptr_eq(&known.0, rules) => known,
            other => other.insert((Arc::clone(rules), rule_inputs::of(rules.ruleset()))),
        };
        self.positions.clear(inputs);
        for (game, actions) in games.iter().zip(legal_actions) {
            self.positions.push_game(game, actions);
        }
        let answered = self.session.answer(&self.positions, &mut self.answers);
        answered.map_err(|error| EvalError::Device(error.to_string()))?;
        let Answers { logits, offsets, win_draw_loss, margin } = &self.answers;
        let values = win_draw_loss.iter().zip(margin);
        for ((evaluation, offset), (values, margin)) in evaluations.iter_mut().zip(offsets.windows(2)).zip(values) {
            evaluation.policy_logits.clear();
            evaluation.policy_logits.extend_from_slice(&logits[offset[0]..offset[1]]);
            evaluation.win_draw_loss = *values;
            evaluation.margin = *margin;
        }
        Ok(())
    }
}

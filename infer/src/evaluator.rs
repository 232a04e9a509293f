//! The network as search sees it.

use std::sync::Arc;

use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_engine::{Action, GameState, Rules};
use latrunculi_search::{EvalError, Evaluation, Evaluator};

use crate::batch::{Answers, PositionBatch};
use crate::error::KernelError;
use crate::model::{RULESETS_MAX, RulesetNetworks, Session};

/// Answers for search with a network, a batch of one ruleset at a time, on the calling thread. Each evaluating thread has
/// its own; it answers any ruleset.
#[derive(Debug)]
pub struct InferenceEvaluator {
    networks: RulesetNetworks,
    /// Those for rulesets; the last asked for comes last.
    sessions: Vec<RulesetSession>,
    positions: PositionBatch,
    answers: Answers,
}

#[derive(Debug)]
struct RulesetSession {
    rules: Arc<Rules>,
    fingerprint: String,
    session: Session,
}

impl InferenceEvaluator {
    /// Makes an evaluator with buffers of its own; the weights are shared.
    #[must_use]
    pub fn new(networks: &RulesetNetworks) -> InferenceEvaluator {
        InferenceEvaluator {
            networks: networks.clone(),
            sessions: Vec::new(),
            positions: PositionBatch::default(),
            answers: Answers::default(),
        }
    }

    /// Makes the session for these rules the last one.
    fn begin(&mut self, rules: &Arc<Rules>) -> Result<(), KernelError> {
        if self.sessions.last().is_some_and(|last| Arc::ptr_eq(&last.rules, rules)) {
            return Ok(());
        }
        let fingerprint = ruleset_fingerprint(rules.ruleset());
        let found = self.sessions.iter().position(|known| known.fingerprint == fingerprint);
        let session = match found {
            Some(place) => self.sessions.remove(place).session,
            None => self.networks.get(rules)?.session(),
        };
        if self.sessions.len() == RULESETS_MAX {
            self.sessions.remove(0);
        }
        self.sessions.push(RulesetSession { rules: Arc::clone(rules), fingerprint, session });
        Ok(())
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
        let rules = game.rules();
        let is_same = |other: &Arc<Rules>| {
            Arc::ptr_eq(other, rules) || ruleset_fingerprint(other.ruleset()) == ruleset_fingerprint(rules.ruleset())
        };
        assert!(games.iter().all(|other| is_same(other.rules())), "a batch is of one ruleset");
        self.begin(rules).map_err(|error| EvalError::Device(error.to_string()))?;
        self.positions.clear();
        for (game, actions) in games.iter().zip(legal_actions) {
            self.positions.push_game(game, actions);
        }
        let session = &mut self.sessions.last_mut().expect("it was made ready").session;
        let answered = session.answer(&self.positions, &mut self.answers);
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

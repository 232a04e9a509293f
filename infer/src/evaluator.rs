//! The network as search sees it.

use std::sync::Arc;

use latrunculi_data::{Error, RulesetCache};
use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_engine::{Action, GameState, Rules};
use latrunculi_search::{EvalError, Evaluation, Evaluator};

use crate::batch::{Answers, PositionBatch};
use crate::model::{RulesetNetworks, Session};

/// Answers for search with a network, a batch of one ruleset at a time, on the calling thread. Each evaluating thread has
/// its own; it answers any ruleset.
#[derive(Debug)]
pub struct InferenceEvaluator {
    networks: RulesetNetworks,
    sessions: RulesetCache<Session>,
    positions: PositionBatch,
    answers: Answers,
}

impl InferenceEvaluator {
    /// Makes an evaluator with buffers of its own; the weights are shared.
    #[must_use]
    pub fn new(networks: &RulesetNetworks) -> InferenceEvaluator {
        InferenceEvaluator {
            networks: networks.clone(),
            sessions: RulesetCache::default(),
            positions: PositionBatch::default(),
            answers: Answers::default(),
        }
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
        let networks = &self.networks;
        let begun = self.sessions.get_or_make(rules, || Ok::<_, Error>(networks.get(rules)?.session()));
        let session = begun.map_err(|error| EvalError(error.to_string()))?;
        self.positions.clear();
        for (game, actions) in games.iter().zip(legal_actions) {
            self.positions.push_game(game, actions);
        }
        let answered = session.answer(&self.positions, &mut self.answers);
        answered.map_err(|error| EvalError(error.to_string()))?;
        let Answers { logits, offsets, win_draw_loss, .. } = &self.answers;
        for ((evaluation, offset), values) in evaluations.iter_mut().zip(offsets.windows(2)).zip(win_draw_loss) {
            evaluation.policy_logits.clear();
            evaluation.policy_logits.extend_from_slice(&logits[offset[0]..offset[1]]);
            evaluation.win_draw_loss = *values;
        }
        Ok(())
    }

    fn positions_at_once(&self) -> usize {
        self.networks.kernel.positions_at_once()
    }

    fn for_another_thread(&self) -> Option<Box<dyn Evaluator<GameState> + Send + '_>> {
        Some(Box::new(InferenceEvaluator::new(&self.networks)))
    }
}

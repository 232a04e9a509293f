//! The network as search sees it.

use std::sync::Arc;

use latrunculi_data::{Error, RulesetCache};
use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_engine::{Action, GameState, Rules};
use latrunculi_search::{EvalError, Evaluation, Evaluator};

use crate::model::{RulesetNetworks, Session};
use latrunculi_data::{Answers, PositionBatch};

/// Answers for search with a network, a batch of one ruleset at a time, on the calling thread. Each evaluating thread has
/// its own; it answers any ruleset.
#[derive(Debug)]
pub struct InferenceEvaluator {
    networks: RulesetNetworks,
    sessions: RulesetCache<Session>,
    buffers: EvaluationBuffers,
}

/// What an evaluator of games keeps from batch to batch.
#[derive(Debug, Default)]
pub struct EvaluationBuffers {
    positions: PositionBatch,
    answers: Answers,
}

impl EvaluationBuffers {
    /// Evaluates games of one ruleset by what `answer` answers to them.
    /// Panics when there is not one list of actions and one evaluation per game, or a game is of another ruleset.
    pub fn evaluate(
        &mut self,
        games: &[&GameState],
        legal_actions: &[&[Action]],
        evaluations: &mut [Evaluation],
        answer: impl FnOnce(&PositionBatch, &mut Answers) -> Result<(), EvalError>,
    ) -> Result<(), EvalError> {
        assert!(games.len() == legal_actions.len() && games.len() == evaluations.len(), "one of each per position");
        let is_same = |left: &Arc<Rules>, right: &Arc<Rules>| {
            Arc::ptr_eq(left, right) || ruleset_fingerprint(left.ruleset()) == ruleset_fingerprint(right.ruleset())
        };
        assert!(games.iter().all(|game| is_same(game.rules(), games[0].rules())), "a batch is of one ruleset");
        self.positions.clear();
        for (game, actions) in games.iter().zip(legal_actions) {
            self.positions.push_game(game, actions);
        }
        answer(&self.positions, &mut self.answers)?;
        let Answers { logits, offsets, win_draw_loss, .. } = &self.answers;
        for ((evaluation, offset), values) in evaluations.iter_mut().zip(offsets.windows(2)).zip(win_draw_loss) {
            evaluation.policy_logits.clear();
            evaluation.policy_logits.extend_from_slice(&logits[offset[0]..offset[1]]);
            evaluation.win_draw_loss = *values;
        }
        Ok(())
    }
}

impl InferenceEvaluator {
    /// Makes an evaluator with buffers of its own; the weights are shared.
    #[must_use]
    pub fn new(networks: &RulesetNetworks) -> InferenceEvaluator {
        InferenceEvaluator {
            networks: networks.clone(),
            sessions: RulesetCache::default(),
            buffers: EvaluationBuffers::default(),
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
        let Some(game) = games.first() else { return Ok(()) };
        let failed = |error: Error| EvalError(error.to_string());
        let (networks, rules) = (&self.networks, game.rules());
        let session = self.sessions.get_or_make(rules, || Ok(networks.get(rules)?.session())).map_err(failed)?;
        let answer =
            |positions: &PositionBatch, answers: &mut Answers| session.answer(positions, answers).map_err(failed);
        self.buffers.evaluate(games, legal_actions, evaluations, answer)
    }

    fn positions_at_once(&self) -> usize {
        self.networks.kernel.positions_at_once()
    }

    fn for_another_thread(&self) -> Option<Box<dyn Evaluator<GameState> + Send + '_>> {
        Some(Box::new(InferenceEvaluator::new(&self.networks)))
    }
}

//! An evaluator that needs no network and answers any ruleset.

use std::sync::Arc;

use latrunculi_engine::{Action, GameState, Player, Rules};
use latrunculi_search::alphabeta::Heuristic;
use latrunculi_search::latrunculi::LatrunculiHeuristic;
use latrunculi_search::{EvalError, Evaluation, Evaluator};

/// Logit of an action that takes a man at once, where one that takes nothing has 0.
const GAIN_LOGIT: f32 = 2.0;

/// An evaluator without a network: alpha-beta's static evaluation as win, draw and loss, and a policy that prefers
/// captures.
#[derive(Clone, Debug, Default)]
pub(crate) struct StaticEvaluator {
    /// Of the rules of the last batch.
    heuristic: Option<(Arc<Rules>, LatrunculiHeuristic)>,
    /// Positions of each batch so far.
    pub(crate) batches: Vec<usize>,
}

impl Evaluator<GameState> for StaticEvaluator {
    fn evaluate(
        &mut self,
        games: &[&GameState],
        legal_actions: &[&[Action]],
        evaluations: &mut [Evaluation],
    ) -> Result<(), EvalError> {
        let rules = games[0].rules();
        assert!(games.iter().all(|game| Arc::ptr_eq(game.rules(), rules)), "a batch holds one ruleset");
        self.batches.push(games.len());
        if self.heuristic.as_ref().is_none_or(|(known, _)| !Arc::ptr_eq(known, rules)) {
            self.heuristic = Some((Arc::clone(rules), LatrunculiHeuristic::new(rules)));
        }
        let (_, heuristic) = self.heuristic.as_ref().unwrap();
        for ((game, actions), evaluation) in games.iter().zip(legal_actions).zip(evaluations) {
            let sign = if game.player_to_act() == Player::First { 1.0 } else { -1.0 };
            let score = heuristic.evaluate(game) as f32 * sign;
            let lead = (score / 300.0).tanh();
            let draw = 0.1 * (1.0 - lead.abs());
            evaluation.win_draw_loss = [(1.0 - draw + lead) / 2.0, draw, (1.0 - draw - lead) / 2.0];
            evaluation.policy_logits.clear();
            evaluation.policy_logits.extend(actions.iter().map(|&action| {
                let men = heuristic.capture_gain(game, action) as f32 / 100.0;
                men.clamp(0.0, 2.0) * GAIN_LOGIT
            }));
        }
        Ok(())
    }
}

//! The network as an evaluator of positions for search.

use latrunculi_engine::{Action, GameState};
use latrunculi_search::{EvalError, Evaluation, Evaluator};

use crate::inference::{Answers, InferenceNetwork};
use latrunculi_data::{BatchError, EncodedPositions, Shape};

/// Evaluates positions for search with a network, a batch at a time.
///
/// On the processor it computes in the calling thread alone; each thread should have its own evaluator.
#[derive(Debug)]
pub struct NetEvaluator {
    network: InferenceNetwork,
    positions: EncodedPositions,
    answers: Answers,
}

impl NetEvaluator {
    /// Makes an evaluator of a network.
    #[must_use]
    pub fn new(network: InferenceNetwork) -> NetEvaluator {
        NetEvaluator { network, positions: EncodedPositions::default(), answers: Answers::default() }
    }

    /// Returns the network.
    #[must_use]
    pub fn network(&self) -> &InferenceNetwork {
        &self.network
    }
}

impl Evaluator<GameState> for NetEvaluator {
    fn evaluate(
        &mut self,
        games: &[&GameState],
        legal_actions: &[&[Action]],
        evaluations: &mut [Evaluation],
    ) -> Result<(), EvalError> {
        assert!(games.len() == legal_actions.len() && games.len() == evaluations.len(), "one of each per position");
        let Some(game) = games.first() else { return Ok(()) };
        let shape = Shape::of(game.rules());
        if shape != *self.network.shape() {
            let error =
                BatchError::Shape { batch: format!("{shape:?}"), network: format!("{:?}", self.network.shape()) };
            return Err(EvalError::Device(error.to_string()));
        }
        self.positions.clear();
        for (game, actions) in games.iter().zip(legal_actions) {
            self.positions.push(game, actions);
        }
        let batch = self.positions.as_batch();
        self.network.answer(&batch, &mut self.answers).map_err(|error| EvalError::Device(error.to_string()))?;
        let offsets = batch.action_offsets.windows(2);
        let values = self.answers.win_draw_loss.iter().zip(&self.answers.margin);
        for ((evaluation, offset), (win_draw_loss, margin)) in evaluations.iter_mut().zip(offsets).zip(values) {
            evaluation.policy_logits.clear();
            evaluation.policy_logits.extend_from_slice(&self.answers.logits[offset[0] as usize..offset[1] as usize]);
            evaluation.win_draw_loss = *win_draw_loss;
            evaluation.margin = *margin;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use latrunculi_data::NetworkConfig;
    use latrunculi_engine::{Rules, presets};

    use super::*;
    use crate::{Device, Network, Precision};

    /// Games on the way, each a few actions further than the one before.
    fn games(ruleset: &str) -> Vec<GameState> {
        let rules = Arc::new(Rules::new(&presets::ruleset(ruleset).unwrap()).unwrap());
        let mut game = GameState::new(rules);
        let mut actions = Vec::new();
        let mut games = Vec::new();
        for step in 0..40 {
            games.push(game.clone());
            game.legal_actions(&mut actions);
            game.play(actions[(step * 7 + 3) % actions.len()]);
            if game.outcome().is_some() {
                break;
            }
        }
        games
    }

    #[test]
    fn positions_of_every_ruleset_are_answered_one_by_one_as_together() {
        for name in presets::NAMES {
            let games = games(name);
            let shape = Shape::of(games[0].rules());
            let network = Network::new(&NetworkConfig::default(), &shape, 5, Device::CPU).unwrap();
            let network = InferenceNetwork::new(&network, Device::CPU, Precision::F32).unwrap();
            let mut evaluator = NetEvaluator::new(network);
            let actions: Vec<Vec<Action>> = games
                .iter()
                .map(|game| {
                    let mut actions = Vec::new();
                    game.legal_actions(&mut actions);
                    actions
                })
                .collect();
            let all_games: Vec<&GameState> = games.iter().collect();
            let all_actions: Vec<&[Action]> = actions.iter().map(Vec::as_slice).collect();
            let mut together = vec![Evaluation::default(); games.len()];
            evaluator.evaluate(&all_games, &all_actions, &mut together).unwrap();
            for place in (0..games.len()).step_by(13) {
                let mut alone = [Evaluation::default()];
                evaluator.evaluate(&all_games[place..=place], &all_actions[place..=place], &mut alone).unwrap();
                assert_eq!(alone[0].policy_logits.len(), actions[place].len(), "{name}");
                let values = alone[0].win_draw_loss;
                assert!((values.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{name}");
                let pairs = alone[0].policy_logits.iter().zip(&together[place].policy_logits);
                for (left, right) in pairs.chain(values.iter().zip(&together[place].win_draw_loss)) {
                    assert!((left - right).abs() < 1e-4, "{name}: {left} {right}");
                }
            }
        }
    }

    #[test]
    fn games_on_another_board_are_refused() {
        let games = games("bell");
        let shape = Shape { files: 3, ..Shape::of(games[0].rules()) };
        let network = Network::new(&NetworkConfig::default(), &shape, 5, Device::CPU).unwrap();
        let mut evaluator = NetEvaluator::new(InferenceNetwork::new(&network, Device::CPU, Precision::F32).unwrap());
        let mut actions = Vec::new();
        games[0].legal_actions(&mut actions);
        let error = evaluator.evaluate(&[&games[0]], &[&actions], &mut [Evaluation::default()]).unwrap_err();
        assert!(error.to_string().contains("shape"), "{error}");
    }
}

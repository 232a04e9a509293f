//! The network as an evaluator of positions for search.

use latrunculi_data::{Answers, PositionBatch, Precision, RulesetCache};
use latrunculi_engine::{Action, GameState};
use latrunculi_infer::EvaluationBuffers;
use latrunculi_search::{EvalError, Evaluation, Evaluator};

use crate::device::Device;
use crate::error::Error;
use crate::inference::InferenceNetwork;
use crate::network::Network;

/// Evaluates positions for search with a network, a batch of one ruleset at a time. It answers any ruleset; the network
/// is made ready for each on first use.
/// On the processor it computes in the calling thread alone; each thread should have its own evaluator.
#[derive(Debug)]
pub struct NetEvaluator {
    network: Network,
    device: Device,
    precision: Precision,
    ready: RulesetCache<InferenceNetwork>,
    buffers: EvaluationBuffers,
}

impl NetEvaluator {
    /// Makes an evaluator of a network, whose weights are shared.
    #[must_use]
    pub fn new(network: &Network, device: Device, precision: Precision) -> NetEvaluator {
        NetEvaluator {
            network: network.shared(),
            device,
            precision,
            ready: RulesetCache::default(),
            buffers: EvaluationBuffers::default(),
        }
    }
}

impl Evaluator<GameState> for NetEvaluator {
    fn evaluate(
        &mut self,
        games: &[&GameState],
        legal_actions: &[&[Action]],
        evaluations: &mut [Evaluation],
    ) -> Result<(), EvalError> {
        let Some(game) = games.first() else { return Ok(()) };
        let failed = |error: Error| EvalError(error.to_string());
        let NetEvaluator { network, device, precision, .. } = self;
        let make = || InferenceNetwork::new(network, game.rules(), *device, *precision);
        let ready = self.ready.get_or_make(game.rules(), make).map_err(failed)?;
        let answer =
            |positions: &PositionBatch, answers: &mut Answers| ready.answer(positions, answers).map_err(failed);
        self.buffers.evaluate(games, legal_actions, evaluations, answer)
    }
}

#[cfg(test)]
mod tests {

    use latrunculi_data::NetworkConfig;
    use latrunculi_engine::presets;

    use super::*;
    use crate::tests::perturbed;

    /// Games on the way, each a few actions further than the one before.
    fn games(ruleset: &str) -> Vec<GameState> {
        let rules = presets::rules(ruleset);
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
    fn one_evaluator_answers_every_ruleset_one_by_one_as_together() {
        let network = perturbed(&NetworkConfig::default());
        let mut evaluator = NetEvaluator::new(&network, Device::CPU, Precision::F32);
        let mut first_values = Vec::new();
        for name in presets::NAMES.iter().chain(&presets::NAMES[..3]) {
            let games = games(name);
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
            first_values.push(together[0].win_draw_loss);
            for place in (0..games.len()).step_by(13) {
                let mut alone = [Evaluation::default()];
                evaluator.evaluate(&all_games[place..=place], &all_actions[place..=place], &mut alone).unwrap();
                assert_eq!(alone[0].policy_logits.len(), actions[place].len(), "{name}");
                let values = alone[0].win_draw_loss;
                assert!((values.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{name}");
                let pairs = alone[0].policy_logits.iter().zip(&together[place].policy_logits);
                for (left, right) in pairs.chain(values.iter().zip(&together[place].win_draw_loss)) {
                    assert!((left - right).abs() < 1e-4 * (1.0 + right.abs()), "{name}: {left} {right}");
                }
            }
        }
        let known = presets::NAMES.len();
        assert_eq!(first_values[known..], first_values[..3], "a ruleset that was ready before");
        assert_eq!(evaluator.ready.len(), known, "made ready once for each");
    }
}

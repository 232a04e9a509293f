//! The same network by libtorch and by `latrunculi-infer`.

use latrunculi_data::{ModelInfo, NetworkConfig, Pooling, Precision, StoredModel, TrainedRuleset};
use latrunculi_engine::{Action, GameState, presets};
use latrunculi_infer::{InferenceEvaluator, InferenceModel, Kernel};
use latrunculi_search::{Evaluation, Evaluator};

use crate::tests::perturbed;
use crate::{Device, Model, NetEvaluator};

/// Games on the way, each a few actions further than the one before.
fn games(ruleset: &str) -> Vec<GameState> {
    let rules = presets::rules(ruleset);
    let mut game = GameState::new(rules);
    let mut actions = Vec::new();
    let mut games = Vec::new();
    for step in 0..60 {
        if step % 3 == 0 {
            games.push(game.clone());
        }
        game.legal_actions(&mut actions);
        game.play(actions[(step * 7 + 3) % actions.len()]);
        if game.outcome().is_some() {
            break;
        }
    }
    games
}

#[test]
fn infer_answers_as_libtorch_does() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.safetensors");
    for (index, name) in presets::NAMES.iter().enumerate() {
        let games = games(name);
        let rules = games[0].rules();
        let pooling = [Pooling::GlobalBias, Pooling::None][index % 3 / 2];
        let channels = [16, 24, 32, 48][index % 4];
        let config = NetworkConfig { blocks: 3, channels, pooling, ..Default::default() };
        let network = perturbed(&config);
        let mut expected = NetEvaluator::new(&network, Device::CPU, Precision::F32);
        let rulesets = vec![TrainedRuleset::new(rules, 1.0)];
        Model { network, info: ModelInfo { rulesets, ..ModelInfo::default() } }.save(&path).unwrap();
        let stored = StoredModel::read(&path).unwrap();
        assert_eq!(stored.info.rulesets, [TrainedRuleset::new(rules, 1.0)]);
        let model = InferenceModel::from_tensors(&stored.config, stored.tensors).unwrap();

        let actions: Vec<Vec<Action>> = games
            .iter()
            .map(|game| {
                let mut actions = Vec::new();
                game.legal_actions(&mut actions);
                actions
            })
            .collect();
        let of_games: Vec<&GameState> = games.iter().collect();
        let of_actions: Vec<&[Action]> = actions.iter().map(Vec::as_slice).collect();
        let mut left = vec![Evaluation::default(); games.len()];
        expected.evaluate(&of_games, &of_actions, &mut left).unwrap();
        for kernel in Kernel::available() {
            let networks = model.networks(kernel).unwrap();
            let mut found = InferenceEvaluator::new(&networks);
            let mut right = vec![Evaluation::default(); games.len()];
            found.evaluate(&of_games, &of_actions, &mut right).unwrap();
            let logits = |evaluations: &[Evaluation]| -> Vec<f32> {
                evaluations.iter().flat_map(|evaluation| evaluation.policy_logits.clone()).collect()
            };
            let values = |evaluations: &[Evaluation]| -> Vec<f32> {
                evaluations.iter().flat_map(|evaluation| evaluation.win_draw_loss).collect()
            };
            let greatest = |left: Vec<f32>, right: Vec<f32>| {
                assert_eq!(left.len(), right.len());
                left.iter().zip(&right).map(|(left, right)| (left - right).abs()).fold(0.0, f32::max)
            };
            let squares: f32 = logits(&left).iter().map(|logit| logit.powi(2)).sum();
            let size = (squares / logits(&left).len() as f32).sqrt();
            let found = [greatest(logits(&left), logits(&right)), greatest(values(&left), values(&right))];
            let allowed = match kernel {
                Kernel::F32 => [1e-4, 1e-4],
                Kernel::Bf16(_) | Kernel::Int8(_) => [0.15 * size, 0.03],
            };
            println!("{name} {kernel}: {found:?}, logits of size {size}");
            assert!(found[0] <= allowed[0] && found[1] <= allowed[1], "{name} {kernel}: {found:?}");
        }
    }
}

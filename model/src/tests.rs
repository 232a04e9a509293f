//! Tests of the network on made-up positions.

use latrunculi_data::{EncodedBatch, NetworkConfig, Pooling, Shape, TrainingBatch};
use tch::{Kind, Tensor};

use crate::graph::{Graph, GraphUse, Output};
use crate::runner::{Outputs, Runner, channels_last};
use crate::testing::made_up_batch;
use crate::weights::make_weights;
use crate::{Answers, Device, InferenceNetwork, Network, Precision, TrainError, Trainer, TrainingConfig};

pub(crate) const SHAPE: Shape = Shape { files: 6, ranks: 5, planes: 7, scalars: 3 };

pub(crate) fn config(pooling: Pooling) -> NetworkConfig {
    NetworkConfig {
        blocks: 3,
        channels: 16,
        pooling,
        pooling_every: 2,
        policy_channels: 8,
        value_channels: 8,
        value_hidden: 16,
    }
}

pub(crate) fn settings() -> TrainingConfig {
    TrainingConfig { precision: Precision::F32, warmup_steps: 10, learning_rate: 5e-3, ..TrainingConfig::default() }
}

/// A network whose every part does something: a few steps away from its start.
pub(crate) fn trained(pooling: Pooling) -> Trainer {
    let network = Network::new(&config(pooling), &SHAPE, 3, Device::CPU).unwrap();
    let mut trainer = Trainer::new(&network, &settings()).unwrap();
    let batch = made_up_batch(&SHAPE, 32, 10);
    for _ in 0..8 {
        trainer.step(&batch, 0.0).unwrap();
    }
    trainer
}

pub(crate) fn encoded(batch: &TrainingBatch) -> EncodedBatch<'_> {
    EncodedBatch {
        planes: &batch.planes,
        scalars: &batch.scalars,
        action_offsets: &batch.action_offsets,
        action_indices: &batch.action_indices,
    }
}

fn largest_difference(left: &Tensor, right: &Tensor) -> f64 {
    (left - right).abs().max().double_value(&[])
}

fn unfolded(network: &Network, batch: &TrainingBatch) -> Outputs {
    let (shape, size) = (network.shape(), batch.margin.len() as i64);
    let planes =
        Tensor::from_slice(&batch.planes).view([size, shape.planes as i64, shape.ranks as i64, shape.files as i64]);
    let scalars = Tensor::from_slice(&batch.scalars).view([size, shape.scalars as i64]);
    let graph = Graph::new(network.config(), shape, GraphUse::Training { extra_heads: false });
    let weights = make_weights(&graph, network.config(), &network.layout, &network.parameters, Kind::Float).unwrap();
    Runner::new(graph).run(&weights, &channels_last(&planes).unwrap(), &scalars).unwrap()
}

#[test]
fn what_plays_is_what_is_trained() {
    for pooling in [Pooling::None, Pooling::GlobalBias, Pooling::SqueezeExcitation] {
        let network = trained(pooling).network().unwrap();
        let batch = made_up_batch(&SHAPE, 9, 10);
        let trained = unfolded(&network, &batch);
        let copy = InferenceNetwork::new(&network, Device::CPU, Precision::F32).unwrap();
        let played = tch::no_grad(|| copy.forward(&batch.planes, &batch.scalars, 9)).unwrap();
        assert!(trained.get(Output::ActionMap).abs().max().double_value(&[]) > 0.1, "the test sees something");
        assert!(largest_difference(trained.get(Output::ActionMap), played.get(Output::ActionMap)) < 1e-4);
        assert!(largest_difference(trained.get(Output::SquareLogits), played.get(Output::SquareLogits)) < 1e-4);
        assert!(largest_difference(trained.get(Output::StopPass), played.get(Output::StopPass)) < 1e-4);
        let probabilities = trained.get(Output::WinDrawLossLogits).softmax(1, None);
        assert!(largest_difference(&probabilities, played.get(Output::WinDrawLoss)) < 1e-5);
        assert!(largest_difference(trained.get(Output::Margin), played.get(Output::Margin)) < 1e-5);
    }
}

#[test]
fn a_batch_of_one_answers_as_a_batch_of_many() {
    let network = trained(Pooling::GlobalBias).network().unwrap();
    let mut copy = InferenceNetwork::new(&network, Device::CPU, Precision::F32).unwrap();
    let batch = made_up_batch(&SHAPE, 17, 10);
    let mut together = Answers::default();
    copy.answer(&encoded(&batch), &mut together).unwrap();
    assert_eq!(together.logits.len(), batch.policy.len());
    let mut alone = Answers::default();
    for position in 0..17 {
        let actions = batch.action_offsets[position] as usize..batch.action_offsets[position + 1] as usize;
        let plane_len = SHAPE.planes * SHAPE.area();
        let one = EncodedBatch {
            planes: &batch.planes[position * plane_len..(position + 1) * plane_len],
            scalars: &batch.scalars[position * SHAPE.scalars..(position + 1) * SHAPE.scalars],
            action_offsets: &[0, actions.len() as u32],
            action_indices: &batch.action_indices[actions.clone()],
        };
        copy.answer(&one, &mut alone).unwrap();
        let pairs = alone.logits.iter().zip(&together.logits[actions]);
        for (left, right) in pairs.chain(alone.win_draw_loss[0].iter().zip(&together.win_draw_loss[position])) {
            assert!((left - right).abs() < 1e-4, "{left} {right}");
        }
        assert!((alone.margin[0] - together.margin[position]).abs() < 1e-5);
    }
}

#[test]
fn sixteen_bits_answer_nearly_the_same() {
    let network = trained(Pooling::GlobalBias).network().unwrap();
    let batch = made_up_batch(&SHAPE, 17, 10);
    let mut answers = [Answers::default(), Answers::default()];
    for (answers, precision) in answers.iter_mut().zip([Precision::F32, Precision::Bf16]) {
        InferenceNetwork::new(&network, Device::CPU, precision).unwrap().answer(&encoded(&batch), answers).unwrap();
    }
    let [exact, short] = &answers;
    for (left, right) in exact.win_draw_loss.as_flattened().iter().zip(short.win_draw_loss.as_flattened()) {
        assert!((left - right).abs() < 0.02, "{left} {right}");
    }
    for (left, right) in exact.logits.iter().zip(&short.logits) {
        assert!((left - right).abs() < 0.1 + 0.02 * left.abs(), "{left} {right}");
    }
}

#[test]
fn one_batch_can_be_learnt_by_heart() {
    for precision in [Precision::F32, Precision::Bf16] {
        let network = Network::new(&config(Pooling::GlobalBias), &SHAPE, 1, Device::CPU).unwrap();
        let mut trainer = Trainer::new(&network, &TrainingConfig { precision, ..settings() }).unwrap();
        let batch = made_up_batch(&SHAPE, 24, 10);
        let first = trainer.step(&batch, 0.0).unwrap();
        let mut last = first;
        for _ in 0..250 {
            last = trainer.step(&batch, 0.0).unwrap();
        }
        let excess = |report: &crate::StepReport| report.policy - report.target_entropy;
        assert!(excess(&last) < 0.15 * excess(&first), "{precision:?} policy {first:?} {last:?}");
        assert!(last.value < 0.7 && first.value > 0.8, "{precision:?} value {first:?} {last:?}");
        assert!(last.margin < 0.2 * first.margin, "{precision:?} margin {first:?} {last:?}");
        assert!(last.survival < 0.5 * first.survival, "{precision:?} survival {first:?} {last:?}");
        assert!(last.opponent_policy < 0.5 * first.opponent_policy, "{precision:?} reply {first:?} {last:?}");
        assert!(last.moves_left < 0.2 * first.moves_left, "{precision:?} turns left {first:?} {last:?}");
        let averaged = trainer.evaluate(&batch).unwrap();
        assert!(averaged.loss < first.loss, "the average learns too");
    }
}

#[test]
fn the_same_seed_gives_the_same_weights() {
    let weights = || Vec::<f32>::try_from(trained(Pooling::SqueezeExcitation).parameters.detach()).unwrap();
    assert_eq!(weights(), weights());
}

#[test]
fn heads_of_training_can_be_switched_off_and_never_play() {
    let network = Network::new(&config(Pooling::GlobalBias), &SHAPE, 3, Device::CPU).unwrap();
    let off =
        TrainingConfig { survival_weight: 0.0, opponent_policy_weight: 0.0, moves_left_weight: 0.0, ..settings() };
    let mut trainer = Trainer::new(&network, &off).unwrap();
    let batch = made_up_batch(&SHAPE, 32, 10);
    let report = trainer.step(&batch, 0.0).unwrap();
    assert_eq!((report.survival, report.opponent_policy, report.moves_left), (0.0, 0.0, 0.0));
    let expected = report.policy + 1.5 * report.value + 0.25 * report.margin;
    assert!((report.loss - expected).abs() < 1e-5);
    assert_eq!(trainer.network().unwrap().parameter_count(), network.parameter_count());
    let names = trainer.layout.parameters.iter().map(|parameter| parameter.name.as_str());
    assert!(names.clone().any(|name| name.starts_with("training.")));
    assert!(network.named().iter().all(|(name, _)| !name.starts_with("training.")));
}

#[test]
fn unknown_survival_and_opponent_policy_add_no_loss() {
    let network = Network::new(&config(Pooling::None), &SHAPE, 3, Device::CPU).unwrap();
    let mut trainer = Trainer::new(&network, &settings()).unwrap();
    let mut batch = made_up_batch(&SHAPE, 8, 10);
    batch.survival.fill(-1.0);
    batch.opponent_policy.forget();
    let report = trainer.step(&batch, 0.0).unwrap();
    assert_eq!((report.survival, report.opponent_policy), (0.0, 0.0));
}

#[test]
fn a_step_that_finds_nan_changes_nothing() {
    let mut trainer = trained(Pooling::None);
    let before = (Vec::<f32>::try_from(trainer.parameters.detach()).unwrap(), trainer.counters());
    let mut batch = made_up_batch(&SHAPE, 8, 10);
    batch.margin[3] = f32::NAN;
    assert!(matches!(trainer.step(&batch, 0.0), Err(TrainError::NotFinite { .. })));
    let after = (Vec::<f32>::try_from(trainer.parameters.detach()).unwrap(), trainer.counters());
    assert_eq!(before, after);
}

#[test]
fn a_step_reports_whether_its_gradient_was_clipped() {
    let batch = made_up_batch(&SHAPE, 16, 10);
    let clipped = |gradient_norm_max| {
        let mut trainer = trained(Pooling::None);
        trainer.set_config(&TrainingConfig { gradient_norm_max, ..settings() }).unwrap();
        let report = trainer.step(&batch, 0.0).unwrap();
        assert!(report.gradient_norm > 1e-3);
        report.clipped
    };
    assert_eq!((clipped(1e-3), clipped(1e6)), (1.0, 0.0));
}

#[test]
fn batches_that_do_not_fit_are_refused() {
    let mut trainer = trained(Pooling::None);
    let good = made_up_batch(&SHAPE, 8, 10);
    let broken: [fn(&mut TrainingBatch); 10] = [
        |batch| _ = batch.survival.pop(),
        |batch| batch.opponent_policy.indices[0] = u32::MAX,
        |batch| batch.opponent_policy.offsets[1] = 10_000,
        |batch| batch.shape.files += 1,
        |batch| _ = batch.planes.pop(),
        |batch| _ = batch.scalars.pop(),
        |batch| _ = batch.policy.pop(),
        |batch| batch.action_indices[0][0] = u32::MAX,
        |batch| batch.weights[2] = -1.0,
        |batch| batch.action_offsets[1] = 10_000,
    ];
    for break_it in broken {
        let mut batch = good.clone();
        break_it(&mut batch);
        assert!(matches!(trainer.step(&batch, 0.0), Err(TrainError::Batch(_))));
    }
    trainer.step(&good, 0.0).unwrap();
}

#[test]
fn the_learning_rate_rises_and_falls() {
    let config = TrainingConfig { learning_rate: 1.0, warmup_steps: 9, decay_from: 0.5, decay_to: 0.1, ..settings() };
    assert!((config.learning_rate_at(0, 0.0) - 0.1).abs() < 1e-12);
    assert!((config.learning_rate_at(9, 0.5) - 1.0).abs() < 1e-12);
    assert!((config.learning_rate_at(100, 0.75) - 0.55).abs() < 1e-12);
    assert!((config.learning_rate_at(100, 1.0) - 0.1).abs() < 1e-12);
}

#[test]
fn impossible_descriptions_are_refused_with_every_reason() {
    let bad = NetworkConfig { blocks: 0, channels: 12, ..NetworkConfig::default() };
    let text = Network::new(&bad, &SHAPE, 1, Device::CPU).unwrap_err().to_string();
    assert!(text.contains("blocks = 0") && text.contains("channels = 12"), "{text}");
    let bad = TrainingConfig { learning_rate: 0.0, beta2: 1.0, ..TrainingConfig::default() };
    let text = bad.validate().unwrap_err().to_string();
    assert!(text.contains("learning_rate") && text.contains("beta2"), "{text}");
}

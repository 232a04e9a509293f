//! Tests of the network on made-up positions.

use latrunculi_data::{
    Answers, NetworkConfig, PLANES, Pooling, PositionBatch, Precision, SCALARS, Shape, SparsePolicy, StepReport,
    TrainingBatch, TrainingConfig, heads,
};
use latrunculi_infer::{GradientKernel, Unit};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use tch::{Kind, Tensor};

use crate::graph::{Graph, GraphUse, Output};
use crate::network::WeightedGraph;
use crate::runner::{Outputs, Runner, channels_last};
use crate::testing::{made_up_batch, made_up_rules};
use crate::weights::{RulesetConditioning, WeightMaker};
use crate::{Device, InferenceNetwork, Network, TrainError, Trainer};
use latrunculi_engine::Square;

pub(crate) fn shape() -> Shape {
    Shape::board(6, 5)
}

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
    let network = Network::new(&config(pooling), 3, Device::CPU).unwrap();
    let mut trainer = Trainer::new(&network, &settings()).unwrap();
    let batch = made_up_batch(&shape(), 32, 10);
    for _ in 0..8 {
        trainer.step(std::slice::from_ref(&batch), 0.0).unwrap();
    }
    trainer
}

/// The positions of a batch whose planes are 0 or 1.
pub(crate) fn encoded(batch: &TrainingBatch) -> PositionBatch {
    let area = batch.shape.area();
    let squares = |plane: &[f32]| (0..area).filter(|&index| plane[index] != 0.0).map(Square::from_index).collect();
    PositionBatch {
        planes: batch.planes.chunks(area).map(squares).collect(),
        scalars: batch.scalars.clone(),
        action_offsets: batch.action_offsets.clone(),
        action_indices: batch.action_indices.clone(),
    }
}

fn largest_difference(left: &Tensor, right: &Tensor) -> f64 {
    (left - right).abs().max().double_value(&[])
}

/// A network none of whose weights is zero.
pub(crate) fn perturbed(config: &NetworkConfig) -> Network {
    let start = Network::new(config, 5, Device::CPU).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let noise: Vec<f32> = (0..start.parameter_count())
        .map(|_| {
            let normal: f32 = StandardNormal.sample(&mut rng);
            0.1 * normal
        })
        .collect();
    let parameters = &start.parameters + Tensor::from_slice(&noise);
    Network::from_parameters(config, &parameters, Device::CPU).unwrap()
}

fn conditioning(batch: &TrainingBatch) -> RulesetConditioning {
    RulesetConditioning { rule_inputs: batch.rule_inputs.clone(), area: batch.shape.area() }
}

/// The network in play under the ruleset of a batch.
fn in_play(network: &Network, batch: &TrainingBatch, precision: Precision) -> InferenceNetwork {
    InferenceNetwork::specialised(network, batch.shape, conditioning(batch), Device::CPU, precision).unwrap()
}

fn planes_of(batch: &TrainingBatch) -> Tensor {
    let (shape, size) = (batch.shape, batch.len() as i64);
    let planes =
        Tensor::from_slice(&batch.planes).view([size, shape.planes as i64, shape.ranks as i64, shape.files as i64]);
    channels_last(&planes).unwrap()
}

fn in_training(network: &Network, batch: &TrainingBatch) -> Outputs {
    let scalars = Tensor::from_slice(&batch.scalars).view([batch.len() as i64, -1]);
    let graph = Graph::new(network.config(), GraphUse::Training { extra_heads: false });
    let maker = WeightMaker::new(network.config(), &network.layout, &network.parameters).unwrap();
    let weights = maker.weights(&graph, Some(&conditioning(batch)), Kind::Float).unwrap();
    Runner::new(graph).run(&weights, &planes_of(batch), &scalars).unwrap()
}

/// The exported graph, which reads the ruleset and the size of the board itself: value and margin.
fn exported(network: &Network, batch: &TrainingBatch) -> Outputs {
    let size = batch.len() as i64;
    let own = Tensor::from_slice(&batch.scalars).view([size, -1]);
    let rules = Tensor::from_slice(&batch.rule_inputs).view([1, -1]).expand([size, -1], false);
    let WeightedGraph { graph, weights } = network.graph(None).unwrap();
    Runner::new(graph).run(&weights, &planes_of(batch), &Tensor::cat(&[own, rules], 1)).unwrap()
}

#[test]
fn rulesets_and_boards_that_are_folded_into_the_weights_answer_as_those_that_are_inputs() {
    for pooling in [Pooling::None, Pooling::GlobalBias] {
        let network = perturbed(&config(pooling));
        let mut seen = Vec::new();
        for (files, ranks, rules) in [(6, 5, 0), (6, 5, 1), (12, 8, 1), (5, 6, 1)] {
            let mut batch = made_up_batch(&Shape::board(files, ranks), 5, 10);
            batch.rule_inputs = made_up_rules(rules);
            let folded = in_training(&network, &batch);
            let general = exported(&network, &batch);
            let values = folded.get(Output::WinDrawLossLogits).softmax(1, None);
            assert!(largest_difference(&values, general.get(Output::WinDrawLoss)) < 1e-5);
            assert!(largest_difference(folded.get(Output::Margin), general.get(Output::Margin)) < 1e-5);
            let logits = folded.get(Output::ActionMap).flatten(1, -1);
            let found = general.get(Output::PolicyLogits).narrow(1, 0, logits.size()[1]);
            assert!(largest_difference(&logits, &found) < 1e-4);
            seen.push(folded.get(Output::Margin).shallow_clone());
        }
        assert!(largest_difference(&seen[0], &seen[1]) > 1e-4, "the ruleset matters");
    }
}

#[test]
fn a_new_network_does_not_know_the_ruleset_and_one_that_never_varies_teaches_no_dead_input() {
    let network = Network::new(&config(Pooling::GlobalBias), 3, Device::CPU).unwrap();
    let mut batch = made_up_batch(&shape(), 16, 10);
    let before = in_training(&network, &batch).get(Output::Margin).shallow_clone();
    batch.rule_inputs.fill(0.0);
    assert_eq!(largest_difference(&before, in_training(&network, &batch).get(Output::Margin)), 0.0);
    // Only the first number is ever anything but 0.
    batch.rule_inputs[0] = 1.0;
    let mut trainer = Trainer::new(&network, &settings()).unwrap();
    for _ in 0..20 {
        trainer.step(std::slice::from_ref(&batch), 0.0).unwrap();
    }
    let trained = trainer.network().unwrap();
    let (_, embedding) = trained.named().into_iter().find(|(name, _)| *name == "rules.embedding.weight").unwrap();
    let rest = embedding.narrow(1, 1, batch.rule_inputs.len() as i64 - 1).abs().max().double_value(&[]);
    assert_eq!(rest, 0.0, "inputs that are always 0 keep weights of 0");
    assert!(embedding.narrow(1, 0, 1).abs().min().double_value(&[]) > 0.0, "what is read is learnt");
}

/// The samples of a batch from `range` on.
fn part(batch: &TrainingBatch, range: std::ops::Range<usize>) -> TrainingBatch {
    let (plane_len, area) = (batch.shape.planes * batch.shape.area(), batch.shape.area());
    let rows = |values: &[f32], len: usize| values[range.start * len..range.end * len].to_vec();
    let actions = batch.action_offsets[range.start] as usize..batch.action_offsets[range.end] as usize;
    let mut opponent_policy = SparsePolicy::default();
    for pair in batch.opponent_policy.offsets[range.start..=range.end].windows(2) {
        let entries = pair[0] as usize..pair[1] as usize;
        let indices = batch.opponent_policy.indices[entries.clone()].iter().copied();
        opponent_policy.push(indices.zip(batch.opponent_policy.probabilities[entries].iter().copied()));
    }
    TrainingBatch {
        shape: batch.shape,
        rule_inputs: batch.rule_inputs.clone(),
        action_offsets: batch.action_offsets[range.start..=range.end]
            .iter()
            .map(|offset| offset - batch.action_offsets[range.start])
            .collect(),
        planes: rows(&batch.planes, plane_len),
        scalars: rows(&batch.scalars, SCALARS.len()),
        action_indices: batch.action_indices[actions.clone()].to_vec(),
        policy: batch.policy[actions].to_vec(),
        win_draw_loss: batch.win_draw_loss[range.clone()].to_vec(),
        margin: rows(&batch.margin, 1),
        survival: rows(&batch.survival, area),
        opponent_policy,
        moves_left: rows(&batch.moves_left, 1),
    }
}

#[test]
fn a_step_on_parts_is_a_step_on_their_union() {
    let whole = made_up_batch(&shape(), 24, 10);
    let other = TrainingBatch { rule_inputs: made_up_rules(3), ..made_up_batch(&Shape::board(8, 7), 10, 10) };
    let parts = [part(&whole, 7..24), other.clone(), part(&whole, 0..7)];
    let after = |batches: &[TrainingBatch]| {
        let mut trainer = Trainer::new(&perturbed(&config(Pooling::GlobalBias)), &settings()).unwrap();
        let report = trainer.step(batches, 0.0).unwrap();
        assert_eq!(trainer.counters().samples, 34);
        // The first moment is the gradient times a constant, without the signs that Adam makes of it.
        (report, trainer.first_moment.shallow_clone())
    };
    let (left, right) = (after(&[whole, other]), after(&parts));
    let size = left.1.abs().max().double_value(&[]);
    assert!(largest_difference(&left.1, &right.1) < 1e-5 * size, "one gradient");
    let numbers = |report: &StepReport| [&[report.loss, report.target_entropy], &report.heads[..]].concat();
    for (left, right) in numbers(&left.0).into_iter().zip(numbers(&right.0)) {
        assert!((left - right).abs() < 1e-5 * (1.0 + left.abs()), "{left} {right}");
    }
}

#[test]
fn a_step_without_batches_is_refused() {
    assert!(matches!(trained(Pooling::None).step(&[], 0.0), Err(TrainError::Other(_))));
}

#[test]
fn what_plays_is_what_is_trained() {
    for pooling in [Pooling::None, Pooling::GlobalBias] {
        let network = trained(pooling).network().unwrap();
        let batch = made_up_batch(&shape(), 9, 10);
        let trained = in_training(&network, &batch);
        let copy = in_play(&network, &batch, Precision::F32);
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
    let batch = made_up_batch(&shape(), 17, 10);
    let mut copy = in_play(&network, &batch, Precision::F32);
    let all = encoded(&batch);
    let mut together = Answers::default();
    copy.answer(&all, &mut together).unwrap();
    assert_eq!(together.logits.len(), batch.policy.len());
    let mut alone = Answers::default();
    for position in 0..17 {
        let actions = batch.action_offsets[position] as usize..batch.action_offsets[position + 1] as usize;
        let mut one = PositionBatch::default();
        let (planes, scalars) = (&all.planes[position * PLANES.len()..], &all.scalars[position * SCALARS.len()..]);
        let indices = all.actions(position).iter().copied();
        one.push(&planes[..PLANES.len()], &scalars[..SCALARS.len()], indices);
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
    let batch = made_up_batch(&shape(), 17, 10);
    let mut answers = [Answers::default(), Answers::default()];
    for (answers, precision) in answers.iter_mut().zip([Precision::F32, Precision::Bf16]) {
        in_play(&network, &batch, precision).answer(&encoded(&batch), answers).unwrap();
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
        let network = Network::new(&config(Pooling::GlobalBias), 1, Device::CPU).unwrap();
        let mut trainer = Trainer::new(&network, &TrainingConfig { precision, ..settings() }).unwrap();
        let batch = made_up_batch(&shape(), 24, 10);
        let first = trainer.step(std::slice::from_ref(&batch), 0.0).unwrap();
        let mut last = first;
        for _ in 0..250 {
            last = trainer.step(std::slice::from_ref(&batch), 0.0).unwrap();
        }
        let excess = |report: &StepReport| report.heads[heads::POLICY] - report.target_entropy;
        assert!(excess(&last) < 0.15 * excess(&first), "{precision:?} policy {first:?} {last:?}");
        assert!(
            last.heads[heads::VALUE] < 0.7 && first.heads[heads::VALUE] > 0.8,
            "{precision:?} value {first:?} {last:?}"
        );
        assert!(
            last.heads[heads::MARGIN] < 0.2 * first.heads[heads::MARGIN],
            "{precision:?} margin {first:?} {last:?}"
        );
        assert!(
            last.heads[heads::SURVIVAL] < 0.5 * first.heads[heads::SURVIVAL],
            "{precision:?} survival {first:?} {last:?}"
        );
        assert!(
            last.heads[heads::OPPONENT_POLICY] < 0.5 * first.heads[heads::OPPONENT_POLICY],
            "{precision:?} reply {first:?} {last:?}"
        );
        assert!(
            last.heads[heads::MOVES_LEFT] < 0.2 * first.heads[heads::MOVES_LEFT],
            "{precision:?} turns left {first:?} {last:?}"
        );
        let averaged = trainer.evaluate(std::slice::from_ref(&batch)).unwrap();
        assert!(averaged.loss < first.loss, "the average learns too");
    }
}

#[test]
fn the_same_seed_gives_the_same_weights() {
    let weights = || Vec::<f32>::try_from(trained(Pooling::GlobalBias).parameters.detach()).unwrap();
    assert_eq!(weights(), weights());
}

#[test]
fn a_training_that_goes_on_from_a_network_keeps_what_it_knows() {
    let network = trained(Pooling::GlobalBias).averaged_network().unwrap();
    let batch = made_up_batch(&shape(), 32, 10);
    let batches = std::slice::from_ref(&batch);
    let play = network.layout.len();
    let in_play = |vector: &Tensor| vector.detach().narrow(0, 0, play);
    // The averaged weights, which play, stay near its own.
    for (steps_before, kept) in [(0, 0.0..0.2), (20_000, 0.99..1.0)] {
        let mut trainer = Trainer::new(&network, &settings()).unwrap().after(steps_before);
        let start = in_play(&trainer.parameters).copy();
        trainer.step(batches, 0.0).unwrap();
        let distance = |vector: &Tensor| (in_play(vector) - &start).norm().double_value(&[]);
        let share = 1.0 - distance(&trainer.average) / distance(&trainer.parameters);
        assert!(kept.contains(&share), "{steps_before} steps before: {share}");
        assert_eq!(trainer.counters().steps_before, steps_before);
    }
    // The heads of training, which begin at random, hardly pull at first.
    let gradient = |settings: TrainingConfig| {
        let (gradient, _) = Trainer::new(&network, &settings).unwrap().gradient(batches).unwrap();
        in_play(&gradient)
    };
    let alone = gradient(settings().without_training_heads());
    let pull = |warmup_steps| {
        let with = gradient(TrainingConfig { warmup_steps, ..settings() });
        (with - &alone).norm().double_value(&[]) / alone.norm().double_value(&[])
    };
    let [at_once, at_first] = [0, 1000].map(pull);
    assert!(at_first < 0.01 * at_once, "{at_first} {at_once}");
}

#[test]
fn heads_of_training_can_be_switched_off_and_never_play() {
    let network = Network::new(&config(Pooling::GlobalBias), 3, Device::CPU).unwrap();
    let off = settings().without_training_heads();
    let mut trainer = Trainer::new(&network, &off).unwrap();
    let batch = made_up_batch(&shape(), 32, 10);
    let report = trainer.step(std::slice::from_ref(&batch), 0.0).unwrap();
    assert_eq!(report.heads[heads::SURVIVAL..], [0.0; 3]);
    let expected = report.heads[heads::POLICY] + 1.5 * report.heads[heads::VALUE] + 0.25 * report.heads[heads::MARGIN];
    assert!((report.loss - expected).abs() < 1e-5);
    assert_eq!(trainer.network().unwrap().parameter_count(), network.parameter_count());
    let names = trainer.layout.parameters.iter().map(|parameter| parameter.name.as_str());
    assert!(names.clone().any(|name| name.starts_with("training.")));
    assert!(network.named().iter().all(|(name, _)| !name.starts_with("training.")));
}

#[test]
fn unknown_survival_and_opponent_policy_add_no_loss() {
    let network = Network::new(&config(Pooling::None), 3, Device::CPU).unwrap();
    let mut trainer = Trainer::new(&network, &settings()).unwrap();
    let mut batch = made_up_batch(&shape(), 8, 10);
    batch.survival.fill(-1.0);
    let unknown = &mut batch.opponent_policy;
    unknown.offsets.fill(0);
    unknown.indices.clear();
    unknown.probabilities.clear();
    let report = trainer.step(std::slice::from_ref(&batch), 0.0).unwrap();
    assert_eq!((report.heads[heads::SURVIVAL], report.heads[heads::OPPONENT_POLICY]), (0.0, 0.0));
}

#[test]
fn a_step_that_finds_nan_changes_nothing() {
    let mut trainer = trained(Pooling::None);
    let before = (Vec::<f32>::try_from(trainer.parameters.detach()).unwrap(), trainer.counters());
    let mut batch = made_up_batch(&shape(), 8, 10);
    batch.margin[3] = f32::NAN;
    assert!(matches!(trainer.step(&[batch], 0.0), Err(TrainError::NotFinite { .. })));
    let after = (Vec::<f32>::try_from(trainer.parameters.detach()).unwrap(), trainer.counters());
    assert_eq!(before, after);
}

#[test]
fn a_step_reports_whether_its_gradient_was_clipped() {
    let batch = made_up_batch(&shape(), 16, 10);
    let clipped = |gradient_norm_max| {
        let mut trainer = trained(Pooling::None);
        trainer.set_config(&TrainingConfig { gradient_norm_max, ..settings() }).unwrap();
        let report = trainer.step(std::slice::from_ref(&batch), 0.0).unwrap();
        assert!(report.gradient_norm > 1e-3);
        report.clipped
    };
    assert_eq!((clipped(1e-3), clipped(1e6)), (1.0, 0.0));
}

#[test]
fn batches_that_do_not_fit_are_refused() {
    let mut trainer = trained(Pooling::None);
    let good = made_up_batch(&shape(), 8, 10);
    let broken: [fn(&mut TrainingBatch); 9] = [
        |batch| _ = batch.survival.pop(),
        |batch| batch.opponent_policy.indices[0] = u32::MAX,
        |batch| batch.opponent_policy.offsets[1] = 10_000,
        |batch| batch.shape.files += 1,
        |batch| _ = batch.planes.pop(),
        |batch| _ = batch.scalars.pop(),
        |batch| _ = batch.policy.pop(),
        |batch| batch.action_indices[0][0] = u32::MAX,
        |batch| batch.action_offsets[1] = 10_000,
    ];
    for break_it in broken {
        let mut batch = good.clone();
        break_it(&mut batch);
        assert!(matches!(trainer.step(&[batch], 0.0), Err(TrainError::Other(_))));
    }
    trainer.step(&[good], 0.0).unwrap();
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
    let text = Network::new(&bad, 1, Device::CPU).unwrap_err().to_string();
    assert!(text.contains("blocks = 0") && text.contains("channels = 12"), "{text}");
    let bad = TrainingConfig { learning_rate: 0.0, beta2: 1.0, ..TrainingConfig::default() };
    let text = Trainer::new(&trained(Pooling::None).network().unwrap(), &bad).unwrap_err().to_string();
    assert!(text.contains("learning_rate") && text.contains("beta2"), "{text}");
}

/// Returns, for each named parameter, the length of `left` minus `right` over that of `left`.
fn relative_differences(trainer: &Trainer, left: &Tensor, right: &Tensor) -> Vec<(String, f64)> {
    let of = |parameter: &latrunculi_data::layout::Parameter| {
        let [left, right] = [left, right].map(|tensor| tensor.narrow(0, parameter.offset, parameter.len()));
        let length = |tensor: &Tensor| tensor.norm().double_value(&[]);
        (parameter.name.clone(), length(&(&left - &right)) / length(&left).max(1e-12))
    };
    trainer.layout.parameters.iter().map(of).collect()
}

/// Networks and boards on which gradients are compared: the network, and batches of two boards that are not whole chunks.
fn gradient_cases() -> impl Iterator<Item = (String, Network, [TrainingBatch; 2])> {
    // The first is the network that is the default everywhere.
    let cases = [(8, 7, 0), (6, 5, 16), (8, 8, 64), (12, 10, 32), (9, 7, 48), (5, 2, 40)];
    cases.into_iter().map(|(files, ranks, channels)| {
        let pooling = if channels == 48 { Pooling::None } else { Pooling::GlobalBias };
        let config = match channels {
            0 => NetworkConfig::default(),
            channels => NetworkConfig { channels, policy_channels: 24, value_channels: 20, ..config(pooling) },
        };
        let shapes = [Shape::board(files, ranks), Shape::board(ranks, files)];
        let batches = [made_up_batch(&shapes[0], 45, 10), made_up_batch(&shapes[1], 7, 10)];
        (format!("{files}x{ranks}, {channels} channels"), perturbed(&config), batches)
    })
}

/// Makes a training that computes gradients with `kernel`, or with libtorch alone.
fn gradient_trainer(network: &Network, precision: Precision, kernel: Option<GradientKernel>) -> Trainer {
    let mut trainer = Trainer::new(network, &TrainingConfig { precision, ..settings() }).unwrap();
    trainer.kernel = kernel;
    trainer
}

/// Checks that the numbers of a report are those expected, within a fraction of them.
fn assert_alike(found: &StepReport, expected: &StepReport, fraction: f64) {
    let numbers = |report: &StepReport| {
        [&[report.loss, report.policy_entropy, report.target_entropy], &report.heads[..]].concat()
    };
    for (found, expected) in numbers(found).into_iter().zip(numbers(expected)) {
        assert!((found - expected).abs() <= fraction * (expected.abs() + 0.05), "{found} and {expected}");
    }
}

/// Checks that gradients differ by rounding alone. An activation near 0 may fall on the other side of it: libtorch's own
/// gradient of such a case changes by up to 0.008 when each weight is moved by some 3e-7 of itself.
fn assert_same(name: &str, mut differences: Vec<(String, f64)>) {
    differences.sort_by(|left, right| left.1.total_cmp(&right.1));
    let (median, (parameter, largest)) = (differences[differences.len() / 2].1, differences.last().unwrap());
    assert!(median <= 1e-3 && *largest <= 0.02, "{name}: median {median}, {parameter} {largest}");
}

#[test]
fn the_kernels_gradient_in_32_bits_is_that_of_libtorch() {
    // One for all networks, as its memory is that of the network before.
    let mut kernel = Some(GradientKernel::in_f32());
    for (name, network, batches) in gradient_cases() {
        let mut exact = gradient_trainer(&network, Precision::F32, None);
        let (expected, expected_report) = exact.gradient(&batches).unwrap();
        let mut own = gradient_trainer(&network, Precision::F32, kernel);
        for parts in [1, 2, 3] {
            own.config.threads = parts;
            own.set_free_threads(1);
            let (found, report) = own.gradient(&batches).unwrap();
            assert_same(&format!("{name}, {parts}"), relative_differences(&exact, &expected, &found));
            assert_alike(&report, &expected_report, 1e-5);
            for threads in [1, 2, usize::MAX] {
                own.set_free_threads(threads);
                let (again, _) = own.gradient(&batches).unwrap();
                assert_eq!(largest_difference(&found, &again), 0.0, "the same on {threads} threads");
            }
        }
        kernel = own.kernel;
    }
}

#[test]
fn the_kernels_gradient_in_16_bits_is_that_of_libtorch_within_their_rounding() {
    if !Unit::best().is_available() {
        return;
    }
    for (name, network, batches) in gradient_cases() {
        let mut exact = gradient_trainer(&network, Precision::F32, None);
        let (expected, expected_report) = exact.gradient(&batches).unwrap();
        let (rounded, _) = gradient_trainer(&network, Precision::Bf16, None).gradient(&batches).unwrap();
        let allowed = relative_differences(&exact, &expected, &rounded);
        for unit in Unit::ALL.into_iter().filter(|unit| unit.is_available()) {
            let mut own = gradient_trainer(&network, Precision::Bf16, Some(GradientKernel::in_bf16(unit)));
            let (found, report) = own.gradient(&batches).unwrap();
            let differences = relative_differences(&exact, &expected, &found);
            for ((parameter, found), (_, allowed)) in differences.into_iter().zip(&allowed) {
                assert!(found <= 3.0 * allowed + 5e-3, "{unit:?}, {name}, {parameter}: {found}, allowed {allowed}");
            }
            assert_alike(&report, &expected_report, 0.02);
            for threads in [1, 2, usize::MAX] {
                own.set_free_threads(threads);
                let (again, _) = own.gradient(&batches).unwrap();
                assert_eq!(largest_difference(&found, &again), 0.0, "the same on {threads} threads");
            }
        }
    }
}

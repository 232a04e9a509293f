//! Every kernel against the reference.

use std::collections::BTreeMap;
use std::path::Path;

use latrunculi_data::network_config::RULE_EMBEDDING;
use latrunculi_data::tensor_file::{MODEL, TensorFile};
use latrunculi_data::{
    ModelInfo, NamedTensor, NetworkConfig, PLANES, Pooling, SCALARS, Shape, StoredModel, TrainedRuleset, rule_inputs,
};
use latrunculi_engine::{Square, SquareSet, presets};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::reference;
use crate::{InferenceModel, InferenceNetwork, Kernel};
use latrunculi_data::{Answers, PositionBatch};

fn normal(rng: &mut ChaCha8Rng) -> f32 {
    // The sum of four uniform numbers, scaled to variance 1.
    (0..4).map(|_| rng.random_range(-1.0_f32..1.0)).sum::<f32>() * 0.866
}

/// Makes random tensors of every kind that a network has; nothing is zero.
pub(crate) fn tensors(config: &NetworkConfig, seed: u64) -> BTreeMap<String, NamedTensor> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut tensors = BTreeMap::new();
    let mut add = |name: &str, shape: &[usize], centre: f32, deviation: f32| {
        let values = (0..shape.iter().product()).map(|_| centre + deviation * normal(&mut rng)).collect();
        tensors.insert(name.to_owned(), NamedTensor { shape: shape.to_vec(), values });
    };
    let (channels, keys) = (config.channels, config.policy_channels);
    let (features, hidden) = (config.value_channels, config.value_hidden);
    let head = (1.0 / channels as f32).sqrt();
    add("stem.weight", &[channels, 3, 3, PLANES.len()], 0.0, 0.3);
    add("stem.bias", &[channels], 0.0, 0.1);
    add("stem.scalars.weight", &[channels, SCALARS.len()], 0.0, 0.2);
    add("rules.embedding.weight", &[RULE_EMBEDDING, rule_inputs::count()], 0.0, 0.2);
    add("stem.rules.weight", &[channels, RULE_EMBEDDING], 0.0, 0.1);
    for block in 0..config.blocks {
        for half in 1..=2 {
            add(&format!("blocks.{block}.conv{half}.weight"), &[channels, 3, 3, channels], 0.01, 0.1);
            add(&format!("blocks.{block}.conv{half}.gain"), &[channels], 1.0, 0.4);
            add(&format!("blocks.{block}.conv{half}.bias"), &[channels], 0.0, 0.1);
            add(&format!("blocks.{block}.conv{half}.rules.weight"), &[2 * channels, RULE_EMBEDDING], 0.0, 0.05);
        }
        if config.is_pooled(block) {
            add(&format!("blocks.{block}.global.weight"), &[channels, 2 * channels], 0.0, 0.3 * head);
            add(&format!("blocks.{block}.global.size.weight"), &[channels, channels], 0.0, 0.3 * head);
        }
    }
    for (name, rows) in [("policy.from", keys), ("policy.to", keys), ("value.features", features)] {
        add(&format!("{name}.weight"), &[rows, channels], 0.0, head);
        add(&format!("{name}.bias"), &[rows], 0.0, 0.1);
    }
    add("value.hidden.weight", &[hidden, 2 * features], 0.0, (1.0 / features as f32).sqrt());
    add("value.hidden.size.weight", &[hidden, features], 0.0, (1.0 / features as f32).sqrt());
    add("value.hidden.bias", &[hidden], 0.0, 0.1);
    let last = [("value.win_draw_loss", 3), ("value.margin", 1), ("policy.stop_pass", 2), ("policy.queries", 4 * keys)];
    for (name, rows) in last {
        add(&format!("{name}.weight"), &[rows, hidden], 0.0, (1.0 / hidden as f32).sqrt());
        add(&format!("{name}.bias"), &[rows], 0.0, 0.1);
    }
    tensors
}

/// Makes positions at random, each with some thirty actions of every kind.
pub(crate) fn positions(shape: &Shape, count: usize, seed: u64) -> PositionBatch {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut batch = PositionBatch::default();
    let (area, none) = (shape.area() as u32, shape.policy_len() as u32);
    for _ in 0..count {
        let planes: Vec<SquareSet> = (0..shape.planes)
            .map(|_| (0..shape.area()).filter(|_| rng.random_bool(0.15)).map(Square::from_index).collect())
            .collect();
        let scalars: Vec<f32> = (0..SCALARS.len()).map(|_| rng.random_range(0.0..1.0)).collect();
        let mut actions: Vec<[u32; 2]> = (0..20).map(|_| [rng.random_range(0..area * area), none]).collect();
        for kind in 0..4 {
            actions.push([area * area + kind * area + rng.random_range(0..area), none]);
            actions.push([rng.random_range(0..area * area), area * area + kind * area + rng.random_range(0..area)]);
        }
        actions.extend([[none - 2, none], [none - 1, none]]);
        let count = rng.random_range(1..actions.len());
        batch.push(&planes, &scalars, actions.into_iter().skip(count - 1));
    }
    batch
}

fn config(blocks: usize, channels: usize, pooling: Pooling) -> NetworkConfig {
    NetworkConfig {
        blocks,
        channels,
        pooling,
        pooling_every: blocks,
        policy_channels: (channels / 2).clamp(4, 32),
        value_channels: (channels / 2).clamp(4, 32),
        value_hidden: channels + 8,
    }
}

fn model(config: &NetworkConfig, seed: u64) -> InferenceModel {
    InferenceModel::from_tensors(config, tensors(config, seed)).unwrap()
}

/// Numbers of a made-up ruleset.
fn ruleset() -> Vec<f32> {
    (0..rule_inputs::count()).map(|index| (index * 7 % 11) as f32 / 10.0).collect()
}

fn network(model: &InferenceModel, shape: &Shape, kernel: Kernel) -> InferenceNetwork {
    model.specialised(kernel, shape, &ruleset(), &positions(shape, 64, 99)).unwrap()
}

fn answered(model: &InferenceModel, shape: &Shape, kernel: Kernel, batch: &PositionBatch) -> Answers {
    let mut answers = Answers::default();
    network(model, shape, kernel).session().answer(batch, &mut answers).unwrap();
    answers
}

/// The greatest difference of a logit, over the root mean square of the logits, and of a probability or margin.
fn differences(left: &Answers, right: &Answers) -> (f32, f32) {
    assert_eq!(left.offsets, right.offsets);
    let greatest = |left: &[f32], right: &[f32]| {
        assert_eq!(left.len(), right.len());
        left.iter().zip(right).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
    };
    let squares: f32 = right.logits.iter().map(|logit| logit.powi(2)).sum();
    let size = (squares / right.logits.len() as f32).sqrt();
    let values = greatest(left.win_draw_loss.as_flattened(), right.win_draw_loss.as_flattened());
    (greatest(&left.logits, &right.logits) / size, values.max(greatest(&left.margin, &right.margin)))
}

/// Compares the kernels with the reference on a board, at every width and pooling.
/// bfloat16 keeps eight bits, which bounds how far its answers lie from exact ones. Compared with a reference that
/// rounds in the same places, what is left is the order of sums, and the roundings that it turns.
fn agree(files: usize, ranks: usize) {
    let mut seed = (files * ranks) as u64;
    for kernel in Kernel::ALL.into_iter().filter(|kernel| !kernel.is_available()) {
        println!("SKIPPED: this processor has no {kernel}");
    }
    for pooling in [Pooling::None, Pooling::GlobalBias] {
        let wide = if pooling == Pooling::GlobalBias { 128 } else { 96 };
        for channels in [32, 48, 64, wide, [8, 16, 24, 40, 56, 72, 80][seed as usize % 7]] {
            seed += 1;
            let shape = Shape::board(files, ranks);
            let blocks = if channels > 64 { 1 } else { 2 };
            let model = model(&config(blocks, channels, pooling), seed);
            let weights = model.parameters().specialised(&shape, &ruleset());
            let batch = positions(&shape, if channels > 64 { 1 } else { 2 }, seed);
            let exact = reference::answer(&weights, &batch, reference::exact);
            let rounded = reference::answer(&weights, &batch, reference::bf16);
            for kernel in Kernel::available() {
                let found = answered(&model, &shape, kernel, &batch);
                let check = |expected: &Answers, [logits, values]: [f32; 2]| {
                    let found = differences(&found, expected);
                    let of = format!("{kernel}, {files}x{ranks}, {channels} channels, {pooling:?}");
                    println!("{of}: {found:?}");
                    assert!(found.0 <= logits && found.1 <= values, "{of}: {found:?}");
                };
                match kernel {
                    Kernel::F32 => check(&exact, [2e-5, 1e-5]),
                    Kernel::Bf16(_) => {
                        check(&rounded, [0.03, 0.01]);
                        check(&exact, [0.12, 0.05]);
                    }
                    Kernel::Int8(_) => check(&exact, [0.2, 0.05]),
                }
            }
        }
    }
}

#[test]
fn kernels_agree_with_the_reference_on_8x7() {
    agree(8, 7);
}

#[test]
fn kernels_agree_with_the_reference_on_8x8() {
    agree(8, 8);
}

#[test]
fn kernels_agree_with_the_reference_on_9x10() {
    agree(9, 10);
}

#[test]
fn kernels_agree_with_the_reference_on_12x8() {
    agree(12, 8);
}

#[test]
fn kernels_agree_with_the_reference_on_12x12() {
    agree(12, 12);
}

#[test]
fn a_position_alone_is_answered_as_in_a_batch() {
    for kernel in Kernel::available() {
        for pooling in [Pooling::None, Pooling::GlobalBias] {
            let shape = Shape::board(9, 10);
            let model = model(&config(2, 40, pooling), 3);
            let together = answered(&model, &shape, kernel, &positions(&shape, 37, 8));
            for count in [1, 2, 16, 17] {
                let some = answered(&model, &shape, kernel, &positions(&shape, count, 8));
                assert_eq!(some.logits, together.logits[..together.offsets[count]], "{kernel} {count}");
                assert_eq!(some.win_draw_loss, together.win_draw_loss[..count]);
                assert_eq!(some.margin, together.margin[..count]);
            }
        }
    }
}

#[test]
fn batches_that_do_not_fit_are_refused() {
    let shape = Shape::board(8, 8);
    let model = model(&config(1, 16, Pooling::None), 3);
    for kernel in Kernel::available() {
        let mut session = network(&model, &shape, kernel).session();
        let mut answers = Answers::default();
        let wrong = [Shape { planes: 17, ..shape }, Shape { files: 12, ..shape }];
        for wrong in wrong {
            assert!(session.answer(&positions(&wrong, 3, 2), &mut answers).is_err(), "{kernel} {wrong:?}");
        }
        session.answer(&PositionBatch::default(), &mut answers).unwrap();
        assert!(answers.logits.is_empty() && answers.margin.is_empty());
    }
}

/// Reads a model file.
fn read(path: &Path) -> Result<InferenceModel, String> {
    let model = StoredModel::read(path).map_err(|error| error.to_string())?;
    InferenceModel::from_tensors(&model.config, model.tensors).map_err(|error| error.to_string())
}

/// Writes a model file, with `change` applied to its description and its tensors, and loads it.
fn written(path: &Path, change: impl FnOnce(&mut TensorFile)) -> Result<InferenceModel, String> {
    let config = config(1, 16, Pooling::GlobalBias);
    let rules = presets::rules("bell");
    let info = ModelInfo { rulesets: vec![TrainedRuleset::new(&rules, 1.0)], ..ModelInfo::default() };
    StoredModel { tensors: tensors(&config, 4), config, info }.write(path).unwrap();
    let mut file = TensorFile::read(path, MODEL).unwrap();
    change(&mut file);
    file.write(path, MODEL).unwrap();
    read(path)
}

#[test]
fn model_files_are_read_and_broken_ones_refused_with_the_fault_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.safetensors");
    written(&path, |_| ()).unwrap();
    let refusal = |change: fn(&mut TensorFile), said: &str| {
        let error = written(&path, change).unwrap_err();
        assert!(error.contains("a.safetensors") && error.contains(said), "{error} has no '{said}'");
    };
    refusal(|file| _ = file.metadata.insert("encoding".to_owned(), "1".to_owned()), "another encoding");
    refusal(|file| _ = file.metadata.remove("network"), "'network' is missing");
    refusal(|file| _ = file.tensors.remove("stem.bias"), "'stem.bias': it is missing");
    refusal(|file| _ = file.tensors.insert("other".to_owned(), file.tensors["stem.bias"].clone()), "'other'");
    refusal(|file| file.tensors.get_mut("stem.bias").unwrap().values[3] = f32::NAN, "not a finite number");
    refusal(|file| file.tensors.get_mut("policy.to.bias").unwrap().shape = vec![2, 4], "must be [8]");
    refusal(
        |file| {
            let network = file.metadata["network"].replace("\"blocks\":1", "\"blocks\":0");
            file.metadata.insert("network".to_owned(), network);
        },
        "blocks = 0",
    );
    let whole = std::fs::read(&path).unwrap();
    for len in [0, 7, 100, whole.len() - 1] {
        std::fs::write(&path, &whole[..len]).unwrap();
        assert!(read(&path).unwrap_err().contains("not a safetensors file"), "{len}");
    }
    assert!(read(folder.path()).unwrap_err().contains("it is no file"));
    assert!(read(&folder.path().join("none")).is_err());
}

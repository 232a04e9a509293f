//! Archives of arrays, shards, and files of weights.

use std::fs;
use std::io::{Cursor, Read, Write};
use std::sync::OnceLock;

use latrunculi_data::model_file::CHECKPOINT_PARTS;
use latrunculi_data::npz::{ArrayReader, ArrayWriter};
use latrunculi_data::{
    NetworkConfig, ParameterLayout, ShardInfo, ShardSummary, StoredCheckpoint, StoredModel, TensorFileHeader,
    TrainingConfig, TrainingCounters, read_shard, write_shard,
};
use latrunculi_infer::InferenceModel;
use serde_json::Value;
use zip::write::FileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::{file, games, rules, written};
use crate::driver::Target;
use crate::mutate::{Mutator, mutated};

const RULESET: &str = "bell-8x8";

/// Changes one member of an archive and packs it again, with the checksums of what it then holds.
pub(super) fn changed_member(seeds: &[Vec<u8>], mutator: &mut Mutator) -> Vec<u8> {
    if mutator.below(4) == 0 {
        return mutated(seeds, mutator);
    }
    let mut members = unpacked(&seeds[mutator.below(seeds.len())]);
    for _ in 0..1 + mutator.below(2) {
        let changed = mutator.below(members.len());
        match mutator.below(12) {
            0 => drop(members.remove(changed)),
            1 => {
                let copied = members[mutator.below(members.len())].1.clone();
                members[changed].1 = copied;
            }
            2 => change_entries(&mut members[changed].1, mutator),
            3 => members[changed].1.extend(std::iter::repeat_n(0, 1 << mutator.below(22))),
            4..8 => change_entry(&mut members[changed].1, mutator),
            _ => mutator.change(&mut members[changed].1, &[]),
        }
        if members.is_empty() {
            break;
        }
    }
    packed(&members)
}

/// Where the entries of an array begin.
fn entries_begin(array: &[u8]) -> usize {
    array.iter().position(|&byte| byte == b'\n').map_or(0, |end| end + 1)
}

/// Sets one entry of four or eight bytes to a number that is out of range, or nearly so.
fn change_entry(array: &mut [u8], mutator: &mut Mutator) {
    let begin = entries_begin(array);
    let count = (array.len() - begin) / 4;
    if count == 0 {
        return;
    }
    let at = begin + 4 * mutator.below(count);
    let number = *mutator.one_of(&[0.0_f32, 1.0, -1.0, 5.0, 0.5, 1e30, f32::NAN, f32::INFINITY, 1e-40]);
    let number = if mutator.below(3) == 0 { u32::to_le_bytes(mutator.below(300) as u32) } else { number.to_le_bytes() };
    array[at..at + 4].copy_from_slice(&number);
}

/// Sets all entries to one number.
fn change_entries(array: &mut [u8], mutator: &mut Mutator) {
    let begin = entries_begin(array);
    let number = *mutator.one_of(&[[0_u8; 4], [255; 4], 5.0_f32.to_le_bytes(), f32::NAN.to_le_bytes(), [1, 0, 0, 0]]);
    array[begin..].chunks_exact_mut(4).for_each(|entry| entry.copy_from_slice(&number));
}

fn unpacked(archive: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut zip = ZipArchive::new(Cursor::new(archive)).expect("a seed is an archive");
    let mut members = Vec::new();
    for index in 0..zip.len() {
        let mut member = zip.by_index(index).expect("a member");
        let mut bytes = Vec::new();
        member.read_to_end(&mut bytes).expect("its bytes");
        members.push((member.name().to_owned(), bytes));
    }
    members
}

pub(super) fn packed(members: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = FileOptions::default().compression_method(CompressionMethod::Deflated);
    for (name, bytes) in members {
        zip.start_file(name.as_str(), options).expect("into memory");
        zip.write_all(bytes).expect("into memory");
    }
    zip.finish().expect("into memory").into_inner()
}

/// Arrays of any archive.
pub(super) const NPZ: Target = Target {
    name: "npz",
    seeds: || {
        let mut writer = ArrayWriter::new(Cursor::new(Vec::new()), true);
        writer.array("numbers", &[2, 3], &[0.0_f32, 1.0, 2.0, 3.0, 4.0, 5.0]).expect("into memory");
        writer.array("text", &[5], b"hello").expect("into memory");
        vec![writer.finish().expect("into memory").into_inner()]
    },
    mutate: changed_member,
    check: |input| {
        let path = written("some.npz", input);
        let Ok(mut reader) = ArrayReader::open(&path) else { return false };
        let numbers = reader.array::<f32>("numbers", &[None, Some(3)]);
        if let Ok(array) = &numbers {
            assert_eq!(array.shape.iter().product::<u64>(), array.entries.len() as u64);
        }
        let text = reader.text("text");
        let _ = reader.length("text");
        let _ = reader.number::<u64>("numbers");
        numbers.is_ok() && text.is_ok()
    },
};

/// A shard: what is accepted can be learnt from, and survives being written.
pub(super) const SHARD: Target = Target {
    name: "shard",
    seeds: || {
        let (path, rules) = (file("seed.npz"), rules(RULESET));
        let info = ShardInfo::new(&rules, 7, 3, "somebody".to_owned());
        let mut samples = games::games()[0].samples.clone();
        samples.append(&games::games()[1].samples);
        write_shard(&path, &info, &samples).expect("a shard");
        vec![fs::read(&path).expect("the shard")]
    },
    mutate: changed_member,
    check: |input| {
        let (path, rules) = (written("some-shard.npz", input), rules(RULESET));
        let _ = ShardSummary::read(&path);
        let Ok((info, samples)) = read_shard(&path, &rules) else { return false };
        samples.check(&rules).expect("what is read is true");
        write_shard(&path, &info, &samples).expect("it is written");
        let again = read_shard(&path, &rules).expect("what is written is read");
        assert_eq!(again, (info, samples.clone()), "a shard survives being written");
        games::draw(&rules, samples);
        true
    },
};

/// A small network.
fn network() -> NetworkConfig {
    NetworkConfig {
        blocks: 1,
        channels: 8,
        policy_channels: 8,
        value_channels: 8,
        value_hidden: 8,
        ..NetworkConfig::default()
    }
}

/// The model of a small network.
fn model() -> &'static [u8] {
    static MODEL: OnceLock<Vec<u8>> = OnceLock::new();
    MODEL.get_or_init(|| {
        let path = file("seed.safetensors");
        StoredModel::fresh(&network(), 1).expect("a network").write(&path).expect("a model");
        fs::read(path).expect("the model")
    })
}

/// Changes a file of tensors: an entry, its header, or one of the texts in it.
fn changed_tensors(seeds: &[Vec<u8>], mutator: &mut Mutator, texts: &[&str]) -> Vec<u8> {
    let bytes = mutator.one_of(seeds).clone();
    let header_bytes = u64::from_le_bytes(bytes[..8].try_into().expect("eight bytes")) as usize;
    let (mut header, mut entries) = (bytes[8..8 + header_bytes].to_vec(), bytes[8 + header_bytes..].to_vec());
    match mutator.below(4) {
        0 => return mutated(seeds, mutator),
        1 => change_entry(&mut entries, mutator),
        2 => mutator.change(&mut header, &[]),
        _ => {
            // What it says of itself is JSON within JSON.
            let mut described: Value = serde_json::from_slice(&header).expect("JSON");
            let key = *mutator.one_of(texts);
            let mut text = described["__metadata__"][key].as_str().unwrap_or_default().as_bytes().to_vec();
            mutator.change(&mut text, &[]);
            described["__metadata__"][key] = String::from_utf8_lossy(&text).into_owned().into();
            header = serde_json::to_vec(&described).expect("JSON");
        }
    }
    [&(header.len() as u64).to_le_bytes()[..], &header, &entries].concat()
}

/// A checkpoint: what is accepted has all its tensors, and survives being written.
pub(super) const CHECKPOINT: Target = Target {
    name: "checkpoint",
    seeds: || {
        let network = network();
        let training = TrainingConfig::default();
        let layout = ParameterLayout::for_training(&network);
        let values = layout.start_values(1);
        let tensors = CHECKPOINT_PARTS
            .iter()
            .flat_map(|part| layout.tensors(&values).map(move |(name, tensor)| (format!("{part}{name}"), tensor)));
        let counters = TrainingCounters::default();
        let extra = "{\"generations\":3}".to_owned();
        let path = file("seed-checkpoint.safetensors");
        let checkpoint = StoredCheckpoint { network, training, counters, extra, tensors: tensors.collect() };
        checkpoint.write(&path).expect("a checkpoint");
        vec![fs::read(path).expect("the checkpoint")]
    },
    mutate: |seeds, mutator| {
        let texts = ["network", "training", "counters", "extra", "encoding", "format", "format_version"];
        changed_tensors(seeds, mutator, &texts)
    },
    check: |input| {
        let path = written("some-checkpoint.safetensors", input);
        let Ok(checkpoint) = StoredCheckpoint::read(&path) else { return false };
        let values = checkpoint.tensors.values().flat_map(|tensor| &tensor.values);
        assert!(values.into_iter().all(|value| value.is_finite()), "every entry is a number");
        assert!(checkpoint.network.validate().is_empty(), "the network can be built");
        checkpoint.clone().write(&path).expect("it is written");
        assert_eq!(StoredCheckpoint::read(&path).expect("what is written is read"), checkpoint);
        true
    },
};

/// A model: what is accepted can play, every weight is a number, and all survives being written.
pub(super) const MODEL: Target = Target {
    name: "model",
    seeds: || vec![model().to_vec()],
    mutate: |seeds, mutator| changed_tensors(seeds, mutator, &["network", "info", "encoding", "format_version"]),
    check: |input| {
        let path = written("some.safetensors", input);
        let _ = TensorFileHeader::read(&path);
        let Ok(model) = StoredModel::read(&path) else { return false };
        InferenceModel::from_tensors(&model.config, model.tensors.clone()).expect("a model that is read can play");
        model.clone().write(&path).expect("it is written");
        let again = StoredModel::read(&path).expect("what is written is read");
        assert_eq!((&again.info, &again.config), (&model.info, &model.config));
        for (name, tensor) in &model.tensors {
            assert!(tensor.values.iter().all(|value| value.is_finite()), "{name}: every weight is a number");
            assert_eq!(again.tensors.get(name), Some(tensor), "{name} survives being written");
        }
        true
    },
};

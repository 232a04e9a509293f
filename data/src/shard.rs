//! Shards: the samples of one generation as an `.npz` file that numpy reads. Its arrays: docs/FORMATS.md.

use std::io::{self, BufWriter, Seek, Write};
use std::path::Path;

use latrunculi_engine::Rules;
use latrunculi_engine::record::ruleset_fingerprint;

use crate::error::Error;
use crate::features::{ENCODING_VERSION, SCALARS, Shape};
use crate::files::{checksum, write_atomically};
use crate::npz::{ArrayReader, ArrayWriter};
use crate::rule_inputs;
use crate::sample::Samples;
use crate::schema::ACTION_OFFSETS;

/// Version of the format.
pub const SHARD_VERSION: u32 = 5;

/// Where the samples of a shard come from.
#[derive(Clone, Debug, PartialEq)]
pub struct ShardInfo {
    /// Name of the ruleset.
    pub ruleset: String,
    /// Fingerprint of its parameters.
    pub fingerprint: String,
    /// The text of the ruleset, every parameter written out.
    pub ruleset_text: String,
    /// The ruleset as the network sees it.
    pub rule_inputs: Vec<f32>,
    /// Seed of the run.
    pub run_seed: u64,
    /// Generation, from 0.
    pub generation: u64,
    /// Who plays, and how: equal texts mean the same player with the same settings.
    pub players: String,
}

impl ShardInfo {
    /// Describes a generation under `rules`.
    #[must_use]
    pub fn new(rules: &Rules, run_seed: u64, generation: u64, players: String) -> ShardInfo {
        let ruleset = rules.ruleset();
        ShardInfo {
            ruleset: ruleset.id.clone(),
            fingerprint: ruleset_fingerprint(ruleset),
            ruleset_text: ruleset.to_toml(),
            rule_inputs: rule_inputs::of(ruleset),
            run_seed,
            generation,
            players,
        }
    }
}

/// Writes a shard, [atomically](write_atomically); an existing file is replaced. Returns the [`checksum`] of the file.
pub fn write_shard(path: &Path, info: &ShardInfo, samples: &Samples) -> Result<String, Error> {
    let mut sum = String::new();
    let written = write_atomically(path, |file| {
        let mut writer = ArrayWriter::new(BufWriter::new(&mut *file), true);
        write_arrays(&mut writer, info, samples)?;
        writer.finish()?.flush()?;
        file.rewind()?;
        sum = checksum(file)?;
        Ok(())
    });
    written.map_err(|refusal| Error::writing(path, &refusal))?;
    Ok(sum)
}

/// Returns what a shard says of the shape: files, ranks, planes, scalars of the position.
fn stored_shape(shape: &Shape) -> [u32; 4] {
    [shape.files, shape.ranks, shape.planes, SCALARS.len()].map(|number| number as u32)
}

fn write_arrays<W: Write + io::Seek>(
    writer: &mut ArrayWriter<W>,
    info: &ShardInfo,
    samples: &Samples,
) -> io::Result<()> {
    writer.array("version", &[1], &[SHARD_VERSION])?;
    writer.array("encoding", &[1], &[ENCODING_VERSION])?;
    writer.array("ruleset", &[info.ruleset.len()], info.ruleset.as_bytes())?;
    writer.array("ruleset_fingerprint", &[info.fingerprint.len()], info.fingerprint.as_bytes())?;
    writer.array("ruleset_text", &[info.ruleset_text.len()], info.ruleset_text.as_bytes())?;
    writer.array("shape", &[4], &stored_shape(&samples.shape))?;
    writer.array("rule_inputs", &[info.rule_inputs.len()], &info.rule_inputs)?;
    writer.array("run_seed", &[1], &[info.run_seed])?;
    writer.array("generation", &[1], &[info.generation])?;
    writer.array("players", &[info.players.len()], info.players.as_bytes())?;
    samples.write(writer)
}

/// Reads a shard that must have been played under `rules`.
pub fn read_shard(path: &Path, rules: &Rules) -> Result<(ShardInfo, Samples), Error> {
    let in_file = |error| Error::of_file(path, error);
    let mut reader = open_shard(path)?;
    let encoding: u32 = reader.number("encoding").map_err(in_file)?;
    if encoding != ENCODING_VERSION {
        let reason =
            format!("its samples are of version {encoding}, this program's are of {ENCODING_VERSION}; play anew");
        return Err(in_file(Error::of_array("encoding", reason)));
    }
    let name = reader.text("ruleset").map_err(in_file)?;
    let fingerprint = reader.text("ruleset_fingerprint").map_err(in_file)?;
    let wanted = rules.ruleset();
    if fingerprint != ruleset_fingerprint(wanted) {
        let reason =
            format!("it was played under the ruleset '{name}' and '{}' is wanted, or a parameter differs", wanted.id);
        return Err(Error::of_file(path, reason));
    }
    let shape = Shape::of(rules);
    let found = reader.array::<u32>("shape", &[Some(4)]).map_err(in_file)?.entries;
    if found[..] != stored_shape(&shape) {
        let wanted = stored_shape(&shape);
        let reason = format!("its positions have the shape {found:?} and {wanted:?} is wanted");
        return Err(Error::of_file(path, reason));
    }
    let rule_inputs = reader.array("rule_inputs", &[Some(rule_inputs::count() as u64)]).map_err(in_file)?.entries;
    if rule_inputs != rule_inputs::of(wanted) {
        return Err(in_file(Error::of_array("rule_inputs", "they are not those of the shard's ruleset")));
    }
    let info = ShardInfo {
        ruleset: name,
        fingerprint,
        ruleset_text: reader.text("ruleset_text").map_err(in_file)?,
        rule_inputs,
        run_seed: reader.number("run_seed").map_err(in_file)?,
        generation: reader.number("generation").map_err(in_file)?,
        players: reader.text("players").map_err(in_file)?,
    };
    let samples = Samples::read(&mut reader, shape).map_err(in_file)?;
    samples.check_contents(rules).map_err(in_file)?;
    Ok((info, samples))
}

pub(crate) fn open_shard(path: &Path) -> Result<ArrayReader, Error> {
    let in_file = |error| Error::of_file(path, error);
    let mut reader = ArrayReader::open(path).map_err(in_file)?;
    let version: u32 = reader.number("version").map_err(in_file)?;
    if version != SHARD_VERSION {
        let reason = format!("shard version {version}, this program reads {SHARD_VERSION}");
        return Err(Error::of_file(path, reason));
    }
    Ok(reader)
}

/// What a shard says about itself, read without its samples and without its rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardSummary {
    /// Name of the ruleset.
    pub ruleset: String,
    /// Fingerprint of its parameters.
    pub fingerprint: String,
    /// The text of the ruleset, every parameter written out.
    pub ruleset_text: String,
    /// Seed of the run.
    pub run_seed: u64,
    /// Generation, from 0.
    pub generation: u64,
    /// Files, ranks, binary planes and scalars of a position.
    pub shape: [u32; 4],
    /// Number of samples.
    pub samples: u64,
    /// Legal actions of all samples.
    pub actions: u64,
}

impl ShardSummary {
    /// Reads the summary of a shard. The samples are not read: [`read_shard`] checks them.
    pub fn read(path: &Path) -> Result<ShardSummary, Error> {
        summarise(&mut open_shard(path)?).map_err(|error| Error::of_file(path, error))
    }
}

fn summarise(reader: &mut ArrayReader) -> Result<ShardSummary, Error> {
    let shape = reader.array::<u32>("shape", &[Some(4)])?.entries;
    Ok(ShardSummary {
        ruleset: reader.text("ruleset")?,
        fingerprint: reader.text("ruleset_fingerprint")?,
        ruleset_text: reader.text("ruleset_text")?,
        run_seed: reader.number("run_seed")?,
        generation: reader.number("generation")?,
        shape: std::array::from_fn(|index| shape[index]),
        samples: reader.length(ACTION_OFFSETS)?.saturating_sub(1),
        actions: reader.length("policy")?,
    })
}

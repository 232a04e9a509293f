//! What a shard says about itself, without its samples.

use std::path::Path;

use crate::error::Error;
use crate::npz::ArrayReader;
use crate::schema::ACTION_OFFSETS;
use crate::shard::open_shard;

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
    /// Reads the summary of a shard. The samples are not read: [`crate::read_shard`] checks them.
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

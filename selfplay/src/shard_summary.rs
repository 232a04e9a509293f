//! What a shard says of itself, without its samples.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use npyz::NpyFile;
use npyz::zip::ZipArchive;
use npyz::zip::result::ZipError;

use crate::error::ShardError;
use crate::shard::SHARD_VERSION;

/// The most bytes of an array that is read here; those that hold samples are not.
const BYTES_MAX: u64 = 1 << 16;

/// What a shard says of itself, read without its samples and without its rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardSummary {
    /// Name of the ruleset.
    pub ruleset: String,
    /// Fingerprint of its parameters.
    pub fingerprint: String,
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
    /// Reads what a shard says of itself. The samples are not looked at: [`crate::read_shard`] checks them.
    ///
    /// # Errors
    /// [`ShardError`]: what is wrong with the file, with its name.
    pub fn read(path: &Path) -> Result<ShardSummary, ShardError> {
        let io = |source| ShardError::Io { path: path.to_owned(), attempt: "reading it", source };
        let file = File::open(path).map_err(io)?;
        if !file.metadata().map_err(io)?.is_file() {
            return Err(ShardError::Broken { path: path.to_owned(), reason: "not a file".to_owned() });
        }
        let zip = ZipArchive::new(BufReader::new(file))
            .map_err(|error| ShardError::Broken { path: path.to_owned(), reason: error.to_string() })?;
        let mut source = Source { path, zip };
        let version = source.numbers::<u32, 1>("version")?[0];
        if version != SHARD_VERSION {
            return Err(ShardError::Version { path: path.to_owned(), found: version, known: SHARD_VERSION });
        }
        Ok(ShardSummary {
            ruleset: source.text("ruleset")?,
            fingerprint: source.text("ruleset_fingerprint")?,
            run_seed: source.numbers::<u64, 1>("run_seed")?[0],
            generation: source.numbers::<u64, 1>("generation")?[0],
            shape: source.numbers::<u32, 4>("shape")?,
            samples: source.length("weights")?,
            actions: source.length("policy")?,
        })
    }
}

struct Source<'a> {
    path: &'a Path,
    zip: ZipArchive<BufReader<File>>,
}

impl Source<'_> {
    fn fault(&self, array: &'static str, reason: impl Into<String>) -> ShardError {
        ShardError::Array { path: self.path.to_owned(), array, reason: reason.into() }
    }

    /// Does `read` with the array, from which no more than a little can be read.
    fn with<T>(
        &mut self,
        array: &'static str,
        read: impl FnOnce(&mut dyn Read) -> Result<T, String>,
    ) -> Result<T, ShardError> {
        let done = match self.zip.by_name(&npyz::npz::file_name_from_array_name(array)) {
            Ok(member) => read(&mut member.take(BYTES_MAX)),
            Err(ZipError::FileNotFound) => Err("it is missing".to_owned()),
            Err(error) => Err(error.to_string()),
        };
        done.map_err(|reason| self.fault(array, reason))
    }

    fn all<T: npyz::Deserialize>(&mut self, array: &'static str) -> Result<Vec<T>, ShardError> {
        self.with(array, |bytes| {
            let file = NpyFile::new(bytes).map_err(|error| error.to_string())?;
            if file.len() > BYTES_MAX {
                return Err(format!("it has {} entries, which is too many", file.len()));
            }
            let numbers = file.data::<T>().map_err(|error| error.to_string())?;
            numbers.collect::<Result<Vec<T>, _>>().map_err(|error| error.to_string())
        })
    }

    fn numbers<T: npyz::Deserialize, const K: usize>(&mut self, array: &'static str) -> Result<[T; K], ShardError> {
        let numbers = self.all::<T>(array)?;
        let count = numbers.len();
        numbers.try_into().map_err(|_| self.fault(array, format!("it has {count} entries and must have {K}")))
    }

    fn text(&mut self, array: &'static str) -> Result<String, ShardError> {
        Ok(String::from_utf8_lossy(&self.all::<u8>(array)?).into_owned())
    }

    /// Returns the length of an array's first dimension, which stands before its entries.
    fn length(&mut self, array: &'static str) -> Result<u64, ShardError> {
        self.with(array, |bytes| {
            let file = NpyFile::new(bytes).map_err(|error| error.to_string())?;
            file.shape().first().copied().ok_or_else(|| "it has no dimension".to_owned())
        })
    }
}

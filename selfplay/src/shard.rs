//! Shards: the samples of one generation as an `.npz` file that numpy reads.
//!
//! ```python
//! shard = numpy.load("000003.npz")
//! files, ranks, planes, scalars = shard["shape"]
//! bits = numpy.unpackbits(shard["planes"], axis=2, bitorder="little", count=files * ranks)
//! board = bits.reshape(-1, planes, ranks, files)           # seen from the player to act, his side first
//! begin, end = shard["action_offsets"][7:9]                # legal actions of sample 7
//! policy = shard["policy"][begin:end]                      # sums to 1
//! ```
//!
//! Every array is little-endian and in C order; members are deflated. `N` samples, `L` legal actions of all
//! of them, `C` planes, `P = ceil(files * ranks / 8)`, `S` scalars of the position, `R` numbers of the
//! ruleset:
//!
//! | array | type | shape | holds |
//! |---|---|---|---|
//! | `version` | u32 | 1 | version of this format, [`SHARD_VERSION`] |
//! | `encoding` | u32 | 1 | version of what planes, scalars and policy mean, [`ENCODING_VERSION`] |
//! | `ruleset` | u8 | any | name of the ruleset, UTF-8 |
//! | `ruleset_fingerprint` | u8 | 8 | [`ruleset_fingerprint`] in ASCII: differs when any parameter does |
//! | `shape` | u32 | 4 | files, ranks, `C`, `S` |
//! | `rule_inputs` | f32 | R | the ruleset as the network sees it; follows the scalars of every position |
//! | `run_seed`, `generation` | u64 | 1 | where the games come from |
//! | `players` | u8 | any | who played them: the same text for the same player and settings, ASCII |
//! | `planes` | u8 | N, C, P | binary planes, eight squares a byte, the first in the lowest bit |
//! | `scalars` | f32 | N, S | numbers that hold for the whole position, in `[0, 1]` |
//! | `action_offsets` | u64 | N + 1 | actions of sample `i`: `offsets[i]..offsets[i + 1]` |
//! | `action_indices` | u32 | L, 2 | the two entries of the policy vector whose sum is the action's logit |
//! | `policy` | f32 | L | policy target; sums to 1 over each sample |
//! | `win_draw_loss` | f32 | N, 3 | result of the game for the player to act |
//! | `search_win_draw_loss` | f32 | N, 3 | what the search expected for him |
//! | `margin` | f32 | N | final material margin for him, in `[-1, 1]` |
//! | `survivors` | u8 | N, P | the pieces that are still there when the game ends, packed as the planes are |
//! | `replies` | i64 | N | the sample whose policy is the opponent's next decision; -1 where there is none |
//! | `turns_left` | u32 | N | turns from the position to the end of the game |
//! | `weights` | f32 | N | weight in the loss |
//! | `games` | u32 | N | number of the game in its generation |
//! | `turns` | u32 | N | turns played before the position |
//!
//! The order of planes and scalars is that of `latrunculi_engine::encoding`.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use latrunculi_engine::Rules;
use latrunculi_engine::encoding::{ENCODING_VERSION, SCALARS, Shape, packed_plane_len};
use latrunculi_engine::record::ruleset_fingerprint;
use npyz::{AutoSerialize, Deserialize, NpyFile, WriterBuilder};

use crate::error::ShardError;
use crate::samples::Samples;

/// Version of the format.
pub const SHARD_VERSION: u32 = 3;
/// More samples than any shard has; what announces more is damaged.
const SAMPLES_MAX: u64 = 1 << 31;

/// The most bytes of an array whose length is not known beforehand.
const UNKNOWN_BYTES_MAX: u64 = 1 << 30;
/// The most bytes before the entries of an array.
const NPY_HEADER_BYTES_MAX: u64 = 1 << 16;

/// Where the samples of a shard come from.
#[derive(Clone, Debug, PartialEq)]
pub struct ShardInfo {
    /// Name of the ruleset.
    pub ruleset: String,
    /// Fingerprint of its parameters.
    pub fingerprint: String,
    /// The ruleset as the network sees it.
    pub rule_inputs: Vec<f32>,
    /// Seed of the run.
    pub run_seed: u64,
    /// Generation, from 0.
    pub generation: u64,
    /// Who plays, and how: a text that is the same for the same player and the same settings, and else another.
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
            rule_inputs: rules.rule_inputs().to_vec(),
            run_seed,
            generation,
            players,
        }
    }
}

/// Writes a shard to `path`, beside and renamed; a file that is there is replaced.
///
/// # Errors
/// [`ShardError::Io`] when the system refuses.
pub fn write_shard(path: &Path, info: &ShardInfo, samples: &Samples) -> Result<(), ShardError> {
    let beside = beside(path);
    let io = |attempt| move |source| ShardError::Io { path: path.to_owned(), attempt, source };
    let written = write_file(&beside, info, samples).map_err(io("writing it"));
    let written = written.and_then(|()| fs::rename(&beside, path).map_err(io("putting it in its place")));
    if written.is_err() {
        // The unfinished file is of no use to anybody; that it cannot be removed either is no news.
        let _ = fs::remove_file(&beside);
        return written;
    }
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty())
        && let Ok(folder) = File::open(folder)
    {
        // The new name too must survive a loss of power. Not every system lets folders be opened.
        let _ = folder.sync_all();
    }
    Ok(())
}

fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    path.with_file_name(format!(".{name}.{}.unfinished", std::process::id()))
}

/// An archive being written.
struct Archive {
    npz: npyz::npz::NpzWriter<BufWriter<File>>,
}

impl Archive {
    fn array<T: AutoSerialize + Copy>(&mut self, name: &str, shape: &[usize], values: &[T]) -> io::Result<()> {
        let options = npyz::zip::write::FileOptions::default()
            .compression_method(npyz::zip::CompressionMethod::Deflated)
            .compression_level(Some(1))
            // Equal content gives equal files.
            .last_modified_time(npyz::zip::DateTime::default())
            .large_file(true);
        let zip = self.npz.zip_writer();
        zip.start_file(npyz::npz::file_name_from_array_name(name), options)?;
        let shape: Vec<u64> = shape.iter().map(|&len| len as u64).collect();
        // One number at a time into the compressor would be a hundred times slower.
        let mut buffered = BufWriter::with_capacity(1 << 16, zip);
        let mut writer = npyz::WriteOptions::new().default_dtype().shape(&shape).writer(&mut buffered).begin_nd()?;
        writer.extend(values.iter().copied())?;
        writer.finish()?;
        buffered.flush()
    }
}

/// Returns what a shard says of the shape: files, ranks, planes, scalars of the position.
fn stored_shape(shape: &Shape) -> [u32; 4] {
    [shape.files, shape.ranks, shape.planes, SCALARS.len()].map(|number| number as u32)
}

fn write_file(path: &Path, info: &ShardInfo, samples: &Samples) -> io::Result<()> {
    let mut archive = Archive { npz: npyz::npz::NpzWriter::new(BufWriter::new(File::create(path)?)) };
    let shape = &samples.shape;
    let (n, l) = (samples.len(), samples.policy.len());
    let numbers = stored_shape(shape);
    archive.array("version", &[1], &[SHARD_VERSION])?;
    archive.array("encoding", &[1], &[ENCODING_VERSION])?;
    archive.array("ruleset", &[info.ruleset.len()], info.ruleset.as_bytes())?;
    archive.array("ruleset_fingerprint", &[info.fingerprint.len()], info.fingerprint.as_bytes())?;
    archive.array("shape", &[4], &numbers)?;
    archive.array("rule_inputs", &[info.rule_inputs.len()], &info.rule_inputs)?;
    archive.array("run_seed", &[1], &[info.run_seed])?;
    archive.array("generation", &[1], &[info.generation])?;
    archive.array("players", &[info.players.len()], info.players.as_bytes())?;
    archive.array("planes", &[n, shape.planes, packed_plane_len(shape.area())], &samples.planes)?;
    archive.array("scalars", &[n, SCALARS.len()], &samples.scalars)?;
    archive.array("action_offsets", &[n + 1], &samples.action_offsets)?;
    archive.array("action_indices", &[l, 2], samples.action_indices.as_flattened())?;
    archive.array("policy", &[l], &samples.policy)?;
    archive.array("win_draw_loss", &[n, 3], samples.win_draw_loss.as_flattened())?;
    archive.array("search_win_draw_loss", &[n, 3], samples.search_win_draw_loss.as_flattened())?;
    archive.array("margin", &[n], &samples.margin)?;
    archive.array("survivors", &[n, packed_plane_len(shape.area())], &samples.survivors)?;
    archive.array("replies", &[n], &samples.replies)?;
    archive.array("turns_left", &[n], &samples.turns_left)?;
    archive.array("weights", &[n], &samples.weights)?;
    archive.array("games", &[n], &samples.games)?;
    archive.array("turns", &[n], &samples.turns)?;
    let mut file = archive.npz.zip_writer().finish()?;
    file.flush()?;
    file.get_ref().sync_all()
}

/// An archive being read.
struct Source<'a> {
    path: &'a Path,
    zip: npyz::zip::ZipArchive<BufReader<File>>,
}

impl Source<'_> {
    fn fault(&self, array: &'static str, reason: impl Into<String>) -> ShardError {
        ShardError::Array { path: self.path.to_owned(), array, reason: reason.into() }
    }

    fn array<T: Deserialize>(&mut self, array: &'static str, shape: &[Option<u64>]) -> Result<Vec<T>, ShardError> {
        let name = npyz::npz::file_name_from_array_name(array);
        let path = self.path;
        let broken = |reason: String| ShardError::Broken { path: path.to_owned(), reason };
        let entries = shape.iter().try_fold(1u64, |product, len| product.checked_mul((*len)?));
        let room = entries.map_or(UNKNOWN_BYTES_MAX, |entries| {
            entries.saturating_mul(size_of::<T>() as u64).saturating_add(NPY_HEADER_BYTES_MAX)
        });
        let mut bytes = Vec::new();
        {
            let mut member = match self.zip.by_name(&name) {
                Ok(member) => member,
                Err(npyz::zip::result::ZipError::FileNotFound) => {
                    return Err(ShardError::Array { path: path.to_owned(), array, reason: "it is missing".to_owned() });
                }
                Err(error) => return Err(broken(format!("array '{array}': {error}"))),
            };
            // The checksum is compared at the end of the member. A few bytes may unpack to more than any
            // memory holds: no more is unpacked than the array may have.
            member
                .by_ref()
                .take(room + 1)
                .read_to_end(&mut bytes)
                .map_err(|error| broken(format!("array '{array}': {error}")))?;
        }
        if bytes.len() as u64 > room {
            return Err(self.fault(array, format!("it unpacks to more than {room} bytes")));
        }
        let file = NpyFile::new(&bytes[..]).map_err(|error| self.fault(array, error.to_string()))?;
        let found = file.shape().to_vec();
        let fits = found.len() == shape.len()
            && found.iter().zip(shape).all(|(found, wanted)| wanted.is_none_or(|wanted| wanted == *found));
        if !fits {
            let wanted: Vec<String> =
                shape.iter().map(|len| len.map_or("any".to_owned(), |len| len.to_string())).collect();
            return Err(self.fault(array, format!("its shape is {found:?} and must be [{}]", wanted.join(", "))));
        }
        if file.order() != npyz::Order::C {
            return Err(self.fault(array, "it is in Fortran order and must be in C order"));
        }
        let count = found.iter().try_fold(1u64, |product, &len| product.checked_mul(len));
        let room = (bytes.len() / size_of::<T>()) as u64;
        if count.is_none_or(|count| count > room) {
            return Err(self.fault(array, format!("it announces the shape {found:?} and is shorter")));
        }
        let numbers = file.data::<T>().map_err(|error| self.fault(array, error.to_string()))?;
        numbers.collect::<Result<Vec<T>, _>>().map_err(|error| self.fault(array, error.to_string()))
    }

    fn one<T: Deserialize + Copy>(&mut self, array: &'static str) -> Result<T, ShardError> {
        Ok(self.array::<T>(array, &[Some(1)])?[0])
    }

    fn text(&mut self, array: &'static str) -> Result<String, ShardError> {
        Ok(String::from_utf8_lossy(&self.array::<u8>(array, &[None])?).into_owned())
    }

    fn rows<T: Deserialize + Copy + Default, const K: usize>(
        &mut self,
        array: &'static str,
        count: u64,
    ) -> Result<Vec<[T; K]>, ShardError> {
        let flat = self.array::<T>(array, &[Some(count), Some(K as u64)])?;
        Ok(flat.as_chunks::<K>().0.to_vec())
    }

    fn finite<'v>(&self, array: &'static str, values: impl IntoIterator<Item = &'v f32>) -> Result<(), ShardError> {
        match values.into_iter().all(|value| value.is_finite()) {
            true => Ok(()),
            false => Err(self.fault(array, "an entry is not a finite number")),
        }
    }
}

/// Reads a shard that must have been played under `rules`.
///
/// # Errors
/// [`ShardError`]: what is wrong with the file, with its name.
pub fn read_shard(path: &Path, rules: &Rules) -> Result<(ShardInfo, Samples), ShardError> {
    let io = |source| ShardError::Io { path: path.to_owned(), attempt: "reading it", source };
    let file = File::open(path).map_err(io)?;
    if !file.metadata().map_err(io)?.is_file() {
        return Err(ShardError::Broken { path: path.to_owned(), reason: "not a file".to_owned() });
    }
    let zip = npyz::zip::ZipArchive::new(BufReader::new(file))
        .map_err(|error| ShardError::Broken { path: path.to_owned(), reason: error.to_string() })?;
    let mut source = Source { path, zip };
    let version: u32 = source.one("version")?;
    if version != SHARD_VERSION {
        return Err(ShardError::Version { path: path.to_owned(), found: version, known: SHARD_VERSION });
    }
    let encoding: u32 = source.one("encoding")?;
    if encoding != ENCODING_VERSION {
        let reason =
            format!("its samples are of version {encoding}, this program's are of {ENCODING_VERSION}; play anew");
        return Err(source.fault("encoding", reason));
    }
    let name = source.text("ruleset")?;
    let fingerprint = source.text("ruleset_fingerprint")?;
    let wanted = rules.ruleset();
    if fingerprint != ruleset_fingerprint(wanted) {
        return Err(ShardError::Ruleset { path: path.to_owned(), found: name, wanted: wanted.id.clone() });
    }
    let shape = Shape::of(rules);
    let numbers: Vec<u32> = source.array("shape", &[Some(4)])?;
    if numbers[..] != stored_shape(&shape) {
        let wanted = format!("{:?}", stored_shape(&shape));
        return Err(ShardError::Shape { path: path.to_owned(), found: format!("{numbers:?}"), wanted });
    }
    let info = ShardInfo {
        ruleset: name,
        fingerprint,
        rule_inputs: source.array("rule_inputs", &[Some(rules.rule_inputs().len() as u64)])?,
        run_seed: source.one("run_seed")?,
        generation: source.one("generation")?,
        players: source.text("players")?,
    };
    let weights: Vec<f32> = source.array("weights", &[None])?;
    let n = weights.len() as u64;
    if n > SAMPLES_MAX {
        return Err(source.fault("weights", format!("{n} samples are more than any shard has")));
    }
    let plane_bytes = packed_plane_len(shape.area()) as u64;
    let action_offsets: Vec<u64> = source.array("action_offsets", &[Some(n + 1)])?;
    let l = action_offsets[n as usize];
    let is_rising = action_offsets[0] == 0 && action_offsets.windows(2).all(|pair| pair[0] < pair[1]);
    if !is_rising {
        return Err(source.fault("action_offsets", "the offsets must begin with 0 and rise"));
    }
    let samples = Samples {
        shape,
        planes: source.array("planes", &[Some(n), Some(shape.planes as u64), Some(plane_bytes)])?,
        scalars: source.array("scalars", &[Some(n), Some(SCALARS.len() as u64)])?,
        action_indices: source.rows("action_indices", l)?,
        policy: source.array("policy", &[Some(l)])?,
        win_draw_loss: source.rows("win_draw_loss", n)?,
        search_win_draw_loss: source.rows("search_win_draw_loss", n)?,
        margin: source.array("margin", &[Some(n)])?,
        survivors: source.array("survivors", &[Some(n), Some(plane_bytes)])?,
        replies: source.array("replies", &[Some(n)])?,
        turns_left: source.array("turns_left", &[Some(n)])?,
        games: source.array("games", &[Some(n)])?,
        turns: source.array("turns", &[Some(n)])?,
        action_offsets,
        weights,
    };
    let none = shape.policy_len() as u32;
    if samples.action_indices.iter().any(|&[first, second]| first >= none || second > none) {
        return Err(source.fault("action_indices", format!("an entry lies beyond the policy's length {none}")));
    }
    source.finite("scalars", &samples.scalars)?;
    source.finite("policy", &samples.policy)?;
    source.finite("win_draw_loss", samples.win_draw_loss.as_flattened())?;
    source.finite("search_win_draw_loss", samples.search_win_draw_loss.as_flattened())?;
    source.finite("margin", &samples.margin)?;
    source.finite("weights", &samples.weights)?;
    let beyond = shape.area() % 8;
    let is_clean = |plane: &[u8]| beyond == 0 || plane.last().is_none_or(|last| last >> beyond == 0);
    for (array, planes) in [("planes", &samples.planes), ("survivors", &samples.survivors)] {
        if !planes.chunks_exact(plane_bytes as usize).all(is_clean) {
            return Err(source.fault(array, "a bit beyond the last square is set"));
        }
    }
    if samples.replies.iter().any(|&reply| !(-1..n as i64).contains(&reply)) {
        return Err(source.fault("replies", "an entry names no sample"));
    }
    if samples.weights.iter().any(|&weight| weight < 0.0) {
        return Err(source.fault("weights", "an entry is negative"));
    }
    Ok((info, samples))
}

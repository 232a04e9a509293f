//! The journal of a list of games that alpha-beta plays: every game is written as it ends, so that a kill loses only the
//! games in flight. Such games depend on nothing but their numbers, so that those written are not played again.
//! The file grows by one entry per game: the length of the game in bytes and its checksum (CRC-32), both u32 in
//! little-endian order, then the game (postcard). An incomplete or damaged entry ends the journal: it and what follows
//! are dropped when the journal is opened again. Only the program that wrote a journal reads it; it is removed when the
//! shard of the generation has been written.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use latrunculi_data::{Error, ShardInfo};
use latrunculi_engine::Rules;

use crate::pool::PlayedGame;

/// The first bytes of a journal, before the description of its generation. The digit is the version of the format.
const MAGIC: &[u8; 8] = b"latrjrn7";
/// An entry that announces more bytes than this is damaged.
const ENTRY_BYTES_MAX: u32 = 1 << 30;

/// A journal that is open for writing. Actors may write at once.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    writing: Mutex<Writing>,
}

/// The file and the length of the whole entries in it.
#[derive(Debug)]
struct Writing {
    file: File,
    whole_bytes: u64,
}

impl Journal {
    /// Opens the journal of a generation at `path`, or creates it, and returns its games. The content of a journal of
    /// another generation, seed, ruleset or player is dropped.
    pub fn open(path: &Path, rules: &Rules, info: &ShardInfo) -> Result<(Journal, Vec<PlayedGame>), Error> {
        let refused = |attempt| move |refusal| failed(path, attempt, &refusal);
        let mut file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(refused("opening it"))?;
        let title = title(info);
        let mut games = Vec::new();
        let mut whole_bytes = 0;
        let mut source = BufReader::new(&mut file);
        if read_exactly(&mut source, title.len()).map_err(refused("reading it"))?.as_ref() == Some(&title) {
            whole_bytes = title.len() as u64;
            while let Some(entry) = read_entry(&mut source).map_err(refused("reading it"))? {
                let Ok(game) = postcard::from_bytes::<PlayedGame>(&entry) else { break };
                if game.samples.check(rules).is_err() {
                    break;
                }
                whole_bytes += 8 + entry.len() as u64;
                games.push(game);
            }
        }
        let begin = |file: &mut File| {
            file.set_len(whole_bytes)?;
            file.seek(io::SeekFrom::Start(whole_bytes))?;
            if whole_bytes == 0 { file.write_all(&title) } else { Ok(()) }
        };
        begin(&mut file).map_err(refused("beginning it"))?;
        let writing = Mutex::new(Writing { file, whole_bytes: whole_bytes.max(title.len() as u64) });
        Ok((Journal { path: path.to_owned(), writing }, games))
    }

    /// Adds a game. It survives a kill of the program, but not a loss of power.
    pub fn add(&self, game: &PlayedGame) -> Result<(), Error> {
        let entry = postcard::to_stdvec(game).map_err(io::Error::other);
        let written = entry.and_then(|entry| {
            let mut bytes = Vec::with_capacity(8 + entry.len());
            bytes.extend_from_slice(&(entry.len() as u32).to_le_bytes());
            bytes.extend_from_slice(&crc32fast::hash(&entry).to_le_bytes());
            bytes.extend_from_slice(&entry);
            let mut writing = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
            // Part of an entry that could not be written would end the journal before what follows it.
            let end = writing.whole_bytes;
            writing.file.seek(io::SeekFrom::Start(end))?;
            writing.file.write_all(&bytes).inspect_err(|_| _ = writing.file.set_len(end))?;
            writing.whole_bytes += bytes.len() as u64;
            Ok(())
        });
        written.map_err(|refusal| failed(&self.path, "writing a game", &refusal))
    }

    /// Deletes the journal, once its games are in a shard.
    pub fn remove(self) -> Result<(), Error> {
        drop(self.writing);
        fs::remove_file(&self.path).map_err(|refusal| failed(&self.path, "removing it", &refusal))
    }
}

fn failed(path: &Path, attempt: &str, refusal: &io::Error) -> Error {
    Error::of_file(path, format_args!("{attempt}: {refusal}"))
}

/// Returns the first bytes of a journal, which name its games.
fn title(info: &ShardInfo) -> Vec<u8> {
    let mut title = MAGIC.to_vec();
    title.extend_from_slice(&info.run_seed.to_le_bytes());
    title.extend_from_slice(&info.generation.to_le_bytes());
    title.extend_from_slice(info.fingerprint.as_bytes());
    title.extend_from_slice(info.players.as_bytes());
    title
}

/// Reads `len` bytes, or returns nothing where there are fewer.
fn read_exactly(source: &mut impl Read, len: usize) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = vec![0; len];
    match source.read_exact(&mut bytes) {
        Ok(()) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads an entry, or returns nothing where there is no whole one.
fn read_entry(source: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let Some(head) = read_exactly(source, 8)? else { return Ok(None) };
    let number = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let (len, checksum) = (number(0), number(4));
    if len > ENTRY_BYTES_MAX {
        return Ok(None);
    }
    // A damaged length must not make the program ask for that much memory.
    let mut entry = Vec::new();
    source.take(u64::from(len)).read_to_end(&mut entry)?;
    Ok((entry.len() == len as usize && crc32fast::hash(&entry) == checksum).then_some(entry))
}

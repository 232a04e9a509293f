//! The journal of a generation: every game is written down as it ends, so that a kill loses the games in
//! flight and no other.
//!
//! The file grows by one entry a game: the length of what follows and its checksum (CRC-32), four bytes each,
//! little end first, then the game. An entry that is cut off or damaged ends the journal: it and what follows
//! is forgotten when the journal is opened again. It is a file for its own program alone, and gone when the
//! shard of the generation is there.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use latrunculi_engine::Rules;
use latrunculi_engine::encoding::Shape;

use crate::error::JournalError;
use crate::games::PlayedGame;
use crate::shard::ShardInfo;

/// The first bytes of a journal. What follows them names its generation.
const MAGIC: &[u8; 8] = b"latrjrn2";
/// No game is longer than this in bytes; what announces more is damaged.
const ENTRY_BYTES_MAX: u32 = 1 << 30;

/// A journal that is open for writing. Lanes may write at once.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: Mutex<File>,
}

impl Journal {
    /// Opens the journal of a generation at `path`, a new one if there is none, and returns the games that it
    /// holds. A journal of another generation, seed, ruleset or player is begun anew.
    ///
    /// # Errors
    /// [`JournalError`] when the system refuses.
    pub fn open(path: &Path, rules: &Rules, info: &ShardInfo) -> Result<(Journal, Vec<PlayedGame>), JournalError> {
        let refused = |attempt| move |source| JournalError { path: path.to_owned(), attempt, source };
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
                if game.samples.shape != Shape::of(rules) {
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
        Ok((Journal { path: path.to_owned(), file: Mutex::new(file) }, games))
    }

    /// Writes a game down. It is then safe from a kill, though not from a loss of power.
    ///
    /// # Errors
    /// [`JournalError`] when the system refuses.
    pub fn add(&self, game: &PlayedGame) -> Result<(), JournalError> {
        let entry = postcard::to_stdvec(game).map_err(io::Error::other);
        let written = entry.and_then(|entry| {
            let mut bytes = Vec::with_capacity(8 + entry.len());
            bytes.extend_from_slice(&(entry.len() as u32).to_le_bytes());
            bytes.extend_from_slice(&crc32fast::hash(&entry).to_le_bytes());
            bytes.extend_from_slice(&entry);
            // A lane that panicked has written its entry or not; the next one begins where it ended.
            self.file.lock().unwrap_or_else(PoisonError::into_inner).write_all(&bytes)
        });
        written.map_err(|source| JournalError { path: self.path.clone(), attempt: "writing a game", source })
    }

    /// Forgets the journal: its games are safe elsewhere.
    ///
    /// # Errors
    /// [`JournalError`] when the system refuses.
    pub fn remove(self) -> Result<(), JournalError> {
        drop(self.file);
        fs::remove_file(&self.path).map_err(|source| JournalError {
            path: self.path.clone(),
            attempt: "removing it",
            source,
        })
    }
}

/// Returns what a journal begins with: which games it holds.
fn title(info: &ShardInfo) -> Vec<u8> {
    let mut title = MAGIC.to_vec();
    title.extend_from_slice(&info.run_seed.to_le_bytes());
    title.extend_from_slice(&info.generation.to_le_bytes());
    title.extend_from_slice(info.fingerprint.as_bytes());
    title.extend_from_slice(info.players.as_bytes());
    title
}

/// Reads `len` bytes, or nothing where there are fewer.
fn read_exactly(source: &mut impl Read, len: usize) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = vec![0; len];
    match source.read_exact(&mut bytes) {
        Ok(()) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads an entry, or nothing where there is no whole one.
fn read_entry(source: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let Some(head) = read_exactly(source, 8)? else { return Ok(None) };
    let number = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    let (len, checksum) = (number(0), number(4));
    if len > ENTRY_BYTES_MAX {
        return Ok(None);
    }
    // Not taken at its word: a damaged length must not ask for memory that there is not.
    let mut entry = Vec::new();
    source.take(u64::from(len)).read_to_end(&mut entry)?;
    Ok((entry.len() == len as usize && crc32fast::hash(&entry) == checksum).then_some(entry))
}

//! Files and folders: read with a limit, written whole, locked.

use std::fs::{File, TryLockError};
use std::io::Write;
use std::path::Path;
use std::time::SystemTime;

use latrunculi_data::files::write_atomically;

use crate::error::{Context, Error, bail};

/// Returns the name of a file without its folder.
pub fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Reads a text file of at most `bytes_max` bytes.
pub fn read_text(path: &Path, bytes_max: u64) -> Result<String, Error> {
    let shown = path.display();
    let metadata = std::fs::metadata(path).with_context(|| format!("cannot read {shown}"))?;
    if !metadata.is_file() {
        bail!("{shown} is not a file");
    }
    if metadata.len() > bytes_max {
        bail!("{shown} is too large to be right: {} bytes, {bytes_max} at most", metadata.len());
    }
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {shown}"))?;
    String::from_utf8(bytes).map_err(|_| Error::Refused(format!("{shown} is not text")))
}

/// A folder that no other program of this kind works in while this lives, however the program ends.
#[derive(Debug)]
pub struct FolderLock {
    /// The file `lock` in it, and on Unix the folder itself: its lock stays when the file is deleted.
    _locked: Vec<File>,
}

const LOCK: &str = "lock";

/// Locks a folder.
pub fn lock(root: &Path) -> Result<FolderLock, Error> {
    let path = root.join(LOCK);
    let opened = File::options().create(true).truncate(false).write(true).open(&path);
    let mut locked = vec![opened.with_context(|| format!("{}: opening it", path.display()))?];
    if cfg!(unix) {
        locked.push(File::open(root).with_context(|| format!("{}: opening it", root.display()))?);
    }
    for (index, file) in locked.iter().enumerate() {
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                bail!("{}: another latrunculi works in this folder; wait for it or stop it", root.display())
            }
            // Some file systems lock files only.
            Err(TryLockError::Error(_)) if index > 0 => {}
            Err(TryLockError::Error(error)) => {
                return Err(error).with_context(|| format!("{}: locking it", path.display()));
            }
        }
    }
    Ok(FolderLock { _locked: locked })
}

/// Tells whether a program works in a folder.
#[must_use]
pub fn is_locked(root: &Path) -> bool {
    let locked = File::open(root.join(LOCK)).map(|file| file.try_lock_shared());
    matches!(locked, Ok(Err(TryLockError::WouldBlock)))
}

/// Returns the seconds since a file was last written, if it is there; 0 where the clock has gone back.
#[must_use]
pub fn secs_since_written(path: &Path) -> Option<f64> {
    let written = path.metadata().ok()?.modified().ok()?;
    Some(SystemTime::now().duration_since(written).unwrap_or_default().as_secs_f64())
}

/// Writes a file whole or not at all ([`write_atomically`]).
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    write_atomically(path, |file| file.write_all(bytes)).with_context(|| format!("{}: writing it", path.display()))
}

//! Files and folders: read with a limit, written whole, locked.

use std::fs::{self, File, TryLockError};
use std::io::Write;
use std::path::Path;

use crate::error::{Context, Error, bail};

/// Reads a text file of at most `bytes_max` bytes.
///
/// # Errors
/// When it cannot be read, is larger or is not UTF-8.
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

/// Locks a folder. The lock lasts until the returned file is dropped or the program ends, however it ends.
///
/// # Errors
/// When another program holds the lock.
pub fn lock(root: &Path) -> Result<File, Error> {
    let path = root.join("lock");
    let opened = File::options().create(true).truncate(false).write(true).open(&path);
    let file = opened.with_context(|| format!("{}: opening it", path.display()))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            bail!("{}: another latrunculi works in this folder; wait for it or stop it", root.display())
        }
        Err(TryLockError::Error(error)) => Err(error).with_context(|| format!("{}: locking it", path.display())),
    }
}

/// Writes a file whole or not at all: under another name, then to the disk, then renamed.
///
/// # Errors
/// When the file cannot be written.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let beside = path.with_file_name(format!(".{name}.{}.unfinished", std::process::id()));
    let written: std::io::Result<()> = (|| {
        let mut file = File::create(&beside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&beside, path)?;
        // The new name must survive a loss of power too. Not every system can open folders.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if let Ok(folder) = File::open(folder) {
            let _ = folder.sync_all();
        }
        Ok(())
    })();
    if written.is_err() {
        // The error above is the one to report.
        let _ = fs::remove_file(&beside);
    }
    written.with_context(|| format!("{}: writing it", path.display()))
}

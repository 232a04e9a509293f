//! Writing files, and checksums of them.

use std::fs::{self, File, Permissions, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// How the names of files end that are being written, or were when the program was killed. They begin with a dot.
pub const UNFINISHED: &str = ".unfinished";

/// Writes a file so that readers see the old content or the new one, whole, even after a loss of power: a [`NewFile`].
pub fn write_atomically(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    let mut file = NewFile::create(path)?;
    write(file.as_file_mut())?;
    file.put_in_place()
}

/// A file that is being written in the folder of its later path, and gets its name when it is whole.
/// When it is dropped before, it is removed, and what was at the path is unchanged. After a kill a file
/// `.NAME.*.unfinished` remains; [`NewFile::create`] removes those in its folder, except what is being written.
#[derive(Debug)]
pub struct NewFile {
    file: NamedTempFile,
    path: PathBuf,
}

impl NewFile {
    /// Creates an empty file beside `path`.
    pub fn create(path: &Path) -> io::Result<NewFile> {
        let folder = folder_of(path);
        remove_unfinished(folder);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let mut builder = tempfile::Builder::new();
        let prefix = format!(".{name}.");
        builder.prefix(&prefix).suffix(UNFINISHED);
        // As for any new file the umask decides who may read it; a temporary file would be its owner's alone.
        let permissions = new_file_permissions();
        if let Some(permissions) = permissions {
            builder.permissions(permissions);
        }
        loop {
            let file = builder.tempfile_in(folder)?;
            // The lock says that somebody writes it. Another program that removes unfinished files may have been faster.
            let is_lost = match file.as_file().try_lock() {
                Ok(()) => !file.path().exists(),
                Err(TryLockError::WouldBlock) => true,
                // Where the system has no locks, nothing is removed.
                Err(TryLockError::Error(_)) => false,
            };
            if !is_lost {
                return Ok(NewFile { file, path: path.to_owned() });
            }
        }
    }

    /// Returns the file, open for writing and reading.
    pub fn as_file_mut(&mut self) -> &mut File {
        self.file.as_file_mut()
    }

    /// Returns where the file is until it gets its name.
    #[must_use]
    pub fn unfinished_path(&self) -> &Path {
        self.file.path()
    }

    /// Gives the file its name, in place of what had it; content and name survive a loss of power.
    /// Fails when the system refuses; the file is then removed.
    pub fn put_in_place(self) -> io::Result<()> {
        self.file.as_file().sync_all()?;
        self.file.persist(&self.path).map_err(|error| error.error)?;
        // Not every system can open folders.
        if let Ok(folder) = File::open(folder_of(&self.path)) {
            let _ = folder.sync_all();
        }
        Ok(())
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Removes the files of a folder that a program was writing when it was killed. A file that stays does no harm.
pub fn remove_unfinished(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let is_file = || entry.file_type().is_ok_and(|kind| kind.is_file());
        if name.starts_with('.')
            && name.ends_with(UNFINISHED)
            && is_file()
            && let Ok(file) = File::options().write(true).open(entry.path())
            && file.try_lock().is_ok()
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Returns a checksum of what `source` gives until its end, sixteen hexadecimal digits.
/// Source: Fowler, Noll and Vo, FNV-1a, 64 bits.
pub fn checksum(mut source: impl Read) -> io::Result<String> {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut buffer = vec![0; 1 << 16];
    loop {
        let count = match source.read(&mut buffer) {
            Ok(0) => return Ok(format!("{hash:016x}")),
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        for &byte in &buffer[..count] {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[cfg(unix)]
fn new_file_permissions() -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Some(Permissions::from_mode(0o666))
}

#[cfg(not(unix))]
fn new_file_permissions() -> Option<Permissions> {
    None
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write_atomically(&path, |file| file.write_all(b"old")).unwrap();
        let failed = write_atomically(&path, |file| {
            file.write_all(b"half")?;
            Err(io::Error::other("no"))
        });
        assert!(failed.is_err());
        assert_eq!(fs::read(&path).unwrap(), b"old");
        write_atomically(&path, |file| file.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(write_atomically(&folder.path().join("no/such/folder"), |_| Ok(())).is_err());
    }

    #[test]
    fn what_a_kill_has_left_is_removed_and_what_is_being_written_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let left = [".a.npz.12.unfinished", ".other.XyZ.unfinished"].map(|name| folder.path().join(name));
        let own = folder.path().join("my.unfinished");
        left.iter().chain([&own]).for_each(|path| fs::write(path, b"half").unwrap());
        write_atomically(&folder.path().join("one"), |_| {
            assert!(!left.iter().any(|path| path.exists()), "left by a kill");
            // Another file is written meanwhile: the first one is not touched.
            write_atomically(&folder.path().join("two"), |file| file.write_all(b"two"))
        })
        .unwrap();
        assert!(own.exists() && folder.path().join("one").exists() && folder.path().join("two").exists());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    }

    #[test]
    fn the_checksum_is_the_published_one() {
        assert_eq!(checksum(&b""[..]).unwrap(), "cbf29ce484222325");
        assert_eq!(checksum(&b"foobar"[..]).unwrap(), "85944171f73967e8");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_has_the_permissions_of_any_new_file() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (folder.path().join("one"), folder.path().join("other"));
        write_atomically(&one, |_| Ok(())).unwrap();
        fs::write(&other, b"").unwrap();
        let mode = |path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&one), mode(&other));
    }
}

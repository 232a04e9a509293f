//! Files of game records, to which games are added and from which they are read.

use std::fs::{File, OpenOptions, remove_file};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

use anyhow::Context;
use latrunculi_engine::GameRecord;

use crate::game_files::read;

/// Checks that a game can be added to a file, before it is played.
pub(super) fn check(path: &Path) -> anyhow::Result<()> {
    if path.exists() {
        check_games(path)?;
        let opened = OpenOptions::new().append(true).open(path);
        return opened.map(drop).with_context(|| left_alone(path));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    anyhow::ensure!(folder.is_dir(), "{}: there is no folder {}", path.display(), folder.display());
    File::create_new(path).and_then(|_| remove_file(path)).with_context(|| format!("cannot write {}", path.display()))
}

/// Checks that a file holds games and nothing else.
fn check_games(path: &Path) -> anyhow::Result<()> {
    let check = || read(path)?.try_for_each(|record| record.map(drop));
    check().with_context(|| left_alone(path))
}

fn left_alone(path: &Path) -> String {
    format!("games cannot be added to {}, which is left as it is", path.display())
}

/// Adds a game to a file, making it if it is not there; a file that is something else is left alone.
pub(super) fn append(path: &Path, record: &GameRecord) -> anyhow::Result<()> {
    let mut line = record.to_line() + "\n";
    if path.exists() {
        check_games(path)?;
        // A last line that somebody has written without its end must not run into ours.
        if !ends_a_line(path).with_context(|| format!("cannot read {}", path.display()))? {
            line.insert(0, '\n');
        }
    }
    let write = || -> std::io::Result<()> {
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        let before = file.metadata()?.len();
        let written = file.write_all(line.as_bytes()).and_then(|()| file.sync_all());
        if written.is_err() {
            cut_back(&file, before);
        }
        written
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}

fn ends_a_line(path: &Path) -> std::io::Result<bool> {
    let mut file = File::open(path)?;
    if file.metadata()?.len() == 0 {
        return Ok(true);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last == [b'\n'])
}

/// Takes half a line away again. If that fails too, the line's own fault says so on reading.
fn cut_back(file: &File, length: u64) {
    _ = file.set_len(length);
}

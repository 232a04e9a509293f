//! The targets, by what is read.

mod archives;
mod exports;
mod games;
mod settings;
mod texts;

use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

use latrunculi_engine::presets::rules;
use tempfile::TempDir;

use crate::driver::Target;

/// Every target.
pub const ALL: [Target; 19] = [
    texts::RULESET,
    texts::POSITION,
    texts::PIECES,
    texts::AGENT,
    texts::CASES,
    games::RECORD,
    games::LEDGER,
    games::JOURNAL,
    games::POOLS,
    games::UNIT,
    archives::NPZ,
    archives::SHARD,
    archives::MODEL,
    archives::CHECKPOINT,
    exports::ONNX,
    exports::EXPORT,
    settings::TRAINING,
    settings::STUDY,
    settings::SUMMARY,
];

/// Returns the path of a file in a folder that lasts as long as the program.
fn file(name: &str) -> PathBuf {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    FOLDER.get_or_init(|| tempfile::tempdir().expect("a folder for temporary files")).path().join(name)
}

/// Writes an input to such a file.
fn written(name: &str, input: &[u8]) -> PathBuf {
    let path = file(name);
    fs::write(&path, input).expect("a file for temporary use");
    path
}

/// Returns a text of the input, as readers of texts get it; inputs that are no text are refused before.
fn text(input: &[u8]) -> Option<&str> {
    std::str::from_utf8(input).ok()
}

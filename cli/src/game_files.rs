//! Files of game records, read whole.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::{Context, ensure};
use latrunculi_engine::GameRecord;
use latrunculi_engine::record::{RecordFault, read_records};

/// Larger files are for `inspect` and the programs that play matches, which read them line by line; in bytes.
const FILE_BYTES_MAX: u64 = 1 << 30;

/// Says of a game that cannot be played over how it can, where the rules alone are in the way.
pub(crate) fn with_way_out(fault: RecordFault) -> anyhow::Error {
    let way = match &fault {
        RecordFault::ChangedRuleset(_) => "name the file of the rules that it was played under with --ruleset FILE",
        RecordFault::OtherRuleset { .. } => "name its rules with --ruleset",
        _ => return fault.into(),
    };
    anyhow::anyhow!("{fault}; {way}")
}

/// Reads all games of a file.
pub(crate) fn read(path: &Path) -> anyhow::Result<Vec<GameRecord>> {
    let shown = path.display();
    let about = std::fs::metadata(path).with_context(|| format!("cannot read {shown}"))?;
    ensure!(about.is_file(), "{shown} is not a file");
    let bytes = about.len();
    ensure!(bytes <= FILE_BYTES_MAX, "{shown} is too large to be read here: {bytes} bytes, {FILE_BYTES_MAX} at most");
    let file = File::open(path).with_context(|| format!("cannot read {shown}"))?;
    read_records(BufReader::new(file)).with_context(|| shown.to_string())
}

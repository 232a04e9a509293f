//! Exported files that are archives: TorchScript and npz.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use zip::ZipArchive;

use crate::npz::ArrayReader;

/// A description is some hundred kilobytes; what is larger is none, in bytes.
const TEXT_BYTES_MAX: u64 = 1 << 26;
/// What an archive of ours unpacks to at most, in bytes; check data of a hundred thousand positions are a few billions.
const UNPACKED_BYTES_MAX: u64 = 1 << 36;

fn fault(error: impl std::fmt::Display) -> String {
    format!("no archive of an export, or cut off or damaged: {error}; export it again")
}

fn open(path: &Path) -> Result<ZipArchive<BufReader<File>>, String> {
    // Before it is opened: opening a named pipe waits for a writer.
    if !std::fs::metadata(path).map_err(|error| error.to_string())?.is_file() {
        return Err(fault("not a file"));
    }
    let file = File::open(path).map_err(|error| error.to_string())?;
    ZipArchive::new(BufReader::new(file)).map_err(fault)
}

pub(super) fn array_text(path: &Path, name: &str, verify: bool) -> Result<String, String> {
    if verify {
        self::verify(path)?;
    }
    ArrayReader::open(path).and_then(|mut arrays| arrays.text(name)).map_err(fault)
}

/// Returns the text under a name, which ends in `ending`.
pub(super) fn text(path: &Path, ending: &str, verify: bool) -> Result<String, String> {
    if verify {
        self::verify(path)?;
    }
    let mut archive = open(path)?;
    let name = archive.file_names().find(|name| name.ends_with(ending)).map(str::to_owned);
    let name = name.ok_or_else(|| fault(format!("it has no {ending}")))?;
    let member = archive.by_name(&name).map_err(fault)?;
    let mut bytes = Vec::new();
    member.take(TEXT_BYTES_MAX).read_to_end(&mut bytes).map_err(fault)?;
    String::from_utf8(bytes).map_err(fault)
}

/// Unpacks everything and keeps nothing; the checksum of each member is compared on the way.
pub(super) fn verify(path: &Path) -> Result<(), String> {
    let mut archive = open(path)?;
    let mut left = UNPACKED_BYTES_MAX;
    for index in 0..archive.len() {
        let member = archive.by_index(index).map_err(fault)?;
        let name = member.name().to_owned();
        let read = io::copy(&mut member.take(left + 1), &mut io::sink());
        let read = read.map_err(|error| fault(format!("member {name:?}: {error}")))?;
        left = left.checked_sub(read).ok_or_else(|| fault("it unpacks to more than any file of ours"))?;
    }
    Ok(())
}

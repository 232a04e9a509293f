//! TensorBoard events files.
//! An events file is a sequence of records: length (8 bytes, little-endian), masked CRC-32C of it, the record, masked
//! CRC-32C of that. Each record is a protobuf `Event`; the first names the version.
//! Source: TensorFlow, `core/util/event.proto`, `core/framework/summary.proto`, `core/lib/io/record_writer.cc`.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use prost::Message;
use serde_json::Value;

use crate::error::{Context, Error, bail};

#[derive(Clone, PartialEq, Message)]
struct Event {
    /// Seconds since 1970.
    #[prost(double, tag = "1")]
    wall_time: f64,
    #[prost(int64, tag = "2")]
    step: i64,
    #[prost(string, optional, tag = "3")]
    file_version: Option<String>,
    #[prost(message, optional, tag = "5")]
    summary: Option<Summary>,
}

#[derive(Clone, PartialEq, Message)]
struct Summary {
    #[prost(message, repeated, tag = "1")]
    values: Vec<Scalar>,
}

#[derive(Clone, PartialEq, Message)]
struct Scalar {
    #[prost(string, tag = "1")]
    tag: String,
    /// Optional, so that a 0 is written too: readers take an omitted value for none.
    #[prost(float, optional, tag = "2")]
    simple_value: Option<f32>,
}

/// An events file to which events are appended.
#[derive(Debug)]
pub struct Events {
    path: PathBuf,
    bytes: u64,
}

impl Events {
    /// Opens the file at `path` and keeps its first `bytes`; 0 begins a new one.
    pub fn open(path: &Path, bytes: u64) -> Result<Events, Error> {
        let file = File::options().create(true).truncate(false).read(true).write(true).open(path);
        let there = file.and_then(|file| {
            let there = file.metadata()?.len();
            // Of a file that is shorter than at the checkpoint the whole events are kept.
            let kept = if there < bytes { whole_events(&file) } else { bytes };
            file.set_len(kept)?;
            Ok(kept)
        });
        let bytes = there.with_context(|| format!("{}: opening it", path.display()))?;
        let mut events = Events { path: path.to_owned(), bytes };
        if bytes == 0 {
            let version = Some("brain.Event:2".to_owned());
            events.write(&Event { wall_time: now(), file_version: version, ..Event::default() })?;
        }
        Ok(events)
    }

    /// Returns the length of the file.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Adds every number of a line of metrics, a JSON object, at `step`; a number in an inner object has the tag
    /// `object/number`.
    pub fn add(&mut self, step: u64, metrics: &Value) -> Result<(), Error> {
        let mut values = Vec::new();
        add_scalars("", metrics, &mut values);
        let event =
            Event { wall_time: now(), step: step as i64, file_version: None, summary: Some(Summary { values }) };
        self.write(&event)
    }

    fn write(&mut self, event: &Event) -> Result<(), Error> {
        let record = framed(&event.encode_to_vec());
        let file = File::options().append(true).open(&self.path);
        // The checkpoint that follows names the length.
        let written = file.and_then(|mut file| file.write_all(&record).and_then(|()| file.sync_data()));
        written.with_context(|| format!("{}: writing it", self.path.display()))?;
        self.bytes += record.len() as u64;
        Ok(())
    }
}

/// Adds every number of an object and of those in it, with the path to it as its tag.
fn add_scalars(path: &str, value: &Value, values: &mut Vec<Scalar>) {
    match value {
        Value::Object(inner) => {
            for (name, value) in inner {
                let path = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
                add_scalars(&path, value, values);
            }
        }
        value => values.extend(scalar(path.to_owned(), value)),
    }
}

fn whole_events(file: &File) -> u64 {
    let (mut file, mut whole) = (BufReader::new(file), 0);
    while let Ok(bytes) = read_framed(&mut file) {
        whole += bytes;
    }
    whole
}

/// Reads an events file and returns how many events it holds.
pub fn count(path: &Path) -> Result<u64, Error> {
    let failed = |place: u64| format!("{}, event {place}: cut off or damaged", path.display());
    let mut file = BufReader::new(File::open(path).with_context(|| format!("cannot read {}", path.display()))?);
    let mut events = 0;
    while !file.fill_buf().with_context(|| failed(events + 1))?.is_empty() {
        read_framed(&mut file).with_context(|| failed(events + 1))?;
        events += 1;
    }
    if events == 0 {
        bail!("{} is empty", path.display());
    }
    Ok(events)
}

/// Reads one record and compares its checksums; returns its length with them.
fn read_framed(file: &mut impl Read) -> Result<u64, Error> {
    let mut four = [0; 4];
    let mut length = [0; 8];
    file.read_exact(&mut length)?;
    file.read_exact(&mut four)?;
    // A damaged length must not make this allocate.
    if u32::from_le_bytes(four) != masked_checksum(&length) {
        bail!("the checksum of its length is wrong");
    }
    let mut record = Vec::new();
    file.take(u64::from_le_bytes(length)).read_to_end(&mut record)?;
    file.read_exact(&mut four)?;
    if u32::from_le_bytes(four) != masked_checksum(&record) {
        bail!("its checksum is wrong");
    }
    Event::decode(&record[..]).map_err(|error| Error::Refused(error.to_string()))?;
    Ok(16 + record.len() as u64)
}

fn scalar(tag: String, value: &Value) -> Option<Scalar> {
    let number = value.as_f64().or_else(|| value.as_bool().map(f64::from))?;
    Some(Scalar { tag, simple_value: Some(number as f32) })
}

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

fn framed(record: &[u8]) -> Vec<u8> {
    let length = (record.len() as u64).to_le_bytes();
    let mut framed = length.to_vec();
    framed.extend_from_slice(&masked_checksum(&length).to_le_bytes());
    framed.extend_from_slice(record);
    framed.extend_from_slice(&masked_checksum(record).to_le_bytes());
    framed
}

/// Returns the CRC-32C as the format stores it: rotated and with a constant added.
fn masked_checksum(bytes: &[u8]) -> u32 {
    crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xa282_ead8)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;

    /// Reads the records of a file, checksums compared.
    fn records(bytes: &[u8]) -> Vec<Event> {
        let mut rest = bytes;
        let mut events = Vec::new();
        while !rest.is_empty() {
            let len = u64::from_le_bytes(rest[..8].try_into().unwrap()) as usize;
            let number = |at: usize| u32::from_le_bytes(rest[at..at + 4].try_into().unwrap());
            assert_eq!(number(8), masked_checksum(&rest[..8]));
            assert_eq!(number(12 + len), masked_checksum(&rest[12..12 + len]));
            events.push(Event::decode(&rest[12..12 + len]).unwrap());
            rest = &rest[16 + len..];
        }
        events
    }

    #[test]
    fn a_checksum_is_masked_as_the_format_says() {
        // The check value of CRC-32C, and the mask over it.
        assert_eq!(crc32c::crc32c(b"123456789"), 0xe306_9283);
        assert_eq!(masked_checksum(b"123456789"), 0xc78a_b0e5);
    }

    #[test]
    fn numbers_are_written_by_name_and_what_came_after_a_checkpoint_is_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.out.tfevents.0");
        let line = |games: u64| json!({"games": games, "taught": false, "losses": {"policy": 0.5}, "name": "x"});
        let mut events = Events::open(&path, 0).unwrap();
        events.add(0, &line(7)).unwrap();
        let at_checkpoint = events.bytes();
        events.add(1, &line(8)).unwrap();
        let mut events = Events::open(&path, at_checkpoint).unwrap();
        events.add(1, &line(9)).unwrap();
        let bytes = fs::read(&path).unwrap();
        assert_eq!(bytes.len() as u64, events.bytes());
        let found = records(&bytes);
        assert_eq!(found.len(), 3);
        assert_eq!(found[0].file_version.as_deref(), Some("brain.Event:2"));
        let last = found[2].summary.as_ref().unwrap();
        let tags: Vec<(&str, Option<f32>)> =
            last.values.iter().map(|value| (value.tag.as_str(), value.simple_value)).collect();
        let expected = [("games", Some(9.0)), ("losses/policy", Some(0.5)), ("taught", Some(0.0))];
        assert_eq!((found[2].step, tags), (1, expected.to_vec()), "a 0 is a value too");
    }

    #[test]
    fn of_a_file_whose_end_was_lost_the_whole_events_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events.out.tfevents.0");
        let mut events = Events::open(&path, 0).unwrap();
        for step in 0..3 {
            events.add(step, &json!({"games": step})).unwrap();
        }
        let at_checkpoint = events.bytes();
        File::options().write(true).open(&path).unwrap().set_len(at_checkpoint - 1).unwrap();
        let mut events = Events::open(&path, at_checkpoint).unwrap();
        events.add(3, &json!({"games": 3})).unwrap();
        let steps: Vec<i64> = records(&fs::read(&path).unwrap()).iter().map(|event| event.step).collect();
        assert_eq!(steps, [0, 0, 1, 3], "the first names the version");
    }
}

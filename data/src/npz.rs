//! Named arrays as an `.npz` archive, which `numpy.load` reads: little-endian, in C order. Equal content gives equal bytes.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::Path;

use npyz::npz::file_name_from_array_name;
use npyz::{AutoSerialize, Deserialize, NpyFile, WriterBuilder};
use zip::result::ZipError;
use zip::write::FileOptions;
use zip::{CompressionMethod, DateTime, ZipArchive, ZipWriter};

use crate::error::Error;

/// The most bytes of an array whose shape the caller does not know.
const UNKNOWN_BYTES_MAX: u64 = 1 << 30;
/// The most bytes that an archive unpacks to: so many per byte of the file, and so many for short ones. Samples unpack to 3
/// to 10 bytes per byte of their shard.
const UNPACKED_PER_BYTE: u64 = 64;
const UNPACKED_BYTES: u64 = 16 << 20;
const HEADER_BYTES_MAX: u64 = 1 << 16;

/// Writes an archive, array by array.
pub struct ArrayWriter<W: Write + Seek> {
    zip: ZipWriter<W>,
    compression: CompressionMethod,
}

impl<W: Write + Seek> ArrayWriter<W> {
    /// Begins an archive; its arrays are stored, or deflated where `is_deflated`.
    pub fn new(sink: W, is_deflated: bool) -> ArrayWriter<W> {
        let compression = if is_deflated { CompressionMethod::Deflated } else { CompressionMethod::Stored };
        ArrayWriter { zip: ZipWriter::new(sink), compression }
    }

    /// Adds an array; `entries` are those of `shape` in C order.
    pub fn array<T: AutoSerialize + Copy>(&mut self, name: &str, shape: &[usize], entries: &[T]) -> io::Result<()> {
        let options = FileOptions::default()
            .compression_method(self.compression)
            .compression_level((self.compression == CompressionMethod::Deflated).then_some(1))
            .last_modified_time(DateTime::default())
            .large_file(true);
        self.zip.start_file(file_name_from_array_name(name), options)?;
        let shape: Vec<u64> = shape.iter().map(|&len| len as u64).collect();
        // One number at a time into the compressor would be a hundred times slower.
        let mut buffered = BufWriter::with_capacity(1 << 16, &mut self.zip);
        let mut writer = npyz::WriteOptions::new().default_dtype().shape(&shape).writer(&mut buffered).begin_nd()?;
        writer.extend(entries.iter().copied())?;
        writer.finish()?;
        buffered.flush()
    }

    /// Ends the archive and returns what it was written to.
    pub fn finish(mut self) -> io::Result<W> {
        Ok(self.zip.finish()?)
    }
}

/// An array as it was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Array<T> {
    /// Its length in each dimension.
    pub shape: Vec<u64>,
    /// Its entries in C order.
    pub entries: Vec<T>,
}

/// Reads an archive. Nothing that a file announces is believed: no array takes more memory than its caller expects.
pub struct ArrayReader {
    zip: ZipArchive<BufReader<File>>,
}

impl ArrayReader {
    /// Opens an archive.
    pub fn open(path: &Path) -> Result<ArrayReader, Error> {
        let reading = |refusal: io::Error| Error(format!("reading it: {refusal}"));
        let about = std::fs::metadata(path).map_err(reading)?;
        // Before it is opened: opening a named pipe waits for a writer.
        if !about.is_file() {
            return Err(broken("not a file"));
        }
        let file = File::open(path).map_err(reading)?;
        let file_bytes = about.len();
        let mut zip = ZipArchive::new(BufReader::new(file)).map_err(broken)?;
        let mut bytes = 0_u64;
        for index in 0..zip.len() {
            bytes = bytes.saturating_add(zip.by_index_raw(index).map_err(broken)?.size());
        }
        let most = file_bytes.saturating_mul(UNPACKED_PER_BYTE).saturating_add(UNPACKED_BYTES);
        if bytes > most {
            let announced = format!("its {file_bytes} bytes announce {bytes} bytes of arrays");
            return Err(broken(format!("{announced}, more than any samples pack to")));
        }
        Ok(ArrayReader { zip })
    }

    /// Tells whether there is an array of this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        let file = file_name_from_array_name(name);
        self.zip.file_names().any(|found| found == file)
    }

    /// Reads an array of this shape; `None` allows any length of that dimension.
    pub fn array<T: Deserialize>(&mut self, name: &str, shape: &[Option<u64>]) -> Result<Array<T>, Error> {
        let entries = shape.iter().try_fold(1u64, |product, len| product.checked_mul((*len)?));
        let bytes_max = entries.map_or(UNKNOWN_BYTES_MAX, |entries| {
            entries.saturating_mul(size_of::<T>() as u64).saturating_add(HEADER_BYTES_MAX)
        });
        let bytes = self.bytes(name, bytes_max)?;
        if bytes.len() as u64 > bytes_max {
            return Err(Error::of_array(name, format!("it unpacks to more than {bytes_max} bytes")));
        }
        let file = array_file(name, &bytes)?;
        let found = file.shape().to_vec();
        let fits = found.len() == shape.len()
            && found.iter().zip(shape).all(|(found, wanted)| wanted.is_none_or(|wanted| wanted == *found));
        if !fits {
            let wanted: Vec<String> =
                shape.iter().map(|len| len.map_or("any".to_owned(), |len| len.to_string())).collect();
            return Err(Error::of_array(name, format!("its shape is {found:?} and must be [{}]", wanted.join(", "))));
        }
        if file.order() != npyz::Order::C {
            return Err(Error::of_array(name, "it is in Fortran order and must be in C order"));
        }
        let count = found.iter().try_fold(1u64, |product, &len| product.checked_mul(len));
        let room = (bytes.len() / size_of::<T>()) as u64;
        if count.is_none_or(|count| count > room) {
            return Err(Error::of_array(name, format!("it announces the shape {found:?} and is shorter")));
        }
        let numbers = file.data::<T>().map_err(|error| Error::of_array(name, error))?;
        let entries = numbers.collect::<Result<Vec<T>, _>>().map_err(|error| Error::of_array(name, error))?;
        Ok(Array { shape: found, entries })
    }

    /// Reads an array of one entry.
    pub fn number<T: Deserialize + Copy>(&mut self, name: &str) -> Result<T, Error> {
        Ok(self.array::<T>(name, &[Some(1)])?.entries[0])
    }

    /// Reads a text of bytes in UTF-8.
    pub fn text(&mut self, name: &str) -> Result<String, Error> {
        Ok(String::from_utf8_lossy(&self.array::<u8>(name, &[None])?.entries).into_owned())
    }

    /// Reads the length of an array's first dimension and none of its entries.
    /// Fails with [`Error`]: the array is missing or damaged, or has no dimension.
    pub fn length(&mut self, name: &str) -> Result<u64, Error> {
        let mut bytes = Vec::new();
        let read = self.member(name)?.take(HEADER_BYTES_MAX).read_to_end(&mut bytes);
        read.map_err(|error| broken_array(name, error))?;
        array_file(name, &bytes)?.shape().first().copied().ok_or_else(|| Error::of_array(name, "it has no dimension"))
    }

    /// Unpacks an array, at most one byte more than `bytes_max`. The checksum is compared at the end of the array.
    fn bytes(&mut self, name: &str, bytes_max: u64) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        let member = self.member(name)?;
        let announced = member.size();
        // What has been announced was found to be in proportion to the file.
        let read = member.take(bytes_max.min(announced) + 1).read_to_end(&mut bytes);
        read.map_err(|error| broken_array(name, error))?;
        if bytes.len() as u64 > announced {
            let reason = format!("it unpacks to more than the {announced} bytes that it announces");
            return Err(broken_array(name, reason));
        }
        Ok(bytes)
    }

    fn member(&mut self, name: &str) -> Result<zip::read::ZipFile<'_>, Error> {
        match self.zip.by_name(&file_name_from_array_name(name)) {
            Ok(member) => Ok(member),
            Err(ZipError::FileNotFound) => Err(Error::of_array(name, "it is missing")),
            Err(error) => Err(broken_array(name, error)),
        }
    }
}

fn array_file<'a>(name: &str, bytes: &'a [u8]) -> Result<NpyFile<&'a [u8]>, Error> {
    // The time that the header's parser takes grows exponentially with the depth of brackets. Headers of plain arrays
    // have one pair of braces and one of parentheses: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
    let is_long = bytes.get(6).is_some_and(|&version| version > 1);
    let (length, begin): (usize, usize) = match (is_long, bytes) {
        (false, [_, _, _, _, _, _, _, _, low, high, ..]) => (usize::from(u16::from_le_bytes([*low, *high])), 10),
        (true, [_, _, _, _, _, _, _, _, a, b, c, d, ..]) => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, 12),
        _ => return Err(Error::of_array(name, "it has no header")),
    };
    // The parser takes as much memory as the header announces.
    let Some(header) = bytes.get(begin..begin.saturating_add(length)) else {
        return Err(Error::of_array(name, "its header is cut off"));
    };
    let opened = header.iter().filter(|byte| matches!(byte, b'{' | b'(' | b'[')).count();
    if opened > 2 {
        return Err(Error::of_array(name, "its header is not that of a plain array"));
    }
    // It multiplies the lengths of the dimensions without looking whether that overflows.
    let shape = header.split(|&byte| byte == b'(').nth(1).and_then(|rest| rest.split(|&byte| byte == b')').next());
    let lengths = shape.unwrap_or_default().split(|&byte| byte == b',');
    let lengths =
        lengths.filter_map(|length| std::str::from_utf8(length).ok()?.trim().trim_end_matches('L').parse::<u64>().ok());
    if lengths.into_iter().try_fold(1_u64, u64::checked_mul).is_none() {
        return Err(Error::of_array(name, "it announces more entries than can be counted"));
    }
    NpyFile::new(bytes).map_err(|error| Error::of_array(name, error))
}

fn broken(reason: impl Display) -> Error {
    Error(format!("not a whole npz file: {reason}"))
}

fn broken_array(name: &str, reason: impl Display) -> Error {
    broken(format_args!("array '{name}': {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_that_announces_more_than_there_is_is_refused_before_it_is_read() {
        let mut bytes = b"\x93NUMPY\x03\x00".to_vec();
        bytes.extend(0x277b_0076_u32.to_le_bytes());
        bytes.extend(b"'descr': '|u1', 'fortran_order': False, 'shape': (5, ), }\nhello");
        let error = array_file("text", &bytes).err().unwrap();
        assert!(error.to_string().contains("its header is cut off"), "{error}");
    }

    #[test]
    fn a_header_that_announces_more_entries_than_can_be_counted_is_refused() {
        let header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 3), }\n";
        let bytes = [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header].concat();
        let error = array_file("numbers", &bytes).err().unwrap();
        assert!(error.to_string().contains("more entries than can be counted"), "{error}");
    }

    #[test]
    fn an_archive_that_unpacks_to_far_more_than_its_size_is_refused_before_it_is_unpacked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("large.npz");
        let mut writer = ArrayWriter::new(File::create(&path).unwrap(), true);
        let zeros = vec![0_u8; 64 << 20];
        writer.array("planes", &[zeros.len()], &zeros).unwrap();
        writer.finish().unwrap();
        let error = ArrayReader::open(&path).err().unwrap().to_string();
        assert!(error.contains("bytes announce"), "{error}");
        // Small arrays pack to any ratio.
        let mut writer = ArrayWriter::new(File::create(&path).unwrap(), true);
        writer.array("planes", &[1 << 20], &zeros[..1 << 20]).unwrap();
        writer.finish().unwrap();
        assert_eq!(ArrayReader::open(&path).unwrap().array::<u8>("planes", &[None]).unwrap().entries.len(), 1 << 20);
        // The size in the directory of the archive says less than the array has.
        let mut bytes = std::fs::read(&path).unwrap();
        let size = ((1_u32 << 20) + 128).to_le_bytes();
        let places: Vec<usize> = (0..bytes.len() - 4).filter(|&at| bytes[at..at + 4] == size).collect();
        assert!(!places.is_empty(), "the size stands in the archive");
        places.iter().for_each(|&at| bytes[at..at + 4].copy_from_slice(&1000_u32.to_le_bytes()));
        std::fs::write(&path, &bytes).unwrap();
        assert!(ArrayReader::open(&path).and_then(|mut reader| reader.array::<u8>("planes", &[None])).is_err());
    }
}

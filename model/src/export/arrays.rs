//! Named arrays as an `.npz` archive, which `numpy.load` reads.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Cursor, Read, Write};
use std::path::Path;

use npyz::npz::{NpzWriter, file_name_from_array_name};
use npyz::zip::write::FileOptions;
use npyz::zip::{CompressionMethod, DateTime, ZipArchive};
use npyz::{AutoSerialize, Deserialize, NpyFile, WriterBuilder};

/// An archive being written, in memory.
pub(super) struct ArrayWriter {
    npz: NpzWriter<Cursor<Vec<u8>>>,
    compression: CompressionMethod,
}

impl ArrayWriter {
    /// Begins an archive whose members are stored, or deflated if `is_deflated`.
    pub(super) fn new(is_deflated: bool) -> ArrayWriter {
        let compression = if is_deflated { CompressionMethod::Deflated } else { CompressionMethod::Stored };
        ArrayWriter { npz: NpzWriter::new(Cursor::new(Vec::new())), compression }
    }

    /// Adds an array in C order.
    pub(super) fn array<T>(&mut self, name: &str, shape: &[usize], entries: &[T]) -> io::Result<()>
    where
        T: AutoSerialize + Copy,
    {
        let options = FileOptions::default()
            .compression_method(self.compression)
            .compression_level((self.compression == CompressionMethod::Deflated).then_some(1))
            // Equal content gives equal files.
            .last_modified_time(DateTime::default())
            .large_file(true);
        let zip = self.npz.zip_writer();
        zip.start_file(file_name_from_array_name(name), options)?;
        let shape: Vec<u64> = shape.iter().map(|&len| len as u64).collect();
        // One number at a time into the compressor would be a hundred times slower.
        let mut buffered = BufWriter::with_capacity(1 << 16, zip);
        let mut writer = npyz::WriteOptions::new().default_dtype().shape(&shape).writer(&mut buffered).begin_nd()?;
        writer.extend(entries.iter().copied())?;
        writer.finish()?;
        buffered.flush()
    }

    /// Returns the archive.
    pub(super) fn finish(mut self) -> io::Result<Vec<u8>> {
        Ok(self.npz.zip_writer().finish()?.into_inner())
    }
}

/// Reads the array `name` of the archive at `path`, of which `count` entries are expected: its shape and
/// entries.
pub(super) fn read_array<T: Deserialize>(path: &Path, name: &str, count: usize) -> io::Result<(Vec<i64>, Vec<T>)> {
    let wrong = |reason: String| io::Error::new(io::ErrorKind::InvalidData, format!("array '{name}': {reason}"));
    let mut archive = ZipArchive::new(BufReader::new(File::open(path)?))?;
    let member = archive.by_name(&file_name_from_array_name(name)).map_err(|error| wrong(error.to_string()))?;
    // Entries and a header; no more is taken from the archive, whatever it announces.
    let room = (count * size_of::<T>() + (1 << 16)) as u64;
    let mut bytes = Vec::new();
    member.take(room).read_to_end(&mut bytes)?;
    let file = NpyFile::new(&bytes[..])?;
    let shape = file.shape().iter().map(|&len| len as i64).collect();
    let entries = file.into_vec::<T>()?;
    if entries.len() != count {
        return Err(wrong(format!("it has {} entries and should have {count}", entries.len())));
    }
    Ok((shape, entries))
}

//! The summary of a study as JSON.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter, Serializer};

use super::StudySummary;

/// What lies deeper than this stands on one line: the parts of a cell's metrics are the last that do not.
const LINES_DOWN_TO: usize = 6;

impl StudySummary {
    /// Returns the summary as JSON with a line for everything down to the parts of a cell's metrics. The curves and
    /// maps below, of which there are tens of thousands of numbers, stand on one line each.
    ///
    /// # Errors
    /// Only if the summary holds what JSON cannot write.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        let mut bytes = Vec::new();
        let lines = Lines { indented: PrettyFormatter::new(), depth: 0 };
        self.serialize(&mut Serializer::with_formatter(&mut bytes, lines))?;
        bytes.push(b'\n');
        String::from_utf8(bytes).map_err(serde::ser::Error::custom)
    }
}

/// Writes indented JSON down to a depth, and on one line below.
struct Lines {
    indented: PrettyFormatter<'static>,
    depth: usize,
}

impl Lines {
    fn is_indented(&self) -> bool {
        self.depth <= LINES_DOWN_TO
    }
}

impl Formatter for Lines {
    fn begin_array<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.depth += 1;
        if self.is_indented() { self.indented.begin_array(to) } else { CompactFormatter.begin_array(to) }
    }

    fn end_array<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        let ended = if self.is_indented() { self.indented.end_array(to) } else { CompactFormatter.end_array(to) };
        self.depth -= 1;
        ended
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, to: &mut W, is_first: bool) -> io::Result<()> {
        match self.is_indented() {
            true => self.indented.begin_array_value(to, is_first),
            false => CompactFormatter.begin_array_value(to, is_first),
        }
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        if self.is_indented() { self.indented.end_array_value(to) } else { CompactFormatter.end_array_value(to) }
    }

    fn begin_object<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        self.depth += 1;
        if self.is_indented() { self.indented.begin_object(to) } else { CompactFormatter.begin_object(to) }
    }

    fn end_object<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        let ended = if self.is_indented() { self.indented.end_object(to) } else { CompactFormatter.end_object(to) };
        self.depth -= 1;
        ended
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, to: &mut W, is_first: bool) -> io::Result<()> {
        match self.is_indented() {
            true => self.indented.begin_object_key(to, is_first),
            false => CompactFormatter.begin_object_key(to, is_first),
        }
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        if self.is_indented() { self.indented.begin_object_value(to) } else { CompactFormatter.begin_object_value(to) }
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, to: &mut W) -> io::Result<()> {
        if self.is_indented() { self.indented.end_object_value(to) } else { CompactFormatter.end_object_value(to) }
    }
}

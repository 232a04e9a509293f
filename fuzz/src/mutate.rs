//! Changes of inputs.

use std::ops::Range;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// Numbers at which readers break.
const NUMBERS: &str = "0 1 -1 2 7.5 -0.0 1e30 1e999 -1e999 nan inf 255 256 257 65535 65536 2147483647 2147483648 4294967295 \
    4294967296 9223372036854775807 9223372036854775808 18446744073709551615 99999999999999999999999999";
/// Pieces of text that mean something to one reader or another.
const TEXTS: [&str; 22] = [
    "\"",
    "\\u001b[2J",
    "\\",
    "{",
    "}",
    "[",
    "]",
    "(",
    "null",
    "true",
    "[[[[[[[[[[[[[[[[[[[[",
    "{{{{{{{{{{{{{{{{{{{{",
    "\n",
    "\0",
    "é",
    "=",
    ",",
    ":",
    "@",
    "..",
    "/",
    " ",
];

/// Makes changes from a stream of random numbers.
#[derive(Debug)]
pub struct Mutator {
    stream: ChaCha8Rng,
}

impl Mutator {
    /// Creates one.
    #[must_use]
    pub fn new(stream: ChaCha8Rng) -> Mutator {
        Mutator { stream }
    }

    /// Returns a number below `end`, which is above 0.
    pub fn below(&mut self, end: usize) -> usize {
        self.stream.random_range(0..end)
    }

    /// Returns one of several things.
    pub fn one_of<'a, T>(&mut self, things: &'a [T]) -> &'a T {
        &things[self.below(things.len())]
    }

    /// Changes bytes in one to eight places. `others` are inputs of the same kind, of which parts are taken.
    pub fn change(&mut self, bytes: &mut Vec<u8>, others: &[Vec<u8>]) {
        for _ in 0..1 + self.below(8).min(self.below(8)).min(self.below(8)) {
            self.change_once(bytes, others);
        }
    }

    fn range(&mut self, len: usize) -> Range<usize> {
        let begin = self.below(len + 1);
        let longest = if self.below(4) == 0 { len } else { 16 };
        begin..(begin + self.below(longest + 1)).min(len)
    }

    fn change_once(&mut self, bytes: &mut Vec<u8>, others: &[Vec<u8>]) {
        let range = self.range(bytes.len());
        match self.below(11) {
            0 if !bytes.is_empty() => {
                let at = self.below(bytes.len());
                bytes[at] ^= 1 << self.below(8);
            }
            1 if !bytes.is_empty() => {
                let at = self.below(bytes.len());
                bytes[at] = self.below(256) as u8;
            }
            2 => drop(bytes.drain(range)),
            3 => {
                let copied = bytes[range.clone()].to_vec();
                bytes.splice(range.start..range.start, copied);
            }
            4 => {
                let text = *self.one_of(&TEXTS);
                bytes.splice(range.start..range.start, text.bytes());
            }
            5 | 6 => self.change_number(bytes),
            7 if !others.is_empty() => {
                let other = self.one_of(others);
                let part = self.range(other.len());
                bytes.splice(range, other[part].iter().copied());
            }
            8 => self.change_line(bytes),
            9 if bytes.len() >= 8 => {
                let at = self.below(bytes.len() - 7);
                let number = *self.one_of(&[0, 1, 255, 1 << 16, u64::from(u32::MAX), 1 << 31, 1 << 40, u64::MAX]);
                let width = *self.one_of(&[1, 2, 4, 8]);
                bytes[at..at + width].copy_from_slice(&number.to_le_bytes()[..width]);
            }
            _ => {
                let count = 1 + self.below(16);
                let random: Vec<u8> = (0..count).map(|_| self.below(256) as u8).collect();
                bytes.splice(range, random);
            }
        }
    }

    /// Replaces a number that stands in the bytes as digits.
    fn change_number(&mut self, bytes: &mut Vec<u8>) {
        let is_of_number = |byte: &u8| byte.is_ascii_digit();
        if bytes.is_empty() {
            return;
        }
        let from = self.below(bytes.len());
        let Some(begin) = bytes[from..].iter().position(is_of_number).map(|at| from + at) else { return };
        let end = bytes[begin..].iter().position(|byte| !is_of_number(byte)).map_or(bytes.len(), |at| begin + at);
        let numbers: Vec<&str> = NUMBERS.split(' ').collect();
        let number = *self.one_of(&numbers);
        bytes.splice(begin..end, number.bytes());
    }

    /// Takes a line away, doubles it, or moves it.
    fn change_line(&mut self, bytes: &mut Vec<u8>) {
        let mut lines: Vec<Vec<u8>> = bytes.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
        if lines.is_empty() {
            return;
        }
        let (from, to) = (self.below(lines.len()), self.below(lines.len()));
        match self.below(3) {
            0 => drop(lines.remove(from)),
            1 => lines.insert(to, lines[from].clone()),
            _ => lines.swap(from, to),
        }
        *bytes = lines.concat();
    }
}

/// Changes one of the seeds, byte by byte.
#[must_use]
pub fn mutated(seeds: &[Vec<u8>], mutator: &mut Mutator) -> Vec<u8> {
    let mut bytes = mutator.one_of(seeds).clone();
    mutator.change(&mut bytes, seeds);
    bytes
}

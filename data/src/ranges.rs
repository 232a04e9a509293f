//! Ranges of settings, checked and told in the same words everywhere.

use std::fmt;

use serde::Deserializer;
use serde::de::{Error, Unexpected, Visitor};

/// Stands for `auto` in a number of a configuration until a number is put in its place.
pub const AUTO: usize = usize::MAX;

/// Reads a number, or `auto` as [`AUTO`]. Error: what is neither.
pub fn number_or_auto<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    struct NumberOrAuto;
    impl Visitor<'_> for NumberOrAuto {
        type Value = usize;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a whole number or \"auto\"")
        }

        fn visit_u64<E: Error>(self, number: u64) -> Result<usize, E> {
            usize::try_from(number).map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self))
        }

        fn visit_i64<E: Error>(self, number: i64) -> Result<usize, E> {
            usize::try_from(number).map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))
        }

        fn visit_str<E: Error>(self, text: &str) -> Result<usize, E> {
            if text == "auto" { Ok(AUTO) } else { Err(E::invalid_value(Unexpected::Str(text), &self)) }
        }
    }
    deserializer.deserialize_any(NumberOrAuto)
}

/// The values that a setting may have; all are finite.
#[derive(Clone, Copy, Debug)]
pub enum Range {
    /// Above 0.
    Positive,
    /// At least 0.
    NotNegative,
    /// From the first to the second, both included.
    Within(f64, f64),
    /// From 0 to below 1.
    Decay,
    /// Above 0 and at most this.
    UpTo(f64),
    /// Whole numbers from the first to the second, both included.
    Whole(u64, u64),
    /// Whole numbers from this on.
    AtLeast(u64),
    /// Whole numbers up to this.
    AtMost(u64),
}

impl Range {
    fn contains(self, value: f64) -> bool {
        value.is_finite()
            && match self {
                Range::Positive => value > 0.0,
                Range::NotNegative => value >= 0.0,
                Range::Within(least, most) => (least..=most).contains(&value),
                Range::Decay => (0.0..1.0).contains(&value),
                Range::UpTo(most) => value > 0.0 && value <= most,
                Range::Whole(least, most) => (least as f64..=most as f64).contains(&value),
                Range::AtLeast(least) => value >= least as f64,
                Range::AtMost(most) => value <= most as f64,
            }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Range::Positive => f.write_str("above 0"),
            Range::NotNegative => f.write_str("at least 0"),
            Range::Within(least, most) => write!(f, "in [{least}, {most}]"),
            Range::Decay => f.write_str("in [0, 1)"),
            Range::UpTo(most) => write!(f, "above 0 and at most {most}"),
            Range::Whole(least, most) => write!(f, "{least} to {most}"),
            Range::AtLeast(least) => write!(f, "at least {least}"),
            Range::AtMost(most) => write!(f, "at most {most}"),
        }
    }
}

/// Returns what is wrong with settings, given by name with their values and ranges.
pub fn faults<'a>(settings: impl IntoIterator<Item = (&'a str, f64, Range)>) -> Vec<String> {
    let is_wrong = |(_, value, range): &(&str, f64, Range)| !range.contains(*value);
    let fault = |(name, value, range): (&str, f64, Range)| {
        // A setting of 32 bits is told as it was written.
        let short = value as f32;
        let is_short = value.fract() != 0.0 && f64::from(short) == value;
        let value = if is_short { short.to_string() } else { value.to_string() };
        format!("{name} = {value} must be {range}")
    };
    settings.into_iter().filter(is_wrong).map(fault).collect()
}

//! The parameters of a ruleset: name, kind, meaning, and how to read and set each. The one place that knows the names of
//! SPECIFICATION.md, section 2.

use std::fmt;

use crate::ruleset::Ruleset;

mod table;

pub use table::PARAMETERS;

/// The value of one parameter, as it is written in files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParameterValue {
    /// A whole number.
    Integer(i64),
    /// True or false.
    Boolean(bool),
    /// A name or text.
    Text(String),
    /// A set of names.
    List(Vec<String>),
    /// Not set (`"none"` in TOML, `null` in JSON).
    Absent,
}

impl fmt::Display for ParameterValue {
    /// Writes the value as TOML.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParameterValue::Integer(number) => write!(f, "{number}"),
            ParameterValue::Boolean(truth) => write!(f, "{truth}"),
            ParameterValue::Text(text) if text.contains('\n') => write!(f, "\"\"\"\n{text}\"\"\""),
            ParameterValue::Text(text) if text == "1" => f.write_str("1"),
            ParameterValue::Text(text) => write!(f, "{text:?}"),
            ParameterValue::List(names) => write!(f, "{names:?}"),
            ParameterValue::Absent => f.write_str("\"none\""),
        }
    }
}

impl ParameterValue {
    /// Reads a JSON value; `None` for objects, fractions and mixed lists.
    #[must_use]
    pub fn from_json(value: &serde_json::Value) -> Option<ParameterValue> {
        use serde_json::Value;
        Some(match value {
            Value::Null => ParameterValue::Absent,
            Value::Bool(truth) => ParameterValue::Boolean(*truth),
            Value::Number(number) => ParameterValue::Integer(number.as_i64()?),
            Value::String(text) => ParameterValue::Text(text.clone()),
            Value::Array(items) => {
                ParameterValue::List(items.iter().map(|item| item.as_str().map(str::to_owned)).collect::<Option<_>>()?)
            }
            Value::Object(_) => return None,
        })
    }

    /// Returns the value as JSON.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            ParameterValue::Integer(number) => (*number).into(),
            ParameterValue::Boolean(truth) => (*truth).into(),
            ParameterValue::Text(text) if text == "1" => 1.into(),
            ParameterValue::Text(text) => text.clone().into(),
            ParameterValue::List(names) => names.clone().into(),
            ParameterValue::Absent => serde_json::Value::Null,
        }
    }
}

/// What values a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// A whole number between the two, both included.
    Integer(i64, i64),
    /// A whole number between the two, or nothing.
    OptionalInteger(i64, i64),
    /// True or false.
    Boolean,
    /// One of these names.
    Choice(&'static [&'static str]),
    /// Any subset of these names.
    Set(&'static [&'static str]),
    /// A drawn board, or nothing.
    Board,
}

impl fmt::Display for ParameterKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParameterKind::Integer(low, high) => write!(f, "a whole number from {low} to {high}"),
            ParameterKind::OptionalInteger(low, high) => write!(f, "a whole number from {low} to {high}, or \"none\""),
            ParameterKind::Boolean => f.write_str("true or false"),
            ParameterKind::Choice(names) => write!(f, "one of {}", names.join(", ")),
            ParameterKind::Set(names) => write!(f, "a list of some of {}", names.join(", ")),
            ParameterKind::Board => f.write_str("a drawn board (characters M D m d .), or \"none\""),
        }
    }
}

/// One parameter of the space.
pub struct Parameter {
    /// Name with its table, as `capture.per_move`.
    pub name: &'static str,
    /// What values it takes.
    pub kind: ParameterKind,
    /// What it decides, in a few words.
    pub meaning: &'static str,
    /// What each name of a [`ParameterKind::Choice`] or [`ParameterKind::Set`] stands for, in their order; else empty.
    pub words: &'static [&'static str],
    read: Read,
    write: Write,
}

type Read = fn(&Ruleset) -> ParameterValue;
type Write = fn(&mut Ruleset, &ParameterValue);

impl fmt::Debug for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parameter").field("name", &self.name).field("kind", &self.kind).finish_non_exhaustive()
    }
}

impl Parameter {
    /// Returns the parameter of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Parameter> {
        PARAMETERS.iter().find(|parameter| parameter.name == name)
    }

    /// Returns what it decides, and what its names stand for, as `how far a man moves (1: one square; slide: any number of squares)`.
    #[must_use]
    pub fn explained(&self) -> String {
        let (ParameterKind::Choice(names) | ParameterKind::Set(names)) = self.kind else {
            return self.meaning.to_owned();
        };
        let words: Vec<String> = names.iter().zip(self.words).map(|(name, words)| format!("{name}: {words}")).collect();
        format!("{} ({})", self.meaning, words.join("; "))
    }

    /// Returns this parameter's value in `ruleset`.
    #[must_use]
    pub fn value_in(&self, ruleset: &Ruleset) -> ParameterValue {
        (self.read)(ruleset)
    }

    /// Returns this parameter's default.
    #[must_use]
    pub fn default_value(&self) -> ParameterValue {
        (self.read)(&Ruleset::default())
    }

    /// Sets this parameter in `ruleset`.
    /// Error: a sentence that says what is wrong with the value, without the parameter's name; nothing is changed.
    pub fn set_in(&self, ruleset: &mut Ruleset, value: &ParameterValue) -> Result<(), String> {
        let value = self.accept(value)?;
        (self.write)(ruleset, &value);
        Ok(())
    }

    /// Brings the value to the form that `write` expects, or says what is wrong with it.
    fn accept(&self, value: &ParameterValue) -> Result<ParameterValue, String> {
        use ParameterValue::{Absent, Boolean, Integer, List, Text};
        let wrong = || match value {
            Text(text) if text.is_empty() => Err(format!("write {}", self.kind)),
            _ => Err(format!("{value} is not {}", self.kind)),
        };
        let is_none = |text: &str| text == "none";
        match (self.kind, value) {
            (ParameterKind::Integer(low, high) | ParameterKind::OptionalInteger(low, high), Integer(number)) => {
                if (low..=high).contains(number) { Ok(value.clone()) } else { wrong() }
            }
            (ParameterKind::OptionalInteger(..) | ParameterKind::Board, Absent) => Ok(Absent),
            (ParameterKind::OptionalInteger(..) | ParameterKind::Board, Text(text)) if is_none(text) => Ok(Absent),
            (ParameterKind::Board, Text(text)) => {
                let rows: Vec<&str> = text.split(['\n', '/']).map(str::trim).filter(|row| !row.is_empty()).collect();
                match text.chars().find(|c| !"MDmd./\n\r \t".contains(*c)) {
                    Some(c) => Err(format!("a drawn board holds only the characters M D m d . and not {c:?}")),
                    None => Ok(Text(rows.join("\n"))),
                }
            }
            (ParameterKind::Boolean, Boolean(_)) => Ok(value.clone()),
            (ParameterKind::Choice(names), Text(name)) => choice_or_hint(names, name),
            (ParameterKind::Choice(names), Integer(number)) => choice_or_hint(names, &number.to_string()),
            (ParameterKind::Set(names), List(chosen)) => {
                for name in chosen {
                    choice_or_hint(names, name)?;
                }
                Ok(value.clone())
            }
            _ => wrong(),
        }
    }
}

fn choice_or_hint(names: &[&str], name: &str) -> Result<ParameterValue, String> {
    if names.contains(&name) {
        return Ok(ParameterValue::Text(name.to_owned()));
    }
    let hint = did_you_mean(name, names.iter().copied());
    Err(format!("{name:?} is not one of {}{hint}", names.join(", ")))
}

/// Returns the names of the parameters in which two rulesets differ, in the order of [`PARAMETERS`].
#[must_use]
pub fn differing(one: &Ruleset, other: &Ruleset) -> Vec<&'static str> {
    let differs = |parameter: &&Parameter| parameter.value_in(one) != parameter.value_in(other);
    PARAMETERS.iter().filter(differs).map(|parameter| parameter.name).collect()
}

/// Returns the known name that is fewest letters away from `name`, if any is near enough to be meant.
#[must_use]
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let letters = name.chars().count();
    let farthest = |candidate: &str| 1 + candidate.len().max(name.len()) / 4;
    known
        .into_iter()
        // No distance is below the difference of the lengths; a long text is not compared letter by letter.
        .filter(|candidate| candidate.chars().count().abs_diff(letters) <= farthest(candidate))
        .map(|candidate| (strsim::levenshtein(name, candidate), candidate))
        .min()
        .filter(|&(distance, candidate)| distance <= farthest(candidate))
        .map(|(_, candidate)| candidate)
}

/// Asks, after a text that says that `name` is not known, whether the nearest known one was meant; nothing if none is near.
#[must_use]
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, known).map(|near| format!("; did you mean {near}?")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_its_words() {
        for parameter in PARAMETERS {
            let names: &[&str] = match parameter.kind {
                ParameterKind::Choice(names) | ParameterKind::Set(names) => names,
                _ => &[],
            };
            assert_eq!(names.len(), parameter.words.len(), "{}", parameter.name);
        }
        let range = Parameter::named("man.range").unwrap();
        assert_eq!(range.explained(), "how far a man moves (1: one square; slide: any number of squares)");
    }

    #[test]
    fn a_wrong_value_is_named_as_it_was_written() {
        let files = Parameter::named("board.files").unwrap();
        let told = |value| files.set_in(&mut Ruleset::default(), &value).unwrap_err();
        assert_eq!(told(ParameterValue::Text("4.5".into())), "\"4.5\" is not a whole number from 4 to 16");
        assert_eq!(told(ParameterValue::Text(String::new())), "write a whole number from 4 to 16");
    }
}

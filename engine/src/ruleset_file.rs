//! Ruleset files: TOML with the names of [`crate::parameters`], a few texts, and optionally `base = "bell"` to start from
//! another ruleset. The evidence for a value stands beside it as a comment.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use serde_json::json;
use toml::de::{DeTable, DeValue};

use crate::parameters::{PARAMETERS, Parameter, ParameterValue, did_you_mean};
use crate::presets;
use crate::rules::Rules;
use crate::ruleset::Ruleset;

/// A ruleset together with what its file, and those it is based on, say about each value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RulesetFile {
    /// The ruleset.
    pub ruleset: Ruleset,
    /// The ruleset that this one was based on, if any.
    pub base: Option<String>,
    /// By parameter name, the comment beside its value.
    pub evidence: BTreeMap<&'static str, Evidence>,
}

/// What a file says about where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The comment beside the value, without `#`; may be empty.
    pub text: String,
    /// The ruleset whose file says it.
    pub ruleset: String,
}

/// One fault of a ruleset file, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFault {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1, in characters.
    pub column: usize,
    /// What is wrong and what to do.
    pub message: String,
}

/// The faults of a ruleset file, of very many the first; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RulesetFileError {
    /// The faults, by place.
    pub faults: Vec<FileFault>,
}

impl fmt::Display for RulesetFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.faults.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "line {}, column {}: {}", fault.line, fault.column, fault.message)?;
        }
        Ok(())
    }
}

impl std::error::Error for RulesetFileError {}

impl Ruleset {
    /// Returns the ruleset in full, every parameter written out, as the text of a ruleset file.
    ///
    /// [`RulesetFile::parse`] reads the same ruleset from it.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let is_set = |parameter: &&Parameter| parameter.value_in(self) != ParameterValue::Absent;
        // Every JSON value of a parameter is one of TOML.
        self.written("", PARAMETERS.iter().filter(is_set), |value| value.to_json().to_string())
    }

    /// Returns the ruleset as the text of a ruleset file with `base = ...` and what differs from that shipped ruleset.
    ///
    /// [`RulesetFile::parse`] reads the same ruleset from it.
    /// Panics where no shipped ruleset is called `base`.
    #[must_use]
    pub fn to_toml_from(&self, base: &str) -> String {
        let begun = presets::ruleset(base).unwrap_or_else(|| panic!("no shipped ruleset is named {base}"));
        let differs = |parameter: &&Parameter| parameter.value_in(self) != parameter.value_in(&begun);
        self.written(&format!("base = {base:?}\n"), PARAMETERS.iter().filter(differs), ParameterValue::to_string)
    }

    fn written(
        &self,
        base: &str,
        parameters: impl Iterator<Item = &'static Parameter>,
        show: fn(&ParameterValue) -> String,
    ) -> String {
        // Every JSON text is a TOML text.
        let quoted = |key: &str, text: &str| format!("{key} = {}\n", serde_json::Value::from(text));
        let mut text = quoted("id", &self.id) + base;
        for (key, value) in [("name", &self.name), ("summary", &self.summary), ("source", &self.source)] {
            text += &quoted(key, value);
        }
        let mut tables: Vec<(&str, String)> = Vec::new();
        for parameter in parameters {
            let Some((table, name)) = parameter.name.split_once('.') else { continue };
            let line = format!("{name} = {}\n", show(&parameter.value_in(self)));
            match tables.iter_mut().find(|(known, _)| *known == table) {
                Some((_, lines)) => lines.push_str(&line),
                None => tables.push((table, line)),
            }
        }
        for (table, lines) in tables {
            text.push_str(&format!("\n[{table}]\n{lines}"));
        }
        text
    }
}

/// The texts at the top of a file, beside the parameters.
const TEXTS: [&str; 5] = ["id", "base", "name", "summary", "source"];

/// A file with more faults than this is no ruleset file, and the rest of its keys is not read.
const FAULTS_MAX: usize = 100;

struct Reader<'a> {
    text: &'a str,
    /// Where each fault is, in bytes, and what it is.
    faults: Vec<(usize, String)>,
    /// Where each parameter was set in this file.
    places: BTreeMap<&'static str, Range<usize>>,
}

impl RulesetFile {
    /// Reads a ruleset from the text of a file and checks that it can be played. The ruleset that `base` names is a shipped
    /// one.
    /// Fails with [`RulesetFileError`] with every fault and its place: unknown keys, impossible values, and combinations that
    /// cannot be played.
    pub fn parse(text: &str) -> Result<RulesetFile, RulesetFileError> {
        let mut reader = Reader { text, faults: Vec::new(), places: BTreeMap::new() };
        let file = reader.read();
        let Reader { mut faults, places, .. } = reader;
        if faults.is_empty()
            && let Err(error) = Rules::new(&file.ruleset)
        {
            let origin = file.base.as_ref().map_or("the default".to_owned(), |base| format!("that of {base}"));
            for fault in error.faults {
                faults.push(match places.get(fault.parameter) {
                    Some(span) => (span.start, fault.to_string()),
                    // What the base sets is contradicted by what this file sets: the message names it.
                    None => match places.iter().find(|(name, _)| fault.message.contains(**name)) {
                        Some((_, span)) => (span.start, format!("{fault} ({} is {origin})", fault.parameter)),
                        None => (0, fault.to_string()),
                    },
                });
            }
        }
        let faults = with_places(text, faults);
        if faults.is_empty() { Ok(file) } else { Err(RulesetFileError { faults }) }
    }

    /// Returns the texts of the ruleset and each parameter's `value`, `default`, `evidence` (the comment beside the value) and
    /// the ruleset that it comes `from`, as `rulesets show --json` prints them.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        let parameter = |parameter: &Parameter| {
            let evidence = self.evidence.get(parameter.name);
            let entry = json!({
                "value": parameter.value_in(&self.ruleset).to_json(), "default": parameter.default_value().to_json(),
                "evidence": evidence.map(|evidence| &evidence.text), "from": evidence.map(|evidence| &evidence.ruleset),
            });
            (parameter.name.to_owned(), entry)
        };
        let Ruleset { id, name, summary, source, .. } = &self.ruleset;
        let parameters: serde_json::Map<_, _> = PARAMETERS.iter().map(parameter).collect();
        json!({ "id": id, "name": name, "summary": summary, "source": source, "base": self.base, "parameters": parameters })
    }

    /// Returns the rules.
    /// Panics when the ruleset was changed after it was read, and can no longer be played.
    #[must_use]
    pub fn rules(&self) -> Rules {
        Rules::new(&self.ruleset).expect("checked when it was read")
    }
}

impl Reader<'_> {
    fn fault(&mut self, at: usize, message: String) {
        self.faults.push((at, message));
    }

    fn read(&mut self) -> RulesetFile {
        let mut file = RulesetFile { ruleset: Ruleset::default(), base: None, evidence: BTreeMap::new() };
        let table = match DeTable::parse(self.text) {
            Ok(table) => table,
            Err(error) => {
                let at = error.span().map_or(0, |span| span.start);
                self.fault(at, format!("not TOML: {}", error.message()));
                return file;
            }
        };
        let table = table.get_ref();
        if let Some(value) = table.get("base") {
            match value.get_ref() {
                DeValue::String(name) => match presets::file(name) {
                    Some(found) => {
                        file = found;
                        file.base = Some(name.to_string());
                        file.ruleset.summary.clear();
                        file.ruleset.source.clear();
                    }
                    None => {
                        let hint = did_you_mean(name, presets::NAMES.iter().copied());
                        self.fault(value.span().start, format!("there is no ruleset {name:?} to start from{hint}"));
                    }
                },
                _ => self.fault(value.span().start, "base is the name of a ruleset, in quotes".to_owned()),
            }
        }
        self.read_texts(table, &mut file.ruleset);
        let id = file.ruleset.id.clone();
        for (key, value) in table.iter() {
            if self.faults.len() >= FAULTS_MAX {
                break;
            }
            let key_text = key.get_ref().as_ref();
            if TEXTS.contains(&key_text) {
                continue;
            }
            let is_table = PARAMETERS.iter().any(|parameter| table_of(parameter) == key_text);
            match value.get_ref() {
                DeValue::Table(entries) if is_table => {
                    for (name, value) in entries.iter() {
                        if self.faults.len() >= FAULTS_MAX {
                            break;
                        }
                        let full_name = format!("{key_text}.{}", name.get_ref());
                        self.read_parameter(&full_name, name.span().start, value, &id, &mut file);
                    }
                }
                _ => {
                    let known = PARAMETERS.iter().map(table_of).chain(TEXTS);
                    let message = if is_table {
                        format!("{key_text} is a table: write [{key_text}] and its parameters below")
                    } else {
                        let hint = did_you_mean(key_text, known);
                        format!("a ruleset has no key {key_text:?}{hint}; its keys are {}", top_level_keys())
                    };
                    self.fault(key.span().start, message);
                }
            }
        }
        file
    }

    fn read_texts(&mut self, table: &DeTable<'_>, ruleset: &mut Ruleset) {
        for (name, field) in [
            ("id", &mut ruleset.id),
            ("name", &mut ruleset.name),
            ("summary", &mut ruleset.summary),
            ("source", &mut ruleset.source),
        ] {
            match table.get(name).map(|value| (value.get_ref(), value.span().start)) {
                Some((DeValue::String(text), at)) => {
                    if let Some(message) = text_fault(name, text) {
                        self.fault(at, message);
                    }
                    *field = text.to_string();
                }
                Some((_, at)) => self.fault(at, format!("{name} is a text, in quotes")),
                None if name == "id" => {
                    self.fault(0, "the ruleset has no id: write id = \"my-rules\" at the top".to_owned());
                }
                None => {}
            }
        }
    }

    fn read_parameter(
        &mut self,
        name: &str,
        key_at: usize,
        value: &toml::Spanned<DeValue<'_>>,
        id: &str,
        file: &mut RulesetFile,
    ) {
        let Some(parameter) = Parameter::named(name) else {
            let hint = did_you_mean(name, PARAMETERS.iter().map(|parameter| parameter.name));
            self.fault(key_at, format!("{name} is not a parameter of rulesets{hint}"));
            return;
        };
        let at = value.span().start;
        let Some(read) = value_of(value.get_ref()) else {
            self.fault(at, format!("{name}: not {}", parameter.kind));
            return;
        };
        if let Err(message) = parameter.set_in(&mut file.ruleset, &read) {
            self.fault(at, format!("{name}: {message}"));
            return;
        }
        self.places.insert(parameter.name, value.span());
        let text = comment_beside(self.text, &value.span());
        file.evidence.insert(parameter.name, Evidence { text, ruleset: id.to_owned() });
    }
}

/// Says what is wrong with a text at the top of a ruleset file; `None` where it can stand there. `name` is that of the text, as `id`.
#[must_use]
pub fn text_fault(name: &str, text: &str) -> Option<String> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name == "id" && (text.is_empty() || !text.chars().all(allowed)) {
        return Some(format!("id {text:?} may hold only lower-case letters, digits and hyphens"));
    }
    let control = text.chars().find(|&c| c.is_control() && c != '\n' && c != '\t')?;
    Some(format!("{name} holds the control character {control:?}; remove it"))
}

fn top_level_keys() -> String {
    let mut keys: Vec<String> = TEXTS.map(str::to_owned).to_vec();
    for parameter in PARAMETERS {
        let key = format!("[{}]", table_of(parameter));
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    keys.join(", ")
}

fn table_of(parameter: &Parameter) -> &'static str {
    parameter.name.split_once('.').map_or("", |(table, _)| table)
}

fn value_of(value: &DeValue<'_>) -> Option<ParameterValue> {
    Some(match value {
        DeValue::String(text) => ParameterValue::Text(text.trim().to_owned()),
        DeValue::Integer(number) => ParameterValue::Integer(i64::from_str_radix(number.as_str(), number.radix()).ok()?),
        DeValue::Boolean(truth) => ParameterValue::Boolean(*truth),
        DeValue::Array(items) => {
            let name = |item: &toml::Spanned<DeValue<'_>>| match item.get_ref() {
                DeValue::String(text) => Some(text.to_string()),
                _ => None,
            };
            ParameterValue::List(items.iter().map(name).collect::<Option<_>>()?)
        }
        DeValue::Float(_) | DeValue::Datetime(_) | DeValue::Table(_) => return None,
    })
}

/// Returns the comment after a value on its line; for a value of several lines, the one above it.
fn comment_beside(text: &str, value: &Range<usize>) -> String {
    let line_start = text[..value.start].rfind('\n').map_or(0, |newline| newline + 1);
    let comment = if text[value.clone()].contains('\n') {
        text[..line_start].trim_end_matches('\n').lines().next_back().unwrap_or_default().trim_start()
    } else {
        text[value.end..].lines().next().unwrap_or_default().trim_start()
    };
    comment.strip_prefix('#').map(|comment| comment.trim().to_owned()).unwrap_or_default()
}

/// Returns faults in the order of their places, each given in bytes, with line and column. The text is read once,
/// however many faults there are.
fn with_places(text: &str, mut faults: Vec<(usize, String)>) -> Vec<FileFault> {
    faults.sort_by_key(|(at, _)| *at);
    let (mut line, mut column, mut read) = (1, 1, 0);
    let place = |(at, message): (usize, String)| {
        let at = at.min(text.len());
        for letter in text[read..at].chars() {
            (line, column) = if letter == '\n' { (line + 1, 1) } else { (line, column + 1) };
        }
        read = at;
        FileFault { line, column, message }
    };
    faults.into_iter().map(place).collect()
}

//! What was found, for people and for programs.

use std::path::Path;

use latrunculi_engine::EndReason;
use serde_json::{Map, Value};

use crate::lines::{Table, beside};
use crate::shown;

/// Facts by name, in the order in which they are told.
pub(super) struct Report {
    facts: Vec<(&'static str, Value)>,
    /// What stands in the JSON alone.
    data: Vec<(&'static str, Value)>,
}

impl Report {
    /// Begins a report on a file or folder of some kind.
    pub(super) fn new(kind: &str, path: &Path) -> Report {
        let mut report = Report { facts: Vec::new(), data: Vec::new() };
        report.add("kind", kind);
        report.add("path", path.display().to_string());
        report
    }

    /// Adds a fact. Names are words joined by `_`.
    pub(super) fn add(&mut self, name: &'static str, value: impl Into<Value>) {
        self.facts.push((name, value.into()));
    }

    /// Adds a fact for programs, which people find elsewhere in the report in words.
    pub(super) fn add_data(&mut self, name: &'static str, value: Value) {
        self.data.push((name, value));
    }

    pub(super) fn add_known(&mut self, name: &'static str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.add(name, value);
        }
    }

    pub(super) fn add_those_of(&mut self, object: &Value, names: &[&'static str]) {
        for name in names {
            self.add_known(name, object.get(name).filter(|value| !value.is_null()).cloned());
        }
    }

    /// Returns a fact that is a text, if it was added.
    pub(super) fn text_of(&self, name: &str) -> Option<&str> {
        self.facts.iter().find(|(found, _)| *found == name).and_then(|(_, text)| text.as_str())
    }

    pub(super) fn to_json(&self) -> Value {
        let all = self.facts.iter().chain(&self.data);
        Value::Object(all.map(|(name, value)| ((*name).to_owned(), value.clone())).collect::<Map<_, _>>())
    }

    pub(super) fn to_text(&self) -> String {
        let names: Vec<String> = self.facts.iter().map(|(name, _)| name.replace('_', " ")).collect();
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        let mut text = String::new();
        for (name, (_, value)) in names.iter().zip(&self.facts) {
            let mut name = name.as_str();
            for (head, said) in entries(value) {
                let line = beside(&format!("{name:<width$}  {head}"), &shown(&said));
                text += &(line.trim_end().to_owned() + "\n");
                name = "";
            }
        }
        text
    }
}

/// Returns a value as lines, each with what stands before it: the name of the entry of an object.
fn entries(value: &Value) -> Vec<(String, String)> {
    let Value::Object(entries) = value else {
        return lines(value).into_iter().map(|line| (String::new(), line)).collect();
    };
    // Why games end is told in words; no other fact has the name of a reason.
    let width = entries.keys().map(|name| EndReason::words_for(name).len()).max().unwrap_or(0);
    let entry = |(name, value): (&String, &Value)| {
        (format!("{:<width$}  ", EndReason::words_for(name)), lines(value).join(" "))
    };
    match entries.is_empty() {
        true => vec![(String::new(), "none".to_owned())],
        false => entries.iter().map(entry).collect(),
    }
}

/// Returns a value as lines: entries of objects and lists one a line, objects of the same fields as a table.
fn lines(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Null => vec!["-".to_owned()],
        Value::Array(values) if values.is_empty() => vec!["none".to_owned()],
        Value::Array(values) => table(values).unwrap_or_else(|| values.iter().flat_map(lines).collect()),
        Value::Object(_) => entries(value).into_iter().map(|(name, text)| name + &text).collect(),
        Value::Number(number) if number.is_f64() => vec![rounded(number.as_f64().unwrap_or(f64::NAN))],
        other => vec![other.to_string()],
    }
}

/// Returns objects of the same fields as a line of names and a line for each object; `None` if they are not of that kind.
fn table(values: &[Value]) -> Option<Vec<String>> {
    let Value::Object(first) = values.first()? else { return None };
    // What a thing is called comes first.
    let mut names: Vec<&String> = first.keys().collect();
    names.sort_by_key(|name| *name != "name");
    let row = |value: &Value| -> Option<Vec<String>> {
        let fields = value.as_object().filter(|fields| fields.keys().eq(first.keys()))?;
        let is_plain = fields.values().all(|field| !field.is_object() && !field.is_array());
        is_plain.then(|| names.iter().map(|name| lines(&fields[*name]).join(" ")).collect())
    };
    let rows: Vec<Vec<String>> = values.iter().map(row).collect::<Option<_>>()?;
    let columns = names.iter().enumerate().fold(Table::new(), |table, (column, name)| {
        table.left(name.replace('_', " "), 0, move |row: &Vec<String>| row[column].clone())
    });
    Some(columns.lines(&rows))
}

/// Returns a number with four digits that say something.
fn rounded(number: f64) -> String {
    let before_point = if number == 0.0 { 1 } else { number.abs().log10().floor() as i32 + 1 };
    let text = format!("{number:.*}", (4 - before_point).clamp(0, 9) as usize);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn facts_are_told_in_order_and_in_columns() {
        let mut report = Report::new("thing", Path::new("a/b"));
        report.add("games_played", 12);
        report.add_known("unknown", None::<u64>);
        report.add("ends", json!({ "blockade": 3, "dux captured": 9 }));
        report.add("draw_rate", 1.0 / 6.0);
        report.add("loss", json!({ "all": 4.329_375, "rate": 0.004_000_000_3, "steps": 12_345.6, "clipped": 0.0 }));
        report.add("notes", json!(["one", "two\u{1b}[2J"]));
        report.add("rulesets", json!([{ "name": "bell", "share": 0.25 }, { "name": "falkener", "share": 0.75 }]));
        report.add_data("ends_counted", json!(12));
        let expected = "kind          thing\npath          a/b\ngames played  12\nends          too long without a capture, or both sides blocked  3\n              dux captured                                       9\ndraw rate     0.1667\nloss          all      4.329\n              clipped  0\n              rate     0.004\n              steps    12346\nnotes         one\n              two\\u{1b}[2J\nrulesets      name      share\n              bell      0.25\n              falkener  0.75\n";
        assert_eq!(report.to_text(), expected);
        assert_eq!((&report.to_json()["games_played"], &report.to_json()["ends_counted"]), (&json!(12), &json!(12)));
    }
}

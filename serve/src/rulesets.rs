//! What the page shows of a ruleset, and its editor.

use std::collections::BTreeMap;
use std::sync::Arc;

use latrunculi_engine::parameters::{PARAMETERS, Parameter, ParameterKind, ParameterValue};
use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_engine::ruleset::SetupMode;
use latrunculi_engine::{GameState, Rules, presets, text_fault};
use latrunculi_eval::metrics::examples::{CaptureExample, capture_examples};
use latrunculi_eval::report::rules_in_words;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::library::{Library, brief};
use crate::refusal::Refusal;
use crate::studies;

/// A ruleset by its key.
#[derive(Debug, Deserialize)]
pub(crate) struct Asked {
    /// As [`Library::file`] knows it.
    ruleset: String,
}

impl Asked {
    /// Returns the ruleset: its board, its rules in words, the position at the beginning, each value with its source, and what
    /// studies have found.
    pub(crate) fn describe(&self, library: &Library) -> Result<Value, Refusal> {
        let file = library.file(&self.ruleset)?;
        let rules = library.rules(&self.ruleset)?;
        let ruleset = rules.ruleset();
        let fingerprint = ruleset_fingerprint(ruleset);
        let words: Vec<Value> = rules_in_words(&rules)
            .into_iter()
            .map(|(heading, sentences)| json!({ "heading": heading, "sentences": sentences }))
            .collect();
        let about = json!({
            "key": self.ruleset, "fingerprint": fingerprint, "quiet_limit": ruleset.end.quiet_limit,
            "initial": GameState::new(Arc::clone(&rules)).to_json(), "words": words,
            "notes": faults(rules.settings_without_effect().iter().map(|note| (note.parameter, note.message.clone()))),
            "is_shipped": presets::text(&self.ruleset).is_some(),
            "text": presets::text(&self.ruleset).map_or_else(|| ruleset.to_toml(), str::to_owned),
            "studies": studies::findings(&library.studies, &fingerprint),
        });
        Ok(joined(joined(file.to_json(), brief(&rules)), about))
    }

    /// Returns small games that show how the ruleset captures, each as a request carries one, with a caption.
    pub(crate) fn captures(&self, library: &Library) -> Result<Value, Refusal> {
        let game = |example: CaptureExample| {
            let CaptureExample { caption, start, actions } = example;
            json!({ "ruleset": self.ruleset, "caption": caption, "start": start, "actions": actions })
        };
        Ok(capture_examples(&library.rules(&self.ruleset)?).into_iter().map(game).collect())
    }
}

/// Puts the keys of two objects into one.
fn joined(mut one: Value, other: Value) -> Value {
    if let (Value::Object(one), Value::Object(mut other)) = (&mut one, other) {
        one.append(&mut other);
    }
    one
}

fn faults<'a>(found: impl IntoIterator<Item = (&'a str, String)>) -> Value {
    found.into_iter().map(|(field, message)| json!({ "field": field, "message": message })).collect()
}

/// Returns every parameter: its name, what it decides, and what values it takes.
pub(crate) fn parameters() -> Value {
    let kind = |kind: ParameterKind| match kind {
        ParameterKind::Integer(low, high) => json!({ "kind": "integer", "low": low, "high": high }),
        ParameterKind::OptionalInteger(low, high) => {
            json!({ "kind": "integer", "low": low, "high": high, "is_optional": true })
        }
        ParameterKind::Boolean => json!({ "kind": "boolean" }),
        ParameterKind::Choice(names) => json!({ "kind": "choice", "names": names }),
        ParameterKind::Set(names) => json!({ "kind": "set", "names": names }),
        ParameterKind::Board => json!({ "kind": "board" }),
    };
    let about = |one: &Parameter| {
        joined(json!({ "name": one.name, "meaning": one.meaning, "words": one.words }), kind(one.kind))
    };
    PARAMETERS.iter().map(about).collect()
}

/// A ruleset of which some values have been changed.
#[derive(Debug, Deserialize)]
pub(crate) struct Edit {
    /// Where it began, as [`Library::file`] knows it.
    ruleset: String,
    id: String,
    name: String,
    summary: String,
    source: String,
    /// The changed values by the names of their parameters.
    values: BTreeMap<String, Value>,
}

impl Edit {
    /// Returns the `text` of its file, or null and the `faults`, each with the field that it is about; `notes` say which of its settings
    /// have no effect, `idle` is every parameter that has none whatever its value.
    pub(crate) fn answer(&self, library: &Library) -> Result<Value, Refusal> {
        let begun = library.file(&self.ruleset)?;
        let begun_rules = library.rules(&self.ruleset)?;
        let base =
            if presets::NAMES.contains(&self.ruleset.as_str()) { Some(self.ruleset.clone()) } else { begun.base };
        let mut ruleset = begun.ruleset;
        let mut found: Vec<(&str, String)> = Vec::new();
        let texts = [
            ("id", &self.id, &mut ruleset.id),
            ("name", &self.name, &mut ruleset.name),
            ("summary", &self.summary, &mut ruleset.summary),
            ("source", &self.source, &mut ruleset.source),
        ];
        for (name, text, field) in texts {
            found.extend(text_fault(name, text).map(|message| (name, message)));
            field.clone_from(text);
        }
        for (name, value) in &self.values {
            let Some(parameter) = Parameter::named(name) else {
                return Err(Refusal::wrong(format!("{name} is not a parameter of rulesets")));
            };
            let value = ParameterValue::from_json(value).unwrap_or_else(|| ParameterValue::Text(value.to_string()));
            found.extend(parameter.set_in(&mut ruleset, &value).err().map(|message| (parameter.name, message)));
        }
        // What the other way to begin needs is not shown, and not left in the file.
        match ruleset.setup.mode {
            SetupMode::Array => (ruleset.placement.men, ruleset.placement.dux) = (0, 0),
            SetupMode::Placement => ruleset.setup.array = None,
        }
        let mut notes = Vec::new();
        // While it cannot be played, what has an effect is told by the ruleset that it began as.
        let mut idle = idle(&begun_rules, ruleset.setup.mode);
        if found.is_empty() {
            found.extend(library.taken(&ruleset).map(|message| ("id", message)));
            match Rules::new(&ruleset) {
                Ok(rules) => {
                    notes = rules.settings_without_effect();
                    idle = self::idle(&rules, ruleset.setup.mode);
                }
                Err(error) => found.extend(error.faults.into_iter().map(|fault| (fault.parameter, fault.message))),
            }
        }
        let text = || base.as_deref().map_or_else(|| ruleset.to_toml(), |base| ruleset.to_toml_from(base));
        Ok(json!({
            "text": found.is_empty().then(text),
            "faults": faults(found),
            "notes": faults(notes.iter().map(|note| (note.parameter, note.message.clone()))),
            "idle": idle,
        }))
    }
}

/// Returns the parameters that change no game, given how games begin.
fn idle(rules: &Rules, mode: SetupMode) -> Vec<&'static str> {
    let is_idle = |name: &str| match name {
        "setup.array" => mode == SetupMode::Placement,
        "placement.men" | "placement.dux" => mode == SetupMode::Array,
        _ if name.starts_with("placement.") && mode != rules.ruleset().setup.mode => mode == SetupMode::Array,
        // Idle while it is the same as the other, which another value changes.
        "placement.opening_group" => rules.why_without_effect("placement.group").is_some(),
        _ => rules.why_without_effect(name).is_some(),
    };
    PARAMETERS.iter().map(|parameter| parameter.name).filter(|name| is_idle(name)).collect()
}

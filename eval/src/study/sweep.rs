//! Rulesets derived from others by changing one parameter.

use latrunculi_engine::parameters::{PARAMETERS, Parameter, ParameterKind, ParameterValue, did_you_mean};
use latrunculi_engine::ruleset::SetupMode;
use latrunculi_engine::{Rules, Ruleset};

use super::summary::Derivation;

pub(super) enum NotDerived {
    /// The base has this value itself.
    Same,
    /// It cannot be played, or would be played no otherwise; in words.
    Useless(String),
}

pub(super) fn parameter(name: &str) -> Result<&'static Parameter, String> {
    Parameter::named(name).ok_or_else(|| {
        let names = PARAMETERS.iter().map(|parameter| parameter.name);
        let hint = did_you_mean(name, names);
        format!("there is no parameter {name:?}{hint}")
    })
}

/// Reads a value as the sweep's texts write it: as in a ruleset file but without quotes, lists with `+`.
pub(super) fn value(parameter: &Parameter, text: &str) -> Result<ParameterValue, String> {
    let text = text.trim();
    let value = match parameter.kind {
        ParameterKind::Board => return Err("a drawn board cannot be swept; write a ruleset file for each".to_owned()),
        ParameterKind::Boolean => match text {
            "true" => ParameterValue::Boolean(true),
            "false" => ParameterValue::Boolean(false),
            _ => ParameterValue::Text(text.to_owned()),
        },
        ParameterKind::OptionalInteger(..) if text == "none" => ParameterValue::Absent,
        ParameterKind::Integer(..) | ParameterKind::OptionalInteger(..) => match text.parse() {
            Ok(number) => ParameterValue::Integer(number),
            Err(_) => ParameterValue::Text(text.to_owned()),
        },
        ParameterKind::Set(_) if text == "none" => ParameterValue::List(Vec::new()),
        ParameterKind::Set(_) => ParameterValue::List(text.split('+').map(str::to_owned).collect()),
        ParameterKind::Choice(_) => ParameterValue::Text(text.to_owned()),
    };
    // Whether a value will do does not depend on the ruleset. Texts that mean the same come back the same.
    let mut ruleset = Ruleset::default();
    parameter.set_in(&mut ruleset, &value)?;
    Ok(parameter.value_in(&ruleset))
}

/// Derives a ruleset; `text` is the value as the user wrote it.
pub(super) fn derive(base: &Rules, parameter: &Parameter, text: &str) -> Result<(Rules, Derivation), NotDerived> {
    let useless = |reason: String| {
        let id = &base.ruleset().id;
        NotDerived::Useless(format!("{id} with {} = {text} is left out: {reason}.", parameter.name))
    };
    let value = value(parameter, text).map_err(useless)?;
    let mut ruleset = base.ruleset().clone();
    let before = parameter.value_in(&ruleset);
    parameter.set_in(&mut ruleset, &value).map_err(useless)?;
    if parameter.value_in(&ruleset) == before {
        return Err(NotDerived::Same);
    }
    let sane = |text: &str| -> String {
        let letter = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' };
        text.chars().map(letter).collect()
    };
    ruleset.id = format!("{}--{}-{}", ruleset.id, sane(parameter.name), sane(text));
    ruleset.name = format!("{}, {} = {text}", ruleset.name, parameter.name);
    let is_placement = ruleset.setup.mode == SetupMode::Placement;
    if parameter.name.starts_with("placement.") && !is_placement {
        return Err(useless("no stones are placed".to_owned()));
    }
    if parameter.name.starts_with("dux.") && !base.has_duces() {
        return Err(useless("there is no dux".to_owned()));
    }
    let rules = Rules::new(&ruleset).map_err(|error| {
        let faults: Vec<String> = error.faults.iter().map(ToString::to_string).collect();
        useless(faults.join("; "))
    })?;
    if let Some(note) = rules.settings_without_effect().into_iter().find(|note| note.parameter == parameter.name) {
        return Err(useless(format!("it {}", note.message)));
    }
    let derivation = Derivation {
        base: base.ruleset().id.clone(),
        parameter: parameter.name.to_owned(),
        base_value: before.to_string(),
        value: parameter.value_in(&ruleset).to_string(),
        differences: Vec::new(),
    };
    Ok((rules, derivation))
}

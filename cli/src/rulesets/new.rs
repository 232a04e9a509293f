//! `rulesets new`: a commented file to begin a ruleset with.

use anyhow::{bail, ensure};
use latrunculi_engine::parameters::{PARAMETERS, Parameter, ParameterKind, ParameterValue};
use latrunculi_engine::{Ruleset, presets, text_fault};
use latrunculi_train::rulesets;

use crate::lines::wrapped_after;

pub(super) fn run(id: &str, base: &str) -> anyhow::Result<()> {
    if let Some(fault) = text_fault("id", id) {
        bail!(fault);
    }
    ensure!(presets::file(id).is_none(), "{id} is a shipped ruleset; choose another id");
    print!("{}", commented(id, &rulesets::load_file(base)?.ruleset));
    Ok(())
}

/// Returns the text of a ruleset file with the rules of `base`, the meaning of each parameter above it.
fn commented(id: &str, base: &Ruleset) -> String {
    let mut text = format!(
        "# Check it with `latrunculi rulesets check FILE`; every command takes the\n# path of this file as a ruleset.\n\n\
         id = \"{id}\"\nname = \"{id}\"\nsummary = \"\"   # what is special about it, in a sentence\n\
         source = \"\"    # where the rules come from\n"
    );
    let mut tables: Vec<(&str, String)> = Vec::new();
    for parameter in PARAMETERS {
        let Some((table, name)) = parameter.name.split_once('.') else { continue };
        let value = parameter.value_in(base);
        let hidden = if value == ParameterValue::Absent { "# " } else { "" };
        let comment = wrapped_after("# ", &explained(parameter));
        let lines = format!("{comment}\n{hidden}{name} = {value}\n");
        match tables.iter_mut().find(|(known, _)| *known == table) {
            Some((_, text)) => text.push_str(&lines),
            None => tables.push((table, lines)),
        }
    }
    for (table, lines) in tables {
        text.push_str(&format!("\n[{table}]\n{lines}"));
    }
    text
}

/// Returns what a parameter decides, and what it may be; names stand there with what they mean.
fn explained(parameter: &Parameter) -> String {
    match parameter.kind {
        ParameterKind::Choice(_) => parameter.explained(),
        kind => format!("{} ({kind})", parameter.explained()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latrunculi_engine::RulesetFile;

    #[test]
    fn a_new_file_has_the_rules_of_its_base() {
        for name in presets::NAMES {
            let base = presets::ruleset(name).unwrap();
            let text = commented("mine", &base);
            let file = RulesetFile::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
            for parameter in PARAMETERS {
                assert_eq!(parameter.value_in(&file.ruleset), parameter.value_in(&base), "{name}: {}", parameter.name);
            }
        }
    }
}

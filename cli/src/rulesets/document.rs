//! `rulesets document`: docs/RULES.md.

use latrunculi_engine::parameters::{PARAMETERS, ParameterValue};
use latrunculi_engine::presets;
use latrunculi_train::rulesets;

use super::shown_board;

/// Prints docs/RULES.md from the ruleset files and the table of parameters.
pub(super) fn run() -> anyhow::Result<()> {
    use std::fmt::Write;
    let mut text = String::from(
        "# The rulesets\n\n\
         Written by `latrunculi rulesets document` from `configs/rulesets/` and the engine's table of parameters; a test\n\
         compares the two. `[source]` quotes a source document, `[reading]` is our reading of an unclear sentence or taken from a\n\
         text outside the sources, `[engine]` is needed so that a program can finish a game. The questions (`B1`, `D12`, ...) are\n\
         those of [SPECIFICATION.md](SPECIFICATION.md), section 3. A ruleset that is based on another lists only what its own\n\
         file sets.\n\n\
         ## Parameters\n\n| parameter | values | default | meaning |\n|---|---|---|---|\n",
    );
    for parameter in PARAMETERS {
        let default = match parameter.default_value() {
            ParameterValue::Absent => "none".to_owned(),
            value => value.to_string(),
        };
        writeln!(text, "| `{}` | {} | `{default}` | {} |", parameter.name, parameter.kind, parameter.explained())?;
    }
    for id in presets::NAMES {
        let file = rulesets::load_file(id)?;
        let rules = rulesets::load(id)?;
        let ruleset = &file.ruleset;
        writeln!(text, "\n## `{id}`: {}\n\n{}\n", ruleset.name, ruleset.summary)?;
        if let Some(base) = &file.base {
            writeln!(text, "Based on `{base}`.")?;
        }
        writeln!(text, "Source: {}.\n\n```text\n{}```\n", ruleset.source, shown_board(&rules))?;
        writeln!(text, "| parameter | value | where it comes from |\n|---|---|---|")?;
        for parameter in PARAMETERS {
            let Some(evidence) = file.evidence.get(parameter.name).filter(|evidence| evidence.ruleset == *id) else {
                continue;
            };
            let value = match parameter.name {
                "setup.array" if parameter.value_in(ruleset) != ParameterValue::Absent => "as drawn".to_owned(),
                _ => format!("`{}`", parameter.value_in(ruleset)),
            };
            writeln!(text, "| `{}` | {value} | {} |", parameter.name, evidence.text.replace('|', "\\|"))?;
        }
    }
    print!("{text}");
    Ok(())
}

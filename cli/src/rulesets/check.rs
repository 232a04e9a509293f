//! `rulesets check`: whether ruleset files can be played.

use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_engine::{Rules, presets};
use latrunculi_train::{error_chain, rulesets};

pub(super) fn run(names: &[String]) -> anyhow::Result<()> {
    let mut faulty = 0;
    for name in names {
        match rulesets::load_file(name).and_then(|_| rulesets::load(name)) {
            Ok(rules) => {
                let id = &rules.ruleset().id;
                println!("{name}: {id} can be played ({}x{})", rules.files(), rules.ranks());
                // The name of a game's rules leads to the shipped ones first.
                let shipped = presets::ruleset(id).map(|shipped| ruleset_fingerprint(&shipped));
                if shipped.is_some_and(|shipped| shipped != ruleset_fingerprint(rules.ruleset())) {
                    println!(
                        "{name}: note: {id:?} is a shipped ruleset with other parameters; give this one an id of its own, or \
                         its games can be read with --ruleset {name} alone"
                    );
                }
                if let Some(twin) = shipped_twin(&rules) {
                    println!("{name}: note: its rules are those of the shipped ruleset {twin:?}");
                }
                for note in rules.settings_without_effect() {
                    println!("{name}: note: {note}");
                }
            }
            Err(error) => {
                let reason = error_chain(&error);
                let name = if reason.contains(name.as_str()) { String::new() } else { format!("{name}: ") };
                eprintln!("{name}{reason}");
                faulty += 1;
            }
        }
    }
    if faulty > 0 {
        anyhow::bail!("{faulty} of {} cannot be used", names.len());
    }
    Ok(())
}

/// Returns the shipped ruleset of another name that has the same rules, if there is one.
fn shipped_twin(rules: &Rules) -> Option<&'static str> {
    let (id, fingerprint) = (&rules.ruleset().id, ruleset_fingerprint(rules.ruleset()));
    let is_twin =
        |name: &str| presets::ruleset(name).is_some_and(|shipped| ruleset_fingerprint(&shipped) == fingerprint);
    presets::NAMES.iter().copied().find(|name| id != name && is_twin(name))
}

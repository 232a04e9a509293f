//! `rulesets diff`: the parameters in which two rulesets differ.

use latrunculi_engine::parameters::PARAMETERS;
use latrunculi_train::rulesets;

use crate::lines::beside;

pub(super) fn run(first: &str, second: &str) -> anyhow::Result<()> {
    let (one, other) = (rulesets::load_file(first)?.ruleset, rulesets::load_file(second)?.ruleset);
    let mut same = true;
    for parameter in PARAMETERS {
        let values = [parameter.value_in(&one), parameter.value_in(&other)];
        if values[0] == values[1] {
            continue;
        }
        if same {
            println!("{} and {} differ in\n", one.id, other.id);
        }
        same = false;
        println!("{}", beside("  ", &format!("{}: {}", parameter.name, parameter.meaning)));
        for (id, value) in [&one.id, &other.id].into_iter().zip(values) {
            // A drawn board has a line for each rank.
            println!("      {id}: {}", value.to_string().replace('\n', "\n        "));
        }
    }
    if same {
        println!("{} and {} have the same rules", one.id, other.id);
    }
    Ok(())
}

//! `rulesets diff`: the parameters in which two rulesets differ.

use latrunculi_engine::parameters::{Parameter, differing};
use latrunculi_train::rulesets;

use crate::lines::beside;

pub(super) fn run(first: &str, second: &str) -> anyhow::Result<()> {
    let (one, other) = (rulesets::load_file(first)?.ruleset, rulesets::load_file(second)?.ruleset);
    let differing = differing(&one, &other);
    if differing.is_empty() {
        println!("{} and {} have the same rules", one.id, other.id);
    } else {
        println!("{} and {} differ in\n", one.id, other.id);
    }
    for parameter in differing.into_iter().filter_map(Parameter::named) {
        println!("{}", beside("  ", &format!("{}: {}", parameter.name, parameter.meaning)));
        for ruleset in [&one, &other] {
            // A drawn board has a line for each rank.
            println!("      {}: {}", ruleset.id, parameter.value_in(ruleset).to_string().replace('\n', "\n        "));
        }
    }
    Ok(())
}

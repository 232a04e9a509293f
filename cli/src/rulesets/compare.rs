//! `rulesets diff`: the parameters in which two rulesets differ.

use latrunculi_engine::parameters::{Parameter, differing};
use latrunculi_train::rulesets;

use crate::lines::beside;

pub(super) fn run(first: &str, second: &str) -> anyhow::Result<()> {
    let (one, other) = (rulesets::load_file(first)?.ruleset, rulesets::load_file(second)?.ruleset);
    // Of one id are a ruleset and its changed copy.
    let [one_name, other_name] = if one.id == other.id { [first, second] } else { [&*one.id, &*other.id] };
    let differing = differing(&one, &other);
    if differing.is_empty() {
        println!("{one_name} and {other_name} have the same rules");
    } else {
        println!("{one_name} and {other_name} differ in\n");
    }
    for parameter in differing.into_iter().filter_map(Parameter::named) {
        println!("{}", beside("  ", &format!("{}: {}", parameter.name, parameter.explained())));
        for (name, ruleset) in [(one_name, &one), (other_name, &other)] {
            // A drawn board has a line for each rank.
            println!("      {name}: {}", parameter.value_in(ruleset).to_string().replace('\n', "\n        "));
        }
    }
    Ok(())
}

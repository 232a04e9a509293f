//! Every fuzz target with a few inputs; `scripts/fuzz` gives it many.
//!
//! `LATRUNCULI_FUZZ=N` tries N inputs of each target, `LATRUNCULI_FUZZ_SEED=S` others than usual, and
//! `LATRUNCULI_FUZZ_TARGET=NAME` one target alone.

use latrunculi_fuzz::targets;

/// Inputs of each target where none are asked for: all together take some seconds.
const INPUTS: u64 = 200;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

#[test]
fn what_is_accepted_is_true_and_nothing_breaks() {
    let inputs = number("LATRUNCULI_FUZZ").unwrap_or(INPUTS);
    let seed = number("LATRUNCULI_FUZZ_SEED").unwrap_or(1);
    let only = std::env::var("LATRUNCULI_FUZZ_TARGET").ok();
    let mut failures = Vec::new();
    let mut count = 0;
    for target in targets::ALL.iter().filter(|target| only.as_ref().is_none_or(|only| only == target.name)) {
        let begun = std::time::Instant::now();
        count += 1;
        match target.run(inputs, seed) {
            Ok(accepted) => {
                let (name, secs) = (target.name, begun.elapsed().as_secs_f64());
                println!("{name:<10} {inputs} inputs, {accepted} accepted, {secs:.1} s");
            }
            Err(failure) => failures.push(failure.what),
        }
    }
    assert!(count > 0, "there is no target {only:?}");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

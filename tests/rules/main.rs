//! The rules: the engine against the reference, the recorded cases and the laws that hold under all rules.

mod bad_input;
mod ends;
mod laws;
mod recorded_cases;
mod reference;
mod reference_games;
mod threats;

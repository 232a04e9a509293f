//! The rules: the reference and the recorded cases.

mod bad_input;
mod ends;
mod laws;
mod recorded_cases;
mod reference;
mod reference_cases;
mod reference_games;
mod threats;

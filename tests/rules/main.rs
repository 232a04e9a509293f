//! The rules: the reference and the recorded cases.

mod bad_input;
mod laws;
mod recorded_cases;
mod reference;
mod reference_cases;
mod reference_games;
mod threats;

//! The rules: the reference and the recorded cases.

mod recorded_cases;
mod reference;
mod reference_cases;
mod reference_games;

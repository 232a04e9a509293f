//! The rules: the reference and the recorded cases.

mod reference;
mod reference_cases;

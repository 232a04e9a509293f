//! The statistics against published numbers, closed forms and simulated games.
//!
//! `vectors.json` holds the published numbers.

mod ratings;
mod scores;
mod sequential;
mod simulations;
mod vectors;

/// Asserts that `found` is within `tolerance` of `expected`.
#[track_caller]
fn assert_near(what: &str, found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{what}: found {found}, expected {expected} within {tolerance}");
}

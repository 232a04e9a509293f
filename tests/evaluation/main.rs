//! The statistics against published numbers, against the textbook, and against simulated games; agents and
//! matches.
//!
//! `evaluation-vectors.json` holds the numbers. Each of its names is a field of [`vectors::Vectors`]: a
//! name that no field takes up fails to load, and a field that no test reads does not compile cleanly.

mod agents;
mod learning;
mod matches;
mod metrics;
mod metrics_laws;
mod rating;
mod ratings;
mod report;
mod report_fixture;
mod scores;
mod sequential;
mod simulations;
mod studies;
mod vectors;

/// Asserts that `found` is within `tolerance` of `expected`, naming what was compared.
#[track_caller]
fn assert_near(what: &str, found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{what}: found {found}, expected {expected} within {tolerance}");
}

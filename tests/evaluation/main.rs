//! Agents, matches, ratings, metrics, studies and reports.

mod agents;
mod learning;
mod matches;
mod metrics;
mod metrics_laws;
mod rating;
mod report;
mod report_fixture;
mod studies;
mod verdicts;
mod workers;

/// Asserts that `found` is within `tolerance` of `expected`, naming what was compared.
#[track_caller]
fn assert_near(what: &str, found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{what}: found {found}, expected {expected} within {tolerance}");
}

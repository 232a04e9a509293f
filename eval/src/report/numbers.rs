//! Formatted numbers, each with its exact value: `<data value="0.5423">54.2</data>`.
//!
//! The class `p` marks what is shown in hundredths (percent, points): the text is a hundred times the value.

use maud::{Markup, html};

use crate::Number;
use crate::metrics::estimates::{MetricEstimate, Rate};
use latrunculi_stats::score::EloEstimate;
use latrunculi_stats::{Estimate, Interval};

/// Returns `value` with so many digits after the point and a true minus sign.
pub(super) fn text(value: f64, decimals: usize) -> String {
    format!("{:.decimals$}", Number(value)).replace('-', "−")
}

fn signed_text(value: f64, decimals: usize) -> String {
    let text = text(value, decimals);
    let is_zero = text.chars().all(|c| c == '0' || c == '.');
    if text.starts_with('−') || is_zero { text } else { format!("+{text}") }
}

/// A number with so many digits after the point.
pub(super) fn plain(value: f64, decimals: usize) -> Markup {
    html! { data value=(value) { (text(value, decimals)) } }
}

pub(super) fn signed(value: f64, decimals: usize) -> Markup {
    html! { data value=(value) { (signed_text(value, decimals)) } }
}

/// A count, with thin spaces between thousands.
pub(super) fn count(value: u64) -> Markup {
    html! { data value=(value) { (grouped(value)) } }
}

/// A number of games; where the report stands in the page of `serve`, it opens them. The row says in which ledger they are.
pub(super) fn games(value: u64, result: &str) -> Markup {
    html! { data.games value=(value) data-result=(result) { (grouped(value)) } }
}

/// Returns a count with thin spaces between thousands.
pub(super) fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut shown = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) && digits.len() > 4 {
            shown.push('\u{202f}');
        }
        shown.push(digit);
    }
    shown
}

/// A share of 1 in hundredths, without a sign for the unit.
pub(super) fn hundredths(share: f64) -> Markup {
    html! { data.p value=(share) { (text(100.0 * share, 1)) } }
}

/// A share of 1 as percent.
pub(super) fn percent(share: f64) -> Markup {
    html! { span.n { (hundredths(share)) " %" } }
}

/// An interval of shares as percent.
pub(super) fn percent_interval(interval: Interval) -> Markup {
    html! { span.n { (hundredths(interval.lower)) " to " (hundredths(interval.upper)) " %" } }
}

/// A difference of shares in points of a hundred.
pub(super) fn points(difference: f64) -> Markup {
    html! { span.n { data.p value=(difference) { (signed_text(100.0 * difference, 1)) } } }
}

/// An interval of differences in points of a hundred.
pub(super) fn points_interval(interval: Interval) -> Markup {
    html! { span.n { (points(interval.lower)) " to " (points(interval.upper)) } }
}

/// An interval of numbers.
pub(super) fn interval(interval: Interval, decimals: usize) -> Markup {
    html! { span.n { (plain(interval.lower, decimals)) " to " (plain(interval.upper, decimals)) } }
}

/// What a share leaves of 1, in hundredths; the value beside it is the share itself.
pub(super) fn complement(share: f64) -> Markup {
    html! { data.c value=(share) { (text(100.0 * (1.0 - share), 1)) } }
}

/// A width such as a margin, in points without a sign.
pub(super) fn points_width(width: f64) -> Markup {
    let decimals = if (100.0 * width).fract().abs() < 1e-9 { 0 } else { 1 };
    html! { data.p value=(width) { (text(100.0 * width, decimals)) } }
}

/// A share in whole hundredths, for tables with little room.
pub(super) fn share_of_100(share: f64) -> Markup {
    html! { data.p value=(share) { (text(100.0 * share, 0)) } }
}

/// A share with its interval, as percent.
pub(super) fn percent_in(share: f64, interval: Interval) -> Markup {
    html! { (percent(share)) " " span.i { "(" (percent_interval(interval)) ")" } }
}

/// A difference of shares with its interval, in points.
pub(super) fn points_in(difference: f64, interval: Interval) -> Markup {
    html! { (points(difference)) " " span.i { "(" (points_interval(interval)) ")" } }
}

pub(super) fn or_dash<T>(found: Option<T>, show: impl FnOnce(T) -> Markup) -> Markup {
    found.map_or_else(|| html! { "–" }, show)
}

/// A rate with its interval.
pub(super) fn rate(rate: &Rate) -> Markup {
    percent_in(rate.rate, rate.interval)
}

/// A share of fewer decisive games than this says nothing, whatever its interval.
const DECISIVE_MIN: u64 = 10;

/// What `show` makes of so many decisive games, or that they are too few.
pub(super) fn of_decisive(games: u64, show: impl FnOnce() -> Markup) -> Markup {
    if games >= DECISIVE_MIN {
        show()
    } else {
        html! { span.soft { "too few decisive games" } }
    }
}

/// A measured number with its interval.
pub(super) fn measured(measured: &MetricEstimate, decimals: usize) -> Markup {
    html! {
        (plain(measured.value, decimals))
        @if let Some(found) = measured.interval { " " span.i { "(" (interval(found, decimals)) ")" } }
    }
}

/// A measured share with its interval, as percent.
pub(super) fn measured_percent(measured: &MetricEstimate) -> Markup {
    measured.interval.map_or_else(|| percent(measured.value), |found| percent_in(measured.value, found))
}

/// A difference of scores with its interval and its unit.
pub(super) fn points_in_words(difference: f64, interval: Option<Interval>) -> Markup {
    html! {
        (points(difference)) " points"
        @if let Some(found) = interval { " " span.i { "(" (points_interval(found)) ")" } }
    }
}

/// A measured difference of scores with its interval, in points.
pub(super) fn measured_points(measured: &MetricEstimate) -> Markup {
    points_in_words(measured.value, measured.interval)
}

/// A score with its standard error, as percent.
pub(super) fn estimate_percent(estimate: &Estimate) -> Markup {
    html! { (percent(estimate.value)) " ± " span.n { (hundredths(estimate.standard_error)) } " (standard error)" }
}

/// An Elo difference with its bounds; an open one is infinite.
pub(super) fn elo(elo: EloEstimate) -> Markup {
    html! {
        span.n { (signed(elo.value, 0)) } " "
        span.i {
            "("
            @match elo.lower { Some(lower) => (signed(lower, 0)), None => "−∞" }
            " to "
            @match elo.upper { Some(upper) => (signed(upper, 0)), None => "∞" }
            ")"
        }
    }
}

/// A probability of an error: small ones by their bound.
pub(super) fn p_value(p: f64) -> Markup {
    if p < 0.0005 {
        html! { data.small value=(p) { "< 0.001" } }
    } else {
        plain(p, 3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_as_people_write_them() {
        assert_eq!(text(-0.04, 1), "0.0");
        assert_eq!(text(-1.25, 1), "−1.2");
        assert_eq!(signed_text(3.0, 1), "+3.0");
        assert_eq!(signed_text(-0.0, 1), "0.0");
        assert_eq!(count(1234).into_string(), "<data value=\"1234\">1234</data>");
        assert_eq!(count(1_234_567).into_string(), "<data value=\"1234567\">1\u{202f}234\u{202f}567</data>");
        assert_eq!(
            percent(0.5423).into_string(),
            "<span class=\"n\"><data class=\"p\" value=\"0.5423\">54.2</data> %</span>"
        );
    }
}

//! The comparison of the rulesets' games.

use maud::{Markup, html};

use super::{Study, exploratory, link, numbers, words};
use crate::metrics::estimates::Rate;
use crate::metrics::mechanics::Mechanic;
use crate::metrics::{GamePhase, Metrics};

/// All rulesets beside one another, with the headline agent.
pub(super) fn section(study: &Study<'_>) -> Markup {
    let rows: Vec<_> =
        study.asked().filter_map(|ruleset| Some((ruleset, study.headline(ruleset)?.metrics.as_ref()?))).collect();
    let mut mechanics: Vec<Mechanic> =
        rows.iter().flat_map(|(_, metrics)| &metrics.mechanics).map(|use_| use_.mechanic).collect();
    mechanics.sort();
    mechanics.dedup();
    let used = |metrics: &Metrics, mechanic: Mechanic| -> Option<Rate> {
        Some(metrics.mechanics.iter().find(|found| found.mechanic == mechanic)?.overall.games)
    };
    html! {
        @if !rows.is_empty() {
            section #games aria-labelledby="games-title" {
                h2 #games-title { "Metrics of the games " (exploratory()) }
                p { "Described with " (study.headline_agent().map(words::agent).unwrap_or_default()) ", brackets holding " (study.confidence()) " intervals. Nothing here was tested; with so many numbers some differences are due to chance." }
                div.wide tabindex="0" role="region" aria-label="Character of the games by ruleset" {
                    table.sortable {
                        caption { "The character of the games" }
                        thead {
                            tr {
                                @for name in [
                                    "Ruleset", "Turns per game (median)", "Turns of 90 % of games", "Legal actions (mean)", "Decisive", "Changes of lead per game",
                                    "Won after being far behind", "Positions repeated",
                                ] { th scope="col" { (name) } }
                            }
                        }
                        tbody { @for (ruleset, metrics) in &rows { tr { th scope="row" { (link(ruleset)) } (character(metrics)) } } }
                    }
                }
                div.wide tabindex="0" role="region" aria-label="Use of mechanisms by ruleset" {
                    table.matrix {
                        caption { "Percentage of games in which a mechanism is used; empty if the ruleset does not have it. The intervals are in each ruleset’s section." }
                        thead { tr { th scope="col" { "Ruleset" } @for mechanic in &mechanics { th scope="col" { (words::mechanic(*mechanic)) } } } }
                        tbody {
                            @for (ruleset, metrics) in &rows {
                                tr {
                                    th scope="row" { (link(ruleset)) }
                                    @for mechanic in &mechanics {
                                        @match used(metrics, *mechanic) {
                                            Some(rate) => td style=(format!("--share:{:.0}%", 55.0 * rate.rate)) { (numbers::share_of_100(rate.rate)) },
                                            None => td {},
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn character(metrics: &Metrics) -> Markup {
    let turns = &metrics.lengths.turns;
    let branching = metrics.branching.phases.iter().find(|phase| phase.phase == GamePhase::Movement);
    let key = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    let values = metrics.values.as_ref();
    html! {
        td data-key=(turns.median.value) { (numbers::measured(&turns.median, 0)) }
        td data-key=(turns.p95.value) { (numbers::plain(turns.p5.value, 0)) " to " (numbers::plain(turns.p95.value, 0)) }
        td data-key=(key(branching.map(|phase| phase.overall.mean.value))) { @if let Some(phase) = branching { (numbers::measured(&phase.overall.mean, 1)) } }
        td data-key=(metrics.outcomes.decisive.rate) { (numbers::rate(&metrics.outcomes.decisive)) }
        td data-key=(key(values.map(|values| values.lead_changes.value))) { @if let Some(values) = values { (numbers::measured(&values.lead_changes, 2)) } }
        td data-key=(key(values.and_then(|values| values.comebacks).map(|rate| rate.rate))) { @if let Some(rate) = values.and_then(|values| values.comebacks) { (numbers::rate(&rate)) } }
        td data-key=(metrics.repetition.positions.rate) { (numbers::rate(&metrics.repetition.positions)) }
    }
}

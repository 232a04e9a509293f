//! The comparison of the rulesets' games.

use maud::html;

use super::layout::{Section, Table};
use super::{Study, exploratory, link, numbers, words};
use crate::metrics::estimates::{MetricEstimate, Rate};
use crate::metrics::mechanics::Mechanic;
use crate::metrics::{GamePhase, Metrics};
use crate::study::summary::RulesetSummary;

type Row<'a> = (&'a RulesetSummary, &'a Metrics);

/// All rulesets beside one another, with the headline agent.
pub(super) fn section(study: &Study<'_>) -> Option<Section> {
    let rows: Vec<Row<'_>> =
        study.asked().filter_map(|ruleset| Some((ruleset, study.headline(ruleset)?.metrics.as_ref()?))).collect();
    if rows.is_empty() {
        return None;
    }
    let content = html! {
        p { "Described with " (study.headline_agent().map(words::agent).unwrap_or_default()) ", brackets holding " (study.confidence()) " intervals. Nothing here was tested; with so many numbers some differences are due to chance." }
        (character(&rows))
        (mechanics(&rows))
    };
    let name = "Metrics of the games";
    Some(Section::new("games", name, html! { (name) " " (exploratory()) }, content))
}

fn character<'a>(rows: &'a [Row<'a>]) -> Table<'a, &'a Row<'a>> {
    let measured = |found: Option<&MetricEstimate>, decimals| {
        (found.map(|found| found.value), html! { @if let Some(found) = found { (numbers::measured(found, decimals)) } })
    };
    let rate = |found: Option<&Rate>| {
        (found.map(|found| found.rate), html! { @if let Some(found) = found { (numbers::rate(found)) } })
    };
    let legal = |metrics: &'a Metrics| {
        let movement = metrics.branching.phases.iter().find(|phase| phase.phase == GamePhase::Movement);
        movement.map(|phase| &phase.overall.mean)
    };
    Table::new("Character of the games by ruleset", html! { "The character of the games" }, rows)
        .class("sortable")
        .row_head("Ruleset", |(ruleset, _)| link(ruleset))
        .sorted("Turns per game (median)", move |(_, found)| measured(Some(&found.lengths.turns.median), 0))
        .sorted("Turns of 90 % of games", |(_, found)| {
            let (from, to) = (found.lengths.turns.p5.value, found.lengths.turns.p95.value);
            (Some(to), html! { (numbers::plain(from, 0)) " to " (numbers::plain(to, 0)) })
        })
        .sorted("Legal actions (mean)", move |(_, found)| measured(legal(found), 1))
        .sorted("Decisive", move |(_, found)| rate(Some(&found.outcomes.decisive)))
        .sorted("Changes of lead per game", move |(_, found)| {
            measured(found.values.as_ref().map(|values| &values.lead_changes), 2)
        })
        .sorted("Won after being far behind", move |(_, found)| {
            let comebacks = found.values.as_ref().and_then(|values| values.comebacks.as_ref());
            let (key, shown) = rate(comebacks);
            (key, comebacks.map_or(html! {}, |found| numbers::of_decisive(found.trials, || shown)))
        })
        .sorted("Positions repeated", move |(_, found)| rate(Some(&found.repetition.positions)))
}

fn mechanics<'a>(rows: &'a [Row<'a>]) -> Table<'a, &'a Row<'a>> {
    let mut mechanics: Vec<Mechanic> =
        rows.iter().flat_map(|(_, metrics)| &metrics.mechanics).map(|use_| use_.mechanic).collect();
    mechanics.sort();
    mechanics.dedup();
    let caption = html! { "Percentage of games in which a mechanism is used; empty if the ruleset does not have it. The intervals are in each ruleset’s section." };
    let table = Table::new("Use of mechanisms by ruleset", caption, rows).class("matrix");
    mechanics.into_iter().fold(table.row_head("Ruleset", |(ruleset, _)| link(ruleset)), |table, mechanic| {
        table.column(mechanic.as_str(), move |(_, metrics)| {
            let found = metrics.mechanics.iter().find(|found| found.mechanic == mechanic);
            let share = found.map(|found| found.overall.games.rate);
            html! { @if let Some(share) = share { span.share style=(format!("--share:{:.0}%", 55.0 * share)) { (numbers::share_of_100(share)) } } }
        })
    })
}

//! The table of remedies: what would make each ruleset fair, and where its advantage arises.

use maud::{Markup, html};

use super::layout::{Section, Table};
use super::{Study, extras, link, numbers};
use crate::study::summary::{CompensationSummary, DifferenceSummary, RulesetSummary};
use latrunculi_stats::compensation::FiellerSet;

fn is_measured(ruleset: &RulesetSummary) -> bool {
    ruleset.compensation.is_some() || ruleset.pie.is_some() || ruleset.phases.is_some()
}

/// The section, where there is something to show.
pub(super) fn section(study: &Study<'_>) -> Option<Section> {
    let rows: Vec<&RulesetSummary> = study.asked().filter(|ruleset| is_measured(ruleset)).collect();
    if rows.is_empty() {
        return None;
    }
    let has = |what: fn(&RulesetSummary) -> bool| rows.iter().any(|ruleset| what(ruleset));
    let has_phases = has(|ruleset| ruleset.phases.is_some());
    let caption = html! { "How many men would make up for the advantage, and where it comes from; below 0, the second player has fewer men. Brackets hold " (study.confidence()) " intervals of each number alone; the sections of the rulesets say how each was found." };
    let table = Table::new("Remedies by ruleset", caption, rows.iter().copied())
        .row_head("Ruleset", |ruleset| link(ruleset))
        .column("First player’s score", |ruleset| {
            extras::score_cell(study.headline(ruleset).and_then(|cell| cell.score.as_ref()))
        })
        .column("Fair if the first player has so many men fewer", |ruleset| {
            numbers::or_dash(ruleset.compensation.as_ref(), handicap)
        })
        .only_if(has(|ruleset| ruleset.compensation.is_some()))
        .column("First player’s score after the fairest first turn (pie rule)", |ruleset| {
            extras::score_cell(ruleset.pie.as_ref().and_then(|pie| pie.held_out.as_ref()))
        })
        .only_if(has(|ruleset| ruleset.pie.is_some()))
        .column("Points by placing", |ruleset| points(ruleset.phases.as_ref().and_then(|phases| phases.by_placement)))
        .only_if(has_phases)
        .column("Points by moving", |ruleset| points(ruleset.phases.as_ref().and_then(|phases| phases.by_movement)))
        .only_if(has_phases);
    Some(Section::new("remedies", "Fairness remedies", "Fairness remedies", table))
}

/// The fair handicap, where the games show that men make a difference: otherwise the best guess means nothing.
fn handicap(found: &CompensationSummary) -> Markup {
    html! {
        @match (found.fair_handicap, &found.fair_handicap_set) {
            (Some(fair), Some(FiellerSet::Within(interval))) => {
                (numbers::plain(fair, 2)) " " span.i { "(" (numbers::interval(*interval, 2)) ")" }
            }
            _ => span.soft { "cannot be told" },
        }
    }
}

fn points(found: Option<DifferenceSummary>) -> Markup {
    numbers::or_dash(found, |found| numbers::points_in(found.difference, found.interval))
}

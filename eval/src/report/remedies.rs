//! The table of remedies: what would make each ruleset fair, and where its advantage arises.

use maud::{Markup, html};

use super::{Study, extras, link, numbers};
use crate::study::summary::{CompensationSummary, DifferenceSummary, PhaseSummary, PieSummary, RulesetSummary};
use latrunculi_stats::compensation::FiellerSet;

/// Returns whether any remedy or phase was measured.
pub(super) fn has_remedies(study: &Study<'_>) -> bool {
    study.asked().any(is_measured)
}

fn is_measured(ruleset: &RulesetSummary) -> bool {
    ruleset.compensation.is_some() || ruleset.pie.is_some() || ruleset.phases.is_some()
}

/// A column of the table: its name and what stands in it.
type Column = (&'static str, fn(&RulesetSummary) -> Markup);

/// The section, where there is something to show.
pub(super) fn section(study: &Study<'_>) -> Markup {
    let rows: Vec<&RulesetSummary> = study.asked().filter(|ruleset| is_measured(ruleset)).collect();
    let columns: [(bool, Column); 4] = [
        (
            rows.iter().any(|ruleset| ruleset.compensation.is_some()),
            ("Fair if the first player has so many men fewer", |ruleset| {
                ruleset.compensation.as_ref().map_or(empty(), handicap)
            }),
        ),
        (
            rows.iter().any(|ruleset| ruleset.pie.is_some()),
            ("First player’s score after the fairest first turn (pie rule)", |ruleset| {
                ruleset.pie.as_ref().map_or(empty(), pie)
            }),
        ),
        (
            rows.iter().any(|ruleset| ruleset.phases.is_some()),
            ("Points by placing", |ruleset| points(ruleset.phases.as_ref(), |phases| phases.by_placement)),
        ),
        (
            rows.iter().any(|ruleset| ruleset.phases.is_some()),
            ("Points by moving", |ruleset| points(ruleset.phases.as_ref(), |phases| phases.by_movement)),
        ),
    ];
    let columns: Vec<Column> =
        columns.into_iter().filter(|(is_there, _)| *is_there).map(|(_, column)| column).collect();
    html! {
        @if !rows.is_empty() {
            section #remedies aria-labelledby="remedies-title" {
                h2 #remedies-title { "Fairness remedies" }
                div.wide tabindex="0" role="region" aria-label="Remedies by ruleset" {
                    table {
                        caption { "How many men would make up for the advantage, and where it comes from; below 0, the second player has fewer men. Brackets hold " (study.confidence()) " intervals of each number alone; the sections of the rulesets say how each was found." }
                        thead {
                            tr {
                                th scope="col" { "Ruleset" }
                                th scope="col" { "First player’s score" }
                                @for (name, _) in &columns { th scope="col" { (name) } }
                            }
                        }
                        tbody {
                            @for ruleset in &rows {
                                tr {
                                    th scope="row" { (link(ruleset)) }
                                    td { (extras::score_cell(study.headline(ruleset).and_then(|cell| cell.score.as_ref()))) }
                                    @for (_, content) in &columns { td { (content(ruleset)) } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn empty() -> Markup {
    html! { "–" }
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

fn pie(found: &PieSummary) -> Markup {
    extras::score_cell(found.held_out.as_ref())
}

fn points(phases: Option<&PhaseSummary>, part: fn(&PhaseSummary) -> Option<DifferenceSummary>) -> Markup {
    html! {
        @match phases.and_then(part) {
            Some(found) => { (numbers::points(found.difference)) " " span.i { "(" (numbers::points_interval(found.interval)) ")" } }
            None => "–",
        }
    }
}

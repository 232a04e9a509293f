//! What came out, first in words, then as a table and as intervals below one another.

use maud::{Markup, html};

use super::layout::{Section, Table};
use super::plot::{Forest, ForestRow, domain, percent_tick};
use super::{Study, link, numbers, words};
use crate::metrics::outcomes::TRUNCATED_MAX;
use crate::study::summary::{
    CellSummary, Conclusion, LastDoubling, OutcomeCounts, RateSummary, RulesetSummary, ScoreSummary,
};

type Row<'a> = (&'a RulesetSummary, &'a CellSummary);

/// What was asked and how, in a few sentences.
pub(super) fn lead(study: &Study<'_>) -> Markup {
    let asked = study.asked().count();
    let games: u64 = study.summary.rulesets.iter().flat_map(|ruleset| &ruleset.cells).map(|cell| cell.games).sum();
    html! {
        p.lead {
            "How much does it help to begin? " (asked) @if asked == 1 { " ruleset was" } @else { " rulesets were" }
            " played by a program against itself, so that both sides are equally strong; " (numbers::grouped(games))
            " games count in all."
            @if let Some(agent) = study.headline_agent() { " The main results are those of " (words::agent(agent)) "." }
            @if let Some(drawn) = drawn_actions(study) {
                " So that games differ, each begins with " (drawn) " actions drawn by lot, which may hide a part of the advantage."
            }
        }
        @if !study.summary.is_complete {
            p.warning role="note" { strong { "Not finished." } " The study was stopped before all games were played; the intervals are wider than was asked for." }
        }
    }
}

/// Returns how many actions are drawn at the beginning of the headline agent's games, as `8` or `6 to 8`.
fn drawn_actions(study: &Study<'_>) -> Option<String> {
    let cells = study.asked().filter_map(|ruleset| study.headline(ruleset));
    let drawn: Vec<usize> = cells.map(|cell| cell.opening.actions).collect();
    let (fewest, most) = (*drawn.iter().min()?, *drawn.iter().max()?);
    match (fewest, most) {
        (_, 0) => None,
        _ if fewest == most => Some(most.to_string()),
        _ => Some(format!("{fewest} to {most}")),
    }
}

pub(super) fn section(study: &Study<'_>) -> Section {
    let mut rows: Vec<Row<'_>> =
        study.asked().filter_map(|ruleset| Some((ruleset, study.headline(ruleset)?))).collect();
    let score_of = |cell: &CellSummary| cell.score.map_or(f64::NEG_INFINITY, |score| score.score);
    rows.sort_by(|(_, one), (_, other)| score_of(other).total_cmp(&score_of(one)));
    let content = html! {
        (in_short(study, &rows))
        (forest(study, &rows))
        (table(study, &rows))
        (warnings(study, &rows))
    };
    Section::new("results", "Results", "Results", content)
}

fn in_short(study: &Study<'_>, rows: &[Row<'_>]) -> Markup {
    let margin = study.summary.settings.margin;
    let with = |wanted: Conclusion, drawn: Option<bool>| -> Vec<Row<'_>> {
        let mut found: Vec<Row<'_>> = rows
            .iter()
            .filter(|(_, cell)| cell.verdict.as_ref().is_some_and(|verdict| verdict.verdict == wanted))
            .filter(|(_, cell)| drawn.is_none_or(|drawn| words::is_mostly_drawn(cell) == drawn))
            .copied()
            .collect();
        found.sort_by_key(|(_, cell)| doubts(cell));
        found
    };
    let groups = [
        (Conclusion::First, None, "The first player is ahead in"),
        (Conclusion::Second, None, "The second player is ahead in"),
        (Conclusion::Balanced, Some(false), "Balanced, with most games decisive, in"),
        (Conclusion::Balanced, Some(true), "Balanced, with most games drawn, in"),
        (Conclusion::EvenWithThisPlayer, None, "Even with this player, but not shown to be balanced, in"),
        (Conclusion::Unresolved, None, "Unresolved are"),
    ];
    html! {
        ul.verdicts {
            @for (verdict, drawn, words) in groups {
                @let found = with(verdict, drawn);
                @if !found.is_empty() {
                    @let (class, mark) = words::verdict_class(verdict);
                    li class=(class) {
                        span.mark aria-hidden="true" { (mark) } " "
                        strong { (words) " " (found.len()) " of " (rows.len()) }
                        ": "
                        @for (group, alike) in found.chunk_by(|one, other| doubts(one.1) == doubts(other.1)).enumerate() {
                            @if group > 0 { "; " }
                            @for (index, (ruleset, _)) in alike.iter().enumerate() {
                                @if index > 0 { ", " }
                                (link(ruleset))
                            }
                            @if let Some(doubts) = doubts(alike[0].1) { " (" (doubts) ")" }
                        }
                        "."
                    }
                }
            }
        }
        p {
            "A score of 50 % is a fair game. A ruleset counts as balanced only if its games show that the true score is less than "
            (numbers::points_width(margin)) " points away from 50 %, if pieces are captured in at least "
            (numbers::percent(study.summary.settings.min_contact)) " of the games, if no result of games that were cut off could change that, and if another kind of player shows the same. "
            "The absence of a significant difference proves nothing, and neither do games in which the sides never meet. "
            "The verdicts of each kind, ahead or balanced, hold simultaneously for all rulesets with " (study.confidence()) " confidence (Holm). "
            a href="#reading" { "How to read this" } " explains every term."
        }
    }
}

fn forest(study: &Study<'_>, rows: &[Row<'_>]) -> Markup {
    let scores: Vec<(&RulesetSummary, &CellSummary, ScoreSummary)> =
        rows.iter().filter_map(|(ruleset, cell)| Some((*ruleset, *cell, cell.score?))).collect();
    let margin = study.summary.settings.margin;
    let ends = scores.iter().flat_map(|(_, _, score)| [score.simultaneous.lower, score.simultaneous.upper]);
    let domain = domain(ends.chain([0.5 - margin, 0.5 + margin]), 0.05);
    let forest = Forest {
        caption: html! {
            strong { "The first player’s score, by ruleset." }
            " The dot is the score, the thick line its " (study.confidence())
            " interval; the thin line is the wider simultaneous interval. The shaded strip is the margin of balance."
        },
        domain: (domain.0.max(0.0), domain.1.min(1.0)),
        reference: 0.5,
        margin: Some(margin),
        tick: &percent_tick,
    };
    let drawn: Vec<ForestRow> = scores
        .iter()
        .map(|(ruleset, cell, score)| ForestRow {
            label: link(ruleset),
            shown: self::score(cell),
            class: cell.verdict.as_ref().map_or("open", |verdict| words::verdict_class(verdict.verdict).0),
            value: score.score,
            interval: (score.interval.lower, score.interval.upper),
            outer: Some((score.simultaneous.lower, score.simultaneous.upper)),
        })
        .collect();
    forest.draw(&drawn)
}

fn table<'a>(study: &Study<'_>, rows: &'a [Row<'a>]) -> Table<'a, &'a Row<'a>> {
    let has_cut_off = rows.iter().any(|(_, cell)| cell.outcomes.truncated > 0);
    let caption = html! {
        "All rulesets with " (study.headline_agent().map(words::agent).unwrap_or_default()) ", highest score first; won and lost are the first player’s. Brackets hold " (study.confidence()) " intervals."
        @if !has_cut_off { " No game was cut off by the program’s turn limit." }
        (order_of_rulesets(rows))
    };
    Table::new("Table of results", caption, rows)
        .class("cards sortable")
        .ledger(|(_, cell)| cell.ledger.as_ref())
        .row_head("Ruleset", |(ruleset, _)| html! { (link(ruleset)) " " br; span.soft { (ruleset.title) } })
        .sorted("First player’s score", |(_, cell)| (cell.score.map(|score| score.score), score(cell)))
        .sorted("Verdict", |(_, cell)| {
            (cell.verdict.as_ref().map(|found| found.verdict.as_str()), verdict_with_draws(cell))
        })
        .sorted("Won / drawn / lost", |(_, cell)| (Some(cell.outcomes.first_wins), results(&cell.outcomes)))
        .sorted("Drawn", |(_, cell)| {
            (cell.decisive.map(|rate| 1.0 - rate.rate), html! { @if let Some(rate) = &cell.decisive { (draws(rate)) } })
        })
        .sorted("First player’s wins of decisive games", |(_, cell)| first_of_decisive(cell))
        .sorted("If cut-off games were lost or won", |(_, cell)| {
            let bracket = cell.score.filter(|_| cell.outcomes.truncated > 0).map(|score| score.truncation_bracket);
            let shown = bracket.map_or_else(|| html! { span.soft { "none cut off" } }, numbers::percent_interval);
            (Some(cell.outcomes.truncated), shown)
        })
        .only_if(has_cut_off)
        .sorted("Games", |(_, cell)| (Some(cell.games), numbers::games(cell.games, "")))
        .sorted("Games with captures", |(_, cell)| rate_or(cell.contact, "not counted"))
        .sorted("Change since half of the budget", |(_, cell)| {
            let last = cell.verdict.as_ref().and_then(|verdict| verdict.last_doubling);
            (last.map(|last| last.change.value), change_since(last))
        })
}

/// A score with its interval, or why there is none.
pub(super) fn score(cell: &CellSummary) -> Markup {
    let Some(score) = cell.score else { return html! { (words::no_score(cell)) } };
    html! { b { (numbers::percent(score.score)) } " " span.i { "(" (numbers::percent_interval(score.interval)) ")" } }
}

fn results(outcomes: &OutcomeCounts) -> Markup {
    html! {
        (numbers::games(outcomes.first_wins, "first")) " / " (numbers::games(outcomes.rule_draws, "draw")) " / " (numbers::games(outcomes.second_wins, "second"))
        @if outcomes.truncated > 0 { " " span.i { "and " (numbers::games(outcomes.truncated, "cut-off")) " cut off" } }
        (result_bar(outcomes))
    }
}

/// A rate, and the same with its interval or what is said where there is none.
pub(super) fn rate_or(rate: Option<RateSummary>, none: &str) -> (Option<f64>, Markup) {
    let shown = |rate: RateSummary| numbers::percent_in(rate.rate, rate.interval);
    (rate.map(|rate| rate.rate), rate.map_or_else(|| html! { span.soft { (none) } }, shown))
}

/// The first player's share of the decisive games, where there are enough.
pub(super) fn first_of_decisive(cell: &CellSummary) -> (Option<f64>, Markup) {
    let (rate, shown) = rate_or(cell.first_of_decisive, "none decisive");
    (rate, cell.first_of_decisive.map_or(shown.clone(), |found| numbers::of_decisive(found.of, || shown)))
}

/// How far the order of the rulesets is that of the next smaller budget.
fn order_of_rulesets(rows: &[Row<'_>]) -> Markup {
    let pair = rows.iter().find_map(|(_, cell)| cell.verdict.as_ref()?.rank_agreement.as_ref());
    html! {
        @if let Some(pair) = pair && let Some(tau) = pair.tau {
            " The order of the rulesets agrees with that of " code { (pair.agents[0]) } " by Kendall’s τ " (numbers::plain(tau, 2))
            @if pair.told_apart > 0 {
                "; of the " (pair.told_apart) " pairs of rulesets that both tell apart " (pair.alike) " are in the same order"
            }
            "."
        }
    }
}

/// The change of a score since a budget of at most half the size.
pub(super) fn change_since(last: Option<LastDoubling>) -> Markup {
    html! {
        @match last {
            Some(last) => {
                (last.stability.as_str()) ", " (numbers::points_in(last.change.value, last.interval))
            }
            None => span.soft { "no smaller budget" },
        }
    }
}

/// The share of drawn games, from that of the decisive ones.
fn draws(decisive: &RateSummary) -> Markup {
    html! {
        (numbers::complement(decisive.rate)) " %"
        " " span.i { "(" (numbers::complement(decisive.interval.upper)) " to " (numbers::complement(decisive.interval.lower)) " %)" }
    }
}

/// Won, drawn, cut off and lost games as lengths of one bar.
fn result_bar(outcomes: &OutcomeCounts) -> Markup {
    let parts = [
        ("first", outcomes.first_wins),
        ("drawn", outcomes.rule_draws + outcomes.truncated),
        ("second", outcomes.second_wins),
    ];
    html! {
        span.result aria-hidden="true" {
            @for (class, games) in parts { @if games > 0 { span class=(class) style=(format!("flex-grow:{games}")) {} } }
        }
    }
}

/// A verdict, and whether most games are drawn.
fn verdict_with_draws(cell: &CellSummary) -> Markup {
    html! { (verdict(cell)) @if words::is_mostly_drawn(cell) { " " span.reason { "mostly drawn" } } }
}

/// A verdict as a coloured word with a mark.
pub(super) fn verdict(cell: &CellSummary) -> Markup {
    html! {
        @match &cell.verdict {
            Some(found) => {
                @let (class, mark) = words::verdict_class(found.verdict);
                span class=(format!("verdict {class}")) { span aria-hidden="true" { (mark) " " } (found.verdict.as_str()) }
                @for &doubt in &found.doubts { " " span.reason { (doubt.as_str()) } }
            }
            None => span.soft { "none" },
        }
    }
}

/// Returns why a score near one half is not taken for balance.
fn doubts(cell: &CellSummary) -> Option<String> {
    let doubts = &cell.verdict.as_ref()?.doubts;
    (!doubts.is_empty()).then(|| doubts.iter().map(|&doubt| doubt.as_str()).collect::<Vec<_>>().join(", "))
}

/// What limits the results, in whole sentences.
fn warnings(study: &Study<'_>, rows: &[Row<'_>]) -> Markup {
    let share = |cell: &CellSummary| cell.outcomes.truncated as f64 / cell.games.max(1) as f64;
    let truncated: Vec<String> =
        rows.iter().filter(|(_, cell)| share(cell) > TRUNCATED_MAX).map(|(ruleset, _)| ruleset.name.clone()).collect();
    let dependent: Vec<String> = rows
        .iter()
        .filter(|(ruleset, _)| {
            ruleset.agreements.iter().any(|agreement| agreement.depends_on_agent && !agreement.is_within_margin)
        })
        .map(|(ruleset, _)| ruleset.name.clone())
        .collect();
    html! {
        @if !truncated.is_empty() {
            p.warning { strong { "Many games cut off." } " In " (words::list(&truncated)) " more than 1 % of the games reached the program’s turn limit. They count as draws; the table shows the score if all of them had been lost or won." }
        }
        @if !dependent.is_empty() {
            p.warning { strong { "The result depends on the player." } " In " (words::list(&dependent)) " two kinds of programs give different scores, so the size of the advantage depends on the program as well as on the rules." }
        }
        @for note in &study.summary.notes { p.warning { (note) } }
        p.note {
            "These are results of programs of limited strength with partly random openings. They describe the first player’s advantage between such programs, not between ancient experts."
        }
    }
}

//! The section of one ruleset: rules, results, games.

use latrunculi_engine::{EndReason, Rules};
use maud::{Markup, html};

use super::layout::Table;
use super::{Study, anchor, board, exploratory, extras, games, ladders, numbers, overview, rules, words};
use crate::study::summary::{AgentSummary, CellSummary, RulesetSummary};

/// Up to so many rulesets are shown unfolded.
const UNFOLDED_MAX: usize = 3;

/// The section of one ruleset, folded together where there are many.
pub(super) fn section(study: &Study<'_>, ruleset: &RulesetSummary) -> Markup {
    let headline = study.headline(ruleset);
    let is_open = study.summary.rulesets.len() <= UNFOLDED_MAX;
    html! {
        details.ruleset open[is_open] {
            summary {
                h3 { (ruleset.name) ": " span.title { (ruleset.title) } }
                @if let Some(cell) = headline {
                    span.brief {
                        @if let Some(score) = cell.score { (numbers::percent_in(score.score, score.interval)) " " }
                        (overview::verdict(cell))
                    }
                }
            }
            div id=(anchor(&ruleset.name)) {
                (about(study, ruleset))
                h4 { "Results" }
                (results(study, ruleset))
                @if !ruleset.trends.is_empty() {
                    div.plots {
                        figure {
                            figcaption { "The first player’s score by budget" }
                            (ladders::ladder(study, ruleset))
                            @for trend in &ruleset.trends { (ladders::trend_words(trend, true)) }
                        }
                    }
                }
                (extras::of_ruleset(study, ruleset))
                @if let Some(metrics) = headline.and_then(|cell| cell.metrics.as_ref()) {
                    h4 { "Metrics of the games " (exploratory()) }
                    (games::of_ruleset(study, metrics))
                }
            }
        }
    }
}

fn about(study: &Study<'_>, ruleset: &RulesetSummary) -> Markup {
    let found = study.rules_of(ruleset).and_then(|found| Rules::new(found).ok());
    html! {
        @if let Some(derived) = &ruleset.derived {
            p { "Derived from " code { (derived.base) } ": " code { (derived.parameter) } " is " code { (derived.value) } " instead of " code { (derived.base_value) } "." }
        }
        @if let Some(rules) = &found {
            div.about {
                (board::opening(rules))
                div {
                    @if !rules.ruleset().summary.is_empty() { p { (rules.ruleset().summary) } }
                    @if !rules.ruleset().source.is_empty() { p.soft { "Source: " (rules.ruleset().source) } }
                    dl.rules {
                        @for (heading, said) in rules::rules_in_words(rules) {
                            dt { (heading) }
                            dd { (said.join(" ")) }
                        }
                    }
                }
            }
            details.parameters {
                summary { "Every setting with its source" }
                (rules::parameters(rules.ruleset()))
            }
        } @else {
            p { (ruleset.files) " files, " (ruleset.ranks) " ranks, " (ruleset.men) " men a side" @if ruleset.has_duces { " and a dux" } "." }
        }
        p.soft { "Fingerprint of the rules: " code { (ruleset.fingerprint) } }
    }
}

fn results(study: &Study<'_>, ruleset: &RulesetSummary) -> Markup {
    let rows = || study.summary.agents.iter().zip(&ruleset.cells);
    let caption = html! { "Each player against itself; won and lost are the first player’s. Brackets hold " (study.confidence()) " intervals; p-values are corrected for the number of rulesets (Holm). The games are worth as many independent ones as stand beside them." };
    let table = Table::new(format!("Results of {} by player", ruleset.name), caption, rows())
        .class("dense")
        .ledger(|(_, cell)| cell.ledger.as_ref())
        .row_head("Player", |(agent, _)| html! { (words::short_agent(agent)) })
        .column("First player’s score", |(_, cell)| overview::score(cell))
        .column("Verdict", |(_, cell)| verdict(cell))
        .column("Won / drawn / cut off / lost", |(_, cell)| outcomes(cell))
        .styled("nowrap")
        .column("Decisive", |(_, cell)| overview::rate_or(cell.decisive, "").1)
        .column("First player’s wins of those", |(_, cell)| overview::first_of_decisive(cell).1)
        .column("Actions a game", |(_, cell)| html! { @if cell.games > 0 { (numbers::plain(cell.actions_mean, 1)) } })
        .column("Games with captures", |(_, cell)| overview::rate_or(cell.contact, "not counted").1)
        .column("Change since half of the budget", |(_, cell)| {
            overview::change_since(cell.verdict.as_ref().and_then(|verdict| verdict.last_doubling))
        });
    html! {
        (table)
        details.remarks {
            summary { "Elo, openings, ends of games, and why the measurement stopped" }
            @for (agent, cell) in rows() { (remarks(agent, cell)) }
        }
    }
}

/// A verdict with the p-values that it rests on.
fn verdict(cell: &CellSummary) -> Markup {
    html! {
        (overview::verdict(cell))
        @if let Some(verdict) = &cell.verdict {
            " " span.i { "p, unbalanced: " (numbers::p_value(verdict.p_unbalanced_holm)) }
            " " span.i { "p, balanced: " (numbers::p_value(verdict.p_balanced_holm)) }
        }
    }
}

fn outcomes(cell: &CellSummary) -> Markup {
    let outcomes = &cell.outcomes;
    html! {
        (numbers::games(outcomes.first_wins, "first")) " / " (numbers::games(outcomes.rule_draws, "draw")) " / "
        (numbers::games(outcomes.truncated, "cut-off")) " / " (numbers::games(outcomes.second_wins, "second"))
        " " span.i {
            "of " (numbers::games(cell.games, ""))
            @if let Some(worth) = cell.effective_games { ", worth " (numbers::plain(worth, 0)) }
        }
    }
}

/// How the games were opened, how they ended, what was left out.
fn remarks(agent: &AgentSummary, cell: &CellSummary) -> Markup {
    let mut ends: Vec<(&String, &u64)> = cell.ends.iter().collect();
    ends.sort_by_key(|&(name, count)| (std::cmp::Reverse(*count), name));
    html! {
        p {
            strong { (words::short_agent(agent)) ". " }
            @if cell.played_as.ends_with(']') { "It played as " code { (cell.played_as) } ". " }
            @if let Some(score) = &cell.score { "The first player’s lead: Elo " (numbers::elo(score.elo)) ". " }
            "Openings: " (words::opening(&cell.opening)) "; " (numbers::count(cell.openings_distinct)) " distinct. "
            @if cell.games_repeated > 0 { (numbers::count(cell.games_repeated)) " repeated games do not count. " }
            "Ends: "
            @for (index, (reason, count)) in ends.iter().enumerate() {
                @if index > 0 { "; " }
                (EndReason::words_for(reason)) " (" (numbers::count(**count)) ")"
            }
            ". "
            @if let Some(effort) = cell.effort_mean { "Search effort per choice: " (numbers::plain(effort, 0)) " " (agent.budget_unit.as_deref().unwrap_or("nodes")) " on average. " }
            "Ended because " (cell.stop.as_str()) "."
            @if let Some(second) = &cell.second_opening {
                " With " (words::opening(&second.opening)) " instead"
                @if let Some(score) = &second.score { ": " (numbers::percent_in(score.score, score.interval)) " over " (numbers::count(second.games)) " games" }
                @if let Some(shift) = &second.shift { ", a shift of " (numbers::points_in_words(shift.difference, Some(shift.interval))) }
                "."
            }
        }
    }
}

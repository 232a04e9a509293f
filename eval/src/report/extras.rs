//! Compensation, pie rule, phases and changed rules of one ruleset.

use maud::{Markup, html};

use super::layout::{Section, Table};
use super::plot::{Forest, ForestRow, domain};
use super::{Study, link, numbers};
use crate::study::summary::{
    CompensationSummary, DifferenceSummary, OutcomeCounts, PhaseSummary, PieSummary, RulesetSummary, ScoreSummary,
};
use latrunculi_stats::Interval;
use latrunculi_stats::compensation::FiellerSet;

/// Compensation, pie rule and phases of one ruleset, as far as they were measured.
pub(super) fn of_ruleset(study: &Study<'_>, ruleset: &RulesetSummary) -> Markup {
    html! {
        @if let Some(compensation) = &ruleset.compensation { (men_given(study, compensation)) }
        @if let Some(pie) = &ruleset.pie { (pie_rule(study, pie)) }
        @if let Some(phases) = &ruleset.phases { (placement_and_movement(phases)) }
    }
}

/// A score with its interval, or a dash.
pub(super) fn score_cell(score: Option<&ScoreSummary>) -> Markup {
    numbers::or_dash(score, |score| numbers::percent_in(score.score, score.interval))
}

fn outcome_cell(outcomes: &OutcomeCounts) -> Markup {
    html! {
        span.nowrap {
            (numbers::count(outcomes.first_wins)) " / " (numbers::count(outcomes.rule_draws))
            @if outcomes.truncated > 0 { " + " (numbers::count(outcomes.truncated)) " cut off" }
            " / " (numbers::count(outcomes.second_wins))
        }
    }
}

/// A number of men in words: fewer for whom.
fn handicap_words(handicap: i32) -> String {
    let men = |count: u32| if count == 1 { "1 man".to_owned() } else { format!("{count} men") };
    match handicap {
        0 => "nobody has fewer".to_owned(),
        1.. => format!("first player has {} fewer", men(handicap.unsigned_abs())),
        _ => format!("second player has {} fewer", men(handicap.unsigned_abs())),
    }
}

/// The handicaps that the games allow, in brackets.
fn fieller(study: &Study<'_>, set: &FiellerSet) -> Markup {
    match set {
        FiellerSet::Within(Interval { lower, upper }) => {
            html! { "(" (study.confidence()) " interval " (numbers::plain(*lower, 2)) " to " (numbers::plain(*upper, 2)) ")" }
        }
        FiellerSet::Outside(Interval { lower, upper }) => {
            html! { "(the games allow anything up to " (numbers::plain(*lower, 2)) " or from " (numbers::plain(*upper, 2)) ")" }
        }
        FiellerSet::Everything => html! { "(the games allow any number)" },
    }
}

fn men_given(study: &Study<'_>, compensation: &CompensationSummary) -> Markup {
    let caption = html! { "The first player’s score when one side begins with fewer men; " code { (compensation.agent) } " against itself." };
    let table = Table::new("Scores by handicap", caption, &compensation.cells)
        .row_head("Handicap", |cell| html! { (handicap_words(cell.handicap)) })
        .column("First player’s score", |cell| score_cell(cell.score.as_ref()))
        .column("Won / drawn / lost", |cell| outcome_cell(&cell.outcomes))
        .column("Games", |cell| numbers::count(cell.games));
    html! {
        h4 { "Compensation in men" }
        (table)
        @if let Some(fair) = compensation.fair_handicap {
            p {
                @match compensation.fair_handicap_set {
                    Some(FiellerSet::Within(_)) => "The game is fair when the first player has ",
                    _ => "These games do not determine a fair handicap, because they do not show an effect of a man. The best estimate is that the first player has ",
                }
                (numbers::plain(fair, 2)) " men fewer"
                @if fair < 0.0 { " (less than none: the second player has fewer)" }
                @if let Some(found) = &compensation.fair_handicap_set { " " (fieller(study, found)) }
                "."
                @if let (Some(whole), Some(FiellerSet::Within(_))) =
                    (&compensation.whole_handicaps, &compensation.fair_handicap_set)
                {
                    " In whole men: " (handicap_words(whole.larger as i32)) " in " (numbers::percent(whole.larger_share))
                    " of the games and " (handicap_words(whole.smaller as i32)) " in the others, which gives a score of "
                    (numbers::estimate_percent(&whole.score)) "."
                }
                @if let Some([at_none, slope]) = compensation.coefficients {
                    " Logistic regression: " (numbers::plain(at_none, 3)) " without a handicap, " (numbers::signed(slope, 3)) " a man, in nats."
                }
            }
        }
        @if let Some(reason) = &compensation.refused { p.warning { "No fair handicap: " (reason) } }
    }
}

fn pie_rule(study: &Study<'_>, pie: &PieSummary) -> Markup {
    let chosen = pie.chosen.and_then(|index| pie.tried.get(index));
    let mut tried: Vec<_> = pie.tried.iter().filter_map(|turn| Some((turn, turn.score?))).collect();
    tried.sort_by(|(_, one), (_, other)| (one.score - 0.5).abs().total_cmp(&(other.score - 0.5).abs()));
    let caption = html! { "Scores of the selection games. The best of many looks better than it is; only the later games measure how fair it is." };
    let fairest = Table::new("First turns", caption, tried.iter().take(8))
        .row_head("First turn", |(turn, _)| html! { code { (turn.actions.join(" ")) } })
        .column("First player’s score", |(_, score)| score_cell(Some(score)))
        .column("Won / drawn / lost", |(turn, _)| outcome_cell(&turn.outcomes));
    html! {
        h4 { "The pie rule" }
        p {
            "One player makes the first turn, the other then chooses which side to play. "
            @match pie.first_turns {
                Some(count) => { "There are " (numbers::count(count as u64)) " first turns that differ; " }
                None => "There are too many first turns to count; ",
            }
            (pie.tried.len()) " were tried, of which " (numbers::count(pie.within_margin as u64)) " scored within "
            (numbers::points_width(study.summary.settings.margin)) " points of a fair game. "
            @if let Some(turn) = chosen {
                "The fairest, " code { (turn.actions.join(" ")) } ", was then tested in new games: "
                (score_cell(pie.held_out.as_ref())) ", " (outcome_cell(&pie.held_out_outcomes)) "."
            }
            @if let Some(residual) = pie.residual { " The chooser’s remaining advantage: " (numbers::hundredths(residual)) " points." }
        }
        @if !tried.is_empty() {
            details { summary { "The fairest first turns" } (fairest) }
        }
    }
}

fn placement_and_movement(phases: &PhaseSummary) -> Markup {
    let part =
        |difference: &DifferenceSummary| numbers::points_in_words(difference.difference, Some(difference.interval));
    html! {
        h4 { "Placement and movement" }
        p {
            "If all stones are placed at random and " code { (phases.agent) } " plays on from there, the first player scores "
            (score_cell(phases.random_placement.as_ref())) " (" (outcome_cell(&phases.outcomes)) ")."
            @if let Some(difference) = &phases.by_movement { " The advantage of moving is " (part(difference)) "." }
            @if let Some(difference) = &phases.by_placement { " The player’s own placement changes this by " (part(difference)) "." }
        }
    }
}

/// What single changed rules do, by the ruleset that they were changed in.
pub(super) fn sweeps(study: &Study<'_>) -> Option<Section> {
    let derived: Vec<&RulesetSummary> =
        study.summary.rulesets.iter().filter(|ruleset| ruleset.derived.is_some()).collect();
    let difference = |ruleset: &RulesetSummary| {
        ruleset.derived.as_ref()?.differences.get(study.summary.headline_agent).copied().flatten()
    };
    let ends = derived
        .iter()
        .filter_map(|ruleset| difference(ruleset))
        .flat_map(|found| [found.interval.lower, found.interval.upper]);
    let (low, high) = domain(ends.chain([-0.05, 0.05]), 0.05);
    let forest = Forest {
        caption: html! {
            strong { "Effect of one changed rule." } " The first player’s score under the changed rule minus the score under the original ruleset, in points, with its " (study.confidence()) " interval."
        },
        domain: (low, high),
        reference: 0.0,
        margin: None,
        tick: &|value| numbers::text(100.0 * value, 0),
    };
    let rows: Vec<ForestRow> = derived
        .iter()
        .filter_map(|ruleset| {
            let (found, derivation) = (difference(ruleset)?, ruleset.derived.as_ref()?);
            let is_shown = found.p_holm.is_some_and(|p| p < 1.0 - study.summary.settings.confidence);
            Some(ForestRow {
                label: html! {
                    a href=(format!("#{}", super::anchor(&ruleset.name))) { (derivation.base) } " with " code { (derivation.parameter) " = " (derivation.value) }
                },
                shown: html! {
                    b { (numbers::points(found.difference)) } " " span.i { "(" (numbers::points_interval(found.interval)) ")" }
                    @if let Some(p) = found.p_holm { " " span.soft { "p " (numbers::p_value(p)) } }
                },
                class: match (is_shown, found.difference > 0.0) {
                    (true, true) => "first",
                    (true, false) => "second",
                    _ => "open",
                },
                value: found.difference,
                interval: (found.interval.lower, found.interval.upper),
                outer: None,
            })
        })
        .collect();
    let content = html! {
        p { "Each ruleset was played again with one setting changed. p-values are corrected for the number of changes tried (Holm)." }
        (forest.draw(&rows))
        @for ruleset in derived.iter().filter(|ruleset| difference(ruleset).is_none()) {
            p.soft { (link(ruleset)) ": no difference can be computed." }
        }
    };
    (!derived.is_empty()).then(|| Section::new("sweeps", "One changed rule", "One changed rule", content))
}

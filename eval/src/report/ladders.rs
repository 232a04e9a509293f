//! The advantage by search budget, and the agreement of two kinds of players.

use maud::{Markup, html};

use super::layout::{Section, Table};
use super::plot::{self, Frame, Plot, Scale, percent_tick, place, short_tick};
use super::{Study, link, numbers, words};
use crate::study::summary::{CellSummary, FamilyAgreement, RankAgreement, RulesetSummary, ScoreSummary, TrendSummary};

/// The room that the number of a budget needs along the axis.
const TICK_ROOM: f64 = 26.0;

/// The scores by budget, where any kind of player has several.
pub(super) fn budgets(study: &Study<'_>) -> Option<Section> {
    let content = html! {
        p {
            "An advantage that shrinks with the search budget is partly due to mistakes; one that stays or grows is due to the rules, as far as these budgets reach. Each plot shows one ruleset: the first player’s score with its "
            (study.confidence()) " interval, by search budget. All plots have the same scale; the broken line is a fair game, the strip around it the margin of balance."
        }
        (plot::legend(&ladder_names(study)))
        div.plots {
            @for ruleset in study.asked().filter(|ruleset| !ruleset.trends.is_empty()) {
                figure {
                    figcaption { (link(ruleset)) }
                    (ladder(study, ruleset))
                    @for trend in &ruleset.trends { (trend_words(trend, ruleset.trends.len() > 1)) }
                }
            }
        }
        (scores_by_player(study))
        @if !study.summary.rank_agreements.is_empty() { (rank_agreements(study)) }
    };
    let has_ladders = study.summary.rulesets.iter().any(|ruleset| !ruleset.trends.is_empty());
    has_ladders.then(|| Section::new("ladders", "Search budgets", "Larger search budgets", content))
}

/// Whether kinds of players agree, where there are several.
pub(super) fn agreements(study: &Study<'_>) -> Option<Section> {
    let pairs = agreement_pairs(study);
    let content = html! {
        p {
            "A verdict about rules should not depend on one kind of player. If the interval of the difference lies within "
            (numbers::points_width(study.summary.settings.margin))
            " points of zero, the two agree. The balance depends on the player if the difference is significant after correction for the number of rulesets and pairs of players (Holm); a single interval may exclude zero by chance."
        }
        @for pair in &pairs { (agreement(study, pair)) }
    };
    let name = "Two kinds of players";
    (!pairs.is_empty()).then(|| Section::new("agreement", name, name, content))
}

/// Returns the kinds of players that have several budgets, in the order of the study.
fn ladder_names(study: &Study<'_>) -> Vec<String> {
    families(study).iter().map(|family| words::family(family)).collect()
}

fn families<'a>(study: &Study<'a>) -> Vec<&'a str> {
    let mut families: Vec<&str> = Vec::new();
    for trend in study.summary.rulesets.iter().flat_map(|ruleset| &ruleset.trends) {
        if !families.contains(&trend.family.as_str()) {
            families.push(&trend.family);
        }
    }
    families
}

/// Draws the scores of one ruleset by budget.
pub(super) fn ladder(study: &Study<'_>, ruleset: &RulesetSummary) -> Markup {
    let families = families(study);
    let series: Vec<(usize, Vec<(u64, ScoreSummary)>)> = families
        .iter()
        .enumerate()
        .map(|(index, family)| {
            let cells = study.summary.agents.iter().zip(&ruleset.cells).filter(|(agent, _)| agent.family == **family);
            let mut points: Vec<(u64, ScoreSummary)> =
                cells.filter_map(|(agent, cell)| Some((agent.budget?, cell.score?))).collect();
            points.sort_by_key(|&(budget, _)| budget);
            (index, points)
        })
        .collect();
    let all = || series.iter().flat_map(|(_, points)| points);
    let description = all()
        .map(|(budget, score)| format!("{budget}: {} %", numbers::text(100.0 * score.score, 1)))
        .collect::<Vec<_>>()
        .join("; ");
    let title = format!("First player’s score in {} by budget", ruleset.name);
    let x_label = budget_label(study);
    let plot = Plot { title: &title, description: &description, height: 200.0, x_label: &x_label };
    // No simulation is the bare policy: on a logarithmic axis it stands where one would.
    let at = |budget: u64| budget.max(1) as f64;
    let budgets = plot::domain(all().map(|&(budget, _)| at(budget)), 1.0);
    let scores = score_domain(study);
    let frame = Frame {
        x: Scale::log((budgets.0 * 0.8, budgets.1 * 1.25), plot.across()),
        y: Scale::linear(scores, plot.up()),
    };
    let margin = study.summary.settings.margin;
    let marks = html! {
        (fair_strip(&frame, plot.across(), margin))
        @for (index, points) in &series {
            @let class = plot::series_class(*index);
            (plot::line(&frame, class, &points.iter().map(|(budget, score)| (at(*budget), score.score)).collect::<Vec<_>>()))
            @for (budget, score) in points {
                @let ends = (score.interval.lower, score.interval.upper);
                @let tip = format!("{budget}: {} %", numbers::text(100.0 * score.score, 1));
                (plot::point(&frame, *index, at(*budget), score.score, ends, &tip))
            }
        }
    };
    let mut ticks: Vec<f64> = all().map(|&(budget, _)| at(budget)).collect();
    ticks.sort_by(f64::total_cmp);
    let [has_none, has_one] = [0, 1].map(|few| all().any(|&(budget, _)| budget == few));
    let tick_text = |tick: f64| match (tick == at(0), has_none, has_one) {
        (true, true, true) => "0, 1".to_owned(),
        (true, true, false) => "0".to_owned(),
        _ => short_tick(tick),
    };
    plot.draw(&frame, Some(&plot::apart(&frame.x, &ticks, TICK_ROOM)), tick_text, percent_tick, &marks)
}

/// Returns what the budgets of the ladders count, as `nodes a choice`.
fn budget_label(study: &Study<'_>) -> String {
    let mut units: Vec<&str> = study.summary.agents.iter().filter_map(|agent| agent.budget_unit.as_deref()).collect();
    units.dedup();
    units.join(" or ") + " a choice"
}

/// Returns the scores that all ladders of a study lie between, so that they can be compared.
fn score_domain(study: &Study<'_>) -> (f64, f64) {
    let scores = study.summary.rulesets.iter().flat_map(|ruleset| &ruleset.cells).filter_map(|cell| cell.score);
    let ends = scores.flat_map(|score| [score.interval.lower, score.interval.upper]);
    let (low, high) = plot::domain(ends.chain([0.45, 0.55]), 0.05);
    (low.max(0.0), high.min(1.0))
}

/// The line of a fair game with the margin around it.
pub(super) fn fair_strip(frame: &Frame, across: (f64, f64), margin: f64) -> Markup {
    let (top, bottom, middle) = (frame.y.at(0.5 + margin), frame.y.at(0.5 - margin), frame.y.at(0.5));
    html! {
        rect.margin x=(across.0) width=(place(across.1 - across.0)) y=(place(top)) height=(place(bottom - top)) {}
        line.reference x1=(across.0) x2=(across.1) y1=(place(middle)) y2=(place(middle)) {}
    }
}

pub(super) fn trend_words(trend: &TrendSummary, names_family: bool) -> Markup {
    html! {
        p.trend {
            @if names_family { (words::family(&trend.family)) ": " }
            strong { (trend.direction.as_str()) }
            ", from " (numbers::hundredths(trend.distances[0])) " to " (numbers::hundredths(trend.distances[1]))
            " points away from 50 %, a change of " (numbers::points_in(trend.change.value, trend.interval))
            @if trend.changes_side { "; the advantage passes to the other player" }
            @if !trend.is_monotone { "; not monotone: it grows and shrinks on the way" }
        }
    }
}

/// Every score with every player: the numbers behind the plots.
fn scores_by_player<'a>(study: &Study<'a>) -> Table<'a, &'a RulesetSummary> {
    let caption = html! { "The first player’s score with each player against itself, with its " (study.confidence()) " interval and the verdict’s mark: ▲ first player ahead, ▼ second player ahead, = balanced, ≈ even but not shown to be balanced, ? unresolved." };
    let table = Table::new("Scores by ruleset and player", caption, study.asked());
    let agents = study.summary.agents.iter().enumerate();
    agents.fold(table.row_head("Ruleset", |ruleset| link(ruleset)), |table, (index, agent)| {
        table.column(words::short_agent(agent), move |ruleset| marked_score(&ruleset.cells[index]))
    })
}

fn marked_score(cell: &CellSummary) -> Markup {
    numbers::or_dash(cell.score, |score| {
        html! {
            @if let Some(verdict) = &cell.verdict {
                @let (class, mark) = words::verdict_class(verdict.verdict);
                span class=(format!("verdict {class}")) { (mark) " " }
            }
            (numbers::percent_in(score.score, score.interval))
        }
    })
}

fn rank_agreements<'a>(study: &Study<'a>) -> Table<'a, &'a RankAgreement> {
    let caption = html! { "The order of the rulesets by their scores with two players. Kendall’s τ is 1 for the same order, −1 for the opposite one; noise lowers it where many scores are nearly the same. Told apart are pairs of rulesets whose scores are shown to differ with both players." };
    Table::new("Agreement of the order of rulesets", caption, &study.summary.rank_agreements)
        .column("Player", |pair| html! { code { (pair.agents[0]) } })
        .styled("text nowrap")
        .column("Other player", |pair| html! { code { (pair.agents[1]) } })
        .styled("text nowrap")
        .column("τ", |pair| numbers::or_dash(pair.tau, |tau| numbers::plain(tau, 2)))
        .column("Told apart", |pair| html! { (pair.told_apart) })
        .column("In the same order", |pair| html! { (pair.alike) })
        .column("Rulesets", |pair| html! { (pair.rulesets) })
}

fn agreement_pairs(study: &Study<'_>) -> Vec<[String; 2]> {
    let mut pairs: Vec<[String; 2]> = Vec::new();
    for agreement in study.summary.rulesets.iter().flat_map(|ruleset| &ruleset.agreements) {
        if !pairs.contains(&agreement.agents) {
            pairs.push(agreement.agents.clone());
        }
    }
    pairs
}

/// One ruleset as two players see it.
struct Seen<'a> {
    ruleset: &'a RulesetSummary,
    scores: [ScoreSummary; 2],
    agreement: &'a FamilyAgreement,
}

fn agreement(study: &Study<'_>, pair: &[String; 2]) -> Markup {
    let score_of = |ruleset: &RulesetSummary, agent: &str| {
        ruleset.cells.iter().find(|cell: &&CellSummary| cell.agent == agent).and_then(|cell| cell.score)
    };
    let seen: Vec<Seen<'_>> = study
        .asked()
        .filter_map(|ruleset| {
            let agreement = ruleset.agreements.iter().find(|agreement| agreement.agents == *pair)?;
            Some(Seen { ruleset, scores: [score_of(ruleset, &pair[0])?, score_of(ruleset, &pair[1])?], agreement })
        })
        .collect();
    let caption = html! { "The first player’s score with " code { (pair[0]) } " less that with " code { (pair[1]) } ", in points." };
    let table = Table::new("Agreement of two players by ruleset", caption, seen.iter().enumerate())
        .column("No.", |(index, _)| html! { (index + 1) })
        .row_head("Ruleset", |(_, one)| link(one.ruleset))
        .styled("text")
        .column("Difference", |(_, one)| {
            numbers::points_in(one.agreement.difference.difference, one.agreement.difference.interval)
        })
        .styled("nowrap")
        .column("Finding", |(_, one)| match one.agreement {
            FamilyAgreement { is_within_margin: true, .. } => html! { "agree" },
            FamilyAgreement { depends_on_agent: true, .. } => html! { strong { "depends on the player" } },
            _ => html! { "unresolved" },
        })
        .styled("text nowrap");
    html! {
        div.beside {
            figure {
                figcaption { "Each mark is a ruleset, numbered as in the table. On the diagonal both players have the same score." }
                (scatter(study, pair, &seen))
            }
            (table)
        }
    }
}

fn scatter(study: &Study<'_>, pair: &[String; 2], seen: &[Seen<'_>]) -> Markup {
    let title = format!("First player’s score with {} against that with {}", pair[0], pair[1]);
    let description = seen
        .iter()
        .map(|one| {
            let [x, y] = one.scores.map(|score| numbers::text(100.0 * score.score, 1));
            format!("{}: {x} % and {y} %", one.ruleset.name)
        })
        .collect::<Vec<_>>()
        .join("; ");
    let ends = seen.iter().flat_map(|one| one.scores).flat_map(|score| [score.interval.lower, score.interval.upper]);
    let (low, high) = plot::domain(ends.chain([0.45, 0.55]), 0.05);
    let (low, high) = (low.max(0.0), high.min(1.0));
    let x_label = format!("with {}", pair[0]);
    let plot = Plot { title: &title, description: &description, height: 300.0, x_label: &x_label };
    let frame = Frame { x: Scale::linear((low, high), plot.across()), y: Scale::linear((low, high), plot.up()) };
    let place_x = |value: f64| place(frame.x.at(value));
    let place_y = |value: f64| place(frame.y.at(value));
    let marks = html! {
        (fair_strip(&frame, plot.across(), study.summary.settings.margin))
        line.diagonal x1=(place_x(low)) y1=(place_y(low)) x2=(place_x(high)) y2=(place_y(high)) {}
        text.label x=(plot.across().0 + 4.0) y="20" { "with " (pair[1]) }
        @for (index, one) in seen.iter().enumerate() {
            @let [x, y] = one.scores;
            g class=(if one.agreement.depends_on_agent { "s2" } else { "s1" }) {
                title { (one.ruleset.name) }
                line.whisker x1=(place_x(x.interval.lower)) x2=(place_x(x.interval.upper)) y1=(place_y(y.score)) y2=(place_y(y.score)) {}
                line.whisker x1=(place_x(x.score)) x2=(place_x(x.score)) y1=(place_y(y.interval.lower)) y2=(place_y(y.interval.upper)) {}
                circle.disc cx=(place_x(x.score)) cy=(place_y(y.score)) r="7.5" {}
                text.inside x=(place_x(x.score)) y=(place(frame.y.at(y.score) + 3.2)) text-anchor="middle" { (index + 1) }
            }
        }
    };
    plot.draw(&frame, None, percent_tick, percent_tick, &marks)
}

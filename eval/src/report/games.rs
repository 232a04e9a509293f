//! The metrics of one ruleset's games.

use latrunculi_engine::EndReason;
use maud::{Markup, html};

use super::layout::Table;
use super::plot::{self, Frame, Plot, Scale, number_tick, percent_tick, place};
use super::{Study, board, ladders, numbers};
use crate::metrics::Metrics;
use crate::metrics::branching::{LegalActions, PhaseBranching};
use crate::metrics::diversity::{DiversitySource, OpeningDiversity};
use crate::metrics::estimates::{Curve, CurvePoint, MetricEstimate, Rate};
use crate::metrics::lengths::{HazardBin, Lengths};
use crate::metrics::material::{PieceValues, PieceWeight};
use crate::metrics::mechanics::{MechanicUse, Usage};
use crate::metrics::values::ValueMetrics;

/// Curves are drawn at up to so many turns.
const CURVE_POINTS: usize = 80;
/// Curves end when fewer games than this share still go on.
const CURVE_SHARE_MIN: f64 = 0.05;

pub(super) fn of_ruleset(study: &Study<'_>, metrics: &Metrics) -> Markup {
    html! {
        p.note {
            "From " (numbers::count(metrics.sample.games)) " games of " (numbers::count(metrics.sample.openings)) " openings with "
            (numbers::count(metrics.sample.choices)) " choices; brackets hold " (study.confidence()) " intervals over openings."
        }
        h5 { "Length" }
        (lengths(&metrics.lengths))
        h5 { "Choices" }
        (branching(metrics))
        h5 { "Use of the rules" }
        (mechanics(&metrics.mechanics))
        @if let Some(first) = &metrics.outcomes.first_capture {
            p {
                "The first capture: whoever makes it wins " (numbers::rate(&first.won)) " and draws " (numbers::rate(&first.drawn))
                " of the games with one; in " (numbers::rate(&first.by_first)) " of them that is the first player."
            }
        }
        @if let Some(values) = &metrics.values {
            h5 { "Course of the game by the players’ own values" }
            (course(study, values))
        }
        @if let Some(split) = &metrics.phase_split {
            p {
                "By the player’s values: of the first player’s " (numbers::measured_points(&split.total)) " above or below a fair game, the player saw " (numbers::measured_points(&split.placement))
                " when the last stone was placed; the other " (numbers::measured_points(&split.movement)) " came after it, or are an error of that expectation."
            }
        }
        h5 { "The board" }
        p {
            "Squares on which a piece ends a move, per game: " (numbers::measured_percent(&metrics.board.coverage)) "; in any of the games: "
            (numbers::percent(metrics.board.coverage_of_all_games)) ". Positions that stood before: " (numbers::rate(&metrics.repetition.positions))
            "; games with such a position: " (numbers::rate(&metrics.repetition.games)) "."
        }
        details { summary { "Heat maps" } (board::heat(&metrics.board)) }
        h5 { "Pieces" }
        div.plots { (pieces(metrics)) @if let Some(values) = &metrics.piece_values { (piece_values(values)) } }
        @if let Some(diversity) = &metrics.diversity { h5 { "Openings" } (openings(diversity)) }
        @if !metrics.omitted.is_empty() {
            p.soft { "Left out: " (metrics.omitted.join("; ")) }
        }
    }
}

fn lengths(lengths: &Lengths) -> Markup {
    let phases = [("turns of placement", &lengths.placement_turns), ("turns of movement", &lengths.movement_turns)];
    let mut rows = vec![("actions".to_owned(), &lengths.actions), ("turns".to_owned(), &lengths.turns)];
    rows.extend(phases.into_iter().filter_map(|(name, length)| Some((name.to_owned(), length.as_ref()?))));
    let by_reason = lengths.by_reason.iter();
    rows.extend(by_reason.map(|found| (format!("turns, if {}", EndReason::words_for(&found.reason)), &found.turns)));
    let caption = html! { "An action is one placement or move; a turn is all that one player does until the other is to act. Openings count." };
    let table = Table::new("Lengths", caption, rows)
        .row_head("Length in", |(name, _)| html! { (name) })
        .column("Median", |(_, length)| numbers::measured(&length.median, 0))
        .column("Mean", |(_, length)| numbers::measured(&length.mean, 1))
        .column("90 % of games", |(_, length)| html! { (numbers::plain(length.p5.value, 0)) " to " (numbers::plain(length.p95.value, 0)) })
        .column("All games", |(_, length)| html! { (numbers::count(length.shortest.into())) " to " (numbers::count(length.longest.into())) });
    html! { div.beside { (hazard(lengths)) (table) } }
}

/// How many games end in which range of turns.
fn hazard(lengths: &Lengths) -> Markup {
    let games = lengths.hazard.first().map_or(0, |bin| bin.ended.trials).max(1) as f64;
    let share = |count: u64| count as f64 / games;
    let last = lengths.hazard.last().map_or(1, |bin| bin.to_turn);
    // Ranges may differ in width: the area is the share.
    let density = |bin: &HazardBin| share(bin.ended.count) / (f64::from(bin.to_turn - bin.from_turn) + 1.0);
    let top = lengths.hazard.iter().map(density).fold(0.0, f64::max);
    let description = format!(
        "Median {} turns, 90 % of games {} to {} turns.",
        lengths.turns.median.value, lengths.turns.p5.value, lengths.turns.p95.value
    );
    let plot = Plot { title: "When games end", description: &description, height: 190.0, x_label: "turns" };
    let frame =
        Frame { x: Scale::linear((0.0, f64::from(last)), plot.across()), y: Scale::linear((0.0, 1.0), plot.up()) };
    let marks = html! {
        @for bin in &lengths.hazard {
            @let (from, to) = (frame.x.at(f64::from(bin.from_turn) - 1.0), frame.x.at(f64::from(bin.to_turn)));
            @let y = frame.y.at(if top > 0.0 { density(bin) / top } else { 0.0 });
            rect.bar x=(place(from)) width=(place((to - from - 1.0).max(0.5))) y=(place(y)) height=(place(plot.up().0 - y)) {
                title { "turns " (bin.from_turn) " to " (bin.to_turn) ": " (bin.ended.count) " of " (bin.ended.trials) " games that came so far" }
            }
        }
    };
    html! { figure { figcaption { "When games end: the height of a bar is the rate of games that end per turn" } (plot.draw(&frame, None, number_tick, |_| String::new(), &marks)) } }
}

fn branching(metrics: &Metrics) -> Table<'_, &PhaseBranching> {
    // Visits may be recorded of the first choices alone, where there is more or less to choose from than later.
    let is_partial =
        |legal: &LegalActions, effective: &MetricEstimate| effective.observations < legal.mean.observations;
    let are_partial = metrics.branching.phases.iter().any(|phase| {
        let legal = &phase.overall;
        legal.effective.as_ref().is_some_and(|effective| is_partial(legal, effective))
    });
    let options_that_matter = if are_partial { "Options that matter at first" } else { "Options that matter" };
    let effective = move |legal: &LegalActions, effective: &MetricEstimate| {
        html! {
            (numbers::measured(effective, 1))
            @if is_partial(legal, effective) {
                br; span.soft { "of " (numbers::count(effective.observations)) " of " (numbers::count(legal.mean.observations)) " choices" }
            }
        }
    };
    let caption = html! { "The number of legal actions at the players’ own choices. “Options that matter” is their effective number by the search’s visits" @if are_partial { ", recorded for the first choices of each game only; the other columns hold all choices" } "." };
    Table::new("Number of choices", caption, &metrics.branching.phases)
        .row_head("Phase", |phase| html! { (phase.phase.as_str()) })
        .column("Mean", |phase| numbers::measured(&phase.overall.mean, 1))
        .column("Median", |phase| numbers::measured(&phase.overall.median, 0))
        .column("95 % at most", |phase| numbers::measured(&phase.overall.p95, 0))
        .column("Fewest and most", |phase| {
            let legal = &phase.overall;
            html! { (numbers::count(legal.min.into())) " to " (numbers::count(legal.max.into())) }
        })
        .column(options_that_matter, move |phase| {
            numbers::or_dash(phase.overall.effective.as_ref(), |found| effective(&phase.overall, found))
        })
        .column("Real decisions", |phase| numbers::rate(&phase.decision_share))
}

fn mechanics(mechanics: &[MechanicUse]) -> Table<'_, &MechanicUse> {
    let rate = |rate: Option<&Rate>| html! { @if let Some(rate) = rate { (numbers::rate(rate)) } };
    let of_decisive = |usage: Option<&Usage>| {
        usage.map_or(html! {}, |usage| numbers::of_decisive(usage.games.trials, || numbers::rate(&usage.games)))
    };
    let caption = html! { "How often each mechanism of the rules is used, by any player and by either player. A mechanism used in fewer than 1 % of the games is decorative." };
    Table::new("Use of mechanisms", caption, mechanics)
        .class("dense")
        .row_head("Mechanism", |found| html! { (found.mechanic.as_str()) })
        .column("Games", |found| match found.never_seen_upper {
            Some(upper) => html! { "never seen" br; span.i.nowrap { "(at most " (numbers::percent(upper)) ")" } },
            None => numbers::rate(&found.overall.games),
        })
        .column("Uses a game", |found| numbers::measured(&found.per_game, 2))
        .column("Actions", move |found| rate(found.overall.actions.as_ref()))
        .column("First player’s games", |found| numbers::rate(&found.first.games))
        .column("Second player’s games", |found| numbers::rate(&found.second.games))
        .column("Winners’ games", move |found| of_decisive(found.winner.as_ref()))
        .column("Losers’ games", move |found| of_decisive(found.loser.as_ref()))
        .text("Role", |found| html! { (found.role.as_str()) })
}

/// Returns the points to draw: while enough games go on, and not too many.
fn drawn(curve: &Curve) -> Vec<&CurvePoint> {
    let games = curve.points.first().map_or(0, |point| point.games) as f64;
    let shown: Vec<&CurvePoint> =
        curve.points.iter().take_while(|point| point.games_going_on as f64 >= CURVE_SHARE_MIN * games).collect();
    let step = shown.len().div_ceil(CURVE_POINTS).max(1);
    let last = shown.len().saturating_sub(1);
    shown
        .into_iter()
        .enumerate()
        .filter(|(index, _)| index % step == 0 || *index == last)
        .map(|(_, point)| point)
        .collect()
}

fn ends(
    points: &[&CurvePoint],
    of: impl Fn(&CurvePoint) -> Option<latrunculi_stats::Interval>,
) -> Vec<(f64, f64, f64)> {
    points.iter().filter_map(|point| of(point).map(|found| (f64::from(point.turn), found.lower, found.upper))).collect()
}

fn centre(points: &[&CurvePoint]) -> Vec<(f64, f64)> {
    points.iter().map(|point| (f64::from(point.turn), point.value)).collect()
}

fn course(study: &Study<'_>, values: &ValueMetrics) -> Markup {
    let points = drawn(&values.curve);
    let lows = ends(&points, |point| point.simultaneous.or(point.pointwise));
    let (low, high) = plot::domain(
        lows.iter()
            .flat_map(|&(_, low, high)| [low, high])
            .chain(points.iter().map(|point| point.value))
            .chain([0.4, 0.6]),
        0.1,
    );
    let last = points.last().map_or(1.0, |point| f64::from(point.turn));
    let description = match (points.first(), points.last()) {
        (Some(first), Some(end)) => format!(
            "From {} % at turn {} to {} % at turn {}.",
            numbers::text(100.0 * first.value, 1),
            first.turn,
            numbers::text(100.0 * end.value, 1),
            end.turn
        ),
        _ => String::new(),
    };
    let plot = Plot {
        title: "First player’s expected score by turn",
        description: &description,
        height: 200.0,
        x_label: "turn",
    };
    let frame = Frame {
        x: Scale::linear((0.0, last), plot.across()),
        y: Scale::linear((low.max(0.0), high.min(1.0)), plot.up()),
    };
    let marks = html! {
        (ladders::fair_strip(&frame, plot.across(), study.summary.settings.margin))
        (plot::band(&frame, "s1 faint", &ends(&points, |point| point.simultaneous)))
        (plot::band(&frame, "s1", &ends(&points, |point| point.pointwise)))
        (plot::line(&frame, "s1", &centre(&points)))
    };
    let share = |found: &Option<MetricEstimate>| found.as_ref().map(numbers::measured_percent);
    let of_decisive = |found: &Option<MetricEstimate>, show: fn(&MetricEstimate) -> Markup| {
        found.as_ref().map(|found| numbers::of_decisive(found.observations, || show(found)))
    };
    let number = |found: &MetricEstimate| numbers::measured(found, 3);
    let rate =
        |found: &Option<Rate>| found.as_ref().map(|found| numbers::of_decisive(found.trials, || numbers::rate(found)));
    let calibration = values.calibration_at_middle.as_ref().map(|found| {
        html! { (numbers::measured(&found.brier, 3)) ", knowing nothing: " (numbers::plain(found.brier_of_mean, 3)) }
    });
    let facts = [
        ("Changes of lead a game", Some(numbers::measured(&values.lead_changes, 2))),
        ("Games with a change of lead", Some(numbers::rate(&values.games_with_lead_change))),
        ("Last change of lead, as a share of the game", share(&values.last_lead_change)),
        ("Won games in which the winner was below 25 %", rate(&values.comebacks)),
        ("Won games with one swing of 50 points or more", rate(&values.killer_moves)),
        ("Drama", of_decisive(&values.drama, number)),
        (
            "From where the winner stays above 90 %, as a share of the game",
            of_decisive(&values.decisiveness_point, numbers::measured_percent),
        ),
        ("Uncertainty in the last quarter, in bits", values.late_uncertainty.as_ref().map(number)),
        ("Largest swings of a game", share(&values.largest_swing)),
        ("Expected at the start less real score", Some(numbers::measured_points(&values.start_gap))),
        ("Mean squared error of the expectation in mid-game (Brier)", calibration),
    ];
    html! {
        div.beside {
            figure {
                figcaption { "The first player’s expected score by turn; finished games count with their results. Inner band: pointwise; outer band: simultaneous." }
                (plot.draw(&frame, None, number_tick, percent_tick, &marks))
            }
            dl.facts { @for (name, value) in facts { @if let Some(value) = value { dt { (name) } dd { (value) } } } }
        }
    }
}

fn pieces(metrics: &Metrics) -> Markup {
    let curves = [&metrics.pieces.first, &metrics.pieces.second].map(drawn);
    let all = || curves.iter().flatten();
    let (low, high) = plot::domain(all().map(|point| point.value).chain([0.0]), 2.0);
    let last = all().map(|point| f64::from(point.turn)).fold(1.0, f64::max);
    let description = "Mean number of pieces on the board at the beginning of each turn, for both players.";
    let plot = Plot { title: "Pieces on the board by turn", description, height: 200.0, x_label: "turn" };
    let frame = Frame { x: Scale::linear((0.0, last), plot.across()), y: Scale::linear((low, high), plot.up()) };
    let marks = html! {
        @for (index, points) in curves.iter().enumerate() {
            @let class = ["first", "second"][index];
            (plot::band(&frame, class, &ends(points, |point| point.pointwise)))
            (plot::line(&frame, class, &centre(points)))
        }
    };
    html! {
        figure {
            figcaption { "Pieces on the board by turn, with the interval of each turn" }
            (plot.draw(&frame, None, number_tick, number_tick, &marks))
            ul.legend { li { span.swatch.first {} "first player" } li { span.swatch.second {} "second player" } }
        }
    }
}

fn piece_values(values: &PieceValues) -> Table<'_, &PieceWeight> {
    let caption = html! {
        "Piece values, fitted to the results of " (numbers::count(values.positions)) " games, one position per game. The fit explains "
        (numbers::percent(values.explained)) " of the variance of the results."
    };
    Table::new("Piece values", caption, &values.weights)
        .class("dense")
        .row_head("Thing", |weight| html! { (weight.feature.as_str()) })
        .column("In men", |weight| numbers::or_dash(weight.in_men.as_ref(), |men| numbers::measured(men, 2)))
        .column("Weight", |weight| numbers::measured(&weight.weight, 2))
}

fn openings(diversity: &OpeningDiversity) -> Markup {
    let source = match diversity.source {
        DiversitySource::Visits => "the fractions of the search’s visits",
        DiversitySource::Counts => "the frequencies of the actions played, so it is limited by the number of games",
    };
    let first: Vec<&MetricEstimate> = diversity.effective_actions.iter().take(6).collect();
    html! {
        p {
            "Entropy of the first " (numbers::count(diversity.actions.into())) " chosen actions: " (numbers::measured(&diversity.entropy, 2))
            " nats; counting mirror images as one: " (numbers::measured(&diversity.entropy_reduced, 2)) " nats. Estimated from " (source) "."
        }
        @if !first.is_empty() {
            p { "Effective number of actions, one after the other: " @for (index, found) in first.iter().enumerate() { @if index > 0 { ", " } (numbers::plain(found.value, 1)) } "." }
        }
    }
}

//! The page of learning curves: how strong the networks of training runs were when, and what their games were like.

use maud::{Markup, html};

use super::layout::{self, Table};
use super::plot::{self, Frame, Plot, Scale, number_tick, percent_tick, short_tick};
use super::{numbers, page};
use crate::learning::{
    EarlierMatch, LearningRun, Measured, Round, RulesetMetrics, Standing, by_opponent, percent_of_men, standings,
};
use latrunculi_data::{MatchScore, StepReport, heads};
use latrunculi_stats::{Confidence, Interval};

/// Returns the learning curves of runs as HTML: one section for each run, and a table of all in front.
#[must_use]
pub fn learning_html(runs: &[LearningRun], version: &str) -> String {
    let title = match runs {
        [run] => format!("How {} learnt {}", run.name, run.subject()),
        _ => "Learning curves".to_owned(),
    };
    let head = html! {
        p.kicker { "Latrunculi: learning by self-play" }
        h1 { (title) }
        p.lead {
            (runs.len()) @if runs.len() == 1 { " network" } @else { " networks" }
            " learnt from games against " @if runs.len() == 1 { "itself" } @else { "themselves" }
            ", the first of them played by alpha-beta search where a teacher is named. The strength at each moment is the score of matches against "
            @if runs.iter().all(has_one_opponent) { "one opponent that stayed the same." }
            @else { "an opponent that was changed within a run: only matches on the same terms are joined to one curve." }
        }
        nav aria-label="Contents" {
            ul {
                li { a href="#results" { "Results" } }
                @for (index, run) in runs.iter().enumerate() { li { a href=(format!("#run-{index}")) { (run.name) } } }
                li { a href="#reading" { "How to read this" } }
            }
        }
    };
    let main = html! {
        (layout::section("results", "Results", results(runs)))
        @for (index, run) in runs.iter().enumerate() { (section(index, run)) }
        (reading())
    };
    page(&title, version, "The numbers of the matches are in learning.csv beside this file.", &head, &main)
}

fn results(runs: &[LearningRun]) -> Table<'_, (usize, &LearningRun, Vec<Measured>)> {
    let caption = html! { "The score of each network against its last opponent, with its 95 % interval: in the first match on these terms, and in the last; with several rulesets the mean over those measured until then. Different opponents and rulesets cannot be compared." };
    let score =
        |run: &LearningRun, measured: Option<&&Measured>, standing: Option<&Standing>| match (measured, standing) {
            (Some(_), Some(standing)) if run.rulesets.len() > 1 => {
                let worst = html! { "(worst " (numbers::percent(standing.worst)) " of " (standing.rulesets) ")," };
                (
                    Some(standing.mean),
                    html! { (numbers::percent(standing.mean)) " " span.i { (worst) } " " (minute(standing.minutes)) },
                )
            }
            (Some(measured), _) => (Some(measured.verdict.result.score), score(measured)),
            _ => (None, html! { "not measured" }),
        };
    let rows = runs.iter().enumerate().map(|(index, run)| (index, run, run.measured()));
    Table::new("Table of runs", caption, rows)
        .class("cards sortable dense")
        .row_head("Run", |(index, run, _)| html! { a href=(format!("#run-{index}")) { (run.name) } })
        .column("Ruleset", |(_, run, _)| html! { (run.subject()) })
        .column("Network", |(_, run, _)| html! { (run.network) })
        .sorted("Minutes", |(_, run, _)| (Some(run.minutes()), numbers::plain(run.minutes(), 1)))
        .sorted("Games", |(_, run, _)| (Some(run.games()), numbers::count(run.games())))
        .column("Against", |(_, _, all)| {
            numbers::or_dash(all.last(), |last| html! { code { (last.verdict.opponent) } })
        })
        .sorted("First measured", move |(_, run, all)| {
            score(run, of_last_opponent(all).first(), standings(all).first())
        })
        .sorted("Last measured", move |(_, run, all)| score(run, of_last_opponent(all).last(), standings(all).last()))
}

/// A score with its interval and the minute it was found in.
fn score(measured: &Measured) -> Markup {
    html! {
        (numbers::percent(measured.verdict.result.score)) " "
        span.i { "(" (numbers::percent_interval(interval(&measured.verdict.result))) ")," } " " (minute(measured.minutes))
    }
}

fn minute(minutes: f64) -> Markup {
    html! { span.i { "minute " (numbers::plain(minutes, 1)) } }
}

/// Returns the matches on the terms of the last one, in order.
fn of_last_opponent(measured: &[Measured]) -> Vec<&Measured> {
    measured.iter().filter(|one| measured.last().is_some_and(|last| one.is_comparable(last))).collect()
}

fn interval(result: &MatchScore) -> Interval {
    Interval { lower: result.lower, upper: result.upper }
}

fn section(index: usize, run: &LearningRun) -> Markup {
    let measured = run.measured();
    let content = html! {
        p {
            (run.network) ", " (numbers::count(u64::from(run.simulations))) " simulations a decision in self-play; "
            (numbers::count(run.games())) " games in " (numbers::plain(run.minutes(), 1)) " minutes."
            @if run.result.is_none() { " The run is not finished." }
        }
        div.plots {
            @if run.rulesets.len() > 1 { (standings_plot(run, &measured)) } @else {
                (strength(run, None, &measured))
                (margin(run, &measured))
            }
            (games_plot(run))
            (losses(run))
        }
        @if run.rulesets.len() > 1 { (by_ruleset(run, &measured)) }
        @if !measured.is_empty() { (matches(run, &measured)) }
        details { summary { "Round by round" } (rounds(run)) }
    };
    layout::section(&format!("run-{index}"), format!("{}: {}", run.name, run.subject()), content)
}

/// A plot under its name, or nothing where there is nothing to draw.
fn figure<Name: AsRef<str>>(caption: &str, names: &[Name], drawn: Option<Markup>) -> Markup {
    html! {
        @if let Some(drawn) = drawn {
            figure {
                figcaption { (caption) }
                @if names.len() > 1 { (plot::legend(names)) }
                (drawn)
            }
        }
    }
}

fn minutes_scale(run: &LearningRun, across: (f64, f64)) -> Scale {
    Scale::linear((0.0, run.minutes().max(1e-3)), across)
}

/// Returns whether all matches of a run were against one opponent, with one number of simulations.
fn has_one_opponent(run: &LearningRun) -> bool {
    let measured = run.measured();
    measured.iter().all(|one| one.is_comparable(&measured[0]))
}

/// Mean and worst score over the rulesets, by time.
fn standings_plot(run: &LearningRun, measured: &[Measured]) -> Markup {
    let standings = standings(measured);
    let line = |look: fn(&Standing) -> f64| standings.iter().map(|one| (one.minutes, look(one))).collect::<Vec<_>>();
    let title = format!("Mean and worst score of {} by minutes", run.name);
    figure(
        "Score over the rulesets measured until then, the last of each",
        &["mean", "worst"],
        by_minutes(run, &title, (0.0, 1.0), percent_tick, &[line(|one| one.mean), line(|one| one.worst)]),
    )
}

/// A small curve for each ruleset that was measured, and a table of all.
fn by_ruleset(run: &LearningRun, measured: &[Measured]) -> Markup {
    let of = |ruleset: &str| measured.iter().filter(|one| one.ruleset == ruleset).cloned().collect::<Vec<_>>();
    let last = |ruleset: &str| measured.iter().rfind(|one| one.ruleset == ruleset);
    let games = |ruleset: &str| run.rounds.iter().rev().find_map(|round| round.games_of(ruleset).copied());
    let samples = |ruleset: &str| {
        run.rounds.iter().filter_map(|round| round.games_of(ruleset)).map(|one| one.samples).sum::<u64>()
    };
    let finite_elo = |measured: &Measured| {
        let elo = measured.elo?;
        [elo.value, elo.interval.lower, elo.interval.upper].into_iter().find(|end| end.is_finite())
    };
    let caption = html! {
        "The rulesets: the last match in each, all its samples, and its games of the last generation that began evenly and have samples."
        @if measured.iter().any(|one| one.is_elo_held) { (ELO_HELD) }
    };
    let table = Table::new("Rulesets", caption, &run.rulesets)
        .class("sortable dense")
        .row_head("Ruleset", |ruleset| html! { (ruleset) })
        .styled("text")
        .sorted("Score", |ruleset| {
            let last = last(ruleset);
            let shown = numbers::or_dash(last, |last| {
                numbers::percent_in(last.verdict.result.score, interval(&last.verdict.result))
            });
            (last.map(|last| last.verdict.result.score), shown)
        })
        .column("Minute", |ruleset| numbers::or_dash(last(ruleset), |last| numbers::plain(last.minutes, 1)))
        .sorted("Samples", |ruleset| (Some(samples(ruleset)), numbers::count(samples(ruleset))))
        .column("Actions", |ruleset| numbers::or_dash(games(ruleset).and_then(|games| games.actions_mean), actions))
        .column("Drawn", |ruleset| numbers::or_dash(games(ruleset).and_then(|games| games.draw_rate), numbers::percent))
        .column("First player", |ruleset| {
            numbers::or_dash(games(ruleset).and_then(|games| games.first_player_score), numbers::percent)
        })
        .sorted("Elo", |ruleset| {
            (last(ruleset).and_then(finite_elo), numbers::or_dash(last(ruleset), elo_with_interval))
        })
        .only_if(measured.iter().any(|one| one.elo.is_some()));
    html! {
        div.plots { @for ruleset in &run.rulesets { (strength(run, Some(ruleset), &of(ruleset))) } }
        (table)
    }
}

struct Dot {
    minutes: f64,
    value: f64,
    ends: (f64, f64),
    told: String,
}

/// The score against the opponent, by time; a line for each opponent. A plot of one of several rulesets is named after it.
fn strength(run: &LearningRun, ruleset: Option<&str>, measured: &[Measured]) -> Markup {
    let parts = by_opponent(measured);
    let title = match ruleset {
        Some(ruleset) => format!("Score of {} in {ruleset} by minutes", run.name),
        None => format!("Score of {} by minutes", run.name),
    };
    let dot = |measured: &&Measured| {
        let MatchScore { score, lower, upper, .. } = measured.verdict.result;
        let told = format!("minute {}: {} %", numbers::text(measured.minutes, 1), numbers::text(100.0 * score, 1));
        let told = if parts.len() == 1 { told } else { format!("{told} against {}", measured.verdict.terms()) };
        Dot { minutes: measured.minutes, value: score, ends: (lower, upper), told }
    };
    let dots: Vec<Vec<Dot>> = parts.iter().map(|part| part.iter().map(dot).collect()).collect();
    let names: Vec<String> = parts.iter().map(|part| part[0].verdict.terms()).collect();
    let caption = match (ruleset, names.as_slice()) {
        (Some(ruleset), _) => ruleset.to_owned(),
        (None, [name]) => format!("Score against {name}"),
        _ => "Score by opponent".to_owned(),
    };
    curves(run, (&caption, &title), &names, &dots, ((0.0, 1.0), 0.5))
}

/// The material margin at the end of the matches, by time; a line for each opponent.
fn margin(run: &LearningRun, measured: &[Measured]) -> Markup {
    let parts = by_opponent(measured);
    let dot = |measured: &&Measured| {
        let margin = measured.verdict.margin?;
        let Interval { lower, upper } = measured.margin_interval()?;
        let told = format!("minute {}: {}", numbers::text(measured.minutes, 1), percent_of_men(&margin));
        Some(Dot { minutes: measured.minutes, value: margin.value, ends: (lower, upper), told })
    };
    let dots: Vec<Vec<Dot>> = parts.iter().map(|part| part.iter().filter_map(dot).collect()).collect();
    let farthest = dots.iter().flatten().flat_map(|dot| [dot.ends.0, dot.ends.1]);
    let most = farthest.fold(0.1, |most: f64, end| most.max(end.abs()));
    let names: Vec<String> = parts.iter().map(|part| part[0].verdict.terms()).collect();
    let caption = "Material ahead of the opponent at the end, in shares of a side’s men";
    let title = format!("Margin of {} by minutes", run.name);
    curves(run, (caption, &title), &names, &dots, (plot::domain([-most, most], 0.05), 0.0))
}

/// Draws shares by time, a line for each name; `y` is where they lie, and what is even.
fn curves(
    run: &LearningRun,
    (caption, title): (&str, &str),
    names: &[String],
    parts: &[Vec<Dot>],
    (y, even): ((f64, f64), f64),
) -> Markup {
    let description = parts.iter().flatten().map(|dot| dot.told.as_str()).collect::<Vec<_>>().join("; ");
    let plot = Plot { title, description: &description, height: 200.0, x_label: "minutes" };
    let frame = Frame { x: minutes_scale(run, plot.across()), y: Scale::linear(y, plot.up()) };
    let drawn = parts.iter().any(|part| !part.is_empty()).then(|| {
        let marks = html! {
            line.reference x1=(plot.across().0) x2=(plot.across().1) y1=(plot::place(frame.y.at(even))) y2=(plot::place(frame.y.at(even))) {}
            @for (index, part) in parts.iter().enumerate() {
                (plot::line(&frame, plot::series_class(index), &part.iter().map(|dot| (dot.minutes, dot.value)).collect::<Vec<_>>()))
                @for dot in part { (plot::point(&frame, index, dot.minutes, dot.value, dot.ends, &dot.told)) }
            }
        };
        plot.draw(&frame, None, number_tick, percent_tick, &marks)
    });
    figure(caption, names, drawn)
}

/// Draws one line for each way of looking at a round.
fn by_minutes(
    run: &LearningRun,
    title: &str,
    y: (f64, f64),
    y_text: impl Fn(f64) -> String,
    series: &[Vec<(f64, f64)>],
) -> Option<Markup> {
    if series.iter().all(Vec::is_empty) {
        return None;
    }
    let ends = series.iter().filter_map(|points| Some((points.first()?.1, points.last()?.1)));
    let description = ends
        .map(|(first, last)| format!("from {} to {}", numbers::text(first, 3), numbers::text(last, 3)))
        .collect::<Vec<_>>()
        .join("; ");
    let plot = Plot { title, description: &description, height: 200.0, x_label: "minutes" };
    let frame = Frame { x: minutes_scale(run, plot.across()), y: Scale::linear(y, plot.up()) };
    let marks = html! {
        @for (index, points) in series.iter().enumerate() {
            (plot::line(&frame, plot::series_class(index), points))
            @if let Some(&(x, value)) = points.last() {
                g class=(plot::series_class(index)) { (plot::mark(index, frame.x.at(x), frame.y.at(value))) }
            }
        }
    };
    Some(plot.draw(&frame, None, number_tick, y_text, &marks))
}

/// Returns what `look` sees in each round, by minutes.
fn points<'a>(rounds: impl Iterator<Item = &'a Round>, look: impl Fn(&Round) -> Option<f64>) -> Vec<(f64, f64)> {
    rounds.filter_map(|round| Some((round.elapsed_secs / 60.0, look(round)?))).collect()
}

/// How the games ended, by time.
fn games_plot(run: &LearningRun) -> Markup {
    let own = || run.played().filter(|round| round.teacher != Some(true));
    let shares = [
        points(own(), |round| round.all_games()?.first_player_score),
        points(own(), |round| round.all_games()?.draw_rate),
    ];
    let title = format!("Games of {} by minutes", run.name);
    let lengths = [points(own(), |round| round.all_games()?.actions_mean)];
    let longest = lengths[0].iter().map(|point| point.1).fold(0.0, f64::max);
    let length_title = format!("Length of the games of {} by minutes", run.name);
    html! {
        (figure("Its own games: the first player’s score, and how many are drawn", &["first player", "drawn"], by_minutes(run, &title, (0.0, 1.0), percent_tick, &shares)))
        (figure("Its own games: mean number of actions", &["actions"], by_minutes(run, &length_title, (0.0, longest * 1.1), short_tick, &lengths)))
    }
}

fn losses(run: &LearningRun) -> Markup {
    let taught = || run.rounds.iter().filter(|round| round.training.steps > 0);
    let series = [
        points(taught(), |round| {
            Some((round.training.losses.heads[heads::POLICY] - round.training.losses.target_entropy).max(0.0))
        }),
        points(taught(), |round| Some(round.training.losses.heads[heads::VALUE])),
    ];
    let most = series.iter().flatten().map(|point| point.1).fold(0.0, f64::max);
    let title = format!("Losses of {} by minutes", run.name);
    figure(
        "Losses in nats: the policy’s divergence from its target, and the value’s cross-entropy",
        &["policy", "value"],
        by_minutes(run, &title, (0.0, most * 1.1), number_tick, &series),
    )
}

fn matches<'a>(run: &LearningRun, measured: &'a [Measured]) -> Table<'a, &'a Measured> {
    let has_earlier = measured.iter().any(|one| one.verdict.earlier.is_some());
    let caption = html! {
        "The matches. What was played and trained until then comes first."
        @if has_earlier { " “Against itself” is the score against the network that the run had at the generation named behind it. Elo is from all matches in the ruleset together; the first opponent has 0. Where every point went one way, it is bounded from one side, with 95 % confidence." }
        @if measured.iter().any(|one| one.is_elo_held) { (ELO_HELD) }
    };
    Table::new("Matches", caption, measured)
        .row_head("Minute", |measured| numbers::plain(measured.minutes, 1))
        .column("Generations", |measured| numbers::count(measured.generations))
        .column("Games", |measured| numbers::count(measured.games))
        .column("Steps", |measured| numbers::count(measured.steps))
        .text("Ruleset", |measured| html! { (measured.ruleset) })
        .only_if(run.rulesets.len() > 1)
        .text("Against", |measured| html! { code { (measured.verdict.opponent) } " with " (measured.verdict.simulations) " simulations" })
        .only_if(!has_one_opponent(run))
        .column("Score", |measured| numbers::percent_in(measured.verdict.result.score, interval(&measured.verdict.result)))
        .column("Won", |measured| numbers::count(measured.verdict.result.wins))
        .column("Drawn", |measured| numbers::count(measured.verdict.result.draws))
        .column("Lost", |measured| numbers::count(measured.verdict.result.losses))
        .column("Margin", |measured| {
            numbers::or_dash(measured.verdict.margin, |margin| {
                numbers::points_in(margin.value, margin.interval_of_margin(Confidence::NINETY_FIVE))
            })
        })
        .column("Against itself", |measured| numbers::or_dash(measured.verdict.earlier.as_ref(), against_itself))
        .only_if(has_earlier)
        .column("Elo", |measured| elo_with_interval(measured))
        .only_if(has_earlier)
}

fn against_itself(EarlierMatch { generation, result }: &EarlierMatch) -> Markup {
    html! { (numbers::percent(result.score)) " " span.i { "(" (numbers::percent_interval(interval(result))) "), " (generation) } }
}

/// The Elo of a network with its interval and, where a prior holds it, an asterisk, which [`ELO_HELD`] explains.
fn elo_with_interval(measured: &Measured) -> Markup {
    numbers::or_dash(measured.elo, |elo| {
        html! {
            @match elo.bound_text(0) {
                Some(bound) => (bound.replace('-', "−")),
                None => (numbers::signed(elo.value, 0)),
            }
            @if measured.is_elo_held { "*" }
            @if elo.value.is_finite() { " " span.i { "(" (numbers::interval(elo.interval, 0)) ")" } }
        }
    })
}

/// What the asterisk at an Elo means.
const ELO_HELD: &str = " * The matches give no finite Elo; a weak prior holds these numbers.";

fn actions(mean: f64) -> Markup {
    numbers::plain(mean, 1)
}

fn rounds(run: &LearningRun) -> Table<'_, &Round> {
    let of_games = |round: &Round, look: fn(&RulesetMetrics) -> Option<f64>| round.all_games().and_then(look);
    let loss = |round: &Round, look: fn(&StepReport) -> f64| {
        numbers::or_dash((round.training.steps > 0).then(|| look(&round.training.losses)), |loss| {
            numbers::plain(loss, 3)
        })
    };
    let player = |is_teacher| html! { @if is_teacher { "alpha-beta" } @else { "network" } };
    Table::new("Rounds", html! {}, &run.rounds)
        .class("dense")
        .row_head("Generation", |round| numbers::count(round.generation))
        .column("Minute", |round| numbers::plain(round.elapsed_secs / 60.0, 1))
        .column("Games by", move |round| numbers::or_dash(round.teacher, player))
        .column("Games", |round| numbers::or_dash(round.all_games(), |all| numbers::count(all.games)))
        .column("Actions", move |round| numbers::or_dash(of_games(round, |all| all.actions_mean), actions))
        .column("Drawn", move |round| numbers::or_dash(of_games(round, |all| all.draw_rate), numbers::percent))
        .column("First player", move |round| {
            numbers::or_dash(of_games(round, |all| all.first_player_score), numbers::percent)
        })
        .column("Steps", |round| numbers::count(round.training.steps))
        .column("Policy loss", move |round| loss(round, |losses| losses.heads[heads::POLICY]))
        .column("Of it the target’s", move |round| loss(round, |losses| losses.target_entropy))
        .column("Value loss", move |round| loss(round, |losses| losses.heads[heads::VALUE]))
}

fn reading() -> Markup {
    let terms = [
        (
            "Score",
            "The network’s points in a match as a share of all games: a win counts one, a draw one half. Every opening is played twice with seats swapped. 50 % is as strong as the opponent.",
        ),
        (
            "Interval",
            "The range that holds the true score in 95 of 100 such matches; the games of one opening count together.",
        ),
        (
            "Margin",
            "How many men the network had more than its opponent when the games ended, in hundredths of the men that a side begins with. It tells players apart where nearly every game is drawn.",
        ),
        ("Minute", "Time since the run began, breaks and the final match left out."),
        (
            "Generation",
            "Games played by one state of the network; after each it learns from what lies in the replay window. Games by alpha-beta are the teacher’s.",
        ),
        ("First player", "The mean score of whoever began, in games of the network against itself."),
        (
            "Policy",
            "What the network would play, against what its search found: how many nats the one is off the other. Zero would be a search that changes nothing.",
        ),
        ("Value", "How far off the expected result is, win, draw and loss, in nats; ln 3 = 1.1 is knowing nothing."),
    ];
    let terms = html! { dl.terms { @for (term, meaning) in terms { dt { (term) } dd { (meaning) } } } };
    layout::section("reading", "How to read this", terms)
}

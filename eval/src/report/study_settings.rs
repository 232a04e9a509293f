//! The settings of the study and the command that reproduces it.

use maud::{Markup, html};

use super::layout::Section;
use super::{Study, numbers, words};

pub(super) fn section(study: &Study<'_>) -> Section {
    let summary = study.summary;
    let settings = &summary.settings;
    let yes = |is_so: bool| if is_so { "yes" } else { "no" };
    let list = |items: &[u32]| items.iter().map(u32::to_string).collect::<Vec<_>>().join(", ");
    let opening = &settings.opening;
    let usual =
        if opening.policy.is_some() { ["20", "20, or all stones if more"] } else { ["6", "8, or all stones if fewer"] };
    let length = |actions: Option<usize>, usual: &str| actions.map_or(usual.to_owned(), |actions| actions.to_string());
    let mut rows: Vec<(&str, Markup)> = vec![
        ("Program", html! { "latrunculi " (summary.program_version) ", format of the summary " (summary.format) }),
        ("Seed", html! { (settings.seed) }),
        ("Requested rulesets", html! { (settings.rulesets.join(", ")) }),
        (
            "Players",
            html! { ul { @for agent in &summary.agents { li { code { (agent.agent) } " – " (words::agent(agent)) } } } },
        ),
        ("Requested width", html! { "± " (numbers::points_width(settings.half_width)) " points" }),
        ("Margin of balance", html! { "± " (numbers::points_width(settings.margin)) " points" }),
        ("Balance needs captures in", html! { (numbers::percent(settings.min_contact)) " of the games" }),
        ("Confidence", html! { (study.confidence()) }),
        (
            "Games of a ruleset and player",
            html! { (numbers::count(settings.min_games)) " to " (numbers::count(settings.max_games)) ", checked every " (numbers::count(settings.batch)) },
        ),
        (
            "Opening actions",
            html! {
                "from an array " (length(opening.array, usual[0])) ", with placement " (length(opening.placement, usual[1]))
                @for (ruleset, actions) in &opening.by_ruleset { ", " (ruleset) " " (actions) }
                @if let Some(second) = opening.second { "; for comparison " (second) }
            },
        ),
        (
            "Drawn from",
            html! {
                @match &opening.policy {
                    Some(agent) => { "the policy of " code { (agent) } ", temperature " (opening.temperature) }
                    None => "legal actions, uniformly",
                }
            },
        ),
        ("Metrics of the games", html! { (yes(settings.metrics)) }),
        (
            "Handicaps in men",
            html! { @if settings.compensation.is_empty() { "no" } @else { (list(&settings.compensation)) } },
        ),
        (
            "Pie rule",
            html! {
                @if settings.pie { "up to " (settings.pie_turns) " first turns, " (numbers::count(settings.pie_games)) " games each" } @else { "no" }
            },
        ),
        ("Placement and movement separately", html! { (yes(settings.phases)) }),
    ];
    if !settings.sweep.is_empty() {
        rows.push(("Changed rules", html! { ul { @for (parameter, values) in &settings.sweep { li { code { (parameter) " = " (values.join(", ")) } } } } }));
    }
    let content = html! {
        p { "The same command with the same version of the program gives exactly the same results on any machine and any number of threads (networks: on the same kind of processor):" }
        pre.command tabindex="0" { code { (summary.command) } }
        p { "DIR is the folder of the study. It also holds every game; provenance.jsonl records the machines and the time used." }
        dl.facts { @for (name, value) in rows { dt { (name) } dd { (value) } } }
    };
    Section::new("settings", "Settings", "Settings", content)
}

//! The report of a balance study: one self-contained HTML file.
//!
//! It is made from the summary alone, so it can be made again without playing; every number on it stands in
//! `summary.json` too. No script is needed to read it, nothing is fetched, and all colours are CSS variables with
//! values for light and dark.

mod board;
mod comparison;
mod definitions;
mod extras;
mod figure;
mod games;
mod ladders;
mod layout;
mod learning;
mod numbers;
mod overview;
mod plot;
mod remedies;
mod rules;
mod ruleset;
mod study_settings;
mod words;

use latrunculi_engine::Ruleset;
use latrunculi_engine::record::ruleset_fingerprint;
use maud::{DOCTYPE, Markup, PreEscaped, html};

pub use board::position_svg;
pub use figure::first_player_svg;
pub use learning::learning_html;
pub use rules::{capture_in_brief, rules_in_words};

use crate::study::StudySummary;
use crate::study::summary::{AgentSummary, CellSummary, RulesetSummary};
use layout::Section;

const STYLE: &str = include_str!("report/style.css");
const SCRIPT: &str = include_str!("report/script.js");

/// Returns the report as HTML.
///
/// `rulesets` are those of the study, derived ones included; where one is missing, or is not the one that was
/// played, its section shows neither board nor rules.
#[must_use]
pub fn html(summary: &StudySummary, rulesets: &[Ruleset]) -> String {
    let study = Study { summary, rulesets };
    let title = &summary.settings.title;
    let by_ruleset = html! { @for ruleset in &summary.rulesets { (ruleset::section(&study, ruleset)) } };
    let sections: Vec<Section> = [
        Some(overview::section(&study)),
        ladders::budgets(&study),
        ladders::agreements(&study),
        remedies::section(&study),
        extras::sweeps(&study),
        comparison::section(&study),
        Some(Section::new("rulesets", "Ruleset by ruleset", "Ruleset by ruleset", by_ruleset)),
        Some(definitions::section(&study)),
        Some(study_settings::section(&study)),
    ]
    .into_iter()
    .flatten()
    .collect();
    let head = html! {
        p.kicker { "Latrunculi: the first player’s advantage" }
        h1 { (title) }
        (overview::lead(&study))
        nav aria-label="Contents" {
            ul { @for section in &sections { li { a href=(format!("#{}", section.id)) { (section.name) } } } }
        }
    };
    let main = html! { @for section in sections { (section.markup) } };
    page(
        title,
        &summary.program_version,
        "The same numbers are in summary.json and balance.csv beside this file.",
        &head,
        &main,
    )
}

/// Puts a page together, whose main part begins with a section `results`; `files` says where else the numbers are.
fn page(title: &str, version: &str, files: &str, head: &Markup, main: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content=(format!("latrunculi {}", version));
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#results" { "To the results" }
                header { (head) }
                main { (main) }
                footer { p { "Made by latrunculi " (version) ". " (files) } }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

struct Study<'a> {
    summary: &'a StudySummary,
    rulesets: &'a [Ruleset],
}

impl<'a> Study<'a> {
    fn asked(&self) -> impl Iterator<Item = &'a RulesetSummary> + use<'a> {
        self.summary.rulesets.iter().filter(|ruleset| ruleset.derived.is_none())
    }

    fn headline_agent(&self) -> Option<&'a AgentSummary> {
        self.summary.agents.get(self.summary.headline_agent)
    }

    /// Returns the headline agent's games of a ruleset.
    fn headline(&self, ruleset: &'a RulesetSummary) -> Option<&'a CellSummary> {
        ruleset.cells.get(self.summary.headline_agent)
    }

    /// Returns the rules themselves, if they are those that were played.
    fn rules_of(&self, ruleset: &RulesetSummary) -> Option<&'a Ruleset> {
        self.rulesets.iter().find(|rules| rules.id == ruleset.name && ruleset_fingerprint(rules) == ruleset.fingerprint)
    }

    /// Returns the confidence of the intervals in percent, as text.
    fn confidence(&self) -> String {
        plot::number_tick(100.0 * self.summary.settings.confidence) + " %"
    }
}

/// Returns the name of a ruleset's section, fit for an address.
fn anchor(ruleset: &str) -> String {
    let letters = ruleset.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' });
    std::iter::once('r').chain(std::iter::once('-')).chain(letters).collect()
}

fn link(ruleset: &RulesetSummary) -> Markup {
    html! { a href=(format!("#{}", anchor(&ruleset.name))) { (ruleset.name) } }
}

/// The label of what was looked at without a plan to test it.
fn exploratory() -> Markup {
    html! { span.badge title="described, not tested: may be due to chance" { "exploratory" } }
}

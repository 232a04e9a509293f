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
pub use rules::rules_in_words;

use crate::study::StudySummary;
use crate::study::summary::{AgentSummary, CellSummary, RulesetSummary};

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
    let head = html! {
        p.kicker { "Latrunculi: the first player’s advantage" }
        h1 { (title) }
        (overview::lead(&study))
        (contents(&study))
    };
    let main = html! {
        (overview::sections(&study))
        (ladders::sections(&study))
        (remedies::section(&study))
        (extras::sweeps(&study))
        (comparison::section(&study))
        (layout::section("rulesets", "Ruleset by ruleset", html! { @for ruleset in &summary.rulesets { (ruleset::section(&study, ruleset)) } }))
        (definitions::section(&study))
        (study_settings::section(&study))
    };
    let files = "The same numbers are in summary.json and balance.csv beside this file.";
    page(&Page { title, version: &summary.program_version, files }, &head, &main)
}

struct Page<'a> {
    title: &'a str,
    version: &'a str,
    files: &'a str,
}

/// Puts a page together. Its main part begins with a section `results`.
fn page(about: &Page<'_>, head: &Markup, main: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content=(format!("latrunculi {}", about.version));
                title { (about.title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#results" { "To the results" }
                header { (head) }
                main { (main) }
                footer { p { "Made by latrunculi " (about.version) ". " (about.files) } }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string()
}

fn contents(study: &Study<'_>) -> Markup {
    let has_metrics =
        study.summary.rulesets.iter().any(|ruleset| study.headline(ruleset).is_some_and(|cell| cell.metrics.is_some()));
    let has_sweeps = study.summary.rulesets.iter().any(|ruleset| ruleset.derived.is_some());
    let entries = [
        (true, "results", "Results"),
        (ladders::has_ladders(study), "ladders", "Search budgets"),
        (ladders::has_agreements(study), "agreement", "Two kinds of players"),
        (remedies::has_remedies(study), "remedies", "Fairness remedies"),
        (has_sweeps, "sweeps", "One changed rule"),
        (has_metrics, "games", "Metrics of the games"),
        (true, "rulesets", "Ruleset by ruleset"),
        (true, "reading", "How to read this"),
        (true, "settings", "Settings"),
    ];
    html! {
        nav aria-label="Contents" {
            ul { @for (is_there, id, name) in entries { @if is_there { li { a href=(format!("#{id}")) { (name) } } } } }
        }
    }
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

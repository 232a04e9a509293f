//! Agents while they think, and what they found.

use std::io::IsTerminal;
use std::time::Duration;

use anyhow::Context;
use indicatif::ProgressBar;
use latrunculi_engine::GameState;
use latrunculi_eval::opinion::{score_text, variation_texts};
use latrunculi_eval::{Agent, Choice, Number, SearchOptions};
use latrunculi_search::alphabeta::actions_to_end;

use crate::interrupt::Interrupt;

/// Lets an agent think, which Ctrl-C ends; on a terminal, shows what it has found so far.
pub(super) fn think(
    agent: &mut dyn Agent,
    name: &str,
    state: &GameState,
    interrupt: &Interrupt,
) -> anyhow::Result<(Choice, bool)> {
    let is_watched = std::io::stderr().is_terminal() && std::io::stdout().is_terminal();
    let spinner = if is_watched { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
    spinner.set_message(format!("{name} thinks"));
    spinner.enable_steady_tick(Duration::from_millis(200));
    let mut report = |choice: &Choice| spinner.set_message(format!("{name} thinks: {}", opinion(state, choice)));
    let mut options = SearchOptions { stop: interrupt.stop(), ..SearchOptions::reporting(&mut report) };
    let (choice, is_stopped) = interrupt.during(|| agent.choose_with(state, &mut options));
    spinner.finish_and_clear();
    let choice = choice.with_context(|| format!("agent {name}"))?;
    Ok((choice, is_stopped))
}

/// Returns what an agent thinks, in short: the action, what it is worth, what is expected to follow.
pub(super) fn opinion(state: &GameState, choice: &Choice) -> String {
    /// How many actions of what is expected fit beside the rest.
    const VARIATION_MAX: usize = 5;
    let mut text = state.action_text(choice.action);
    if let Some(score) = choice.score {
        let unit = if actions_to_end(score).is_some() { "" } else { " men" };
        text.push_str(&format!(", {}{unit}", score_text(score)));
    } else if let Some(value) = choice.value {
        text.push_str(&format!(", value {:+.2}", Number(value.into())));
    }
    let variation = variation_texts(state, &choice.principal_variation);
    if variation.len() > 1 {
        let shown = &variation[1..variation.len().min(VARIATION_MAX + 1)];
        text.push_str(&format!(", then {}", shown.join(" ")));
    }
    text
}

//! What is printed about a run.

use std::collections::BTreeMap;

use latrunculi_data::{StepReport, heads};
use latrunculi_eval::learning::{GameMetrics, RulesetMetrics, RunMatch, TrainingMetrics, percent_of_men};
use latrunculi_train::{Event, TrainConfig};
use serde_json::{Value, json};

use super::rounds::{RoundTable, legend};
use crate::quoted;

/// Writes the events of a run as lines for people.
#[derive(Debug)]
pub struct RunText {
    table: RoundTable,
    width: Option<usize>,
    /// The command that plays against the run's network.
    play: String,
}

impl RunText {
    /// Begins with lines of at most `width` letters; `None` where there is no limit.
    #[must_use]
    pub fn new(width: Option<usize>) -> RunText {
        RunText { table: RoundTable::new(width), width, play: String::new() }
    }

    /// Returns the lines that report an event.
    #[must_use]
    pub fn lines(&mut self, event: &Event<'_>) -> Vec<String> {
        match event {
            Event::RoundingRefused { generation, difference } => {
                vec![format!(
                    "generation {generation}: f32 in play, because the answers in fewer bits differ: {difference}"
                )]
            }
            Event::MetricsMissing { path } => {
                vec![format!("{} is gone: the learning curve begins with the next round", path.display())]
            }
            Event::Started { folder, config, parameters, device, precision, done } => {
                let ruleset = config.rulesets.names().into_iter().next().unwrap_or_default();
                self.play = format!("latrunculi play {ruleset} --second net:{}", quoted(folder));
                let mut lines = vec![
                    format!("run {}: {}", folder.display(), config.rulesets),
                    format!("{} ({parameters} weights); {device}, {precision} in self-play", network(config)),
                ];
                if done.generations > 0 {
                    lines.push(format!(
                        "continued after {} generations, {} games, {} samples",
                        done.generations, done.games, done.samples
                    ));
                }
                lines.push(legend(self.width));
                lines
            }
            Event::RoundEnded { metrics, secs_left, .. } => self.table.lines(metrics, *secs_left),
            Event::FinalMatchEnded { done, all, ruleset, verdict } => {
                let [score, lower, upper] = verdict.result.percents();
                vec![format!("final match {done} of {all}, {ruleset}: {score:.1} % [{lower:.1}, {upper:.1}]")]
            }
            Event::Finished { done, steps, elapsed_secs, match_secs, verdicts, written } => {
                let mut lines = headline(verdicts);
                lines.push(format!("next: play against it with {}", self.play));
                lines.push(format!(
                    "finished: {} generations, {} games, {} samples, {steps} steps in {:.1} min",
                    done.generations,
                    done.games,
                    done.samples,
                    elapsed_secs / 60.0,
                ));
                if !verdicts.is_empty() {
                    lines.push(format!("final matches, {match_secs:.0} s:"));
                }
                lines.extend(scores(verdicts));
                lines.extend_from_slice(written);
                lines
            }
        }
    }
}

/// Returns an event as an object for programs; docs/FORMATS.md describes it. `None` for those that only people read.
#[must_use]
pub fn json(event: &Event<'_>) -> Option<Value> {
    Some(match event {
        Event::RoundingRefused { .. } | Event::MetricsMissing { .. } => return None,
        Event::Started { folder, config, parameters, device, precision, done } => json!({
            "event": "started",
            "run": folder.display().to_string(),
            "rulesets": config.rulesets.names(),
            "network": config.network,
            "weights": parameters,
            "device": device,
            "precision": precision,
            "generations": done.generations,
            "games": done.games,
            "samples": done.samples,
        }),
        Event::RoundEnded { metrics, secs_left, .. } => {
            let mut line = json!(metrics);
            line["event"] = json!("round");
            line["secs_left"] = json!(secs_left);
            line
        }
        Event::FinalMatchEnded { done, all, ruleset, verdict } => json!({
            "event": "final_match",
            "done": done,
            "all": all,
            "ruleset": ruleset,
            "verdict": verdict,
        }),
        Event::Finished { done, steps, elapsed_secs, match_secs, verdicts, written } => json!({
            "event": "finished",
            "generations": done.generations,
            "games": done.games,
            "samples": done.samples,
            "steps": steps,
            "elapsed_secs": elapsed_secs,
            "match_secs": match_secs,
            "verdicts": verdicts,
            "written": written,
        }),
    })
}

fn network(config: &TrainConfig) -> String {
    format!("network of {} blocks x {} channels", config.network.blocks, config.network.channels)
}

/// Says in one line in how many rulesets the network is stronger than its opponent; none without matches.
fn headline(verdicts: &BTreeMap<String, RunMatch>) -> Vec<String> {
    let Some(first) = verdicts.values().next() else { return Vec::new() };
    let count = |is_so: fn([f64; 3]) -> bool| verdicts.values().filter(|found| is_so(found.result.percents())).count();
    let (all, stronger, weaker) =
        (verdicts.len(), count(|[_, lower, _]| lower > 50.0), count(|[_, _, upper]| upper < 50.0));
    let said = match (all, stronger, weaker) {
        (1, 1, _) => "The network is stronger than".to_owned(),
        (1, _, 1) => "The network is weaker than".to_owned(),
        (1, ..) => "Too few games to say whether the network is stronger than".to_owned(),
        _ => {
            format!("In {stronger} of {all} rulesets the network is shown to be stronger, and in {weaker} weaker, than")
        }
    };
    vec![format!("{said} {}", first.terms())]
}

/// Returns the result of each match, with the ruleset where there are several.
fn scores(verdicts: &BTreeMap<String, RunMatch>) -> Vec<String> {
    let mut lines = Vec::new();
    for (ruleset, verdict) in verdicts {
        let place = if verdicts.len() > 1 { format!(" in {ruleset}") } else { String::new() };
        lines.push(format!("score{place} against {}:", verdict.terms()));
        lines.push(format!("  {} (95 % interval)", verdict.result));
        lines.extend(verdict.margin.as_ref().map(|margin| format!("  margin {}", percent_of_men(margin))));
    }
    lines
}

/// Returns a summary of games.
#[must_use]
pub fn games(games: &GameMetrics) -> String {
    let RulesetMetrics { games: all, games_counted: counted, .. } = games.all;
    let begun = format!("{all} games, {:.1}/s", games.games_per_sec);
    let (actions, first, draws) = (games.all.actions_mean, games.all.first_player_score, games.all.draw_rate);
    let (Some(actions), Some(first), Some(draws)) = (actions, first, draws) else {
        return format!("{begun}, none of them begun evenly and with samples");
    };
    let which = if counted == all { ",".to_owned() } else { format!("; {counted} begun evenly and with samples:") };
    let [first, draws] = [first, draws].map(|share| share * 100.0);
    format!("{begun}{which} {actions:.0} actions each, first player {first:.0} %, draws {draws:.0} %")
}

/// Returns a summary of training steps.
#[must_use]
pub fn steps(training: &TrainingMetrics) -> String {
    let StepReport { loss, heads, target_entropy, .. } = &training.losses;
    let (policy, value) = (heads[heads::POLICY], heads[heads::VALUE]);
    format!(
        "loss {loss:.3}: policy {policy:.3} (target {target_entropy:.3}), value {value:.3} · {:.0} samples/s",
        training.training_samples_per_sec
    )
}

//! Lines of text about a run.

use std::collections::BTreeMap;

use latrunculi_eval::learning::Verdict;
use latrunculi_train::config::TrainConfig;
use latrunculi_train::{Event, GameMetrics, RoundMetrics, TrainingMetrics};

/// Returns the lines that report an event.
#[must_use]
pub fn lines(event: &Event<'_>) -> Vec<String> {
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
            let network = &config.network;
            let mut lines = vec![format!(
                "run {} · {} · network {} blocks x {} channels, {parameters} weights · {device}, {precision} \
                 in self-play",
                folder.display(),
                config.rulesets,
                network.blocks,
                network.channels,
            )];
            if done.generations > 0 {
                lines.push(format!(
                    "continued after {} generations, {} games, {} samples",
                    done.generations, done.games, done.samples
                ));
            }
            lines
        }
        Event::RoundEnded { metrics, config, secs_left } => vec![round(metrics, config, *secs_left)],
        Event::Finished { done, steps, elapsed_secs, match_secs, verdicts, written } => {
            let mut lines = vec![format!(
                "finished: {} generations, {} games, {} samples, {steps} steps, {:.1} min; final matches {match_secs:.0} s",
                done.generations,
                done.games,
                done.samples,
                elapsed_secs / 60.0,
            )];
            lines.extend(scores(verdicts, verdicts.len() > 1).map(|score| format!("score {score}")));
            lines.extend_from_slice(written);
            lines
        }
    }
}

/// Returns the results of matches, with the rulesets where there are several.
fn scores(verdicts: &BTreeMap<String, Verdict>, has_several: bool) -> impl Iterator<Item = String> {
    verdicts.iter().map(move |(ruleset, verdict)| match has_several {
        true => format!("in {ruleset} against {verdict}"),
        false => format!("against {verdict}"),
    })
}

fn round(metrics: &RoundMetrics, config: &TrainConfig, secs_left: Option<f64>) -> String {
    let generation = metrics.generation;
    let name = match metrics.teacher {
        Some(true) => format!("generation {generation:>3} (bootstrap)"),
        Some(false) => format!("generation {generation:>3}"),
        None => "last training".to_owned(),
    };
    let mut parts = vec![name];
    parts.extend(metrics.games.as_ref().map(games));
    if metrics.training.steps > 0 {
        parts.push(steps(&metrics.training, config));
    }
    parts.push(format!("replay {:.0}k samples", metrics.window as f64 / 1e3));
    parts.extend(scores(&metrics.verdicts, config.rulesets.names().len() > 1));
    parts.extend(secs_left.map(|secs| format!("{:.1} min left", secs / 60.0)));
    parts.join(" · ")
}

/// Returns a summary of games.
#[must_use]
pub fn games(games: &GameMetrics) -> String {
    let mut text = format!(
        "{} games, {:.1}/s, {:.0} actions each, first player {:.0} %, draws {:.0} %",
        games.games,
        games.games_per_sec,
        games.actions_mean,
        games.first_player_score * 100.0,
        games.draw_rate * 100.0,
    );
    if games.resigned_share > 0.0 {
        text += &format!(
            ", decided early {:.0} % ({:.1} % of them wrongly)",
            games.resigned_share * 100.0,
            games.resigned_wrongly * 100.0
        );
    }
    if games.evaluations_per_sec > 0.0 {
        text += &format!(
            " · {:.1}k evaluations/s, batches {:.0} % full, network idle {:.0} %",
            games.evaluations_per_sec / 1e3,
            games.batch_fill * 100.0,
            (1.0 - games.evaluator_share) * 100.0,
        );
    }
    text
}

/// Returns a summary of training steps, with the losses of the heads that have a weight.
#[must_use]
pub fn steps(training: &TrainingMetrics, config: &TrainConfig) -> String {
    let losses = &training.losses;
    let mut text = format!(
        "{} steps, {:.0} s, loss {:.3} = policy {:.3} (target {:.3}) value {:.3} margin {:.4}",
        training.steps,
        training.train_secs,
        losses.loss,
        losses.policy,
        losses.target_entropy,
        losses.value,
        losses.margin,
    );
    let weights = &config.training;
    for (name, weight, loss) in [
        ("survival", weights.survival_weight, losses.survival),
        ("opponent policy", weights.opponent_policy_weight, losses.opponent_policy),
        ("moves left", weights.moves_left_weight, losses.moves_left),
    ] {
        if weight > 0.0 {
            text += &format!(" {name} {loss:.3}");
        }
    }
    text + &format!(", entropy {:.2}", losses.policy_entropy)
}

//! What is said of a round: one line of metrics for programs, one line of text for people.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use latrunculi_engine::Player;
use latrunculi_eval::learning::Verdict;
use latrunculi_selfplay::PlayedGame;
use serde_json::{Map, Value, json};

use super::learner::Learnt;
use super::player::Played;
use crate::train_config::TrainConfig;

/// Sums up the games of a generation, in which `first_player` began, and the work that they took.
pub(crate) fn of_games(played: &Played, first_player: Player, lanes: usize, in_flight: usize) -> Map<String, Value> {
    let games = &played.games;
    let count = games.len().max(1) as f64;
    let share = |is_so: &dyn Fn(&PlayedGame) -> bool| games.iter().filter(|game| is_so(game)).count() as f64 / count;
    let draw_rate = share(&|game| game.outcome.winner.is_none());
    let first_wins = share(&|game| game.outcome.winner == Some(first_player));
    // Who was taken to have lost, and whether he has.
    let resigned = games.iter().filter(|game| game.resigned.is_some()).count();
    let wrongly = |game: &PlayedGame| game.resigned.is_some_and(|loser| game.outcome.winner != Some(loser.opponent()));
    let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
    for game in games {
        *reasons.entry(game.outcome.reason.as_str()).or_default() += 1;
    }
    let progress = &played.progress;
    let load = |number: &AtomicU64| number.load(Ordering::Relaxed) as f64;
    let ratio = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    let (evaluations, batches) = (load(&progress.evaluations), load(&progress.batches));
    let batch_mean = ratio(evaluations, batches);
    let samples: usize = games.iter().map(|game| game.samples.len()).sum();
    object(json!({
        "games": games.len(),
        "games_found": played.found,
        "games_per_sec": ratio(load(&progress.games), played.secs),
        "evaluations_per_sec": ratio(evaluations, played.secs),
        "cache_hits_per_sec": ratio(load(&progress.cache_hits), played.secs),
        "batch_mean": batch_mean,
        "batch_fill": batch_mean / in_flight as f64,
        "evaluator_share": ratio(load(&progress.evaluator_nanos), load(&progress.lane_nanos)),
        "lane_share": ratio(load(&progress.lane_nanos) * 1e-9, played.secs * lanes as f64),
        "draw_rate": draw_rate,
        "first_player_score": first_wins + draw_rate / 2.0,
        "actions_mean": games.iter().map(|game| f64::from(game.action_count)).sum::<f64>() / count,
        "turns_mean": games.iter().map(|game| f64::from(game.turn_count)).sum::<f64>() / count,
        "resigned_share": resigned as f64 / count,
        "resigned_wrongly": share(&wrongly) * count / resigned.max(1) as f64,
        "end_reasons": reasons,
        "samples": samples,
        "play_secs": played.secs,
    }))
}

/// Sums up training.
pub(crate) fn of_training(learnt: &Learnt) -> Map<String, Value> {
    object(json!({
        "steps": learnt.steps,
        "training_samples_per_sec": if learnt.secs > 0.0 { learnt.samples as f64 / learnt.secs } else { 0.0 },
        "losses": learnt.losses,
        "train_secs": learnt.secs,
    }))
}

pub(crate) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// Says of games what a person wants to know.
pub(crate) fn say_games(metrics: &Map<String, Value>) -> String {
    let number = |name: &str| metrics.get(name).and_then(Value::as_f64).unwrap_or(0.0);
    let mut text = format!(
        "{:.0} games, {:.1}/s, {:.0} actions, draws {:.2}, first {:.2}",
        number("games"),
        number("games_per_sec"),
        number("actions_mean"),
        number("draw_rate"),
        number("first_player_score"),
    );
    if number("resigned_share") > 0.0 {
        text += &format!(
            ", decided early {:.0} % ({:.1} % of them wrongly)",
            number("resigned_share") * 100.0,
            number("resigned_wrongly") * 100.0
        );
    }
    if number("evaluations_per_sec") > 0.0 {
        text += &format!(
            " · {:.1}k evals/s (+{:.1}k cached), batches {:.0} % full, network idle {:.0} %",
            number("evaluations_per_sec") / 1e3,
            number("cache_hits_per_sec") / 1e3,
            number("batch_fill") * 100.0,
            (1.0 - number("evaluator_share")) * 100.0,
        );
    }
    text
}

/// Says of training what a person wants to know: the losses of the heads that have a weight.
pub(crate) fn say_training(learnt: &Learnt, config: &TrainConfig) -> String {
    let losses = &learnt.losses;
    let mut text = format!(
        "{} steps, {:.0} s, loss {:.3} = policy {:.3} (target {:.3}) value {:.3} margin {:.4}",
        learnt.steps, learnt.secs, losses.loss, losses.policy, losses.target_entropy, losses.value, losses.margin,
    );
    let weights = &config.training;
    for (name, weight, loss) in [
        ("survival", weights.survival_weight, losses.survival),
        ("reply", weights.reply_weight, losses.reply),
        ("turns", weights.turns_left_weight, losses.turns_left),
    ] {
        if weight > 0.0 {
            text += &format!(" {name} {loss:.3}");
        }
    }
    text + &format!(", entropy {:.2}", losses.policy_entropy)
}

/// Says of a match what a person wants to know.
pub(crate) fn say_verdict(verdict: Option<&Verdict>) -> String {
    verdict.map(|verdict| format!(" · against {verdict}")).unwrap_or_default()
}

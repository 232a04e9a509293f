//! The numbers of a round: a line of `metrics.jsonl`, and the scalars that TensorBoard shows
//! (docs/FORMATS.md, "Metrics").

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use latrunculi_engine::Player;
use latrunculi_eval::learning::Verdict;
use latrunculi_model::{Device, Precision, PrecisionChoice, PrecisionDifference, StepReport};
use latrunculi_selfplay::PlayedGame;
use serde::Serialize;

use crate::error::Error;
use crate::generation::GenerationGames;
use crate::learner::StepResults;
use crate::play_network::kernel_name;

/// A round: the games of a generation, the training beside them, and the match of the network that played them.
#[derive(Clone, Debug, Serialize)]
pub struct RoundMetrics {
    /// The generation that was played, or in the last round the one that would be next.
    pub generation: u64,
    /// Whether the training came before the games, and not beside them.
    pub learns_first: bool,
    /// The training.
    #[serde(flatten)]
    pub training: TrainingMetrics,
    /// Whether alpha-beta played the games; `None` without games.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub teacher: Option<bool>,
    /// The games, if any.
    #[serde(flatten)]
    pub games: Option<GameMetrics>,
    /// The match, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// Seconds that the round took.
    pub round_secs: f64,
    /// Samples played since the run began.
    pub samples_total: u64,
    /// Samples in the replay window.
    pub window: u64,
    /// Training steps made since the run began.
    pub steps_total: u64,
    /// Seconds since the run began, without breaks.
    pub elapsed_secs: f64,
}

impl RoundMetrics {
    /// Returns the line of the metrics file, keys in alphabetical order.
    pub(crate) fn to_json(&self) -> Result<serde_json::Value, Error> {
        Ok(serde_json::to_value(self)?)
    }
}

/// The training of a round.
#[derive(Clone, Debug, Serialize)]
pub struct TrainingMetrics {
    /// Training steps.
    pub steps: u64,
    /// Positions trained on per second.
    pub training_samples_per_sec: f64,
    /// Mean losses; zeros where there were no steps.
    pub losses: StepReport,
    /// Seconds that the steps took.
    pub train_secs: f64,
}

impl TrainingMetrics {
    /// Sums up training steps.
    #[must_use]
    pub fn new(results: &StepResults) -> TrainingMetrics {
        TrainingMetrics {
            steps: results.steps,
            training_samples_per_sec: ratio(results.samples as f64, results.secs),
            losses: results.losses,
            train_secs: results.secs,
        }
    }
}

/// The games of a generation and the work that they took.
#[derive(Clone, Debug, Serialize)]
pub struct GameMetrics {
    /// Games.
    pub games: usize,
    /// How many of them an interrupted attempt had already played.
    pub games_found: u64,
    /// Games finished per second.
    pub games_per_sec: f64,
    /// Positions that networks evaluated per second.
    pub evaluations_per_sec: f64,
    /// Evaluations found in the cache per second.
    pub cache_hits_per_sec: f64,
    /// Mean number of positions in a batch.
    pub batch_mean: f64,
    /// The same as a fraction of the games in flight.
    pub batch_fill: f64,
    /// Fraction of the actors' time in which their network computed.
    pub evaluator_share: f64,
    /// Fraction of the wall time in which the actors computed.
    pub lane_share: f64,
    /// Fraction of drawn games.
    pub draw_rate: f64,
    /// Mean score of the player who begins, a draw counting one half.
    pub first_player_score: f64,
    /// Mean number of actions of a game.
    pub actions_mean: f64,
    /// Mean number of turns of a game.
    pub turns_mean: f64,
    /// Fraction of games in which a player would have resigned.
    pub resigned_share: f64,
    /// Fraction of these that this player did not lose.
    pub resigned_wrongly: f64,
    /// Number of games by the reason of their end.
    pub end_reasons: BTreeMap<&'static str, u64>,
    /// Samples.
    pub samples: usize,
    /// Seconds that the games took.
    pub play_secs: f64,
    /// Precision of the playing network.
    pub precision: Precision,
    /// What computed it ([`kernel_name`]).
    pub kernel: String,
    /// How far its answers in 16 bits differ from those in 32 bits, where that decided the precision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bf16_difference: Option<PrecisionDifference>,
}

impl GameMetrics {
    /// Sums up games that `first_player` began and that `actors` actors played with `in_flight` games each.
    #[must_use]
    pub fn new(
        played: &GenerationGames,
        first_player: Player,
        actors: usize,
        in_flight: usize,
        choice: PrecisionChoice,
        device: Device,
    ) -> GameMetrics {
        let games = &played.games;
        let count = games.len().max(1) as f64;
        let fraction =
            |is_so: &dyn Fn(&PlayedGame) -> bool| games.iter().filter(|game| is_so(game)).count() as f64 / count;
        let draw_rate = fraction(&|game| game.outcome.winner.is_none());
        let first_wins = fraction(&|game| game.outcome.winner == Some(first_player));
        let resigned = games.iter().filter(|game| game.resigned.is_some()).count();
        let wrongly =
            |game: &PlayedGame| game.resigned.is_some_and(|loser| game.outcome.winner != Some(loser.opponent()));
        let mut end_reasons: BTreeMap<&str, u64> = BTreeMap::new();
        for game in games {
            *end_reasons.entry(game.outcome.reason.as_str()).or_default() += 1;
        }
        let progress = &played.progress;
        let load = |number: &AtomicU64| number.load(Ordering::Relaxed) as f64;
        let (evaluations, batches) = (load(&progress.evaluations), load(&progress.batches));
        let batch_mean = ratio(evaluations, batches);
        GameMetrics {
            games: games.len(),
            games_found: played.found,
            games_per_sec: ratio(load(&progress.games), played.secs),
            evaluations_per_sec: ratio(evaluations, played.secs),
            cache_hits_per_sec: ratio(load(&progress.cache_hits), played.secs),
            batch_mean,
            batch_fill: batch_mean / in_flight as f64,
            evaluator_share: ratio(load(&progress.evaluator_nanos), load(&progress.actor_nanos)),
            lane_share: ratio(load(&progress.actor_nanos) * 1e-9, played.secs * actors as f64),
            draw_rate,
            first_player_score: first_wins + draw_rate / 2.0,
            actions_mean: games.iter().map(|game| f64::from(game.action_count)).sum::<f64>() / count,
            turns_mean: games.iter().map(|game| f64::from(game.turn_count)).sum::<f64>() / count,
            resigned_share: resigned as f64 / count,
            resigned_wrongly: fraction(&wrongly) * count / resigned.max(1) as f64,
            end_reasons,
            samples: games.iter().map(|game| game.samples.len()).sum(),
            play_secs: played.secs,
            precision: choice.precision,
            kernel: kernel_name(device, choice.precision),
            bf16_difference: choice.difference,
        }
    }
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use latrunculi_eval::learning::Round;

    use super::*;

    #[test]
    fn a_line_of_metrics_is_one_flat_object_that_learning_curves_read() {
        let mut metrics = RoundMetrics {
            generation: 2,
            learns_first: true,
            training: TrainingMetrics::new(&StepResults { steps: 3, samples: 30, secs: 2.0, ..StepResults::default() }),
            teacher: None,
            games: None,
            verdict: None,
            round_secs: 4.0,
            samples_total: 50,
            window: 40,
            steps_total: 7,
            elapsed_secs: 9.5,
        };
        let line = metrics.to_json().unwrap();
        let keys: Vec<&str> = line.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(
            keys,
            [
                "elapsed_secs",
                "generation",
                "learns_first",
                "losses",
                "round_secs",
                "samples_total",
                "steps",
                "steps_total",
                "train_secs",
                "training_samples_per_sec",
                "window"
            ]
        );
        assert_eq!(line["training_samples_per_sec"], 15.0);
        let progress = latrunculi_selfplay::Progress::default();
        let played = GenerationGames { games: Vec::new(), found: 0, progress, secs: 1.0 };
        metrics.teacher = Some(false);
        let choice = PrecisionChoice { precision: Precision::F32, difference: None };
        metrics.games = Some(GameMetrics::new(&played, Player::First, 1, 8, choice, Device::CPU));
        let line = metrics.to_json().unwrap();
        let round: Round = serde_json::from_value(line.clone()).unwrap();
        assert_eq!((round.generation, round.steps_total, round.games), (2, 7, Some(0)));
        assert!(line["end_reasons"].is_object() && line["lane_share"].is_number());
    }
}

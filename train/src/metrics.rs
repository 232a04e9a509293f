//! The numbers of a round: a line of `metrics.jsonl`, and the scalars that TensorBoard shows
//! (docs/FORMATS.md, "Metrics").

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use latrunculi_data::{Precision, StepReport};
use latrunculi_engine::Player;
use latrunculi_eval::learning::Verdict;
use latrunculi_selfplay::PlayedGame;
use serde::Serialize;

use crate::error::Error;
use crate::generation::GenerationGames;
use crate::precision::{PrecisionChoice, PrecisionDifference};
use crate::run_rulesets::RunRuleset;

/// A round: the games of a generation, the training beside them, and the matches of the network that played them.
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
    /// The matches by ruleset, if any.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub verdicts: BTreeMap<String, Verdict>,
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
    ///
    /// # Errors
    /// Never; the numbers of a round are JSON.
    pub fn to_json(&self) -> Result<serde_json::Value, Error> {
        Ok(serde_json::to_value(self)?)
    }
}

/// What some training steps came to.
#[derive(Clone, Debug, Default)]
pub struct StepResults {
    /// Steps made.
    pub steps: u64,
    /// Positions drawn, repetitions counted.
    pub samples: u64,
    /// Means over the steps; zeros where there were none.
    pub losses: StepReport,
    /// Seconds that the steps took.
    pub secs: f64,
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
    /// Mean number of positions in a batch.
    pub batch_mean: f64,
    /// The same as a fraction of the games in flight that their pools have room for.
    pub batch_fill: f64,
    /// Fraction of the actors' time in which their network computed.
    pub network_busy: f64,
    /// Fraction of the wall time in which the actors computed.
    pub actors_busy: f64,
    /// Fraction of drawn games.
    pub draw_rate: f64,
    /// Mean score of the player who begins, a draw counting one half.
    pub first_player_score: f64,
    /// Mean number of actions of a game.
    pub actions_mean: f64,
    /// Mean number of turns of a game.
    pub turns_mean: f64,
    /// Number of games by the reason of their end.
    pub end_reasons: BTreeMap<&'static str, u64>,
    /// The games by ruleset; those of the mixes together are called `mixes`.
    pub rulesets: BTreeMap<String, RulesetMetrics>,
    /// Samples.
    pub samples: usize,
    /// Seconds that the games took.
    pub play_secs: f64,
    /// Precision of the playing network.
    pub precision: Precision,
    /// What computed it ([`crate::networks::PlayNetwork::kernel`]); with workers all that did, with commas between.
    pub kernel: String,
    /// How far its answers in 8 or 16 bits differ from those in 32 bits, where that decided the precision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precision_difference: Option<PrecisionDifference>,
}

/// The games of one ruleset in a generation.
#[derive(Clone, Debug, Serialize)]
pub struct RulesetMetrics {
    /// Games.
    pub games: usize,
    /// Samples.
    pub samples: usize,
    /// Fraction of the samples of the generation.
    pub share: f64,
    /// Fraction of drawn games.
    pub draw_rate: f64,
    /// Mean score of the player who begins, a draw counting one half.
    pub first_player_score: f64,
    /// Mean number of actions of a game.
    pub actions_mean: f64,
}

/// The name under which the games of all mixes are summed up.
const MIXES: &str = "mixes";

impl RulesetMetrics {
    fn new(games: &[(Player, &PlayedGame)], samples_of_all: usize) -> RulesetMetrics {
        let count = games.len().max(1) as f64;
        let winners = games.iter().map(|(first, game)| (first, game.outcome.winner));
        let drawn = winners.clone().filter(|(_, winner)| winner.is_none()).count() as f64 / count;
        let first_wins = winners.filter(|(first, winner)| *winner == Some(**first)).count() as f64 / count;
        let samples = games.iter().map(|(_, game)| game.samples.len()).sum();
        RulesetMetrics {
            games: games.len(),
            samples,
            share: ratio(samples as f64, samples_of_all as f64),
            draw_rate: drawn,
            first_player_score: first_wins + drawn / 2.0,
            actions_mean: games.iter().map(|(_, game)| f64::from(game.action_count)).sum::<f64>() / count,
        }
    }
}

impl GameMetrics {
    /// Sums up games that `actors` actors played, with the choice of the precision and what computed the network; a ruleset
    /// that is not among `trained` is a mix.
    #[must_use]
    pub fn new(
        played: &GenerationGames,
        trained: &[RunRuleset],
        actors: usize,
        choice: PrecisionChoice,
        kernel: String,
    ) -> GameMetrics {
        let mut by_ruleset: BTreeMap<&str, Vec<(Player, &PlayedGame)>> = BTreeMap::new();
        for ruleset in played.rulesets.iter().filter(|ruleset| !ruleset.games.is_empty()) {
            let data = ruleset.rules.ruleset();
            let is_trained = trained.iter().any(|trained| trained.id() == data.id);
            let name = if is_trained { data.id.as_str() } else { MIXES };
            let games = ruleset.games.iter().map(|game| (data.first_player, game));
            by_ruleset.entry(name).or_default().extend(games);
        }
        let games: Vec<(Player, &PlayedGame)> = by_ruleset.values().flatten().copied().collect();
        let samples = games.iter().map(|(_, game)| game.samples.len()).sum();
        let all = RulesetMetrics::new(&games, samples);
        let count = games.len().max(1) as f64;
        let mut end_reasons: BTreeMap<&str, u64> = BTreeMap::new();
        for (_, game) in &games {
            *end_reasons.entry(game.outcome.reason.as_str()).or_default() += 1;
        }
        let progress = &played.progress;
        let load = |number: &AtomicU64| number.load(Ordering::Relaxed) as f64;
        let (evaluations, batches) = (load(&progress.evaluations), load(&progress.batches));
        GameMetrics {
            games: games.len(),
            games_found: played.found,
            games_per_sec: ratio(load(&progress.games), played.secs),
            evaluations_per_sec: ratio(evaluations, played.secs),
            batch_mean: ratio(evaluations, batches),
            batch_fill: ratio(evaluations, load(&progress.places)),
            network_busy: ratio(load(&progress.evaluator_nanos), load(&progress.actor_nanos)),
            actors_busy: ratio(load(&progress.actor_nanos) * 1e-9, played.secs * actors as f64),
            draw_rate: all.draw_rate,
            first_player_score: all.first_player_score,
            actions_mean: all.actions_mean,
            turns_mean: games.iter().map(|(_, game)| f64::from(game.turn_count)).sum::<f64>() / count,
            end_reasons,
            rulesets: by_ruleset
                .iter()
                .map(|(name, games)| ((*name).to_owned(), RulesetMetrics::new(games, samples)))
                .collect(),
            samples,
            play_secs: played.secs,
            precision: choice.precision,
            kernel,
            precision_difference: choice.difference,
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
            verdicts: BTreeMap::new(),
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
        let played = GenerationGames { rulesets: Vec::new(), found: 0, progress, secs: 1.0, kernels: Vec::new() };
        metrics.teacher = Some(false);
        let choice = PrecisionChoice { precision: Precision::F32, difference: None };
        metrics.games = Some(GameMetrics::new(&played, &[], 1, choice, "f32".to_owned()));
        let line = metrics.to_json().unwrap();
        let round: Round = serde_json::from_value(line.clone()).unwrap();
        assert_eq!((round.generation, round.steps_total, round.games), (2, 7, Some(0)));
        assert!(line["end_reasons"].is_object() && line["actors_busy"].is_number());
    }
}

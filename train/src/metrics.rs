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
    /// Those whose results say something ([`PlayedGame::is_counted`]): draws, scores, lengths and ends are of these alone.
    pub games_counted: usize,
    /// How many of the games an interrupted attempt had already played.
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
    /// Fraction of drawn games; like the means below `None` where no game counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draw_rate: Option<f64>,
    /// Mean score of the player who begins, a draw counting one half.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_player_score: Option<f64>,
    /// Mean number of actions of a game.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actions_mean: Option<f64>,
    /// Mean number of turns of a game.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns_mean: Option<f64>,
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
    /// Those whose results say something; draws, scores and lengths are of these alone.
    pub games_counted: usize,
    /// Samples.
    pub samples: usize,
    /// Fraction of the samples of the generation.
    pub share: f64,
    /// Fraction of drawn games; like the means below `None` where no game counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draw_rate: Option<f64>,
    /// Mean score of the player who begins, a draw counting one half.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_player_score: Option<f64>,
    /// Mean number of actions of a game.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actions_mean: Option<f64>,
}

/// The name under which the games of all mixes are summed up.
const MIXES: &str = "mixes";

impl RulesetMetrics {
    fn new(games: &[(Player, &PlayedGame)], samples_of_all: usize) -> RulesetMetrics {
        let counted = || games.iter().filter(|(_, game)| game.is_counted());
        let score = |&(first, game): &(Player, &PlayedGame)| (1.0 + game.outcome.value_for(first)) / 2.0;
        let samples = games.iter().map(|(_, game)| game.samples.len()).sum();
        RulesetMetrics {
            games: games.len(),
            games_counted: counted().count(),
            samples,
            share: ratio(samples as f64, samples_of_all as f64),
            draw_rate: mean(counted().map(|(_, game)| f64::from(u8::from(game.outcome.winner.is_none())))),
            first_player_score: mean(counted().map(score).map(f64::from)),
            actions_mean: mean(counted().map(|(_, game)| f64::from(game.action_count))),
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
        let counted = || games.iter().map(|(_, game)| game).filter(|game| game.is_counted());
        let mut end_reasons: BTreeMap<&str, u64> = BTreeMap::new();
        for game in counted() {
            *end_reasons.entry(game.outcome.reason.as_str()).or_default() += 1;
        }
        let progress = &played.progress;
        let load = |number: &AtomicU64| number.load(Ordering::Relaxed) as f64;
        let (evaluations, batches) = (load(&progress.evaluations), load(&progress.batches));
        GameMetrics {
            games: games.len(),
            games_counted: all.games_counted,
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
            turns_mean: mean(counted().map(|game| f64::from(game.turn_count))),
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

/// Returns the mean of numbers, if there are any.
fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = numbers.fold((0_u64, 0.0), |(count, sum), number| (count + 1, sum + number));
    (count > 0).then(|| sum / count as f64)
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

#[cfg(test)]
mod tests {

    use latrunculi_data::{EncodedPosition, Sample, Samples, Shape};
    use latrunculi_engine::{EndReason, Outcome, Rules, SquareSet, presets};
    use latrunculi_eval::learning::Round;

    use super::*;
    use crate::generation::RulesetGames;

    /// A game with so many samples.
    fn game(rules: &Rules, winner: Option<Player>, is_even: bool, samples_count: usize) -> PlayedGame {
        let position = EncodedPosition::new(rules, &rules.initial_position(), 1);
        let mut samples = Samples::new(Shape::of(rules));
        for _ in 0..samples_count {
            samples.push(&Sample {
                planes: &position.planes,
                scalars: &position.scalars,
                action_indices: &[[0, 1]],
                policy: &[1.0],
                win_draw_loss: [0.0, 1.0, 0.0],
                search_win_draw_loss: [0.0, 1.0, 0.0],
                margin: 0.0,
                survival: SquareSet::EMPTY,
                opponent_policy: None,
                moves_left: 1,
                games: 0,
                turns: 0,
            });
        }
        let reason = if winner.is_some() { EndReason::Eliminated } else { EndReason::Repetition };
        let (action_count, turn_count) = if is_even && samples_count > 0 { (30, 20) } else { (900, 800) };
        PlayedGame { index: 0, outcome: Outcome { winner, reason }, action_count, turn_count, is_even, samples }
    }

    #[test]
    fn only_games_that_began_evenly_and_have_samples_count() {
        use Player::{First, Second};
        let rules = |name| presets::rules(name);
        let (savard, bell) = (rules("savard"), rules("bell"));
        let counted = [Some(First), None, None, Some(First), Some(Second)].map(|winner| game(&savard, winner, true, 2));
        let uneven = [Some(Second), Some(Second), None].map(|winner| game(&savard, winner, false, 3));
        let empty = [false, true].map(|is_even| game(&savard, Some(Second), is_even, 0));
        let games = counted.into_iter().chain(uneven).chain(empty).collect();
        let others = RulesetGames { rules: bell.clone(), games: vec![game(&bell, None, false, 4)] };
        let played = GenerationGames {
            rulesets: vec![RulesetGames { rules: savard, games }, others],
            found: 0,
            progress: latrunculi_selfplay::Progress::default(),
            secs: 1.0,
            kernels: Vec::new(),
        };
        let choice = PrecisionChoice { precision: Precision::F32, difference: None };
        let trained =
            ["savard", "bell"].map(|name| RunRuleset { rules: rules(name), family: name.to_owned(), share: 0.5 });
        let metrics = GameMetrics::new(&played, &trained, 1, choice, "f32".to_owned());
        assert_eq!((metrics.games, metrics.games_counted, metrics.samples), (11, 5, 23));
        assert_eq!((metrics.draw_rate, metrics.first_player_score), (Some(0.4), Some(0.6)));
        assert_eq!((metrics.actions_mean, metrics.turns_mean), (Some(30.0), Some(20.0)));
        assert_eq!(metrics.end_reasons.values().sum::<u64>(), 5);
        let line = serde_json::to_value(&metrics.rulesets["bell"]).unwrap();
        let read: latrunculi_eval::learning::RoundRuleset = serde_json::from_value(line).unwrap();
        assert_eq!((read.games, read.samples, read.draw_rate), (1, 4, None), "no game of it counts");
    }

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

//! The games of a round in numbers (docs/FORMATS.md, "Metrics").

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use latrunculi_engine::Player;
use latrunculi_eval::learning::{GameMetrics, RulesetMetrics};
use latrunculi_selfplay::PlayedGame;

use crate::generation::GenerationGames;
use crate::precision::PrecisionChoice;
use crate::run_rulesets::RunRuleset;

/// The name under which the games of all mixes are summed up.
const MIXES: &str = "mixes";

/// Sums up games, each with the player who began it.
fn sums(games: &[(Player, &PlayedGame)]) -> RulesetMetrics {
    let counted = || games.iter().filter(|(_, game)| game.is_counted());
    let score = |&(first, game): &(Player, &PlayedGame)| (1.0 + game.outcome.value_for(first)) / 2.0;
    RulesetMetrics {
        games: games.len() as u64,
        games_counted: counted().count() as u64,
        samples: games.iter().map(|(_, game)| game.samples.len() as u64).sum(),
        share: None,
        draw_rate: mean(counted().map(|(_, game)| f64::from(u8::from(game.outcome.winner.is_none())))),
        first_player_score: mean(counted().map(score).map(f64::from)),
        actions_mean: mean(counted().map(|(_, game)| f64::from(game.action_count))),
    }
}

/// Sums up games that `actors` actors played, with the choice of the precision and what computed the network; a ruleset
/// that is not among `trained` is a mix.
#[must_use]
pub fn of_games(
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
    let all = sums(&games);
    let counted = || games.iter().map(|(_, game)| game).filter(|game| game.is_counted());
    let mut end_reasons: BTreeMap<String, u64> = BTreeMap::new();
    for game in counted() {
        *end_reasons.entry(game.outcome.reason.as_str().to_owned()).or_default() += 1;
    }
    let of_ruleset = |games: &Vec<(Player, &PlayedGame)>| {
        let sums = sums(games);
        RulesetMetrics { share: Some(ratio(sums.samples as f64, all.samples as f64)), ..sums }
    };
    let progress = &played.progress;
    let load = |number: &AtomicU64| number.load(Ordering::Relaxed) as f64;
    let (evaluations, batches) = (load(&progress.evaluations), load(&progress.batches));
    GameMetrics {
        all,
        games_found: played.found,
        games_per_sec: ratio(load(&progress.games), played.secs),
        evaluations_per_sec: ratio(evaluations, played.secs),
        batch_mean: ratio(evaluations, batches),
        batch_fill: ratio(evaluations, load(&progress.places)),
        network_busy: ratio(load(&progress.evaluator_nanos), load(&progress.actor_nanos)),
        actors_busy: ratio(load(&progress.actor_nanos) * 1e-9, played.secs * actors as f64),
        turns_mean: mean(counted().map(|game| f64::from(game.turn_count))),
        end_reasons,
        rulesets: by_ruleset.iter().map(|(name, games)| ((*name).to_owned(), of_ruleset(games))).collect(),
        play_secs: played.secs,
        precision: choice.precision,
        kernel,
        precision_difference: choice.difference,
    }
}

/// Returns the mean of numbers, if there are any.
fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = numbers.fold((0_u64, 0.0), |(count, sum), number| (count + 1, sum + number));
    (count > 0).then(|| sum / count as f64)
}

/// Returns a ratio; 0 of nothing.
#[must_use]
pub fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

#[cfg(test)]
mod tests {

    use latrunculi_data::{EncodedPosition, Precision, Sample, Samples, Shape};
    use latrunculi_engine::{EndReason, Outcome, Rules, SquareSet, presets};
    use latrunculi_eval::learning::{Round, TrainingMetrics};

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
            secs: 1.0,
            ..GenerationGames::default()
        };
        let choice = PrecisionChoice { precision: Precision::F32, difference: None };
        let trained =
            ["savard", "bell"].map(|name| RunRuleset { rules: rules(name), family: name.to_owned(), share: 0.5 });
        let metrics = of_games(&played, &trained, 1, choice, "f32".to_owned());
        let all = &metrics.all;
        assert_eq!((all.games, all.games_counted, all.samples), (11, 5, 23));
        assert_eq!((all.draw_rate, all.first_player_score), (Some(0.4), Some(0.6)));
        assert_eq!((all.actions_mean, metrics.turns_mean), (Some(30.0), Some(20.0)));
        assert_eq!(metrics.end_reasons.values().sum::<u64>(), 5);
        let line = serde_json::to_value(metrics.rulesets["bell"]).unwrap();
        let read: RulesetMetrics = serde_json::from_value(line).unwrap();
        assert_eq!((read.games, read.samples, read.draw_rate), (1, 4, None), "no game of it counts");
    }

    #[test]
    fn a_line_of_metrics_is_one_flat_object_that_learning_curves_read() {
        let mut metrics = Round {
            generation: 2,
            training: TrainingMetrics { steps: 3, training_samples_per_sec: 15.0, ..TrainingMetrics::default() },
            steps_total: 7,
            ..Round::default()
        };
        let line = serde_json::to_value(&metrics).unwrap();
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
        assert_eq!(serde_json::from_value::<Round>(line).unwrap(), metrics);
        let progress = latrunculi_selfplay::Progress::default();
        let played = GenerationGames { rulesets: Vec::new(), found: 0, progress, secs: 1.0, kernels: Vec::new() };
        metrics.teacher = Some(false);
        let choice = PrecisionChoice { precision: Precision::F32, difference: None };
        metrics.games = Some(of_games(&played, &[], 1, choice, "f32".to_owned()));
        let line = serde_json::to_value(&metrics).unwrap();
        assert_eq!(serde_json::from_value::<Round>(line.clone()).unwrap(), metrics);
        assert!(line["end_reasons"].is_object() && line["actors_busy"].is_number());
    }
}

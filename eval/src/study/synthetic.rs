//! Tests of the study's statistics with synthetic agents of known advantage.
//!
//! Synthetic games go through the same tally, stopping rule, intervals and verdicts as played ones.
//! `LATRUNCULI_SLOW=1` plays enough of them to estimate the coverage to half a percentage point.

use latrunculi_engine::EndReason;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::summary::{ScoreSummary, StopReason};
use super::tally::{SeriesTally, StopRule};
use crate::matches::FinishedGame;
use latrunculi_stats::multiplicity::{BalanceEvidence, decide_balance};
use latrunculi_stats::{BalanceVerdict, Confidence, GameResult};

const CONFIDENCE: Confidence = Confidence::NINETY_FIVE;

/// A synthetic agent: what the first player's games come to.
#[derive(Clone, Copy)]
struct Synthetic {
    win: f64,
    draw: f64,
    /// Games per opening, which all end alike: correlation 1 within it.
    games_per_opening: usize,
    /// Every so many games one repeats the one before it.
    repeats_every: usize,
}

impl Synthetic {
    const fn new(win: f64, draw: f64) -> Synthetic {
        Synthetic { win, draw, games_per_opening: 1, repeats_every: usize::MAX }
    }

    fn truth(self) -> f64 {
        self.win + self.draw / 2.0
    }

    fn play(self, rule: StopRule, seed: u64) -> SeriesTally {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut tally = SeriesTally::new(rule);
        let (mut index, mut opening, mut result) = (0, 0, GameResult::Draw);
        let mut key = 0;
        while tally.stop().is_none() {
            if index % self.games_per_opening == 0 {
                opening += 1;
                let at: f64 = rng.random();
                result = if at < self.win {
                    GameResult::Win
                } else if at < self.win + self.draw {
                    GameResult::Draw
                } else {
                    GameResult::Loss
                };
            }
            if index % self.repeats_every != self.repeats_every - 1 {
                key += 1;
            }
            tally.add(index, Some(game(opening, key, result)));
            index += 1;
        }
        tally
    }
}

fn game(opening_key: u64, key: u64, result: GameResult) -> FinishedGame {
    let (reason, efforts) = (EndReason::Eliminated, [(0, 0); 2]);
    let (margin, opening, actions, has_capture) = (0.0, 1, 1, true);
    FinishedGame { result, margin, opening, actions, reason, efforts, has_capture, opening_key, key }
}

/// Returns the number of replications: the first number, or the second where time does not matter.
fn replications(quick: u64, slow: u64) -> u64 {
    if std::env::var_os("LATRUNCULI_SLOW").is_some() { slow } else { quick }
}

fn rule(half_width: f64) -> StopRule {
    StopRule::of_width(half_width, CONFIDENCE, 400, 20_000, 50)
}

/// Returns the share of replications whose interval holds the truth, and the mean error.
fn coverage(agent: Synthetic, half_width: f64, count: u64) -> (f64, f64) {
    let (mut covered, mut error) = (0, 0.0);
    for seed in 0..count {
        let tally = agent.play(rule(half_width), seed);
        assert_eq!(tally.stop(), Some(StopReason::Width));
        let score: ScoreSummary = tally.summary(CONFIDENCE, 1).unwrap();
        assert!(score.half_width <= half_width && tally.counts.outcomes.games() >= 400);
        covered += u64::from(score.interval.contains(agent.truth()));
        error += score.score - agent.truth();
    }
    (covered as f64 / count as f64, error / count as f64)
}

#[test]
fn intervals_hold_the_known_advantage() {
    let count = replications(150, 2_000);
    // Three standard errors of a share of 0.95, no less than the two hundredths that are promised.
    let allowed = f64::max(0.02, 3.0 * (0.95 * 0.05 / count as f64).sqrt());
    let clustered = Synthetic { games_per_opening: 2, ..Synthetic::new(0.5, 0.1) };
    let repeating = Synthetic { repeats_every: 5, ..Synthetic::new(0.4, 0.3) };
    for agent in [Synthetic::new(0.35, 0.3), Synthetic::new(0.45, 0.3), Synthetic::new(0.7, 0.1), clustered, repeating]
    {
        let (share, error) = coverage(agent, 0.03, count);
        assert!((share - 0.95).abs() <= allowed, "coverage {share} of {}", agent.truth());
        assert!(error.abs() < 4.0 * 0.0153 / (count as f64).sqrt(), "bias {error} of {}", agent.truth());
    }
}

#[test]
fn where_nearly_all_is_drawn_the_width_is_that_of_the_interval() {
    let drawish = Synthetic::new(0.0, 0.99);
    for seed in 0..40 {
        let tally = drawish.play(StopRule::of_width(0.03, CONFIDENCE, 50, 20_000, 50), seed);
        let score: ScoreSummary = tally.summary(CONFIDENCE, 1).unwrap();
        assert!(score.half_width <= 0.03, "seed {seed}: {score:?}");
    }
}

#[test]
fn games_taken_as_independent_would_not() {
    // Ten games of each opening that end alike: their plain interval is far too narrow.
    let copied = Synthetic { games_per_opening: 10, ..Synthetic::new(0.35, 0.3) };
    let covered = (0..100)
        .filter(|&seed| {
            let tally = copied.play(StopRule::of_games(1_000), seed);
            let plain = tally.counts.outcomes.win_draw_loss().score().unwrap().interval(CONFIDENCE).unwrap();
            plain.contains(copied.truth())
        })
        .count();
    assert!(covered < 65, "{covered}");
    let (share, _) = coverage(Synthetic { games_per_opening: 10, ..copied }, 0.05, 100);
    assert!(share > 0.88, "{share}");
}

#[test]
fn a_fair_game_is_rarely_called_unfair_and_an_unfair_one_never_balanced() {
    let count = replications(60, 500);
    let (mut false_alarms, mut false_balanced, mut balanced) = (0, 0, 0);
    for seed in 0..count {
        // Five fair rulesets and five with an advantage just at the margin of three hundredths.
        let evidence: Vec<BalanceEvidence> = (0..10)
            .map(|ruleset| {
                let agent = if ruleset < 5 { Synthetic::new(0.35, 0.3) } else { Synthetic::new(0.38, 0.3) };
                let games = agent.play(rule(0.015), 1_000 * seed + ruleset).counts.outcomes.win_draw_loss();
                BalanceEvidence::new(&games.mean_test(), 0.03).unwrap()
            })
            .collect();
        let verdicts: Vec<BalanceVerdict> =
            decide_balance(&evidence, 0.05).unwrap().iter().map(|finding| finding.verdict).collect();
        let is_unfair = |verdict: &BalanceVerdict| matches!(verdict, BalanceVerdict::First | BalanceVerdict::Second);
        false_alarms += u64::from(verdicts[..5].iter().any(is_unfair));
        false_balanced += u64::from(verdicts[5..].contains(&BalanceVerdict::Balanced));
        balanced += verdicts[..5].iter().filter(|&&verdict| verdict == BalanceVerdict::Balanced).count();
    }
    // Each kind of error at most at its level, with three standard errors.
    let allowed = 0.05 + 3.0 * (0.05 * 0.95 / count as f64).sqrt();
    assert!(false_alarms as f64 <= allowed * count as f64, "{false_alarms} of {count}");
    assert!(false_balanced as f64 <= allowed * count as f64, "{false_balanced} of {count}");
    assert!(balanced as f64 > 0.5 * 5.0 * count as f64, "{balanced} of {}", 5 * count);
}

#[test]
fn games_in_any_order_count_alike() {
    let agent = Synthetic::new(0.4, 0.2);
    let in_order = agent.play(StopRule::of_games(300), 3);
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let games: Vec<FinishedGame> = (0..300u64)
        .map(|index| {
            let at: f64 = rng.random();
            let result = if at < 0.4 {
                GameResult::Win
            } else if at < 0.6 {
                GameResult::Draw
            } else {
                GameResult::Loss
            };
            game(index + 1, index + 1, result)
        })
        .collect();
    let mut backwards = SeriesTally::new(StopRule::of_games(300));
    for (index, game) in games.into_iter().enumerate().rev() {
        backwards.add(index, Some(game));
    }
    assert_eq!(backwards.counts, in_order.counts);
    assert_eq!(backwards.openings(), in_order.openings());
}

//! Coverage of the intervals on simulated games with known parameters and fixed seeds.

use latrunculi_stats::clusters::ClusteredScore;
use latrunculi_stats::{
    BradleyTerry, Confidence, Covariance, DrawModel, FixedWidth, GameResult, PairTable, SeriesResult, Sprt, SprtBounds,
    WinDrawLoss, score::elo_from_score, sprt::SprtVerdict,
};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

const CONFIDENCE: Confidence = Confidence::NINETY_FIVE;

/// Draws one game with these chances of a win and a draw.
fn game(stream: &mut ChaCha8Rng, win: f64, draw: f64) -> GameResult {
    let at = (stream.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    if at < win {
        GameResult::Win
    } else if at < win + draw {
        GameResult::Draw
    } else {
        GameResult::Loss
    }
}

/// Returns the share of replications for which `holds`, each with its own stream.
fn share(replications: u64, holds: impl Fn(&mut ChaCha8Rng) -> bool) -> f64 {
    let count = (0..replications)
        .filter(|&replication| {
            let mut stream = ChaCha8Rng::seed_from_u64(20_240_601);
            stream.set_stream(replication);
            holds(&mut stream)
        })
        .count();
    count as f64 / replications as f64
}

#[track_caller]
fn assert_between(what: &str, value: f64, lower: f64, upper: f64) {
    assert!(lower <= value && value <= upper, "{what} is {value}, not in {lower}..{upper}");
}

#[test]
fn stopping_at_a_width_keeps_coverage_and_mean() {
    let rule = FixedWidth::new(0.03, 400, CONFIDENCE).unwrap();
    for (win, draw) in [(0.35, 0.3), (0.45, 0.3), (0.7, 0.1)] {
        let truth = win + draw / 2.0;
        let mean_error = std::cell::Cell::new(0.0);
        let coverage = share(2_000, |stream| {
            let mut games = WinDrawLoss::default();
            loop {
                games.record(game(stream, win, draw));
                let score = games.score().unwrap();
                if rule.is_reached(score, score.games()) {
                    mean_error.set(mean_error.get() + (score.mean() - truth) / 2_000.0);
                    break score.interval(CONFIDENCE).unwrap().contains(truth);
                }
            }
        });
        assert_between("coverage", coverage, 0.93, 0.97);
        assert_between("bias", mean_error.get(), -0.002, 0.002);
    }
}

#[test]
fn only_clustered_intervals_cover_when_openings_are_replayed() {
    // 100 openings, each with a game that ten replays repeat up to one in ten.
    let covered = |clustered: bool| {
        share(1_000, |stream| {
            let openings: Vec<WinDrawLoss> = (0..100)
                .map(|_| {
                    let usual = game(stream, 0.4, 0.2);
                    let mut games = WinDrawLoss::default();
                    for _ in 0..10 {
                        let repeated = game(stream, 0.9, 0.0) == GameResult::Win;
                        games.record(if repeated { usual } else { game(stream, 0.4, 0.2) });
                    }
                    games
                })
                .collect();
            let score = if clustered {
                ClusteredScore::new(&openings).unwrap().score
            } else {
                openings.iter().copied().sum::<WinDrawLoss>().score().unwrap()
            };
            score.interval(CONFIDENCE).unwrap().contains(0.5)
        })
    };
    assert_between("coverage by games", covered(false), 0.35, 0.6);
    assert_between("coverage by openings", covered(true), 0.93, 0.97);
}

#[test]
fn sequential_tests_keep_their_error_rates() {
    let elo1 = elo_from_score(0.56).unwrap();
    let sprt = Sprt { elo0: 0.0, elo1, bounds: SprtBounds::new(0.05, 0.05).unwrap() };
    for (win, accept_min, accept_max) in [(0.35, 0.0, 0.06), (0.41, 0.94, 1.0)] {
        let accepted = share(1_000, |stream| {
            let mut pairs = PairTable::default();
            loop {
                // Agent A plays first in the first game of a pair and second in the other.
                let second = game(stream, win, 0.3).reversed();
                pairs.record(game(stream, win, 0.3), second);
                if pairs.agent().pairs() < 10 {
                    continue;
                }
                let verdict = sprt.test(pairs.agent()).unwrap().1;
                if verdict != SprtVerdict::Continue {
                    break verdict == SprtVerdict::AcceptH1;
                }
            }
        });
        assert_between("fraction that accepts H1", accepted, accept_min, accept_max);
    }
}

#[test]
fn equal_strength_scores_of_unequal_agents_cover_the_truth() {
    // Three agents far apart, 30 games for each ordered pair and 40 of self-play.
    let strengths = [0.0, 0.9, 2.0];
    let advantage = 0.4;
    for model in [DrawModel::RaoKupper, DrawModel::Davidson] {
        let draw_parameter = 0.6;
        let truth = model.probabilities(advantage, draw_parameter).unwrap().score();
        let coverage = share(1_000, |stream| {
            let mut results = Vec::new();
            for first in 0..3 {
                for second in 0..3 {
                    let delta = strengths[first] - strengths[second] + advantage;
                    let p = model.probabilities(delta, draw_parameter).unwrap();
                    let mut games = WinDrawLoss::default();
                    for _ in 0..if first == second { 40 } else { 30 } {
                        games.record(game(stream, p.win, p.draw));
                    }
                    results.push(SeriesResult { first, second, games, opening: results.len() as u64 });
                }
            }
            let fit = BradleyTerry::new(model, 3).fit(&results).unwrap();
            let score = fit.equal_strength_score(Covariance::Fisher).unwrap();
            score.interval(CONFIDENCE).unwrap().contains(truth)
        });
        assert_between(&format!("{model:?} coverage"), coverage, 0.93, 0.97);
    }
}

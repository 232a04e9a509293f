//! Scores, pairs, proportions, compensation and the bootstrap against their vectors.

use latrunculi_stats::bootstrap::{Bootstrap, BootstrapKey};
use latrunculi_stats::compensation::{CompensationCell, CompensationFit, FiellerSet};
use latrunculi_stats::proportion::{clopper_pearson, wilson};
use latrunculi_stats::{Confidence, PairTable, Pentanomial, WinDrawLoss};

use crate::assert_near;
use crate::vectors::load;

const CONFIDENCE: Confidence = Confidence::NINETY_FIVE;

#[test]
fn elo_and_superiority_are_those_of_fastchess() {
    for vector in load().elo_fastchess {
        let (name, score) = match (vector.penta, vector.wins, vector.draws, vector.losses) {
            (Some(counts), None, None, None) => (format!("{counts:?}"), Pentanomial { counts }.score()),
            (None, Some(wins), Some(draws), Some(losses)) => {
                let games = WinDrawLoss::new(wins, draws, losses);
                (format!("{games:?}"), games.score())
            }
            _ => panic!("a vector has three counts or five"),
        };
        let score = score.unwrap();
        assert_near(&format!("{name} score"), score.mean(), vector.score, 0.0005 + 1e-9);
        let elo = score.elo(CONFIDENCE);
        if let Some(published) = vector.elo {
            assert_near(&format!("{name} Elo"), elo.value, published, 0.005 + 1e-9);
        }
        if let Some(published) = vector.elo_err {
            assert_near(&format!("{name} Elo error"), elo.half_width().unwrap(), published, 0.005 + 1e-9);
        }
        let normalized = score.normalized_elo().unwrap();
        assert_near(&format!("{name} nElo"), normalized.value, vector.nelo, 0.005 + 1e-9);
        let error = normalized.interval(CONFIDENCE).half_width();
        assert_near(&format!("{name} nElo error"), error, vector.nelo_err, 0.005 + 1e-9);
        if let Some(published) = vector.los {
            let found = score.likelihood_of_superiority().unwrap();
            assert_near(&format!("{name} superiority"), found, published, 0.00005 + 1e-9);
        }
    }
}

#[test]
fn proportions_are_those_of_newcombe() {
    for vector in load().wilson_cp {
        let name = format!("{} of {}", vector.k, vector.n);
        for (method, found, published) in [
            ("Wilson", wilson(vector.k, vector.n, CONFIDENCE), vector.wilson),
            ("Clopper-Pearson", clopper_pearson(vector.k, vector.n, CONFIDENCE), vector.clopper_pearson),
        ] {
            let found = found.unwrap();
            assert_near(&format!("{name} {method} lower"), found.lower, published[0], 0.00005 + 1e-9);
            assert_near(&format!("{name} {method} upper"), found.upper, published[1], 0.00005 + 1e-9);
        }
    }
}

#[test]
fn both_views_of_the_pair_table_are_right() {
    let vector = load().joint_pair_table;
    let table = PairTable { counts: vector.counts };
    assert_eq!(table.first_player().counts, vector.penta_first);
    assert_eq!(table.agent().counts, vector.penta_agent);
    for (name, pairs, expected) in
        [("first player", table.first_player(), vector.first_player), ("agent", table.agent(), vector.agent)]
    {
        assert_near(&format!("{name} variance"), pairs.variance().unwrap(), expected.var, 1e-10);
        let score = pairs.score().unwrap();
        assert_near(&format!("{name} mean"), score.mean(), expected.mean, 1e-12);
        assert_near(&format!("{name} error"), score.standard_error(), expected.se, 5e-11);
    }
    let games = table.first_player_games();
    let expected = vector.trinomial_first;
    assert_eq!(games, WinDrawLoss::new(expected.wins, expected.draws, expected.losses));
    let independent = games.score().unwrap().standard_error();
    assert_near("error if independent", independent, expected.se_if_independent, 5e-11);
}

#[test]
fn bootstrap_over_openings_gives_the_error_of_the_pair_table() {
    let vector = load().joint_pair_table;
    let mut scores = Vec::new();
    for (points, count) in vector.penta_first.into_iter().enumerate() {
        scores.extend(std::iter::repeat_n(points as f64 / 4.0, count as usize));
    }
    let bootstrap = Bootstrap {
        key: BootstrapKey { seed: 1, ruleset: "pairs", statistic: "first player's score" },
        cluster_count: scores.len(),
        replications: 10_000,
    };
    let sample = bootstrap
        .run(|indices| Some(vec![indices.iter().map(|&index| scores[index]).sum::<f64>() / indices.len() as f64]))
        .unwrap();
    let expected = vector.first_player;
    assert_near("estimate", sample.estimates()[0], expected.mean, 1e-12);
    assert_near("bootstrap error", sample.standard_errors()[0], expected.se, 0.02 * expected.se);
    let half_width = CONFIDENCE.z() * expected.se;
    let interval = sample.percentiles(CONFIDENCE)[0];
    assert_near("lower", interval.lower, expected.mean - half_width, 0.06 * half_width);
    assert_near("upper", interval.upper, expected.mean + half_width, 0.06 * half_width);
}

#[test]
fn fair_compensation_has_its_fieller_interval() {
    let vector = load().komi;
    assert!(vector.h.len() == vector.n.len() && vector.h.len() == vector.score.len());
    // With the binomial errors of the curve itself the covariance is the inverse of the Fisher information.
    let cells: Vec<CompensationCell> = vector
        .h
        .iter()
        .zip(&vector.n)
        .zip(&vector.score)
        .map(|((&handicap, &games), &score)| {
            let expected = 1.0 / (1.0 + (-vector.b[0] - vector.b[1] * handicap).exp());
            CompensationCell { handicap, games, score, standard_error: (expected * (1.0 - expected) / games).sqrt() }
        })
        .collect();
    let fit = CompensationFit::measured(&cells).unwrap();
    assert_near("b0", fit.coefficients()[0], vector.b[0], 5e-8);
    assert_near("b1", fit.coefficients()[1], vector.b[1], 5e-8);
    assert_near("fair handicap", fit.fair_handicap().unwrap(), vector.h_star, 5e-8);
    let FiellerSet::Within(interval) = fit.fair_handicap_set(CONFIDENCE) else {
        panic!("the handicap has a sure effect")
    };
    assert_near("Fieller lower", interval.lower, vector.fieller95[0], 5e-8);
    assert_near("Fieller upper", interval.upper, vector.fieller95[1], 5e-8);
}

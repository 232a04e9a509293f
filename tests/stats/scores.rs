//! Scores, pairs, proportions, compensation and the bootstrap against their vectors.

use latrunculi_stats::bootstrap::{Bootstrap, BootstrapKey};
use latrunculi_stats::compensation::{CompensationCell, CompensationFit, FiellerSet};
use latrunculi_stats::proportion::{clopper_pearson, wilson};
use latrunculi_stats::{Confidence, PairTable, Pentanomial, WinDrawLoss};

use crate::assert_near;
use crate::vectors::{at, list, load};

const CONFIDENCE: Confidence = Confidence::NINETY_FIVE;

#[test]
fn elo_and_superiority_are_those_of_fastchess() {
    for vector in list("elo_fastchess", 6) {
        // Three counts or five; an error bar or a likelihood only where it was published.
        let score = match at(&vector, "/penta") {
            Some(counts) => Pentanomial { counts }.score(),
            None => WinDrawLoss::new(at(&vector, "/W"), at(&vector, "/D"), at(&vector, "/L")).score(),
        };
        let score = score.unwrap();
        let elo = score.elo(CONFIDENCE);
        let normalized = score.normalized_elo().unwrap();
        for (name, found, digit) in [
            ("/score", Some(score.mean()), 0.001),
            ("/elo", Some(elo.value), 0.01),
            ("/elo_err", elo.half_width(), 0.01),
            ("/nelo", Some(normalized.value), 0.01),
            ("/nelo_err", Some(normalized.interval(CONFIDENCE).half_width()), 0.01),
            ("/los", score.likelihood_of_superiority().ok(), 0.0001),
        ] {
            if let Some(published) = at(&vector, name) {
                assert_near(&format!("{vector} {name}"), found.unwrap(), published, digit / 2.0 + 1e-9);
            }
        }
    }
}

#[test]
fn proportions_are_those_of_newcombe() {
    for vector in list("wilson_cp", 4) {
        let (k, n) = (at(&vector, "/k"), at(&vector, "/n"));
        for (method, found) in
            [("/wilson", wilson(k, n, CONFIDENCE)), ("/clopper_pearson", clopper_pearson(k, n, CONFIDENCE))]
        {
            let (found, published): (_, [f64; 2]) = (found.unwrap(), at(&vector, method));
            assert_near(&format!("{k} of {n} {method} lower"), found.lower, published[0], 0.00005 + 1e-9);
            assert_near(&format!("{k} of {n} {method} upper"), found.upper, published[1], 0.00005 + 1e-9);
        }
    }
}

#[test]
fn both_views_of_the_pair_table_are_right() {
    let vector = load("joint_pair_table");
    let table = PairTable { counts: at(&vector, "/J") };
    for (name, pairs, counts) in
        [("first_player", table.first_player(), "/penta_first"), ("agent_A", table.agent(), "/penta_agent")]
    {
        assert_eq!(pairs.counts, at::<[u64; 5]>(&vector, counts));
        let score = pairs.score().unwrap();
        for (part, found, tolerance) in [
            ("var", pairs.variance().unwrap(), 1e-10),
            ("mean", score.mean(), 1e-12),
            ("se", score.standard_error(), 5e-11),
        ] {
            let path = format!("/{name}/{part}");
            assert_near(&path, found, at(&vector, &path), tolerance);
        }
    }
    let games = table.first_player_games();
    let [wins, draws, losses] = ["W", "D", "L"].map(|name| at(&vector, &format!("/trinomial_first/{name}")));
    assert_eq!(games, WinDrawLoss::new(wins, draws, losses));
    let independent = games.score().unwrap().standard_error();
    assert_near("if independent", independent, at(&vector, "/trinomial_first/se_if_independent"), 5e-11);
}

#[test]
fn bootstrap_over_openings_gives_the_error_of_the_pair_table() {
    let vector = load("joint_pair_table");
    let mut scores = Vec::new();
    for (points, count) in at::<[u64; 5]>(&vector, "/penta_first").into_iter().enumerate() {
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
    let [mean, error]: [f64; 2] = ["/first_player/mean", "/first_player/se"].map(|path| at(&vector, path));
    assert_near("estimate", sample.estimates()[0], mean, 1e-12);
    assert_near("bootstrap error", sample.standard_errors()[0], error, 0.02 * error);
    let half_width = CONFIDENCE.z() * error;
    let interval = sample.percentiles(CONFIDENCE)[0];
    assert_near("lower", interval.lower, mean - half_width, 0.06 * half_width);
    assert_near("upper", interval.upper, mean + half_width, 0.06 * half_width);
}

#[test]
fn fair_compensation_has_its_fieller_interval() {
    let vector = load("komi");
    let [handicaps, games, scores]: [[f64; 3]; 3] = ["/h", "/n", "/score"].map(|path| at(&vector, path));
    let (b, ends): ([f64; 2], [f64; 2]) = (at(&vector, "/b"), at(&vector, "/fieller95"));
    // With the binomial errors of the curve itself the covariance is the inverse of the Fisher information.
    let cells = [0, 1, 2].map(|cell| {
        let (handicap, games, score) = (handicaps[cell], games[cell], scores[cell]);
        let expected = 1.0 / (1.0 + (-b[0] - b[1] * handicap).exp());
        CompensationCell { handicap, games, score, standard_error: (expected * (1.0 - expected) / games).sqrt() }
    });
    let fit = CompensationFit::measured(&cells).unwrap();
    assert_near("b0", fit.coefficients()[0], b[0], 5e-8);
    assert_near("b1", fit.coefficients()[1], b[1], 5e-8);
    assert_near("fair handicap", fit.fair_handicap().unwrap(), at(&vector, "/h_star"), 5e-8);
    let FiellerSet::Within(interval) = fit.fair_handicap_set(CONFIDENCE) else {
        panic!("the handicap has a sure effect")
    };
    assert_near("Fieller lower", interval.lower, ends[0], 5e-8);
    assert_near("Fieller upper", interval.upper, ends[1], 5e-8);
}

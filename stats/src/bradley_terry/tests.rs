use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::interval::{Confidence, Estimate, Interval};

const MODELS: [DrawModel; 2] = [DrawModel::RaoKupper, DrawModel::Davidson];

fn series(first: usize, second: usize, games: [u64; 3], opening: u64) -> SeriesResult {
    let [wins, draws, losses] = games;
    SeriesResult { first, second, games: WinDrawLoss::new(wins, draws, losses), opening }
}

fn three_agents() -> Vec<SeriesResult> {
    vec![
        series(0, 1, [62, 18, 20], 0),
        series(1, 0, [38, 22, 40], 1),
        series(0, 2, [70, 15, 15], 2),
        series(2, 0, [33, 20, 47], 3),
        series(1, 2, [55, 20, 25], 4),
        series(2, 1, [45, 22, 33], 5),
    ]
}

#[test]
fn self_play_alone_gives_the_closed_form() {
    for model in MODELS {
        let games = WinDrawLoss::new(480, 240, 280);
        let fit = BradleyTerry::new(model, 1).fit(&[series(0, 0, [480, 240, 280], 0)]).unwrap();
        let closed = match model {
            DrawModel::RaoKupper => 0.5 * (480.0 / 280.0 * 720.0 / 520.0f64).ln(),
            DrawModel::Davidson => (480.0 / 280.0f64).ln(),
        };
        let advantage = fit.advantage(Covariance::Fisher).unwrap();
        assert!((advantage.value - closed).abs() < 1e-10);
        let draw_parameter = model.draw_parameter_of_equals([480.0, 240.0, 280.0]);
        assert!((fit.draw_parameter() - draw_parameter).abs() < 1e-10);
        let score = fit.equal_strength_score(Covariance::Fisher).unwrap();
        let plain = games.score().unwrap();
        assert!((score.mean() - plain.mean()).abs() < 1e-10);
        assert!((score.standard_error() - plain.standard_error()).abs() < 1e-10);
        // The shares have the errors of proportions.
        let shares = fit.equal_strength_probabilities(Covariance::Fisher).unwrap();
        for (found, share) in shares.into_iter().zip([0.48, 0.24, 0.28f64]) {
            assert!((found.value - share).abs() < 1e-9, "{model:?} {found:?}");
            let error = (share * (1.0 - share) / 1000.0).sqrt();
            assert!((found.standard_error - error).abs() < 1e-9, "{model:?} {found:?}, {error}");
        }
    }
}

#[test]
fn davidson_reproduces_every_agents_points() {
    let results = three_agents();
    let fit = BradleyTerry::new(DrawModel::Davidson, 3).fit(&results).unwrap();
    for agent in 0..3 {
        let mut points = 0.0;
        let mut expected = 0.0;
        for result in &results {
            let games = result.games.games() as f64;
            let score = fit.probabilities(result.first, result.second).unwrap().score();
            if result.first == agent {
                points += result.games.points();
                expected += games * score;
            } else if result.second == agent {
                points += games - result.games.points();
                expected += games * (1.0 - score);
            }
        }
        assert!((points - expected).abs() < 1e-9);
    }
}

#[test]
fn copies_of_an_opening_do_not_shrink_the_clustered_error() {
    let results: Vec<SeriesResult> = (0..60u64)
        .map(|opening| {
            let games = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]][(opening % 4) as usize];
            series((opening / 4 % 2) as usize, ((opening / 4 + 1) % 2) as usize, games, opening)
        })
        .collect();
    let copied: Vec<SeriesResult> = results.iter().cycle().take(10 * results.len()).copied().collect();
    for model in MODELS {
        let fit = BradleyTerry::new(model, 2);
        let once = fit.fit(&results).unwrap().equal_strength_score(Covariance::Clustered);
        let ten = fit.fit(&copied).unwrap().equal_strength_score(Covariance::Clustered);
        let (once, ten) = (once.unwrap(), ten.unwrap());
        assert!((once.standard_error() - ten.standard_error()).abs() < 1e-9);
        let trusting = fit.fit(&copied).unwrap().equal_strength_score(Covariance::Fisher);
        assert!(trusting.unwrap().standard_error() < 0.4 * ten.standard_error());
    }
}

#[test]
fn clusters_of_one_game_agree_with_the_fisher_information() {
    let mut results = Vec::new();
    for pairing in three_agents() {
        let games = pairing.games;
        for (result, count) in [([1, 0, 0], games.wins), ([0, 1, 0], games.draws), ([0, 0, 1], games.losses)] {
            for _ in 0..count {
                let opening = results.len() as u64;
                results.push(series(pairing.first, pairing.second, result, opening));
            }
        }
    }
    for model in MODELS {
        let fit = BradleyTerry::new(model, 3).fit(&results).unwrap();
        let clustered = fit.equal_strength_score(Covariance::Clustered).unwrap();
        let fisher = fit.equal_strength_score(Covariance::Fisher).unwrap();
        assert!((clustered.standard_error() / fisher.standard_error() - 1.0).abs() < 0.05);
    }
}

#[test]
fn one_sided_games_are_fitted_with_a_prior_and_say_so() {
    for model in MODELS {
        for games in [[[50, 3, 0], [0, 2, 50]], [[0, 9, 0], [0, 9, 0]]] {
            let results = [series(0, 1, games[0], 0), series(1, 0, games[1], 1)];
            let fit = BradleyTerry::new(model, 2).fit(&results).unwrap();
            assert!(fit.regularised(), "{model:?} {games:?}");
            let difference = fit.difference(0, 1, Covariance::Fisher).unwrap();
            assert!(difference.value.is_finite() && difference.value >= -1e-9);
            assert!(difference.value * ELO_PER_NAT < 1_500.0);
            assert!(difference.standard_error.is_finite());
        }
        let always_first = [series(0, 1, [9, 0, 0], 0), series(1, 0, [9, 0, 0], 1)];
        let fit = BradleyTerry::new(model, 2).fit(&always_first).unwrap();
        assert!(fit.regularised());
        assert!(fit.equal_strength().score() > 0.9);
        let plain = BradleyTerry::new(model, 3).fit(&three_agents()).unwrap();
        assert!(!plain.regularised());
    }
}

const NINETY_FIVE: Confidence = Confidence::NINETY_FIVE;

fn interval(fit: &Fit, one: usize, other: usize) -> Interval {
    fit.difference_interval(one, other, Covariance::Fisher, NINETY_FIVE).unwrap()
}

#[test]
fn who_took_every_point_has_the_exact_one_sided_bound() {
    // 20 of 20 games are won with 5 % at p = 0.05^(1/20).
    let p = 0.05f64.powf(1.0 / 20.0);
    let bound = (p / (1.0 - p)).ln();
    for model in MODELS {
        let fit = BradleyTerry::new(model, 2).with_advantage(0.0);
        let fit = fit.fit(&[series(0, 1, [10, 0, 0], 0), series(1, 0, [0, 0, 10], 1)]).unwrap();
        assert_eq!(fit.groups(), [[0], [1]]);
        assert!(matches!(fit.difference(0, 1, Covariance::Fisher), Err(StatisticsError::Separated)));
        let (above, below) = (interval(&fit, 0, 1), interval(&fit, 1, 0));
        assert!((above.lower - bound).abs() < 1e-6 && above.upper == f64::INFINITY, "{above:?} {bound}");
        assert_eq!((below.lower, below.upper), (f64::NEG_INFINITY, -above.lower));
        let likelihood = fit.likelihood_stronger(0, 1, Covariance::Fisher).unwrap().unwrap();
        assert!((likelihood - (1.0 - 0.5f64.powi(21))).abs() < 1e-12);
        assert!(fit.likelihood_stronger(1, 0, Covariance::Fisher).unwrap().unwrap() + likelihood == 1.0);
    }
}

#[test]
fn a_chain_of_one_sided_games_adds_up_and_what_no_game_joins_has_no_bound() {
    // 0 beat 1, 1 beat 2, and 3 beat 2; 0 and 1 met neither 3.
    let results = [series(0, 1, [20, 0, 0], 0), series(1, 2, [20, 0, 0], 1), series(3, 2, [20, 0, 0], 2)];
    let fit = BradleyTerry::new(DrawModel::Davidson, 4).with_advantage(0.0).fit(&results).unwrap();
    // Of two equal steps the most likely split is in halves: 2·20·ln p = ln 0.05.
    let p = 0.05f64.powf(1.0 / 40.0);
    assert!((interval(&fit, 0, 2).lower - 2.0 * (p / (1.0 - p)).ln()).abs() < 1e-6);
    let unknown = Interval { lower: f64::NEG_INFINITY, upper: f64::INFINITY };
    assert_eq!([interval(&fit, 0, 3), interval(&fit, 3, 1)], [unknown; 2]);
    assert_eq!(fit.likelihood_stronger(0, 3, Covariance::Fisher).unwrap(), None);
}

#[test]
fn who_loses_all_moves_nothing_among_the_others() {
    for model in MODELS {
        let without = BradleyTerry::new(model, 3).fit(&three_agents()).unwrap();
        let mut results = three_agents();
        results.extend((0..3).flat_map(|agent| [series(agent, 3, [9, 0, 0], 6), series(3, agent, [0, 0, 9], 7)]));
        let with = BradleyTerry::new(model, 4).fit(&results).unwrap();
        assert!(!with.regularised());
        for (one, other) in [(0, 1), (1, 2), (2, 0)] {
            let [with, without] = [&with, &without].map(|fit| fit.difference(one, other, Covariance::Fisher).unwrap());
            assert!((with.value - without.value).abs() < 1e-9, "{with:?} {without:?}");
            assert!((with.standard_error - without.standard_error).abs() < 1e-9);
        }
        assert!(interval(&with, 0, 3).lower > 1.0 && interval(&with, 0, 3).upper == f64::INFINITY);
    }
}

/// Returns what a fit says of each agent less each other one, by the names that `order` gives the agents.
fn differences(fit: &Fit, order: &[usize]) -> Vec<f64> {
    let mut found = vec![fit.advantage(Covariance::Fisher).unwrap().value, fit.draw_parameter(), fit.log_likelihood()];
    let place = |agent: usize| order.iter().position(|&named| named == agent).expect("an agent");
    for one in 0..order.len() {
        for other in (0..order.len()).filter(|&other| other != one) {
            let (one, other) = (place(one), place(other));
            let difference = fit.difference(one, other, Covariance::Fisher);
            found.push(difference.map_or(f64::NAN, |difference| difference.value));
            for covariance in [Covariance::Fisher, Covariance::Clustered] {
                // Without enough openings there is no clustered error, whoever the anchor.
                let interval = fit.difference_interval(one, other, covariance, NINETY_FIVE);
                found.extend(interval.map_or([f64::NAN; 2], |interval| [interval.lower, interval.upper]));
            }
            let stronger = fit.likelihood_stronger(one, other, Covariance::Fisher).unwrap();
            found.push(stronger.unwrap_or(f64::NAN));
        }
    }
    found
}

#[test]
fn an_anchor_only_shifts_and_the_order_of_agents_changes_nothing() {
    const AGENTS: usize = 5;
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let (mut separated, mut held, mut plain) = (0, 0, 0);
    for table in 0..60 {
        let model = MODELS[table % 2];
        // Close, in two groups of which one takes every point, and hopeless; some pairs never meet.
        let strengths = [[0.0, 0.5, 1.0, 1.5, 2.0], [0.0, 20.0, 0.3, 20.3, 0.6], [0.0, 8.0, 16.0, 24.0, 32.0]];
        let strength = strengths[table / 2 % 3];
        let mut results = Vec::new();
        for (first, second) in (0..AGENTS).flat_map(|first| (0..AGENTS).map(move |second| (first, second))) {
            if first == second || rng.random::<f64>() < 0.2 {
                continue;
            }
            for opening in 0..rng.random_range(1..9) {
                let p = model.probabilities(strength[first] - strength[second] + 0.3, 0.5).unwrap();
                let drawn: f64 = rng.random();
                let result = usize::from(drawn > p.win) + usize::from(drawn > p.win + p.draw);
                results.push(series(first, second, [[1, 0, 0], [0, 1, 0], [0, 0, 1]][result], opening));
            }
        }
        let fit = BradleyTerry::new(model, AGENTS).fit(&results).unwrap();
        match (fit.groups().len(), fit.regularised()) {
            (_, true) => held += 1,
            (1, false) => plain += 1,
            _ => separated += 1,
        }
        let straight: Vec<usize> = (0..AGENTS).collect();
        let expected = differences(&fit, &straight);
        let check = |fit: &Fit, order: &[usize], why: &str| {
            for (found, expected) in differences(fit, order).into_iter().zip(&expected) {
                let is_same = found == *expected || found.is_nan() && expected.is_nan();
                assert!(is_same || (found - expected).abs() < 1e-6, "table {table}, {why}: {found} {expected}");
            }
        };
        for anchor in 0..AGENTS {
            let anchored = BradleyTerry::new(model, AGENTS).anchored([(anchor, 3.5)]).fit(&results).unwrap();
            let fixed = Estimate { value: 3.5, standard_error: 0.0 };
            assert_eq!(anchored.strength(anchor, Covariance::Fisher).unwrap(), fixed);
            check(&anchored, &straight, &format!("anchor {anchor}"));
        }
        let mut order = straight.clone();
        order.shuffle(&mut rng);
        let place = |agent: usize| order.iter().position(|&named| named == agent).unwrap();
        let mut renamed: Vec<SeriesResult> = results
            .iter()
            .map(|result| SeriesResult { first: place(result.first), second: place(result.second), ..*result })
            .collect();
        renamed.reverse();
        check(&BradleyTerry::new(model, AGENTS).fit(&renamed).unwrap(), &order, &format!("order {order:?}"));

        // Two anchors fix their own difference; moved alike they move everything alike.
        let two = [0.0, 7.0].map(|by| BradleyTerry::new(model, AGENTS).anchored([(1, by + 0.5), (3, by - 0.2)]));
        let [here, there] = two.map(|model| model.fit(&results).unwrap());
        assert_eq!(there.strength(1, Covariance::Fisher).unwrap(), Estimate { value: 7.5, standard_error: 0.0 });
        assert!((there.strength(3, Covariance::Fisher).unwrap().value - 6.8).abs() < 1e-9);
        assert!((here.difference(1, 3, Covariance::Fisher).unwrap().value - 0.7).abs() < 1e-9);
        assert!(here.log_likelihood() <= fit.log_likelihood() + 1e-9 || fit.regularised());
        for (here, there) in differences(&here, &straight).into_iter().zip(differences(&there, &straight)) {
            assert!(here == there || (here.is_nan() && there.is_nan()) || (here - there).abs() < 1e-6, "table {table}");
        }
    }
    assert!(separated > 5 && held > 5 && plain > 5, "{separated} {held} {plain}");
}

#[test]
fn games_that_say_nothing_are_errors() {
    let model = BradleyTerry::new(DrawModel::Davidson, 3);
    assert!(matches!(model.fit(&[]), Err(StatisticsError::NoObservations("games"))));
    assert!(matches!(
        model.fit(&[series(0, 7, [1, 1, 1], 0)]),
        Err(StatisticsError::UnknownAgent { agent: 7, agent_count: 3 })
    ));
    assert!(matches!(model.fit(&three_agents()[..2]), Err(StatisticsError::Unconnected { agent: 2 })));
    let seats_kept = [series(0, 1, [5, 5, 5], 0), series(0, 2, [5, 5, 5], 1)];
    assert!(matches!(model.fit(&seats_kept), Err(StatisticsError::Unidentified)));
    let fixed = model.clone().with_advantage(0.0).fit(&seats_kept).unwrap();
    assert_eq!(fixed.advantage(Covariance::Fisher).unwrap().standard_error, 0.0);
    assert!(matches!(
        model.clone().with_advantage(f64::NAN).fit(&three_agents()),
        Err(StatisticsError::OutOfRange { .. })
    ));
    let fit = model.fit(&three_agents()).unwrap();
    assert!(fit.strength(3, Covariance::Fisher).is_err());
    assert!(model.fit(&three_agents()[..1]).is_err());
}

#[test]
fn a_changing_advantage_is_found_and_a_constant_one_is_not() {
    let expected = |slope: f64| -> Vec<SeriesResult> {
        let strengths = [0.0, 0.8, 1.6, 2.4];
        let mut results = Vec::new();
        for (first, one) in strengths.iter().enumerate() {
            for (second, other) in strengths.iter().enumerate() {
                let delta = one - other + 0.3 + slope * (one + other) / 2.0;
                let p = DrawModel::Davidson.probabilities(delta, 0.6).unwrap();
                let count = |share: f64| (20_000.0 * share).round() as u64;
                let games = [count(p.win), count(p.draw), count(p.loss)];
                results.push(series(first, second, games, results.len() as u64));
            }
        }
        results
    };
    let model = BradleyTerry::new(DrawModel::Davidson, 4);
    let constant = expected(0.0);
    assert!(model.constant_advantage_test(&constant).unwrap().p > 0.9);
    let found = model.advantage_by_strength_test(&constant).unwrap();
    assert!(found.slope.abs() < 0.01 && found.likelihood_ratio.p > 0.5);
    assert!(model.fit(&constant).unwrap().goodness_of_fit().unwrap().p > 0.99);
    let changing = expected(0.2);
    assert!(model.constant_advantage_test(&changing).unwrap().p < 1e-6);
    let found = model.advantage_by_strength_test(&changing).unwrap();
    assert!((found.slope - 0.2).abs() < 0.01, "{found:?}");
    assert!(found.likelihood_ratio.p < 1e-6);
    assert!(model.fit(&changing).unwrap().goodness_of_fit().unwrap().p < 1e-6);
    let two = [series(0, 1, [5, 2, 3], 0), series(1, 0, [4, 2, 4], 1)];
    let two_agents = BradleyTerry::new(DrawModel::Davidson, 2);
    assert!(matches!(two_agents.advantage_by_strength_test(&two), Err(StatisticsError::Unidentified)));
    assert!(matches!(two_agents.constant_advantage_test(&two), Err(StatisticsError::Unidentified)));
}

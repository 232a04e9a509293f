//! Joint fits against published data sets.

use std::collections::BTreeMap;

use latrunculi_stats::{BradleyTerry, Covariance, DrawModel, ELO_PER_NAT, Fit, SeriesResult, WinDrawLoss};

use crate::assert_near;
use crate::vectors::{at, load};

const FISHER: Covariance = Covariance::Fisher;

/// Returns one series per row, each row its own opening, and the index of each name in order of appearance.
fn named_series<N: Ord>(rows: impl Iterator<Item = (N, N, WinDrawLoss)>) -> (Vec<SeriesResult>, BTreeMap<N, usize>) {
    let mut agents = BTreeMap::new();
    let mut index_of = |name: N| {
        let next = agents.len();
        *agents.entry(name).or_insert(next)
    };
    let series = rows
        .enumerate()
        .map(|(row, (first, second, games))| SeriesResult {
            first: index_of(first),
            second: index_of(second),
            games,
            opening: row as u64,
        })
        .collect();
    (series, agents)
}

fn nats(fit: &Fit, agent: usize) -> f64 {
    fit.strength(agent, FISHER).expect("the agent was fitted").value
}

#[test]
fn baseball_at_home_is_that_of_agresti() {
    let vector = load("bt_baseball");
    let expected = |path: &str| at::<f64>(&vector, path);
    let rows: Vec<(String, String, u64, u64)> = at(&vector, "/rows_home_away_homewins_awaywins");
    let games = rows.iter().map(|(home, away, won, lost)| (&**home, &**away, WinDrawLoss::new(*won, 0, *lost)));
    let (series, teams) = named_series(games);
    for draws in [DrawModel::RaoKupper, DrawModel::Davidson] {
        let model = BradleyTerry::new(draws, teams.len()).anchored([(teams["Baltimore"], 0.0)]);
        let fit = model.fit(&series).unwrap();
        assert!(!fit.regularised());
        assert_eq!((fit.draw_parameter(), fit.parameter_count()), (0.0, 7));
        let at_home = fit.advantage(FISHER).unwrap();
        assert_near("at home", at_home.value, expected("/published/at_home"), 0.0005);
        assert_near("at home", at_home.value, expected("/ref/at_home"), 1e-7);
        assert_near("joint error", at_home.standard_error, expected("/ref/se_joint"), 1e-7);
        let test = model.advantage_test(&series).unwrap();
        assert_near("likelihood ratio", test.statistic, expected("/ref/lr_stat"), 1e-6);
        assert_near("its p-value", test.p, 0.020, 0.0005);
        let elo = at_home.scaled(ELO_PER_NAT);
        assert_near("Elo at home", elo.value, 52.5, 0.05);
        assert_near("its error", elo.standard_error, 22.7, 0.05);

        let plain = model.with_advantage(0.0).fit(&series).unwrap();
        assert_near("without", plain.log_likelihood(), expected("/ref/loglik_no_home"), 1e-6);
        let mut coefficients: Vec<f64> = (0..teams.len()).map(|team| nats(&plain, team)).collect();
        coefficients.sort_by(f64::total_cmp);
        assert_eq!(coefficients[0], 0.0);
        for (found, published) in
            coefficients[1..].iter().zip(at::<[f64; 6]>(&vector, "/published/model1_coefs_sorted"))
        {
            assert_near("coefficient without advantage", *found, published, 0.005);
        }
        let mut worths: Vec<f64> = (0..teams.len()).map(|team| nats(&fit, team).exp()).collect();
        worths.sort_by(f64::total_cmp);
        let total: f64 = worths.iter().sum();
        for (found, published) in worths.iter().zip(at::<[f64; 7]>(&vector, "/published/abilities_sorted")) {
            assert_near("ability", found / total, published, 0.0005);
        }
    }
}

#[test]
fn puddings_with_ties_are_those_of_davidson() {
    let vector = load("davidson_pudding");
    let rows: Vec<(u32, u32, u64, u64, u64)> = at(&vector, "/rows_i_j_wij_wji_tie");
    let games = rows.iter().map(|(one, other, won, lost, tied)| (one, other, WinDrawLoss::new(*won, *tied, *lost)));
    let (series, items) = named_series(games);
    let fit = BradleyTerry::new(DrawModel::Davidson, 6).with_advantage(0.0).fit(&series).unwrap();
    let worths: Vec<f64> = items.values().map(|&item| nats(&fit, item).exp()).collect();
    let total: f64 = worths.iter().sum();
    for (found, expected) in worths.iter().zip(at::<[f64; 6]>(&vector, "/ref/worth")) {
        assert_near("worth", found / total, expected, 1e-6);
    }
    assert_near("ν", fit.draw_parameter(), at(&vector, "/ref/nu"), 1e-6);
    assert_near("log-likelihood", fit.log_likelihood(), at(&vector, "/ref/loglik"), 5e-6);
}

#[test]
fn three_agents_with_self_play_are_fitted_jointly() {
    let vector = load("bt_three_agents");
    let rows: Vec<(String, String, u64, u64, u64)> = at(&vector, "/data");
    let games =
        rows.iter().map(|(one, other, won, drawn, lost)| (&**one, &**other, WinDrawLoss::new(*won, *drawn, *lost)));
    let (series, agents) = named_series(games);
    for (model, name) in [(DrawModel::RaoKupper, "rao_kupper"), (DrawModel::Davidson, "davidson")] {
        let expected = &vector[name];
        let near = |path: &str, found: f64, tolerance: f64| {
            assert_near(&format!("{model:?} {path}"), found, at(expected, path), tolerance);
        };
        let fit = BradleyTerry::new(model, agents.len()).anchored([(agents["ab"], 0.0)]).fit(&series).unwrap();
        assert_eq!(expected["elo"].as_object().map(|agents| agents.len()), Some(agents.len()));
        for (agent, &index) in &agents {
            near(&format!("/elo/{agent}"), nats(&fit, index) * ELO_PER_NAT, 5e-4);
        }
        let advantage = fit.advantage(FISHER).unwrap().scaled(ELO_PER_NAT);
        near("/adv", advantage.value, 5e-4);
        near("/adv_se", advantage.standard_error, 5e-4);
        match model {
            DrawModel::RaoKupper => near("/drawelo", fit.draw_parameter() * ELO_PER_NAT, 5e-4),
            DrawModel::Davidson => near("/nu", fit.draw_parameter(), 5e-7),
        }
        near("/loglik", fit.log_likelihood(), 5e-6);
        let (found, score) = (fit.equal_strength(), fit.equal_strength_score(FISHER).unwrap());
        near("/equal_strength/W", found.win, 5e-7);
        near("/equal_strength/D", found.draw, 5e-7);
        near("/equal_strength/L", found.loss, 5e-7);
        near("/equal_strength/score", found.score(), 5e-7);
        near("/equal_strength/score", score.mean(), 5e-7);
        near("/equal_strength/se", score.standard_error(), 5e-7);
    }
}

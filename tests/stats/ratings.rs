//! Joint fits against published data sets.

use std::collections::BTreeMap;

use latrunculi_stats::{BradleyTerry, Covariance, DrawModel, ELO_PER_NAT, Fit, SeriesResult, WinDrawLoss};

use crate::assert_near;
use crate::vectors::{ThreeAgentsFit, load};

const FISHER: Covariance = Covariance::Fisher;

/// Returns one series per row, each row its own opening, and the index of each name in order of appearance.
fn named_series<'a>(
    rows: impl Iterator<Item = (&'a str, &'a str, WinDrawLoss)>,
) -> (Vec<SeriesResult>, BTreeMap<&'a str, usize>) {
    let mut agents = BTreeMap::new();
    let mut index_of = |name: &'a str| {
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
    let vector = load().bt_baseball;
    let rows = vector
        .rows
        .iter()
        .map(|(home, away, won, lost)| (home.as_str(), away.as_str(), WinDrawLoss::new(*won, 0, *lost)));
    let (series, teams) = named_series(rows);
    for draws in [DrawModel::RaoKupper, DrawModel::Davidson] {
        let model = BradleyTerry::new(draws, teams.len()).anchored([(teams["Baltimore"], 0.0)]);
        let fit = model.fit(&series).unwrap();
        assert!(!fit.regularised());
        assert_eq!((fit.draw_parameter(), fit.parameter_count()), (0.0, 7));
        let at_home = fit.advantage(FISHER).unwrap();
        assert_near("at home", at_home.value, vector.published.at_home, 0.0005);
        assert_near("at home", at_home.value, vector.reference.at_home, 1e-7);
        assert_near("joint error", at_home.standard_error, vector.reference.se_joint, 1e-7);
        let test = model.advantage_test(&series).unwrap();
        assert_near("likelihood ratio", test.statistic, vector.reference.lr_stat, 1e-6);
        assert_near("its p-value", test.p, 0.020, 0.0005);
        let elo = at_home.scaled(ELO_PER_NAT);
        assert_near("Elo at home", elo.value, 52.5, 0.05);
        assert_near("its error", elo.standard_error, 22.7, 0.05);

        let plain = model.with_advantage(0.0).fit(&series).unwrap();
        assert_near("without", plain.log_likelihood(), vector.reference.loglik_no_home, 1e-6);
        let mut coefficients: Vec<f64> = (0..teams.len()).map(|team| nats(&plain, team)).collect();
        coefficients.sort_by(f64::total_cmp);
        assert_eq!(coefficients[0], 0.0);
        for (found, published) in coefficients[1..].iter().zip(vector.published.model1_coefs_sorted) {
            assert_near("coefficient without advantage", *found, published, 0.005);
        }
        let mut worths: Vec<f64> = (0..teams.len()).map(|team| nats(&fit, team).exp()).collect();
        worths.sort_by(f64::total_cmp);
        let total: f64 = worths.iter().sum();
        for (found, published) in worths.iter().zip(vector.published.abilities_sorted) {
            assert_near("ability", found / total, published, 0.0005);
        }
    }
}

#[test]
fn puddings_with_ties_are_those_of_davidson() {
    let vector = load().davidson_pudding;
    let series: Vec<SeriesResult> = vector
        .rows
        .iter()
        .enumerate()
        .map(|(row, &(one, other, won, lost, tied))| SeriesResult {
            first: one - 1,
            second: other - 1,
            games: WinDrawLoss::new(won, tied, lost),
            opening: row as u64,
        })
        .collect();
    let fit = BradleyTerry::new(DrawModel::Davidson, 6).with_advantage(0.0).fit(&series).unwrap();
    let worths: Vec<f64> = (0..6).map(|item| nats(&fit, item).exp()).collect();
    let total: f64 = worths.iter().sum();
    for (found, expected) in worths.iter().zip(vector.reference.worth) {
        assert_near("worth", found / total, expected, 1e-6);
    }
    assert_near("ν", fit.draw_parameter(), vector.reference.nu, 1e-6);
    assert_near("log-likelihood", fit.log_likelihood(), vector.reference.loglik, 5e-6);
}

#[test]
fn three_agents_with_self_play_are_fitted_jointly() {
    let vector = load().bt_three_agents;
    let rows = vector.data.iter().map(|(first, second, won, drawn, lost)| {
        (first.as_str(), second.as_str(), WinDrawLoss::new(*won, *drawn, *lost))
    });
    let (series, agents) = named_series(rows);
    let check = |model: DrawModel, expected: &ThreeAgentsFit| {
        let fit = BradleyTerry::new(model, agents.len()).anchored([(agents["ab"], 0.0)]).fit(&series).unwrap();
        assert_eq!(expected.elo.len(), agents.len());
        for (agent, elo) in &expected.elo {
            let found = nats(&fit, agents[agent.as_str()]) * ELO_PER_NAT;
            assert_near(&format!("{model:?} {agent}"), found, *elo, 5e-4);
        }
        let advantage = fit.advantage(FISHER).unwrap().scaled(ELO_PER_NAT);
        assert_near(&format!("{model:?} advantage"), advantage.value, expected.adv, 5e-4);
        assert_near(&format!("{model:?} its error"), advantage.standard_error, expected.adv_se, 5e-4);
        let in_elo = fit.draw_parameter() * ELO_PER_NAT;
        match (model, expected.drawelo, expected.nu) {
            (DrawModel::RaoKupper, Some(draw_elo), None) => assert_near("drawElo", in_elo, draw_elo, 5e-4),
            (DrawModel::Davidson, None, Some(nu)) => assert_near("ν", fit.draw_parameter(), nu, 5e-7),
            _ => panic!("{model:?} has one draw parameter, its own"),
        }
        assert_near(&format!("{model:?} log-likelihood"), fit.log_likelihood(), expected.loglik, 5e-6);
        let found = fit.equal_strength();
        for (name, found, expected) in [
            ("win", found.win, expected.equal_strength.win),
            ("draw", found.draw, expected.equal_strength.draw),
            ("loss", found.loss, expected.equal_strength.loss),
            ("score", found.score(), expected.equal_strength.score),
        ] {
            assert_near(&format!("{model:?} {name}"), found, expected, 5e-7);
        }
        let score = fit.equal_strength_score(FISHER).unwrap();
        assert_near(&format!("{model:?} score"), score.mean(), expected.equal_strength.score, 5e-7);
        assert_near(&format!("{model:?} its error"), score.standard_error(), expected.equal_strength.se, 5e-7);
    };
    check(DrawModel::RaoKupper, &vector.rao_kupper);
    check(DrawModel::Davidson, &vector.davidson);
}

//! Sequential tests against the tools' own examples.

use latrunculi_eval::statistics::sprt::{SprtVerdict, bayes_elo_log_likelihood_ratio, cutechess_log_likelihood_ratio};
use latrunculi_eval::statistics::{Hypotheses, Pentanomial, Sample, Sprt, SprtBounds, Trinomial};

use crate::assert_near;
use crate::vectors::{LikelihoodModel, load};

/// References are printed to six decimals.
const REFERENCE_TOLERANCE: f64 = 1e-6;

#[test]
fn likelihood_ratios_are_those_of_fastchess() {
    for vector in load().llr {
        let (elo0, elo1) = (vector.elo0, vector.elo1);
        let hypotheses = match vector.model {
            LikelihoodModel::Logistic => Hypotheses::LogisticElo { elo0, elo1 },
            LikelihoodModel::Normalized => Hypotheses::NormalizedElo { elo0, elo1 },
        };
        let sample: Sample = match *vector.counts {
            [losses, draws, wins] => Trinomial::new(wins, draws, losses).into(),
            [a, b, c, d, e] => Pentanomial { counts: [a, b, c, d, e] }.into(),
            _ => panic!("{}: three counts or five", vector.src),
        };
        let sprt = Sprt { hypotheses, bounds: SprtBounds::new(0.05, 0.05).unwrap() };
        let (found, verdict) = sprt.test(sample).unwrap();
        assert_near(&vector.src, found, vector.reference, REFERENCE_TOLERANCE);
        // Where one class holds everything, the published value shows its tool's root tolerance.
        let one_class = vector.counts.iter().filter(|&&count| count > 0).count() == 1;
        let tolerance = if one_class { 0.03 } else { 0.01 };
        assert_near(&vector.src, found, vector.published, tolerance);
        let expected = match found {
            ratio if ratio >= 2.944_439 => SprtVerdict::AcceptH1,
            ratio if ratio <= -2.944_439 => SprtVerdict::AcceptH0,
            _ => SprtVerdict::Continue,
        };
        assert_eq!(verdict, expected, "{}", vector.src);
    }
}

#[test]
fn bayes_elo_ratios_are_those_of_fastchess() {
    for vector in load().bayes_fastchess {
        let [losses, draws, wins] = vector.counts;
        let games = Trinomial::new(wins, draws, losses);
        let found = bayes_elo_log_likelihood_ratio(games, vector.elo0, vector.elo1).unwrap();
        assert_near(&format!("{games:?}"), found, vector.reference, REFERENCE_TOLERANCE);
        assert_near(&format!("{games:?}"), found, vector.published, 0.01);
    }
}

#[test]
fn bayes_elo_ratios_are_those_of_cutechess() {
    for vector in load().bayes_cutechess {
        let games = Trinomial::new(vector.wins, vector.draws, vector.losses);
        let found = cutechess_log_likelihood_ratio(games, vector.elo0, vector.elo1).unwrap();
        assert_near(&format!("{games:?}"), found, vector.reference, REFERENCE_TOLERANCE);
        assert_near(&format!("{games:?}"), found, vector.published, 0.01);
        let bounds = SprtBounds::new(vector.alpha.unwrap_or(0.01), vector.beta.unwrap_or(0.01)).unwrap();
        let accepts_h0 = vector.reference <= -4.595_120;
        assert_eq!(bounds.verdict(found) == SprtVerdict::AcceptH0, accepts_h0);
    }
}

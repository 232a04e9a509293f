//! Multiple testing: corrected p-values, equivalence tests, and the verdict on each ruleset.

use serde::{Deserialize, Serialize};

use super::error::StatisticsError;
use super::mean_test::MeanTest;

/// Returns p-values adjusted by Holm's step-down, in the order given.
/// `p₍ᵢ₎ = max_{j<=i} min(1, (m−j+1)·p₍ⱼ₎)`. Rejecting those at most `α` keeps the chance of any false
/// rejection at `α`, whatever the dependence. For confirmatory families such as "is it unbalanced?".
/// Fails with [`StatisticsError::OutOfRange`] for a p-value outside `[0, 1]`.
/// Source: Holm 1979, Scandinavian Journal of Statistics 6, 65-70.
pub fn holm(p_values: &[f64]) -> Result<Vec<f64>, StatisticsError> {
    let order = ascending(p_values)?;
    let mut adjusted = vec![0.0; p_values.len()];
    let mut largest: f64 = 0.0;
    for (rank, &index) in order.iter().enumerate() {
        largest = largest.max(((p_values.len() - rank) as f64 * p_values[index]).min(1.0));
        adjusted[index] = largest;
    }
    Ok(adjusted)
}

fn ascending(p_values: &[f64]) -> Result<Vec<usize>, StatisticsError> {
    for &p in p_values {
        StatisticsError::check("p-value", p, "between 0 and 1", (0.0..=1.0).contains(&p))?;
    }
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&one, &other| p_values[one].total_cmp(&p_values[other]));
    Ok(order)
}

/// Two one-sided tests of "the expected score is within `margin` of ½".
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Equivalence {
    /// The p-value against "at least `½ + margin`".
    pub p_above: f64,
    /// The p-value against "at most `½ − margin`".
    pub p_below: f64,
}

impl Equivalence {
    /// Returns the p-value of the pair: the larger one.
    /// At most `α` just when the `1 − 2α` interval lies inside the margin.
    #[must_use]
    pub fn p(self) -> f64 {
        self.p_above.max(self.p_below)
    }
}

/// The conclusion about a ruleset's balance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BalanceVerdict {
    /// An equivalence test shows that the advantage is smaller than the margin.
    Balanced,
    /// The first player scores significantly more than ½, and the excess is not shown to be below the margin.
    First,
    /// The second player scores significantly more than ½, likewise.
    Second,
    /// Neither test is significant.
    Unresolved,
}

/// A ruleset's verdict with the adjusted p-values behind it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BalanceFinding {
    /// The verdict.
    pub verdict: BalanceVerdict,
    /// Holm's p-value of "the expected score is ½".
    pub p_unbalanced: f64,
    /// Holm's p-value of "the expected score is off ½ by the margin or more".
    pub p_balanced: f64,
}

/// The test results of one ruleset, not yet corrected for the number of rulesets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BalanceEvidence {
    /// The first player's mean score, in `[0, 1]`.
    pub mean: f64,
    /// The two-sided p-value of "the expected score is ½".
    pub p_unbalanced: f64,
    /// The test of "the expected score is off ½ by the margin or more".
    pub equivalence: Equivalence,
}

impl BalanceEvidence {
    /// Tests the first player's games, wins and losses being that player's: the test that agrees with
    /// [`MeanTest::interval`].
    /// Fails with [`StatisticsError::OutOfRange`] unless `0 < margin < ½`.
    ///
    /// Source: Schuirmann 1987, J. Pharmacokinetics and Biopharmaceutics 15, 657-680, for the two one-sided tests.
    pub fn new<const K: usize>(games: &MeanTest<K>, margin: f64) -> Result<BalanceEvidence, StatisticsError> {
        StatisticsError::check("margin", margin, "above 0 and below 1/2", margin > 0.0 && margin < 0.5)?;
        Ok(BalanceEvidence {
            mean: games.mean(),
            p_unbalanced: games.two_sided_p(0.5),
            equivalence: Equivalence { p_above: games.p_below(0.5 + margin), p_below: games.p_above(0.5 - margin) },
        })
    }
}

/// Decides the balance of a family of rulesets.
/// Rulesets that pass the equivalence test, with Holm's correction, are [`BalanceVerdict::Balanced`], even if
/// so many games were played that a tiny advantage is significant. The others are decided by the two-sided
/// test with Holm's correction. A ruleset is never called balanced because a difference is not significant.
/// Fails with [`StatisticsError::OutOfRange`] unless `0 < alpha < ½`, and as [`holm`].
pub fn decide_balance(evidence: &[BalanceEvidence], alpha: f64) -> Result<Vec<BalanceFinding>, StatisticsError> {
    StatisticsError::check("alpha", alpha, "above 0 and below 1/2", alpha > 0.0 && alpha < 0.5)?;
    let unbalanced: Vec<f64> = evidence.iter().map(|found| found.p_unbalanced).collect();
    let balanced: Vec<f64> = evidence.iter().map(|found| found.equivalence.p()).collect();
    let adjusted = holm(&unbalanced)?.into_iter().zip(holm(&balanced)?);
    Ok(evidence
        .iter()
        .zip(adjusted)
        .map(|(found, (p_unbalanced, p_balanced))| {
            let verdict = if p_balanced <= alpha {
                BalanceVerdict::Balanced
            } else if p_unbalanced > alpha {
                BalanceVerdict::Unresolved
            } else if found.mean > 0.5 {
                BalanceVerdict::First
            } else {
                BalanceVerdict::Second
            };
            BalanceFinding { verdict, p_unbalanced, p_balanced }
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WinDrawLoss;
    use crate::interval::Confidence;

    fn near(found: &[f64], expected: &[f64]) -> bool {
        found.len() == expected.len() && found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-12)
    }

    #[test]
    fn holm_adjusts_as_published() {
        let p_values = [0.04, 0.01, 0.03, 0.005];
        assert!(near(&holm(&p_values).unwrap(), &[0.06, 0.03, 0.06, 0.02]));
        assert!(near(&holm(&[0.9, 0.8]).unwrap(), &[1.0, 1.0]));
        assert_eq!(holm(&[]), Ok(vec![]));
        assert!(holm(&[0.5, f64::NAN]).is_err() && holm(&[1.1]).is_err());
    }

    #[test]
    fn critical_values_are_those_of_the_table() {
        for (count, per_ruleset, all_pairs) in
            [(5, 2.576, 2.807), (10, 2.807, 3.261), (20, 3.023, 3.649), (30, 3.144, 3.857)]
        {
            let pairs = count * (count - 1) / 2;
            assert!((Confidence::NINETY_FIVE.bonferroni(count).z() - per_ruleset).abs() < 6e-4);
            assert!((Confidence::NINETY_FIVE.bonferroni(pairs).z() - all_pairs).abs() < 6e-4);
            assert!(Confidence::NINETY_FIVE.simultaneous(count).z() < per_ruleset);
        }
        assert_eq!(Confidence::NINETY_FIVE.simultaneous(1).z(), Confidence::NINETY_FIVE.z());
    }

    #[test]
    fn equivalence_agrees_with_the_ninety_per_cent_interval() {
        let ninety = Confidence::new(0.9).unwrap();
        for wins in (300..700).step_by(7) {
            let games = WinDrawLoss::new(wins, 300, 1_000 - wins).mean_test();
            let interval = games.interval(ninety);
            let inside = interval.lower >= 0.47 && interval.upper <= 0.53;
            assert_eq!(BalanceEvidence::new(&games, 0.03).unwrap().equivalence.p() <= 0.05, inside);
        }
        for margin in [0.0, 0.5, f64::NAN] {
            assert!(BalanceEvidence::new(&WinDrawLoss::new(4, 3, 4).mean_test(), margin).is_err());
        }
    }

    #[test]
    fn verdicts_tell_balanced_from_unresolved() {
        let evidence: Vec<BalanceEvidence> = [
            WinDrawLoss::new(3_500, 3_000, 3_500),
            WinDrawLoss::new(35, 30, 35),
            WinDrawLoss::new(4_500, 3_000, 2_500),
            WinDrawLoss::new(2_500, 3_000, 4_500),
            // A certain advantage of half a point in a hundred: within the margin of three.
            WinDrawLoss::new(355_000, 300_000, 345_000),
        ]
        .iter()
        .map(|counts| BalanceEvidence::new(&counts.mean_test(), 0.03).unwrap())
        .collect();
        let findings = decide_balance(&evidence, 0.05).unwrap();
        let verdicts: Vec<BalanceVerdict> = findings.iter().map(|f| f.verdict).collect();
        assert_eq!(
            verdicts,
            [
                BalanceVerdict::Balanced,
                BalanceVerdict::Unresolved,
                BalanceVerdict::First,
                BalanceVerdict::Second,
                BalanceVerdict::Balanced,
            ]
        );
        assert!(findings[4].p_unbalanced < 1e-6);
    }

    #[test]
    fn few_games_prove_nothing() {
        for (wins, draws, losses) in [(3, 1, 0), (0, 1, 2), (2, 2, 2), (0, 30, 0), (0, 0, 0)] {
            let found = BalanceEvidence::new(&WinDrawLoss::new(wins, draws, losses).mean_test(), 0.03).unwrap();
            assert_eq!(decide_balance(&[found], 0.05).unwrap()[0].verdict, BalanceVerdict::Unresolved);
        }
    }
}

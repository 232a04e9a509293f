//! Multiple testing: corrected p-values, equivalence tests, and the verdict on each ruleset.

use serde::{Deserialize, Serialize};

use super::distribution::normal_cdf;
use super::error::StatisticsError;
use super::score::{Score, WinDrawLoss};

/// Returns p-values adjusted by Holm's step-down, in the order given.
///
/// `p₍ᵢ₎ = max_{j<=i} min(1, (m−j+1)·p₍ⱼ₎)`. Rejecting those at most `α` keeps the chance of any false
/// rejection at `α`, whatever the dependence. For confirmatory families such as "is it unbalanced?".
///
/// # Errors
/// [`StatisticsError::OutOfRange`] for a p-value outside `[0, 1]`.
///
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
    /// The p-value against "at least `½ + margin`": `Φ((s − ½ − margin)/SE)`.
    pub p_above: f64,
    /// The p-value against "at most `½ − margin`": `Φ((½ − margin − s)/SE)`.
    pub p_below: f64,
}

impl Equivalence {
    /// Tests a score.
    ///
    /// # Errors
    /// [`StatisticsError::OutOfRange`] unless `0 < margin < ½`; [`StatisticsError::NoVariance`] when every
    /// observation was the same.
    ///
    /// Source: Schuirmann 1987, J. Pharmacokinetics and Biopharmaceutics 15, 657-680.
    pub fn test(score: Score, margin: f64) -> Result<Equivalence, StatisticsError> {
        check_margin(margin)?;
        let score = score.estimate()?;
        let offset = score.value - 0.5;
        Ok(Equivalence {
            p_above: normal_cdf((offset - margin) / score.standard_error),
            p_below: normal_cdf((-margin - offset) / score.standard_error),
        })
    }

    /// Returns the p-value of the pair: the larger one.
    ///
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
    /// Tests a score whose error is normal: the test that agrees with [`Score::interval`].
    ///
    /// # Errors
    /// As [`Equivalence::test`].
    pub fn of_score(score: Score, margin: f64) -> Result<BalanceEvidence, StatisticsError> {
        let equivalence = Equivalence::test(score, margin)?;
        Ok(BalanceEvidence { mean: score.mean(), p_unbalanced: score.two_sided_p()?, equivalence })
    }

    /// Tests counted games by the posterior of [`WinDrawLoss::credible_interval`]: the test that agrees with that
    /// interval, for games so few or so one-sided that their error is not normal.
    ///
    /// # Errors
    /// [`StatisticsError::OutOfRange`] unless `0 < margin < ½`; [`StatisticsError::NoObservations`] without games.
    pub fn of_games(games: WinDrawLoss, margin: f64) -> Result<BalanceEvidence, StatisticsError> {
        check_margin(margin)?;
        let mean = games.mean().ok_or(StatisticsError::NoObservations("games"))?;
        let below = games.posterior();
        let below_half = below(0.5);
        Ok(BalanceEvidence {
            mean,
            p_unbalanced: (2.0 * below_half.min(1.0 - below_half)).clamp(0.0, 1.0),
            equivalence: Equivalence {
                p_above: (1.0 - below(0.5 + margin)).clamp(0.0, 1.0),
                p_below: below(0.5 - margin).clamp(0.0, 1.0),
            },
        })
    }
}

/// Applies [`decide_balance`] to the first player's scores of a family of rulesets.
///
/// # Errors
/// As [`BalanceEvidence::of_score`], for the first score that cannot be tested, and as [`decide_balance`].
pub fn balance_verdicts(scores: &[Score], margin: f64, alpha: f64) -> Result<Vec<BalanceFinding>, StatisticsError> {
    let evidence: Vec<BalanceEvidence> =
        scores.iter().map(|&score| BalanceEvidence::of_score(score, margin)).collect::<Result<_, _>>()?;
    decide_balance(&evidence, alpha)
}

/// Decides the balance of a family of rulesets.
///
/// Rulesets that pass the equivalence test, with Holm's correction, are [`BalanceVerdict::Balanced`], even if
/// so many games were played that a tiny advantage is significant. The others are decided by the two-sided
/// test with Holm's correction. A ruleset is never called balanced because a difference is not significant.
///
/// # Errors
/// [`StatisticsError::OutOfRange`] unless `0 < alpha < ½`, and as [`holm`].
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

/// Checks that a margin around ½ leaves room on both sides.
fn check_margin(margin: f64) -> Result<f64, StatisticsError> {
    StatisticsError::check("margin", margin, "above 0 and below 1/2", margin > 0.0 && margin < 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;
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
        for wins in (300..700).step_by(7) {
            let score = WinDrawLoss::new(wins, 300, 1_000 - wins).score().unwrap();
            let interval = score.interval(Confidence::NINETY).unwrap();
            let inside = interval.lower >= 0.47 && interval.upper <= 0.53;
            assert_eq!(Equivalence::test(score, 0.03).unwrap().p() <= 0.05, inside);
        }
        let alike = WinDrawLoss::new(0, 90, 0).score().unwrap();
        assert_eq!(Equivalence::test(alike, 0.03), Err(StatisticsError::NoVariance));
        let score = WinDrawLoss::new(4, 3, 4).score().unwrap();
        assert!(Equivalence::test(score, 0.0).is_err());
    }

    #[test]
    fn verdicts_tell_balanced_from_unresolved() {
        let scores: Vec<Score> = [
            WinDrawLoss::new(3_500, 3_000, 3_500),
            WinDrawLoss::new(35, 30, 35),
            WinDrawLoss::new(4_500, 3_000, 2_500),
            WinDrawLoss::new(2_500, 3_000, 4_500),
            // A certain advantage of half a point in a hundred: within the margin of three.
            WinDrawLoss::new(355_000, 300_000, 345_000),
        ]
        .iter()
        .map(|counts| counts.score().unwrap())
        .collect();
        let findings = balance_verdicts(&scores, 0.03, 0.05).unwrap();
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
    fn the_test_of_few_games_agrees_with_their_credible_interval() {
        for (wins, draws, losses) in [(3, 1, 0), (0, 1, 3), (4, 0, 0), (5, 1, 0), (7, 0, 1), (2, 2, 2), (9, 0, 3)] {
            let games = WinDrawLoss::new(wins, draws, losses);
            let found = BalanceEvidence::of_games(games, 0.03).unwrap();
            let interval = games.credible_interval(Confidence::NINETY_FIVE);
            assert_eq!(found.p_unbalanced > 0.05, interval.contains(0.5), "{games:?}: {found:?}, {interval:?}");
        }
        // Three wins and a draw prove nothing, whatever their spread.
        let few = BalanceEvidence::of_games(WinDrawLoss::new(3, 1, 0), 0.03).unwrap();
        assert_eq!(decide_balance(&[few], 0.05).unwrap()[0].verdict, BalanceVerdict::Unresolved);
        // With many games it is the normal test.
        let many = WinDrawLoss::new(4_300, 2_000, 3_700);
        let (one, other) =
            (BalanceEvidence::of_games(many, 0.03), BalanceEvidence::of_score(many.score().unwrap(), 0.03));
        let (one, other) = (one.unwrap(), other.unwrap());
        assert!((one.equivalence.p() - other.equivalence.p()).abs() < 2e-3, "{one:?} {other:?}");
        assert!(BalanceEvidence::of_games(WinDrawLoss::default(), 0.03).is_err());
        assert!(BalanceEvidence::of_games(many, 0.5).is_err());
    }
}

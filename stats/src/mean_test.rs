//! The score test of a mean of outcomes that have few possible values, and the interval that it leaves. It takes the variance
//! that the hypothesis makes likely, and so keeps its error rate with few decisive games, or none.

use super::distribution::{bisect, normal_cdf};
use super::interval::{Confidence, Interval};

/// Independent outcomes of `K` possible values in `[0, 1]`, counted.
/// Source: Tango 1998, Statistics in Medicine 17, 891-908, for three values (his difference of two rates is twice the
/// mean less 1); the restricted likelihood of more values is that of Owen 1988, Biometrika 75, 237-249, in which the
/// ends of the range may have a probability though they were not seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanTest<const K: usize> {
    /// Rising from 0 to 1.
    values: [f64; K],
    counts: [f64; K],
}

impl<const K: usize> MeanTest<K> {
    /// Makes it of values that rise from 0 to 1, and how often each was seen.
    pub(crate) fn new(values: [f64; K], counts: [u64; K]) -> MeanTest<K> {
        MeanTest { values, counts: counts.map(|count| count as f64) }
    }

    /// Returns the test of so many outcomes as `share` of these, above 0, in the same proportions: for outcomes that
    /// are not independent, the inverse of their design effect.
    #[must_use]
    pub fn of_share(self, share: f64) -> MeanTest<K> {
        MeanTest { counts: self.counts.map(|count| share * count), ..self }
    }

    fn total(&self) -> f64 {
        self.counts.iter().sum()
    }

    fn sum(&self, value: impl Fn(f64) -> f64) -> f64 {
        self.counts.iter().zip(self.values).map(|(count, outcome)| count * value(outcome)).sum()
    }

    /// Returns the mean, in `[0, 1]`; ½ without outcomes.
    #[must_use]
    pub fn mean(&self) -> f64 {
        let total = self.total();
        if total > 0.0 { self.sum(|outcome| outcome) / total } else { 0.5 }
    }

    /// Returns how many standard errors the mean lies above `hypothesis`, in `[0, 1]`, where the standard error is the
    /// one that is likeliest under the hypothesis. Infinite for a hypothesis at an end of the range that is not the
    /// mean; 0 without outcomes.
    #[must_use]
    pub fn statistic(&self, hypothesis: f64) -> f64 {
        let difference = self.mean() - hypothesis;
        if difference == 0.0 || self.total() == 0.0 {
            return 0.0;
        }
        difference * (self.total() / self.variance_under(hypothesis)).sqrt()
    }

    /// Returns one outcome's variance at the likeliest probabilities whose mean is `mean`.
    /// They are `p = count / (n (1 + λ d))` with `d` an outcome less the mean. No `1 + λ d` is negative; where λ makes
    /// it 0 at an end of the range that was not seen, that end has the probability that the others lack.
    fn variance_under(&self, mean: f64) -> f64 {
        if mean <= 0.0 || mean >= 1.0 {
            return 0.0;
        }
        let total = self.total();
        // What the outcomes seen add to the sum of p d, times n. It falls as λ rises.
        let slope = |factor: f64| self.sum_of_seen(|outcome| (outcome - mean) / (1.0 + factor * (outcome - mean)));
        let (least, most) = (-1.0 / (1.0 - mean), 1.0 / mean);
        let (factor, end) = if self.counts[K - 1] == 0.0 && slope(least) <= 0.0 {
            (least, 1.0)
        } else if self.counts[0] == 0.0 && slope(most) >= 0.0 {
            (most, 0.0)
        } else {
            (bisect(least, most, |factor| slope(factor) > 0.0), mean)
        };
        let seen = self.sum_of_seen(|outcome| (outcome - mean).powi(2) / (1.0 + factor * (outcome - mean)));
        // The end's probability is -slope / (n d); here times d squared.
        let unseen = if end == mean { 0.0 } else { -slope(factor) * (end - mean) };
        (seen + unseen) / total
    }

    fn sum_of_seen(&self, value: impl Fn(f64) -> f64) -> f64 {
        let seen = self.counts.iter().zip(self.values).filter(|&(&count, _)| count > 0.0);
        seen.map(|(count, outcome)| count * value(outcome)).sum()
    }

    /// Returns the hypotheses that the two-sided test at `1 - confidence` does not reject: an interval inside `[0, 1]`
    /// that contains the mean, and all of `[0, 1]` without outcomes.
    #[must_use]
    pub fn interval(&self, confidence: Confidence) -> Interval {
        if self.total() == 0.0 {
            return Interval { lower: 0.0, upper: 1.0 };
        }
        let (mean, z) = (self.mean(), confidence.z());
        Interval {
            lower: bisect(0.0, mean, |hypothesis| self.statistic(hypothesis) > z),
            upper: bisect(mean, 1.0, |hypothesis| self.statistic(hypothesis) > -z),
        }
    }

    /// Returns the p-value against "the expected outcome is at least `hypothesis`".
    #[must_use]
    pub fn p_below(&self, hypothesis: f64) -> f64 {
        normal_cdf(self.statistic(hypothesis))
    }

    /// Returns the p-value against "the expected outcome is at most `hypothesis`".
    #[must_use]
    pub fn p_above(&self, hypothesis: f64) -> f64 {
        normal_cdf(-self.statistic(hypothesis))
    }

    /// Returns the p-value of "the expected outcome is `hypothesis`".
    #[must_use]
    pub fn two_sided_p(&self, hypothesis: f64) -> f64 {
        2.0 * normal_cdf(-self.statistic(hypothesis).abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Pentanomial, WinDrawLoss};

    /// Tango's closed form for wins, draws and losses: the statistic of "wins less losses is `delta` of the games".
    fn tango(games: WinDrawLoss, delta: f64) -> f64 {
        let (n, b, c) = (games.games() as f64, games.wins as f64, games.losses as f64);
        let [two, one, zero] = [2.0 * n, -b - c + (2.0 * n - b + c) * delta, -c * delta * (1.0 - delta)];
        let lost = ((one * one - 4.0 * two * zero).sqrt() - one) / (2.0 * two);
        (b - c - n * delta) / (n * (2.0 * lost + delta - delta * delta)).sqrt()
    }

    #[test]
    fn of_three_outcomes_it_is_the_published_test() {
        for (wins, draws, losses) in
            [(0, 196, 4), (1, 195, 4), (8, 186, 6), (0, 200, 0), (30, 0, 2), (0, 3, 9), (40, 20, 30)]
        {
            let games = WinDrawLoss::new(wins, draws, losses);
            for hypothesis in [0.03, 0.2, 0.47, 0.53, 0.61, 0.9] {
                let (found, expected) = (games.mean_test().statistic(hypothesis), tango(games, 2.0 * hypothesis - 1.0));
                assert!((found - expected).abs() < 1e-6 * expected.abs().max(1.0), "{games:?}: {found} {expected}");
            }
        }
        // McNemar's test: draws say nothing about who is ahead.
        assert!((WinDrawLoss::new(16, 900, 9).mean_test().statistic(0.5) - 7.0 / 5.0).abs() < 1e-9);
        // Wilson's interval, where nothing is drawn.
        let wilson = crate::proportion::wilson(28, 30, Confidence::NINETY_FIVE).unwrap();
        let found = WinDrawLoss::new(28, 0, 2).mean_test().interval(Confidence::NINETY_FIVE);
        assert!((found.lower - wilson.lower).abs() < 0.02 && (found.upper - wilson.upper).abs() < 0.02, "{found:?}");
    }

    #[test]
    fn the_interval_holds_the_mean_and_what_is_not_rejected() {
        let confidence = Confidence::NINETY_FIVE;
        for wins in 0..=7_u64 {
            for draws in 0..=7 {
                for losses in 0..=7 {
                    let games = WinDrawLoss::new(wins, draws, losses);
                    let (test, interval) = (games.mean_test(), games.mean_test().interval(confidence));
                    assert!(interval.contains(test.mean()) && interval.lower >= 0.0 && interval.upper <= 1.0);
                    assert!(interval.half_width() > 0.0, "{games:?}");
                    for step in 1..20 {
                        let hypothesis = f64::from(step) / 20.0;
                        let p = test.two_sided_p(hypothesis);
                        assert_eq!(p > confidence.alpha(), interval.contains(hypothesis), "{games:?} {hypothesis}");
                        assert!((test.p_below(hypothesis) + test.p_above(hypothesis) - 1.0).abs() < 1e-12);
                    }
                    let mirrored = games.reversed().mean_test().interval(confidence);
                    assert!((mirrored.lower + interval.upper - 1.0).abs() < 1e-9, "{games:?}");
                }
            }
        }
        let pairs = Pentanomial { counts: [0, 0, 10, 0, 0] };
        let interval = pairs.mean_test().interval(confidence);
        assert!((interval.half_width() - 0.139).abs() < 1e-3, "{interval:?}");
        assert_eq!(WinDrawLoss::default().mean_test().interval(confidence), Interval { lower: 0.0, upper: 1.0 });
    }

    #[test]
    fn fewer_outcomes_say_less() {
        let games = WinDrawLoss::new(60, 100, 40).mean_test();
        let half = WinDrawLoss::new(30, 50, 20).mean_test();
        assert_eq!(games.of_share(0.5), half);
        let width = |test: &MeanTest<3>| test.interval(Confidence::NINETY_FIVE).half_width();
        assert!(width(&half) > 1.3 * width(&games));
    }

    #[test]
    fn with_many_outcomes_it_is_the_normal_interval() {
        let counts = WinDrawLoss::new(4_000, 2_500, 3_500);
        let normal = counts.score().unwrap().interval(Confidence::NINETY_FIVE).unwrap();
        let found = counts.mean_test().interval(Confidence::NINETY_FIVE);
        assert!((normal.lower - found.lower).abs() < 1e-4 && (normal.upper - found.upper).abs() < 1e-4);
    }

    #[test]
    fn a_margin_is_seldom_passed_by_chance_though_nearly_all_games_are_drawn() {
        // The chance, summed over all results of 200 games with 6 % wins and no loss, that a first player who scores 53
        // is shown to score less, at the level of one test and of the first of 26.
        let size = |alpha: f64, p: &dyn Fn(WinDrawLoss) -> f64| {
            let mut chance = 0.94_f64.powi(200);
            let mut sum = 0.0;
            for wins in 0..=60_u64 {
                if p(WinDrawLoss::new(wins, 200 - wins, 0)) <= alpha {
                    sum += chance;
                }
                chance *= (200 - wins) as f64 / (wins + 1) as f64 * 0.06 / 0.94;
            }
            sum
        };
        let by_score = |games: WinDrawLoss| games.mean_test().p_below(0.53);
        let by_sample = |games: WinDrawLoss| {
            games
                .score()
                .unwrap()
                .estimate()
                .map_or(1.0, |score| normal_cdf((score.value - 0.53) / score.standard_error))
        };
        assert!(size(0.05, &by_score) <= 0.05 && size(0.05 / 26.0, &by_score) <= 1.3 * 0.05 / 26.0);
        assert!(size(0.05, &by_sample) > 0.075 && size(0.05 / 26.0, &by_sample) > 0.01);
    }
}

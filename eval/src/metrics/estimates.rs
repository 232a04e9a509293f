//! Estimates with intervals: rates, means, quantiles and curves over games of many openings.

use serde::{Deserialize, Serialize};

use latrunculi_stats::proportion::wilson_effective;
use latrunculi_stats::{Bootstrap, BootstrapKey, Confidence, Estimate, Interval};

/// How often something happens: so many of so many, with Wilson's interval.
///
/// Trials of one opening resemble each other (two games of it, or the actions of one game), so the interval is
/// that of `effective_trials` independent ones.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// How often it happened.
    pub count: u64,
    /// How often it could have happened, at least 1.
    pub trials: u64,
    /// `count / trials`.
    pub rate: f64,
    /// Wilson's interval at the confidence of the sample, inside `[0, 1]`.
    pub interval: Interval,
    /// Independent trials worth as much, at most `trials`; where the rate is 0 or 1, the openings with trials.
    pub effective_trials: f64,
}

/// A mean, quantile or fitted number.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MetricEstimate {
    /// The point estimate.
    pub value: f64,
    /// Its interval at the confidence of the sample; `None` where too few openings speak of it.
    pub interval: Option<Interval>,
    /// How many observations (games, positions: the field says which) it rests on.
    pub observations: u64,
}

/// A mean over games that runs with the turns.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// Its points by rising turn.
    pub points: Vec<CurvePoint>,
}

/// One point of a [`Curve`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurvePoint {
    /// The turn: 0 is before the first one.
    pub turn: u32,
    /// The mean over games.
    pub value: f64,
    /// The interval of this point alone (percentile of the bootstrap over openings).
    pub pointwise: Option<Interval>,
    /// The interval that holds at all points of the curve together (max-t).
    pub simultaneous: Option<Interval>,
    /// Games in the mean, those over already included.
    pub games: u64,
    /// Games among them still going on.
    pub games_going_on: u64,
}

/// Games and their openings, and how intervals over them are made.
///
/// A game's place in the sample is its index. Nothing here is `Some` of something that is not finite.
pub(super) struct Sampling<'a> {
    /// For each game the index of its opening, below `openings`.
    pub(super) opening_of: Vec<usize>,
    pub(super) openings: usize,
    pub(super) confidence: Confidence,
    pub(super) replications: usize,
    pub(super) seed: u64,
    pub(super) ruleset: &'a str,
}

impl Sampling<'_> {
    /// Returns a rate from the successes and trials of each game that has trials, given by the game's index.
    ///
    /// Wilson's interval with as many trials as the openings' spread says the sample is worth.
    ///
    /// With `y_c` successes in `n_c` trials of opening `c` the variance of the rate `p` is
    /// `C/(C−1)·Σ(y_c − p·n_c)²/N²`; over `p(1−p)/(N−1)`, that of independent trials, it is the design effect, by
    /// which `N` is divided.
    ///
    /// Source: Korn and Graubard 1998, Survey Methodology 24, 193-201.
    pub(super) fn rate(&self, games: impl IntoIterator<Item = (usize, u64, u64)>) -> Option<Rate> {
        let mut by_opening = vec![(0, 0); self.openings];
        for (game, count, trials) in games {
            let opening: &mut (u64, u64) = &mut by_opening[self.opening_of[game]];
            opening.0 += count;
            opening.1 += trials;
        }
        let tried = || by_opening.iter().filter(|opening| opening.1 > 0);
        let count: u64 = tried().map(|opening| opening.0).sum();
        let trials: u64 = tried().map(|opening| opening.1).sum();
        if trials == 0 {
            return None;
        }
        let openings = tried().count() as f64;
        let rate = count as f64 / trials as f64;
        let squares: f64 = tried().map(|&(y, n)| (y as f64 - rate * n as f64).powi(2)).sum();
        let trial_count = trials as f64;
        let variance = openings / (openings - 1.0) * squares / trial_count.powi(2);
        let design_effect = variance * (trial_count - 1.0) / (rate * (1.0 - rate));
        let effective_trials = if count == 0 || count == trials {
            openings
        } else if openings < 2.0 {
            1.0
        } else {
            trial_count / design_effect.max(1.0)
        };
        let interval = wilson_effective(rate, effective_trials, self.confidence);
        Some(Rate { count, trials, rate, interval, effective_trials })
    }

    /// Returns the rate of a property that some games have, all of them being asked.
    pub(super) fn rate_of_games(&self, has: impl Fn(usize) -> bool) -> Option<Rate> {
        self.rate((0..self.opening_of.len()).map(|game| (game, u64::from(has(game)), 1)))
    }

    /// Returns the smallest observation that at least `probability` of all do not exceed.
    ///
    /// Each observation comes with its game. The interval is Woodruff's: the observations at the ends of the
    /// interval of the share that lies at or below the quantile.
    ///
    /// Source: Woodruff 1952, JASA 47, 635-646.
    pub(super) fn quantile(&self, observations: &[(usize, u32)], probability: f64) -> Option<MetricEstimate> {
        let largest = observations.iter().map(|&(_, value)| value).max()?;
        let mut counts = vec![0u64; largest as usize + 1];
        observations.iter().for_each(|&(_, value)| counts[value as usize] += 1);
        let total = observations.len() as f64;
        let at = |probability: f64| {
            let needed = (probability * total).ceil().max(1.0) as u64;
            let mut seen = 0;
            counts
                .iter()
                .position(|&count| {
                    seen += count;
                    seen >= needed
                })
                .unwrap_or(largest as usize) as f64
        };
        let value = at(probability);
        let below = |&(game, observed): &(usize, u32)| (game, u64::from(f64::from(observed) <= value), 1);
        let share = self.rate(observations.iter().map(below))?;
        let is_spread = share.effective_trials >= 2.0 && counts.iter().filter(|&&count| count > 0).count() > 1;
        let interval = is_spread.then(|| {
            let share = wilson_effective(probability, share.effective_trials, self.confidence);
            Interval { lower: at(share.lower).min(value), upper: at(share.upper).max(value) }
        });
        Some(MetricEstimate { value, interval, observations: observations.len() as u64 })
    }

    /// Returns each ratio of sums with its interval from one bootstrap over openings.
    ///
    /// The name and the seed of the sample decide the draws. A ratio without observations is `None`.
    pub(super) fn ratios(&self, name: &str, sums: &Ratios) -> Vec<Option<MetricEstimate>> {
        self.functions_of_ratios(name, sums, |ratios| ratios.to_vec())
    }

    /// Returns numbers that are computed from ratios of sums, with their intervals from one bootstrap over
    /// openings. `derive` answers one number for each ratio.
    pub(super) fn functions_of_ratios(
        &self,
        name: &str,
        sums: &Ratios,
        derive: impl Fn(&[f64]) -> Vec<f64> + Sync,
    ) -> Vec<Option<MetricEstimate>> {
        let defined = sums.always_defined();
        let estimates = derive(&sums.ratios(0..sums.openings()));
        let mut measured: Vec<Option<MetricEstimate>> = (0..sums.columns)
            .map(|column| {
                let (value, observations) = (estimates[column], sums.observations[column]);
                (observations > 0 && value.is_finite()).then_some(MetricEstimate {
                    value,
                    interval: None,
                    observations,
                })
            })
            .collect();
        let statistic = |openings: &[usize]| {
            let values = derive(&sums.ratios(openings.iter().copied()));
            Some(defined.iter().map(|&column| values[column]).collect())
        };
        let Some(band) = self.bootstrap(name, sums.openings()).run(statistic).ok() else { return measured };
        for (&column, interval) in defined.iter().zip(band.percentiles(self.confidence)) {
            if let Some(measured) = &mut measured[column] {
                // Openings that all say the same tell nothing of the error.
                measured.interval = (interval.lower < interval.upper).then_some(interval);
            }
        }
        measured
    }

    /// Returns the bands of all columns together, from one bootstrap over openings; `None` below two openings.
    pub(super) fn bands(&self, name: &str, sums: &Ratios) -> Option<Bands> {
        let defined = sums.always_defined();
        let statistic = |openings: &[usize]| {
            let ratios = sums.ratios(openings.iter().copied());
            Some(defined.iter().map(|&column| ratios[column]).collect())
        };
        let band = self.bootstrap(name, sums.openings()).run(statistic).ok()?;
        let spread = |intervals: Vec<Interval>| {
            let mut by_column = vec![None; sums.columns];
            for (&column, interval) in defined.iter().zip(intervals) {
                by_column[column] = (interval.lower < interval.upper).then_some(interval);
            }
            by_column
        };
        Some(Bands {
            pointwise: spread(band.percentiles(self.confidence)),
            simultaneous: spread(band.simultaneous(self.confidence)),
        })
    }

    /// Returns the bootstrap of a statistic over `openings` openings.
    pub(super) fn bootstrap<'s>(&'s self, statistic: &'s str, openings: usize) -> Bootstrap<'s> {
        let key = BootstrapKey { seed: self.seed, ruleset: self.ruleset, statistic };
        Bootstrap { key, cluster_count: openings, replications: self.replications }
    }

    /// Makes an empty table of sums over the openings of this sample.
    pub(super) fn sums(&self, columns: usize) -> Ratios {
        Ratios {
            columns,
            numerators: vec![0.0; self.openings * columns],
            denominators: vec![0.0; self.openings * columns],
            observations: vec![0; columns],
        }
    }

    pub(super) fn add(&self, sums: &mut Ratios, game: usize, column: usize, value: f64) {
        self.add_weighted(sums, game, column, value, 1.0);
    }

    /// Adds a sum of `count` observations of a game to a column.
    pub(super) fn add_weighted(&self, sums: &mut Ratios, game: usize, column: usize, sum: f64, count: f64) {
        let place = self.opening_of[game] * sums.columns + column;
        sums.numerators[place] += sum;
        sums.denominators[place] += count;
        sums.observations[column] += count as u64;
    }

    /// Returns each ratio with the standard error that the spread of the openings gives it,
    /// `SE² = C/(C−1)·Σ(y_c − r·n_c)²/(Σn_c)²`; 0 without observations.
    pub(super) fn linearised(&self, sums: &Ratios) -> Vec<Estimate> {
        let ratios = sums.ratios(0..sums.openings());
        let correction = self.openings as f64 / (self.openings as f64 - 1.0).max(1.0);
        (0..sums.columns)
            .map(|column| {
                let ratio = if ratios[column].is_finite() { ratios[column] } else { 0.0 };
                let (mut squares, mut total) = (0.0, 0.0);
                for opening in 0..sums.openings() {
                    let place = opening * sums.columns + column;
                    squares += (sums.numerators[place] - ratio * sums.denominators[place]).powi(2);
                    total += sums.denominators[place];
                }
                let standard_error = if total > 0.0 { (correction * squares).sqrt() / total } else { 0.0 };
                Estimate { value: ratio, standard_error }
            })
            .collect()
    }
}

/// Bands around a curve, by column; `None` where a point never varies.
pub(super) struct Bands {
    pub(super) pointwise: Vec<Option<Interval>>,
    pub(super) simultaneous: Vec<Option<Interval>>,
}

/// Sums by opening whose ratios are means over games: columns of numerators and denominators.
pub(super) struct Ratios {
    columns: usize,
    numerators: Vec<f64>,
    denominators: Vec<f64>,
    observations: Vec<u64>,
}

impl Ratios {
    fn openings(&self) -> usize {
        self.numerators.len() / self.columns.max(1)
    }

    /// Returns the ratio of each column over some openings; `NaN` where the denominator is 0.
    fn ratios(&self, openings: impl IntoIterator<Item = usize>) -> Vec<f64> {
        let (mut numerators, mut denominators) = (vec![0.0; self.columns], vec![0.0; self.columns]);
        for opening in openings {
            let row = opening * self.columns..(opening + 1) * self.columns;
            numerators.iter_mut().zip(&self.numerators[row.clone()]).for_each(|(sum, value)| *sum += value);
            denominators.iter_mut().zip(&self.denominators[row]).for_each(|(sum, value)| *sum += value);
        }
        numerators.iter().zip(denominators).map(|(sum, count)| sum / count).collect()
    }

    /// Returns the columns that practically every draw of openings has observations of.
    fn always_defined(&self) -> Vec<usize> {
        let openings = self.openings();
        let is_defined = |&column: &usize| {
            let with = (0..openings).filter(|opening| self.denominators[opening * self.columns + column] > 0.0).count();
            let share_without = 1.0 - with as f64 / openings as f64;
            with >= 2 && share_without.powf(openings as f64) < 1e-6
        };
        (0..self.columns).filter(is_defined).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latrunculi_stats::bootstrap::draw_index;
    use latrunculi_stats::proportion::wilson;

    fn sampling(opening_of: Vec<usize>) -> Sampling<'static> {
        let openings = opening_of.iter().max().map_or(0, |last| last + 1);
        let confidence = Confidence::NINETY_FIVE;
        Sampling { opening_of, openings, confidence, replications: 500, seed: 1, ruleset: "test" }
    }

    #[test]
    fn independent_games_have_wilsons_interval() {
        let sampling = sampling((0..263).collect());
        let rate = sampling.rate_of_games(|game| game < 81).unwrap();
        let published = wilson(81, 263, Confidence::NINETY_FIVE).unwrap();
        assert!((rate.effective_trials - 263.0).abs() < 1e-9);
        assert!((rate.interval.lower - published.lower).abs() < 1e-12);
        assert!((rate.interval.upper - published.upper).abs() < 1e-12);
    }

    #[test]
    fn ten_games_of_one_opening_that_end_alike_are_worth_one() {
        let sampling = sampling((0..1_000).map(|game| game / 10).collect());
        let rate = sampling.rate_of_games(|game| game / 10 % 3 == 0).unwrap();
        assert!((rate.effective_trials - 99.1).abs() < 0.2, "{rate:?}");
        let never = sampling.rate_of_games(|_| false).unwrap();
        assert_eq!((never.effective_trials, never.interval.lower), (100.0, 0.0));
        assert!(sampling.rate(std::iter::empty()).is_none());
    }

    #[test]
    fn intervals_of_clustered_rates_and_means_cover_the_truth() {
        // Sixty openings of two games that end alike four times in five; half of all games have the property.
        let sampling = Sampling { replications: 200, ..sampling((0..120).map(|game| game / 2).collect()) };
        let (mut rates, mut means) = (0, 0);
        let rounds = 400;
        for round in 0..rounds {
            let key = BootstrapKey { seed: round, ruleset: "coverage", statistic: "games" };
            let mut stream = key.stream(0);
            let mut games = Vec::new();
            for _ in 0..60 {
                let first = draw_index(&mut stream, 2) == 0;
                let is_alike = draw_index(&mut stream, 5) < 4;
                games.extend([first, first == is_alike]);
            }
            let rate = sampling.rate_of_games(|game| games[game]).unwrap();
            rates += u32::from(rate.interval.contains(0.5));
            let mut sums = sampling.sums(1);
            games
                .iter()
                .enumerate()
                .for_each(|(game, &has)| sampling.add(&mut sums, game, 0, f64::from(u8::from(has))));
            let mean = sampling.ratios("coverage", &sums)[0].unwrap();
            means += u32::from(mean.interval.unwrap().contains(0.5));
        }
        // Taken as independent the games would cover it 86 % of the time.
        for covered in [rates, means] {
            let share = f64::from(covered) / rounds as f64;
            assert!((0.925..=0.98).contains(&share), "{rates} and {means} of {rounds}");
        }
    }

    #[test]
    fn quantiles_are_observations_with_woodruffs_interval() {
        let sampling = sampling((0..100).collect());
        let observations: Vec<(usize, u32)> = (0..100).map(|game| (game, game as u32 + 1)).collect();
        let median = sampling.quantile(&observations, 0.5).unwrap();
        let share = wilson(50, 100, Confidence::NINETY_FIVE).unwrap();
        assert_eq!(median.value, 50.0);
        let interval = median.interval.unwrap();
        assert_eq!(interval.lower, (share.lower * 100.0).ceil());
        assert_eq!(interval.upper, (share.upper * 100.0).ceil());
        assert_eq!(sampling.quantile(&observations, 0.95).unwrap().value, 95.0);
        let alike: Vec<(usize, u32)> = (0..100).map(|game| (game, 7)).collect();
        assert_eq!(sampling.quantile(&alike, 0.5).unwrap().interval, None);
    }

    #[test]
    fn a_ratio_that_few_openings_speak_of_has_no_interval() {
        let sampling = sampling((0..50).collect());
        let mut sums = sampling.sums(3);
        for game in 0..50 {
            sampling.add(&mut sums, game, 0, (game % 7) as f64);
        }
        sampling.add(&mut sums, 3, 1, 2.0);
        let measured = sampling.ratios("ratios", &sums);
        let mean = measured[0].unwrap();
        assert!(mean.interval.unwrap().contains(mean.value) && mean.observations == 50);
        assert_eq!(measured[1], Some(MetricEstimate { value: 2.0, interval: None, observations: 1 }));
        assert_eq!(measured[2], None);
        let linearised = sampling.linearised(&sums)[0];
        let half_width = linearised.interval(Confidence::NINETY_FIVE).half_width();
        assert!((mean.interval.unwrap().half_width() / half_width - 1.0).abs() < 0.15);
    }
}

//! The bootstrap over openings, each with all its games: standard errors of any statistic of games, which is a function of
//! a list of opening indices in which an index may occur several times.

use rand::SeedableRng;
use rand::rand_core::Rng;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::error::StatisticsError;
use super::interval::{Confidence, Interval};

/// The largest fraction of replicates without a value for which the bootstrap still has a result.
pub const UNDEFINED_FRACTION_MAX: f64 = 0.01;

/// The key of the random numbers of one bootstrap; replicate `b` is stream `b` of this key.
/// Results depend on the key only, not on the number of threads or the order of statistics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BootstrapKey<'a> {
    /// The seed of the whole report.
    pub seed: u64,
    /// The name of the ruleset.
    pub ruleset: &'a str,
    /// The name of the statistic.
    pub statistic: &'a str,
}

impl BootstrapKey<'_> {
    /// Returns the generator of replicate `replicate`.
    /// ChaCha8 with the 32-byte key seed, FNV-1a of the ruleset, FNV-1a of the statistic, 0, each 8 bytes
    /// little endian, and the replicate as stream.
    pub fn stream(self, replicate: u64) -> ChaCha8Rng {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&self.seed.to_le_bytes());
        key[8..16].copy_from_slice(&fnv_1a(self.ruleset).to_le_bytes());
        key[16..24].copy_from_slice(&fnv_1a(self.statistic).to_le_bytes());
        let mut stream = ChaCha8Rng::from_seed(key);
        stream.set_stream(replicate);
        stream
    }
}

fn fnv_1a(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Draws an index below `count` without bias.
/// Implemented here (Lemire 2019, arXiv 1805.10941) so that the numbers of a report do not change when a
/// library changes its sampling.
pub fn draw_index(stream: &mut ChaCha8Rng, count: u64) -> usize {
    let threshold = count.wrapping_neg() % count;
    loop {
        let product = u128::from(stream.next_u64()) * u128::from(count);
        if product as u64 >= threshold {
            return (product >> 64) as usize;
        }
    }
}

/// A bootstrap over `cluster_count` openings.
#[derive(Clone, Copy, Debug)]
pub struct Bootstrap<'a> {
    /// The key of the random numbers.
    pub key: BootstrapKey<'a>,
    /// The number of openings `C`, at least 2.
    pub cluster_count: usize,
    /// The number of replicates `B`, at least 2; 10,000 for a published interval.
    pub replications: usize,
}

impl Bootstrap<'_> {
    /// Resamples one or more numbers, such as the points of a curve.
    /// `statistic` is called with the opening indices `0..C` for the estimate, and with `B` draws of `C` indices
    /// with replacement. It returns the same number of values each time; a replicate is left out if it
    /// returns `None` or a value that is not finite.
    /// Fails with [`StatisticsError::TooFew`] below two openings or replicates; [`StatisticsError::UndefinedReplicates`] when
    /// the estimate itself, or more than [`UNDEFINED_FRACTION_MAX`] of the replicates, have no value.
    /// Panics when `statistic` returns lists of different lengths.
    pub fn run<S>(&self, statistic: S) -> Result<BootstrapBand, StatisticsError>
    where
        S: Fn(&[usize]) -> Option<Vec<f64>> + Sync,
    {
        for (what, found) in [("openings", self.cluster_count), ("replicates", self.replications)] {
            if found < 2 {
                return Err(StatisticsError::TooFew { what, needed: 2, found });
            }
        }
        let finite =
            |indices: &[usize]| statistic(indices).filter(|values| values.iter().all(|value| value.is_finite()));
        let all: Vec<usize> = (0..self.cluster_count).collect();
        let replications = self.replications;
        let Some(estimates) = finite(&all) else {
            return Err(StatisticsError::UndefinedReplicates { undefined: replications, replications });
        };
        let replicates: Vec<Option<Vec<f64>>> = (0..replications)
            .into_par_iter()
            .map_with(all, |indices, replicate| {
                let mut stream = self.key.stream(replicate as u64);
                for index in indices.iter_mut() {
                    *index = draw_index(&mut stream, self.cluster_count as u64);
                }
                finite(indices)
            })
            .collect();
        let undefined = replicates.iter().filter(|values| values.is_none()).count();
        if undefined as f64 > UNDEFINED_FRACTION_MAX * replications as f64 {
            return Err(StatisticsError::UndefinedReplicates { undefined, replications });
        }
        let replicates: Vec<Vec<f64>> = replicates.into_iter().flatten().collect();
        assert!(
            replicates.iter().all(|values| values.len() == estimates.len()),
            "a statistic returns the same number of values each time"
        );
        Ok(BootstrapBand { estimates, replicates })
    }
}

/// The replicates of many numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct BootstrapBand {
    estimates: Vec<f64>,
    replicates: Vec<Vec<f64>>,
}

impl BootstrapBand {
    /// Returns the statistic of the openings as played.
    #[must_use]
    pub fn estimates(&self) -> &[f64] {
        &self.estimates
    }

    /// Returns the standard error of each number.
    #[must_use]
    pub fn standard_errors(&self) -> Vec<f64> {
        (0..self.estimates.len()).map(|point| deviation(self.replicates.iter().map(|values| values[point]))).collect()
    }

    /// Returns the percentile interval of each number alone.
    #[must_use]
    pub fn percentiles(&self, confidence: Confidence) -> Vec<Interval> {
        let tail = confidence.alpha() / 2.0;
        (0..self.estimates.len())
            .map(|point| {
                let mut values: Vec<f64> = self.replicates.iter().map(|values| values[point]).collect();
                values.sort_by(f64::total_cmp);
                Interval { lower: quantile(&values, tail), upper: quantile(&values, 1.0 - tail) }
            })
            .collect()
    }

    /// Returns the factor `t` for which `θ̂ ± t·SE` holds at all points together.
    /// The `level` quantile over replicates of the largest `|θ* − θ̂|/SE` of all points. Points whose
    /// replicates do not vary are ignored; if none varies the factor is 0.
    #[must_use]
    pub fn critical_value(&self, confidence: Confidence) -> f64 {
        let errors = self.standard_errors();
        let largest = |values: &Vec<f64>| {
            values
                .iter()
                .zip(&self.estimates)
                .zip(&errors)
                .filter(|&(_, &error)| error > 0.0)
                .map(|((value, estimate), error)| ((value - estimate) / error).abs())
                .fold(0.0, f64::max)
        };
        let mut largest: Vec<f64> = self.replicates.iter().map(largest).collect();
        largest.sort_by(f64::total_cmp);
        quantile(&largest, confidence.level())
    }

    /// Returns the intervals that hold at all points together.
    #[must_use]
    pub fn simultaneous(&self, confidence: Confidence) -> Vec<Interval> {
        let critical = self.critical_value(confidence);
        self.estimates
            .iter()
            .zip(self.standard_errors())
            .map(|(&estimate, error)| Interval {
                lower: estimate - critical * error,
                upper: estimate + critical * error,
            })
            .collect()
    }
}

/// Returns the standard deviation with divisor `n − 1`; at least two values.
fn deviation(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / count;
    (values.map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0)).sqrt()
}

/// Returns a quantile of sorted values by linear interpolation; `probability` in `[0, 1]`.
fn quantile(sorted: &[f64], probability: f64) -> f64 {
    let index = probability.clamp(0.0, 1.0) * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[index.floor() as usize], sorted[index.ceil() as usize]);
    below + (above - below) * index.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: BootstrapKey = BootstrapKey { seed: 7, ruleset: "test", statistic: "mean" };

    fn mean_of(values: &[f64]) -> impl Fn(&[usize]) -> Option<Vec<f64>> + Sync + '_ {
        |indices| Some(vec![indices.iter().map(|&i| values[i]).sum::<f64>() / indices.len() as f64])
    }

    fn bootstrap(cluster_count: usize) -> Bootstrap<'static> {
        Bootstrap { key: KEY, cluster_count, replications: 4_000 }
    }

    #[test]
    fn numbers_depend_on_the_key_only() {
        let values: Vec<f64> = (0..60).map(|k| f64::from(k * k % 17)).collect();
        let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let serial = one_thread.install(|| bootstrap(60).run(mean_of(&values)).unwrap());
        let parallel = bootstrap(60).run(mean_of(&values)).unwrap();
        assert_eq!(serial, parallel);
        let other = Bootstrap { key: BootstrapKey { ruleset: "other", ..KEY }, ..bootstrap(60) };
        assert_ne!(other.run(mean_of(&values)).unwrap(), parallel);
        // The numbers themselves are pinned: a report must be made again to the last digit.
        let first: Vec<usize> = {
            let mut stream = KEY.stream(0);
            (0..6).map(|_| draw_index(&mut stream, 60)).collect()
        };
        assert_eq!(first, PINNED_DRAWS);
    }

    const PINNED_DRAWS: [usize; 6] = [8, 1, 9, 23, 38, 12];

    #[test]
    fn standard_error_of_a_mean_is_the_textbook_one() {
        let values: Vec<f64> = (0..200).map(|k| f64::from(k * 37 % 101)).collect();
        let sample = bootstrap(200).run(mean_of(&values)).unwrap();
        let mean = values.iter().sum::<f64>() / 200.0;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 200.0;
        let error = (variance / 200.0).sqrt();
        assert!((sample.standard_errors()[0] / error - 1.0).abs() < 0.03);
        let normal = Interval { lower: mean - 1.96 * error, upper: mean + 1.96 * error };
        let interval = sample.percentiles(Confidence::NINETY_FIVE)[0];
        assert!((interval.lower - normal.lower).abs() < 0.15 * error);
        assert!((interval.upper - normal.upper).abs() < 0.15 * error);
    }

    #[test]
    fn too_many_undefined_replicates_are_an_error() {
        let rarely =
            bootstrap(8).run(|indices| (indices.iter().any(|&i| i != indices[0])).then(|| vec![indices[0] as f64]));
        assert!(rarely.is_ok());
        let often = bootstrap(8).run(|indices| indices.contains(&0).then(|| vec![1.0]));
        assert!(matches!(often, Err(StatisticsError::UndefinedReplicates { .. })));
        let never = bootstrap(8).run(|_| Some(vec![f64::NAN]));
        assert!(matches!(never, Err(StatisticsError::UndefinedReplicates { .. })));
        let constant = bootstrap(8).run(|_| Some(vec![0.5])).unwrap();
        assert_eq!(constant.standard_errors(), [0.0]);
        assert!(matches!(
            bootstrap(1).run(|_| Some(vec![0.5])),
            Err(StatisticsError::TooFew { what: "openings", needed: 2, found: 1 })
        ));
    }

    #[test]
    fn simultaneous_band_of_independent_points_has_the_sidak_width() {
        // Five independent columns of ±1.
        let columns: Vec<[f64; 5]> = (0..400u64)
            .map(|row| {
                let mut stream = KEY.stream(1_000_000 + row);
                std::array::from_fn(|_| (stream.next_u64() % 2) as f64)
            })
            .collect();
        let band = bootstrap(400)
            .run(|indices| {
                let count = indices.len() as f64;
                Some((0..5).map(|c| indices.iter().map(|&i| columns[i][c]).sum::<f64>() / count).collect())
            })
            .unwrap();
        let critical = band.critical_value(Confidence::NINETY_FIVE);
        let sidak = Confidence::NINETY_FIVE.simultaneous(5).z();
        assert!((critical - sidak).abs() < 0.12, "{critical} {sidak}");
        let intervals = band.simultaneous(Confidence::NINETY_FIVE);
        assert!((intervals[2].half_width() - critical * band.standard_errors()[2]).abs() < 1e-12);
    }
}

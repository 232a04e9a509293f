//! A score with its error: trinomial counts, intervals, Elo, normalised Elo, likelihood of superiority.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

use super::distribution::normal_cdf;
use super::error::StatisticsError;
use super::interval::{Confidence, Estimate, Interval};
use super::mean_test::MeanTest;

/// Elo per nat of logistic strength, `400/ln 10`.
pub const ELO_PER_NAT: f64 = 173.717_792_761_300_73;

/// Normalised Elo per game standard deviation, `C = 800/ln 10`.
/// Source: Van den Bergh, "Normalized Elo".
pub const NORMALIZED_ELO_PER_DEVIATION: f64 = 347.435_585_522_601_46;

/// The margin by which a score is kept off 0 and 1 before its Elo is taken.
/// Source: fishtest and OpenBench, which clamp to `[1e-3, 1 − 1e-3]`.
pub const ELO_SCORE_MARGIN: f64 = 1e-3;

/// Fewer observations than this have their variance divided by `N − 1` instead of `N`.
/// The published tools divide by `N` always; from here on the two differ by less than 0.3 % in width.
pub const SMALL_SAMPLE: u64 = 200;

/// Returns the logistic Elo difference `E(s) = −400·log₁₀(1/s − 1)` of a score in `(0, 1)`.
/// `None` at and beyond the ends, where it is infinite. One hundredth of score near ½ is 6.95 Elo.
#[must_use]
pub fn elo_from_score(score: f64) -> Option<f64> {
    (score > 0.0 && score < 1.0).then(|| -400.0 * (1.0 / score - 1.0).log10())
}

/// Returns the score `s(E) = 1/(1 + 10^(−E/400))`, in `[0, 1]`, that a logistic Elo difference expects.
#[must_use]
pub fn score_from_elo(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

/// The result of one game from one player's point of view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum GameResult {
    /// The player won.
    Win,
    /// Nobody won.
    Draw,
    /// The opponent won.
    Loss,
}

impl GameResult {
    /// All results, in the order of tables.
    pub const ALL: [GameResult; 3] = [GameResult::Win, GameResult::Draw, GameResult::Loss];

    /// Returns the result from the point of view of `player`; no `winner` is a draw.
    #[must_use]
    pub fn for_player<P: PartialEq>(winner: Option<P>, player: P) -> GameResult {
        match winner {
            None => GameResult::Draw,
            Some(winner) if winner == player => GameResult::Win,
            Some(_) => GameResult::Loss,
        }
    }

    /// Returns the same game's result for the other player.
    #[must_use]
    pub fn reversed(self) -> GameResult {
        match self {
            GameResult::Win => GameResult::Loss,
            GameResult::Draw => GameResult::Draw,
            GameResult::Loss => GameResult::Win,
        }
    }

    /// Returns 1, ½ or 0.
    #[must_use]
    pub fn score(self) -> f64 {
        match self {
            GameResult::Win => 1.0,
            GameResult::Draw => 0.5,
            GameResult::Loss => 0.0,
        }
    }

    /// Returns the index in [`GameResult::ALL`].
    #[must_use]
    pub fn index(self) -> usize {
        self as usize
    }
}

/// Counts of wins, draws and losses, from one player's point of view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct WinDrawLoss {
    /// Games won.
    pub wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games lost.
    pub losses: u64,
}

/// Shows `+wins =draws -losses`.
impl fmt::Display for WinDrawLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "+{} ={} -{}", self.wins, self.draws, self.losses)
    }
}

impl WinDrawLoss {
    /// Makes counts in the order wins, draws, losses.
    #[must_use]
    pub const fn new(wins: u64, draws: u64, losses: u64) -> WinDrawLoss {
        WinDrawLoss { wins, draws, losses }
    }

    /// Counts one more game.
    pub fn record(&mut self, result: GameResult) {
        match result {
            GameResult::Win => self.wins += 1,
            GameResult::Draw => self.draws += 1,
            GameResult::Loss => self.losses += 1,
        }
    }

    /// Returns the number of games `N`.
    #[must_use]
    pub fn games(self) -> u64 {
        self.wins + self.draws + self.losses
    }

    /// Returns the points scored, `W + D/2`.
    #[must_use]
    pub fn points(self) -> f64 {
        self.wins as f64 + self.draws as f64 / 2.0
    }

    /// Returns the same games from the other player's point of view.
    #[must_use]
    pub fn reversed(self) -> WinDrawLoss {
        WinDrawLoss::new(self.losses, self.draws, self.wins)
    }

    /// Returns the mean score `s = (W + D/2)/N`, in `[0, 1]`; `None` without games.
    #[must_use]
    pub fn mean(self) -> Option<f64> {
        (self.games() > 0).then(|| self.points() / self.games() as f64)
    }

    /// Returns one game's variance `σ² = [W(1−s)² + D(½−s)² + L·s²]/N`, in `[0, ¼]`.
    /// Divided by `N`, as the published tools do; `None` without games.
    #[must_use]
    pub fn variance(self) -> Option<f64> {
        let mean = self.mean()?;
        let sum = self.wins as f64 * (1.0 - mean).powi(2)
            + self.draws as f64 * (0.5 - mean).powi(2)
            + self.losses as f64 * mean.powi(2);
        Some(sum / self.games() as f64)
    }

    /// Returns the score with its standard error `σ/√N`, taking the games as independent.
    ///
    /// Games that share an opening are not: use [`super::pairs::PairTable`] or
    /// [`super::clusters::ClusteredScore`] for those. Below [`SMALL_SAMPLE`] games the variance is
    /// divided by `N − 1`.
    /// Fails with [`StatisticsError::NoObservations`] without games.
    pub fn score(self) -> Result<Score, StatisticsError> {
        let (Some(mean), Some(variance)) = (self.mean(), self.variance()) else {
            return Err(StatisticsError::NoObservations("games"));
        };
        Score::new(mean, standard_error(variance, self.games()), self.games())
    }

    /// Returns the test of the expected score, taking the games as independent; its interval holds where
    /// `s ± z·SE` fails, with few games or games that nearly all ended alike.
    #[must_use]
    pub fn mean_test(self) -> MeanTest<3> {
        MeanTest::new([0.0, 0.5, 1.0], [self.losses, self.draws, self.wins])
    }
}

impl Add for WinDrawLoss {
    type Output = WinDrawLoss;

    fn add(self, other: WinDrawLoss) -> WinDrawLoss {
        WinDrawLoss {
            wins: self.wins + other.wins,
            draws: self.draws + other.draws,
            losses: self.losses + other.losses,
        }
    }
}

impl AddAssign for WinDrawLoss {
    fn add_assign(&mut self, other: WinDrawLoss) {
        *self = *self + other;
    }
}

impl Sum for WinDrawLoss {
    fn sum<I: Iterator<Item = WinDrawLoss>>(counts: I) -> WinDrawLoss {
        counts.fold(WinDrawLoss::default(), Add::add)
    }
}

/// Returns `√(σ²/n)`, with `n − 1` in small samples; `variance` was divided by `n`.
pub(super) fn standard_error(variance: f64, count: u64) -> f64 {
    let divisor = if count < SMALL_SAMPLE { count.saturating_sub(1).max(1) } else { count };
    (variance / divisor as f64).sqrt()
}

/// A mean score with its standard error, from one named point of view.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Score {
    mean: f64,
    standard_error: f64,
    games: u64,
}

impl Score {
    /// Makes a score of `games` games, whatever model its standard error comes from.
    /// Fails with [`StatisticsError::OutOfRange`] unless the mean is in `[0, 1]` and the standard error is finite and not
    /// negative; [`StatisticsError::NoObservations`] without games.
    pub fn new(mean: f64, standard_error: f64, games: u64) -> Result<Score, StatisticsError> {
        if games == 0 {
            return Err(StatisticsError::NoObservations("games"));
        }
        let mean = StatisticsError::check("mean score", mean, "between 0 and 1", (0.0..=1.0).contains(&mean))?;
        let standard_error =
            StatisticsError::check("standard error", standard_error, "at least 0", standard_error >= 0.0)?;
        Ok(Score { mean, standard_error, games })
    }

    /// Returns the mean, in `[0, 1]`.
    #[must_use]
    pub fn mean(self) -> f64 {
        self.mean
    }

    /// Returns the standard error of the mean; 0 if every observation was the same.
    #[must_use]
    pub fn standard_error(self) -> f64 {
        self.standard_error
    }

    /// Returns the number of games.
    #[must_use]
    pub fn games(self) -> u64 {
        self.games
    }

    /// Returns the deviation that one independent game would need for this standard error, `SE·√N`.
    /// For games it is `σ`, for pairs `√2·σ_pair`.
    #[must_use]
    pub fn game_deviation(self) -> f64 {
        self.standard_error * (self.games as f64).sqrt()
    }

    /// Returns the score as a value with an error.
    /// Fails with [`StatisticsError::NoVariance`] when every observation was the same.
    pub fn estimate(self) -> Result<Estimate, StatisticsError> {
        if self.standard_error > 0.0 {
            Ok(Estimate { value: self.mean, standard_error: self.standard_error })
        } else {
            Err(StatisticsError::NoVariance)
        }
    }

    /// Returns `s ± z·SE`. In small or lopsided samples the ends may leave `[0, 1]`.
    /// Fails with [`StatisticsError::NoVariance`] when every observation was the same: then [`WinDrawLoss::mean_test`] still
    /// answers.
    pub fn interval(self, confidence: Confidence) -> Result<Interval, StatisticsError> {
        Ok(self.estimate()?.interval(confidence))
    }

    /// Returns the logistic Elo difference with its asymmetric bounds `E(s ± z·SE)`.
    /// The value is taken of `s` kept [`ELO_SCORE_MARGIN`] off the ends; a bound outside `(0, 1)`, or
    /// without any spread to compute it from, is `None`.
    #[must_use]
    pub fn elo(self, confidence: Confidence) -> EloEstimate {
        EloEstimate::of_score(self.mean, self.interval(confidence).ok())
    }

    /// Returns the normalised Elo `C·(s − ½)/σ`, with standard error `C/√N`, where `σ` is
    /// [`Score::game_deviation`] and `C` is [`NORMALIZED_ELO_PER_DEVIATION`].
    /// Fails with [`StatisticsError::NoVariance`] when every observation was the same.
    ///
    /// Source: Van den Bergh, "Normalized Elo"; fastchess.
    pub fn normalized_elo(self) -> Result<Estimate, StatisticsError> {
        let score = self.estimate()?;
        Ok(Estimate {
            value: (score.value - 0.5) / self.game_deviation() * NORMALIZED_ELO_PER_DEVIATION,
            standard_error: NORMALIZED_ELO_PER_DEVIATION / (self.games as f64).sqrt(),
        })
    }

    /// Returns the likelihood of superiority `Φ((s − ½)/SE)`, in `[0, 1]`.
    /// The older `½ + ½·erf((W−L)/√(2(W+L)))` ignores draws and the pairing of games.
    /// Fails with [`StatisticsError::NoVariance`] when every observation was the same.
    /// Source: fastchess, fishtest.
    pub fn likelihood_of_superiority(self) -> Result<f64, StatisticsError> {
        let score = self.estimate()?;
        Ok(normal_cdf((score.value - 0.5) / score.standard_error))
    }
}

/// A logistic Elo difference with asymmetric bounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct EloEstimate {
    /// The point estimate, within ±1200.
    pub value: f64,
    /// The lower bound; `None` is minus infinity or unknown.
    pub lower: Option<f64>,
    /// The upper bound; `None` is infinity or unknown.
    pub upper: Option<f64>,
}

impl EloEstimate {
    /// Returns the Elo difference of a mean score kept [`ELO_SCORE_MARGIN`] off the ends, with the bounds that belong to
    /// the score's interval; a bound outside `(0, 1)` is `None`.
    #[must_use]
    pub fn of_score(mean: f64, interval: Option<Interval>) -> EloEstimate {
        EloEstimate {
            value: elo_from_score(mean.clamp(ELO_SCORE_MARGIN, 1.0 - ELO_SCORE_MARGIN)).unwrap_or(0.0),
            lower: interval.and_then(|interval| elo_from_score(interval.lower)),
            upper: interval.and_then(|interval| elo_from_score(interval.upper)),
        }
    }

    /// Returns `[E(s + z·SE) − E(s − z·SE)]/2`, the single error that fastchess and cutechess print.
    #[must_use]
    pub fn half_width(self) -> Option<f64> {
        Some((self.upper? - self.lower?) / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_what_their_formulas_say() {
        assert!((ELO_PER_NAT - 400.0 / 10f64.ln()).abs() < 1e-12);
        assert!((NORMALIZED_ELO_PER_DEVIATION - 800.0 / 10f64.ln()).abs() < 1e-12);
        let slope = elo_from_score(0.51).unwrap();
        assert!((slope - 6.95).abs() < 0.005);
    }

    #[test]
    fn elo_and_score_are_inverse() {
        for elo in [-700.0, -3.5, 0.0, 41.0, 900.0] {
            assert!((elo_from_score(score_from_elo(elo)).unwrap() - elo).abs() < 1e-9);
        }
        for score in [0.0, 1.0, -0.2, f64::NAN] {
            assert_eq!(elo_from_score(score), None);
        }
    }

    #[test]
    fn one_sided_results_have_no_normal_interval_but_one_of_their_counts() {
        let score = WinDrawLoss::new(30, 0, 0).score().unwrap();
        assert_eq!(score.interval(Confidence::NINETY_FIVE), Err(StatisticsError::NoVariance));
        assert_eq!(score.likelihood_of_superiority(), Err(StatisticsError::NoVariance));
        assert_eq!(score.normalized_elo(), Err(StatisticsError::NoVariance));
        let elo = score.elo(Confidence::NINETY_FIVE);
        assert!((elo.value - 1199.8).abs() < 0.1);
        assert_eq!((elo.lower, elo.upper, elo.half_width()), (None, None, None));
        let interval = WinDrawLoss::new(30, 0, 0).mean_test().interval(Confidence::NINETY_FIVE);
        assert!(interval.lower > 0.85 && interval.lower < 0.97 && interval.upper == 1.0);
    }

    #[test]
    fn no_games_have_no_score() {
        assert_eq!(WinDrawLoss::default().mean(), None);
        assert_eq!(WinDrawLoss::default().variance(), None);
        assert_eq!(WinDrawLoss::default().score(), Err(StatisticsError::NoObservations("games")));
    }

    #[test]
    fn a_bound_that_leaves_the_range_has_no_elo() {
        let elo = WinDrawLoss::new(5, 0, 1).score().unwrap().elo(Confidence::NINETY_FIVE);
        assert!(elo.lower.is_some());
        assert_eq!(elo.upper, None);
    }

    #[test]
    fn reversing_the_view_mirrors_the_score() {
        let counts = WinDrawLoss::new(17, 5, 9);
        let (ours, theirs) = (counts.score().unwrap(), counts.reversed().score().unwrap());
        assert!((ours.mean() + theirs.mean() - 1.0).abs() < 1e-15);
        assert!((ours.standard_error() - theirs.standard_error()).abs() < 1e-15);
        assert_eq!(counts + counts.reversed(), WinDrawLoss::new(26, 10, 26));
    }
}

//! Sequential probability ratio tests on games or pairs, their bounds and their expected length.

use serde::{Deserialize, Serialize};

use super::distribution::bisect;
use super::error::StatisticsError;
use super::pairs::Pentanomial;
use super::score::{NORMALIZED_ELO_PER_DEVIATION, Trinomial, score_from_elo};

/// What a class without an observation counts as, so that no likelihood is zero.
///
/// Source: fastchess, fishtest, OpenBench.
pub const EMPTY_CLASS_COUNT: f64 = 1e-3;

/// Observations of a sequential test, from the view of the side whose score is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sample {
    /// Single games, taken as independent.
    Games(Trinomial),
    /// Pairs of games, each pair one observation.
    Pairs(Pentanomial),
}

impl From<Trinomial> for Sample {
    fn from(games: Trinomial) -> Sample {
        Sample::Games(games)
    }
}

impl From<Pentanomial> for Sample {
    fn from(pairs: Pentanomial) -> Sample {
        Sample::Pairs(pairs)
    }
}

impl Sample {
    /// Returns the outcome scores and how often each was seen, empty classes regularised.
    fn classes(self) -> Result<Classes, StatisticsError> {
        let (scores, counts, games_per_observation) = match self {
            Sample::Games(games) => (vec![0.0, 0.5, 1.0], vec![games.losses, games.draws, games.wins], 1.0),
            Sample::Pairs(pairs) => (Pentanomial::SCORES.to_vec(), pairs.counts.to_vec(), 2.0),
        };
        if counts.iter().all(|&count| count == 0) {
            return Err(StatisticsError::NoObservations("results"));
        }
        let counts: Vec<f64> =
            counts.into_iter().map(|count| if count == 0 { EMPTY_CLASS_COUNT } else { count as f64 }).collect();
        let total: f64 = counts.iter().sum();
        let frequencies = counts.iter().map(|count| count / total).collect();
        Ok(Classes { scores, frequencies, total, games_per_observation })
    }
}

/// Outcome classes of an observation: scores `aᵢ`, observed frequencies `p̂ᵢ > 0` summing to 1.
struct Classes {
    scores: Vec<f64>,
    frequencies: Vec<f64>,
    total: f64,
    games_per_observation: f64,
}

impl Classes {
    /// Returns the most likely probabilities under `Σ pᵢφᵢ = 0`: `pᵢ = p̂ᵢ/(1 + θφᵢ)`.
    ///
    /// `θ` is the root of `Σ p̂ᵢφᵢ/(1 + θφᵢ)`, which falls from +∞ to −∞ in `(−1/max φ, −1/min φ)`.
    ///
    /// Source: Van den Bergh, "support_MLE_multinomial", proposition 1.1.
    fn constrained(&self, constraint: &[f64]) -> Result<Vec<f64>, StatisticsError> {
        let largest = constraint.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let smallest = constraint.iter().copied().fold(f64::INFINITY, f64::min);
        if largest.is_nan() || smallest.is_nan() || largest <= 0.0 || smallest >= 0.0 {
            return Err(StatisticsError::OutOfRange {
                name: "hypothesis",
                value: if largest <= 0.0 { largest } else { smallest },
                range: "reachable by some distribution of results",
            });
        }
        let tilted = || self.frequencies.iter().zip(constraint);
        let theta = bisect(-1.0 / largest, -1.0 / smallest, |theta| {
            tilted().map(|(p, phi)| p * phi / (1.0 + theta * phi)).sum::<f64>() > 0.0
        });
        Ok(tilted().map(|(p, phi)| p / (1.0 + theta * phi)).collect())
    }

    /// Returns the most likely probabilities with mean score `score`.
    fn with_mean(&self, score: f64) -> Result<Vec<f64>, StatisticsError> {
        let constraint: Vec<f64> = self.scores.iter().map(|a| a - score).collect();
        self.constrained(&constraint)
    }

    /// Returns the most likely probabilities with `(μ − ½)/σ = t`, where `σ` is of one observation.
    ///
    /// The condition is not linear: it is linearised around the last answer, from uniform
    /// probabilities on, with `φᵢ = aᵢ − ½ − ½tσ(1 + ((aᵢ−μ)/σ)²)`.
    ///
    /// Source: Van den Bergh, "normalized_elo_practical", section 4.1.
    fn with_normalized_mean(&self, t: f64) -> Result<Vec<f64>, StatisticsError> {
        const ITERATIONS_MAX: usize = 200;
        let mut probabilities = vec![1.0 / self.scores.len() as f64; self.scores.len()];
        for _ in 0..ITERATIONS_MAX {
            let weighted = || self.scores.iter().zip(&probabilities);
            let mean: f64 = weighted().map(|(a, p)| a * p).sum();
            let variance: f64 = weighted().map(|(a, p)| p * (a - mean).powi(2)).sum();
            let deviation = variance.sqrt();
            let constraint: Vec<f64> = self
                .scores
                .iter()
                .map(|a| a - 0.5 - 0.5 * t * deviation * (1.0 + ((a - mean) / deviation).powi(2)))
                .collect();
            let next = self.constrained(&constraint)?;
            let change = next.iter().zip(&probabilities).map(|(new, old)| (new - old).abs()).fold(0.0, f64::max);
            probabilities = next;
            if change < 1e-13 {
                return Ok(probabilities);
            }
        }
        Err(StatisticsError::NoConvergence { what: "the normalised hypothesis", iterations: ITERATIONS_MAX })
    }

    /// Returns `N·Σ p̂ᵢ ln(p⁽¹⁾ᵢ/p⁽⁰⁾ᵢ)`.
    fn log_ratio(&self, null: &[f64], alternative: &[f64]) -> f64 {
        let terms = self.frequencies.iter().zip(null.iter().zip(alternative));
        self.total * terms.map(|(p, (p0, p1))| p * (p1 / p0).ln()).sum::<f64>()
    }
}

/// The two hypotheses of a sequential test about the expected score of one side.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Hypotheses {
    /// Logistic Elo differences.
    LogisticElo {
        /// Elo under H0, less than `elo1`.
        elo0: f64,
        /// Elo under H1.
        elo1: f64,
    },
    /// Normalised Elo: the score in units of one game's deviation, comparable over draw rates.
    NormalizedElo {
        /// Normalised Elo under H0, less than `elo1`.
        elo0: f64,
        /// Normalised Elo under H1.
        elo1: f64,
    },
    /// Expected scores themselves.
    Score {
        /// Score under H0, in `(0, 1)`, less than `score1`.
        score0: f64,
        /// Score under H1, in `(0, 1)`.
        score1: f64,
    },
}

impl Hypotheses {
    /// Returns the generalised log-likelihood ratio of H1 to H0, positive when H1 fits better.
    ///
    /// `LLR = N·Σ p̂ᵢ ln(p⁽¹⁾ᵢ/p⁽⁰⁾ᵢ)`, each `p⁽ʲ⁾` the most likely distribution of results that meets
    /// its hypothesis exactly, so draw rate and pair correlation are never assumed. Empty classes count
    /// as [`EMPTY_CLASS_COUNT`]. Pairs and single games of the same match give different ratios: pairs
    /// are right when two games share an opening.
    ///
    /// # Errors
    /// [`StatisticsError::NoObservations`] without results; [`StatisticsError::OutOfRange`] unless H0 lies
    /// below H1 and both can be reached; [`StatisticsError::NoConvergence`] for normalised hypotheses
    /// too extreme to solve.
    ///
    /// Source: Van den Bergh, "A practical introduction to the GSPRT"; fastchess, fishtest.
    pub fn log_likelihood_ratio(self, sample: Sample) -> Result<f64, StatisticsError> {
        let classes = sample.classes()?;
        let (null, alternative) = match self {
            Hypotheses::LogisticElo { elo0, elo1 } => {
                check_order("elo1 − elo0", elo0, elo1)?;
                (classes.with_mean(score_from_elo(elo0))?, classes.with_mean(score_from_elo(elo1))?)
            }
            Hypotheses::Score { score0, score1 } => {
                check_order("score1 − score0", score0, score1)?;
                (classes.with_mean(score0)?, classes.with_mean(score1)?)
            }
            Hypotheses::NormalizedElo { elo0, elo1 } => {
                check_order("elo1 − elo0", elo0, elo1)?;
                let unit = classes.games_per_observation.sqrt() / NORMALIZED_ELO_PER_DEVIATION;
                (classes.with_normalized_mean(elo0 * unit)?, classes.with_normalized_mean(elo1 * unit)?)
            }
        };
        Ok(classes.log_ratio(&null, &alternative))
    }
}

/// Returns the log-likelihood ratio with bounds in BayesElo, as fastchess's `bayesian` model has it.
///
/// The BayesElo bounds become expected scores through the draw parameter that the games show, and the
/// logistic ratio of those scores is taken.
///
/// # Errors
/// As [`Hypotheses::log_likelihood_ratio`].
///
/// Source: fastchess, sprt.cpp.
pub fn bayes_elo_log_likelihood_ratio(games: Trinomial, elo0: f64, elo1: f64) -> Result<f64, StatisticsError> {
    check_order("elo1 − elo0", elo0, elo1)?;
    let classes = Sample::Games(games).classes()?;
    let draw_elo = draw_elo(classes.frequencies[2], classes.frequencies[0]);
    let score = |elo: f64| {
        let (win, loss) = bayes_elo_probabilities(elo, draw_elo);
        win + (1.0 - win - loss) / 2.0
    };
    Hypotheses::Score { score0: score(elo0), score1: score(elo1) }.log_likelihood_ratio(games.into())
}

/// Returns the log-likelihood ratio of single games as cutechess computes it.
///
/// Half a game is added to each count; `drawElo = 200·log₁₀[(1−p_L)/p_L · (1−p_W)/p_W]` and
/// `scale = 4x/(1+x)²` with `x = 10^(−drawElo/400)` turn the Elo bounds into BayesElo, and the ratio is
/// that of the BayesElo model with this draw parameter under both hypotheses.
///
/// # Errors
/// As [`Hypotheses::log_likelihood_ratio`].
///
/// Source: cutechess, sprt.cpp.
pub fn cutechess_log_likelihood_ratio(games: Trinomial, elo0: f64, elo1: f64) -> Result<f64, StatisticsError> {
    check_order("elo1 − elo0", elo0, elo1)?;
    if games.games() == 0 {
        return Err(StatisticsError::NoObservations("results"));
    }
    let (wins, draws, losses) = (games.wins as f64 + 0.5, games.draws as f64 + 0.5, games.losses as f64 + 0.5);
    let total = wins + draws + losses;
    let draw_elo = draw_elo(wins / total, losses / total);
    let x = 10f64.powf(-draw_elo / 400.0);
    let scale = 4.0 * x / (1.0 + x).powi(2);
    let (win0, loss0) = bayes_elo_probabilities(elo0 / scale, draw_elo);
    let (win1, loss1) = bayes_elo_probabilities(elo1 / scale, draw_elo);
    Ok(wins * (win1 / win0).ln()
        + losses * (loss1 / loss0).ln()
        + draws * ((1.0 - win1 - loss1) / (1.0 - win0 - loss0)).ln())
}

fn draw_elo(win: f64, loss: f64) -> f64 {
    200.0 * ((1.0 - loss) / loss * (1.0 - win) / win).log10()
}

/// Returns the probabilities of a win and a loss at `elo` in the BayesElo model.
fn bayes_elo_probabilities(elo: f64, draw_elo: f64) -> (f64, f64) {
    (score_from_elo(elo - draw_elo), score_from_elo(-elo - draw_elo))
}

fn check_order(name: &'static str, lower: f64, upper: f64) -> Result<(), StatisticsError> {
    StatisticsError::check(name, upper - lower, "above 0", upper > lower).map(drop)
}

/// Where the log-likelihood ratio ends a test, in nats.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SprtBounds {
    /// At or below this, H0 is accepted: `ln(β/(1−α))`, negative.
    pub lower: f64,
    /// At or above this, H1 is accepted: `ln((1−β)/α)`, positive.
    pub upper: f64,
}

impl SprtBounds {
    /// Makes Wald's bounds for the chances of accepting H1 wrongly (`alpha`) and H0 wrongly (`beta`).
    ///
    /// # Errors
    /// [`StatisticsError::OutOfRange`] unless both are above 0 and below ½.
    pub fn new(alpha: f64, beta: f64) -> Result<SprtBounds, StatisticsError> {
        let range = "above 0 and below 1/2";
        StatisticsError::check("alpha", alpha, range, alpha > 0.0 && alpha < 0.5)?;
        StatisticsError::check("beta", beta, range, beta > 0.0 && beta < 0.5)?;
        Ok(SprtBounds { lower: (beta / (1.0 - alpha)).ln(), upper: ((1.0 - beta) / alpha).ln() })
    }

    /// Returns what a log-likelihood ratio means under these bounds.
    #[must_use]
    pub fn verdict(self, log_likelihood_ratio: f64) -> SprtVerdict {
        if log_likelihood_ratio >= self.upper {
            SprtVerdict::AcceptH1
        } else if log_likelihood_ratio <= self.lower {
            SprtVerdict::AcceptH0
        } else {
            SprtVerdict::Continue
        }
    }

    /// Returns the chance of accepting H1 and the expected number of observations, in the score model.
    ///
    /// `score` and `variance` are one observation's true mean and variance. With `a`, `b` the bounds and
    /// `h = (2s−s₀−s₁)/(s₁−s₀)`: `P = (1−e^(−ha))/(e^(−hb)−e^(−ha))` and
    /// `E[N] = (2/h)·(bP + a(1−P))·σ²/(s₁−s₀)²`; towards `h = 0`, `P = −a/(b−a)` and
    /// `E[N] = −ab·σ²/(s₁−s₀)²`. Overshoot is neglected.
    ///
    /// # Errors
    /// [`StatisticsError::OutOfRange`] unless `score0 < score1` and the variance is positive.
    ///
    /// Source: Wald 1947, "Sequential Analysis"; fishtest, sprt.js.
    pub fn plan(self, score0: f64, score1: f64, score: f64, variance: f64) -> Result<SprtPlan, StatisticsError> {
        check_order("score1 − score0", score0, score1)?;
        StatisticsError::check("variance", variance, "above 0", variance > 0.0)?;
        StatisticsError::check("score", score, "finite", true)?;
        let (a, b) = (self.lower, self.upper);
        let gap = score1 - score0;
        let h = (2.0 * score - score0 - score1) / gap;
        let unit = variance / (gap * gap);
        if h.abs() < 1e-6 {
            return Ok(SprtPlan { accept_h1_probability: -a / (b - a), observations: -a * b * unit });
        }
        // P = (1−e^(−ha))/(e^(−hb)−e^(−ha)), arranged so that no exponential overflows.
        let accept = if h > 0.0 {
            (-(h * a).exp_m1()) / (1.0 - (h * (a - b)).exp())
        } else {
            let (up, down) = ((h * b).exp(), (h * (b - a)).exp());
            (up - down) / (1.0 - down)
        };
        Ok(SprtPlan { accept_h1_probability: accept, observations: 2.0 / h * (b * accept + a * (1.0 - accept)) * unit })
    }
}

/// What a sequential test may be expected to do.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SprtPlan {
    /// The probability of accepting H1.
    pub accept_h1_probability: f64,
    /// The expected number of observations.
    pub observations: f64,
}

/// Where a sequential test stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SprtVerdict {
    /// Neither bound is reached.
    Continue,
    /// The lower bound is reached.
    AcceptH0,
    /// The upper bound is reached.
    AcceptH1,
}

/// A sequential test: hypotheses and bounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Sprt {
    /// What is tested.
    pub hypotheses: Hypotheses,
    /// Where it ends.
    pub bounds: SprtBounds,
}

impl Sprt {
    /// Returns the log-likelihood ratio and the verdict after `sample`.
    ///
    /// The first verdict other than [`SprtVerdict::Continue`] is final, whatever later results say. The
    /// mean score at that moment is biased: never quote it.
    ///
    /// # Errors
    /// As [`Hypotheses::log_likelihood_ratio`].
    pub fn test(&self, sample: Sample) -> Result<(f64, SprtVerdict), StatisticsError> {
        let ratio = self.hypotheses.log_likelihood_ratio(sample)?;
        Ok((ratio, self.bounds.verdict(ratio)))
    }
}

/// What the two sequential tests of a [`BalanceGate`] say together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GateVerdict {
    /// Not decided.
    Continue,
    /// Both tests accepted ½ over ½ ± margin.
    WithinMargin,
    /// The first player's score is nearer to ½ + margin.
    FirstFavoured,
    /// The first player's score is nearer to ½ − margin.
    SecondFavoured,
}

/// Two one-sided sequential tests of the first player's score: ½ against ½ + margin and ½ − margin.
///
/// Each has `alpha/2`. It ends when one accepts its alternative or both accept ½; each test's own
/// decision is final, so the gate remembers it. A quick screen: the mean at its end is biased.
#[derive(Clone, Debug)]
pub struct BalanceGate {
    margin: f64,
    bounds: SprtBounds,
    above: SprtVerdict,
    below: SprtVerdict,
}

impl BalanceGate {
    /// Makes a gate.
    ///
    /// # Errors
    /// [`StatisticsError::OutOfRange`] unless `0 < margin < ½` and the error rates suit [`SprtBounds::new`].
    pub fn new(margin: f64, alpha: f64, beta: f64) -> Result<BalanceGate, StatisticsError> {
        check_margin(margin)?;
        Ok(BalanceGate {
            margin,
            bounds: SprtBounds::new(alpha / 2.0, beta)?,
            above: SprtVerdict::Continue,
            below: SprtVerdict::Continue,
        })
    }

    /// Looks at all results so far, from the first player's view, and returns the verdict.
    ///
    /// # Errors
    /// As [`Hypotheses::log_likelihood_ratio`].
    pub fn look(&mut self, sample: Sample) -> Result<GateVerdict, StatisticsError> {
        if self.verdict() != GateVerdict::Continue {
            return Ok(self.verdict());
        }
        let hypotheses = Hypotheses::Score { score0: 0.5, score1: 0.5 + self.margin };
        let test = Sprt { hypotheses, bounds: self.bounds };
        let mirrored = match sample {
            Sample::Games(games) => Sample::Games(games.reversed()),
            Sample::Pairs(mut pairs) => {
                pairs.counts.reverse();
                Sample::Pairs(pairs)
            }
        };
        for (verdict, view) in [(&mut self.above, sample), (&mut self.below, mirrored)] {
            if *verdict == SprtVerdict::Continue {
                *verdict = test.test(view)?.1;
            }
        }
        Ok(self.verdict())
    }

    /// Returns what was decided at the looks so far.
    #[must_use]
    pub fn verdict(&self) -> GateVerdict {
        match (self.above, self.below) {
            (SprtVerdict::AcceptH1, _) => GateVerdict::FirstFavoured,
            (_, SprtVerdict::AcceptH1) => GateVerdict::SecondFavoured,
            (SprtVerdict::AcceptH0, SprtVerdict::AcceptH0) => GateVerdict::WithinMargin,
            _ => GateVerdict::Continue,
        }
    }
}

/// Passes a margin around ½ that leaves room on both sides.
pub(super) fn check_margin(margin: f64) -> Result<f64, StatisticsError> {
    StatisticsError::check("margin", margin, "above 0 and below 1/2", margin > 0.0 && margin < 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_have_their_published_values() {
        for (alpha, beta, lower, upper) in [
            (0.05, 0.05, -2.944_439, 2.944_439),
            (0.05, 0.10, -2.251_292, 2.890_372),
            (0.01, 0.01, -4.595_120, 4.595_120),
        ] {
            let bounds = SprtBounds::new(alpha, beta).unwrap();
            assert!((bounds.lower - lower).abs() < 1e-6 && (bounds.upper - upper).abs() < 1e-6);
        }
        assert!(SprtBounds::new(0.0, 0.05).is_err());
        assert!(SprtBounds::new(0.05, f64::NAN).is_err());
    }

    #[test]
    fn mean_constraint_is_met_and_reproduces_the_worked_example() {
        let games = Trinomial::new(21_404, 40_708, 21_184);
        let classes = Sample::from(games).classes().unwrap();
        let null = classes.with_mean(score_from_elo(0.5)).unwrap();
        for (found, published) in null.iter().zip([0.254_922_14, 0.488_716_60, 0.256_361_26]) {
            assert!((found - published).abs() < 1e-8);
        }
        assert!((null.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!((null[1] / 2.0 + null[2] - score_from_elo(0.5)).abs() < 1e-12);
    }

    #[test]
    fn normalized_constraint_is_met_and_reproduces_the_worked_example() {
        let pairs = Pentanomial { counts: [365, 16_618, 36_229, 16_974, 390] };
        let classes = Sample::from(pairs).classes().unwrap();
        let t = 2.0 * 2f64.sqrt() / NORMALIZED_ELO_PER_DEVIATION;
        assert!((t - 0.008_140_867_7).abs() < 1e-9);
        let found = classes.with_normalized_mean(t).unwrap();
        let published = [0.005_169_50, 0.235_411_85, 0.513_332_82, 0.240_557_54, 0.005_528_29];
        assert!(found.iter().zip(published).all(|(f, p)| (f - p).abs() < 1e-8));
        let mean: f64 = found.iter().zip(Pentanomial::SCORES).map(|(p, a)| p * a).sum();
        let variance: f64 = found.iter().zip(Pentanomial::SCORES).map(|(p, a)| p * (a - mean).powi(2)).sum();
        assert!(((mean - 0.5) / variance.sqrt() - t).abs() < 1e-12);
    }

    #[test]
    fn ratio_is_near_its_quadratic_approximation() {
        // fishtest's LLR_alt2: N(s₁−s₀)(2s̄−s₀−s₁)/(2σ̂²).
        let pairs = Pentanomial { counts: [223, 9_863, 21_279, 10_037, 246] };
        let exact = Hypotheses::LogisticElo { elo0: 0.5, elo1: 2.5 }.log_likelihood_ratio(pairs.into()).unwrap();
        let (s0, s1) = (score_from_elo(0.5), score_from_elo(2.5));
        let quadratic = pairs.pairs() as f64 * (s1 - s0) * (2.0 * pairs.mean().unwrap() - s0 - s1)
            / (2.0 * pairs.variance().unwrap());
        assert!((exact - quadratic).abs() < 2e-3);
    }

    #[test]
    fn plan_gives_the_published_lengths_of_the_score_gate() {
        let bounds = SprtBounds::new(0.05, 0.05).unwrap();
        for (draws, end, middle) in [(0.3, 2_319.0, 3_793.0), (0.0, 3_312.0, 5_419.0)] {
            let variance = (1.0 - draws) / 4.0;
            for (score, expected, accept) in [(0.50, end, 0.05), (0.51, middle, 0.5), (0.52, end, 0.95)] {
                let plan = bounds.plan(0.50, 0.52, score, variance).unwrap();
                assert!((plan.observations - expected).abs() < 1.0, "{plan:?} at {score}");
                assert!((plan.accept_h1_probability - accept).abs() < 1e-9);
            }
        }
        let far = bounds.plan(0.5, 0.500_1, 0.9, 0.2).unwrap();
        assert!(far.observations.is_finite() && (far.accept_h1_probability - 1.0).abs() < 1e-12);
        let low = bounds.plan(0.5, 0.500_1, 0.1, 0.2).unwrap();
        assert!(low.observations.is_finite() && low.accept_h1_probability < 1e-12);
    }

    #[test]
    fn impossible_hypotheses_are_errors() {
        let sample = Sample::from(Trinomial::new(10, 5, 3));
        for hypotheses in [
            Hypotheses::LogisticElo { elo0: 2.0, elo1: 0.0 },
            Hypotheses::LogisticElo { elo0: 0.0, elo1: f64::NAN },
            Hypotheses::Score { score0: 0.5, score1: 1.0 },
            Hypotheses::Score { score0: -0.1, score1: 0.5 },
        ] {
            assert!(
                matches!(hypotheses.log_likelihood_ratio(sample), Err(StatisticsError::OutOfRange { .. })),
                "{hypotheses:?}"
            );
        }
        let hypotheses = Hypotheses::LogisticElo { elo0: 0.0, elo1: 2.0 };
        assert!(hypotheses.log_likelihood_ratio(Trinomial::default().into()).is_err());
        assert!(cutechess_log_likelihood_ratio(Trinomial::default(), 0.0, 5.0).is_err());
    }

    #[test]
    fn extreme_normalized_hypotheses_answer_or_say_why_not() {
        for elo1 in [1e2, 1e3, 1e4, 1e6] {
            let hypotheses = Hypotheses::NormalizedElo { elo0: 0.0, elo1 };
            for sample in [Trinomial::new(1, 0, 0), Trinomial::new(0, 9, 0)] {
                if let Ok(ratio) = hypotheses.log_likelihood_ratio(sample.into()) {
                    assert!(ratio.is_finite());
                }
            }
        }
    }

    #[test]
    fn gate_remembers_the_first_decision_of_each_side() {
        let mut gate = BalanceGate::new(0.03, 0.05, 0.05).unwrap();
        assert_eq!(gate.look(Trinomial::new(20, 10, 20).into()), Ok(GateVerdict::Continue));
        let balanced = Trinomial::new(3_500, 3_000, 3_500);
        assert_eq!(gate.look(balanced.into()), Ok(GateVerdict::WithinMargin));
        let lopsided = Trinomial::new(9_000, 500, 500);
        assert_eq!(gate.look(lopsided.into()), Ok(GateVerdict::WithinMargin));
        let mut gate = BalanceGate::new(0.03, 0.05, 0.05).unwrap();
        assert_eq!(gate.look(lopsided.into()), Ok(GateVerdict::FirstFavoured));
        let mut gate = BalanceGate::new(0.03, 0.05, 0.05).unwrap();
        assert_eq!(gate.look(lopsided.reversed().into()), Ok(GateVerdict::SecondFavoured));
    }
}

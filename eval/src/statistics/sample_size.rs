//! How many games a question costs before it is asked.

use super::distribution::{normal_cdf, normal_quantile};
use super::error::StatisticsError;
use super::interval::Confidence;
use super::sprt::check_margin;

/// Returns one game's score variance `(1−d)/4 − (s−½)²` at draw rate `d` and expected score `s`.
///
/// # Errors
/// [`StatisticsError::OutOfRange`] unless the draw rate is in `[0, 1)` and leaves the score possible,
/// `|s − ½| < (1−d)/2`.
pub fn game_variance(draw_rate: f64, score: f64) -> Result<f64, StatisticsError> {
    let in_range = (0.0..1.0).contains(&draw_rate);
    StatisticsError::check("draw rate", draw_rate, "at least 0 and below 1", in_range)?;
    let offset = (score - 0.5).abs();
    let possible = offset < (1.0 - draw_rate) / 2.0;
    StatisticsError::check("score", score, "nearer to 1/2 than half the decisive rate", possible)?;
    Ok((1.0 - draw_rate) / 4.0 - offset * offset)
}

/// Returns the games after which the interval is `±half_width`: `n = z²·σ²·deff/h²`, rounded up.
///
/// `variance` is one game's, `design_effect` is 1 for independent games and `1 + ρ` for pairs.
///
/// # Errors
/// [`StatisticsError::OutOfRange`] unless all three are positive.
pub fn games_for_half_width(
    half_width: f64,
    variance: f64,
    design_effect: f64,
    confidence: Confidence,
) -> Result<u64, StatisticsError> {
    StatisticsError::check("half-width", half_width, "above 0", half_width > 0.0)?;
    StatisticsError::check("variance", variance, "above 0", variance > 0.0)?;
    StatisticsError::check("design effect", design_effect, "above 0", design_effect > 0.0)?;
    let games = confidence.z().powi(2) * variance * design_effect / (half_width * half_width);
    Ok(rounded_up(games))
}

/// Returns the games with which an equivalence test calls a true score `½ + offset` balanced.
///
/// The smallest `n` with power `Φ((δ−ε)/SE − z_α) + Φ((δ+ε)/SE − z_α) − 1 >= power`, `SE = σ/√n`,
/// `ε = |offset|`, `δ = margin`; each one-sided test at `alpha`.
///
/// # Errors
/// [`StatisticsError::OutOfRange`] unless `|offset| < margin < ½`, the variance is positive, `alpha` is in
/// `(0, ½)` and `power` in `(0, 1)`.
///
/// Source: Schuirmann 1987, J. Pharmacokinetics and Biopharmaceutics 15, 657-680.
pub fn games_for_equivalence(
    margin: f64,
    offset: f64,
    variance: f64,
    alpha: f64,
    power: f64,
) -> Result<u64, StatisticsError> {
    check_margin(margin)?;
    StatisticsError::check("offset", offset, "inside the margin", offset.abs() < margin)?;
    StatisticsError::check("variance", variance, "above 0", variance > 0.0)?;
    StatisticsError::check("alpha", alpha, "above 0 and below 1/2", alpha > 0.0 && alpha < 0.5)?;
    StatisticsError::check("power", power, "between 0 and 1", power > 0.0 && power < 1.0)?;
    let z = -normal_quantile(alpha);
    let power_at = |root_games: f64| {
        let unit = root_games / variance.sqrt();
        let near = normal_cdf((margin - offset.abs()) * unit - z);
        let far = normal_cdf((margin + offset.abs()) * unit - z);
        near + far - 1.0
    };
    let mut enough = 1.0;
    while power_at(enough) < power {
        enough *= 2.0;
        // Only a power within rounding of 1 or an offset within rounding of the margin gets here.
        if enough > 1e9 {
            return Err(StatisticsError::NoConvergence { what: "the power", iterations: 30 });
        }
    }
    let root = super::distribution::bisect(0.0, enough, |root| power_at(root) < power);
    Ok(rounded_up(root * root))
}

/// Returns the independent games that `games` are worth, `N/(1 + (m−1)ρ)`.
///
/// `games_per_opening` is `m >= 1`, `correlation` is `ρ` within an opening.
///
/// # Errors
/// [`StatisticsError::OutOfRange`] unless `m >= 1`, `ρ <= 1` and `1 + (m−1)ρ > 0`.
pub fn effective_games(games: f64, games_per_opening: f64, correlation: f64) -> Result<f64, StatisticsError> {
    StatisticsError::check("games", games, "at least 0", games >= 0.0)?;
    let at_least_one = games_per_opening >= 1.0;
    StatisticsError::check("games per opening", games_per_opening, "at least 1", at_least_one)?;
    StatisticsError::check("correlation", correlation, "at most 1", correlation <= 1.0)?;
    let effect = 1.0 + (games_per_opening - 1.0) * correlation;
    StatisticsError::check("design effect", effect, "above 0", effect > 0.0)?;
    Ok(games / effect)
}

/// Rounds up, forgiving a rounding error of the formula's own; at least 1.
fn rounded_up(games: f64) -> u64 {
    ((games * (1.0 - 1e-12)).ceil() as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_widths_cost_the_published_games() {
        for (draws, expected) in [
            (0.0, [2_401, 9_604, 38_415]),
            (0.1, [2_161, 8_644, 34_574]),
            (0.3, [1_681, 6_723, 26_891]),
            (0.5, [1_201, 4_802, 19_208]),
            (0.8, [481, 1_921, 7_683]),
        ] {
            for (half_width, expected) in [0.02, 0.01, 0.005].into_iter().zip(expected) {
                let variance = game_variance(draws, 0.5).unwrap();
                let games = games_for_half_width(half_width, variance, 1.0, Confidence::NINETY_FIVE).unwrap();
                assert!(games.abs_diff(expected) <= 1, "{draws} {half_width} {games}");
            }
        }
        let simultaneous = Confidence::NINETY_FIVE.bonferroni(30);
        let games = games_for_half_width(0.01, 0.175, 1.0, simultaneous).unwrap();
        assert!(games.abs_diff(17_299) <= 1, "{games}");
    }

    #[test]
    fn equivalence_costs_the_published_games() {
        // The usual one-sided approximation would say 937 in the last place: it neglects the far test.
        for (margin, fair, off) in [(0.02, 4_735, 14_979), (0.03, 2_105, 3_745), (0.05, 758, 947)] {
            for (offset, expected) in [(0.0, fair), (0.01, off)] {
                let variance = game_variance(0.3, 0.5 + offset).unwrap();
                let games = games_for_equivalence(margin, offset, variance, 0.05, 0.9).unwrap();
                assert!(games.abs_diff(expected) <= 1, "{margin} {offset}: {games}");
            }
        }
    }

    #[test]
    fn effective_games_shrink_with_correlation() {
        assert_eq!(effective_games(1_000.0, 10.0, 1.0), Ok(100.0));
        assert_eq!(effective_games(1_000.0, 10.0, 0.0), Ok(1_000.0));
        assert!(effective_games(1_000.0, 3.0, -0.6).is_err());
    }

    #[test]
    fn impossible_plans_are_errors() {
        assert!(game_variance(1.0, 0.5).is_err());
        assert!(game_variance(0.8, 0.65).is_err());
        assert!(games_for_half_width(0.0, 0.2, 1.0, Confidence::NINETY_FIVE).is_err());
        assert!(games_for_equivalence(0.02, 0.02, 0.175, 0.05, 0.9).is_err());
        assert!(games_for_equivalence(0.02, 0.0, 0.175, 0.05, f64::NAN).is_err());
    }
}

//! A score over openings that were played unequally often.

use serde::Serialize;

use super::error::StatisticsError;
use super::score::{Score, WinDrawLoss};

/// A score whose standard error treats all games of one opening as one observation.
/// Games of one opening resemble each other: 1,000 games from 100 openings taken as independent give a
/// nominal 95 % interval less than half of its coverage.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ClusteredScore {
    /// The mean over games, with the cluster-robust standard error.
    pub score: Score,
    /// The number of openings with at least one game.
    pub clusters: u64,
    /// The number of independent games whose mean has the same variance; `None` when all games ended alike.
    pub effective_games: Option<f64>,
}

impl ClusteredScore {
    /// Judges the games of each opening, all from one point of view.
    /// With `n_c` games and `y_c` points in opening `c`, `s = Σy_c/N` and
    /// `SE² = C/(C−1) · Σ(y_c − s·n_c)²/N²`. Openings without games do not count.
    /// Fails with [`StatisticsError::TooFew`] below two openings with games.
    /// Source: Liang and Zeger 1986, Biometrika 73, 13-22; Kish 1965, "Survey Sampling".
    pub fn new(openings: &[WinDrawLoss]) -> Result<ClusteredScore, StatisticsError> {
        let played = || openings.iter().filter(|opening| opening.games() > 0);
        let clusters = played().count();
        if clusters < 2 {
            return Err(StatisticsError::TooFew { what: "openings with games", needed: 2, found: clusters });
        }
        let total: WinDrawLoss = openings.iter().copied().sum();
        let games = total.games() as f64;
        let mean = total.points() / games;
        let squares: f64 = played().map(|opening| (opening.points() - mean * opening.games() as f64).powi(2)).sum();
        let correction = clusters as f64 / (clusters as f64 - 1.0);
        let variance_of_mean = correction * squares / (games * games);
        let score = Score::new(mean, variance_of_mean.sqrt(), total.games())?;
        let game_variance = total.variance().filter(|&variance| variance > 0.0);
        Ok(ClusteredScore {
            score,
            clusters: clusters as u64,
            effective_games: game_variance
                .filter(|_| variance_of_mean > 0.0)
                .map(|variance| variance / variance_of_mean),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_copies_of_each_game_are_worth_one() {
        let once: Vec<WinDrawLoss> =
            (0..100).map(|k| if k % 3 == 0 { WinDrawLoss::new(1, 0, 0) } else { WinDrawLoss::new(0, 0, 1) }).collect();
        let copied: Vec<WinDrawLoss> = once.iter().map(|o| WinDrawLoss::new(o.wins * 10, 0, o.losses * 10)).collect();
        let (once, copied) = (ClusteredScore::new(&once).unwrap(), ClusteredScore::new(&copied).unwrap());
        assert!((once.score.standard_error() - copied.score.standard_error()).abs() < 1e-15);
        assert!((copied.effective_games.unwrap() - 99.0).abs() < 1e-9);
    }

    #[test]
    fn one_opening_gives_no_interval() {
        let openings = [WinDrawLoss::new(400, 10, 30), WinDrawLoss::default()];
        assert_eq!(
            ClusteredScore::new(&openings),
            Err(StatisticsError::TooFew { what: "openings with games", needed: 2, found: 1 })
        );
    }

    #[test]
    fn games_all_alike_have_no_variance() {
        let clustered = ClusteredScore::new(&[WinDrawLoss::new(2, 0, 0); 5]).unwrap();
        assert_eq!(clustered.effective_games, None);
        assert_eq!(clustered.score.standard_error(), 0.0);
    }
}

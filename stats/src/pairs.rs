//! Two games of one opening with seats swapped: the joint table and its two pentanomials.

use serde::{Deserialize, Serialize};

use super::error::StatisticsError;
use super::mean_test::MeanTest;
use super::score::{GameResult, Score, WinDrawLoss, standard_error};

/// Results of paired games: the same opening twice, agent A first in game 1 and second in game 2.
/// The joint table is the primary record, because each pentanomial is a marginal of it: one stored
/// from the agent's view has lost the variance of the first player's score, and the other way round.
/// Unfinished pairs do not belong here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PairTable {
    /// `counts[r1][r2]`: pairs whose games 1 and 2 ended with `r1` and `r2` for the **first player** of
    /// each game, in the order of [`GameResult::ALL`].
    pub counts: [[u64; 3]; 3],
}

impl PairTable {
    /// Counts one more pair; both results are the first player's.
    pub fn record(&mut self, game_1: GameResult, game_2: GameResult) {
        self.counts[game_1.index()][game_2.index()] += 1;
    }

    /// Returns the number of pairs.
    #[must_use]
    pub fn pairs(&self) -> u64 {
        self.counts.iter().flatten().sum()
    }

    /// Returns every game's result for its first player.
    #[must_use]
    pub fn first_player_games(&self) -> WinDrawLoss {
        self.cells()
            .flat_map(|(results, count)| results.map(|result| (result, count)))
            .map(|(result, count)| repeated(result, count))
            .sum()
    }

    /// Returns every game's result for agent A.
    #[must_use]
    pub fn agent_games(&self) -> WinDrawLoss {
        self.cells()
            .flat_map(|([game_1, game_2], count)| [repeated(game_1, count), repeated(game_2.reversed(), count)])
            .sum()
    }

    /// Returns the pairs by the first players' points together, `F = (v₁ + v₂)/2`.
    #[must_use]
    pub fn first_player(&self) -> Pentanomial {
        self.marginal(|game_1, game_2| (game_1, game_2))
    }

    /// Returns the pairs by agent A's points, `A = (v₁ + 1 − v₂)/2`.
    #[must_use]
    pub fn agent(&self) -> Pentanomial {
        self.marginal(|game_1, game_2| (game_1, game_2.reversed()))
    }

    fn cells(&self) -> impl Iterator<Item = ([GameResult; 2], u64)> {
        GameResult::ALL.into_iter().flat_map(move |game_1| {
            GameResult::ALL
                .into_iter()
                .map(move |game_2| ([game_1, game_2], self.counts[game_1.index()][game_2.index()]))
        })
    }

    fn marginal(&self, view: fn(GameResult, GameResult) -> (GameResult, GameResult)) -> Pentanomial {
        let mut counts = [0; 5];
        for ([game_1, game_2], count) in self.cells() {
            let (one, other) = view(game_1, game_2);
            counts[(one.score() * 2.0 + other.score() * 2.0) as usize] += count;
        }
        Pentanomial { counts }
    }
}

fn repeated(result: GameResult, count: u64) -> WinDrawLoss {
    let mut games = WinDrawLoss::default();
    match result {
        GameResult::Win => games.wins = count,
        GameResult::Draw => games.draws = count,
        GameResult::Loss => games.losses = count,
    }
    games
}

/// Counts of pairs by the points of one side: 0, ½, 1, 1½ and 2 of 2.
/// In letters: LL, LD, LW or DD, DW, WW. Whose points they are, the maker says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Pentanomial {
    /// The counts, worst pair first.
    pub counts: [u64; 5],
}

impl Pentanomial {
    /// A pair's score in each class: half of its points.
    pub const SCORES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

    /// Returns the number of pairs.
    #[must_use]
    pub fn pairs(self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the mean score per game, in `[0, 1]`; `None` without pairs.
    #[must_use]
    pub fn mean(self) -> Option<f64> {
        let points: f64 = self.weighted(|score| score);
        (self.pairs() > 0).then(|| points / self.pairs() as f64)
    }

    /// Returns the variance of a pair's score, divided by the number of pairs; `None` without pairs.
    #[must_use]
    pub fn variance(self) -> Option<f64> {
        let mean = self.mean()?;
        Some(self.weighted(|score| (score - mean).powi(2)) / self.pairs() as f64)
    }

    /// Returns the score with standard error `√(Var/pairs)`, which knows that a pair shares its opening.
    /// Below 200 pairs the variance is divided by one pair less.
    /// Fails with [`StatisticsError::NoObservations`] without pairs.
    pub fn score(self) -> Result<Score, StatisticsError> {
        let (Some(mean), Some(variance)) = (self.mean(), self.variance()) else {
            return Err(StatisticsError::NoObservations("pairs"));
        };
        Score::new(mean, standard_error(variance, self.pairs()), 2 * self.pairs())
    }

    /// Returns the test of the expected score, with each pair as one outcome.
    #[must_use]
    pub fn mean_test(self) -> MeanTest<5> {
        MeanTest::new(Self::SCORES, self.counts)
    }

    fn weighted(self, value: impl Fn(f64) -> f64) -> f64 {
        self.counts.iter().zip(Self::SCORES).map(|(&count, score)| count as f64 * value(score)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_won_from_both_seats_is_one_point_for_the_first_player() {
        let mut table = PairTable::default();
        // Agent A won as first, and as second: the first player of game 2 lost.
        table.record(GameResult::Win, GameResult::Loss);
        assert_eq!(table.first_player().counts, [0, 0, 1, 0, 0]);
        assert_eq!(table.agent().counts, [0, 0, 0, 0, 1]);
        assert_eq!(table.first_player_games(), WinDrawLoss::new(1, 0, 1));
        assert_eq!(table.agent_games(), WinDrawLoss::new(2, 0, 0));
    }

    #[test]
    fn where_games_always_repeat_their_twin_the_agents_score_has_no_variance() {
        let table = PairTable { counts: [[6, 0, 0], [0, 2, 0], [0, 0, 4]] };
        assert_eq!(table.agent().variance(), Some(0.0));
    }

    #[test]
    fn no_pairs_have_no_score() {
        assert_eq!(Pentanomial::default().score(), Err(StatisticsError::NoObservations("pairs")));
    }
}

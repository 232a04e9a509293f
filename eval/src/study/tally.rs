//! Counts the games of one series in schedule order and applies the stopping rule, after every `batch` games of the schedule only,
//! so that the result depends neither on the order in which games end nor on threads or interruptions.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::summary::{OutcomeCounts, ScoreSummary, StopReason};
use crate::matches::FinishedGame;
use latrunculi_engine::EndReason;
use latrunculi_stats::score::EloEstimate;
use latrunculi_stats::{ClusteredScore, Confidence, FixedWidth, GameResult, Interval, MeanTest, Score, WinDrawLoss};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct StopRule {
    /// The width to be reached; `None` plays `games_max` games.
    pub(crate) width: Option<FixedWidth>,
    /// The fewest games of the schedule, and the most.
    pub(crate) games_min: usize,
    pub(crate) games_max: usize,
    /// After how many games it is asked again.
    pub(crate) batch: usize,
}

/// So many repetitions in a row, and at least a batch of them, end a series: hardly any new game is left.
const REPEATS_MIN: usize = 20;

#[derive(Clone, Debug)]
pub(crate) struct SeriesTally {
    rule: StopRule,
    /// Finished games that wait for earlier ones; `None` stands for a repetition.
    waiting: BTreeMap<usize, Option<FinishedGame>>,
    next: usize,
    boundary: usize,
    /// About how many games of the schedule there will be.
    expected: usize,
    stop: Option<StopReason>,
    /// Games of the schedule since the last that was no repetition.
    repeated_in_row: usize,
    by_opening: HashMap<u64, usize>,
    openings: Vec<WinDrawLoss>,
    keys: HashSet<u64>,
    pub(crate) counts: Counts,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Counts {
    /// Games played, and those of the schedule left out or not counted as repetitions.
    pub(crate) played: u64,
    pub(crate) repeated: u64,
    pub(crate) outcomes: OutcomeCounts,
    pub(crate) ends: BTreeMap<String, u64>,
    pub(crate) actions: u64,
    pub(crate) with_captures: u64,
    /// Nodes or simulations in all, and the number of choices with effort.
    pub(crate) effort: (u64, u64),
    /// The schedule indices of the counted games.
    pub(crate) indices: Vec<usize>,
}

impl SeriesTally {
    pub(crate) fn new(rule: StopRule) -> SeriesTally {
        let first = match rule.width {
            Some(_) => rule.games_min.clamp(1, rule.games_max),
            None => rule.games_max,
        };
        let mut tally = SeriesTally {
            rule,
            waiting: BTreeMap::new(),
            next: 0,
            boundary: first,
            expected: first,
            stop: (first == 0).then_some(StopReason::MaxGames),
            repeated_in_row: 0,
            by_opening: HashMap::new(),
            openings: Vec::new(),
            keys: HashSet::new(),
            counts: Counts::default(),
        };
        tally.expect();
        tally
    }

    /// Returns the number of games of the schedule that are known to be needed.
    pub(crate) fn boundary(&self) -> usize {
        self.boundary
    }

    /// Returns why the series ended, if it did.
    pub(crate) fn stop(&self) -> Option<StopReason> {
        self.stop
    }

    /// Returns whether a game was already added.
    pub(crate) fn has(&self, index: usize) -> bool {
        index < self.next || self.waiting.contains_key(&index)
    }

    /// Adds a game; `None` stands for a game that would repeat an earlier one.
    pub(crate) fn add(&mut self, index: usize, game: Option<FinishedGame>) {
        if self.has(index) || index >= self.rule.games_max {
            return;
        }
        self.waiting.insert(index, game);
        while self.stop.is_none()
            && let Some(game) = self.waiting.remove(&self.next)
        {
            self.count(game);
            self.next += 1;
            if self.next == self.boundary {
                self.apply_rule();
            }
        }
    }

    fn count(&mut self, game: Option<FinishedGame>) {
        let counts = &mut self.counts;
        counts.played += u64::from(game.is_some());
        let Some(game) = game.filter(|game| self.keys.insert(game.key)) else {
            counts.repeated += 1;
            self.repeated_in_row += 1;
            return;
        };
        self.repeated_in_row = 0;
        counts.indices.push(self.next);
        let is_truncated = game.reason == EndReason::MaxPlies;
        let outcomes = &mut counts.outcomes;
        *match game.result {
            GameResult::Win => &mut outcomes.first_wins,
            GameResult::Loss => &mut outcomes.second_wins,
            GameResult::Draw if is_truncated => &mut outcomes.truncated,
            GameResult::Draw => &mut outcomes.rule_draws,
        } += 1;
        *counts.ends.entry(game.reason.as_str().to_owned()).or_default() += 1;
        counts.actions += game.actions as u64;
        counts.with_captures += u64::from(game.has_capture);
        for (spent, choices) in game.efforts {
            counts.effort.0 += spent;
            counts.effort.1 += choices;
        }
        // Games without a drawn opening are all openings of their own.
        let opening_key = if game.opening == 0 { game.key } else { game.opening_key };
        let opening = *self.by_opening.entry(opening_key).or_insert_with(|| {
            self.openings.push(WinDrawLoss::default());
            self.openings.len() - 1
        });
        self.openings[opening].record(game.result);
    }

    fn apply_rule(&mut self) {
        let openings = self.openings.len() as u64;
        // With few decisive games the interval that is reported is wider than the variance of these games says.
        let is_reported = |width: FixedWidth| {
            self.summary(width.confidence(), 1).is_some_and(|found| found.half_width <= width.half_width())
        };
        let is_reached = |width: FixedWidth| {
            self.score().is_some_and(|score| width.is_reached(score.score, openings)) && is_reported(width)
        };
        self.stop = if self.rule.width.is_some_and(is_reached) {
            Some(StopReason::Width)
        } else if self.boundary >= self.rule.games_max {
            Some(StopReason::MaxGames)
        } else if self.repeated_in_row >= self.rule.batch.max(REPEATS_MIN) {
            Some(StopReason::NoMoreOpenings)
        } else {
            None
        };
        if self.stop.is_none() {
            self.boundary = (self.boundary + self.rule.batch.max(1)).min(self.rule.games_max);
        }
        self.expect();
    }

    /// Estimates how many games there will be, if the variance stays.
    fn expect(&mut self) {
        let needed = match (self.rule.width, self.score()) {
            _ if self.stop.is_some() => self.next,
            (None, _) => self.rule.games_max,
            (Some(width), Some(score)) => {
                self.next + width.games_left(score.score, self.openings.len() as u64) as usize
            }
            // Before the first games: as if one game in three were drawn.
            (Some(width), None) => {
                Score::new(0.5, (1.0 / 6.0f64).sqrt(), 1).map_or(0, |one| width.games_left(one, 1) as usize)
            }
        };
        self.expected = needed.max(self.boundary).min(self.rule.games_max);
    }

    /// Returns the first player's score over openings; `None` below two openings.
    pub(crate) fn score(&self) -> Option<ClusteredScore> {
        ClusteredScore::new(&self.openings).ok()
    }

    /// Returns the score of counted games; `rulesets` intervals shall hold together.
    pub(crate) fn summary(&self, confidence: Confidence, rulesets: usize) -> Option<ScoreSummary> {
        let score = self.score()?.score;
        let (mean, standard_error) = (score.mean(), score.standard_error());
        let outcomes = &self.counts.outcomes;
        let test = mean_test(outcomes.win_draw_loss(), standard_error, self.openings().len() as u64);
        let interval = test.interval(confidence);
        let hidden = outcomes.truncated as f64 / outcomes.games().max(1) as f64 / 2.0;
        Some(ScoreSummary {
            score: mean,
            standard_error,
            interval,
            simultaneous: test.interval(confidence.simultaneous(rulesets)),
            half_width: interval.half_width(),
            truncation_bracket: Interval { lower: mean - hidden, upper: mean + hidden },
            elo: EloEstimate::of_score(mean, Some(interval)),
        })
    }

    pub(crate) fn openings(&self) -> &[WinDrawLoss] {
        &self.openings
    }

    /// Returns the number of games of the schedule that are counted or left out.
    pub(crate) fn games_done(&self) -> usize {
        self.next + self.waiting.len()
    }

    /// Returns about how many games of the schedule are still missing.
    pub(crate) fn games_left(&self) -> usize {
        if self.stop.is_some() { 0 } else { self.expected.saturating_sub(self.games_done()) }
    }
}

/// Returns the test of games whose score has this standard error over so many openings: that of as many independent games
/// as say as much. Where all games ended alike, each opening counts as one game.
pub(crate) fn mean_test(games: WinDrawLoss, standard_error: f64, openings: u64) -> MeanTest<3> {
    let count = games.games().max(1) as f64;
    let independent = games.variance().unwrap_or_default() / count;
    let share = if independent > 0.0 && standard_error > 0.0 {
        independent / standard_error.powi(2)
    } else {
        openings as f64 / count
    };
    games.mean_test().of_share(share.min(1.0))
}

impl StopRule {
    /// Returns the rule of a study: a width, between the fewest and the most games.
    pub(crate) fn of_width(
        half_width: f64,
        confidence: Confidence,
        games_min: u64,
        games_max: u64,
        batch: u64,
    ) -> Self {
        let width = FixedWidth::new(half_width, games_min.min(games_max), confidence).ok();
        StopRule { width, games_min: games_min as usize, games_max: games_max as usize, batch: batch as usize }
    }

    /// Returns the rule that plays a fixed number of games.
    pub(crate) fn of_games(games: u64) -> Self {
        StopRule { width: None, games_min: games as usize, games_max: games as usize, batch: games as usize }
    }
}

//! Counting the games of one series in order, and knowing when there are enough.
//!
//! Whether to go on is asked after every `batch` games of the schedule, never in between: the answer is the
//! same whatever order the games ended in, on any number of threads, after any break.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::series::Judged;
use super::summary::{OutcomeCounts, StopReason};
use crate::statistics::{ClusteredScore, Confidence, FixedWidth, GameResult, Score, Trinomial};

/// When a series ends.
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

/// The games of one series.
#[derive(Clone, Debug)]
pub(crate) struct SeriesTally {
    rule: StopRule,
    /// Games that have ended and wait for those before them; `None` stands for one that would only repeat.
    waiting: BTreeMap<usize, Option<Judged>>,
    next: usize,
    boundary: usize,
    /// About how many games of the schedule there will be.
    expected: usize,
    stop: Option<StopReason>,
    new_since_boundary: bool,
    by_opening: HashMap<u64, usize>,
    openings: Vec<Trinomial>,
    keys: HashSet<u64>,
    /// What was counted.
    pub(crate) counts: Counts,
}

/// What was counted of a series.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Counts {
    /// Games played, and those of the schedule left out or not counted as repetitions.
    pub(crate) played: u64,
    pub(crate) repeated: u64,
    pub(crate) outcomes: OutcomeCounts,
    pub(crate) ends: BTreeMap<String, u64>,
    pub(crate) actions: u64,
    /// Nodes or simulations in all, and choices that spent some.
    pub(crate) effort: (u64, u64),
    /// Values for the first player when the last stone lay: sum, sum of squares, number.
    pub(crate) placed: (f64, f64, u64),
    /// The places of the counted games in the schedule.
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
            new_since_boundary: false,
            by_opening: HashMap::new(),
            openings: Vec::new(),
            keys: HashSet::new(),
            counts: Counts::default(),
        };
        tally.expect();
        tally
    }

    /// Returns the tally of no games at all.
    pub(crate) fn nothing() -> SeriesTally {
        SeriesTally::new(StopRule { width: None, games_min: 0, games_max: 0, batch: 1 })
    }

    /// Returns up to which game of the schedule it is known that it has to be played.
    pub(crate) fn boundary(&self) -> usize {
        self.boundary
    }

    /// Returns why the series is at its end, if it is.
    pub(crate) fn stop(&self) -> Option<StopReason> {
        self.stop
    }

    /// Tells whether a game is there already.
    pub(crate) fn has(&self, index: usize) -> bool {
        index < self.next || self.waiting.contains_key(&index)
    }

    /// Takes a game, or the news that it would only repeat an earlier one.
    pub(crate) fn add(&mut self, index: usize, game: Option<Judged>) {
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
                self.judge();
            }
        }
    }

    fn count(&mut self, game: Option<Judged>) {
        let counts = &mut self.counts;
        counts.played += u64::from(game.is_some());
        let Some(game) = game.filter(|game| self.keys.insert(game.key)) else {
            counts.repeated += 1;
            return;
        };
        self.new_since_boundary = true;
        counts.indices.push(self.next);
        let is_truncated = game.reason == Some(latrunculi_engine::EndReason::MaxPlies);
        let outcomes = &mut counts.outcomes;
        *match game.result {
            GameResult::Win => &mut outcomes.first_wins,
            GameResult::Loss => &mut outcomes.second_wins,
            GameResult::Draw if is_truncated => &mut outcomes.truncated,
            GameResult::Draw => &mut outcomes.rule_draws,
        } += 1;
        if let Some(reason) = game.reason {
            *counts.ends.entry(reason.as_str().to_owned()).or_default() += 1;
        }
        counts.actions += game.actions as u64;
        counts.effort.0 += game.effort.0;
        counts.effort.1 += game.effort.1;
        if let Some(value) = game.value_after_placement {
            counts.placed.0 += value;
            counts.placed.1 += value * value;
            counts.placed.2 += 1;
        }
        let opening = *self.by_opening.entry(game.opening_key).or_insert_with(|| {
            self.openings.push(Trinomial::default());
            self.openings.len() - 1
        });
        self.openings[opening].record(game.result);
    }

    fn judge(&mut self) {
        let is_reached = |width: FixedWidth| self.score().is_some_and(|score| width.is_reached(score.score));
        self.stop = if self.rule.width.is_some_and(is_reached) {
            Some(StopReason::Width)
        } else if self.boundary >= self.rule.games_max {
            Some(StopReason::MaxGames)
        } else if !self.new_since_boundary {
            Some(StopReason::NoMoreOpenings)
        } else {
            None
        };
        if self.stop.is_none() {
            self.boundary = (self.boundary + self.rule.batch.max(1)).min(self.rule.games_max);
            self.new_since_boundary = false;
        }
        self.expect();
    }

    /// Estimates how many games there will be, if the variance stays.
    fn expect(&mut self) {
        let needed = match (self.rule.width, self.score()) {
            _ if self.stop.is_some() => self.next,
            (None, _) => self.rule.games_max,
            (Some(width), Some(score)) => self.next + width.games_left(score.score) as usize,
            // Before the first games: as if one game in three were drawn.
            (Some(width), None) => {
                Score::new(0.5, (1.0 / 6.0f64).sqrt(), 1).map_or(0, |one| width.games_left(one) as usize)
            }
        };
        self.expected = needed.max(self.boundary).min(self.rule.games_max);
    }

    /// Returns the first player's score over openings; `None` below two openings.
    pub(crate) fn score(&self) -> Option<ClusteredScore> {
        ClusteredScore::new(&self.openings).ok()
    }

    /// Returns the results of each opening.
    pub(crate) fn openings(&self) -> &[Trinomial] {
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

impl StopRule {
    /// Returns the rule of a study: a width, between the fewest and the most games.
    pub(crate) fn of_width(
        half_width: f64,
        confidence: Confidence,
        games_min: u64,
        games_max: u64,
        batch: u64,
    ) -> Self {
        let width =
            FixedWidth::new(half_width, confidence).ok().map(|width| width.with_games_min(games_min.min(games_max)));
        StopRule { width, games_min: games_min as usize, games_max: games_max as usize, batch: batch as usize }
    }

    /// Returns the rule that plays a fixed number of games.
    pub(crate) fn of_games(games: u64) -> Self {
        StopRule { width: None, games_min: games as usize, games_max: games as usize, batch: games as usize }
    }
}

//! Counts games in the order of the schedule and makes the report of a match.

use std::collections::{BTreeMap, HashSet};
use std::ops::ControlFlow;

use latrunculi_engine::{EndReason, GameRecord};
use serde::Serialize;

use super::{Job, MatchGame, MatchObserver, MatchProgress, Schedule, sprt_error, sprt_report};
use crate::Error;
use crate::matches::ledger::Ledger;
use latrunculi_stats::proportion::clopper_pearson;
use latrunculi_stats::score::EloEstimate;
use latrunculi_stats::sprt::SprtVerdict;
use latrunculi_stats::{Confidence, Estimate, Interval, PairTable, Sprt, WinDrawLoss};

/// What a match came to. Scores and ratings are those of the first agent unless said otherwise.
#[derive(Clone, Debug, Serialize)]
pub struct MatchReport {
    /// The ruleset's id.
    pub ruleset: String,
    /// The agents' texts; of networks with the settings of the search that are not the default ones, and the kernel.
    pub agents: [String; 2],
    /// The seed of the match.
    pub seed: u64,
    /// Random actions at the beginning of each game.
    pub opening_length: usize,
    /// Games played, including repetitions that do not count. Once a sequential test has decided the match, games of later
    /// pairs that were under way are not: how many those are depends on the threads.
    pub games_played: u64,
    /// Games among them that have ended and wait to be counted: pairs count when both of their games have ended, in the order of
    /// their openings, so that no result depends on which games end first. 0 unless the match was stopped.
    pub games_waiting: u64,
    /// Games among them that were not played before, mirror images included.
    pub games_distinct: u64,
    /// Games that count: two for each pair of `table`.
    pub games: u64,
    /// Openings of the counted pairs that differ, mirror images counting as the same.
    pub openings_distinct: u64,
    /// Openings drawn anew because they, or mirror images of them, had been there.
    pub openings_redrawn: u64,
    /// Pairs taken out of the count because a game of theirs repeats an earlier one, mirrored or not; those
    /// that were not even played because they could only repeat are among them.
    pub pairs_repeated: u64,
    /// Whole pairs: rows the result of game 1, columns that of game 2, each for the player who **began**, in the
    /// order win, draw, loss. The first agent begins game 1, the second game 2.
    pub table: PairTable,
    /// Wins, draws and losses of the first agent.
    pub total: WinDrawLoss,
    /// The same by seat.
    pub by_seat: BySeat,
    /// Wins, draws and losses of whoever began.
    pub beginner: WinDrawLoss,
    /// Pairs by the first agent's points: 0, ½, 1, 1½, 2.
    pub pentanomial: [u64; 5],
    /// Mean score of the first agent, in `[0, 1]`.
    pub score: Option<f64>,
    /// The interval of the expected score, with each pair as one outcome ([`latrunculi_stats::MeanTest`]).
    pub interval: Option<Interval>,
    /// The confidence of all intervals.
    pub confidence: f64,
    /// Why there is no interval.
    pub interval_refused: Option<String>,
    /// Mean material margin of the first agent at the end of the counted games, in shares of a side's men, its standard error
    /// over pairs ([`Estimate::interval_of_margin`]): tells agents apart where nearly all games are drawn. `None` below two pairs.
    pub margin: Option<Estimate>,
    /// Elo difference, with the asymmetric bounds that belong to `interval`.
    pub elo: Option<EloEstimate>,
    /// Normalised Elo with its standard error.
    pub normalized_elo: Option<Estimate>,
    /// Likelihood of superiority, in `[0, 1]`: 1 less the p-value of "the expected score is at most ½", by the score test.
    pub likelihood_of_superiority: Option<f64>,
    /// The sequential test. Once it is decided the score above is biased: the verdict is the result.
    pub sprt: Option<SprtReport>,
    /// How the counted games ended.
    pub ends: BTreeMap<&'static str, u64>,
    /// Counted games that ended at the program's ply cap; they count as draws.
    pub truncated: u64,
    /// Actions per counted game, those of the opening included.
    pub actions_mean: f64,
    /// Nodes or simulations per choice, by agent; `None` for agents that spend nothing.
    pub effort_mean: [Option<f64>; 2],
    /// The threads of each game where an agent plays by the clock, so that the games do not repeat; else `None`.
    pub threads_per_game: Option<usize>,
    /// Whether the match was stopped before its end.
    pub is_interrupted: bool,
    /// The counted games, in the order of the schedule.
    #[serde(skip)]
    pub records: Vec<MatchGame>,
}

/// The mean over rulesets, each with the same weight however many games it has. Rulesets in which no game counts are not
/// part of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MeanReport {
    /// Rulesets that are part of it.
    pub rulesets: usize,
    /// Wins, draws and losses of the first agent in all of them.
    pub total: WinDrawLoss,
    /// Mean of the first agent's scores, in `[0, 1]`.
    pub score: Option<f64>,
    /// Its interval ([`Interval::of_mean`]); `None` where a ruleset has none.
    pub interval: Option<Interval>,
    /// Mean of the first agent's material margins, in shares of a side's men; `None` where a ruleset has none.
    pub margin: Option<Estimate>,
}

impl MeanReport {
    /// Returns the mean of matches of the same agents.
    #[must_use]
    pub fn of(reports: &[MatchReport]) -> MeanReport {
        let counted: Vec<&MatchReport> = reports.iter().filter(|report| report.score.is_some()).collect();
        let scores: Vec<f64> = counted.iter().filter_map(|report| report.score).collect();
        let parts: Option<Vec<(f64, Interval)>> =
            counted.iter().map(|report| Some((report.score?, report.interval?))).collect();
        let margins: Option<Vec<Estimate>> = counted.iter().map(|report| report.margin).collect();
        let count = scores.len() as f64;
        MeanReport {
            rulesets: counted.len(),
            total: counted.iter().map(|report| report.total).sum(),
            score: (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / count),
            interval: parts.and_then(|parts| Interval::of_mean(&parts)),
            margin: margins.filter(|margins| !margins.is_empty()).map(|margins| Estimate {
                value: margins.iter().map(|one| one.value).sum::<f64>() / count,
                standard_error: margins.iter().map(|one| one.standard_error.powi(2)).sum::<f64>().sqrt() / count,
            }),
        }
    }
}

/// The first agent's results by seat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BySeat {
    /// Where it began the game.
    pub beginning: WinDrawLoss,
    /// Where the second agent began the game.
    pub replying: WinDrawLoss,
}

/// Where a sequential test stands.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SprtReport {
    /// The test.
    pub sprt: Sprt,
    /// The log-likelihood ratio, positive for H1.
    pub log_likelihood_ratio: f64,
    /// Whether a bound is reached.
    pub is_decided: bool,
    /// Which one.
    pub verdict: SprtVerdict,
}

/// Takes games as they end, writes them to the ledger, and counts pairs in the order of the schedule.
pub(super) struct Tally<'a, 'o> {
    schedule: &'a Schedule,
    observer: &'a mut MatchObserver<'o>,
    pub(super) ledger: Option<Ledger>,
    waiting: BTreeMap<Job, MatchGame>,
    next_pair: usize,
    keys: HashSet<u64>,
    games_played: u64,
    /// Games played of the pairs whose turn to be counted has come.
    games_in_turn: u64,
    games_max: usize,
    /// Results of the first agent in all games that have ended.
    results: WinDrawLoss,
    table: PairTable,
    pairs_repeated: u64,
    counted: Vec<MatchGame>,
    sprt: Option<SprtReport>,
    is_interrupted: bool,
}

impl<'a, 'o> Tally<'a, 'o> {
    pub(super) fn new(schedule: &'a Schedule, observer: &'a mut MatchObserver<'o>) -> Result<Tally<'a, 'o>, Error> {
        if let Some(sprt) = &schedule.config.sprt {
            // Impossible hypotheses are refused before anything is played.
            sprt.validate().map_err(sprt_error)?;
        }
        let mut tally = Tally {
            schedule,
            observer,
            ledger: None,
            waiting: BTreeMap::new(),
            next_pair: 0,
            keys: HashSet::new(),
            games_played: 0,
            games_in_turn: 0,
            games_max: schedule.jobs().count(),
            results: WinDrawLoss::default(),
            table: PairTable::default(),
            pairs_repeated: 0,
            counted: Vec::new(),
            sprt: None,
            is_interrupted: false,
        };
        tally.count()?;
        Ok(tally)
    }

    pub(super) fn has(&self, job: Job) -> bool {
        job.pair < self.next_pair || self.waiting.contains_key(&job)
    }

    /// Returns whether nothing more needs to be played.
    pub(super) fn is_over(&self) -> bool {
        self.is_interrupted || self.is_done()
    }

    /// Returns whether nothing more would be played if the match were taken up again.
    pub(super) fn is_done(&self) -> bool {
        self.next_pair >= self.schedule.config.pairs || self.is_decided()
    }

    fn is_decided(&self) -> bool {
        self.sprt.is_some_and(|sprt| sprt.is_decided)
    }

    pub(super) fn add_recorded(&mut self, game: MatchGame) -> Result<(), Error> {
        let job = Job { pair: game.pair, beginner: game.beginner };
        if !self.has(job) && !self.is_over() {
            self.take(job, game);
            self.count()?;
            self.tell(None);
        }
        Ok(())
    }

    /// Takes a game that has just ended; answers whether to go on.
    pub(super) fn add(&mut self, game: MatchGame, record: &GameRecord) -> Result<ControlFlow<()>, Error> {
        let job = Job { pair: game.pair, beginner: game.beginner };
        if let Some(ledger) = &mut self.ledger {
            ledger.append(&self.schedule.place(job), record)?;
        }
        if !self.is_over() {
            self.take(job, game);
            self.count()?;
            self.tell(Some(record));
        }
        Ok(if self.is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }

    fn take(&mut self, job: Job, game: MatchGame) {
        self.games_played += 1;
        self.results.record(if job.beginner == 0 { game.game.result } else { game.game.result.reversed() });
        self.waiting.insert(job, game);
    }

    pub(super) fn tell(&mut self, record: Option<&GameRecord>) {
        let progress = MatchProgress {
            games: self.games_played as usize,
            games_max: self.games_max,
            results: self.results,
            sprt: self.sprt,
            record,
        };
        self.is_interrupted |= (self.observer)(&progress).is_break() && !self.is_over();
    }

    /// Counts all pairs that are whole and whose turn it is.
    fn count(&mut self) -> Result<(), Error> {
        while self.next_pair < self.schedule.config.pairs && !self.is_decided() {
            let pair = self.next_pair;
            if self.schedule.would_repeat(pair) {
                self.pairs_repeated += 1;
                self.next_pair += 1;
                continue;
            }
            let jobs = [0, 1].map(|beginner| Job { pair, beginner });
            if !jobs.iter().all(|job| self.waiting.contains_key(job)) {
                break;
            }
            self.next_pair += 1;
            self.games_in_turn += 2;
            let games: Vec<MatchGame> = jobs.iter().filter_map(|job| self.waiting.remove(job)).collect();
            let are_new: Vec<bool> = games.iter().map(|game| self.keys.insert(game.game.key)).collect();
            if are_new.contains(&false) {
                self.pairs_repeated += 1;
                continue;
            }
            self.table.record(games[0].game.result, games[1].game.result);
            self.counted.extend(games);
            if let Some(sprt) = &self.schedule.config.sprt {
                self.sprt = sprt_report(sprt, &self.table)?;
            }
        }
        Ok(())
    }

    pub(super) fn into_report(self) -> MatchReport {
        let config = &self.schedule.config;
        let table = self.table;
        let total = table.agent_games();
        let mut by_seat = BySeat::default();
        let mut ends: BTreeMap<&'static str, u64> = BTreeMap::new();
        let (mut actions, mut efforts) = (0, [(0_u64, 0); 2]);
        for MatchGame { beginner, game, .. } in &self.counted {
            match beginner {
                0 => by_seat.beginning.record(game.result),
                _ => by_seat.replying.record(game.result.reversed()),
            }
            *ends.entry(game.reason.as_str()).or_default() += 1;
            actions += game.actions;
            for ((spent, choices), (own, count)) in efforts.iter_mut().zip(game.efforts) {
                *spent = spent.saturating_add(own);
                *choices += count;
            }
        }
        let openings: HashSet<u64> = self.counted.iter().map(|game| game.game.opening_key).collect();
        let refused = why_no_interval(&table, self.pairs_repeated);
        let test = refused.is_none().then(|| table.agent().mean_test());
        let interval = test.map(|test| test.interval(config.confidence));
        // Of pairs that are all alike the spread is not known.
        let spread = test.and_then(|_| table.agent().score().ok());
        let mean = |sum: f64, count: u64| if count > 0 { sum / count as f64 } else { 0.0 };
        MatchReport {
            ruleset: self.schedule.rules.ruleset().id.clone(),
            agents: self.schedule.texts.clone(),
            seed: config.seed,
            opening_length: self.schedule.opening_length,
            games_played: if self.is_decided() { self.games_in_turn } else { self.games_played },
            games_waiting: if self.is_decided() { 0 } else { self.waiting.len() as u64 },
            games_distinct: self.keys.len() as u64 + if self.is_decided() { 0 } else { self.unpaired_distinct() },
            games: 2 * table.pairs(),
            openings_distinct: openings.len() as u64,
            openings_redrawn: self.schedule.redrawn(self.next_pair),
            pairs_repeated: self.pairs_repeated,
            table,
            total,
            by_seat,
            beginner: table.first_player_games(),
            pentanomial: table.agent().counts,
            score: total.mean(),
            interval,
            confidence: config.confidence.level(),
            interval_refused: refused,
            margin: margin(&self.counted, config.confidence),
            elo: test.map(|test| EloEstimate::of_score(test.mean(), interval)),
            normalized_elo: spread.and_then(|score| score.normalized_elo().ok()),
            likelihood_of_superiority: test.map(|test| test.p_below(0.5)),
            sprt: self.sprt,
            truncated: ends.get(EndReason::MaxPlies.as_str()).copied().unwrap_or(0),
            ends,
            actions_mean: mean(actions as f64, self.counted.len() as u64),
            effort_mean: efforts.map(|(spent, choices)| (spent > 0).then(|| mean(spent as f64, choices))),
            threads_per_game: None,
            is_interrupted: self.is_interrupted,
            records: self.counted,
        }
    }

    /// Counts the distinct games that wait for others to be counted.
    fn unpaired_distinct(&self) -> u64 {
        let waiting: HashSet<u64> = self.waiting.values().map(|game| game.game.key).collect();
        waiting.difference(&self.keys).count() as u64
    }
}

/// Returns the mean margin of the first agent in games that are counted pair by pair.
///
/// Where all pairs have the same margin, the error is that of as many pairs with another one, at the far end of the range, as
/// Clopper and Pearson allow where none was seen.
fn margin(counted: &[MatchGame], confidence: Confidence) -> Option<Estimate> {
    let of_first = |game: &MatchGame| f64::from(if game.beginner == 0 { game.game.margin } else { -game.game.margin });
    let pairs: Vec<f64> = counted.chunks_exact(2).map(|pair| (of_first(&pair[0]) + of_first(&pair[1])) / 2.0).collect();
    let found = Estimate::of_mean(&pairs)?;
    if found.standard_error > 0.0 {
        return Some(found);
    }
    let unseen = clopper_pearson(0, pairs.len() as u64, confidence).ok()?.upper;
    Some(Estimate { standard_error: unseen * (1.0 + found.value.abs()) / confidence.z(), ..found })
}

/// Returns why so few pairs give no interval; `None` where they do.
fn why_no_interval(table: &PairTable, pairs_repeated: u64) -> Option<String> {
    match (table.pairs(), pairs_repeated > 0) {
        (0, true) => Some("every pair of games repeats itself: both agents play the same, whoever begins".to_owned()),
        (pairs @ (0 | 1), is_repeating) => {
            let why = if is_repeating { "the match would repeat one game" } else { "too few games" };
            Some(format!("{why}: {pairs} pair of games says nothing about the spread"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latrunculi_stats::GameResult;

    #[test]
    fn two_pairs_count_for_two_games() {
        let mut table = PairTable::default();
        table.record(GameResult::Win, GameResult::Loss);
        table.record(GameResult::Win, GameResult::Win);
        assert_eq!(table.agent_games(), WinDrawLoss::new(3, 0, 1));
        // Each pair is one outcome, however many games it has.
        let found = table.agent().mean_test().interval(Confidence::NINETY_FIVE);
        let of_four = WinDrawLoss::new(3, 0, 1).mean_test().interval(Confidence::NINETY_FIVE);
        assert!(found.half_width() > of_four.half_width() && found.contains(0.75), "{found:?} {of_four:?}");
    }
}

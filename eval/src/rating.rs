//! Ratings: many agents, a match of paired openings for each pairing, one joint fit.
//!
//! All pairings play the same openings, so errors are clustered by opening. The games do not depend on the order
//! of the agents, and all games go to one ledger: after adding an agent only its own games are played.

mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_engine::{GameRecord, Rules};
use serde::Serialize;

use crate::Error;
use crate::agents::AgentSpec;
use crate::matches::openings::{OpeningBook, default_length};
use crate::matches::{BySeat, MatchConfig, MatchReport, play_match};
use crate::players::{OpenNetwork, Players};
use latrunculi_stats::{SeriesResult, StatisticsError, WinDrawLoss};

pub use table::{AgentRating, EqualStrength, ErrorKind, FitSettings, Rated, RatingTable, Test};

/// The pairings to play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pairing {
    /// Every agent plays every other agent.
    RoundRobin,
    /// One agent, by index, plays every other agent.
    Gauntlet(usize),
}

/// The configuration of a rating.
#[derive(Clone, Debug)]
pub struct RatingConfig {
    /// The agents; no two the same.
    pub agents: Vec<AgentSpec>,
    /// The pairings to play.
    pub pairing: Pairing,
    /// Pairs of games of each pairing, seats swapped within a pair.
    pub pairs: usize,
    /// The seed of all random numbers.
    pub seed: u64,
    /// How many random actions open a game; `None` is [`default_length`].
    pub opening_length: Option<usize>,
    /// The settings of the fit; anchors by the index of [`RatingConfig::agents`].
    pub fit: FitSettings,
    /// Who plays.
    pub players: Players,
    /// The file where finished games are written; an interrupted rating continues from it.
    pub ledger: Option<PathBuf>,
}

impl RatingConfig {
    /// Returns a round robin of `pairs` pairs of games in each pairing, everything else at its default: seed
    /// 0, Davidson's model, the first agent at 0 Elo, 95 % intervals, all cores, no ledger.
    #[must_use]
    pub fn new(agents: Vec<AgentSpec>, pairs: usize) -> RatingConfig {
        RatingConfig {
            agents,
            pairing: Pairing::RoundRobin,
            pairs,
            seed: 0,
            opening_length: None,
            fit: FitSettings::default(),
            players: Players::default(),
            ledger: None,
        }
    }

    /// Returns the pairings as pairs of indices, the agent whose text comes first in front.
    fn pairings(&self) -> Vec<[usize; 2]> {
        let count = self.agents.len();
        let mut pairings: Vec<[usize; 2]> = match self.pairing {
            Pairing::RoundRobin => (0..count).flat_map(|one| (one + 1..count).map(move |other| [one, other])).collect(),
            Pairing::Gauntlet(one) => (0..count).filter(|&other| other != one).map(|other| [one, other]).collect(),
        };
        for pairing in &mut pairings {
            pairing.sort_by_key(|&agent| self.agents[agent].to_string());
        }
        pairings
    }

    fn check(&self) -> Result<(), Error> {
        let texts: Vec<String> = self.agents.iter().map(AgentSpec::to_string).collect();
        if texts.len() < 2 {
            return Err(Error::Refused("a rating needs at least two agents".to_owned()));
        }
        for (index, text) in texts.iter().enumerate() {
            if texts[..index].contains(text) {
                return Err(Error::Refused(format!(
                    "{text} is named twice; give one of them another seed= if they are random"
                )));
            }
        }
        Ok(())
    }
}

/// The progress of a rating.
#[derive(Debug)]
pub struct RatingProgress<'a> {
    /// Finished games, including those of the ledger.
    pub games: usize,
    /// The largest possible number of games.
    pub games_max: usize,
    /// The pairing being played, from 0.
    pub pairing: usize,
    /// How many pairings there are.
    pub pairings: usize,
    /// The two agents' texts.
    pub agents: &'a [String; 2],
    /// Results of the first of them in the games of this pairing that have ended.
    pub results: WinDrawLoss,
    /// The game that has just ended; `None` for games from the ledger, and before the first game of a pairing.
    pub record: Option<&'a GameRecord>,
}

/// Receives the progress of a rating and returns whether to continue.
pub type RatingObserver<'a> = dyn FnMut(&RatingProgress<'_>) -> ControlFlow<()> + Send + 'a;

/// The result of a rating.
#[derive(Clone, Debug, Serialize)]
pub struct RatingReport {
    /// The ruleset's id.
    pub ruleset: String,
    /// The fingerprint of its parameters ([`ruleset_fingerprint`]).
    pub ruleset_fingerprint: String,
    /// The seed of all games.
    pub seed: u64,
    /// Random actions at the beginning of each game.
    pub opening_length: usize,
    /// Games that count.
    pub games: u64,
    /// Games played, including repetitions that do not count.
    pub games_played: u64,
    /// Games among them that have ended and wait to be counted ([`MatchReport::games_waiting`]).
    pub games_waiting: u64,
    /// Distinct openings of the counted games; mirror images count as the same.
    pub openings_distinct: u64,
    /// Counted games that ended at the program's ply cap; they count as draws.
    pub truncated: u64,
    /// The ratings; `None` where the games give none.
    pub table: Option<RatingTable>,
    /// Why there is no table.
    pub refused: Option<String>,
    /// Each pairing's results.
    pub pairings: Vec<PairingResult>,
    /// The threads of each game where an agent plays by the clock ([`MatchReport::threads_per_game`]).
    pub threads_per_game: Option<usize>,
    /// Whether it was interrupted.
    pub is_interrupted: bool,
}

/// The results of one pairing.
#[derive(Clone, Debug, Serialize)]
pub struct PairingResult {
    /// The agents' texts.
    pub agents: [String; 2],
    /// Results of the first of them.
    #[serde(flatten)]
    pub by_seat: BySeat,
    /// Pairs of games taken out of the count as repetitions.
    pub pairs_repeated: u64,
}

/// Plays every pairing, or what the ledger leaves of it, and fits all agents at once.
///
/// The result depends on neither the number of threads nor interruptions. Networks are opened for each pairing.
///
/// # Errors
/// [`Error`]
pub fn play_rating<'e>(
    rules: &Arc<Rules>,
    config: &RatingConfig,
    networks: &mut OpenNetwork<'_, 'e>,
    observer: &mut RatingObserver<'_>,
) -> Result<RatingReport, Error> {
    config.check()?;
    let opening_length = config.opening_length.unwrap_or_else(|| default_length(rules));
    let pairings = config.pairings();
    let book = OpeningBook::draw(rules, config.seed, config.pairs, opening_length);
    // Only random agents play a repeated opening again.
    let games_of = |pairing: &[usize; 2]| {
        let is_random = pairing.iter().any(|&agent| config.agents[agent].is_random());
        2 * if is_random { config.pairs } else { book.distinct() }
    };
    let games_max = pairings.iter().map(games_of).sum();
    let mut games_before = 0;
    let mut matches: Vec<([usize; 2], MatchReport)> = Vec::with_capacity(pairings.len());
    for (index, &pairing) in pairings.iter().enumerate() {
        let texts = pairing.map(|agent| config.agents[agent].to_string());
        let mut latest = 0;
        let match_config = MatchConfig {
            seed: config.seed,
            opening_length: Some(opening_length),
            confidence: config.fit.confidence,
            players: config.players.clone(),
            ledger: config.ledger.clone(),
            ..MatchConfig::new(pairing.map(|agent| config.agents[agent].clone()), config.pairs)
        };
        let report = play_match(rules, &match_config, networks, &mut |at| {
            latest = at.games;
            observer(&RatingProgress {
                games: games_before + at.games,
                games_max,
                pairing: index,
                pairings: pairings.len(),
                agents: &texts,
                results: at.results,
                record: at.record,
            })
        })
        .map_err(|error| Error::Refused(format!("{} against {}: {error}", texts[0], texts[1])))?;
        games_before += latest;
        let is_interrupted = report.is_interrupted;
        matches.push((pairing, report));
        if is_interrupted {
            break;
        }
    }
    let opening_of = |pair: usize| book.openings[pair].repeats.unwrap_or(pair) as u64;
    let results: Vec<SeriesResult> =
        matches.iter().flat_map(|(pairing, report)| series(*pairing, report, opening_of)).collect();
    // A network's text tells how it played, once it has.
    let played_as = |agent: usize| {
        matches.iter().find_map(|([one, other], report)| match agent {
            _ if agent == *one => Some(report.agents[0].clone()),
            _ if agent == *other => Some(report.agents[1].clone()),
            _ => None,
        })
    };
    let texts: Vec<String> = config
        .agents
        .iter()
        .enumerate()
        .map(|(index, agent)| played_as(index).unwrap_or_else(|| agent.to_string()))
        .collect();
    let (table, refused) = match RatingTable::fit(&texts, &results, &config.fit) {
        Ok(table) => (Some(table), None),
        Err(StatisticsError::Unconnected { agent }) => {
            let reason = format!("no chain of games connects {} to an agent with a fixed rating", texts[agent]);
            (None, Some(reason))
        }
        Err(error) => (None, Some(error.to_string())),
    };
    let openings: BTreeSet<u64> = results.iter().map(|result| result.opening).collect();
    Ok(RatingReport {
        ruleset: rules.ruleset().id.clone(),
        ruleset_fingerprint: ruleset_fingerprint(rules.ruleset()),
        seed: config.seed,
        opening_length,
        games: matches.iter().map(|(_, report)| report.games).sum(),
        games_played: matches.iter().map(|(_, report)| report.games_played).sum(),
        games_waiting: matches.iter().map(|(_, report)| report.games_waiting).sum(),
        openings_distinct: openings.len() as u64,
        truncated: matches.iter().map(|(_, report)| report.truncated).sum(),
        table,
        refused,
        threads_per_game: matches.iter().find_map(|(_, report)| report.threads_per_game),
        is_interrupted: matches.iter().any(|(_, report)| report.is_interrupted),
        pairings: matches.into_iter().map(|(_, report)| PairingResult::of(report)).collect(),
    })
}

impl PairingResult {
    fn of(report: MatchReport) -> PairingResult {
        PairingResult { by_seat: report.by_seat, pairs_repeated: report.pairs_repeated, agents: report.agents }
    }
}

/// Returns a match's counted games by seats and opening.
fn series(pairing: [usize; 2], report: &MatchReport, opening_of: impl Fn(usize) -> u64) -> Vec<SeriesResult> {
    let mut games: BTreeMap<(u64, usize), WinDrawLoss> = BTreeMap::new();
    for game in &report.records {
        games.entry((opening_of(game.pair), game.beginner)).or_default().record(game.game.result);
    }
    games
        .into_iter()
        .map(|((opening, beginner), games)| SeriesResult {
            first: pairing[beginner],
            second: pairing[1 - beginner],
            games,
            opening,
        })
        .collect()
}

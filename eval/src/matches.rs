//! Matches of two agents with paired openings and swapped seats: the first agent begins game 1 of an opening, the second game 2.
//! Games are functions of the configuration, and counted in the schedule's order, in whatever order they end.

mod finished;
pub(crate) mod game_play;
mod games;
pub mod ledger;
pub mod openings;
mod tally;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use latrunculi_engine::record::{RecordFault, ruleset_fingerprint};
use latrunculi_engine::{GameRecord, GameState, Rules};
use latrunculi_search::SEARCH_VERSION;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::agents::{AgentError, AgentSpec, NetworkEvaluator, mix_seeds};
use crate::matches::game_play::{Beginning, GameSource, Matchup, OpeningPolicy};
use crate::matches::ledger::{Ledger, LedgerGame, Place, line_fault};
use crate::matches::openings::{OpeningBook, PolicyOpenings, default_length};
use crate::players::{Networks, OpenNetwork, Players};
use latrunculi_stats::sprt::SprtVerdict;
use latrunculi_stats::{Confidence, PairTable, Sprt, StatisticsError, WinDrawLoss};

pub use finished::{FinishedGame, play_key};
use games::MatchGames;
pub(crate) use games::MatchPlay;
use tally::Tally;
pub use tally::{BySeat, MatchReport, MeanReport, SprtReport};

/// The configuration of a match. Workers are told what its games depend on: what is left out in serialising is theirs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MatchConfig {
    /// The two agents; scores are from the view of the first.
    pub agents: [AgentSpec; 2],
    /// The most pairs of games to play.
    pub pairs: usize,
    /// The seed of all random numbers.
    pub seed: u64,
    /// The number of drawn opening actions; `None` is [`default_length`].
    pub opening_length: Option<usize>,
    /// The policy they are drawn from; `None` draws legal actions uniformly.
    pub opening_policy: Option<PolicyOpenings>,
    /// A sequential test that ends the match when it is decided.
    #[serde(skip)]
    pub sprt: Option<Sprt>,
    /// The confidence of all intervals.
    #[serde(skip, default = "usual_confidence")]
    pub confidence: Confidence,
    /// Who plays.
    #[serde(skip)]
    pub players: Players,
    /// The file where finished games are written; an interrupted match continues from it.
    #[serde(skip)]
    pub ledger: Option<PathBuf>,
    /// Whether the report keeps the record of every counted game, which takes some kilobytes each.
    #[serde(skip)]
    pub keep_records: bool,
}

fn usual_confidence() -> Confidence {
    Confidence::NINETY_FIVE
}

impl MatchConfig {
    /// Returns a match of `pairs` pairs with everything else at its default: seed 0, 95 % intervals, all
    /// cores, 64 games at once, no sequential test, no ledger.
    #[must_use]
    pub fn new(agents: [AgentSpec; 2], pairs: usize) -> MatchConfig {
        MatchConfig {
            agents,
            pairs,
            seed: 0,
            opening_length: None,
            opening_policy: None,
            sprt: None,
            confidence: usual_confidence(),
            players: Players::default(),
            ledger: None,
            keep_records: false,
        }
    }

    fn plays_by_clock(&self) -> bool {
        self.agents.iter().any(|agent| agent.time.is_some())
    }

    /// Returns the two agents, and the one that draws the openings.
    fn all_agents(&self) -> Vec<&AgentSpec> {
        self.agents.iter().chain(self.opening_policy.iter().map(|policy| &policy.agent)).collect()
    }

    /// Returns a text that identifies everything a single game of this match depends on; the kernels of the networks come last.
    fn series(&self, rules: &Rules, opening_length: usize, networks: &Networks) -> String {
        let ruleset = rules.ruleset();
        let network = |agent| networks.of(0, agent).flatten().map(|(_, network)| network);
        let identity = |agent| network(agent).map(|network| network.identity.clone()).unwrap_or_default();
        let mut series = format!("{}/{}", ruleset.id, ruleset_fingerprint(ruleset));
        for agent in &self.agents {
            series.push_str(&format!(" {agent}"));
            let evaluation = agent.evaluation(ruleset).unwrap_or_default();
            for one in [identity(agent), evaluation].iter().filter(|one| !one.is_empty()) {
                series.push_str(&format!("@{one}"));
            }
        }
        series.push_str(&format!(" seed={} opening={opening_length}", self.seed));
        if let Some(policy) = &self.opening_policy {
            series.push_str(&format!(" from {}", policy.text(&identity(&policy.agent))));
        }
        if self.all_agents().into_iter().any(AgentSpec::searches) {
            series.push_str(&format!(" search={SEARCH_VERSION}"));
        }
        let kernels: Vec<&str> =
            self.all_agents().into_iter().filter_map(network).map(|network| network.play.kernel.as_str()).collect();
        if kernels.iter().any(|kernel| !kernel.is_empty()) {
            series.push_str(&format!("{KERNELS}{}", kernels.join(",")));
        }
        series
    }
}

/// The progress of a match.
#[derive(Debug)]
pub struct MatchProgress<'a> {
    /// Finished games, including those of the ledger.
    pub games: usize,
    /// The largest possible number of games.
    pub games_max: usize,
    /// Results of the first agent in these games, whether their pairs count already or not.
    pub results: WinDrawLoss,
    /// The log-likelihood ratio and the bounds of the sequential test, if there is one and it has begun.
    pub sprt: Option<SprtReport>,
    /// The game that has just ended; `None` for games from the ledger, and before the first game.
    pub record: Option<&'a GameRecord>,
}

/// Receives the progress of a match, also before the first game, and returns whether to continue. May be called from any thread, one call at
/// a time.
pub type MatchObserver<'a> = dyn FnMut(&MatchProgress<'_>) -> ControlFlow<()> + Send + 'a;

/// One game of a match: what is counted of it.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchGame {
    /// The index of the pair, from 0.
    pub pair: usize,
    /// The agent who began the game: 0 or 1, as in [`MatchConfig::agents`].
    pub beginner: usize,
    /// The game, where [`MatchConfig::keep_records`] asks for it.
    pub record: Option<Box<GameRecord>>,
    /// What is counted of it. Its key is the same only with the same agents in the seats, and the efforts are by agent.
    pub game: FinishedGame,
}

/// Plays a match, or the rest of it where the ledger holds some games already.
///
/// Where an agent plays by the clock, no more games are played at once than there are threads, which are divided among the games; their
/// results do not repeat.
///
/// `networks` opens the networks that the agents name; two agents with the same model share it. With a network many games
/// are played at once, so that their searches share its batches. Where the network computes on one thread alone, as on a
/// GPU, the other agent's choices are made on the other threads meanwhile.
///
/// # Errors
/// [`Error`]
pub fn play_match<'e>(
    rules: &Arc<Rules>,
    config: &MatchConfig,
    networks: &mut OpenNetwork<'_, 'e>,
    observer: &mut MatchObserver<'_>,
) -> Result<MatchReport, Error> {
    let (schedule, mut evaluators) = Schedule::new(rules, config, networks)?;
    let mut tally = Tally::new(&schedule, observer)?;
    tally.tell(None);
    if let Some(path) = &config.ledger {
        let own = without_kernels(&schedule.series);
        let is_wanted = |series: &str| without_kernels(series) == own;
        let ledger = Ledger::open(path, is_wanted, |LedgerGame { line, place, record }| {
            if place.series != schedule.series {
                let [found, wanted] = [&place.series, &schedule.series].map(|series| kernels_of(series));
                let fault = format!(
                    "the networks of this game were computed by {found}, now they are by {wanted}; games repeat only with the \
                     same kernel: use --device and --precision as then, or another ledger"
                );
                return Err(line_fault(path, line, fault));
            }
            let game = schedule.recorded(&place, &record);
            match game.map_err(|fault| line_fault(path, line, fault))? {
                Some(game) => tally.add_recorded(game),
                None => Ok(()),
            }
        });
        tally.ledger = Some(ledger?);
    }
    let games = MatchGames::new(&schedule, tally);
    let pool = config.players.pool()?;
    let threads = pool.current_num_threads();
    let at_once = config.players.games_at_once.min(games.games_max()).clamp(1, threads);
    let by_clock = config.plays_by_clock().then_some(at_once);
    config.players.play(&games, by_clock, &pool, &mut evaluators)?;
    Ok(MatchReport { threads_per_game: by_clock.map(|games| threads / games), ..games.into_tally().into_report() })
}

/// What stands in a series before the kernels that compute its networks.
const KERNELS: &str = " kernels=";

/// Returns a series without the kernels, which come last.
fn without_kernels(series: &str) -> &str {
    series.split_once(KERNELS).map_or(series, |(before, _)| before)
}

fn kernels_of(series: &str) -> &str {
    series.split_once(KERNELS).map_or("a kernel that it does not name", |(_, kernels)| kernels)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Job {
    pair: usize,
    /// The agent who begins, 0 or 1.
    beginner: usize,
}

pub(crate) struct Schedule {
    rules: Arc<Rules>,
    config: MatchConfig,
    opening_length: usize,
    /// The openings, if known before the games.
    book: Option<OpeningBook>,
    series: String,
    networks: Networks,
    /// The agents' texts, with what their networks add.
    texts: [String; 2],
}

impl Schedule {
    /// Makes the schedule and opens the networks that it needs.
    pub(crate) fn new<'e>(
        rules: &Arc<Rules>,
        config: &MatchConfig,
        open: &mut OpenNetwork<'_, 'e>,
    ) -> Result<(Schedule, Vec<NetworkEvaluator<'e>>), Error> {
        let agents = config.all_agents();
        for (index, agent) in agents.iter().enumerate() {
            match agent.check_repeats() {
                // Both games of a pair have one opening, and what workers play is played once more now and then: neither is by the clock.
                Err(AgentError::Timed { .. }) if config.players.workers.is_none() && index < config.agents.len() => {}
                checked => checked?,
            }
        }
        let (mut networks, mut evaluators) = (Networks::default(), Vec::new());
        for model in agents.iter().filter_map(|agent| agent.model()) {
            let opened = networks.open((0, rules), model, open, &mut evaluators);
            opened.map_err(|reason| AgentError::Network { model: model.to_owned(), reason })?;
        }
        let play_of = |agent| networks.of(0, agent).flatten().map(|(_, network)| &network.play);
        let texts = config.agents.each_ref().map(|agent| agent.text_with(play_of(agent)));
        let opening_length = config.opening_length.unwrap_or_else(|| default_length(rules));
        let is_drawn_alike = config.opening_policy.is_none();
        let book = is_drawn_alike.then(|| OpeningBook::draw(rules, config.seed, config.pairs, opening_length));
        let series = config.series(rules, opening_length, &networks);
        let (rules, config) = (Arc::clone(rules), config.clone());
        Ok((Schedule { rules, config, opening_length, book, series, networks, texts }, evaluators))
    }

    fn matchup(&self) -> Matchup<'_> {
        let [a, b] = &self.config.agents;
        let opening_agent = self.config.opening_policy.as_ref().map(|policy| &policy.agent);
        let network = |agent| self.networks.of(0, agent).flatten().map(|(index, network)| (index, &network.play));
        let networks = [network(a), network(b), opening_agent.and_then(network)];
        let (rules, evaluated_as) = (&self.rules, self.rules.ruleset());
        let texts = [0, 1].map(|agent: usize| self.texts[agent].as_str());
        Matchup { id: 0, rules, evaluated_as, agents: [a, b], opening_agent, texts, networks }
    }

    fn beginning(&self, job: Job) -> Beginning {
        let known = self.book.as_ref().map(|book| book.openings[job.pair].actions.clone());
        let policy = self
            .config
            .opening_policy
            .as_ref()
            .map(|policy| OpeningPolicy::new(self.opening_length, policy.temperature, self.opening_seed(job.pair)));
        Beginning {
            state: GameState::new(Arc::clone(&self.rules)),
            opening: known.unwrap_or_default(),
            policy,
            seats: self.seats(job),
            seed: self.seed(job),
            agent_seeds: [0, 1].map(|agent| self.agent_seed(job, agent)),
            visits_within: 0,
        }
    }

    /// Returns the games in order, without those that would repeat a game.
    fn jobs(&self) -> impl Iterator<Item = Job> {
        (0..self.config.pairs)
            .filter(|&pair| !self.would_repeat(pair))
            .flat_map(|pair| [0, 1].map(|beginner| Job { pair, beginner }))
    }

    /// Returns whether a pair would repeat an earlier one: same opening, and no agent is random.
    fn would_repeat(&self, pair: usize) -> bool {
        let repeats = |book: &OpeningBook| book.openings[pair].repeats.is_some();
        self.book.as_ref().is_some_and(repeats) && !self.config.agents.iter().any(AgentSpec::is_random)
    }

    /// Returns the draws rejected for the openings of the first `pairs`.
    fn redrawn(&self, pairs: usize) -> u64 {
        self.book.as_ref().map_or(0, |book| book.openings[..pairs].iter().map(|opening| opening.redrawn).sum())
    }

    /// Returns the agent of each player, player 1 first.
    fn seats(&self, job: Job) -> [usize; 2] {
        let beginner = self.rules.initial_position().player_to_act();
        let mut seats = [1 - job.beginner; 2];
        seats[beginner.index()] = job.beginner;
        seats
    }

    fn seed(&self, job: Job) -> u64 {
        mix_seeds(&[self.config.seed, job.pair as u64, job.beginner as u64])
    }

    fn agent_seed(&self, job: Job, agent: usize) -> u64 {
        mix_seeds(&[self.seed(job), agent as u64, self.config.agents[agent].seed.unwrap_or(0)])
    }

    fn opening_seed(&self, pair: usize) -> u64 {
        mix_seeds(&[self.config.seed, pair as u64, 2])
    }

    fn place(&self, job: Job) -> Place {
        Place { series: self.series.clone(), pair: job.pair, game: job.beginner as u8 + 1 }
    }

    /// Checks a game of the ledger; `None` for games that are not part of this match.
    fn recorded(&self, place: &Place, record: &GameRecord) -> Result<Option<MatchGame>, RecordFault> {
        let job = Job::of_place(place).ok_or_else(|| RecordFault::contradiction("game", place.game, "1 or 2"))?;
        let is_part = job.pair < self.config.pairs && !self.would_repeat(job.pair);
        is_part.then(|| self.evaluate(job, record)).transpose()
    }

    /// Replays a finished game and returns what is counted of it.
    fn evaluate(&self, job: Job, record: &GameRecord) -> Result<MatchGame, RecordFault> {
        let mut game = FinishedGame::of(&self.rules, record)?;
        let seats = self.seats(job);
        game.efforts = [0, 1].map(|agent: usize| game.efforts[seats[agent]]);
        // If both agents are the same, the seats do not matter.
        let beginner = if self.config.agents[0] == self.config.agents[1] { 0 } else { job.beginner as u64 };
        game.key = mix_seeds(&[game.key, beginner]);
        let record = self.config.keep_records.then(|| Box::new(record.clone()));
        Ok(MatchGame { pair: job.pair, beginner: job.beginner, record, game })
    }
}

/// Returns the sequential test's state as a report.
fn sprt_report(sprt: &Sprt, table: &PairTable) -> Result<Option<SprtReport>, Error> {
    if table.pairs() == 0 {
        return Ok(None);
    }
    let (log_likelihood_ratio, verdict) = sprt.test(table.agent()).map_err(sprt_error)?;
    Ok(Some(SprtReport { sprt: *sprt, log_likelihood_ratio, is_decided: verdict != SprtVerdict::Continue, verdict }))
}

fn sprt_error(error: StatisticsError) -> Error {
    Error::Refused(format!("sequential test: {error}"))
}

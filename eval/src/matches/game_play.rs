//! Plays games: one per thread, or many in step so that their network searches share batches. A game does not depend on the thread
//! that plays it or on the other games in progress.

use std::sync::{Arc, Mutex, PoisonError};

use latrunculi_engine::record::RecordFault;
use latrunculi_engine::{Action, GameRecord, GameState, Rules, Ruleset};
use latrunculi_search::mcts::{LeafBatch, Search};
use latrunculi_search::{EvalError, Evaluator};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rayon::ThreadPool;
use rayon::prelude::*;

use crate::agents::{
    Agent, AgentError, AgentSpec, Candidate, Choice, NetworkEvaluator, NetworkPlay, NetworkSearch, OnThreads,
    OpenedNetwork, ThreadEvaluator,
};

/// The index of the agent whose policy draws the opening, after the two contestants.
const OPENING_AGENT: usize = 2;

/// The agents and rules of a group of games.
pub(crate) struct Matchup<'a> {
    /// Identifies the matchup: agents made for it are used for all its games.
    pub(crate) id: usize,
    pub(crate) rules: &'a Arc<Rules>,
    /// The ruleset whose evaluation weights alpha-beta uses.
    pub(crate) evaluated_as: &'a Ruleset,
    /// The two contestants.
    pub(crate) agents: [&'a AgentSpec; 2],
    /// The agent from whose policy openings are drawn, if any.
    pub(crate) opening_agent: Option<&'a AgentSpec>,
    /// The contestants' texts for the record.
    pub(crate) texts: [&'a str; 2],
    /// For the contestants and the opening agent: the index of the network among the opened ones, and how it plays.
    pub(crate) networks: [Option<(usize, &'a NetworkPlay)>; 3],
}

impl Matchup<'_> {
    /// Makes the agents, each with an evaluator of its own for its network.
    fn make_agents<'n>(&self, networks: &'n ThreadNetworks<'_>) -> Result<Vec<Box<dyn Agent + 'n>>, AgentError> {
        let made = |index| {
            let spec = self.agent(index)?;
            let Some((network, play)) = self.networks[index] else {
                return Some(
                    spec.make_evaluated_as(self.rules, self.evaluated_as).map(|agent| agent as Box<dyn Agent>),
                );
            };
            let opened = || {
                let evaluator =
                    networks[network].for_another_thread().ok_or_else(|| AgentError::OneThread.to_string())?;
                Ok(OpenedNetwork { evaluator: evaluator as NetworkEvaluator<'_>, play: play.clone() })
            };
            Some(spec.make(self.rules, &mut |_| opened()))
        };
        (0..=OPENING_AGENT).filter_map(made).collect()
    }

    fn agent(&self, index: usize) -> Option<&AgentSpec> {
        if index == OPENING_AGENT { self.opening_agent } else { Some(self.agents[index]) }
    }
}

/// The initial conditions of one game.
pub(crate) struct Beginning {
    /// The state before the opening.
    pub(crate) state: GameState,
    /// The opening's actions that are known in advance.
    pub(crate) opening: Vec<Action>,
    /// Draws the actions after them, if any.
    pub(crate) policy: Option<OpeningPolicy>,
    /// The contestant of each player, player 1 first.
    pub(crate) seats: [usize; 2],
    /// The seed of the game, as written to its record.
    pub(crate) seed: u64,
    /// The seed of each contestant in this game.
    pub(crate) agent_seeds: [u64; 2],
    /// The number of choices after the opening for which the record keeps the visit counts of tree searches.
    pub(crate) visits_within: usize,
}

/// Draws opening actions from the opening agent's policy to the power `1/temperature`.
pub(crate) struct OpeningPolicy {
    /// The length of the whole opening in actions, the known actions included.
    length: usize,
    temperature: f64,
    seed: u64,
    rng: ChaCha8Rng,
}

impl OpeningPolicy {
    pub(crate) fn new(length: usize, temperature: f64, seed: u64) -> OpeningPolicy {
        OpeningPolicy { length, temperature, seed, rng: ChaCha8Rng::seed_from_u64(seed) }
    }

    /// Draws an action in proportion to `policy^(1/τ)`; takes the chosen action if there are no candidates.
    fn draw(&mut self, choice: &Choice) -> Action {
        let weight = |candidate: &Candidate| f64::from(candidate.policy).max(0.0).powf(1.0 / self.temperature);
        let total: f64 = choice.candidates.iter().map(weight).sum();
        let mut at = self.rng.random::<f64>() * total;
        for candidate in &choice.candidates {
            at -= weight(candidate);
            if at < 0.0 {
                return candidate.action;
            }
        }
        choice.action
    }
}

/// The games to play.
pub(crate) trait GameSource: Sync {
    type Job: Copy + Send + Sync;
    type Error: From<AgentError> + Send;

    /// Returns the most games that are yet to be played, where that is known.
    fn games_max(&self) -> usize {
        usize::MAX
    }

    /// Returns the next game to play; `None` if there is none at the moment.
    fn next(&self) -> Option<Self::Job>;

    /// Waits until there may be another game; returns false when there will be none.
    fn wait(&self) -> bool;

    /// Returns the agents and rules of a game.
    fn matchup(&self, job: Self::Job) -> Matchup<'_>;

    /// Returns the initial conditions of a game.
    fn beginning(&self, job: Self::Job) -> Beginning;

    /// Receives a finished game.
    fn end(&self, job: Self::Job, record: GameRecord) -> Result<(), Self::Error>;

    /// Returns whether all games, including those in progress, may stop.
    fn is_over(&self) -> bool;

    /// Stops all games after a failure.
    fn abort(&self);
}

/// Plays up to `games_at_once` games at once on the threads of `pool`, each by agents that choose on their own; their networks compute
/// on the threads that are left for each game.
pub(crate) fn play_apart<S: GameSource>(
    source: &S,
    games_at_once: usize,
    pool: &ThreadPool,
    evaluators: &[NetworkEvaluator<'_>],
) -> Result<(), S::Error> {
    let count = threads_for(source, games_at_once, pool);
    let threads = for_threads(evaluators, count, pool).ok_or(AgentError::OneThread)?;
    on_threads(source, pool, threads, |networks| {
        let mut current: Option<(usize, Vec<Box<dyn Agent + '_>>)> = None;
        loop {
            if source.is_over() {
                return Ok(());
            }
            let Some(job) = source.next() else {
                if source.wait() {
                    continue;
                }
                return Ok(());
            };
            let matchup = source.matchup(job);
            if current.as_ref().is_none_or(|(id, _)| *id != matchup.id) {
                current = Some((matchup.id, matchup.make_agents(&networks)?));
            }
            let Some((_, agents)) = &mut current else { continue };
            let Some(record) = play_one(source, job, agents)? else { return Ok(()) };
            source.end(job, record)?;
        }
    })
}

/// Does `work` for each of `parts` on a thread of its own; the first failure stops all games.
fn on_threads<S: GameSource, T: Send>(
    source: &S,
    pool: &ThreadPool,
    parts: Vec<T>,
    work: impl Fn(T) -> Result<(), S::Error> + Sync,
) -> Result<(), S::Error> {
    let parts: Vec<Mutex<Option<T>>> = parts.into_iter().map(|part| Mutex::new(Some(part))).collect();
    let results = pool.broadcast(|thread| {
        let part = parts.get(thread.index())?.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        let result = work(part);
        if result.is_err() {
            source.abort();
        }
        Some(result)
    });
    results.into_iter().flatten().collect()
}

/// Plays one game with agents that choose on their own; `None` where the source says that all games may stop.
fn play_one<S: GameSource>(
    source: &S,
    job: S::Job,
    agents: &mut [Box<dyn Agent + '_>],
) -> Result<Option<GameRecord>, AgentError> {
    let mut game = GameProgress::new(source, job);
    for (index, agent) in agents.iter_mut().enumerate() {
        agent.new_game(game.agent_seed(index));
    }
    while let Some(agent) = game.agent_to_act() {
        if source.is_over() {
            return Ok(None);
        }
        let choice = agents[agent].choose(&game.state)?;
        game.play(&choice);
    }
    Ok(Some(game.record))
}

/// Plays a game of agents that need no network once more.
pub(crate) fn play_again<S: GameSource>(source: &S, job: S::Job) -> Result<Option<GameRecord>, AgentError> {
    play_one(source, job, &mut source.matchup(job).make_agents(&Vec::new())?)
}

/// Checks that a game begins as the source has it: same rules, players, seed, position and opening.
pub(crate) fn check_beginning<S: GameSource>(source: &S, job: S::Job, record: &GameRecord) -> Result<(), RecordFault> {
    let GameProgress { record: wanted, opening, .. } = GameProgress::new(source, job);
    let begun = &record.actions[..wanted.actions.len().min(record.actions.len())];
    let is_opening = match opening {
        None => record.opening == wanted.opening,
        Some(_) => record.opening >= wanted.opening,
    };
    let fields = [
        ("ruleset", record.ruleset_fingerprint.clone(), wanted.ruleset_fingerprint),
        ("agents", record.agents.join(" and "), wanted.agents.join(" and ")),
        ("seed", record.seed.to_string(), wanted.seed.to_string()),
        ("start", format!("{:?}", record.start), format!("{:?}", wanted.start)),
        ("the opening", begun.join(" "), wanted.actions.join(" ")),
        ("opening", is_opening.to_string(), true.to_string()),
    ];
    for (field, found, expected) in fields {
        if found != expected {
            return Err(RecordFault::contradiction(field, found, expected));
        }
    }
    Ok(())
}

/// A game in progress, without its agents.
struct GameProgress<J> {
    job: J,
    seats: [usize; 2],
    agent_seeds: [u64; 2],
    state: GameState,
    record: GameRecord,
    opening: Option<OpeningPolicy>,
    visits_within: usize,
}

impl<J: Copy> GameProgress<J> {
    fn new<S: GameSource<Job = J>>(source: &S, job: J) -> GameProgress<J> {
        let Beginning { mut state, opening, policy, seats, seed, agent_seeds, visits_within } = source.beginning(job);
        let matchup = source.matchup(job);
        let mut record = GameRecord::new(&state, seats.map(|agent| matchup.texts[agent].to_owned()), seed);
        for &action in &opening {
            record.play(&mut state, action, None, None);
        }
        record.opening = opening.len();
        GameProgress { job, seats, agent_seeds, state, record, opening: policy, visits_within }
    }

    fn agent_seed(&self, index: usize) -> u64 {
        match self.agent_seeds.get(index) {
            Some(&seed) => seed,
            None => self.opening.as_ref().map_or(0, |opening| opening.seed),
        }
    }

    /// Returns the index of the agent to act, a contestant or the opening agent; `None` once the game is over.
    fn agent_to_act(&mut self) -> Option<usize> {
        if self.state.outcome().is_some() {
            return None;
        }
        if let Some(opening) = &self.opening {
            if self.record.actions.len() < opening.length || self.state.position().is_mid_turn() {
                return Some(OPENING_AGENT);
            }
            self.opening = None;
        }
        Some(self.seats[self.state.player_to_act().index()])
    }

    /// Plays a choice, or what the opening policy draws from it; returns the action.
    fn play(&mut self, choice: &Choice) -> Action {
        if let Some(opening) = &mut self.opening {
            let action = opening.draw(choice);
            self.record.play(&mut self.state, action, None, None);
            self.record.opening = self.record.actions.len();
            return action;
        }
        let chosen = self.record.actions.len() - self.record.opening;
        if chosen < self.visits_within && choice.candidates.iter().any(|tried| tried.visits > 0) {
            let visits = choice.candidates.iter().map(|tried| (tried.action, tried.visits));
            self.record.note_visits(&self.state, visits);
        }
        let effort = (choice.effort > 0).then_some(choice.effort);
        self.record.play(&mut self.state, choice.action, choice.value, effort);
        choice.action
    }
}

/// An agent in a game that is played in step.
enum Seat {
    /// An agent that chooses on its own.
    Local(Box<dyn Agent + Send>),
    /// A search that waits for the network of this index.
    Network(Box<NetworkSearch>, usize),
}

impl Seat {
    fn new(matchup: &Matchup<'_>, index: usize, spec: &AgentSpec, state: &GameState) -> Result<Seat, AgentError> {
        Ok(
            match matchup.networks[index].and_then(|(network, play)| Some((spec.network_search(play, state)?, network)))
            {
                Some((search, network)) => Seat::Network(Box::new(search), network),
                None => Seat::Local(spec.make_evaluated_as(matchup.rules, matchup.evaluated_as)?),
            },
        )
    }
}

/// A game that is played in step with others, and its agents.
struct ActiveGame<J> {
    /// The id of the matchup that the agents were made for.
    matchup: usize,
    progress: GameProgress<J>,
    seats: Vec<Seat>,
}

impl<J: Copy + Send> ActiveGame<J> {
    fn start<S: GameSource<Job = J>>(source: &S, job: J) -> Result<ActiveGame<J>, AgentError> {
        let progress = GameProgress::new(source, job);
        let matchup = source.matchup(job);
        let seats = (0..=OPENING_AGENT)
            .filter_map(|index| matchup.agent(index).map(|spec| Seat::new(&matchup, index, spec, &progress.state)))
            .collect::<Result<_, _>>()?;
        let mut game = ActiveGame { matchup: matchup.id, progress, seats };
        game.seed_agents();
        Ok(game)
    }

    /// Starts the next game, with the same agents if they are of its matchup, and returns the finished one.
    fn start_next<S: GameSource<Job = J>>(&mut self, source: &S, job: J) -> Result<GameProgress<J>, AgentError> {
        if source.matchup(job).id == self.matchup {
            let finished = std::mem::replace(&mut self.progress, GameProgress::new(source, job));
            self.seed_agents();
            return Ok(finished);
        }
        Ok(std::mem::replace(self, ActiveGame::start(source, job)?).progress)
    }

    fn seed_agents(&mut self) {
        for (index, seat) in self.seats.iter_mut().enumerate() {
            let seed = self.progress.agent_seed(index);
            match seat {
                Seat::Local(agent) => agent.new_game(seed),
                Seat::Network(search, _) => search.new_game(seed),
            }
        }
    }

    /// Plays until a network is to act or the game is over.
    fn play_local(&mut self) -> Result<(), AgentError> {
        while let Some(agent) = self.progress.agent_to_act() {
            let Seat::Local(agent) = &mut self.seats[agent] else { break };
            let choice = agent.choose(&self.progress.state)?;
            self.play(&choice);
        }
        Ok(())
    }

    fn play(&mut self, choice: &Choice) {
        let action = self.progress.play(choice);
        for seat in &mut self.seats {
            if let Seat::Network(search, _) = seat {
                search.follow(action);
            }
        }
    }

    /// Returns whether a network is to act.
    fn is_network_to_act(&mut self) -> bool {
        self.progress.agent_to_act().is_some_and(|agent| matches!(self.seats[agent], Seat::Network(..)))
    }

    /// Returns the search that is to act and the index of its network, if a network is to act.
    fn search_to_act(&mut self) -> Option<(&mut NetworkSearch, usize)> {
        let agent = self.progress.agent_to_act()?;
        match &mut self.seats[agent] {
            Seat::Network(search, network) => Some((search, *network)),
            Seat::Local(_) => None,
        }
    }

    fn begin_search(&mut self) {
        let Some(agent) = self.progress.agent_to_act() else { return };
        if let Seat::Network(search, _) = &mut self.seats[agent] {
            search.begin(&self.progress.state);
        }
    }

    fn finish_search(&mut self) {
        if let Some((search, _)) = self.search_to_act() {
            let choice = search.choice();
            self.play(&choice);
        }
    }
}

/// Plays `games_at_once` games at once.
///
/// Where every network can compute on several threads, each thread plays a part of the games by itself. Elsewhere, in each
/// round the games where a network is to act search together in shared batches, and the other games play on the other
/// threads meanwhile until a network is to act in them.
pub(crate) fn play_in_step<S: GameSource>(
    source: &S,
    games_at_once: usize,
    pool: &ThreadPool,
    evaluators: &mut [NetworkEvaluator<'_>],
) -> Result<(), S::Error> {
    // A pool of one thread would be a second one beside the caller's.
    if pool.current_num_threads() == 1 {
        return play_group(source, games_at_once, None, false, evaluators);
    }
    let count = threads_for(source, games_at_once, pool);
    if let Some(threads) = for_threads(evaluators, count, pool) {
        let games_each = games_at_once.min(source.games_max()).div_ceil(count);
        return on_threads(source, pool, threads, |networks| {
            let mut own: Vec<_> = networks.into_iter().map(|one| one as NetworkEvaluator<'_>).collect();
            play_group(source, games_each, None, true, &mut own)
        });
    }
    play_group(source, games_at_once, Some(pool), false, evaluators)
}

/// The networks of one thread.
type ThreadNetworks<'a> = Vec<ThreadEvaluator<'a>>;

/// Returns on how many threads of `pool` games are played.
fn threads_for<S: GameSource>(source: &S, games_at_once: usize, pool: &ThreadPool) -> usize {
    pool.current_num_threads().min(games_at_once).min(source.games_max()).max(1)
}

/// Returns every network once for each of `count` threads, where each of them computes on its share of the pool's threads;
/// `None` where one of them cannot compute on several.
fn for_threads<'a>(
    evaluators: &'a [NetworkEvaluator<'_>],
    count: usize,
    pool: &ThreadPool,
) -> Option<Vec<ThreadNetworks<'a>>> {
    let share = pool.current_num_threads() / count;
    let for_one = |evaluator: &'a NetworkEvaluator<'_>| {
        let parts = (0..share).map(|_| evaluator.for_another_thread()).collect::<Option<_>>()?;
        Some(Box::new(OnThreads(parts)) as ThreadEvaluator<'a>)
    };
    (0..count).map(|_| evaluators.iter().map(for_one).collect()).collect()
}

/// Plays `games_at_once` games at once, on the threads of `pool`, or without one on the calling thread alone; `has_others` says
/// whether other groups play games of the source too, whose ends may make new ones.
fn play_group<S: GameSource>(
    source: &S,
    games_at_once: usize,
    pool: Option<&ThreadPool>,
    has_others: bool,
    evaluators: &mut [NetworkEvaluator<'_>],
) -> Result<(), S::Error> {
    let mut active: Vec<ActiveGame<S::Job>> = Vec::new();
    loop {
        // Games that ended may have added new ones.
        while active.len() < games_at_once.max(1)
            && let Some(job) = source.next()
        {
            active.push(ActiveGame::start(source, job)?);
        }
        if source.is_over() || active.is_empty() && (!has_others || !source.wait()) {
            return Ok(());
        }
        let (searching, local): (Vec<_>, Vec<_>) = active
            .iter_mut()
            .map(|game| (game.is_network_to_act(), game))
            .partition(|(is_network_to_act, _)| *is_network_to_act);
        let searching = searching.into_iter().map(|(_, game)| game).collect();
        let mut local: Vec<&mut ActiveGame<S::Job>> = local.into_iter().map(|(_, game)| game).collect();
        let mut played = Ok(());
        let searched = match pool {
            None => {
                played = local.into_iter().try_for_each(ActiveGame::play_local);
                search_together(searching, None, evaluators)
            }
            Some(pool) => pool.in_place_scope(|scope| {
                // While the other games occupy the threads, waiting for them at every batch would cost time.
                let helpers = local.is_empty().then_some(pool);
                let played = &mut played;
                scope.spawn(move |_| *played = local.par_iter_mut().try_for_each(|game| game.play_local()));
                search_together(searching, helpers, evaluators)
            }),
        };
        played?;
        searched.map_err(AgentError::from)?;
        let mut index = 0;
        while index < active.len() {
            if active[index].progress.agent_to_act().is_some() {
                index += 1;
                continue;
            }
            let finished = match source.next() {
                Some(job) => active[index].start_next(source, job)?,
                None => active.remove(index).progress,
            };
            source.end(finished.job, finished.record)?;
            if source.is_over() {
                return Ok(());
            }
        }
    }
}

/// Runs the network searches of all these games to the end in shared batches, and plays the chosen actions.
fn search_together<J: Copy + Send>(
    mut games: Vec<&mut ActiveGame<J>>,
    helpers: Option<&ThreadPool>,
    evaluators: &mut [NetworkEvaluator<'_>],
) -> Result<(), EvalError> {
    games.iter_mut().for_each(|game| game.begin_search());
    let mut batch = LeafBatch::default();
    for (network, evaluator) in evaluators.iter_mut().enumerate() {
        let mut searches: Vec<&mut Search<GameState>> = games
            .iter_mut()
            .filter_map(|game| game.search_to_act().filter(|(_, own)| *own == network))
            .map(|(search, _)| search.search_mut())
            .collect();
        loop {
            if let Some(pool) = helpers {
                // Selects in parallel; the round then finds the selected leaves.
                pool.install(|| searches.par_iter_mut().for_each(|search| _ = search.select()));
            }
            if !batch.run_round(&mut searches, evaluator)? {
                break;
            }
        }
    }
    games.iter_mut().for_each(|game| game.finish_search());
    Ok(())
}

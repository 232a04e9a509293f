//! How games are played: apart, a thread each, or in step around networks.
//!
//! A [`GameSource`] says which games there are and takes them as they end; which thread plays a game, and
//! beside which others, changes nothing about it.

use std::sync::Arc;

use latrunculi_engine::{Action, GameRecord, GameState, Rules, Ruleset};
use latrunculi_search::mcts::Step;
use latrunculi_search::{EvalError, Evaluation};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rayon::ThreadPool;
use rayon::prelude::*;

use crate::agents::{Agent, AgentError, AgentKind, AgentSpec, Candidate, Choice, NetworkEvaluator, NetworkSearch};

/// The index of whoever draws an opening, after the two contestants.
const OPENER: usize = 2;

/// Who plays the games of one kind.
pub(crate) struct Cast<'a> {
    /// Distinguishes casts: whoever has sat down for one stays for all its games.
    pub(crate) id: usize,
    pub(crate) rules: &'a Arc<Rules>,
    /// The ruleset whose evaluation alpha-beta uses.
    pub(crate) judged_as: &'a Ruleset,
    /// The two contestants.
    pub(crate) agents: [&'a AgentSpec; 2],
    /// The agent from whose policy openings are drawn, if any.
    pub(crate) opener: Option<&'a AgentSpec>,
    /// The networks of the contestants and the opener among the opened ones.
    pub(crate) networks: [Option<usize>; 3],
}

impl Cast<'_> {
    fn agent(&self, index: usize) -> Option<&AgentSpec> {
        if index == OPENER { self.opener } else { Some(self.agents[index]) }
    }
}

/// How one game begins.
pub(crate) struct Beginning {
    /// Before the opening.
    pub(crate) state: GameState,
    pub(crate) opening: OpeningPlan,
    /// Which contestant plays for each player, player 1 first.
    pub(crate) seats: [usize; 2],
    /// The seed of the game, as its record tells it.
    pub(crate) seed: u64,
    /// The seed of each contestant in this game.
    pub(crate) agent_seeds: [u64; 2],
    /// In so many choices, the first after the opening, it is noted how often tree searches tried each action.
    pub(crate) visits_within: usize,
}

/// How a game is opened.
pub(crate) struct OpeningPlan {
    /// Actions that are known.
    pub(crate) actions: Vec<Action>,
    /// What the opener draws after them.
    pub(crate) drawn: Option<PolicyDraw>,
}

/// Actions drawn from the opener's policy to the power `1/temperature`.
pub(crate) struct PolicyDraw {
    /// The length of the whole opening, the known actions included.
    pub(crate) length: usize,
    pub(crate) temperature: f64,
    pub(crate) seed: u64,
}

/// Which games there are.
pub(crate) trait GameSource: Sync {
    type Job: Copy + Send + Sync;
    type Error: From<AgentError> + Send;

    /// Returns the next game to be played; `None` if there is none just now.
    fn next(&self) -> Option<Self::Job>;

    /// Waits until there may be another game; false when there is none any more.
    fn wait(&self) -> bool;

    /// Returns who plays a game.
    fn cast(&self, job: Self::Job) -> Cast<'_>;

    /// Returns how a game begins.
    fn beginning(&self, job: Self::Job) -> Beginning;

    /// Takes a game that has ended.
    fn end(&self, job: Self::Job, record: GameRecord) -> Result<(), Self::Error>;

    /// Tells whether nothing more needs to be played, not even what is under way.
    fn is_over(&self) -> bool;

    /// Ends everything, because something failed.
    fn abort(&self);
}

/// Plays games of agents that need no network; each thread takes the next one.
pub(crate) fn play_apart<S: GameSource>(source: &S, pool: &ThreadPool) -> Result<(), S::Error> {
    let work = || -> Result<(), S::Error> {
        let mut seated: Option<(usize, Vec<Box<dyn Agent + Send>>)> = None;
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
            let cast = source.cast(job);
            if seated.as_ref().is_none_or(|(id, _)| *id != cast.id) {
                let agents = (0..=OPENER).filter_map(|index| cast.agent(index));
                let agents =
                    agents.map(|spec| spec.make_judging_as(cast.rules, cast.judged_as)).collect::<Result<_, _>>()?;
                seated = Some((cast.id, agents));
            }
            let Some((_, agents)) = &mut seated else { continue };
            let mut game = Game::new(source, job);
            for (index, agent) in agents.iter_mut().enumerate() {
                agent.new_game(game.agent_seed(index));
            }
            while let Some(agent) = game.agent_to_act() {
                if source.is_over() {
                    return Ok(());
                }
                let choice = agents[agent].choose(&game.state)?;
                game.play(&choice);
            }
            source.end(job, game.record)?;
        }
    };
    let results: Vec<Result<(), S::Error>> = pool.broadcast(|_| {
        let result = work();
        if result.is_err() {
            source.abort();
        }
        result
    });
    results.into_iter().collect()
}

/// A game under way.
struct Game<J> {
    job: J,
    seats: [usize; 2],
    agent_seeds: [u64; 2],
    state: GameState,
    record: GameRecord,
    opener: Option<Opener>,
    visits_within: usize,
}

/// What is left of an opening that is drawn.
struct Opener {
    length: usize,
    temperature: f64,
    seed: u64,
    rng: ChaCha8Rng,
}

impl<J: Copy> Game<J> {
    fn new<S: GameSource<Job = J>>(source: &S, job: J) -> Game<J> {
        let Beginning { mut state, opening, seats, seed, agent_seeds, visits_within } = source.beginning(job);
        let cast = source.cast(job);
        let mut record = GameRecord::new(&state, seats.map(|agent| cast.agents[agent].to_string()), seed);
        for &action in &opening.actions {
            record.play(&mut state, action, None, None);
        }
        record.opening = opening.actions.len();
        let opener = opening.drawn.map(|PolicyDraw { length, temperature, seed }| Opener {
            length,
            temperature,
            seed,
            rng: ChaCha8Rng::seed_from_u64(seed),
        });
        Game { job, seats, agent_seeds, state, record, opener, visits_within }
    }

    fn agent_seed(&self, index: usize) -> u64 {
        match (self.agent_seeds.get(index), &self.opener) {
            (Some(&seed), _) => seed,
            (None, opener) => opener.as_ref().map_or(0, |opener| opener.seed),
        }
    }

    /// Returns whose choice it is: a contestant's index or the opener's; `None` once the game is over.
    fn agent_to_act(&mut self) -> Option<usize> {
        if self.state.outcome().is_some() {
            return None;
        }
        if let Some(opener) = &self.opener {
            if self.record.actions.len() < opener.length || self.state.position().is_mid_turn() {
                return Some(OPENER);
            }
            self.opener = None;
        }
        Some(self.seats[self.state.player_to_act().index()])
    }

    fn play(&mut self, choice: &Choice) {
        if let Some(opener) = &mut self.opener {
            let action = opener.draw(choice);
            self.record.play(&mut self.state, action, None, None);
            self.record.opening = self.record.actions.len();
            return;
        }
        let chosen = self.record.actions.len() - self.record.opening;
        if chosen < self.visits_within && choice.candidates.iter().any(|tried| tried.visits > 0) {
            let visits = choice.candidates.iter().map(|tried| (tried.action, tried.visits));
            self.record.note_visits(&self.state, visits);
        }
        let effort = (choice.effort > 0).then_some(choice.effort);
        self.record.play(&mut self.state, choice.action, choice.value, effort);
    }
}

impl Opener {
    /// Draws an action in proportion to `policy^(1/τ)`; the chosen one where nothing was weighed.
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

/// Who sits at a board.
enum Seat {
    /// Thinks by itself.
    Alone(Box<dyn Agent + Send>),
    /// Waits for the network of that index.
    Network(Box<NetworkSearch>, usize),
}

impl Seat {
    fn take(cast: &Cast<'_>, index: usize, spec: &AgentSpec, state: &GameState) -> Result<Seat, AgentError> {
        Ok(match (&spec.kind, cast.networks[index]) {
            (&AgentKind::Network { simulations, .. }, Some(network)) => {
                Seat::Network(Box::new(NetworkSearch::new(state, simulations)), network)
            }
            _ => Seat::Alone(spec.make_judging_as(cast.rules, cast.judged_as)?),
        })
    }
}

/// A board where games are played in step: a game and who plays it.
struct Board<J> {
    cast: usize,
    game: Game<J>,
    seats: Vec<Seat>,
}

impl<J: Copy + Send> Board<J> {
    fn sit_down<S: GameSource<Job = J>>(source: &S, job: J) -> Result<Board<J>, AgentError> {
        let game = Game::new(source, job);
        let cast = source.cast(job);
        let seats = (0..=OPENER)
            .filter_map(|index| cast.agent(index).map(|spec| Seat::take(&cast, index, spec, &game.state)))
            .collect::<Result<_, _>>()?;
        let mut board = Board { cast: cast.id, game, seats };
        board.begin();
        Ok(board)
    }

    /// Begins the next game at the same board and returns the one that has ended.
    fn begin_next<S: GameSource<Job = J>>(&mut self, source: &S, job: J) -> Result<Game<J>, AgentError> {
        if source.cast(job).id == self.cast {
            let finished = std::mem::replace(&mut self.game, Game::new(source, job));
            self.begin();
            return Ok(finished);
        }
        Ok(std::mem::replace(self, Board::sit_down(source, job)?).game)
    }

    fn begin(&mut self) {
        for (index, seat) in self.seats.iter_mut().enumerate() {
            let seed = self.game.agent_seed(index);
            match seat {
                Seat::Alone(agent) => agent.new_game(seed),
                Seat::Network(search, _) => search.new_game(seed),
            }
        }
    }

    /// Plays on until a network is to choose or the game is over.
    fn play_alone(&mut self) -> Result<(), AgentError> {
        while let Some(agent) = self.game.agent_to_act() {
            let Seat::Alone(agent) = &mut self.seats[agent] else { break };
            let choice = agent.choose(&self.game.state)?;
            self.game.play(&choice);
        }
        Ok(())
    }

    /// Tells whether a network is to choose.
    fn is_network_to_act(&mut self) -> bool {
        self.game.agent_to_act().is_some_and(|agent| matches!(self.seats[agent], Seat::Network(..)))
    }

    /// Returns the search and the network that is to choose, if one is.
    fn search_to_act(&mut self) -> Option<(&mut NetworkSearch, usize)> {
        let agent = self.game.agent_to_act()?;
        match &mut self.seats[agent] {
            Seat::Network(search, network) => Some((search, *network)),
            Seat::Alone(_) => None,
        }
    }

    fn begin_search(&mut self) {
        let Some(agent) = self.game.agent_to_act() else { return };
        if let Seat::Network(search, _) = &mut self.seats[agent] {
            search.begin(&self.game.state);
        }
    }

    fn finish_search(&mut self) {
        if let Some((search, _)) = self.search_to_act() {
            let choice = search.choice();
            self.game.play(&choice);
        }
    }
}

/// Plays `games_at_once` games at once. In each round the boards where a network is to choose search
/// together, one batch after the other, and meanwhile the other boards play on all threads until a network
/// is to choose.
pub(crate) fn play_in_step<S: GameSource>(
    source: &S,
    games_at_once: usize,
    pool: &ThreadPool,
    evaluators: &mut [NetworkEvaluator<'_>],
) -> Result<(), S::Error> {
    let mut boards: Vec<Board<S::Job>> = Vec::new();
    loop {
        // More games may have become due by those that ended.
        while boards.len() < games_at_once.max(1)
            && let Some(job) = source.next()
        {
            boards.push(Board::sit_down(source, job)?);
        }
        if boards.is_empty() || source.is_over() {
            return Ok(());
        }
        let (searching, alone): (Vec<_>, Vec<_>) = boards
            .iter_mut()
            .map(|board| (board.is_network_to_act(), board))
            .partition(|(is_network_to_act, _)| *is_network_to_act);
        let searching = searching.into_iter().map(|(_, board)| board).collect();
        let alone: Vec<&mut Board<S::Job>> = alone.into_iter().map(|(_, board)| board).collect();
        let mut played = Ok(());
        let searched = pool.in_place_scope(|scope| {
            // While all threads play, a wait for them at every batch would cost more than they could help with.
            let helpers = alone.is_empty().then_some(pool);
            let played = &mut played;
            scope.spawn(move |_| *played = alone.into_par_iter().try_for_each(Board::play_alone));
            search_together(searching, helpers, evaluators)
        });
        played?;
        searched.map_err(AgentError::from)?;
        let mut index = 0;
        while index < boards.len() {
            if boards[index].game.agent_to_act().is_some() {
                index += 1;
                continue;
            }
            let finished = match source.next() {
                Some(job) => boards[index].begin_next(source, job)?,
                None => boards.remove(index).game,
            };
            source.end(finished.job, finished.record)?;
            if source.is_over() {
                return Ok(());
            }
        }
    }
}

/// Lets the networks of all boards search to the end, in common batches, and plays what was found.
fn search_together<J: Copy + Send>(
    mut boards: Vec<&mut Board<J>>,
    helpers: Option<&ThreadPool>,
    evaluators: &mut [NetworkEvaluator<'_>],
) -> Result<(), EvalError> {
    boards.iter_mut().for_each(|board| board.begin_search());
    let mut evaluations: Vec<Evaluation> = Vec::new();
    while !boards.is_empty() {
        let select = |board: &mut &mut Board<J>| -> (Step, usize) {
            board.search_to_act().map_or((Step::Done, 0), |(search, network)| (search.select(), network))
        };
        let steps: Vec<(Step, usize)> = match helpers {
            Some(pool) => pool.install(|| boards.par_iter_mut().map(select).collect()),
            None => boards.iter_mut().map(select).collect(),
        };
        for (network, evaluator) in evaluators.iter_mut().enumerate() {
            let mut waiting: Vec<&mut NetworkSearch> = boards
                .iter_mut()
                .zip(&steps)
                .filter(|(_, step)| **step == (Step::Evaluate, network))
                .filter_map(|(board, _)| board.search_to_act().map(|(search, _)| search))
                .collect();
            if waiting.is_empty() {
                continue;
            }
            if evaluations.len() < waiting.len() {
                evaluations.resize_with(waiting.len(), Evaluation::default);
            }
            let leaves: Vec<_> = waiting.iter().map(|search| search.leaf()).collect();
            let games: Vec<_> = leaves.iter().map(|leaf| leaf.game).collect();
            let actions: Vec<_> = leaves.iter().map(|leaf| leaf.legal_actions).collect();
            evaluator.evaluate(&games, &actions, &mut evaluations[..waiting.len()])?;
            for (search, evaluation) in waiting.iter_mut().zip(&evaluations) {
                search.receive(evaluation);
            }
        }
        let mut steps = steps.into_iter();
        boards.retain_mut(|board| {
            let goes_on = steps.next().is_some_and(|(step, _)| step == Step::Evaluate);
            if !goes_on {
                board.finish_search();
            }
            goes_on
        });
    }
    Ok(())
}

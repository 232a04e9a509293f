//! How the games of a schedule are played: apart, a thread each, or in step around a network.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use latrunculi_engine::{GameRecord, GameState};
use latrunculi_search::mcts::Step;
use latrunculi_search::{EvalError, Evaluation};
use rayon::ThreadPool;
use rayon::prelude::*;

use super::tally::Tally;
use super::{Job, MatchError, PlayedGame, Schedule};
use crate::agents::{Agent, AgentError, AgentKind, Choice, NetworkEvaluator, NetworkSearch};

/// Plays games of agents that need no network; each thread takes the next game of the schedule.
pub(super) fn play_apart(
    schedule: &Schedule<'_>,
    jobs: &[Job],
    pool: &ThreadPool,
    tally: &mut Tally<'_, '_>,
) -> Result<(), MatchError> {
    let next = AtomicUsize::new(0);
    let is_over = AtomicBool::new(false);
    let shared = Mutex::new((tally, Ok(())));
    let lock = || -> MutexGuard<'_, (&mut Tally<'_, '_>, Result<(), MatchError>)> {
        shared.lock().unwrap_or_else(PoisonError::into_inner)
    };
    let work = || -> Result<(), MatchError> {
        let [a, b] = &schedule.config.agents;
        let mut agents = [a.make_alone(schedule.rules)?, b.make_alone(schedule.rules)?];
        while !is_over.load(Ordering::Relaxed) {
            let Some(&job) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
            let mut game = Game::new(schedule, job);
            for (index, agent) in agents.iter_mut().enumerate() {
                agent.new_game(schedule.agent_seed(job, index));
            }
            while let Some(agent) = game.agent_to_act() {
                if is_over.load(Ordering::Relaxed) {
                    return Ok(());
                }
                let choice = agents[agent].choose(&game.state)?;
                game.play(&choice);
            }
            let game = game.into_played(schedule);
            if lock().0.add(game)?.is_break() {
                is_over.store(true, Ordering::Relaxed);
            }
        }
        Ok(())
    };
    pool.scope(|scope| {
        for _ in 0..pool.current_num_threads() {
            scope.spawn(|_| {
                if let Err(error) = work() {
                    is_over.store(true, Ordering::Relaxed);
                    let mut shared = lock();
                    if shared.1.is_ok() {
                        shared.1 = Err(error);
                    }
                }
            });
        }
    });
    let (_, answer) = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    answer
}

/// A game under way.
struct Game {
    job: Job,
    seats: [usize; 2],
    state: GameState,
    record: GameRecord,
}

impl Game {
    fn new(schedule: &Schedule<'_>, job: Job) -> Game {
        let mut state = GameState::new(Arc::clone(schedule.rules));
        let seats = schedule.seats(job);
        let names = seats.map(|agent| schedule.config.agents[agent].to_string());
        let mut record = GameRecord::new(&state, names, schedule.seed(job));
        let opening = &schedule.book.openings[job.pair].actions;
        for &action in opening {
            record.play(&mut state, action, None, None);
        }
        record.opening = opening.len();
        Game { job, seats, state, record }
    }

    /// Returns whose choice it is, 0 or 1; `None` once the game is over.
    fn agent_to_act(&self) -> Option<usize> {
        self.state.outcome().is_none().then(|| self.seats[self.state.player_to_act().index()])
    }

    fn play(&mut self, choice: &Choice) {
        let effort = (choice.effort > 0).then_some(choice.effort);
        self.record.play(&mut self.state, choice.action, choice.value, effort);
    }

    fn into_played(self, schedule: &Schedule<'_>) -> PlayedGame {
        schedule.judge(self.job, self.record).expect("a game just played replays")
    }
}

/// Who sits at a board.
enum Seat {
    /// Thinks by itself.
    Alone(Box<dyn Agent + Send>),
    /// Waits for the network of that index.
    Network(Box<NetworkSearch>, usize),
}

/// A board of a match in step: a game and both agents.
struct Board {
    game: Game,
    seats: [Seat; 2],
}

impl Board {
    fn sit_down(schedule: &Schedule<'_>, job: Job) -> Result<Board, AgentError> {
        let game = Game::new(schedule, job);
        let seat = |agent: usize| -> Result<Seat, AgentError> {
            let spec = &schedule.config.agents[agent];
            Ok(match (&spec.kind, schedule.network_of(agent)) {
                (&AgentKind::Network { simulations, .. }, Some(network)) => {
                    Seat::Network(Box::new(NetworkSearch::new(&game.state, simulations)), network)
                }
                _ => Seat::Alone(spec.make_alone(schedule.rules)?),
            })
        };
        let seats = [seat(0)?, seat(1)?];
        let mut board = Board { game, seats };
        board.begin(schedule);
        Ok(board)
    }

    /// Begins the next game at the same board.
    fn begin_next(&mut self, schedule: &Schedule<'_>, job: Job) -> Game {
        let finished = std::mem::replace(&mut self.game, Game::new(schedule, job));
        self.begin(schedule);
        finished
    }

    fn begin(&mut self, schedule: &Schedule<'_>) {
        for (index, seat) in self.seats.iter_mut().enumerate() {
            let seed = schedule.agent_seed(self.game.job, index);
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
    fn is_network_to_act(&self) -> bool {
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

/// Plays many games at once. In each round the boards where a network is to choose search together, one
/// batch after the other, and meanwhile the other boards play on all threads until a network is to choose.
///
/// Seats are swapped within each pair, so about half of the boards are in either state.
pub(super) fn play_in_step(
    schedule: &Schedule<'_>,
    jobs: &[Job],
    pool: &ThreadPool,
    evaluators: &mut [NetworkEvaluator<'_>],
    tally: &mut Tally<'_, '_>,
) -> Result<(), MatchError> {
    let mut jobs = jobs.iter().copied();
    let mut boards = Vec::new();
    for job in jobs.by_ref().take(schedule.config.games_at_once.max(1)) {
        boards.push(Board::sit_down(schedule, job)?);
    }
    while !boards.is_empty() {
        let (searching, alone): (Vec<&mut Board>, Vec<&mut Board>) =
            boards.iter_mut().partition(|board| board.is_network_to_act());
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
            let finished = match jobs.next() {
                Some(job) => boards[index].begin_next(schedule, job),
                None => boards.remove(index).game,
            };
            if tally.add(finished.into_played(schedule))?.is_break() {
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Lets the networks of all boards search to the end, in common batches, and plays what was found.
fn search_together(
    mut boards: Vec<&mut Board>,
    helpers: Option<&ThreadPool>,
    evaluators: &mut [NetworkEvaluator<'_>],
) -> Result<(), EvalError> {
    boards.iter_mut().for_each(|board| board.begin_search());
    let mut evaluations: Vec<Evaluation> = Vec::new();
    while !boards.is_empty() {
        let select = |board: &mut &mut Board| -> (Step, usize) {
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

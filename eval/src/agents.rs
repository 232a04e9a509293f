//! Agents: descriptions of players as texts ([`AgentSpec`]), and players that choose actions ([`Agent`]), which depend on the position,
//! the seed and the choices since [`Agent::new_game`], and on the clock and the machine only where [`AgentSpec::time`] says so.

mod on_threads;
mod search_agents;
mod spec;

use std::time::{Duration, Instant};

use latrunculi_engine::{Action, GameState};
use latrunculi_search::{EvalError, Evaluator, StopSignal, mix};

pub use on_threads::OnThreads;
pub(crate) use search_agents::NetworkSearch;
pub use search_agents::value_of_score;
pub use spec::{
    AgentKind, AgentSpec, AgentTextError, NetworkPlay, OpenedNetwork, SHIPPED_MODEL, SearchKind, split_precision,
};

/// A player that chooses actions.
pub trait Agent {
    /// Starts a game: resets the state and draws all random numbers from `seed`.
    fn new_game(&mut self, seed: u64);

    /// Chooses one action of the player to act, with limits, cancellation and progress reports as in `options`.
    ///
    /// # Errors
    /// [`AgentError::Evaluator`] when a network's device fails.
    ///
    /// # Panics
    /// When the game is over.
    fn choose_with(&mut self, state: &GameState, options: &mut SearchOptions<'_>) -> Result<Choice, AgentError>;

    /// Chooses as [`Agent::choose_with`] does with the agent's own limits, without cancellation and reports.
    ///
    /// # Errors
    /// As [`Agent::choose_with`].
    ///
    /// # Panics
    /// When the game is over.
    fn choose(&mut self, state: &GameState) -> Result<Choice, AgentError> {
        self.choose_with(state, &mut SearchOptions::reporting(&mut |_| {}))
    }
}

/// The options of one choice: limits, number of lines, cancellation and progress reports.
///
/// Agents that do not search ignore them.
pub struct SearchOptions<'a> {
    /// Limits in place of the agent's own.
    pub limits: SearchLimits,
    /// The number of best actions that alpha-beta compares, at least 1, all equally deep and within one limit. Tree searches always
    /// compare all actions.
    pub lines: usize,
    /// Ends the search early while raised.
    pub stop: StopSignal,
    /// Receives intermediate results: after each depth of alpha-beta, and each time the number of simulations
    /// of a tree search has doubled. The final choice is returned, not reported.
    pub report: &'a mut dyn FnMut(&Choice),
    /// Reports a tree search also whenever so long has passed since the last report.
    pub report_every: Option<Duration>,
}

/// Limits of a search in place of the agent's own; with none set, the agent's own hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchLimits {
    /// The most nodes of alpha-beta.
    pub nodes: Option<u64>,
    /// The greatest depth of alpha-beta, in actions.
    pub depth: Option<u32>,
    /// The simulations of a tree search.
    pub simulations: Option<u32>,
    /// The time of a search. Gumbel search plans its simulations by the speed of its first ones.
    pub time: Option<Duration>,
}

impl SearchLimits {
    /// Returns these limits, or `own` if none is set.
    fn or(self, own: SearchLimits) -> SearchLimits {
        if self == SearchLimits::default() { own } else { self }
    }

    /// Returns `stop` with the time, counted from `begun`, as its deadline.
    fn deadline(self, begun: Instant, stop: &StopSignal) -> StopSignal {
        match self.time.and_then(|time| begun.checked_add(time)) {
            Some(deadline) => stop.until(deadline),
            None => stop.clone(),
        }
    }
}

impl<'a> SearchOptions<'a> {
    /// Returns the options that leave an agent unchanged: its own limits, one line, no cancellation.
    pub fn reporting(report: &'a mut dyn FnMut(&Choice)) -> SearchOptions<'a> {
        let (limits, stop) = (SearchLimits::default(), StopSignal::default());
        SearchOptions { limits, lines: 1, stop, report, report_every: None }
    }
}

/// A choice of an agent. All values are in `[-1, 1]` from the view of the player to act.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The action.
    pub action: Action,
    /// The expected result; `None` if the agent gives no value.
    pub value: Option<f32>,
    /// Alpha-beta's score: in hundredths of a man, or, beyond
    /// [`latrunculi_search::alphabeta::EVALUATION_MAX`], [`latrunculi_search::alphabeta::WIN`] less the actions
    /// to the end.
    pub score: Option<i32>,
    /// The actions to a certain win (positive) or loss (negative) of the player to act, where the search has proven one.
    pub actions_to_end: Option<i32>,
    /// A tree search's value: probabilities of win, draw and loss, which sum to 1.
    pub win_draw_loss: Option<[f32; 3]>,
    /// The depth that alpha-beta completed, in actions.
    pub depth: Option<u32>,
    /// The search effort: nodes of alpha-beta, simulations of a tree search, otherwise 0.
    pub effort: u64,
    /// The expected line of play, `action` first.
    pub principal_variation: Vec<Action>,
    /// The kind of tree search; `None` for other agents.
    pub search: Option<SearchKind>,
    /// The actions compared, best first; empty if the agent did not compare them.
    pub candidates: Vec<Candidate>,
}

impl Choice {
    /// Returns a choice without any evaluation.
    #[must_use]
    pub fn bare(action: Action) -> Choice {
        Choice {
            action,
            value: None,
            score: None,
            actions_to_end: None,
            win_draw_loss: None,
            depth: None,
            effort: 0,
            principal_variation: vec![action],
            search: None,
            candidates: Vec::new(),
        }
    }
}

/// One action that an agent considered.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The action.
    pub action: Action,
    /// The result expected after it, in `[-1, 1]` for the player who takes it; `None` without a value.
    pub value: Option<f32>,
    /// Alpha-beta's score, as in [`Choice::score`].
    pub score: Option<i32>,
    /// Alpha-beta's depth in actions, as in [`Choice::depth`]; compare scores of the same depth only.
    pub depth: Option<u32>,
    /// The evaluator's probability before the search, in `[0, 1]`; sums to 1 over all candidates of a tree search; 0 for alpha-beta.
    pub prior: f32,
    /// The visits of a tree search; 0 for alpha-beta.
    pub visits: u32,
    /// The tree search's policy, from which openings are drawn, in `[0, 1]`: the improved policy of Gumbel search, the visits of PUCT,
    /// both without actions that are proven worse. Sums to 1 over all candidates; 0 for alpha-beta.
    pub policy: f32,
    /// The expected line of play that begins with this action.
    pub variation: Vec<Action>,
}

impl Candidate {
    /// Returns a candidate without any evaluation.
    #[must_use]
    pub fn bare(action: Action, variation: &[Action]) -> Candidate {
        let (value, score, depth, variation) = (None, None, None, variation.to_vec());
        Candidate { action, value, score, depth, prior: 0.0, visits: 0, policy: 0.0, variation }
    }
}

/// The reasons why an agent cannot be made or cannot choose.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The agent is a person, who can play in `play` only.
    #[error("human plays only in `latrunculi play`")]
    Human,
    /// The agent plays by the clock.
    #[error("{agent}: games by the clock do not repeat; here give nodes, depth or sims in place of seconds")]
    Timed {
        /// Its text.
        agent: String,
    },
    /// The network cannot be opened.
    #[error("network {model:?}: {reason}")]
    Network {
        /// The model as named by the agent's text.
        model: String,
        /// The reason.
        reason: String,
    },
    /// The network computes for all games on one thread, as on a GPU.
    #[error("games by the clock need a network that every game computes by itself: --device cpu")]
    OneThread,
    /// A network's device failed.
    #[error(transparent)]
    Evaluator(#[from] EvalError),
}

/// Evaluates positions with a network.
pub type NetworkEvaluator<'a> = Box<dyn Evaluator<GameState> + 'a>;

/// One that a thread of its own may have.
pub type ThreadEvaluator<'a> = Box<dyn Evaluator<GameState> + Send + 'a>;

/// Opens the network named by an agent's text, or returns the reason why it cannot.
///
/// This crate contains no networks; the caller supplies this function.
pub type NetworkFactory<'a, 'e> = dyn FnMut(&str) -> Result<OpenedNetwork<'e>, String> + 'a;

/// Hashes numbers into a seed so that neighbouring numbers give unrelated seeds.
#[must_use]
pub fn mix_seeds(numbers: &[u64]) -> u64 {
    numbers.iter().fold(0, |seed, &number| mix(seed ^ number))
}

//! Agents: who plays, as a text, and as something that chooses actions.
//!
//! An [`AgentSpec`] is what a user writes (`alphabeta:nodes=20000`), an [`Agent`] is made from it for some rules.
//! An agent is a function of the position, its seed and what it has chosen since [`Agent::new_game`], never
//! of the clock or of what else the machine does.

mod spec;
mod thinkers;
mod thinking;

use latrunculi_engine::{Action, GameState};
use latrunculi_search::{EvalError, Evaluator};

pub(crate) use spec::open_network;
pub use spec::{AgentKind, AgentSpec, AgentTextError};
pub(crate) use thinkers::NetworkSearch;
pub use thinkers::{NetworkAgent, value_of_score};
pub use thinking::{Thinking, ThinkingLimits};

/// Who chooses actions.
pub trait Agent {
    /// Begins a game: forgets what came before and draws everything random from `seed` from now on.
    fn new_game(&mut self, seed: u64);

    /// Chooses one action of the player to act.
    ///
    /// # Errors
    /// [`AgentError::Evaluator`] when a network's device fails.
    ///
    /// # Panics
    /// When the game is over.
    fn choose(&mut self, state: &GameState) -> Result<Choice, AgentError>;

    /// Chooses as [`Agent::choose`] does, but as `thinking` says: other limits, an early end, word of what is
    /// found on the way. With nothing set there, the choice is the same.
    ///
    /// # Errors
    /// As [`Agent::choose`].
    ///
    /// # Panics
    /// When the game is over.
    fn think(&mut self, state: &GameState, thinking: &mut Thinking<'_>) -> Result<Choice, AgentError> {
        _ = thinking;
        self.choose(state)
    }
}

/// What an agent chose, and why. All values are for the player to act, in `[-1, 1]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The action.
    pub action: Action,
    /// The result that the agent expects; `None` if it has no opinion.
    pub value: Option<f32>,
    /// The same as alpha-beta has it: in hundredths of a man, or, beyond
    /// [`latrunculi_search::alphabeta::EVALUATION_MAX`], [`latrunculi_search::alphabeta::WIN`] less the actions
    /// to the end.
    pub score: Option<i32>,
    /// The same as a tree search has it: probabilities of win, draw and loss, which sum to 1.
    pub win_draw_loss: Option<[f32; 3]>,
    /// The depth that alpha-beta completed, in actions.
    pub depth: Option<u32>,
    /// What was spent: nodes of alpha-beta, simulations of a tree search, else 0.
    pub effort: u64,
    /// What the agent expects to be played, `action` first.
    pub principal_variation: Vec<Action>,
    /// The actions that it weighed, best first; empty if it did not weigh them one by one.
    pub candidates: Vec<Candidate>,
}

impl Choice {
    /// Returns the choice of an agent that says nothing but the action.
    #[must_use]
    pub fn bare(action: Action) -> Choice {
        Choice {
            action,
            value: None,
            score: None,
            win_draw_loss: None,
            depth: None,
            effort: 0,
            principal_variation: vec![action],
            candidates: Vec::new(),
        }
    }
}

/// One action that an agent weighed.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The action.
    pub action: Action,
    /// The result expected after it, in `[-1, 1]` for the player who takes it; `None` without an opinion.
    pub value: Option<f32>,
    /// The same as alpha-beta has it, as in [`Choice::score`].
    pub score: Option<i32>,
    /// How many actions alpha-beta looked ahead for it, as in [`Choice::depth`]; scores of one depth compare best.
    pub depth: Option<u32>,
    /// How often a tree search tried it; 0 by alpha-beta.
    pub visits: u32,
    /// The tree search's share of the policy, in `[0, 1]`; sums to 1 over all candidates, 0 by alpha-beta.
    pub policy: f32,
    /// What is expected to be played if it is, the action itself first.
    pub variation: Vec<Action>,
}

/// Why an agent cannot be made or cannot choose.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// A person cannot be asked here.
    #[error("human plays in `play` only")]
    Human,
    /// The network is not to be had.
    #[error("network {model:?}: {reason}")]
    Network {
        /// The model as the agent's text names it.
        model: String,
        /// What is wrong, in words.
        reason: String,
    },
    /// A network's device failed.
    #[error(transparent)]
    Evaluator(#[from] EvalError),
}

/// Answers positions with a network.
pub type NetworkEvaluator<'a> = Box<dyn Evaluator<GameState> + 'a>;

/// Opens the network that an agent's text names, or says in words why not.
///
/// This crate knows no networks; who calls brings this along.
pub type NetworkFactory<'a, 'e> = dyn FnMut(&str) -> Result<NetworkEvaluator<'e>, String> + 'a;

/// Mixes numbers into a seed so that neighbouring ones give unrelated seeds.
///
/// Source: Steele, Lea and Flood 2014 (SplitMix64).
#[must_use]
pub fn mix_seeds(numbers: &[u64]) -> u64 {
    numbers.iter().fold(0, |seed, &number| {
        let mut mixed = (seed ^ number).wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    })
}

//! Openings: random first actions that make the games of deterministic agents differ.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use latrunculi_engine::ruleset::SetupMode;
use latrunculi_engine::{Action, GameState, Player, Position, Rules};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde::{Deserialize, Serialize};

use crate::agents::{AgentKind, AgentSpec, mix_seeds};

/// The most draws of one opening before a repeated one is accepted.
const DRAWS_MAX: u64 = 32;

/// The first actions of a game, which the agents do not choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// The actions from the initial position.
    pub actions: Vec<Action>,
    /// The index of an earlier opening that leads to the same position or a mirror image, if any.
    pub repeats: Option<usize>,
    /// The number of draws before it that were rejected as repetitions.
    pub redrawn: u64,
}

/// Openings, each drawn from its own seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpeningBook {
    seed: u64,
    length: usize,
    first_with: HashMap<u64, usize>,
    /// The openings drawn so far, in playing order.
    pub openings: Vec<Opening>,
}

impl OpeningBook {
    /// Returns a book of openings of `length` random actions, or more to complete a turn, before the first one is drawn.
    pub(crate) fn new(seed: u64, length: usize) -> OpeningBook {
        OpeningBook { seed, length, first_with: HashMap::new(), openings: Vec::new() }
    }

    /// Draws `count` openings of `length` random actions, or more to complete a turn.
    ///
    /// Opening `i` depends on the seed and the earlier openings, not on `count`. As long as new positions are
    /// found, no two openings lead to the same position or to mirror images (any symmetry of the rules).
    #[must_use]
    pub fn draw(rules: &Arc<Rules>, seed: u64, count: usize, length: usize) -> OpeningBook {
        let mut book = OpeningBook::new(seed, length);
        let beginning = GameState::new(Arc::clone(rules));
        (0..count).for_each(|_| book.draw_next(&beginning));
        book
    }

    /// Draws the next opening, of a game that starts at `beginning`.
    pub(crate) fn draw_next(&mut self, beginning: &GameState) {
        let opening = self.next(beginning);
        self.openings.push(opening);
    }

    /// Returns the number of openings that are not repetitions.
    #[must_use]
    pub fn distinct(&self) -> usize {
        self.openings.iter().filter(|opening| opening.repeats.is_none()).count()
    }

    fn next(&mut self, beginning: &GameState) -> Opening {
        let rules = beginning.rules();
        let index = self.openings.len();
        let (mut repeated, mut redrawn) = (None, 0);
        for draw in 0..DRAWS_MAX {
            let mut rng = ChaCha8Rng::seed_from_u64(mix_seeds(&[self.seed, index as u64, draw]));
            let Some((state, actions)) = random_opening(beginning, self.length, &mut rng) else { continue };
            match self.first_with.entry(canonical_key(rules, state.position(), &[])) {
                Entry::Vacant(new) => {
                    new.insert(index);
                    return Opening { actions, repeats: None, redrawn };
                }
                Entry::Occupied(earlier) => {
                    repeated = Some(Opening { actions, repeats: Some(*earlier.get()), redrawn });
                    redrawn += 1;
                }
            }
            if self.length == 0 {
                break;
            }
        }
        // If every draw ended the game, there is no opening.
        repeated.unwrap_or_else(|| {
            let key = canonical_key(rules, beginning.position(), &[]);
            let earlier = *self.first_with.entry(key).or_insert(index);
            Opening { actions: Vec::new(), repeats: (earlier != index).then_some(earlier), redrawn }
        })
    }
}

/// Returns the default number of random opening actions: at most eight placements where stones are placed,
/// otherwise six actions.
#[must_use]
pub fn default_length(rules: &Rules) -> usize {
    if rules.ruleset().setup.mode == SetupMode::Placement {
        let position = rules.initial_position();
        let stones: u8 = Player::BOTH.iter().map(|&player| position.hand(player).stones()).sum();
        usize::from(stones).min(8)
    } else {
        6
    }
}

fn random_opening(beginning: &GameState, length: usize, rng: &mut ChaCha8Rng) -> Option<(GameState, Vec<Action>)> {
    let mut state = beginning.clone();
    // The length comes from the user: do not reserve memory for it.
    let mut actions = Vec::new();
    let mut legal = Vec::new();
    while actions.len() < length || state.position().is_mid_turn() {
        if state.outcome().is_some() {
            return None;
        }
        state.legal_actions(&mut legal);
        let action = legal[rng.random_range(0..legal.len())];
        state.play(action);
        actions.push(action);
    }
    state.outcome().is_none().then_some((state, actions))
}

/// Openings drawn from an agent's policy: visit fractions, or a network's improved policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PolicyOpenings {
    /// The agent; one without candidates (alpha-beta) plays its own choice.
    pub agent: AgentSpec,
    /// The temperature τ, above 0: actions are drawn from the policy to the power `1/τ`.
    pub temperature: f64,
}

impl PolicyOpenings {
    /// Makes them of an agent that has a policy, at a temperature from 0.01 to 100.
    ///
    /// # Errors
    /// In words, when the agent has none or the temperature is out of range.
    pub fn new(agent: AgentSpec, temperature: f64) -> Result<PolicyOpenings, String> {
        if !matches!(agent.kind, AgentKind::Mcts { .. } | AgentKind::Network { .. }) {
            return Err(format!("{agent} has no policy to draw from; use mcts or net"));
        }
        if !(0.01..=100.0).contains(&temperature) {
            return Err(format!("a temperature of {temperature}: it must be from 0.01 to 100"));
        }
        Ok(PolicyOpenings { agent, temperature })
    }

    /// Returns what names of series hold of it; `identity` is what its network adds to the agent's text, or empty.
    pub(crate) fn text(&self, identity: &str) -> String {
        let at = if identity.is_empty() { "" } else { "@" };
        format!("{}{at}{identity} temperature={}", self.agent, self.temperature)
    }
}

/// Returns a hash of a position and the actions played from there, the same for all mirror images.
///
/// `continuation` holds each action with the position before it; the first is `position`.
pub(crate) fn canonical_key(rules: &Rules, position: &Position, continuation: &[(Position, Action)]) -> u64 {
    rules
        .symmetries()
        .into_iter()
        .map(|symmetry| {
            let mut hasher = DefaultHasher::new();
            rules.map_position(symmetry, position).key().hash(&mut hasher);
            for (before, action) in continuation {
                rules.map_action(before, symmetry, *action).hash(&mut hasher);
            }
            hasher.finish()
        })
        .min()
        .unwrap_or_default()
}

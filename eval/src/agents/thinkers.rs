//! The agents themselves.
//!
//! Who changes how those choose that search raises [`latrunculi_search::SEARCH_VERSION`].

use std::cmp::Reverse;
use std::sync::Arc;

use latrunculi_engine::{Action, GameState, Player, Rules};
use latrunculi_search::alphabeta::{AlphaBeta, AlphaBetaResult, AlphaBetaSettings, DEPTH_MAX, EVALUATION_MAX, Limits};
use latrunculi_search::evaluators::Rollouts;
use latrunculi_search::latrunculi::{LatrunculiHeuristic, Weights};
use latrunculi_search::mcts::{Effort, Leaf, Proofs, Search, Settings, Step};
use latrunculi_search::{Evaluation, Evaluator};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::{Agent, AgentError, Candidate, Choice, NetworkEvaluator, Thinking, ThinkingLimits};

/// Any legal action.
#[derive(Clone, Debug)]
pub(super) struct RandomAgent {
    rng: ChaCha8Rng,
    actions: Vec<Action>,
}

impl Default for RandomAgent {
    fn default() -> Self {
        RandomAgent { rng: ChaCha8Rng::seed_from_u64(0), actions: Vec::new() }
    }
}

impl Agent for RandomAgent {
    fn new_game(&mut self, seed: u64) {
        self.rng = ChaCha8Rng::seed_from_u64(seed);
    }

    fn choose(&mut self, state: &GameState) -> Result<Choice, AgentError> {
        state.legal_actions(&mut self.actions);
        let action = self.actions[self.rng.random_range(0..self.actions.len())];
        Ok(Choice::bare(action))
    }
}

/// The action after which the enemy has lost most.
#[derive(Clone, Debug)]
pub(super) struct GreedyAgent {
    rng: ChaCha8Rng,
    actions: Vec<Action>,
    best: Vec<Action>,
    after: Option<GameState>,
}

impl Default for GreedyAgent {
    fn default() -> Self {
        let rng = ChaCha8Rng::seed_from_u64(0);
        GreedyAgent { rng, actions: Vec::new(), best: Vec::new(), after: None }
    }
}

impl Agent for GreedyAgent {
    fn new_game(&mut self, seed: u64) {
        self.rng = ChaCha8Rng::seed_from_u64(seed);
    }

    fn choose(&mut self, state: &GameState) -> Result<Choice, AgentError> {
        let player = state.player_to_act();
        state.legal_actions(&mut self.actions);
        let after = self.after.get_or_insert_with(|| state.clone());
        let mut most = i32::MIN;
        for &action in &self.actions {
            after.clone_from(state);
            after.play(action);
            let worth = worth_now(after, player);
            if worth > most {
                most = worth;
                self.best.clear();
            }
            if worth == most {
                self.best.push(action);
            }
        }
        Ok(Choice::bare(self.best[self.rng.random_range(0..self.best.len())]))
    }
}

/// Returns what `player` has of a state, in thirds of a man: the end above all, then stones, then bound ones.
fn worth_now(state: &GameState, player: Player) -> i32 {
    let end = state.outcome().map_or(0, |outcome| outcome.value_for(player) as i32);
    let position = state.position();
    let side = |player: Player| {
        let stones = position.stones(player);
        let dux = i32::from(position.dux(player).is_some()) + i32::from(position.hand(player).dux);
        let bound = (position.bound() & stones).len() as i32;
        3 * (stones.len() as i32 + i32::from(position.hand(player).stones())) + 3 * dux - bound
    };
    100_000 * end + side(player) - side(player.opponent())
}

/// Alpha-beta; the same action in the same position always.
pub(super) struct AlphaBetaAgent {
    search: AlphaBeta<GameState, LatrunculiHeuristic>,
    limits: Limits,
}

impl AlphaBetaAgent {
    pub(super) fn new(rules: &Arc<Rules>, weights: Weights, limits: Limits) -> AlphaBetaAgent {
        // A table of a few entries per node will do: small ones keep many games at once in the cache.
        let table_bytes = limits.nodes.saturating_mul(64).clamp(1 << 16, 16 << 20) as usize;
        let settings = AlphaBetaSettings { table_bytes, ..AlphaBetaSettings::default() };
        AlphaBetaAgent { search: AlphaBeta::new(settings, LatrunculiHeuristic::with_weights(rules, weights)), limits }
    }
}

impl Agent for AlphaBetaAgent {
    fn new_game(&mut self, _seed: u64) {}

    fn choose(&mut self, state: &GameState) -> Result<Choice, AgentError> {
        self.think(state, &mut Thinking::telling(&mut |_| {}))
    }

    fn think(&mut self, state: &GameState, thinking: &mut Thinking<'_>) -> Result<Choice, AgentError> {
        let limits = match thinking.limits {
            ThinkingLimits { nodes: None, depth: None, .. } => self.limits,
            ThinkingLimits { nodes, depth, .. } => {
                Limits { nodes: nodes.unwrap_or(u64::MAX), depth: depth.unwrap_or(DEPTH_MAX) }
            }
        };
        self.search.stop_by(thinking.stop.clone());
        let report = &mut *thinking.report;
        let best = self.search.search_but(&[], state, limits, &mut |result| report(&choice_of_score(result)));
        let mut choice = choice_of_score(&best);
        if thinking.lines > 1 {
            choice.candidates.push(candidate_of_score(best));
            let mut legal = Vec::new();
            state.legal_actions(&mut legal);
            let mut weighed = vec![choice.action];
            while weighed.len() < thinking.lines.min(legal.len()) && !thinking.stop.is_raised() {
                let next = self.search.search_but(&weighed, state, limits, &mut |_| {});
                choice.effort += next.nodes;
                weighed.push(next.action);
                choice.candidates.push(candidate_of_score(next));
            }
            // A later search may have looked further and found more; who chooses stands by the first.
            choice.candidates[1..].sort_by_key(|candidate| Reverse(candidate.score));
        }
        Ok(choice)
    }
}

fn choice_of_score(result: &AlphaBetaResult<Action>) -> Choice {
    Choice {
        value: Some(value_of_score(result.score)),
        score: Some(result.score),
        depth: Some(result.depth),
        effort: result.nodes,
        principal_variation: result.principal_variation.clone(),
        ..Choice::bare(result.action)
    }
}

fn candidate_of_score(result: AlphaBetaResult<Action>) -> Candidate {
    Candidate {
        action: result.action,
        value: Some(value_of_score(result.score)),
        score: Some(result.score),
        depth: Some(result.depth),
        visits: 0,
        policy: 0.0,
        variation: result.principal_variation,
    }
}

/// Returns a score of alpha-beta, in hundredths of a man, as a value in `[-1, 1]` for the same player.
///
/// `tanh(score / 400)`, and ±1 for a win or loss seen to its end: a rough scale, to show beside the values
/// of tree searches, and not a fitted one.
#[must_use]
pub fn value_of_score(score: i32) -> f32 {
    if score.abs() > EVALUATION_MAX { score.signum() as f32 } else { (score as f32 / 400.0).tanh() }
}

/// Tree search with random playouts.
pub(super) struct RolloutAgent {
    search: Search<GameState>,
    rollouts: Rollouts<GameState>,
    effort: Effort,
    rng: ChaCha8Rng,
}

/// After so many actions a playout counts as a draw.
const PLAYOUT_ACTIONS_MAX: u32 = 600;

impl RolloutAgent {
    pub(super) fn new(state: &GameState, simulations: u32) -> RolloutAgent {
        // Upper confidence bounds explore for ever, as a long search with uniform priors must.
        let settings = Settings { proofs: Proofs::Path, ..Settings::puct() };
        RolloutAgent {
            search: Search::new(settings, state),
            rollouts: rollouts(0),
            effort: Effort { simulations, explores: false },
            rng: ChaCha8Rng::seed_from_u64(0),
        }
    }
}

fn rollouts(seed: u64) -> Rollouts<GameState> {
    Rollouts::new(1, PLAYOUT_ACTIONS_MAX, ChaCha8Rng::seed_from_u64(seed))
}

impl Agent for RolloutAgent {
    fn new_game(&mut self, seed: u64) {
        self.rng = ChaCha8Rng::seed_from_u64(seed);
        self.rollouts = rollouts(self.rng.random());
    }

    fn choose(&mut self, state: &GameState) -> Result<Choice, AgentError> {
        self.think(state, &mut Thinking::telling(&mut |_| {}))
    }

    fn think(&mut self, state: &GameState, thinking: &mut Thinking<'_>) -> Result<Choice, AgentError> {
        self.search.set_root(state);
        self.search.start(effort_of(self.effort, thinking), &mut self.rng);
        run(&mut self.search, &mut self.rollouts, thinking)
    }
}

fn effort_of(own: Effort, thinking: &Thinking<'_>) -> Effort {
    Effort { simulations: thinking.limits.simulations.unwrap_or(own.simulations), ..own }
}

/// Searches to the end, or until it is stopped, and returns what was found.
fn run(
    search: &mut Search<GameState>,
    evaluator: &mut dyn Evaluator<GameState>,
    thinking: &mut Thinking<'_>,
) -> Result<Choice, AgentError> {
    let mut evaluations = [Evaluation::default()];
    let mut told = 0;
    while search.select() == Step::Evaluate {
        let leaf = search.leaf();
        evaluator.evaluate(&[leaf.game], &[leaf.legal_actions], &mut evaluations)?;
        search.receive(&evaluations[0]);
        if thinking.stop.is_raised() {
            break;
        }
        if search.simulations() >= (2 * told).max(TOLD_SIMULATIONS) {
            told = search.simulations();
            (thinking.report)(&choice_of(search));
        }
    }
    Ok(choice_of(search))
}

/// The simulations after which a tree search tells for the first time what it has found.
const TOLD_SIMULATIONS: u32 = 64;

/// Tree search with a network, in half-steps: whoever holds the network answers for many searches at once.
pub(crate) struct NetworkSearch {
    search: Search<GameState>,
    effort: Effort,
    rng: ChaCha8Rng,
}

impl NetworkSearch {
    pub(crate) fn new(state: &GameState, simulations: u32) -> NetworkSearch {
        NetworkSearch {
            search: Search::new(Settings::gumbel(), state),
            effort: Effort { simulations, explores: false },
            rng: ChaCha8Rng::seed_from_u64(0),
        }
    }

    pub(crate) fn new_game(&mut self, seed: u64) {
        self.rng = ChaCha8Rng::seed_from_u64(seed);
    }

    pub(crate) fn begin(&mut self, state: &GameState) {
        self.search.set_root(state);
        self.search.start(self.effort, &mut self.rng);
    }

    pub(crate) fn select(&mut self) -> Step {
        self.search.select()
    }

    pub(crate) fn leaf(&self) -> Leaf<'_, GameState> {
        self.search.leaf()
    }

    pub(crate) fn receive(&mut self, evaluation: &Evaluation) {
        self.search.receive(evaluation);
    }

    pub(crate) fn choice(&self) -> Choice {
        choice_of(&self.search)
    }
}

/// Tree search with a network of its own, one game at a time.
pub struct NetworkAgent<'e> {
    search: NetworkSearch,
    evaluator: NetworkEvaluator<'e>,
}

impl<'e> NetworkAgent<'e> {
    /// Creates an agent that spends `simulations` per choice; 0 is the bare policy.
    ///
    /// `state` is any game under the rules to be played.
    #[must_use]
    pub fn new(evaluator: NetworkEvaluator<'e>, state: &GameState, simulations: u32) -> NetworkAgent<'e> {
        NetworkAgent { search: NetworkSearch::new(state, simulations), evaluator }
    }
}

impl Agent for NetworkAgent<'_> {
    fn new_game(&mut self, seed: u64) {
        self.search.new_game(seed);
    }

    fn choose(&mut self, state: &GameState) -> Result<Choice, AgentError> {
        self.think(state, &mut Thinking::telling(&mut |_| {}))
    }

    fn think(&mut self, state: &GameState, thinking: &mut Thinking<'_>) -> Result<Choice, AgentError> {
        let NetworkSearch { search, effort, rng } = &mut self.search;
        search.set_root(state);
        search.start(effort_of(*effort, thinking), rng);
        run(search, &mut *self.evaluator, thinking)
    }
}

/// Returns what a tree search has chosen; its values are for the player to act.
fn choice_of(search: &Search<GameState>) -> Choice {
    let result = search.result();
    let mut candidates: Vec<(usize, Candidate)> = (0..result.actions.len())
        .map(|index| {
            let candidate = Candidate {
                action: result.actions[index],
                value: (result.visits[index] > 0).then_some(result.q[index]),
                score: None,
                depth: None,
                visits: result.visits[index],
                policy: result.policy[index],
                variation: search.variation(index),
            };
            (index, candidate)
        })
        .collect();
    candidates.sort_by(|(a, _), (b, _)| {
        let rank = |index: usize| (index == result.best, result.visits[index]);
        rank(*b).cmp(&rank(*a)).then(result.policy[*b].total_cmp(&result.policy[*a]))
    });
    Choice {
        value: Some(result.value),
        win_draw_loss: Some(result.win_draw_loss),
        effort: u64::from(result.simulations),
        principal_variation: result.principal_variation.clone(),
        candidates: candidates.into_iter().map(|(_, candidate)| candidate).collect(),
        ..Choice::bare(result.best_action())
    }
}

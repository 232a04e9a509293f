//! The agents.
//!
//! A change to the choices of an agent that searches must raise [`latrunculi_search::SEARCH_VERSION`].

use std::sync::Arc;
use std::time::Instant;

use latrunculi_engine::{Action, GameState, Player, Rules};
use latrunculi_search::alphabeta::{AlphaBeta, AlphaBetaResult, AlphaBetaSettings, DEPTH_MAX, EVALUATION_MAX, Limits};
use latrunculi_search::evaluators::Rollouts;
use latrunculi_search::latrunculi::{LatrunculiHeuristic, Weights};
use latrunculi_search::mcts::{LeafBatch, Proofs, SIMULATIONS_MAX, Search, SearchBudget, Settings};
use latrunculi_search::{EvalError, Evaluation, Evaluator, Game, StopSignal};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::spec::is_long;
use super::{
    Agent, AgentError, Candidate, Choice, NetworkEvaluator, SearchKind, SearchLimits, SearchOptions, mix_seeds,
};

/// Plays a uniformly random legal action.
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

    fn choose_with(&mut self, state: &GameState, _options: &mut SearchOptions<'_>) -> Result<Choice, AgentError> {
        state.legal_actions(&mut self.actions);
        let action = self.actions[self.rng.random_range(0..self.actions.len())];
        Ok(Choice::bare(action))
    }
}

/// Plays the action with the largest immediate material gain.
#[derive(Clone, Debug)]
pub(super) struct GreedyAgent {
    rng: ChaCha8Rng,
    actions: Vec<Action>,
    after: Option<GameState>,
}

impl Default for GreedyAgent {
    fn default() -> Self {
        let rng = ChaCha8Rng::seed_from_u64(0);
        GreedyAgent { rng, actions: Vec::new(), after: None }
    }
}

impl Agent for GreedyAgent {
    fn new_game(&mut self, seed: u64) {
        self.rng = ChaCha8Rng::seed_from_u64(seed);
    }

    fn choose_with(&mut self, state: &GameState, _options: &mut SearchOptions<'_>) -> Result<Choice, AgentError> {
        let player = state.player_to_act();
        state.legal_actions(&mut self.actions);
        let after = self.after.get_or_insert_with(|| state.clone());
        let seed: u64 = self.rng.random();
        let rank = |&action: &Action| {
            after.clone_from(state);
            after.play(action);
            // The draw sees actions as the player does, so that both players draw alike.
            (material_balance(after, player), mix_seeds(&[seed, state.own_action_key(action)]))
        };
        let best = self.actions.iter().copied().max_by_key(rank);
        Ok(Choice::bare(best.expect("a game that goes on has a legal action")))
    }
}

/// Returns the material balance of `player` in thirds of a man; a decided game outweighs all material, and a bound
/// stone counts one third less.
fn material_balance(state: &GameState, player: Player) -> i32 {
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

/// Alpha-beta search. With the same seed it always chooses the same action in the same position.
pub(super) struct AlphaBetaAgent {
    search: AlphaBeta<GameState, LatrunculiHeuristic>,
    limits: SearchLimits,
}

impl AlphaBetaAgent {
    pub(super) fn new(rules: &Arc<Rules>, weights: Weights, limits: SearchLimits, seed: u64) -> AlphaBetaAgent {
        // A few entries per node suffice; small tables of many games fit the cache.
        let table_bytes = limits.nodes.unwrap_or(u64::MAX).saturating_mul(64).clamp(1 << 16, 16 << 20) as usize;
        let settings = AlphaBetaSettings { table_bytes, seed, ..AlphaBetaSettings::default() };
        AlphaBetaAgent { search: AlphaBeta::new(settings, LatrunculiHeuristic::with_weights(rules, weights)), limits }
    }
}

impl Agent for AlphaBetaAgent {
    fn new_game(&mut self, _seed: u64) {}

    fn choose_with(&mut self, state: &GameState, options: &mut SearchOptions<'_>) -> Result<Choice, AgentError> {
        let own = options.limits.or(self.limits);
        let limits = Limits { nodes: own.nodes.unwrap_or(u64::MAX), depth: own.depth.unwrap_or(DEPTH_MAX) };
        self.search.stop_by(own.deadline(Instant::now(), &options.stop));
        let report = &mut *options.report;
        let found =
            self.search.search_lines(state, limits, options.lines, &mut |lines| report(&choice_of_lines(lines)));
        Ok(choice_of_lines(&found))
    }
}

/// Returns the choice of alpha-beta, which has compared `lines`, at least one, the best first.
fn choice_of_lines(lines: &[AlphaBetaResult<Action>]) -> Choice {
    let best = &lines[0];
    let candidate = |line: &AlphaBetaResult<Action>| Candidate {
        value: Some(value_of_score(line.score)),
        score: Some(line.score),
        depth: Some(line.depth),
        ..Candidate::bare(line.action, &line.principal_variation)
    };
    Choice {
        value: Some(value_of_score(best.score)),
        score: Some(best.score),
        actions_to_end: best.plies_to_end(),
        depth: Some(best.depth),
        effort: best.nodes,
        principal_variation: best.principal_variation.clone(),
        candidates: if lines.len() > 1 { lines.iter().map(candidate).collect() } else { Vec::new() },
        ..Choice::bare(best.action)
    }
}

/// Returns a score of alpha-beta, in hundredths of a man, as a value in `[-1, 1]` for the same player.
///
/// `tanh(score / 400)`, and ±1 for a proved win or loss. The scale is not fitted; it serves to show scores
/// beside the values of tree searches.
#[must_use]
pub fn value_of_score(score: i32) -> f32 {
    if score.abs() > EVALUATION_MAX { score.signum() as f32 } else { (score as f32 / 400.0).tanh() }
}

/// Tree search that owns its evaluator, one game at a time. A choice of a given number of simulations begins with an empty tree, so that it
/// depends on the game alone; by the clock or until it is stopped, it goes on with the tree of the choice before.
pub(super) struct TreeAgent<E> {
    search: Search<GameState>,
    /// The settings of a short search, and of a long one ([`is_long`]).
    settings: [Settings; 2],
    evaluator: E,
    /// Prepares the evaluator for a game.
    begin_game: fn(&mut E, &mut ChaCha8Rng),
    limits: SearchLimits,
    rng: ChaCha8Rng,
}

/// The number of actions after which a playout counts as a draw.
const PLAYOUT_ACTIONS_MAX: u32 = 600;

/// Returns the search of [`TreeAgent::with_playouts`]: PUCT keeps exploring, which a long search with uniform priors needs.
pub(super) fn rollout_settings() -> Settings {
    Settings { proofs: Proofs::Path, ..Settings::puct() }
}

impl TreeAgent<Rollouts<GameState>> {
    /// Creates an agent that plays positions out at random.
    pub(super) fn with_playouts(state: &GameState, settings: Settings, limits: SearchLimits) -> Self {
        let evaluator = Rollouts::new(1, PLAYOUT_ACTIONS_MAX, ChaCha8Rng::seed_from_u64(0));
        let begin_game = |rollouts: &mut Rollouts<_>, rng: &mut ChaCha8Rng| rollouts.reseed(rng.random());
        TreeAgent::new(evaluator, begin_game, state, [settings.clone(), settings], limits)
    }
}

impl<'e> TreeAgent<NetworkEvaluator<'e>> {
    /// Creates an agent with a network that searches within `limits` for each choice; 0 simulations are the bare policy. `settings`
    /// are those of a short search and of a long one.
    ///
    /// `state` is any state under the rules to be played, in which the game goes on. It is evaluated now: what a network
    /// prepares for rules when it meets them first takes none of the time of a choice.
    ///
    /// # Errors
    /// When the network's device fails.
    pub(super) fn with_network(
        mut evaluator: NetworkEvaluator<'e>,
        state: &GameState,
        settings: [Settings; 2],
        limits: SearchLimits,
    ) -> Result<Self, EvalError> {
        let mut actions = Vec::new();
        state.legal_actions(&mut actions);
        evaluator.evaluate(&[state], &[&actions], &mut [Evaluation::default()])?;
        Ok(TreeAgent::new(evaluator, |_, _| (), state, settings, limits))
    }
}

impl<E> TreeAgent<E> {
    fn new(
        evaluator: E,
        begin_game: fn(&mut E, &mut ChaCha8Rng),
        state: &GameState,
        settings: [Settings; 2],
        limits: SearchLimits,
    ) -> TreeAgent<E> {
        let (search, rng) = (Search::new(settings[0].clone(), state), ChaCha8Rng::seed_from_u64(0));
        TreeAgent { search, settings, evaluator, begin_game, limits, rng }
    }
}

impl<E: Evaluator<GameState>> Agent for TreeAgent<E> {
    fn new_game(&mut self, seed: u64) {
        self.rng = ChaCha8Rng::seed_from_u64(seed);
        (self.begin_game)(&mut self.evaluator, &mut self.rng);
        self.search.release();
    }

    fn choose_with(&mut self, state: &GameState, options: &mut SearchOptions<'_>) -> Result<Choice, AgentError> {
        let (begun, limits) = (Instant::now(), options.limits.or(self.limits));
        let settings = &self.settings[usize::from(is_long(limits.simulations))];
        if self.search.settings() != settings {
            self.search = Search::new(settings.clone(), state);
        } else if limits.time.is_none() && limits.simulations.is_some() {
            self.search.set_root(state);
        } else {
            self.search.advance_to(state);
        }
        choose(&mut self.search, &mut self.evaluator, (limits, begun), options, &mut self.rng)
    }
}

/// Searches from the root within the limits, whose time has begun then, and returns the choice.
///
/// How Gumbel search spends its simulations depends on their number. Where the time is its limit, searches of few
/// simulations measure the speed until an eighth of it is over, and a last one in the same tree has the number that fits the rest.
fn choose(
    search: &mut Search<GameState>,
    evaluator: &mut dyn Evaluator<GameState>,
    (limits, begun): (SearchLimits, Instant),
    options: &mut SearchOptions<'_>,
    rng: &mut ChaCha8Rng,
) -> Result<Choice, AgentError> {
    /// What is planned of the rest of the time: simulations become slower in a larger tree.
    const PLANNED: f64 = 0.9;
    let most = limits.simulations.unwrap_or(SIMULATIONS_MAX);
    let stop = limits.deadline(begun, &options.stop);
    let Some(time) = limits.time.filter(|_| SearchKind::of(search.settings()) == SearchKind::Gumbel) else {
        return run(search, evaluator, most, options, &stop, rng);
    };
    let (mut simulations, mut is_last, mut effort) = (most.min(REPORTED_SIMULATIONS), false, 0);
    loop {
        let before = begun.elapsed();
        let mut report =
            |choice: &Choice| (options.report)(&Choice { effort: effort + choice.effort, ..choice.clone() });
        let report_every = options.report_every;
        let mut told = SearchOptions { report_every, ..SearchOptions::reporting(&mut report) };
        let found = run(search, evaluator, simulations, &mut told, &stop, rng)?;
        let spent = begun.elapsed();
        let per_sec = found.effort as f64 / (spent - before).as_secs_f64().max(1e-6);
        effort += found.effort;
        let choice = Choice { effort, ..found };
        let planned = (per_sec * time.saturating_sub(spent).as_secs_f64() * PLANNED) as u64;
        let planned = planned.min(u64::from(most).saturating_sub(effort)) as u32;
        if is_last || planned == 0 || stop.is_raised() {
            return Ok(choice);
        }
        is_last = 8 * spent >= time || planned <= 4 * simulations;
        simulations = if is_last { planned } else { 4 * simulations };
    }
}

/// Searches with so many simulations, or until it is stopped, and returns the choice.
fn run(
    search: &mut Search<GameState>,
    evaluator: &mut dyn Evaluator<GameState>,
    simulations: u32,
    options: &mut SearchOptions<'_>,
    stop: &StopSignal,
    rng: &mut ChaCha8Rng,
) -> Result<Choice, AgentError> {
    search.start(SearchBudget { simulations, add_noise: false }, rng);
    finish(search, evaluator, options, stop)
}

/// Runs a search that was started to its end, or until it is stopped, and returns the choice.
fn finish(
    search: &mut Search<GameState>,
    evaluator: &mut dyn Evaluator<GameState>,
    options: &mut SearchOptions<'_>,
    stop: &StopSignal,
) -> Result<Choice, AgentError> {
    let mut batch = LeafBatch::default();
    let (mut reported, mut reported_at) = (0, Instant::now());
    search.stop_by(stop.clone());
    while batch.run_round(std::slice::from_mut(search), evaluator)? {
        let is_due = options.report_every.is_some_and(|time| reported > 0 && reported_at.elapsed() >= time);
        if search.simulations() >= (2 * reported).max(REPORTED_SIMULATIONS) || is_due {
            (reported, reported_at) = (search.simulations(), Instant::now());
            (options.report)(&choice_of(search));
        }
    }
    Ok(choice_of(search))
}

/// The number of simulations before the first report of a tree search.
const REPORTED_SIMULATIONS: u32 = 64;

/// Tree search with a network, in half-steps: the caller evaluates the leaves of many searches in one batch.
pub(crate) struct NetworkSearch {
    search: Search<GameState>,
    /// Whether the root of the search is the position of the game.
    is_in_game: bool,
    budget: SearchBudget,
    rng: ChaCha8Rng,
}

impl NetworkSearch {
    pub(crate) fn new(state: &GameState, settings: Settings, simulations: u32) -> NetworkSearch {
        NetworkSearch {
            search: Search::new(settings, state),
            is_in_game: false,
            budget: SearchBudget { simulations, add_noise: false },
            rng: ChaCha8Rng::seed_from_u64(0),
        }
    }

    pub(crate) fn new_game(&mut self, seed: u64) {
        self.rng = ChaCha8Rng::seed_from_u64(seed);
        self.is_in_game = false;
        self.search.release();
    }

    /// Begins a search at `state`. Every action since the search before it must have been told to [`NetworkSearch::follow`].
    pub(crate) fn begin(&mut self, state: &GameState) {
        if !self.is_in_game {
            self.search.set_root(state);
            self.is_in_game = true;
        }
        self.search.start(self.budget, &mut self.rng);
    }

    /// Follows an action of either player, so that the subtree below it is kept where the settings say so.
    pub(crate) fn follow(&mut self, action: Action) {
        if self.is_in_game {
            self.search.advance(action);
        }
    }

    pub(crate) fn search_mut(&mut self) -> &mut Search<GameState> {
        &mut self.search
    }

    pub(crate) fn choice(&self) -> Choice {
        choice_of(&self.search)
    }
}

/// Returns the choice of a tree search; values are from the view of the player to act.
fn choice_of(search: &Search<GameState>) -> Choice {
    let result = search.result();
    let mut order: Vec<usize> = (0..result.actions.len()).collect();
    order.sort_by(|&a, &b| {
        let rank = |index: usize| (index == result.best, result.visits[index]);
        rank(b).cmp(&rank(a)).then(result.policy[b].total_cmp(&result.policy[a]))
    });
    let candidate = |index: usize| Candidate {
        value: (result.visits[index] > 0).then_some(result.q[index]),
        prior: result.prior[index],
        visits: result.visits[index],
        policy: result.policy[index],
        ..Candidate::bare(result.actions[index], &search.variation(index))
    };
    let candidates = order.into_iter().map(candidate).collect();
    let end = result.proven.filter(|proven| proven.result != 0);
    Choice {
        value: Some(result.value),
        actions_to_end: end.map(|end| i32::from(end.result) * i32::from(end.plies)),
        win_draw_loss: Some(result.win_draw_loss),
        effort: u64::from(result.simulations),
        principal_variation: result.principal_variation.clone(),
        search: Some(SearchKind::of(search.settings())),
        candidates,
        ..Choice::bare(result.best_action())
    }
}

#[cfg(test)]
mod tests {
    use latrunculi_engine::presets;
    use latrunculi_search::evaluators::Uniform;

    use super::*;

    fn finish_quietly(search: &mut Search<GameState>) -> Choice {
        finish(search, &mut Uniform, &mut SearchOptions::reporting(&mut |_| {}), &StopSignal::default()).unwrap()
    }

    /// Plays some actions by two searches that follow each other; returns the sizes of the trees when a search begins.
    fn sizes(reuse_tree: bool) -> Vec<usize> {
        let rules = presets::rules("dutch-8x8-noking");
        let mut state = GameState::new(rules);
        let settings = Settings { reuse_tree, ..Settings::gumbel() };
        let mut seats = [0, 1].map(|_| NetworkSearch::new(&state, settings.clone(), 400));
        seats.iter_mut().for_each(|seat| seat.new_game(1));
        let mut sizes = Vec::new();
        for _ in 0..8 {
            let seat = &mut seats[state.player_to_act().index()];
            seat.begin(&state);
            sizes.push(seat.search.tree_size().0);
            let choice = finish_quietly(&mut seat.search);
            assert!(state.is_legal(choice.action) && choice.effort == 400);
            state.play(choice.action);
            seats.iter_mut().for_each(|seat| seat.follow(choice.action));
        }
        sizes
    }

    #[test]
    fn the_tree_is_kept_over_the_actions_of_both_players() {
        let kept = sizes(true);
        // The first search of each side begins with nothing.
        assert!(kept[..2] == [0, 0] && kept[2..].iter().any(|&nodes| nodes > 1), "{kept:?}");
        assert_eq!(kept, sizes(true));
        assert!(sizes(false).iter().all(|&nodes| nodes == 0));
    }

    #[test]
    fn a_new_game_begins_anew() {
        let rules = presets::rules("bell-8x8");
        let start = GameState::new(rules);
        let mut seat = NetworkSearch::new(&start, Settings::gumbel(), 50);
        let mut play = |seed: u64| {
            seat.new_game(seed);
            let mut state = start.clone();
            for _ in 0..4 {
                seat.begin(&state);
                finish_quietly(&mut seat.search);
                let action = seat.choice().action;
                state.play(action);
                seat.follow(action);
            }
            state.rules().position_text(state.position())
        };
        assert_eq!(play(1), play(1));
    }
}

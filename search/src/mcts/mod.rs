//! Monte Carlo tree search in two half-steps, so that many games can share a batch.
//!
//! A [`Search`] searches one game. [`Search::select`] runs until a position must be evaluated ([`Search::leaf`]);
//! [`Search::receive`] takes the evaluation. [`LeafBatch`] drives many searches on shared batches.
//!
//! ```
//! use latrunculi_search::mcts::{SearchBudget, Search, Settings, Step};
//! use latrunculi_search::{Evaluation, Evaluator, evaluators::Uniform, toy::TicTacToe};
//! use rand_chacha::{ChaCha8Rng, rand_core::SeedableRng};
//!
//! let mut rng = ChaCha8Rng::seed_from_u64(7);
//! let mut search = Search::new(Settings::default(), &TicTacToe::new());
//! search.start(SearchBudget { simulations: 32, add_noise: true }, &mut rng);
//! let mut evaluations = [Evaluation::default()];
//! while search.select() == Step::Evaluate {
//!     let leaf = search.leaf();
//!     Uniform.evaluate(&[leaf.game], &[leaf.legal_actions], &mut evaluations)?;
//!     search.receive(&evaluations[0]);
//! }
//! assert_eq!(search.result().policy.len(), 9);
//! # Ok::<(), latrunculi_search::EvalError>(())
//! ```

mod batch;
mod gumbel;
mod prediction;
mod puct;
mod result;
mod settings;
mod tree;

use std::collections::HashMap;
use std::mem;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::evaluator::{EvalError, Evaluation, Evaluator};
use crate::game::Game;
use crate::mix;
use crate::stop::StopSignal;
use gumbel::{Completion, GumbelRoot};
use puct::PuctNode;
use tree::{Bounds, Child, Edge, Tree, ValueSum, sign};

pub use batch::LeafBatch;
pub use gumbel::considered_visits;
pub use result::{Proven, SearchResult};
pub use settings::{
    GumbelSettings, MaxConsideredActions, Mode, Proofs, PuctSettings, SIMULATIONS_MAX, SearchBudget, Settings,
};

/// The bytes of an edge besides its action, at most.
const EDGE_BYTES: usize = 44;
const _: () = assert!(size_of::<Edge>() + size_of::<u32>() <= EDGE_BYTES);

/// The most actions that [`Search::advance_to`] plays: two turns, each of an action and perhaps a capture or a further jump.
const ADVANCED_ACTIONS_MAX: usize = 4;

/// What a search needs next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Step {
    /// The evaluation of [`Search::leaf`], through [`Search::receive`].
    Evaluate,
    /// Nothing: the simulations are done, the root is proven, or the search was stopped.
    Done,
}

/// The position whose evaluation a search waits for.
#[derive(Clone, Copy, Debug)]
pub struct Leaf<'a, G: Game> {
    /// An unfinished game.
    pub game: &'a G,
    /// Its legal actions, at least one.
    pub legal_actions: &'a [G::Action],
}

/// A search tree over one game, its memory reused from search to search.
///
/// A search waits for at most one leaf. Everything random comes from the generator given to
/// [`Search::start`]: the same generator, game and evaluations give the same result. Ties are drawn by a hash of what
/// the player to act sees, alike for both players.
#[derive(Clone, Debug)]
pub struct Search<G: Game> {
    settings: Settings,
    game: G,
    tree: Tree<G::Action>,
    budget: SearchBudget,
    rng: ChaCha8Rng,
    /// Seed of the ties of new edges: a hash of the root as the player to act sees it.
    tie_seed: u64,
    simulations: u32,
    /// Ends the search early.
    stop: StopSignal,
    pending: Pending,
    leaf_game: G,
    leaf_actions: Vec<G::Action>,
    /// The game after an action at the leaf that is tried for its end.
    tried_game: G,
    /// The edges from the root to the leaf.
    path: Vec<u32>,
    gumbel_root: GumbelRoot,
    /// Noise given by the caller; empty if it is drawn.
    given_gumbel: Vec<f32>,
    /// Target of the copy of a kept subtree.
    spare: Tree<G::Action>,
    scratch: Vec<f32>,
    /// Evaluations of leaves that were predicted, by their edges.
    ahead: HashMap<u32, Evaluation>,
}

/// Where a walk down from the root ends.
enum Reached {
    /// At an end of the game that was visited before, or at a proof, with its value.
    Known(ValueSum),
    /// Behind an edge that has no node.
    Leaf(u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pending {
    None,
    Root,
    Leaf,
}

impl<G: Game> Search<G> {
    /// Creates a search at `game`, which must not be over.
    #[must_use]
    pub fn new(settings: Settings, game: &G) -> Search<G> {
        Search {
            settings,
            game: game.clone(),
            tree: Tree::new(),
            budget: SearchBudget { simulations: 0, add_noise: false },
            rng: ChaCha8Rng::from_seed([0; 32]),
            tie_seed: 0,
            simulations: 0,
            stop: StopSignal::default(),
            pending: Pending::None,
            leaf_game: game.clone(),
            leaf_actions: Vec::new(),
            tried_game: game.clone(),
            path: Vec::new(),
            gumbel_root: GumbelRoot::default(),
            given_gumbel: Vec::new(),
            spare: Tree::new(),
            scratch: Vec::new(),
            ahead: HashMap::new(),
        }
    }

    /// Returns the game at the root.
    #[must_use]
    pub fn game(&self) -> &G {
        &self.game
    }

    /// Returns the settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Returns the simulations made since [`Search::start`].
    #[must_use]
    pub fn simulations(&self) -> u32 {
        self.simulations
    }

    /// Returns the number of nodes and edges that the tree holds.
    #[must_use]
    pub fn tree_size(&self) -> (usize, usize) {
        (self.tree.nodes.len(), self.tree.edges.len())
    }

    /// Makes all searches end early while `stop` is raised, each with the simulations that it has, but not without one.
    pub fn stop_by(&mut self, stop: StopSignal) {
        self.stop = stop;
    }

    /// Returns the edges of a tree ([`Settings::edges_max`]) that takes so many MiB, where nodes have many edges each.
    #[must_use]
    pub const fn edges_in(mib: u32) -> usize {
        ((mib as usize) << 20) / (EDGE_BYTES + size_of::<G::Action>())
    }

    /// Forgets the tree and gives its memory back. [`Search::set_root`] must come before the next search.
    pub fn release(&mut self) {
        (self.tree, self.spare) = (Tree::new(), Tree::new());
        self.ahead = HashMap::new();
        self.gumbel_root = GumbelRoot::default();
        self.pending = Pending::None;
    }

    /// Puts `game` at the root and forgets the tree.
    pub fn set_root(&mut self, game: &G) {
        self.game.clone_from(game);
        self.forget();
    }

    /// Puts `game` at the root. Keeps the subtree below it, if the settings say so, where few actions in the tree lead there. What
    /// else the tree held is given back: that of a long search would take as much memory as the next.
    pub fn advance_to(&mut self, game: &G) {
        let mut line = Vec::new();
        if self.settings.reuse_tree
            && !self.tree.nodes.is_empty()
            && self.finds(game.full_key(), 0, &self.game, &mut line)
        {
            let Some(&edge) = line.last() else { return };
            self.keep_below(edge);
            self.game.clone_from(game);
            self.spare = Tree::new();
        } else {
            self.set_root(game);
        }
    }

    /// Tells whether the edges of `line` and some more lead to the game with the key; adds these. `game` is the one after `line`,
    /// at the node `node`.
    fn finds(&self, key: u64, node: u32, game: &G, line: &mut Vec<usize>) -> bool {
        if game.full_key() == key {
            return true;
        }
        let edges = if line.len() < ADVANCED_ACTIONS_MAX { self.tree.nodes[node as usize].edges() } else { 0..0 };
        edges.into_iter().any(|edge| {
            let Child::Node(child) = self.tree.edges[edge].child() else { return false };
            let mut next = game.clone();
            next.play(self.tree.actions[edge]);
            line.push(edge);
            let is_found = self.finds(key, child, &next, line);
            if !is_found {
                line.pop();
            }
            is_found
        })
    }

    /// Plays a legal action at the root, keeping the subtree below it if the settings say so.
    /// May panic when the action is not legal.
    pub fn advance(&mut self, action: G::Action) {
        let is_kept = self.settings.reuse_tree && !self.tree.nodes.is_empty();
        let mut edges = if is_kept { self.tree.nodes[0].edges() } else { 0..0 };
        match edges.find(|&edge| self.tree.actions[edge] == action) {
            Some(edge) => self.keep_below(edge),
            None => self.forget(),
        }
        self.game.play(action);
    }

    /// Makes the node that an edge leads to the root, unless the tree below it is too large to grow on.
    fn keep_below(&mut self, edge: usize) {
        self.spare.clear();
        self.tree.copy_subtree(edge, &mut self.spare);
        mem::swap(&mut self.tree, &mut self.spare);
        if self.tree.edges.len() > self.settings.edges_max / 2 {
            self.tree.clear();
        }
        self.ahead.clear();
        self.pending = Pending::None;
    }

    fn forget(&mut self) {
        self.tree.clear();
        self.ahead.clear();
        self.pending = Pending::None;
    }

    /// Begins a search: sets the budget and draws the noise from a generator forked off `rng`.
    /// The tree stays, so that starting again continues a search.
    /// Panics when the game at the root is over.
    pub fn start(&mut self, budget: SearchBudget, rng: &mut ChaCha8Rng) {
        assert!(self.game.outcome().is_none(), "a search needs a game that goes on");
        self.budget = budget;
        self.rng = ChaCha8Rng::from_rng(rng);
        self.given_gumbel.clear();
        self.begin();
    }

    /// Begins a search as [`Search::start`] does, with the Gumbel noise given, one number per legal action
    /// of the root: to compare with other programs, or to search twice under the same noise.
    /// Panics when the game at the root is over, when the mode is not Gumbel, or, once the root is evaluated, when there is not
    /// one number per action.
    pub fn start_with_gumbel(&mut self, simulations: u32, gumbel: &[f32]) {
        assert!(self.game.outcome().is_none(), "a search needs a game that goes on");
        assert!(matches!(self.settings.mode, Mode::Gumbel(_)), "PUCT has no Gumbel noise");
        self.budget = SearchBudget { simulations, add_noise: true };
        self.given_gumbel.clear();
        self.given_gumbel.extend_from_slice(gumbel);
        self.begin();
    }

    fn begin(&mut self) {
        self.tie_seed = mix(self.game.own_position_key());
        self.simulations = 0;
        self.pending = Pending::None;
        if !self.tree.nodes.is_empty() {
            self.prepare_root();
        }
    }

    /// Runs until a position must be evaluated or the search is done.
    /// Repeats its answer when called again before [`Search::receive`].
    pub fn select(&mut self) -> Step {
        if self.pending != Pending::None {
            return Step::Evaluate;
        }
        if self.tree.nodes.is_empty() {
            self.leaf_game.clone_from(&self.game);
            self.leaf_game.legal_actions(&mut self.leaf_actions);
            self.pending = Pending::Root;
            return Step::Evaluate;
        }
        while !self.is_done() {
            if let Some(edge) = self.descend() {
                self.pending = Pending::Leaf;
                match self.ahead.remove(&edge) {
                    None => return Step::Evaluate,
                    Some(evaluation) => self.receive(&evaluation),
                }
            }
        }
        Step::Done
    }

    pub(crate) fn is_waiting(&self) -> bool {
        self.pending != Pending::None
    }

    /// Returns the position to be evaluated.
    /// Panics when [`Search::select`] did not ask for one.
    #[must_use]
    pub fn leaf(&self) -> Leaf<'_, G> {
        assert!(self.pending != Pending::None, "select() has asked for no evaluation");
        Leaf { game: &self.leaf_game, legal_actions: &self.leaf_actions }
    }

    /// Takes the evaluation of [`Search::leaf`] into the tree.
    /// Panics when none was asked for, or when its policy has not one logit per legal action.
    pub fn receive(&mut self, evaluation: &Evaluation) {
        let pending = mem::replace(&mut self.pending, Pending::None);
        assert!(pending != Pending::None, "select() has asked for no evaluation");
        let logits = &evaluation.policy_logits;
        assert_eq!(logits.len(), self.leaf_actions.len(), "one logit per legal action");
        softmax(logits, &mut self.scratch);
        let player = self.leaf_game.player_to_act();
        let value = ValueSum::from_evaluation(evaluation, player);
        let has_room = self.has_room(logits.len());
        let (game, seed) = (&self.leaf_game, self.tie_seed);
        let ties = self.leaf_actions.iter().map(|&action| (mix(game.own_action_key(action) ^ seed) >> 32) as u32);
        if pending == Pending::Root {
            self.tree.add_node(player, value, &self.leaf_actions, &self.scratch, ties);
            self.tree.root_visits = 1;
            self.tree.root_value_sum = value;
            self.path.clear();
            let end = self.try_actions(0);
            self.tree.root_bounds = self.tree.bounds_from_edges(0);
            // Without simulations the result is the network's policy, unless it is proven.
            if (self.budget.simulations > 0 || self.tree.root_bounds.result().is_some())
                && let Some((edge, end)) = end
            {
                self.path.push(edge);
                self.back_up(end, true);
            }
            self.prepare_root();
            return;
        }
        let (mut value, mut is_news) = (value, false);
        if has_room {
            let node = self.tree.add_node(player, value, &self.leaf_actions, &self.scratch, ties);
            if let Some(&edge) = self.path.last() {
                self.tree.edges[edge as usize].child = node;
                let end = self.try_actions(node);
                let bounds = self.tree.bounds_from_edges(node);
                is_news = bounds != Bounds::OPEN;
                if let Some((edge, end)) = end {
                    self.path.push(edge);
                    value = end;
                } else {
                    self.tree.edges[edge as usize].bounds = bounds;
                }
            }
        }
        self.back_up(value, is_news);
        self.simulations += 1;
    }

    /// Tries the actions of a new node, the one at the leaf, that may end the game, and marks those that do. Returns the
    /// best of them, with its value, if it is better for the player to act than the evaluation, or if every action ends
    /// the game; of equals the one with the greatest tie.
    /// A search with few simulations else hardly sees that the opponent can end the game at once: it repeated positions
    /// when ahead, because the reply that made the third repetition had no visit.
    fn try_actions(&mut self, node: u32) -> Option<(u32, ValueSum)> {
        if self.settings.proofs == Proofs::Off {
            return None;
        }
        let node = self.tree.nodes[node as usize];
        let draw_value = self.draw_value();
        let mut best: Option<(u32, ValueSum)> = None;
        let mut most = (f32::NEG_INFINITY, 0);
        let mut ends = 0;
        let may_end = self.leaf_game.may_end();
        for (index, &action) in node.edges().zip(&self.leaf_actions) {
            if !may_end(action) {
                continue;
            }
            self.tried_game.clone_from(&self.leaf_game);
            self.tried_game.play(action);
            let Some(end) = end_value(&self.tried_game) else { continue };
            let bounds = self.bounds_of_end(&self.tried_game, end);
            let edge = &mut self.tree.edges[index];
            edge.set_end(end);
            edge.bounds = bounds;
            let worth = (end.for_player(node.player, 1, draw_value), self.tree.ties[index]);
            if best.is_none() || worth > most {
                (best, most) = (Some((index as u32, end)), worth);
            }
            ends += 1;
        }
        let is_certain = ends == self.leaf_actions.len();
        best.filter(|_| is_certain || most.0 > node.evaluation.for_player(node.player, 1, draw_value))
    }

    /// Searches to the end with one evaluator; see [`LeafBatch`] for many searches at once.
    pub fn run(&mut self, evaluator: &mut dyn Evaluator<G>) -> Result<(), EvalError> {
        LeafBatch::default().run(&mut [self], evaluator)
    }

    /// Returns the value of a draw for the first player, once the root is evaluated.
    fn draw_value(&self) -> f32 {
        self.settings.draw_value * sign(self.tree.nodes[0].player) as f32
    }

    fn is_done(&self) -> bool {
        self.simulations >= self.budget.simulations
            || self.tree.root_bounds.result().is_some()
            || self.simulations > 0 && self.stop.is_raised()
    }

    /// Prepares selection at the root, once its edges exist.
    fn prepare_root(&mut self) {
        let root = self.tree.nodes[0];
        let edges = &self.tree.edges[root.edges()];
        let Mode::Gumbel(settings) = &self.settings.mode else { return };
        let count = settings.max_considered_actions.count(self.budget.simulations, edges.len());
        let own = &mut self.gumbel_root;
        considered_visits(count, self.budget.simulations, &mut own.schedule);
        own.visits_before.clear();
        own.visits_before.extend(edges.iter().map(|edge| edge.visits));
        own.logits.clear();
        own.logits.extend(edges.iter().map(|e| e.prior.max(f32::MIN_POSITIVE).ln()));
        let greatest = own.logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        own.logits.iter_mut().for_each(|logit| *logit -= greatest);
        own.gumbel.clear();
        if !self.given_gumbel.is_empty() {
            assert_eq!(self.given_gumbel.len(), edges.len(), "one number per action");
            own.gumbel.extend_from_slice(&self.given_gumbel);
        } else if self.budget.add_noise {
            own.gumbel.extend(edges.iter().map(|_| gumbel(&mut self.rng)));
        } else {
            own.gumbel.resize(edges.len(), 0.0);
        }
    }

    /// Makes one simulation, or returns the edge to its leaf, which must be evaluated: [`Search::leaf_game`].
    fn descend(&mut self) -> Option<u32> {
        let (value, is_news) = match self.walk() {
            Reached::Known(value) => (value, false),
            Reached::Leaf(edge) => {
                let Some(end) = end_value(&self.leaf_game) else {
                    self.leaf_game.legal_actions(&mut self.leaf_actions);
                    return Some(edge);
                };
                let bounds = self.bounds_of_end(&self.leaf_game, end);
                let edge = &mut self.tree.edges[edge as usize];
                edge.set_end(end);
                edge.bounds = bounds;
                (end, bounds != Bounds::OPEN)
            }
        };
        self.back_up(value, is_news);
        self.simulations += 1;
        None
    }

    /// Walks down from the root; leaves the edges in `path` and the game at their end in `leaf_game`.
    fn walk(&mut self) -> Reached {
        self.path.clear();
        self.leaf_game.clone_from(&self.game);
        let mut node_index = 0;
        let (mut visits, mut value_sum) = (self.tree.root_visits, self.tree.root_value_sum);
        loop {
            let node = self.tree.nodes[node_index as usize];
            let choice = self.select_edge(node_index, value_sum, visits);
            let edge_index = node.edges_start + choice as u32;
            self.path.push(edge_index);
            let edge = &self.tree.edges[edge_index as usize];
            match (edge.child(), edge.bounds.result()) {
                (Child::End(end), _) => return Reached::Known(end),
                (_, Some(result)) => return Reached::Known(ValueSum::exact(result)),
                _ => {}
            }
            self.leaf_game.play(self.tree.actions[edge_index as usize]);
            let Child::Node(child) = edge.child() else { return Reached::Leaf(edge_index) };
            (visits, value_sum) = (edge.visits, edge.value_sum);
            node_index = child;
        }
    }

    /// Tells whether the tree has room for a node with so many actions.
    fn has_room(&self, actions: usize) -> bool {
        self.tree.edges.len() + actions <= self.settings.edges_max
    }

    /// Returns what the end of `game`, with this value, proves.
    fn bounds_of_end(&self, game: &G, end: ValueSum) -> Bounds {
        let is_proof = match self.settings.proofs {
            Proofs::Off => false,
            Proofs::Positional => game.outcome_is_positional(),
            Proofs::Path => true,
        };
        let result = end.lead as i8;
        if is_proof { Bounds { lower: result, upper: result, plies: 0 } } else { Bounds::OPEN }
    }

    /// Picks an edge of a node whose `visits`, its own evaluation included, sum to `value_sum`.
    fn select_edge(&mut self, node_index: u32, value_sum: ValueSum, visits: u32) -> usize {
        let draw_value = self.draw_value();
        let settings = match &self.settings.mode {
            Mode::Gumbel(settings) => settings,
            Mode::Puct(settings) => return self.puct_node(node_index, value_sum, visits).select(settings),
        };
        let node = self.tree.nodes[node_index as usize];
        let (edges, ties) = (&self.tree.edges[node.edges()], &self.tree.ties[node.edges()]);
        let (player, scratch) = (node.player, &mut self.scratch);
        let value = node.evaluation.for_player(player, 1, draw_value);
        let completion = Completion::new(edges, player, value, draw_value, settings, scratch);
        if node_index > 0 {
            return completion.select_interior(edges, ties, player, scratch);
        }
        let considered_visit = self.gumbel_root.schedule[self.simulations as usize];
        self.gumbel_root.select(edges, ties, player, considered_visit, &completion, scratch)
    }

    fn puct_node(&self, node_index: u32, value_sum: ValueSum, visits: u32) -> PuctNode<'_> {
        let node = self.tree.nodes[node_index as usize];
        let draw_value = self.draw_value();
        PuctNode {
            edges: &self.tree.edges[node.edges()],
            ties: &self.tree.ties[node.edges()],
            player: node.player,
            value: node.evaluation.for_player(node.player, 1, draw_value),
            mean: value_sum.for_player(node.player, visits, draw_value),
            deviation: self.tree.deviation(),
            draw_value,
        }
    }

    /// Adds one visit with `value` to the path, and the proofs that follow from a new one at its end.
    /// Once an edge is proven, all its visits count as the proven result; the change is passed up, so that the means above
    /// reflect it (as in synthesis and lc0).
    fn back_up(&mut self, value: ValueSum, mut is_news: bool) {
        let mut change = value;
        for depth in (0..self.path.len()).rev() {
            let edge = &mut self.tree.edges[self.path[depth] as usize];
            edge.visits += 1;
            match edge.bounds.result() {
                Some(result) => {
                    let exact = ValueSum::exact(result).scaled(f64::from(edge.visits));
                    change = exact - edge.value_sum;
                    edge.value_sum = exact;
                }
                None => edge.value_sum += change,
            }
            if is_news {
                let above = depth.checked_sub(1).map(|above| self.path[above] as usize);
                let node = match above.map(|edge| self.tree.edges[edge].child()) {
                    Some(Child::Node(node)) => node,
                    _ => 0,
                };
                let bounds = self.tree.bounds_from_edges(node);
                let known = match above {
                    Some(edge) => &mut self.tree.edges[edge].bounds,
                    None => &mut self.tree.root_bounds,
                };
                is_news = *known != bounds;
                *known = bounds;
            }
        }
        self.tree.root_visits += 1;
        self.tree.root_value_sum += change;
    }
}

/// Returns the value of a game that is over, or `None` while it goes on.
fn end_value<G: Game>(game: &G) -> Option<ValueSum> {
    game.outcome().map(ValueSum::from_outcome)
}

/// Writes `softmax(logits)` to `probabilities`.
fn softmax(logits: &[f32], probabilities: &mut Vec<f32>) {
    let greatest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    probabilities.clear();
    probabilities.extend(logits.iter().map(|logit| (logit - greatest).exp()));
    // In double precision, so that the order of the actions does not show in single precision.
    let sum = probabilities.iter().copied().map(f64::from).sum::<f64>() as f32;
    for probability in probabilities {
        *probability /= sum;
    }
}

fn gumbel(rng: &mut ChaCha8Rng) -> f32 {
    // In (0, 1): neither logarithm meets a 0.
    let uniform = (rng.random::<u32>() as f64 + 0.5) / 4_294_967_296.0;
    -(-uniform.ln()).ln() as f32
}

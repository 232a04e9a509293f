//! Random games for the tests: small graphs with cycles, and ends by position or by history.

use std::sync::Arc;

use latrunculi_engine::{EndReason, Outcome, Player};
use latrunculi_search::Game;
use latrunculi_search::alphabeta::Heuristic;
use latrunculi_search::mix;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// A walk on a random graph of positions.
///
/// Each position belongs to a player, so turns have any number of actions. With `repetition_draws` the
/// third visit to a position draws; the walk ends in a draw after `plies_max` actions in any case.
#[derive(Clone, Debug)]
pub(crate) struct GraphGame {
    pub(crate) graph: Arc<Graph>,
    pub(crate) position: usize,
    pub(crate) history: Vec<usize>,
    /// Whether it denies that the history matters: the entries of the search's table are then unsound.
    pub(crate) forgets: bool,
}

#[derive(Debug)]
pub(crate) struct Graph {
    pub(crate) players: Vec<Player>,
    pub(crate) ends: Vec<Option<i32>>,
    pub(crate) evaluations: Vec<i32>,
    pub(crate) edges: Vec<Vec<usize>>,
    /// Positions whose incoming actions count as captures.
    pub(crate) tactical: Vec<bool>,
    pub(crate) plies_max: usize,
    pub(crate) repetition_draws: bool,
}

impl GraphGame {
    /// Returns a graph in `layers` layers of `width` positions; edges lead a layer or two down, so that
    /// the same position is reached by many paths and at different depths.
    pub(crate) fn layered(rng: &mut ChaCha8Rng, layers: usize, width: usize) -> GraphGame {
        let count = layers * width;
        let mut graph = Graph::random(rng, count);
        for from in 0..count {
            let layer = from / width;
            let branches = rng.random_range(1..=4);
            for _ in 0..branches {
                let to_layer = (layer + rng.random_range(1..=2)).min(layers - 1);
                graph.edges[from].push(to_layer * width + rng.random_range(0..width));
            }
            let is_last = layer == layers - 1;
            if is_last || (layer > 0 && rng.random_bool(0.1)) {
                graph.ends[from] = Some(rng.random_range(-1..=1));
            }
            graph.tactical[from] = rng.random_bool(0.2);
        }
        GraphGame { graph: Arc::new(graph), position: 0, history: Vec::new(), forgets: false }
    }

    /// Returns a graph with cycles, in which the third visit to a position draws.
    pub(crate) fn cyclic(rng: &mut ChaCha8Rng, count: usize, plies_max: usize) -> GraphGame {
        let mut graph = Graph::random(rng, count);
        for from in 0..count {
            let branches = rng.random_range(2..=3);
            graph.edges[from] = (0..branches).map(|_| rng.random_range(0..count)).collect();
            if from > 0 && rng.random_bool(0.15) {
                graph.ends[from] = Some(rng.random_range(-1..=1));
            }
        }
        graph.plies_max = plies_max;
        graph.repetition_draws = true;
        GraphGame { graph: Arc::new(graph), position: 0, history: vec![0], forgets: false }
    }

    fn visits(&self) -> usize {
        self.history.iter().filter(|&&position| position == self.position).count()
    }

    fn end_by_history(&self) -> bool {
        self.history.len() > self.graph.plies_max || (self.graph.repetition_draws && self.visits() >= 3)
    }
}

impl Graph {
    fn random(rng: &mut ChaCha8Rng, count: usize) -> Graph {
        let players = (0..count).map(|_| Player::BOTH[rng.random_range(0..2)]).collect();
        Graph {
            players,
            ends: vec![None; count],
            evaluations: (0..count).map(|_| rng.random_range(-50..=50)).collect(),
            edges: vec![Vec::new(); count],
            tactical: vec![false; count],
            plies_max: usize::MAX,
            repetition_draws: false,
        }
    }
}

impl Game for GraphGame {
    type Action = usize;

    fn player_to_act(&self) -> Player {
        self.graph.players[self.position]
    }

    fn outcome(&self) -> Option<Outcome> {
        if let Some(end) = self.graph.ends[self.position] {
            let winner = match end {
                1 => Some(Player::First),
                -1 => Some(Player::Second),
                _ => None,
            };
            return Some(Outcome { winner, reason: EndReason::DuxCaptured });
        }
        let reason = EndReason::Repetition;
        self.end_by_history().then_some(Outcome { winner: None, reason })
    }

    fn legal_actions(&self, actions: &mut Vec<usize>) {
        actions.clear();
        actions.extend(0..self.graph.edges[self.position].len());
    }

    fn play(&mut self, action: usize) {
        self.position = self.graph.edges[self.position][action];
        if self.graph.repetition_draws {
            self.history.push(self.position);
        }
    }

    fn position_key(&self) -> u64 {
        mix(self.position as u64)
    }

    fn full_key(&self) -> u64 {
        let history = if self.forgets { &[] } else { &*self.history };
        history.iter().fold(self.position_key(), |key, &position| mix(key ^ position as u64))
    }

    fn own_position_key(&self) -> u64 {
        self.position_key()
    }

    fn own_action_key(&self, action: usize) -> u64 {
        action as u64
    }

    fn outcome_is_positional(&self) -> bool {
        self.graph.ends[self.position].is_some() || self.forgets && self.end_by_history()
    }

    fn history_free_plies(&self) -> u32 {
        if !self.graph.repetition_draws || self.forgets {
            return u32::MAX;
        }
        let left = (self.graph.plies_max + 1).saturating_sub(self.history.len()) as u32;
        let mut counts = vec![0u32; self.graph.players.len()];
        self.history.iter().for_each(|&position| counts[position] += 1);
        // A position seen twice may be the next one; others need as many actions as visits are missing.
        let greatest = counts.iter().copied().max().unwrap_or(0);
        left.min(3u32.saturating_sub(greatest)).saturating_sub(1)
    }
}

/// Evaluates by the numbers in the graph; actions into `tactical` positions are captures.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GraphHeuristic;

impl Heuristic<GraphGame> for GraphHeuristic {
    fn evaluate(&self, game: &GraphGame) -> i32 {
        game.graph.evaluations[game.position]
    }

    fn capture_gain(&self, game: &GraphGame, action: usize) -> i32 {
        let target = game.graph.edges[game.position][action];
        if game.graph.tactical[target] { 10 + target as i32 % 7 } else { 0 }
    }

    fn action_index(&self, _game: &GraphGame, action: usize) -> usize {
        action
    }

    fn action_index_count(&self) -> usize {
        4
    }
}

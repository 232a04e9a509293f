//! The memory of a search: nodes and edges in two flat arrays, and the sums of results in them.

use std::ops::{Add, AddAssign, Sub};

use latrunculi_engine::{Outcome, Player};

use crate::evaluator::{Evaluation, win_draw_loss};

/// An edge that has no node (yet).
pub(crate) const NO_NODE: u32 = u32::MAX;
/// An edge that ends the game: the first player wins, draw, the first player loses.
const END_WIN: u32 = u32::MAX - 1;
const END_DRAW: u32 = u32::MAX - 2;
const END_LOSS: u32 = u32::MAX - 3;

pub(crate) enum Child {
    /// Not evaluated, or evaluated and not kept.
    None,
    /// The end of the game, with its value.
    End(ValueSum),
    /// A position with edges of its own.
    Node(u32),
}

/// Proven bounds of a position's result, from the first player's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) lower: i8,
    pub(crate) upper: i8,
    /// Actions to the end under best play once the bounds meet: shortest win, longest loss.
    pub(crate) plies: u16,
}

impl Bounds {
    pub(crate) const OPEN: Bounds = Bounds { lower: -1, upper: 1, plies: 0 };

    /// Returns the proven result, if it is.
    #[inline]
    pub(crate) fn result(self) -> Option<i8> {
        (self.lower == self.upper).then_some(self.lower)
    }

    /// Returns the least result that is proven for `player`.
    pub(crate) fn guarantee(self, player: Player) -> i8 {
        match player {
            Player::First => self.lower,
            Player::Second => -self.upper,
        }
    }

    /// Tells whether the position is proven lost for `player`.
    #[inline]
    pub(crate) fn is_lost_for(self, player: Player) -> bool {
        match player {
            Player::First => self.upper == -1,
            Player::Second => self.lower == 1,
        }
    }
}

/// One legal action of a node, with its statistics.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    /// Probability by the evaluator's policy; a node's priors sum to 1.
    pub(crate) prior: f32,
    pub(crate) visits: u32,
    /// Sum over the visits.
    pub(crate) value_sum: ValueSum,
    pub(crate) child: u32,
    pub(crate) bounds: Bounds,
}

impl Edge {
    pub(crate) fn child(&self) -> Child {
        match self.child {
            NO_NODE => Child::None,
            END_WIN => Child::End(ValueSum::exact(1)),
            END_DRAW => Child::End(ValueSum::exact(0)),
            END_LOSS => Child::End(ValueSum::exact(-1)),
            node => Child::Node(node),
        }
    }

    pub(crate) fn set_end(&mut self, value: ValueSum) {
        self.child = if value.lead > 0.0 {
            END_WIN
        } else if value.lead < 0.0 {
            END_LOSS
        } else {
            END_DRAW
        };
    }

    /// Returns the mean over the visits for `player`, or the value of an end of the game that was found without a visit;
    /// `None` for any other action without a visit.
    #[inline]
    pub(crate) fn known_q(&self, player: Player, draw_value: f32) -> Option<f32> {
        match self.child() {
            _ if self.visits > 0 => Some(self.q(player, draw_value)),
            Child::End(end) => Some(end.for_player(player, 1, draw_value)),
            _ => None,
        }
    }

    /// Returns the mean over the visits for `player`. There must be a visit.
    #[inline]
    pub(crate) fn q(&self, player: Player, draw_value: f32) -> f32 {
        debug_assert!(self.visits > 0);
        self.value_sum.for_player(player, self.visits, draw_value)
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Node {
    pub(crate) edges_start: u32,
    pub(crate) edges_count: u32,
    pub(crate) player: Player,
    /// The evaluator's value, counted as one visit.
    pub(crate) evaluation: ValueSum,
}

impl Node {
    #[inline]
    pub(crate) fn edges(&self) -> std::ops::Range<usize> {
        let start = self.edges_start as usize;
        start..start + self.edges_count as usize
    }
}

/// The arena: node 0 is the root once it is evaluated.
#[derive(Clone, Debug)]
pub(crate) struct Tree<A> {
    pub(crate) nodes: Vec<Node>,
    pub(crate) edges: Vec<Edge>,
    /// The action of each edge, apart because selection does not read it.
    pub(crate) actions: Vec<A>,
    /// A number per edge that breaks ties between equal edges: the greater wins.
    pub(crate) ties: Vec<u32>,
    /// Visits of the root, its own evaluation included.
    pub(crate) root_visits: u32,
    pub(crate) root_value_sum: ValueSum,
    pub(crate) root_bounds: Bounds,
    /// Sum of the leads of the nodes' evaluations, and of their squares.
    lead_sums: [f64; 2],
}

impl<A: Copy> Tree<A> {
    pub(crate) fn new() -> Tree<A> {
        Tree {
            nodes: Vec::new(),
            edges: Vec::new(),
            actions: Vec::new(),
            ties: Vec::new(),
            root_visits: 0,
            root_value_sum: ValueSum::default(),
            root_bounds: Bounds::OPEN,
            lead_sums: [0.0; 2],
        }
    }

    /// Empties the tree and keeps its memory.
    pub(crate) fn clear(&mut self) {
        self.nodes.clear();
        self.edges.clear();
        self.actions.clear();
        self.ties.clear();
        self.root_visits = 0;
        self.root_value_sum = ValueSum::default();
        self.root_bounds = Bounds::OPEN;
        self.lead_sums = [0.0; 2];
    }

    fn add(&mut self, node: Node) {
        self.nodes.push(node);
        let lead = node.evaluation.lead;
        self.lead_sums = [self.lead_sums[0] + lead, self.lead_sums[1] + lead * lead];
    }

    /// Returns the standard deviation of the nodes' evaluations, `W - L`; 0 of a single node.
    pub(crate) fn deviation(&self) -> f32 {
        let [mean, mean_square] = self.lead_sums.map(|sum| sum / self.nodes.len() as f64);
        (mean_square - mean * mean).max(0.0).sqrt() as f32
    }

    /// Adds an evaluated position and returns its index; `priors` and `ties` have one entry per action.
    pub(crate) fn add_node(
        &mut self,
        player: Player,
        evaluation: ValueSum,
        actions: &[A],
        priors: &[f32],
        ties: impl Iterator<Item = u32>,
    ) -> u32 {
        let index = self.nodes.len() as u32;
        let edges_start = self.edges.len() as u32;
        let edges_count = actions.len() as u32;
        self.add(Node { edges_start, edges_count, player, evaluation });
        self.actions.extend_from_slice(actions);
        self.ties.extend(ties);
        self.edges.extend(priors.iter().map(|&prior| Edge {
            prior,
            visits: 0,
            value_sum: ValueSum::default(),
            child: NO_NODE,
            bounds: Bounds::OPEN,
        }));
        index
    }

    /// Returns the bounds that follow for a node from those of its edges.
    /// Source: lc0, `MaybeSetBounds` (src/search/classic/search.cc); Winands, Björnsson and Saito 2008.
    pub(crate) fn bounds_from_edges(&self, node_index: u32) -> Bounds {
        let node = &self.nodes[node_index as usize];
        let edges = &self.edges[node.edges()];
        let is_first = node.player == Player::First;
        let start = if is_first { -1 } else { 1 };
        let (mut lower, mut upper) = (start, start);
        for edge in edges {
            if is_first {
                lower = lower.max(edge.bounds.lower);
                upper = upper.max(edge.bounds.upper);
            } else {
                lower = lower.min(edge.bounds.lower);
                upper = upper.min(edge.bounds.upper);
            }
        }
        let mut bounds = Bounds { lower, upper, plies: 0 };
        if let Some(result) = bounds.result() {
            let mover_wins = result == if is_first { 1 } else { -1 };
            let plies = edges
                .iter()
                .filter(|edge| edge.bounds.result() == Some(result))
                .map(|edge| edge.bounds.plies.saturating_add(1));
            bounds.plies = if mover_wins { plies.min() } else { plies.max() }.unwrap_or(0);
        }
        bounds
    }

    /// Fills `into` with the part of this tree below the edge `edge_index` of the root.
    /// Leaves `into` empty when that edge has no node.
    pub(crate) fn copy_subtree(&self, edge_index: usize, into: &mut Tree<A>) {
        into.clear();
        let edge = &self.edges[edge_index];
        let Child::Node(top) = edge.child() else { return };
        into.root_visits = edge.visits;
        into.root_value_sum = edge.value_sum;
        into.root_bounds = edge.bounds;
        self.copy_node(top, into);
        // Breadth first: `into.edges` serves as its own queue.
        let mut next = 0;
        while next < into.edges.len() {
            if let Child::Node(node) = into.edges[next].child() {
                into.edges[next].child = self.copy_node(node, into);
            }
            next += 1;
        }
    }

    fn copy_node(&self, node_index: u32, into: &mut Tree<A>) -> u32 {
        let node = self.nodes[node_index as usize];
        let index = into.nodes.len() as u32;
        into.add(Node { edges_start: into.edges.len() as u32, ..node });
        into.edges.extend_from_slice(&self.edges[node.edges()]);
        into.actions.extend_from_slice(&self.actions[node.edges()]);
        into.ties.extend_from_slice(&self.ties[node.edges()]);
        index
    }
}

/// A sum of expected results, or a single one.
///
/// Kept from the first player's view, so that no sign depends on the depth or on who moved;
/// [`ValueSum::for_player`] converts it where a decision is made.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ValueSum {
    /// Probability that the first player wins less that he loses.
    pub(crate) lead: f64,
    /// Probability of a draw.
    pub(crate) draw: f64,
}

impl ValueSum {
    /// Converts an evaluation given for `player`.
    pub(crate) fn from_evaluation(evaluation: &Evaluation, player: Player) -> ValueSum {
        let [win, draw, loss] = evaluation.win_draw_loss;
        ValueSum { lead: f64::from(win - loss) * sign(player), draw: f64::from(draw) }
    }

    pub(crate) fn from_outcome(outcome: Outcome) -> ValueSum {
        ValueSum::exact(outcome.winner.map_or(0, |winner| sign(winner) as i8))
    }

    /// Returns the value of a certain result: 1 a win of the first player, 0 a draw, -1 a loss.
    pub(crate) fn exact(result: i8) -> ValueSum {
        ValueSum { lead: f64::from(result), draw: if result == 0 { 1.0 } else { 0.0 } }
    }

    /// Returns this times `factor`.
    pub(crate) fn scaled(self, factor: f64) -> ValueSum {
        ValueSum { lead: self.lead * factor, draw: self.draw * factor }
    }

    /// Returns the mean over `count` results for `player` as probabilities of win, draw and loss.
    pub(crate) fn win_draw_loss(self, player: Player, count: u32) -> [f32; 3] {
        let count = f64::from(count);
        win_draw_loss(self.lead * sign(player) / count, self.draw / count)
    }

    /// Returns the mean over `count` results for `player`, for the first one `W - L + draw_value * D`: the second player has
    /// the negative value of a draw.
    #[inline]
    pub(crate) fn for_player(self, player: Player, count: u32, draw_value: f32) -> f32 {
        let first = self.lead + self.draw * f64::from(draw_value);
        // Zero has no sign.
        ((first * sign(player) + 0.0) / f64::from(count)) as f32
    }
}

/// Returns 1 for the first player, -1 for the second.
#[inline]
pub(super) fn sign(player: Player) -> f64 {
    match player {
        Player::First => 1.0,
        Player::Second => -1.0,
    }
}

impl Add for ValueSum {
    type Output = ValueSum;
    fn add(self, other: ValueSum) -> ValueSum {
        ValueSum { lead: self.lead + other.lead, draw: self.draw + other.draw }
    }
}

impl Sub for ValueSum {
    type Output = ValueSum;
    fn sub(self, other: ValueSum) -> ValueSum {
        ValueSum { lead: self.lead - other.lead, draw: self.draw - other.draw }
    }
}

impl AddAssign for ValueSum {
    fn add_assign(&mut self, other: ValueSum) {
        *self = *self + other;
    }
}

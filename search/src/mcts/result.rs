//! The result of a search: how it is read from the tree.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use latrunculi_engine::Player;

use super::gumbel::Completion;
use super::tree::{Child, Edge, ValueSum};
use super::{Mode, Proofs, Search};
use crate::game::Game;

/// The result of a search at its root.
/// The vectors have one entry per legal action of the root, in `legal_actions` order. Values are for the
/// player to act at the root, in `[-1, 1]`.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchResult<A> {
    /// The legal actions.
    pub actions: Vec<A>,
    /// Visits in the tree, those of a kept subtree included.
    pub visits: Vec<u32>,
    /// The policy target, sums to 1: completed-Q improved policy, or pruned visits in PUCT mode.
    pub policy: Vec<f32>,
    /// The evaluator's policy, sums to 1, without noise.
    pub prior: Vec<f32>,
    /// Mean search value of each action, `W - L` and the weighted terms of the settings. Without a visit it is the value of
    /// the end, for an action that was found to end the game, and else the value assumed (`v_mix`, or the mean of the root).
    pub q: Vec<f32>,
    /// The chosen action, as an index into `actions`.
    pub best: usize,
    /// Mean over all visits of the root, or the exact value when it is proven.
    pub value: f32,
    /// The same as probabilities of win, draw and loss; sums to 1.
    pub win_draw_loss: [f32; 3],
    /// The expected result of playing by `policy`: the policy-weighted mean over the visited actions and the known ends, or
    /// the proven result. The value target of training: a search of few simulations spends half of them on actions that it
    /// then rejects, so that the mean over all visits is too low for the player to act.
    pub policy_win_draw_loss: [f32; 3],
    /// The proven result for the player to act, if there is one.
    pub proven: Option<Proven>,
    /// Simulations made by this search.
    pub simulations: u32,
    /// The principal variation, the chosen action first.
    pub principal_variation: Vec<A>,
}

// Not derived: that would require a default action.
impl<A> Default for SearchResult<A> {
    fn default() -> SearchResult<A> {
        SearchResult {
            actions: Vec::new(),
            visits: Vec::new(),
            policy: Vec::new(),
            prior: Vec::new(),
            q: Vec::new(),
            best: 0,
            value: 0.0,
            win_draw_loss: [0.0; 3],
            policy_win_draw_loss: [0.0; 3],
            proven: None,
            simulations: 0,
            principal_variation: Vec::new(),
        }
    }
}

/// A result that no play can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proven {
    /// 1 the player to act wins, 0 draw, -1 the player to act loses.
    pub result: i8,
    /// Actions to the end: the shortest win found, the longest loss.
    pub plies: u16,
}

impl<G: Game> Search<G> {
    /// Returns the result of the search.
    /// Panics when the root has not been evaluated yet.
    #[must_use]
    pub fn result(&self) -> SearchResult<G::Action> {
        let mut result = SearchResult::default();
        self.write_result(&mut result);
        result
    }

    /// Writes the result of the search to `result`, reusing its memory.
    /// Panics when the root has not been evaluated yet.
    pub fn write_result(&self, result: &mut SearchResult<G::Action>) {
        assert!(!self.tree.nodes.is_empty(), "the root has been evaluated");
        let root = self.tree.nodes[0];
        let player = root.player;
        let (edges, ties) = (&self.tree.edges[root.edges()], &self.tree.ties[root.edges()]);
        result.actions.clear();
        result.actions.extend_from_slice(&self.tree.actions[root.edges()]);
        result.visits.clear();
        result.visits.extend(edges.iter().map(|edge| edge.visits));
        result.prior.clear();
        result.prior.extend(edges.iter().map(|edge| edge.prior));
        result.simulations = self.simulations;
        let draw_value = self.draw_value();

        let bounds = self.tree.root_bounds;
        result.proven = bounds
            .result()
            .map(|first| Proven { result: if player == Player::First { first } else { -first }, plies: bounds.plies });
        let mean = self.tree.root_value_sum.for_player(player, self.tree.root_visits, 0.0);
        let is_safe = bounds.guarantee(player) == 0 && mean < 0.0;
        let is_held = bounds.guarantee(player.opponent()) == 0 && mean > 0.0;
        let (mean_sum, count) = match bounds.result() {
            Some(first) => (ValueSum::exact(first), 1),
            None if is_safe || is_held => (ValueSum::exact(0), 1),
            None => (self.tree.root_value_sum, self.tree.root_visits),
        };
        result.value = mean_sum.for_player(player, count, draw_value);
        result.win_draw_loss = mean_sum.win_draw_loss(player, count);

        match &self.settings.mode {
            Mode::Gumbel(settings) => {
                let value = root.evaluation.for_player(player, 1, draw_value);
                let completion = Completion::new(edges, player, value, draw_value, settings, &mut result.q);
                let ends_are_tried = self.settings.proofs != Proofs::Off;
                result.best = self.gumbel_root.choose(edges, ties, player, ends_are_tried, &completion, &result.q);
                result.policy.clear();
                result.policy.extend_from_slice(&result.q);
                completion.improve(edges, &mut result.policy);
            }
            Mode::Puct(_) => {
                let node = self.puct_node(0, self.tree.root_value_sum, self.tree.root_visits);
                node.target(&mut result.policy);
                result.q.clear();
                result.q.extend(edges.iter().map(|edge| edge.known_q(player, draw_value).unwrap_or(node.mean)));
                let rank = |&index: &usize| {
                    let edge = &edges[index];
                    let is_open = !edge.bounds.is_lost_for(player);
                    (is_open, edge.visits, result.q[index], edge.prior, ties[index])
                };
                result.best = first_best(0..edges.len(), rank).unwrap_or(0);
            }
        }
        if self.budget.simulations == 0 {
            // The network's policy alone, whatever ends were found.
            result.policy.clone_from(&result.prior);
            let rank = |&index: &usize| (!edges[index].bounds.is_lost_for(player), result.prior[index], ties[index]);
            result.best = first_best(0..edges.len(), rank).unwrap_or(0);
        }
        self.apply_proofs(result);
        let is_exact = bounds.result().is_some() || is_safe || is_held;
        result.policy_win_draw_loss = match value_of_policy(edges, &result.policy) {
            Some(value) if !is_exact => value.win_draw_loss(player, 1),
            _ => result.win_draw_loss,
        };
        self.write_variation(result.best, &mut result.principal_variation);
    }

    /// Makes choice and policy follow the proofs: the policy of a proven root keeps only actions that keep its result,
    /// and an action proven lost gets no probability where there is an alternative.
    fn apply_proofs(&self, result: &mut SearchResult<G::Action>) {
        let root = self.tree.nodes[0];
        let edges = &self.tree.edges[root.edges()];
        if let Some(proven) = result.proven {
            let best = self.best_edge(0) - root.edges().start;
            let chosen = edges[result.best].bounds;
            // A draw is kept by the searched choice as well as by any other action that keeps it.
            let keeps_draw = proven.result == 0 && chosen.guarantee(root.player) == 0;
            if !keeps_draw {
                result.best = best;
            }
        }
        let keeps = |index: usize| match result.proven {
            Some(proven) => edges[index].bounds.guarantee(root.player) >= proven.result,
            None => !edges[index].bounds.is_lost_for(root.player),
        };
        let kept: f32 = (0..edges.len()).filter(|&i| keeps(i)).map(|i| result.policy[i]).sum();
        for (index, probability) in result.policy.iter_mut().enumerate() {
            *probability = match (keeps(index), kept > 0.0) {
                (true, true) => *probability / kept,
                (false, true) => 0.0,
                (_, false) => f32::from(u8::from(index == result.best)),
            };
        }
    }

    /// Returns the principal variation after the root's action at `index`, that action first.
    /// Panics when the root has not been evaluated yet or has no such action.
    #[must_use]
    pub fn variation(&self, index: usize) -> Vec<G::Action> {
        let mut variation = Vec::new();
        self.write_variation(index, &mut variation);
        variation
    }

    fn write_variation(&self, index: usize, variation: &mut Vec<G::Action>) {
        variation.clear();
        let mut edge = self.tree.nodes[0].edges().start + index;
        while self.tree.edges[edge].visits > 0 || variation.is_empty() {
            variation.push(self.tree.actions[edge]);
            match self.tree.edges[edge].child() {
                Child::Node(node) => edge = self.best_edge(node),
                _ => break,
            }
        }
    }

    /// Returns the best edge of a node by proofs, then by visits, value and prior.
    fn best_edge(&self, node_index: u32) -> usize {
        let node = self.tree.nodes[node_index as usize];
        let proven = self.tree.bounds_from_edges(node_index).result();
        let rank = |&index: &usize| {
            let edge = &self.tree.edges[index];
            let plies = i32::from(edge.bounds.plies);
            let guarantee = edge.bounds.guarantee(node.player);
            let (class, plies) = match proven {
                // The shortest win, the longest loss.
                Some(0) => (guarantee.min(0), 0),
                Some(_) => (guarantee, -plies * i32::from(guarantee)),
                None => (-i8::from(edge.bounds.is_lost_for(node.player)), 0),
            };
            let q = match edge.visits {
                0 => f32::NEG_INFINITY,
                _ => edge.q(node.player, self.draw_value()),
            };
            (class, plies, edge.visits, q, edge.prior, self.tree.ties[index])
        };
        first_best(node.edges(), rank).unwrap_or(node.edges().start)
    }
}

fn first_best<R: PartialOrd>(indices: impl Iterator<Item = usize>, rank: impl Fn(&usize) -> R) -> Option<usize> {
    let mut best: Option<(R, usize)> = None;
    for index in indices {
        let own = rank(&index);
        if best.as_ref().is_none_or(|(rank, _)| own > *rank) {
            best = Some((own, index));
        }
    }
    best.map(|(_, index)| index)
}

/// Returns the expected result of playing by `policy`: the policy-weighted mean over the visited actions and the known ends;
/// `None` before a visit.
fn value_of_policy(edges: &[Edge], policy: &[f32]) -> Option<ValueSum> {
    let (mut sum, mut weights) = (ValueSum::default(), 0.0);
    for (edge, &probability) in edges.iter().zip(policy) {
        let value = match (edge.visits, edge.child()) {
            (0, Child::End(end)) => end,
            (0, _) => continue,
            (visits, _) => edge.value_sum.scaled(1.0 / f64::from(visits)),
        };
        let weight = f64::from(probability);
        sum += value.scaled(weight);
        weights += weight;
    }
    if edges.iter().all(|edge| edge.visits == 0) {
        return None;
    }
    (weights > 0.0).then(|| sum.scaled(1.0 / weights))
}

impl<A: Copy> SearchResult<A> {
    /// Returns the chosen action.
    /// Panics when the result is empty, that is, not written by a search.
    #[must_use]
    pub fn best_action(&self) -> A {
        self.actions[self.best]
    }

    /// Draws an action index in proportion to `policy^(1 / temperature)`.
    /// Returns the chosen action's index when `temperature` is 0 or the root is proven.
    #[must_use]
    pub fn sample_by_policy(&self, temperature: f32, rng: &mut ChaCha8Rng) -> usize {
        let weights: Vec<f64> = self.policy.iter().map(|&probability| f64::from(probability)).collect();
        let greatest = weights.iter().copied().fold(0.0, f64::max);
        if temperature <= 0.0 || greatest <= 0.0 || self.proven.is_some() {
            return self.best;
        }
        let exponent = 1.0 / f64::from(temperature);
        let powers: Vec<f64> = weights.iter().map(|w| (w / greatest).powf(exponent)).collect();
        let mut rest = rng.random::<f64>() * powers.iter().sum::<f64>();
        for (index, power) in powers.iter().enumerate() {
            rest -= power;
            if rest < 0.0 {
                return index;
            }
        }
        self.best
    }
}

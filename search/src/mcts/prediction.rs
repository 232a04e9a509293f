//! Leaves that a search will probably want next, evaluated in one batch with the leaf that it waits for.
//! A prediction makes the next simulations with the mean value above each leaf in place of an evaluation, and takes them back.
//! The search finds the same with and without: an evaluation that was made ahead is used when its leaf is reached, if it is.

use super::tree::ValueSum;
use super::{Leaf, Pending, Reached, Search, end_value};
use crate::evaluator::Evaluation;
use crate::game::Game;

/// Simulations that a prediction makes for each leaf that it is asked for: some end where no evaluation is needed.
const SIMULATIONS_PER_LEAF: usize = 2;

/// A leaf that a search will probably reach.
#[derive(Clone, Debug)]
pub(super) struct PredictedLeaf<G: Game> {
    edge: u32,
    game: G,
    legal_actions: Vec<G::Action>,
}

impl<G: Game> PredictedLeaf<G> {
    pub(super) fn leaf(&self) -> Leaf<'_, G> {
        Leaf { game: &self.game, legal_actions: &self.legal_actions }
    }
}

impl<G: Game> Search<G> {
    /// Returns up to `count` leaves that will probably be reached after the one that the search waits for.
    pub(super) fn predict(&mut self, count: usize) -> Vec<PredictedLeaf<G>> {
        let mut predicted: Vec<PredictedLeaf<G>> = Vec::new();
        if self.pending != Pending::Leaf || count == 0 || !self.has_room(self.leaf_actions.len()) {
            return predicted;
        }
        let (path, leaf_game) = (self.path.clone(), self.leaf_game.clone());
        let before = (self.tree.root_visits, self.tree.root_value_sum, self.simulations);
        let mut changed = Vec::new();
        self.visit_for_now(self.value_above(), &mut changed);
        for _ in 0..SIMULATIONS_PER_LEAF * count {
            if predicted.len() == count || self.simulations >= self.budget.simulations {
                break;
            }
            let value = match self.walk() {
                Reached::Known(value) => value,
                Reached::Leaf(edge) if self.tree.edges[edge as usize].visits > 0 || self.ahead.contains_key(&edge) => {
                    self.value_above()
                }
                Reached::Leaf(edge) => end_value(&self.leaf_game).unwrap_or_else(|| {
                    let mut legal_actions = Vec::new();
                    self.leaf_game.legal_actions(&mut legal_actions);
                    predicted.push(PredictedLeaf { edge, game: self.leaf_game.clone(), legal_actions });
                    self.value_above()
                }),
            };
            self.visit_for_now(value, &mut changed);
        }
        for (edge, visits, value_sum) in changed.into_iter().rev() {
            let edge = &mut self.tree.edges[edge as usize];
            (edge.visits, edge.value_sum) = (visits, value_sum);
        }
        (self.tree.root_visits, self.tree.root_value_sum, self.simulations) = before;
        (self.path, self.leaf_game) = (path, leaf_game);
        predicted
    }

    /// Keeps the evaluations of predicted leaves for when the search reaches them.
    pub(super) fn receive_ahead(&mut self, leaves: &[PredictedLeaf<G>], evaluations: &[Evaluation]) {
        self.ahead.extend(leaves.iter().map(|leaf| leaf.edge).zip(evaluations.iter().cloned()));
    }

    /// Returns the mean value of the position above the end of the path.
    fn value_above(&self) -> ValueSum {
        let (value_sum, visits) = match self.path.len().checked_sub(2) {
            None => (self.tree.root_value_sum, self.tree.root_visits),
            Some(above) => {
                let edge = &self.tree.edges[self.path[above] as usize];
                (edge.value_sum, edge.visits)
            }
        };
        value_sum.scaled(1.0 / f64::from(visits))
    }

    /// Adds a visit to the path, and what it changes to `changed`.
    fn visit_for_now(&mut self, value: ValueSum, changed: &mut Vec<(u32, u32, ValueSum)>) {
        for &index in &self.path {
            let edge = &mut self.tree.edges[index as usize];
            changed.push((index, edge.visits, edge.value_sum));
            edge.visits += 1;
            edge.value_sum += value;
        }
        self.tree.root_visits += 1;
        self.tree.root_value_sum += value;
        self.simulations += 1;
    }
}

//! Gumbel MuZero's planning: sequential halving at the root, completed values everywhere.
//! Source: Danihelka, Guez, Schrittwieser and Silver 2022, "Policy improvement by planning with Gumbel";
//! equations are numbered as there. Equal to mctx (`seq_halving.py`, `qtransforms.py`,
//! `action_selection.py`) up to rounding; `tests/search/golden/` holds mctx's results.

use latrunculi_engine::Player;

use super::settings::{GumbelSettings, RANGE_MIN};
use super::tree::{Child, Edge};

/// The least score that an action considered can have, as in mctx `score_considered`.
const SCORE_MIN: f32 = -1e9;

/// Replaces the content of `visits` by the schedule of sequential halving, one visit count per simulation.
/// Simulation `i` goes to the best action among those with `visits[i]` visits so far. `considered`
/// actions are halved until two are left, each phase visiting its survivors equally often.
/// Source: Danihelka et al. 2022, section 3.3 and figure 1; Karnin et al. 2013 for the halving; mctx,
/// `get_sequence_of_considered_visits`.
pub fn considered_visits(considered: usize, simulations: u32, visits: &mut Vec<u32>) {
    visits.clear();
    let total = simulations as usize;
    if considered <= 1 {
        visits.extend(0..simulations);
        return;
    }
    // ceil(log2(considered)) phases.
    let phases = considered.next_power_of_two().trailing_zeros() as usize;
    let mut survivors = considered;
    let mut done = 0;
    while visits.len() < total {
        let extra = (total / (phases * survivors)).max(1);
        for _ in 0..extra {
            visits.extend(std::iter::repeat_n(done, survivors));
            done += 1;
        }
        survivors = (survivors / 2).max(2);
    }
    visits.truncate(total);
}

/// The completed values of a node's edges and their scale.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Completion {
    /// `v_mix`: the value given to actions whose value is not known, for the player to act.
    pub(crate) mixed_value: f32,
    pub(crate) visits_sum: u32,
    /// `sigma(q) = slope * (q - origin)`, at most at `greatest`.
    slope: f32,
    origin: f32,
    greatest: f32,
}

impl Completion {
    /// Computes `v_mix` (equation 33) and `sigma` (equation 8) of a node.
    /// `value` is the evaluator's value for `player`, the one to act. Writes the completed
    /// value of each edge (equation 10) to `completed`. An action that was found to end the game has the value of that
    /// end, visited or not.
    pub(crate) fn new(
        edges: &[Edge],
        player: Player,
        value: f32,
        draw_value: f32,
        settings: &GumbelSettings,
        completed: &mut Vec<f32>,
    ) -> Completion {
        let (mut visits_sum, mut visits_max) = (0, 0);
        // In double precision, so that the order of the edges does not show in single precision.
        let (mut prior_sum, mut prior_q_sum) = (0.0_f64, 0.0_f64);
        let (mut least, mut greatest) = (f32::INFINITY, f32::NEG_INFINITY);
        let mut is_complete = true;
        completed.clear();
        completed.extend(edges.iter().map(|edge| {
            let Some(q) = edge.known_q(player, draw_value) else {
                is_complete = false;
                return f32::NAN;
            };
            if edge.visits > 0 {
                let prior = edge.prior.max(f32::MIN_POSITIVE);
                visits_sum += edge.visits;
                visits_max = visits_max.max(edge.visits);
                prior_sum += f64::from(prior);
                prior_q_sum += f64::from(prior) * f64::from(q);
            }
            least = least.min(q);
            greatest = greatest.max(q);
            q
        }));
        let visited_value = if visits_sum > 0 { (prior_q_sum / prior_sum) as f32 } else { 0.0 };
        let mixed_value = (value + visits_sum as f32 * visited_value) / (visits_sum + 1) as f32;
        if settings.shrinkage > 0.0 {
            (least, greatest) = (f32::INFINITY, f32::NEG_INFINITY);
            for (q, edge) in completed.iter_mut().zip(edges).filter(|(q, _)| !q.is_nan()) {
                if edge.visits > 0 && edge.bounds.result().is_none() {
                    let visits = edge.visits as f32;
                    *q = mixed_value + (*q - mixed_value) * visits / (visits + settings.shrinkage);
                }
                least = least.min(*q);
                greatest = greatest.max(*q);
            }
        }
        if !is_complete {
            least = least.min(mixed_value);
            greatest = greatest.max(mixed_value);
            for q in completed.iter_mut().filter(|q| q.is_nan()) {
                *q = mixed_value;
            }
        }
        let visit_scale = settings.maxvisit_init + visits_max as f32;
        let range = (greatest - least).max(settings.range_min.max(RANGE_MIN));
        let slope = visit_scale * settings.value_scale / range;
        Completion { mixed_value, visits_sum, slope, origin: least, greatest }
    }

    /// Returns `sigma(q)`, commensurable with logits.
    #[inline]
    pub(crate) fn sigma(&self, q: f32) -> f32 {
        self.slope * (q - self.origin)
    }

    /// Writes the improved policy `softmax(logits + sigma(completed q))` (equation 11) to `policy`.
    /// On entry, `policy` holds the completed values of the edges.
    pub(crate) fn improve(&self, edges: &[Edge], policy: &mut [f32]) {
        let mixed = (self.slope * (self.mixed_value - self.greatest)).exp();
        let mut sum = 0.0_f64;
        for (entry, edge) in policy.iter_mut().zip(edges) {
            // Most actions have the mixed value; its exponential is computed once.
            let is_mixed = *entry == self.mixed_value;
            let factor = if is_mixed { mixed } else { (self.slope * (*entry - self.greatest)).exp() };
            *entry = edge.prior * factor;
            sum += f64::from(*entry);
        }
        let sum = sum as f32;
        if sum > 0.0 {
            for entry in policy.iter_mut() {
                *entry /= sum;
            }
        } else {
            // All products underflow to 0, in single precision: uniform over the visited actions.
            let best = edges.iter().filter(|edge| edge.visits > 0).count().max(1);
            for (entry, edge) in policy.iter_mut().zip(edges) {
                *entry = if edge.visits > 0 { 1.0 / best as f32 } else { 0.0 };
            }
        }
    }

    /// Picks the edge below the root that brings the visits closest to the improved policy.
    /// Meant for few simulations: in a long search the values of visited actions get ever more weight, and the others may
    /// never be tried.
    /// `argmax(pi'(a) - N(a) / (1 + sum N))`, equation 14; of equals the greatest of `ties`. Skips edges proven lost. On
    /// entry, `policy` holds the completed values of the edges.
    pub(crate) fn select_interior(&self, edges: &[Edge], ties: &[u32], player: Player, policy: &mut [f32]) -> usize {
        self.improve(edges, policy);
        let per_visit = 1.0 / (1 + self.visits_sum) as f32;
        let mut best = (f32::NEG_INFINITY, 0, 0);
        for (index, (edge, probability)) in edges.iter().zip(policy.iter()).enumerate() {
            let score = probability - edge.visits as f32 * per_visit;
            if (score, ties[index]) > (best.0, best.1) && !edge.bounds.is_lost_for(player) {
                best = (score, ties[index], index);
            }
        }
        best.2
    }
}

#[derive(Clone, Debug, Default)]
pub(crate) struct GumbelRoot {
    /// `ln(prior)`, its greatest entry 0.
    pub(crate) logits: Vec<f32>,
    /// `g`, all 0 in a search without noise.
    pub(crate) gumbel: Vec<f32>,
    /// Visits of each edge from earlier searches.
    pub(crate) visits_before: Vec<u32>,
    /// [`considered_visits`] of this search.
    pub(crate) schedule: Vec<u32>,
}

impl GumbelRoot {
    /// Picks the root's best edge among those with `considered_visit` visits in this search.
    /// The score is `g + logits + sigma(completed q)` (section 3.2); of equals the greatest of `ties`. Edges whose result
    /// is proven need no visit: when only such have that many visits, the best of the others is taken.
    pub(crate) fn select(
        &self,
        edges: &[Edge],
        ties: &[u32],
        player: Player,
        considered_visit: u32,
        completion: &Completion,
        completed: &[f32],
    ) -> usize {
        self.best_by_rank(edges, ties, completion, completed, |index| {
            let edge = &edges[index];
            let is_considered = edge.visits - self.visits_before[index] == considered_visit;
            match edge.bounds.result() {
                None => usize::from(!is_considered),
                Some(_) => 2 + usize::from(edge.bounds.is_lost_for(player)),
            }
        })
    }

    /// Picks the action to play: the best by the same score among the most visited of this search and
    /// those whose result is proven, lost ones last. Where `ends_are_tried`, those that end the game need no visits either.
    pub(crate) fn choose(
        &self,
        edges: &[Edge],
        ties: &[u32],
        player: Player,
        ends_are_tried: bool,
        completion: &Completion,
        completed: &[f32],
    ) -> usize {
        let new_visits = |index: usize| edges[index].visits - self.visits_before[index];
        let is_lost = |index: &usize| edges[*index].bounds.is_lost_for(player);
        let most_visited = (0..edges.len()).filter(|index| !is_lost(index)).map(new_visits).max().unwrap_or(0);
        self.best_by_rank(edges, ties, completion, completed, |index| {
            let edge = &edges[index];
            let is_known = edge.bounds.result().is_some() || ends_are_tried && matches!(edge.child(), Child::End(_));
            let is_candidate = new_visits(index) == most_visited || is_known;
            if is_lost(&index) { 2 } else { usize::from(!is_candidate) }
        })
    }

    /// Returns the edge with the greatest score among those of the least rank; ranks go from 0 to 3.
    fn best_by_rank(
        &self,
        edges: &[Edge],
        ties: &[u32],
        completion: &Completion,
        completed: &[f32],
        rank: impl Fn(usize) -> usize,
    ) -> usize {
        let mut best = [(f32::NEG_INFINITY, 0, None); 4];
        for index in 0..edges.len() {
            let score = self.gumbel[index] + self.logits[index] + completion.sigma(completed[index]);
            let score = score.max(SCORE_MIN);
            let best = &mut best[rank(index)];
            if best.2.is_none() || (score, ties[index]) > (best.0, best.1) {
                *best = (score, ties[index], Some(index));
            }
        }
        best.iter().find_map(|&(.., index)| index).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tree::{Bounds, ValueSum};
    use super::*;

    #[test]
    fn a_policy_that_underflows_is_spread_over_the_visited_actions() {
        let edge = |prior: f32, visits: u32| {
            let (value_sum, bounds) = (ValueSum::default(), Bounds::OPEN);
            Edge { prior, visits, value_sum, child: 0, bounds }
        };
        // What is best has no prior, and what has one is infinitely worse.
        let edges = [edge(0.0, 2), edge(1.0, 0), edge(0.0, 1), edge(0.0, 0)];
        let completion = Completion { mixed_value: -1.0, visits_sum: 3, slope: 1e4, origin: -1.0, greatest: 1.0 };
        let mut policy = [1.0, -1.0, 1.0, -1.0];
        completion.improve(&edges, &mut policy);
        assert_eq!(policy, [0.5, 0.0, 0.5, 0.0]);
    }
}

//! Upper confidence bounds with the prior, as KataGo uses them.
//!
//! Source: Wu 2019, "Accelerating self-play learning in Go" (arXiv 1902.10565), and KataGo's
//! `searchexplorehelpers.cpp`, `searchhelpers.cpp`, `searchresults.cpp`.

use latrunculi_engine::Player;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Gamma};

use super::settings::PuctSettings;
use super::tree::Edge;
use super::value::ValueWeights;

/// A node as PUCT sees it.
#[derive(Clone, Copy)]
pub(crate) struct PuctNode<'a> {
    pub(crate) edges: &'a [Edge],
    /// One number per edge: of equal edges the greatest is picked.
    pub(crate) ties: &'a [u32],
    pub(crate) player: Player,
    /// The evaluator's value for the player to act.
    pub(crate) value: f32,
    /// The mean over the visits of this node, for the player to act.
    pub(crate) mean: f32,
    pub(crate) weights: ValueWeights,
}

/// Returns `s = c(W) * sqrt(W + 0.01)` with `c(W) = c0 + c_log * ln((W + c_base) / c_base)`.
fn explore_scale(settings: &PuctSettings, visits: u32) -> f32 {
    let w = visits as f32;
    let growth = ((w + settings.c_puct_base) / settings.c_puct_base).ln();
    (settings.c_puct + settings.c_puct_log * growth) * (w + 0.01).sqrt()
}

impl PuctNode<'_> {
    /// Picks the edge with the greatest `Q + s * P / (1 + W)`; of equals the greatest of `ties`.
    ///
    /// `priors` replaces the edges' own ones at a noised root, where `forced` playouts may apply too. Skips
    /// edges proven lost.
    ///
    /// An action without a visit, unless it is known to end the game, has the assumed value `avg - r * sqrt(m)`, with `m`
    /// the prior of the visited actions and `avg` between the network's and the search's value of the node (KataGo,
    /// `getFpuValueForChildrenAssumeVisited`): never 0.
    pub(crate) fn select(
        &self,
        settings: &PuctSettings,
        fpu_reduction: f32,
        priors: Option<&[f32]>,
        forced: bool,
    ) -> usize {
        let visited = self.edges.iter().enumerate().filter(|(_, edge)| edge.visits > 0);
        // In double precision, so that the order of the edges does not show in single precision.
        let (mut visits_sum, mut visited_prior) = (0, 0.0_f64);
        for (index, edge) in visited {
            visits_sum += edge.visits;
            visited_prior += f64::from(priors.map_or(edge.prior, |priors| priors[index]));
        }
        let visited_prior = visited_prior as f32;
        let trust = (visited_prior * visited_prior).min(1.0);
        let average = trust * self.mean + (1.0 - trust) * self.value;
        let unvisited_q = average - fpu_reduction * visited_prior.sqrt();
        let scale = explore_scale(settings, visits_sum);
        let mut best = (f32::NEG_INFINITY, 0, 0);
        for (index, edge) in self.edges.iter().enumerate() {
            if edge.bounds.is_lost_for(self.player) {
                continue;
            }
            let prior = priors.map_or(edge.prior, |priors| priors[index]);
            let visits = edge.visits as f32;
            let is_forced =
                forced && edge.visits > 0 && visits < (settings.forced_playouts * prior * visits_sum as f32).sqrt();
            let q = edge.known_q(self.player, self.weights).unwrap_or(unvisited_q);
            let score = if is_forced { 1e20 } else { q + scale * prior / (1.0 + visits) };
            if (score, self.ties[index]) > (best.0, best.1) {
                best = (score, self.ties[index], index);
            }
        }
        best.2
    }

    /// Writes the visits, freed of those that only exploration explains, as a policy to `policy`.
    ///
    /// Every edge but the best keeps at most the visits that make its score reach the best edge's; what is
    /// left with one visit or none is dropped. Without `forced` the visits stand as they are.
    ///
    /// Source: Wu 2019, section 3.2, "policy target pruning".
    pub(crate) fn target(&self, settings: &PuctSettings, priors: &[f32], forced: bool, policy: &mut Vec<f32>) {
        policy.clear();
        policy.extend(self.edges.iter().map(|edge| edge.visits as f32));
        let visits_sum: u32 = self.edges.iter().map(|edge| edge.visits).sum();
        if visits_sum == 0 {
            policy.clear();
            policy.extend(self.edges.iter().map(|edge| edge.prior));
            return;
        }
        if forced {
            self.prune(settings, priors, visits_sum, policy);
        }
        let sum: f32 = policy.iter().sum();
        for weight in policy {
            *weight /= sum;
        }
    }

    fn prune(&self, settings: &PuctSettings, priors: &[f32], visits_sum: u32, weights: &mut [f32]) {
        let scale = explore_scale(settings, visits_sum);
        let mut best = (f32::NEG_INFINITY, 0);
        for (index, edge) in self.edges.iter().enumerate().filter(|(_, edge)| edge.visits > 0) {
            let weight = edge.visits as f32 - 1.0 + 2.0 * priors[index];
            if weight > best.0 {
                best = (weight, index);
            }
        }
        let best = best.1;
        let best_edge = &self.edges[best];
        let best_score =
            best_edge.q(self.player, self.weights) + scale * priors[best] / (1.0 + best_edge.visits as f32);
        for (index, edge) in self.edges.iter().enumerate() {
            if index == best || edge.visits == 0 {
                continue;
            }
            let gap = best_score - edge.q(self.player, self.weights);
            if gap > 0.0 {
                let deserved = (scale * priors[index] / gap - 1.0).max(0.0).ceil();
                weights[index] = weights[index].min(deserved);
            }
            if weights[index] <= 1.0 {
                weights[index] = 0.0;
            }
        }
    }
}

/// Writes the root's prior, softened and mixed with shaped Dirichlet noise, to `noised`.
///
/// Half of the noise's concentration is spread evenly, half over the actions whose prior stands out among
/// the unlikely ones, so that plausible but overlooked actions get more of it.
///
/// Source: KataGo, `addDirichletNoise` and `computeDirichletAlphaDistribution` (searchhelpers.cpp).
pub(crate) fn noise_root(edges: &[Edge], settings: &PuctSettings, rng: &mut ChaCha8Rng, noised: &mut Vec<f32>) {
    let count = edges.len() as f64;
    noised.clear();
    let exponent = 1.0 / settings.root_policy_temperature.max(1e-3);
    let greatest = edges.iter().map(|edge| edge.prior).fold(0.0, f32::max);
    noised.extend(edges.iter().map(|edge| (edge.prior / greatest).powf(exponent)));
    let sum: f32 = noised.iter().sum();
    noised.iter_mut().for_each(|prior| *prior /= sum);

    let log = |prior: f32| (f64::from(prior).min(0.01) + 1e-20).ln();
    let mean = noised.iter().map(|&prior| log(prior)).sum::<f64>() / count;
    let excess = |prior: f32| (log(prior) - mean).max(0.0);
    let excess_sum: f64 = noised.iter().map(|&prior| excess(prior)).sum();
    let concentration = f64::from(settings.noise_concentration);
    let draws: Vec<f64> = noised
        .iter()
        .map(|&prior| {
            let shape = if excess_sum > 1e-10 { 0.5 / count + 0.5 * excess(prior) / excess_sum } else { 1.0 / count };
            Gamma::new(concentration * shape, 1.0).map_or(0.0, |gamma| gamma.sample(rng))
        })
        .collect();
    let draws_sum: f64 = draws.iter().sum();
    // All draws can underflow to nothing with a tiny concentration: no noise then.
    if draws_sum > 0.0 {
        let fraction = settings.noise_share;
        for (prior, draw) in noised.iter_mut().zip(&draws) {
            *prior = (1.0 - fraction) * *prior + fraction * (draw / draws_sum) as f32;
        }
    }
}

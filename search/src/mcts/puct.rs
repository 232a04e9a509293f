//! Upper confidence bounds with the prior, as KataGo uses them.
//! Source: Wu 2019, "Accelerating self-play learning in Go" (arXiv 1902.10565), and KataGo's
//! `searchexplorehelpers.cpp`.

use latrunculi_engine::Player;

use super::settings::PuctSettings;
use super::tree::Edge;

/// The standard deviation of values at which the settings hold, `cpuctUtilityStdevPrior` of KataGo. What they add to a value
/// is in proportion to the deviation in the tree: where all values are near a draw, it would outweigh their differences, and the
/// prior alone would decide. KataGo measures it in each node.
const USUAL_DEVIATION: f32 = 0.4;

/// Below it all values are taken as equal; nothing follows from them, and the factor is 1.
const DEVIATION_MIN: f32 = 1e-6;

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
    /// The standard deviation of the evaluations in the tree.
    pub(crate) deviation: f32,
    /// The value of a draw for the first player.
    pub(crate) draw_value: f32,
}

/// Returns `s = c(W) * sqrt(W + 0.01)` with `c(W) = c0 + c_log * ln((W + c_base) / c_base)`.
fn explore_scale(settings: &PuctSettings, visits: u32) -> f32 {
    let w = visits as f32;
    let growth = ((w + settings.c_puct_base) / settings.c_puct_base).ln();
    (settings.c_puct + settings.c_puct_log * growth) * (w + 0.01).sqrt()
}

impl PuctNode<'_> {
    /// Picks the edge with the greatest `Q + u * s * P / (1 + W)`, with `u` the deviation of the values over the usual one; of
    /// equals the greatest of `ties`. Skips edges proven lost.
    /// An action without a visit, unless it is known to end the game, has the assumed value `avg - u * r * sqrt(m)`, with `m`
    /// the prior of the visited actions and `avg` between the network's and the search's value of the node (KataGo,
    /// `getFpuValueForChildrenAssumeVisited`): never 0.
    pub(crate) fn select(&self, settings: &PuctSettings) -> usize {
        // In double precision, so that the order of the edges does not show in single precision.
        let (mut visits_sum, mut visited_prior) = (0, 0.0_f64);
        for edge in self.edges.iter().filter(|edge| edge.visits > 0) {
            visits_sum += edge.visits;
            visited_prior += f64::from(edge.prior);
        }
        let visited_prior = visited_prior as f32;
        let trust = (visited_prior * visited_prior).min(1.0);
        let average = trust * self.mean + (1.0 - trust) * self.value;
        let unit = if self.deviation < DEVIATION_MIN { 1.0 } else { self.deviation / USUAL_DEVIATION };
        let unvisited_q = average - unit * settings.fpu_reduction * visited_prior.sqrt();
        let scale = unit * explore_scale(settings, visits_sum);
        let mut best = (f32::NEG_INFINITY, 0, 0);
        for (index, edge) in self.edges.iter().enumerate() {
            if edge.bounds.is_lost_for(self.player) {
                continue;
            }
            let q = edge.known_q(self.player, self.draw_value).unwrap_or(unvisited_q);
            let score = q + scale * edge.prior / (1.0 + edge.visits as f32);
            if (score, self.ties[index]) > (best.0, best.1) {
                best = (score, self.ties[index], index);
            }
        }
        best.2
    }

    /// Writes the visits as a policy to `policy`; the prior where there are none.
    pub(crate) fn target(&self, policy: &mut Vec<f32>) {
        policy.clear();
        policy.extend(self.edges.iter().map(|edge| edge.visits as f32));
        let sum: f32 = policy.iter().sum();
        for (weight, edge) in policy.iter_mut().zip(self.edges) {
            *weight = if sum > 0.0 { *weight / sum } else { edge.prior };
        }
    }
}

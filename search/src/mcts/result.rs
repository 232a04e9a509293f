//! The result of a search.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

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

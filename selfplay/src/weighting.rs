//! The weight of each position of a game: more where the search surprised the network, less where the game is decided.

use latrunculi_engine::Player;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// Policy- and value-surprise weighting: part of a game's weight goes to the positions with the largest surprise.
///
/// Source: Wu, KataGo, "Other Methods Implemented in KataGo", policy surprise weighting; its `play.cpp`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SurpriseSettings {
    /// Part of the weight that follows the divergence of the improved policy from the network's, in `[0, 1]`; 0.5 in
    /// KataGo, 0 is off.
    pub policy_weight: f32,
    /// Part that follows the divergence of the search's value from the network's, in `[0, 1]`; 0.1 in KataGo.
    pub value_weight: f32,
}

impl Default for SurpriseSettings {
    /// Off.
    fn default() -> Self {
        SurpriseSettings { policy_weight: 0.0, value_weight: 0.0 }
    }
}

impl SurpriseSettings {
    /// Tells whether nothing is weighted.
    #[must_use]
    pub fn is_off(&self) -> bool {
        self.policy_weight == 0.0 && self.value_weight == 0.0
    }
}

/// What the weight of a searched position depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Surprise {
    /// `w`: 1 after a full search, 0 after a fast one, less where the game is decided.
    pub weight: f32,
    /// `s`: divergence `KL(improved policy || network's policy)`, in nats.
    pub policy: f32,
    /// `v`: divergence of the search's value from the network's, at most 1.
    pub value: f32,
}

/// A fast search counts by the excess of its surprise over this many times the mean.
const FAST_THRESHOLD: f32 = 1.5;
/// Mean value surprise from which the whole `value_weight` is used.
const VALUE_SURPRISE_FULL: f32 = 0.01;

/// Returns the weights `w'` of the positions of a game:
///
/// ```text
/// S = sum w;  s̄ = sum w s / S;  v̄ = sum w v / S;  b = value_weight min(1, v̄ / 0.01)
/// sp = w s + (1 - w) max(0, s - 1.5 s̄);  vp = w v
/// w' = (1 - policy_weight - b) w + policy_weight S sp / sum sp + b S vp / sum vp
/// ```
///
/// The weights stay as they are where `S` is below 1; where nothing surprises, `policy_weight` has no effect.
#[must_use]
pub fn surprise_weights(settings: &SurpriseSettings, positions: &[Surprise]) -> Vec<f32> {
    let sum = |part: &dyn Fn(&Surprise) -> f32| positions.iter().map(part).sum::<f32>();
    let total = sum(&|position| position.weight);
    if settings.is_off() || total < 1.0 {
        return positions.iter().map(|position| position.weight).collect();
    }
    let mean_policy = sum(&|position| position.weight * position.policy) / total;
    let mean_value = sum(&|position| position.weight * position.value) / total;
    let by_policy = |position: &Surprise| {
        let beyond = (position.policy - FAST_THRESHOLD * mean_policy).max(0.0);
        position.weight * position.policy + (1.0 - position.weight) * beyond
    };
    let by_value = |position: &Surprise| position.weight * position.value;
    let (policy_sum, value_sum) = (sum(&by_policy), sum(&by_value));
    let policy_weight = if policy_sum > 0.0 { settings.policy_weight } else { 0.0 };
    let value_weight = settings.value_weight * (mean_value / VALUE_SURPRISE_FULL).min(1.0);
    let part = |amount: f32, of: f32| if of > 0.0 { total * amount / of } else { 0.0 };
    let weight = |position: &Surprise| {
        (1.0 - policy_weight - value_weight) * position.weight
            + policy_weight * part(by_policy(position), policy_sum)
            + value_weight * part(by_value(position), value_sum)
    };
    positions.iter().map(weight).collect()
}

/// Rounds a weight down, or up with the probability of its fraction.
pub(crate) fn rounded_by_chance(weight: f32, stream: &mut ChaCha8Rng) -> f32 {
    let fraction = f64::from(weight.fract()).clamp(0.0, 1.0);
    weight.floor() + f32::from(u8::from(stream.random_bool(fraction)))
}

/// Returns `KL(target || prior)` of two distributions, in nats.
pub(crate) fn divergence(target: &[f32], prior: &[f32]) -> f32 {
    let term = |(&t, &p): (&f32, &f32)| if t > 0.0 { t * (t / p.max(1e-10)).ln() } else { 0.0 };
    target.iter().zip(prior).map(term).sum::<f32>().max(0.0)
}

/// Returns the divergence of the search's value from the network's, both in `[-1, 1]` and read as the probability of
/// winning; at most 1.
pub(crate) fn value_divergence(search: f32, network: f32) -> f32 {
    let win = |value: f32| ((1.0 + value) / 2.0).clamp(0.001, 0.999);
    let (search, network) = (win(search), win(network));
    divergence(&[search, 1.0 - search], &[network, 1.0 - network]).min(1.0)
}

/// Soft resignation: a decided game is searched with fewer simulations, its samples weigh less, and it is played to its
/// end, so that wrong resignations change no result and can be counted.
///
/// Source: Wu, KataGo, `play.cpp`, reduced visits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ResignationSettings {
    /// `T`: absolute value of the search beyond which a game may be decided, in `(0, 1]`; 0.9 in KataGo, 1 is off.
    pub threshold: f32,
    /// `k`: successive searches that must exceed it for the same side; 3 in KataGo.
    pub searches: usize,
    /// Simulations of a search in a fully decided game; at least 1.
    pub simulations: u32,
    /// Weight of a position in a fully decided game, in `[0, 1]`; 0.1 in KataGo.
    pub weight: f32,
}

impl Default for ResignationSettings {
    /// Off.
    fn default() -> Self {
        ResignationSettings { threshold: 1.0, searches: 3, simulations: 4, weight: 0.1 }
    }
}

impl ResignationSettings {
    /// Tells whether no game is ever decided.
    #[must_use]
    pub fn is_off(&self) -> bool {
        self.threshold >= 1.0
    }

    /// Returns the degree to which a game is decided, `q` in `[0, 1]`, and the player who would resign; `values` are those
    /// of the searches for the first player, newest last.
    ///
    /// `x = (least extreme - T) / (1 - T)`, `q = x²`.
    #[must_use]
    pub fn decided(&self, values: &[f32]) -> Option<(f32, Player)> {
        let last = values.len().checked_sub(self.searches).map(|begin| &values[begin..])?;
        if self.is_off() || last.is_empty() {
            return None;
        }
        let least = last.iter().map(|value| value.abs()).fold(f32::INFINITY, f32::min);
        let is_one_sided = last.iter().all(|value| *value > 0.0) || last.iter().all(|value| *value < 0.0);
        if least <= self.threshold || !is_one_sided {
            return None;
        }
        let loser = if last[0] > 0.0 { Player::Second } else { Player::First };
        Some((((least - self.threshold) / (1.0 - self.threshold)).min(1.0).powi(2), loser))
    }

    /// Returns a number between `from` and `least` where a game is decided to the degree `q`: `from + q (least - from)`.
    #[must_use]
    pub fn reduced(q: f32, from: f32, least: f32) -> f32 {
        from + q * (least - from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn weights_follow_the_published_formula() {
        let settings = SurpriseSettings { policy_weight: 0.5, value_weight: 0.1 };
        let positions = [
            Surprise { weight: 1.0, policy: 0.2, value: 0.0 },
            Surprise { weight: 1.0, policy: 0.6, value: 0.04 },
            Surprise { weight: 0.0, policy: 1.0, value: 0.5 },
            Surprise { weight: 0.0, policy: 0.5, value: 0.5 },
        ];
        // S = 2, mean s 0.4, mean v 0.02, so b = 0.1; sp = 0.2, 0.6, 1 - 0.6, 0 of 1.2; vp = 0, 0.04, 0, 0.
        let expected = [0.4 + 1.0 / 6.0, 0.4 + 0.5 + 0.2, 1.0 / 3.0, 0.0];
        for (found, expected) in surprise_weights(&settings, &positions).iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "{found} {expected}");
        }
        let none = SurpriseSettings::default();
        assert_eq!(surprise_weights(&none, &positions), [1.0, 1.0, 0.0, 0.0]);
        let calm = [Surprise { weight: 1.0, policy: 0.0, value: 0.0 }; 3];
        assert_eq!(surprise_weights(&settings, &calm), [1.0; 3], "nothing surprising: nothing changes");
        assert_eq!(surprise_weights(&settings, &positions[2..]), [0.0, 0.0], "no weight to distribute");
    }

    #[test]
    fn rounding_by_chance_keeps_the_mean() {
        let mut stream = ChaCha8Rng::seed_from_u64(1);
        let sum: f32 = (0..4000).map(|_| rounded_by_chance(1.3, &mut stream)).sum();
        assert!((sum / 4000.0 - 1.3).abs() < 0.03, "{sum}");
        assert_eq!(rounded_by_chance(2.0, &mut stream), 2.0);
    }

    #[test]
    fn divergences_are_those_of_the_textbook() {
        assert_eq!(divergence(&[0.5, 0.5], &[0.5, 0.5]), 0.0);
        assert!((divergence(&[1.0, 0.0], &[0.25, 0.75]) - 4.0_f32.ln()).abs() < 1e-6);
        assert_eq!(value_divergence(0.3, 0.3), 0.0);
        assert_eq!(value_divergence(1.0, -1.0), 1.0);
    }

    #[test]
    fn a_game_is_decided_when_the_last_values_agree() {
        let settings = ResignationSettings { threshold: 0.9, ..ResignationSettings::default() };
        let decided = |values: &[f32]| settings.decided(values);
        assert_eq!(decided(&[0.95, 0.96]), None, "too few");
        assert_eq!(decided(&[0.0, 0.95, 0.96, 0.89]), None, "not beyond");
        assert_eq!(decided(&[0.95, -0.96, 0.95]), None, "not of one side");
        let (q, loser) = decided(&[-0.2, -0.95, -0.99, -0.96]).expect("decided");
        assert!((q - 0.25).abs() < 1e-5 && loser == Player::First);
        let off = ResignationSettings::default();
        assert_eq!(off.decided(&[1.0, 1.0, 1.0]), None);
        assert_eq!(ResignationSettings::reduced(0.25, 16.0, 4.0), 13.0);
    }
}

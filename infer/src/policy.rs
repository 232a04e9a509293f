//! The policy of a network's answer.

use rand::{Rng, RngExt};

/// Returns the probabilities that `logits` stand for: their softmax.
#[must_use]
pub fn probabilities(logits: &[f32]) -> Vec<f64> {
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let weights: Vec<f64> = logits.iter().map(|logit| f64::from(logit - largest).exp()).collect();
    let total: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / total).collect()
}

/// Draws an index of `logits`, at least one, by these probabilities.
pub fn draw(logits: &[f32], rng: &mut impl Rng) -> usize {
    let mut rest = rng.random::<f64>();
    let drawn = probabilities(logits).iter().position(|probability| {
        rest -= probability;
        rest < 0.0
    });
    // Rounding may leave a little of the rest.
    drawn.unwrap_or(logits.len() - 1)
}

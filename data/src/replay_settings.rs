//! How samples are kept and drawn, and what makes their value targets.

use serde::{Deserialize, Serialize};

use crate::ranges::{Range, faults};

/// How samples are kept and drawn.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplaySettings {
    /// `c`: number of samples up to which the window holds all; above 0.
    pub window_base: f64,
    /// `alpha`: exponent of its growth, in `(0, 1]`.
    pub window_exponent: f64,
    /// `beta`: samples that the window gains per new sample at `c`, in `[0, 1]`.
    pub window_slope: f64,
    /// Most samples trained on per sample played, since the run began or got another number; above 0.
    pub reuse: f64,
    /// Weight of the search's expectation in the value target, in `[0, 1]`; the rest is the game's result.
    #[serde(rename = "bootstrap_weight")]
    pub search_value_weight: f32,
    /// Fraction of a drawn result that goes to the player who is ahead in material at the end, in `[0, 1]`, in
    /// proportion to his margin and to the time that was left to win in ([`crate::EncodedPosition::time_left`]); against
    /// stalling. 0 leaves draws as they are; the game stays zero-sum with any.
    #[serde(default)]
    pub draw_margin_fraction: f32,
    /// Whether that fraction is multiplied by the fraction of the window's samples whose games were drawn: where draws
    /// are rare they are left as they are, and the more games are decided the nearer the targets are to the real game.
    #[serde(default)]
    pub draw_margin_by_draws: bool,
    /// Material margin, in `(0, 1]`, from which the whole fraction goes to the player who is ahead.
    #[serde(default = "whole_margin")]
    pub draw_margin_full: f32,
    /// Whether samples are mirrored at random: left and right, and where stones are placed also up and down.
    pub mirror: bool,
}

/// A draw is shared in proportion to the margin.
fn whole_margin() -> f32 {
    1.0
}

impl Default for ReplaySettings {
    fn default() -> Self {
        ReplaySettings {
            window_base: 50_000.0,
            window_exponent: 0.75,
            window_slope: 0.4,
            reuse: 4.0,
            search_value_weight: 0.3,
            draw_margin_fraction: 0.0,
            draw_margin_by_draws: false,
            draw_margin_full: whole_margin(),
            mirror: true,
        }
    }
}

impl ReplaySettings {
    /// Returns every reason why these settings cannot be used; empty when they can.
    #[must_use]
    pub fn validate(&self) -> Vec<String> {
        let fraction = Range::Within(0.0, 1.0);
        faults([
            ("window_base", self.window_base, Range::Positive),
            ("window_exponent", self.window_exponent, Range::UpTo(1.0)),
            ("window_slope", self.window_slope, fraction),
            ("reuse", self.reuse, Range::UpTo(1000.0)),
            ("bootstrap_weight", self.search_value_weight.into(), fraction),
            ("draw_margin_fraction", self.draw_margin_fraction.into(), fraction),
            ("draw_margin_full", self.draw_margin_full.into(), Range::UpTo(1.0)),
        ])
    }

    /// Returns the value target for a player: the game's `result` for him, what the search `expected`, both as win, draw
    /// and loss, his final `margin` in `[-1, 1]`, and the part of the time to win in that was left, in `[0, 1]`. In games of
    /// alpha-beta `result` is a mixture of the result and of `expected`; only the draw that was played is moved by the margin.
    #[must_use]
    pub fn value_target(&self, result: [f32; 3], expected: [f32; 3], margin: f32, time_left: f32) -> [f32; 3] {
        let lead = (margin.abs() / self.draw_margin_full).min(1.0);
        let moved = played_draw(result, expected) * self.draw_margin_fraction * lead * time_left;
        let [win, draw, loss] = result;
        let (ahead, behind) = if margin > 0.0 { (moved, 0.0) } else { (0.0, moved) };
        let result = [win + ahead, draw - moved, loss + behind];
        let weight = self.search_value_weight;
        std::array::from_fn(|index| result[index] * (1.0 - weight) + expected[index] * weight)
    }

    /// Returns how many of the newest samples are drawn from when there have been `total`.
    /// `c * (1 + beta * ((total / c)^alpha - 1) / alpha)`, and everything up to `c`.
    /// Source: Wu 2019, "Accelerating Self-Play Learning in Go", appendix C.
    #[must_use]
    pub fn window_len(&self, total: u64) -> u64 {
        let (c, alpha, beta) = (self.window_base, self.window_exponent, self.window_slope);
        let total = total as f64;
        if total <= c {
            return total as u64;
        }
        (c * (1.0 + beta * ((total / c).powf(alpha) - 1.0) / alpha)).min(total) as u64
    }

    /// Returns the training steps that may still be made: samples trained on must not exceed `reuse` times
    /// the samples played, both counted since `reuse` has its value.
    #[must_use]
    pub fn steps_allowed(&self, samples_played: u64, samples_trained: u64, batch_size: usize) -> u64 {
        let allowed = samples_played as f64 * self.reuse - samples_trained as f64;
        if allowed <= 0.0 { 0 } else { (allowed / batch_size as f64) as u64 }
    }
}

/// Returns the part of a value target that is the draw of its game: 1 or 0, or the weight of the result in a mixture.
fn played_draw(result: [f32; 3], expected: [f32; 3]) -> f32 {
    if result[1] == 1.0 { 1.0 } else { ((result[1] - expected[1]) / (1.0 - expected[1])).max(0.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_grows_by_the_published_power_law() {
        let settings = ReplaySettings { window_base: 25_000.0, window_exponent: 0.75, ..ReplaySettings::default() };
        assert_eq!(settings.window_len(20_000), 20_000);
        for (total, window) in [(100_000, 49_000.0), (500_000, 138_000.0), (1_000_000, 224_000.0)] {
            let found = settings.window_len(total) as f64;
            assert!((found / window - 1.0).abs() < 0.02, "{total}: {found}");
        }
    }

    #[test]
    fn part_of_a_draw_may_go_to_the_player_ahead() {
        let settings =
            ReplaySettings { search_value_weight: 0.0, draw_margin_fraction: 0.5, ..ReplaySettings::default() };
        let draw = [0.0, 1.0, 0.0];
        assert_eq!(settings.value_target(draw, draw, 0.5, 1.0), [0.25, 0.75, 0.0]);
        assert_eq!(settings.value_target(draw, draw, 0.5, 0.5), [0.125, 0.875, 0.0], "half of the time is left");
        assert_eq!(settings.value_target(draw, draw, 0.5, 0.0), draw, "nobody can win any more");
        assert_eq!(settings.value_target(draw, draw, -0.5, 1.0), [0.0, 0.75, 0.25]);
        assert_eq!(settings.value_target([1.0, 0.0, 0.0], draw, -0.5, 1.0), [1.0, 0.0, 0.0]);
        let steep = ReplaySettings { draw_margin_full: 0.25, ..settings };
        assert_eq!(steep.value_target(draw, draw, -0.125, 1.0), [0.0, 0.75, 0.25]);
        assert_eq!(steep.value_target(draw, draw, 1.0, 1.0), [0.5, 0.5, 0.0]);
        let mixed = ReplaySettings { search_value_weight: 0.25, draw_margin_fraction: 0.0, ..settings };
        assert_eq!(mixed.value_target([1.0, 0.0, 0.0], draw, 0.5, 1.0), [0.75, 0.25, 0.0]);
    }

    #[test]
    fn training_never_exceeds_the_reuse() {
        let settings = ReplaySettings { reuse: 4.0, ..ReplaySettings::default() };
        assert_eq!(settings.steps_allowed(1000, 0, 256), 15);
        assert_eq!(settings.steps_allowed(1000, 3840, 256), 0);
        assert_eq!(settings.steps_allowed(0, 0, 256), 0);
        assert_eq!(settings.steps_allowed(10, 4000, 256), 0);
    }
}

//! The replay: which past samples are trained on. Each ruleset has a window that keeps its share of the samples.

use std::collections::VecDeque;
use std::sync::Arc;

use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_engine::{Rules, Symmetry};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::features::Encoder;
use crate::policy_index::augmentations;
use crate::ranges::{Range, faults};
use crate::sample::{Samples, TrainingBatch};

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

#[derive(Debug)]
struct Shard {
    generation: u64,
    samples: Samples,
    /// Samples of drawn games, and of games whose result is known.
    drawn: u64,
    known: u64,
}

/// Tells whether the game of a sample was drawn; `None` where its value target has nothing of the result.
/// In games of alpha-beta the target is a mixture of the result and of what was expected: a draw raises the probability of a
/// draw above the expected one.
fn is_drawn(result: [f32; 3], expected: [f32; 3]) -> Option<bool> {
    let is_whole = result.contains(&1.0);
    (is_whole || result != expected).then(|| result[1] == 1.0 || result[1] > expected[1])
}

/// The newest generations of one ruleset in memory.
#[derive(Debug)]
pub struct ReplayWindow {
    encoder: Encoder,
    settings: ReplaySettings,
    /// Oldest first.
    shards: VecDeque<Shard>,
    /// Samples ever added, removed ones included.
    total: u64,
}

impl ReplayWindow {
    /// Creates an empty window. `total` counts the samples of earlier generations that are not added: 0 at the beginning
    /// of a run.
    #[must_use]
    pub fn new(rules: Arc<Rules>, settings: ReplaySettings, total: u64) -> ReplayWindow {
        ReplayWindow { encoder: Encoder::new(rules), settings, shards: VecDeque::new(), total }
    }

    /// Adds a generation and removes whole generations that are no longer drawn from.
    pub fn add(&mut self, generation: u64, samples: Samples) {
        self.total += samples.len() as u64;
        let results = samples.win_draw_loss.iter().zip(&samples.search_win_draw_loss);
        let (mut drawn, mut known) = (0, 0);
        for is_drawn in results.filter_map(|(&result, &expected)| is_drawn(result, expected)) {
            (drawn, known) = (drawn + u64::from(is_drawn), known + 1);
        }
        self.shards.push_back(Shard { generation, samples, drawn, known });
        let wanted = self.settings.window_len(self.total);
        while let Some(oldest) = self.shards.front()
            && self.held() - oldest.samples.len() as u64 >= wanted
        {
            self.shards.pop_front();
        }
    }

    /// Returns the samples in memory.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.shards.iter().map(|shard| shard.samples.len() as u64).sum()
    }

    /// Returns the generations in memory, oldest first.
    pub fn generations(&self) -> impl Iterator<Item = u64> + '_ {
        self.shards.iter().map(|shard| shard.generation)
    }

    /// Returns the number of samples that are drawn from.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.settings.window_len(self.total).min(self.held())
    }

    /// Tells whether there is nothing to draw from.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Starts drawing batches by `stream`: every sample of the window once, in random order, then again.
    #[must_use]
    pub fn draw(&self, stream: ChaCha8Rng) -> Draw<'_> {
        let mut symmetries = augmentations(self.encoder.rules());
        if !self.settings.mirror {
            symmetries.truncate(1);
        }
        let mut settings = self.settings;
        if settings.draw_margin_by_draws && !self.is_empty() {
            let drawn: u64 = self.shards.iter().map(|shard| shard.drawn).sum();
            let known: u64 = self.shards.iter().map(|shard| shard.known).sum();
            settings.draw_margin_fraction *= drawn as f32 / known.max(1) as f32;
        }
        Draw { window: self, settings, stream, order: Vec::new(), symmetries }
    }

    /// Returns the rules of the samples.
    #[must_use]
    pub fn rules(&self) -> &Arc<Rules> {
        self.encoder.rules()
    }

    /// Finds sample `index` of the window, counted from the newest.
    fn find(&self, mut index: u64) -> (&Samples, usize) {
        for Shard { samples, .. } in self.shards.iter().rev() {
            let len = samples.len() as u64;
            if index < len {
                return (samples, (len - 1 - index) as usize);
            }
            index -= len;
        }
        unreachable!("the index is below the number of samples held")
    }
}

/// Draws batches from a window.
#[derive(Debug)]
pub struct Draw<'a> {
    window: &'a ReplayWindow,
    /// Those of the window, with its own fraction of draws.
    settings: ReplaySettings,
    stream: ChaCha8Rng,
    /// Samples not drawn yet in this round.
    order: Vec<u32>,
    /// The symmetries that are drawn from, the identity first.
    symmetries: Vec<Symmetry>,
}

impl Draw<'_> {
    /// Draws a batch.
    /// Panics when the window is empty.
    pub fn batch(&mut self, batch_size: usize) -> TrainingBatch {
        assert!(!self.window.is_empty(), "there is something to draw from");
        let encoder = &self.window.encoder;
        let mut batch = TrainingBatch::new(encoder.shape());
        for _ in 0..batch_size {
            if self.order.is_empty() {
                self.order.extend(0..self.window.len() as u32);
            }
            let next = self.stream.random_range(0..self.order.len());
            let index = self.order.swap_remove(next);
            let symmetry = self.symmetries[self.stream.random_range(0..self.symmetries.len())];
            let (samples, index) = self.window.find(u64::from(index));
            samples.write_into(index, encoder, symmetry, &self.settings, &mut batch);
        }
        batch
    }
}

/// A ruleset that samples are kept of.
#[derive(Clone, Debug)]
pub struct ReplayPart {
    /// The rules.
    pub rules: Arc<Rules>,
    /// Its part of the samples, above 0; those of all rulesets and of the mixes sum to 1.
    pub share: f64,
    /// Samples of earlier generations that are not added.
    pub earlier: u64,
}

/// The newest samples of each of several rulesets, and of random mixes of rules.
///
/// [`ReplaySettings::window_base`] counts the samples of all together: a ruleset of share `s` has a window as if it were
/// `s` times as large. Samples of any other ruleset are a mix; the mixes share one window, from which whole mixes go.
#[derive(Debug)]
pub struct ReplayWindows {
    windows: Vec<(f64, ReplayWindow)>,
    mixes_settings: ReplaySettings,
    mixes_share: f64,
    /// Samples of mixes ever added, removed ones included.
    mixes_total: u64,
    /// One window for each mix, oldest first.
    mixes: VecDeque<ReplayWindow>,
}

fn shared(settings: ReplaySettings, share: f64) -> ReplaySettings {
    ReplaySettings { window_base: settings.window_base * share, ..settings }
}

impl ReplayWindows {
    /// Creates empty windows. `mixes_earlier` counts the samples of mixes that are not added.
    #[must_use]
    pub fn new(
        settings: ReplaySettings,
        parts: impl IntoIterator<Item = ReplayPart>,
        mixes_share: f64,
        mixes_earlier: u64,
    ) -> ReplayWindows {
        let window =
            |part: ReplayPart| (part.share, ReplayWindow::new(part.rules, shared(settings, part.share), part.earlier));
        ReplayWindows {
            windows: parts.into_iter().map(window).collect(),
            mixes_settings: shared(settings, mixes_share),
            mixes_share,
            mixes_total: mixes_earlier,
            mixes: VecDeque::new(),
        }
    }

    /// Adds samples of a generation and removes those that are no longer drawn from.
    pub fn add(&mut self, rules: &Arc<Rules>, generation: u64, samples: Samples) {
        let fingerprint = ruleset_fingerprint(rules.ruleset());
        let is_meant = |window: &ReplayWindow| {
            Arc::ptr_eq(window.rules(), rules) || ruleset_fingerprint(window.rules().ruleset()) == fingerprint
        };
        if let Some((_, window)) = self.windows.iter_mut().find(|(_, window)| is_meant(window)) {
            window.add(generation, samples);
            return;
        }
        self.mixes_total += samples.len() as u64;
        // Mixes that were drawn twice have the same rules and other names, by which their shards are found again.
        let is_own = |mix: &ReplayWindow| is_meant(mix) && mix.rules().ruleset().id == rules.ruleset().id;
        match self.mixes.iter_mut().find(|mix| is_own(mix)) {
            Some(mix) => mix.add(generation, samples),
            None => {
                // The window of all mixes decides what is kept.
                let settings = ReplaySettings { window_base: f64::MAX, ..self.mixes_settings };
                let mut mix = ReplayWindow::new(Arc::clone(rules), settings, 0);
                mix.add(generation, samples);
                self.mixes.push_back(mix);
            }
        }
        let wanted = if self.mixes_share > 0.0 { self.mixes_settings.window_len(self.mixes_total) } else { 0 };
        while let Some(oldest) = self.mixes.front()
            && self.mixes_held() - oldest.held() >= wanted
        {
            self.mixes.pop_front();
        }
    }

    fn mixes_held(&self) -> u64 {
        self.mixes.iter().map(ReplayWindow::held).sum()
    }

    /// Returns the number of samples that are drawn from.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.windows.iter().map(|(_, window)| window.len()).sum::<u64>() + self.mixes_held()
    }

    /// Tells whether there is nothing to draw from.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the windows of the rulesets, in the order in which these were given, then those of the mixes.
    pub fn windows(&self) -> impl Iterator<Item = &ReplayWindow> {
        self.windows.iter().map(|(_, window)| window).chain(&self.mixes)
    }

    /// Returns the windows of the mixes, oldest first.
    pub fn mixes(&self) -> impl Iterator<Item = &ReplayWindow> {
        self.mixes.iter()
    }

    /// Starts drawing batches by `stream`: rulesets in proportion to their shares, and from each every sample of its
    /// window once, in random order, then again.
    /// Panics when there is nothing to draw from.
    #[must_use]
    pub fn draw(&self, stream: ChaCha8Rng) -> Draws<'_> {
        assert!(!self.is_empty(), "there is something to draw from");
        let mixes_held = self.mixes_held() as f64;
        let trained = self.windows.iter().map(|(share, window)| (*share, window));
        let mixes = self.mixes.iter().map(|mix| (self.mixes_share * mix.held() as f64 / mixes_held.max(1.0), mix));
        let parts: Vec<(f64, &ReplayWindow)> = trained.chain(mixes).filter(|(_, window)| !window.is_empty()).collect();
        let all: f64 = parts.iter().map(|(share, _)| share).sum();
        let mut end = 0.0;
        let parts = parts.into_iter().enumerate().map(|(index, (share, window))| {
            end += share / all;
            // Every window draws from a stream of its own.
            let mut own = stream.clone();
            own.set_stream(index as u64);
            (end, window.draw(own))
        });
        let parts = parts.collect();
        let mut stream = stream;
        stream.set_stream(u64::MAX);
        Draws { parts, stream }
    }
}

/// Draws batches from several windows.
#[derive(Debug)]
pub struct Draws<'a> {
    /// Windows that are not empty, each with the sum of the shares up to it; the last is 1.
    parts: Vec<(f64, Draw<'a>)>,
    /// Decides on the rulesets.
    stream: ChaCha8Rng,
}

impl Draws<'_> {
    /// Draws `count` batches, each of one ruleset and of `batch_size` samples.
    /// The rulesets stand at equal distances on the line of all shares, from a random place on: each is drawn in
    /// proportion to its share, and one step sees rulesets that are far from one another.
    pub fn batches(&mut self, batch_size: usize, count: usize) -> Vec<TrainingBatch> {
        let first = if self.parts.len() > 1 { self.stream.random::<f64>() } else { 0.0 };
        let batch = |index: usize| {
            let place = (first + index as f64) / count as f64;
            let part = self.parts.iter().position(|(end, _)| place < *end).unwrap_or(self.parts.len() - 1);
            self.parts[part].1.batch(batch_size)
        };
        (0..count).map(batch).collect()
    }
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

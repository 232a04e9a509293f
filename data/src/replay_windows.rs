//! The replay of a run over several rulesets: a window for each, which keeps its share of the samples.

use std::collections::VecDeque;
use std::sync::Arc;

use latrunculi_engine::Rules;
use latrunculi_engine::record::ruleset_fingerprint;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::replay::{Draw, ReplaySettings, ReplayWindow};
use crate::sample::{Samples, TrainingBatch};

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

/// Returns the settings of a window that has a share of the samples.
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
    ///
    /// # Panics
    /// When there is nothing to draw from.
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
    ///
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

//! The replay: which past samples are trained on. Each ruleset has a window that keeps its share of the samples.

use std::collections::VecDeque;
use std::sync::Arc;

use latrunculi_engine::record::ruleset_fingerprint;
use latrunculi_engine::{Rules, Symmetry};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use crate::features::Encoder;
use crate::policy_index::augmentations;
use crate::replay_settings::ReplaySettings;
use crate::sample::{Samples, TrainingBatch};

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

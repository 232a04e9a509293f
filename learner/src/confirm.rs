//! Whether the counters of a checkpoint agree with what the folder of its run holds.
//! A counter that is too large lets a run train for ever, one that is too small lets it train twice on the same samples.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use latrunculi_data::{ShardSummary, TrainingCounters};
use latrunculi_eval::learning::Round;
use latrunculi_train::error::{Context, Error, bail};
use latrunculi_train::run_dir::{METRICS, RunDir, SHARDS};

use crate::state::RunState;

/// The most samples trained on per sample played, whatever the configuration was; `replay.reuse` is at most this.
const REUSE_MAX: u64 = 1000;
const GAMES_PER_SAMPLE_MAX: u64 = 1000;
/// The most samples that can be missing: twice the most of a generation.
const SHORTFALL_MAX: u64 = 1 << 31;
/// More seconds than pass between the metrics of a round and its checkpoint.
const SAVING_SECS_MAX: f64 = 3600.0;

/// Checks the counters of the checkpoint at `path`: against one another, and against the metrics, or where these are
/// missing, against the shards. Returns whether the metrics up to the checkpoint are there.
/// Error: every counter that is wrong, and the way out.
pub(crate) fn counters(
    folder: &RunDir,
    path: &Path,
    state: &RunState,
    training: TrainingCounters,
) -> Result<bool, Error> {
    let mut faults = Faults::default();
    let name = path.file_name().unwrap_or_default();
    let own = folder.checkpoint_path(state.generations);
    faults.check(own.file_name() == Some(name), || format!("it was made after {} generations", state.generations));
    check_sums(state, training, &mut faults);
    let has_metrics = state.metrics_bytes == 0 || folder.metrics_bytes() > 0;
    if !has_metrics && faults.0.is_empty() {
        let there = samples_of_shards(folder, state.generations)?;
        faults.equal("samples", state.samples, there, "the shards have");
    }
    if has_metrics && state.metrics_bytes > 0 {
        let round = last_round(folder, state.metrics_bytes)?;
        let generations = round.generation + u64::from(round.games.is_some());
        faults.equal("generations", state.generations, generations, "the metrics say");
        faults.equal("samples", state.samples, round.samples_total, "the metrics say");
        faults.equal("steps", training.steps, round.steps_total, "the metrics say");
        let since = state.elapsed_secs - round.elapsed_secs;
        faults.check((0.0..=SAVING_SECS_MAX).contains(&since), || {
            format!("elapsed_secs is {}, the metrics say {}", state.elapsed_secs, round.elapsed_secs)
        });
    }
    if !faults.0.is_empty() {
        bail!(
            "{}: its counters are not those of this run: {}; restore the file, or write the name of an earlier one of \
             checkpoints/ into latest",
            path.display(),
            faults.0.join("; ")
        );
    }
    Ok(has_metrics)
}

#[derive(Default)]
struct Faults(Vec<String>);

impl Faults {
    fn check(&mut self, holds: bool, fault: impl FnOnce() -> String) {
        if !holds {
            self.0.push(fault());
        }
    }

    fn equal(&mut self, what: &str, counted: u64, found: u64, who: &str) {
        self.check(counted == found, || format!("{what} is {counted}, {who} {found}"));
    }

    fn at_most(&mut self, what: &str, counted: u64, most: u64) {
        self.check(counted <= most, || format!("{what} is {counted} and can be {most} at most"));
    }
}

/// Checks what the counters of a state say of one another.
fn check_sums(state: &RunState, training: TrainingCounters, faults: &mut Faults) {
    let played: u128 = state.rulesets.iter().map(|known| u128::from(known.samples)).sum();
    let played = played + u128::from(state.mixes_samples);
    faults.check(u128::from(state.samples) == played, || {
        format!("samples is {}, those of the rulesets and mixes are {played}", state.samples)
    });
    // A game may have no sample, but not many in a row have none.
    faults.at_most("games", state.games, state.samples.saturating_mul(GAMES_PER_SAMPLE_MAX));
    faults.at_most("the number of samples trained on", training.samples, state.samples.saturating_mul(REUSE_MAX));
    faults.at_most("steps", training.steps, training.samples);
    faults.check(training.samples == 0 || training.steps > 0, || "samples were trained on in no step".to_owned());
    for (name, secs, most) in [
        ("elapsed_secs", state.elapsed_secs, f64::MAX),
        ("last_secs", state.last_secs, state.elapsed_secs),
        ("last_training_secs", state.last_training_secs, state.last_secs),
    ] {
        faults.check((0.0..=most).contains(&secs), || format!("{name} is {secs} and must be from 0 to {most}"));
    }
    let ahead = state.rulesets.iter().map(|known| known.ahead).chain(state.mixes.iter().map(|mix| mix.ahead));
    for ahead in ahead.chain([state.mixes_ahead]) {
        faults.at_most("ahead", ahead.max(0).unsigned_abs(), state.samples);
        faults.at_most("a shortfall of samples", ahead.min(0).unsigned_abs(), SHORTFALL_MAX);
    }
    let shares: f64 = state.rulesets.iter().map(|known| known.share).sum();
    let is_share = |share: f64| share > 0.0 && share <= 1.0;
    faults.check((shares - 1.0).abs() < 1e-6 && state.rulesets.iter().all(|known| is_share(known.share)), || {
        format!("the shares of the rulesets sum to {shares}")
    });
    faults.check(state.next_measured < state.rulesets.len(), || "next_measured names no ruleset".to_owned());
    let numbers: BTreeSet<u64> = state.mixes.iter().map(|mix| mix.number).collect();
    let are_drawn = numbers.len() == state.mixes.len() && numbers.last() < Some(&state.mixes_drawn).filter(|n| **n > 0);
    faults.check(numbers.is_empty() || are_drawn, || "a mix is played that has not been drawn".to_owned());
    state.mixes.iter().for_each(|mix| faults.at_most("samples of a mix", mix.samples, state.mixes_samples));
    let windows = state.rulesets.iter().map(|known| &known.window);
    for window in windows.chain(state.mix_windows.iter().map(|mix| &mix.generations)) {
        let rises = window.windows(2).all(|pair| pair[0] < pair[1]);
        faults.check(rises && window.last().is_none_or(|last| *last < state.generations), || {
            format!("a replay window holds the generations {window:?}")
        });
    }
}

/// Reads the last of the first `bytes` of the metrics, which end with a whole line.
fn last_round(folder: &RunDir, bytes: u64) -> Result<Round, Error> {
    let path = folder.path(METRICS);
    let there = folder.metrics_bytes();
    let refused = |what: &str| {
        format!(
            "{}: {what}; restore the file, or remove it to go on with a learning curve that begins anew",
            path.display()
        )
    };
    if there < bytes {
        bail!("{}", refused(&format!("it has {there} bytes, {bytes} at the last checkpoint")));
    }
    let mut text = String::new();
    let read = File::open(&path).and_then(|file| file.take(bytes).read_to_string(&mut text));
    read.with_context(|| path.display().to_string())?;
    let other = || refused("its lines are not those at the last checkpoint");
    let line = text.strip_suffix('\n').and_then(|text| text.lines().next_back()).with_context(other)?;
    serde_json::from_str(line).with_context(other)
}

/// Counts the samples of all shards of the generations before `generations`.
fn samples_of_shards(folder: &RunDir, generations: u64) -> Result<u64, Error> {
    let shards = folder.root().join(SHARDS);
    let mut samples = 0_u64;
    for entry in fs::read_dir(&shards).with_context(|| shards.display().to_string())? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let generation = name.split('-').next().and_then(|number| number.parse::<u64>().ok());
        let is_shard = path.extension().is_some_and(|extension| extension == "npz");
        if is_shard && generation.is_some_and(|generation| generation < generations) {
            samples = samples.saturating_add(ShardSummary::read(&path)?.samples);
        }
    }
    Ok(samples)
}

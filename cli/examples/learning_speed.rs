//! Compares settings of learning on the same games: same seeds, same samples, same steps; what is left to learn is
//! measured on games that were held out.
//!
//! `cargo run --release -p latrunculi-cli --example learning_speed -- RUN STEPS SEEDS VARIANT…`
//!
//! RUN is the folder of a training run; its newest shard is held out. A VARIANT is a list of changes separated by
//! commas, or `base`: `no-threats`, `no-rules` and `no-counters` blind the network for those inputs; `KEY=NUMBER` sets
//! blocks, channels, rate, survival, reply, turns, margin, value, search, decay, batch, mirror or pooling.

#![expect(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use latrunculi_data::{
    Encoder, PLANES, ReplaySettings, ReplayWindow, SCALARS, Samples, ShardSummary, TrainingBatch, read_shard,
};
use latrunculi_data::{NetworkConfig, Pooling, StepReport, TrainingConfig};
use latrunculi_engine::{Rules, RulesetFile, Symmetry, presets};
use latrunculi_model::{Device, Network, Trainer};
use latrunculi_selfplay::{GameKey, Purpose};

/// Which inputs the network does not see.
#[derive(Clone, Copy, Default)]
struct Blindness {
    threats: bool,
    rules: bool,
    counters: bool,
}

impl Blindness {
    fn apply(self, batch: &mut TrainingBatch) {
        let shape = batch.shape;
        for planes in batch.planes.chunks_exact_mut(shape.planes * shape.area()) {
            for (name, plane) in PLANES.iter().zip(planes.chunks_exact_mut(shape.area())) {
                if self.threats && (name.contains("taken next") || name.contains("would take")) {
                    plane.fill(0.0);
                }
            }
        }
        if self.rules {
            batch.rule_inputs.fill(0.0);
        }
        for scalars in batch.scalars.chunks_exact_mut(SCALARS.len()) {
            if self.counters {
                scalars[14..].fill(0.0);
            }
        }
    }
}

#[derive(Clone)]
struct Variant {
    network: NetworkConfig,
    training: TrainingConfig,
    replay: ReplaySettings,
    blindness: Blindness,
    batch_size: usize,
}

impl Variant {
    fn parse(text: &str) -> Result<Variant, Box<dyn Error>> {
        let mut variant = Variant {
            network: NetworkConfig::default(),
            training: TrainingConfig {
                learning_rate: 3e-3,
                decay_from: 0.5,
                ema_decay: 0.99,
                ..TrainingConfig::default()
            },
            replay: ReplaySettings { window_base: 1e9, ..ReplaySettings::default() },
            blindness: Blindness::default(),
            batch_size: 256,
        };
        for change in text.split(',').filter(|change| *change != "base") {
            let (key, value) = change.split_once('=').unwrap_or((change, "0"));
            let number: f64 = value.parse()?;
            let (network, training) = (&mut variant.network, &mut variant.training);
            match key {
                "no-threats" => variant.blindness.threats = true,
                "no-rules" => variant.blindness.rules = true,
                "no-counters" => variant.blindness.counters = true,
                "blocks" => network.blocks = number as usize,
                "channels" => network.channels = number as usize,
                "keys" => network.policy_channels = number as usize,
                "features" => network.value_channels = number as usize,
                "pooling" => {
                    network.pooling =
                        [Pooling::None, Pooling::GlobalBias, Pooling::SqueezeExcitation][number as usize % 3];
                }
                "rate" => training.learning_rate = number,
                "survival" => training.survival_weight = number,
                "reply" => training.opponent_policy_weight = number,
                "turns" => training.moves_left_weight = number,
                "margin" => training.margin_weight = number,
                "value" => training.value_weight = number,
                "decay" => training.weight_decay = number,
                "search" => variant.replay.bootstrap_weight = number as f32,
                "mirror" => variant.replay.mirror = number != 0.0,
                "batch" => variant.batch_size = number as usize,
                _ => return Err(format!("unknown change '{change}'").into()),
            }
        }
        Ok(variant)
    }

    /// Trains on `samples` and returns the losses on `held_out`.
    fn losses(
        &self,
        rules: &Arc<Rules>,
        samples: &[Samples],
        held_out: &Samples,
        steps: u64,
        seed: u64,
    ) -> Result<StepReport, Box<dyn Error>> {
        let network = Network::new(&self.network, seed, Device::CPU)?;
        let mut trainer = Trainer::new(&network, &self.training)?;
        let mut window = ReplayWindow::new(Arc::clone(rules), self.replay, 0);
        (0..).zip(samples).for_each(|(generation, samples)| window.add(generation, samples.clone()));
        let mut draw = window.draw(GameKey { run_seed: seed, series: 0, game: 0 }.stream(Purpose::Training));
        for step in 0..steps {
            let mut batch = draw.batch(self.batch_size);
            self.blindness.apply(&mut batch);
            trainer.step(&[batch], step as f64 / steps as f64)?;
        }
        let encoder = Encoder::new(Arc::clone(rules));
        let places: Vec<usize> = (0..held_out.len()).step_by(2).collect();
        let (mut sum, mut count) = (StepReport::default(), 0.0);
        for places in places.chunks(512) {
            let mut batch = TrainingBatch::new(encoder.shape());
            // Losses of value are measured against the results of the games.
            let results = ReplaySettings { bootstrap_weight: 0.0, draw_margin_fraction: 0.0, ..self.replay };
            places
                .iter()
                .for_each(|&index| held_out.write_into(index, &encoder, Symmetry::IDENTITY, &results, &mut batch));
            self.blindness.apply(&mut batch);
            let report = trainer.evaluate(&[batch])?;
            let weight = places.len() as f64;
            sum.policy += weight * (report.policy - report.target_entropy);
            sum.value += weight * report.value;
            sum.margin += weight * report.margin;
            sum.survival += weight * report.survival;
            count += weight;
        }
        for loss in [&mut sum.policy, &mut sum.value, &mut sum.margin, &mut sum.survival] {
            *loss /= count;
        }
        Ok(sum)
    }
}

/// Returns mean and standard deviation.
fn spread(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
    (mean, variance.sqrt())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [run, steps, seeds, variants @ ..] = &arguments[..] else {
        return Err("usage: learning_speed RUN STEPS SEEDS VARIANT…".into());
    };
    let (steps, seeds): (u64, u64) = (steps.parse()?, seeds.parse()?);
    let run = Path::new(run);
    let mut paths: Vec<_> = std::fs::read_dir(run.join("shards"))?.flatten().map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "npz"));
    paths.sort();
    let text = ShardSummary::read(paths.first().ok_or("the run has no shard")?)?.ruleset_text;
    let ruleset =
        RulesetFile::parse(&text, &presets::file, presets::NAMES).map_err(|error| format!("{error:?}"))?.ruleset;
    let rules = Arc::new(Rules::new(&ruleset)?);
    let mut samples = Vec::new();
    for path in &paths {
        samples.push(read_shard(path, &rules)?.1);
    }
    let held_out = samples.pop().ok_or("the run has no shard")?;
    println!("{} samples to learn from, {} held out", samples.iter().map(Samples::len).sum::<usize>(), held_out.len());
    for text in variants {
        let variant = Variant::parse(text)?;
        let mut reports = Vec::new();
        for seed in 1..=seeds {
            reports.push(variant.losses(&rules, &samples, &held_out, steps, seed)?);
        }
        let of = |part: fn(&StepReport) -> f64| spread(&reports.iter().map(part).collect::<Vec<f64>>());
        let parts = [of(|r| r.policy), of(|r| r.value), of(|r| r.margin), of(|r| r.survival)];
        let names = ["policy KL", "value", "margin", "survival"];
        let shown: Vec<String> =
            names.iter().zip(parts).map(|(name, (mean, sd))| format!("{name} {mean:.4} ± {sd:.4}")).collect();
        println!("{text:32} {}", shown.join("  "));
    }
    Ok(())
}

//! Measures evaluations per second of libtorch and of every kernel of `latrunculi-infer` on one network and the same
//! positions of real games, in turns, on one thread; heads and legal actions included, encoding left out.
//!
//! `cargo run --release -p latrunculi-model --example compare_inference -- [blocks x channels,…] [batch,…] [ruleset]
//! [seconds] [f32]`
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use latrunculi_data::{EncodedPositions, ModelInfo, NetworkConfig, Precision};
use latrunculi_engine::{Action, GameState, Rules, presets};
use latrunculi_infer::{InferenceModel, Kernel, PositionBatch};
use latrunculi_model::{Answers, Device, InferenceNetwork, Model, Network};

/// Something that answers the batch once.
type Answer<'a> = Box<dyn FnMut() -> Result<(), Box<dyn Error>> + 'a>;

/// Returns the time that the calling thread has computed, in seconds, so that other work on the machine counts little;
/// where the system does not say it, the time that has passed.
fn seconds() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let start = START.get_or_init(Instant::now);
    let computed = || -> Option<f64> {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        Some(text.split(' ').next()?.parse::<f64>().ok()? * 1e-9)
    };
    computed().unwrap_or_else(|| start.elapsed().as_secs_f64())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let list = |index: usize, default: &str| -> Vec<String> {
        let text = arguments.get(index).map_or(default, String::as_str);
        text.split(',').map(str::to_owned).collect()
    };
    let ruleset = &list(2, "dutch-8x8")[0];
    let duration: f64 = list(3, "5")[0].parse()?;
    let rules = presets::ruleset(ruleset).ok_or("no such ruleset")?;
    let rules = Arc::new(Rules::new(&rules)?);
    let folder = std::env::temp_dir().join(format!("latrunculi-compare-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let path = folder.join("model.safetensors");
    for size in list(0, "4x32,5x48,6x64,10x128") {
        let (blocks, channels) = size.split_once('x').ok_or("blocks x channels")?;
        let (blocks, channels): (usize, usize) = (blocks.parse()?, channels.parse()?);
        let heads = if channels > 64 { 32 } else { (channels / 2).clamp(16, 24) };
        let config = NetworkConfig {
            blocks,
            channels,
            policy_channels: heads,
            value_channels: heads,
            value_hidden: 4 * heads,
            ..NetworkConfig::default()
        };
        let network = Network::new(&config, 1, Device::CPU)?;
        let model = Model { network, info: ModelInfo::default() };
        model.save(&path)?;
        let inference = InferenceModel::load(&path)?;
        for batch in list(1, "128,256") {
            let batch: usize = batch.parse()?;
            let (mut encoded, mut positions) = (EncodedPositions::default(), PositionBatch::default());
            let mut actions: Vec<Action> = Vec::new();
            let mut game = GameState::new(Arc::clone(&rules));
            let mut step = 3;
            while positions.len() < batch {
                game.legal_actions(&mut actions);
                encoded.push(&game, &actions);
                positions.push_game(&game, &actions);
                game.play(actions[step % actions.len()]);
                step += 7;
                if game.outcome().is_some() {
                    game = GameState::new(Arc::clone(&rules));
                }
            }
            let mut answers: Vec<(String, Answer<'_>, Vec<f64>)> = Vec::new();
            let mut precisions = vec![Precision::Bf16];
            precisions.extend((list(4, "")[0] == "f32").then_some(Precision::F32));
            for precision in precisions {
                let mut network = InferenceNetwork::new(&model.network, &rules, Device::CPU, precision)?;
                let (encoded, mut found) = (&encoded, Answers::default());
                let run = move || Ok(network.answer(&encoded.as_batch(), &mut found)?);
                answers.push((format!("libtorch-{precision}"), Box::new(run), Vec::new()));
            }
            for kernel in Kernel::available() {
                let mut session = inference.network(kernel, &rules, &positions)?.session();
                let (positions, mut found) = (&positions, latrunculi_infer::Answers::default());
                let run = move || Ok(session.answer(positions, &mut found)?);
                answers.push((kernel.to_string(), Box::new(run), Vec::new()));
            }
            let begun = Instant::now();
            while begun.elapsed().as_secs_f64() < duration || answers[0].2.len() < 3 {
                for (_, answer, rates) in &mut answers {
                    let (start, mut count) = (seconds(), 0);
                    while count == 0 || seconds() - start < 0.02 {
                        answer()?;
                        count += batch;
                    }
                    rates.push(count as f64 / (seconds() - start));
                }
            }
            let rates: Vec<(String, f64, f64)> = answers
                .into_iter()
                .map(|(name, _, mut rates)| {
                    rates.sort_by(f64::total_cmp);
                    (name, rates[rates.len() / 2], rates[rates.len() - 1])
                })
                .collect();
            for (name, median, best) in &rates {
                let (ratio, of_best) = (median / rates[0].1, best / rates[0].2);
                println!(
                    "{size} {ruleset} batch {batch} {name}: {median:.0}/s, ratio {ratio:.2} (best {best:.0}/s, {of_best:.2})"
                );
            }
        }
    }
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

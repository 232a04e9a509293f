//! Measures what it costs to encode positions beside what the network costs, on one thread.
//!
//! `cargo run --release -p latrunculi-model --example encoding_cost -- [blocks] [channels] [batch] [ruleset …]`
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::error::Error;
use std::sync::Arc;

use latrunculi_data::{EncodedPosition, EncodedPositions, NetworkConfig, Precision};
use latrunculi_engine::{Action, GameState, Player, Rules, presets};
use latrunculi_model::{Answers, Device, InferenceNetwork, Network};

/// Returns the seconds that the calling thread has computed, so that other work on the machine counts little.
fn seconds() -> Result<f64, Box<dyn Error>> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    Ok(text.split(' ').next().ok_or("an empty schedstat")?.parse::<f64>()? * 1e-9)
}

/// Returns the microseconds a position that `work` takes, the best of some rounds over `count` positions. The system
/// counts in ticks of some milliseconds, so that a round is long.
fn cost(count: usize, mut work: impl FnMut()) -> Result<f64, Box<dyn Error>> {
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let (start, mut done, mut took) = (seconds()?, 0, 0.0);
        while took < 0.15 {
            work();
            done += count;
            took = seconds()? - start;
        }
        best = best.min(took / done as f64 * 1e6);
    }
    Ok(best)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number =
        |index: usize, default: usize| arguments.get(index).and_then(|text| text.parse().ok()).unwrap_or(default);
    let config = NetworkConfig { blocks: number(0, 4), channels: number(1, 32), ..NetworkConfig::default() };
    let batch = number(2, 128);
    let names: Vec<&str> = match arguments.get(3..) {
        Some(names) if !names.is_empty() => names.iter().map(String::as_str).collect(),
        _ => vec!["bell", "dutch-8x8", "savard", "beads", "falkener"],
    };
    println!(
        "{} blocks x {} channels, batch {batch}; microseconds a position on one thread",
        config.blocks, config.channels
    );
    for name in names {
        let rules = Arc::new(Rules::new(&presets::ruleset(name).ok_or("unknown ruleset")?)?);
        let positions = positions(&rules, 16 * batch);
        let count = positions.len();
        let threats = cost(count, || {
            for (game, _) in &positions {
                for player in Player::BOTH {
                    std::hint::black_box(rules.threats(game.position(), player));
                }
            }
        })?;
        let sight = cost(count, || {
            for (game, _) in &positions {
                std::hint::black_box(EncodedPosition::new(&rules, game.position(), game.repetitions()));
            }
        })?;
        let mut encoded = EncodedPositions::default();
        let all = cost(count, || {
            for positions in positions.chunks(batch) {
                encoded.clear();
                positions.iter().for_each(|(game, actions)| encoded.push(game, actions));
            }
        })?;
        let network = Network::new(&config, 1, Device::CPU)?;
        let mut network = InferenceNetwork::new(&network, &rules, Device::CPU, Precision::Auto)?;
        let mut answers = Answers::default();
        let size = encoded.as_batch().len();
        let mut failed = None;
        let forward = cost(size * 8, || {
            for _ in 0..8 {
                failed = network.answer(&encoded.as_batch(), &mut answers).err().or(failed.take());
            }
        })?;
        if let Some(error) = failed {
            return Err(error.into());
        }
        println!(
            "{name:12} threats {threats:5.2}, planes and scalars {sight:5.2}, encoding in all {all:5.2}, network ({}) \
             {forward:6.1}: encoding is {:4.1} % of both",
            network.precision(),
            100.0 * all / (all + forward)
        );
    }
    Ok(())
}

/// Returns positions of random games with their legal actions.
fn positions(rules: &Arc<Rules>, count: usize) -> Vec<(GameState, Vec<Action>)> {
    let mut found = Vec::new();
    let mut state = 1_u64;
    while found.len() < count {
        let mut game = GameState::new(Arc::clone(rules));
        for _ in 0..150 {
            let mut actions = Vec::new();
            game.legal_actions(&mut actions);
            if actions.is_empty() {
                break;
            }
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let action = actions[(state >> 33) as usize % actions.len()];
            found.push((game.clone(), actions));
            game.play(action);
        }
    }
    found.truncate(count);
    found
}

//! Measures evaluations per second of every kernel that this processor has, in turns, on one thread.
//!
//! `cargo run --release -p latrunculi-infer --example rate -- [blocks x channels,…] [batch,…] [files x ranks] [seconds]`
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::OnceLock;
use std::time::Instant;

use latrunculi_data::{NetworkConfig, Pooling, Shape};
use latrunculi_engine::{Square, SquareSet};
use latrunculi_infer::{Answers, InferenceModel, Kernel, ModelInfo, NamedTensor, PositionBatch, Session};

/// Numbers in `[0, 1)`, the same each time.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 40) as f32 / (1_u64 << 24) as f32
    }
}

fn model(config: &NetworkConfig, shape: &Shape) -> Result<InferenceModel, Box<dyn Error>> {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let mut tensors = BTreeMap::new();
    let mut add = |name: String, shape: &[usize], range: f32| {
        let values = (0..shape.iter().product()).map(|_| range * (2.0 * numbers.next() - 1.0)).collect();
        tensors.insert(name, NamedTensor { shape: shape.to_vec(), values });
    };
    let (channels, keys) = (config.channels, config.policy_channels);
    let (features, hidden) = (config.value_channels, config.value_hidden);
    add("stem.weight".to_owned(), &[channels, 3, 3, shape.planes], 0.3);
    add("stem.bias".to_owned(), &[channels], 0.1);
    add("stem.scalars.weight".to_owned(), &[channels, shape.scalars], 0.2);
    for block in 0..config.blocks {
        for half in 1..=2 {
            add(format!("blocks.{block}.conv{half}.weight"), &[channels, 3, 3, channels], 0.1);
            add(format!("blocks.{block}.conv{half}.gain"), &[channels], 1.0);
            add(format!("blocks.{block}.conv{half}.bias"), &[channels], 0.1);
        }
        if (block + 1) % config.pooling_every == 0 {
            add(format!("blocks.{block}.global.weight"), &[channels, 2 * channels], 0.05);
        }
    }
    let dense = [
        ("policy.from", keys, channels),
        ("policy.to", keys, channels),
        ("value.features", features, channels),
        ("value.hidden", hidden, 2 * features),
        ("value.win_draw_loss", 3, hidden),
        ("value.margin", 1, hidden),
        ("policy.stop_pass", 2, hidden),
        ("policy.queries", 4 * keys, hidden),
    ];
    for (name, rows, columns) in dense {
        add(format!("{name}.weight"), &[rows, columns], 0.2);
        add(format!("{name}.bias"), &[rows], 0.1);
    }
    Ok(InferenceModel::from_tensors(config, shape, ModelInfo::default(), tensors)?)
}

fn positions(shape: &Shape, count: usize) -> PositionBatch {
    let mut numbers = Numbers(7);
    let mut batch = PositionBatch::default();
    let rule_inputs = vec![0.5; shape.scalars - 18];
    batch.clear(&rule_inputs);
    let (area, none) = (shape.area(), shape.policy_len() as u32);
    for _ in 0..count {
        let planes: Vec<SquareSet> = (0..shape.planes)
            .map(|_| (0..area).filter(|_| numbers.next() < 0.15).map(Square::from_index).collect())
            .collect();
        let scalars: Vec<f32> = (0..18).map(|_| numbers.next()).collect();
        let actions: Vec<[u32; 2]> = (0..40).map(|_| [(numbers.next() * (area * area) as f32) as u32, none]).collect();
        batch.push(&planes, &scalars, actions);
    }
    batch
}

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
    let pair = |text: &str| -> Result<(usize, usize), Box<dyn Error>> {
        let (left, right) = text.split_once('x').ok_or("two numbers with an x between")?;
        Ok((left.parse()?, right.parse()?))
    };
    let (files, ranks) = pair(&list(2, "8x8")[0])?;
    let duration: f64 = list(3, "3")[0].parse()?;
    let shape = Shape { files, ranks, planes: 18, scalars: 140 };
    for size in list(0, "4x32,5x48,6x64,10x128") {
        let (blocks, channels) = pair(&size)?;
        let heads = if channels > 64 { 32 } else { (channels / 2).clamp(16, 24) };
        let config = NetworkConfig {
            blocks,
            channels,
            pooling: Pooling::GlobalBias,
            pooling_every: 2,
            policy_channels: heads,
            value_channels: heads,
            value_hidden: 4 * heads,
        };
        let model = model(&config, &shape)?;
        let calibration = positions(&shape, 64);
        for batch in list(1, "128,256") {
            let positions = positions(&shape, batch.parse()?);
            let mut sessions: Vec<(Session, Vec<f64>)> = Vec::new();
            for kernel in Kernel::available() {
                sessions.push((model.network(kernel, &calibration)?.session(), Vec::new()));
            }
            let mut answers = Answers::default();
            let begun = Instant::now();
            while begun.elapsed().as_secs_f64() < duration || sessions[0].1.len() < 3 {
                for (session, rates) in &mut sessions {
                    let (start, mut count) = (seconds(), 0);
                    while count == 0 || seconds() - start < 0.02 {
                        session.answer(&positions, &mut answers)?;
                        count += positions.len();
                    }
                    rates.push(count as f64 / (seconds() - start));
                }
            }
            for (session, rates) in &mut sessions {
                rates.sort_by(f64::total_cmp);
                let (median, best) = (rates[rates.len() / 2], rates[rates.len() - 1]);
                let kernel = session.network().kernel();
                println!("{size} {files}x{ranks} batch {batch} {kernel}: {median:.0}/s (best {best:.0}/s)");
            }
        }
    }
    Ok(())
}

//! `bench engine`: random playouts.

use std::time::{Duration, Instant};

use clap::Args;
use latrunculi_engine::GameState;
use latrunculi_search::latrunculi::play_at_random;
use latrunculi_train::rulesets;
use serde_json::json;

use super::{names_or_all, processor_secs, seconds};

#[derive(Args)]
pub(super) struct EngineArgs {
    /// Rulesets, by name or path [default: every shipped one]
    #[arg(value_name = "RULESET")]
    rulesets: Vec<String>,
    /// Seconds to measure each ruleset
    #[arg(long, default_value_t = 1.0, value_parser = seconds)]
    seconds: f64,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// What random playouts of one ruleset came to.
struct Playouts {
    games: u64,
    actions: u64,
    wall_secs: f64,
    /// Seconds that the processor gave to this program, where the system tells.
    processor_secs: Option<f64>,
    /// Outcome of the first games in one number, to compare builds by.
    checksum: u64,
}

pub(super) fn run(args: &EngineArgs) -> anyhow::Result<()> {
    let names = names_or_all(&args.rulesets);
    let mut rows = Vec::new();
    if !args.json {
        println!(
            "{:<27} {:>14} {:>16} {:>9} {:>9}  checksum",
            "ruleset", "actions/s", "per proc. second", "games", "length"
        );
    }
    for name in &names {
        let start = GameState::new(rulesets::load(name)?);
        let playouts = measure(&start, Duration::from_secs_f64(args.seconds));
        let per_wall = playouts.actions as f64 / playouts.wall_secs;
        let per_processor = playouts.processor_secs.map(|secs| playouts.actions as f64 / secs);
        if args.json {
            rows.push(json!({
                "ruleset": name, "actions_per_sec": per_wall, "actions_per_processor_sec": per_processor,
                "games": playouts.games, "actions": playouts.actions, "checksum": format!("{:016x}", playouts.checksum),
            }));
        } else {
            println!(
                "{name:<27} {per_wall:>14.0} {:>16} {:>9} {:>9.1}  {:016x}",
                per_processor.map_or_else(|| "-".to_owned(), |rate| format!("{rate:.0}")),
                playouts.games,
                playouts.actions as f64 / playouts.games as f64,
                playouts.checksum
            );
        }
    }
    if args.json {
        println!("{}", serde_json::to_string_pretty(&rows)?);
    }
    Ok(())
}

/// Games whose outcome goes into the checksum; they are always played.
const CHECKSUM_GAMES: u64 = 10;

fn measure(start: &GameState, least: Duration) -> Playouts {
    let mut state = start.clone();
    let mut legal = Vec::with_capacity(1024);
    let mut playouts = Playouts { games: 0, actions: 0, wall_secs: 0.0, processor_secs: None, checksum: 0 };
    let processor_begin = processor_secs();
    let begin = Instant::now();
    while playouts.games < CHECKSUM_GAMES || begin.elapsed() < least {
        state.clone_from(start);
        let played = play_at_random(&mut state, &mut legal, playouts.games);
        playouts.actions += played;
        if playouts.games < CHECKSUM_GAMES {
            playouts.checksum = playouts.checksum.rotate_left(7) ^ state.position().key() ^ played;
        }
        playouts.games += 1;
    }
    playouts.wall_secs = begin.elapsed().as_secs_f64();
    playouts.processor_secs =
        processor_begin.zip(processor_secs()).map(|(begin, end)| end - begin).filter(|secs| *secs > 0.05);
    playouts
}

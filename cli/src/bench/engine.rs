//! `bench engine`: random playouts.

use clap::Args;
use latrunculi_engine::GameState;
use latrunculi_search::latrunculi::play_at_random;
use latrunculi_train::rulesets;
use serde::Serialize;

use super::{Stopwatch, names_or_all, or_dash, seconds};
use crate::lines::Table;

#[derive(Args)]
pub(super) struct EngineArgs {
    /// Rulesets, by name or path [default: every shipped one]
    #[arg(value_name = "RULESET")]
    rulesets: Vec<String>,
    /// Seconds to measure each ruleset
    #[arg(long, default_value_t = 1.0, value_parser = seconds())]
    seconds: f64,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// What random playouts of one ruleset came to.
#[derive(Serialize)]
struct Playouts {
    ruleset: String,
    actions_per_sec: f64,
    /// By the seconds that the processor gave to this program, where the system tells.
    actions_per_processor_sec: Option<f64>,
    games: u64,
    actions: u64,
    /// Outcome of the first games in one number, to compare builds by.
    checksum: String,
}

pub(super) fn run(args: &EngineArgs) -> anyhow::Result<()> {
    let table = Table::new()
        .left("ruleset", 27, |row: &Playouts| row.ruleset.clone())
        .right("actions/s", 13, |row| format!("{:.0}", row.actions_per_sec))
        .right("per proc. second", 16, |row| or_dash(row.actions_per_processor_sec, 0))
        .right("games", 8, |row| row.games.to_string())
        .right("length", 8, |row| format!("{:.1}", row.actions as f64 / row.games as f64))
        .left("checksum", 0, |row| row.checksum.clone());
    let names = names_or_all(&args.rulesets);
    table.print(args.json, names.into_iter().map(|name| measure(name, args.seconds)))
}

/// Games whose outcome goes into the checksum; they are always played.
const CHECKSUM_GAMES: u64 = 10;

fn measure(ruleset: String, least: f64) -> anyhow::Result<Playouts> {
    let start = GameState::new(rulesets::load(&ruleset)?);
    let mut state = start.clone();
    let mut legal = Vec::with_capacity(1024);
    let (mut games, mut actions, mut checksum) = (0, 0, 0u64);
    let watch = Stopwatch::start();
    while games < CHECKSUM_GAMES || watch.secs() < least {
        state.clone_from(&start);
        let played = play_at_random(&mut state, &mut legal, games);
        actions += played;
        if games < CHECKSUM_GAMES {
            checksum = checksum.rotate_left(7) ^ state.position().key() ^ played;
        }
        games += 1;
    }
    let (wall_secs, computed) = (watch.secs(), watch.processor_secs().filter(|secs| *secs > 0.05));
    Ok(Playouts {
        ruleset,
        actions_per_sec: actions as f64 / wall_secs,
        actions_per_processor_sec: computed.map(|secs| actions as f64 / secs),
        games,
        actions,
        checksum: format!("{checksum:016x}"),
    })
}

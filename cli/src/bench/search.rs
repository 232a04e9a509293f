//! `bench search`: alpha-beta, and MCTS with a uniform evaluator.

use clap::Args;
use latrunculi_engine::{GameState, Phase};
use latrunculi_search::latrunculi::MeasuredSearches;
use latrunculi_train::rulesets;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;

use super::{Stopwatch, names_or_all};
use crate::lines::Table;

#[derive(Args)]
pub(super) struct SearchArgs {
    /// Rulesets, by name or path [default: every shipped one]
    #[arg(value_name = "RULESET")]
    rulesets: Vec<String>,
    /// Nodes of alpha-beta per position
    #[arg(long, default_value_t = 50_000, value_parser = clap::value_parser!(u64).range(100..=1_000_000_000))]
    nodes: u64,
    /// Simulations of MCTS per position
    #[arg(long, default_value_t = 5_000, value_parser = clap::value_parser!(u32).range(16..=1_000_000))]
    simulations: u32,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// Positions of one ruleset that the searches are measured on.
const SEARCH_POSITIONS: u64 = 8;

/// Seconds that some work took, on the clock and of the processor.
#[derive(Clone, Copy, Default)]
struct Spent {
    wall_secs: f64,
    processor_secs: f64,
}

impl Spent {
    /// Runs `work` and adds the time that it took.
    fn add<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let watch = Stopwatch::start();
        let result = work();
        self.wall_secs += watch.secs();
        self.processor_secs += watch.processor_secs().unwrap_or_else(|| watch.secs());
        result
    }
}

/// What both searches of one ruleset came to, per second of the clock and of the processor.
#[derive(Serialize)]
struct Row {
    ruleset: String,
    alphabeta_nodes_per_sec: f64,
    alphabeta_nodes_per_processor_sec: f64,
    mcts_simulations_per_sec: f64,
    mcts_simulations_per_processor_sec: f64,
    checksum: String,
}

pub(super) fn run(args: &SearchArgs) -> anyhow::Result<()> {
    if !args.json {
        println!("per second of the clock, and in brackets per second of the processor");
    }
    let shown = |wall: f64, processor: f64| format!("{wall:.0} ({processor:.0})");
    let table = Table::new()
        .left("ruleset", 27, |row: &Row| row.ruleset.clone())
        .right("alpha-beta nodes/s", 23, |row| {
            shown(row.alphabeta_nodes_per_sec, row.alphabeta_nodes_per_processor_sec)
        })
        .right("MCTS simulations/s, uniform", 27, |row| {
            shown(row.mcts_simulations_per_sec, row.mcts_simulations_per_processor_sec)
        })
        .left("checksum", 0, |row| row.checksum.clone());
    table.print(args.json, names_or_all(&args.rulesets).into_iter().map(|name| measure(name, args)))
}

fn measure(ruleset: String, args: &SearchArgs) -> anyhow::Result<Row> {
    let start = GameState::new(rulesets::load(&ruleset)?);
    let (mut alphabeta, mut mcts) = (Spent::default(), Spent::default());
    let (mut nodes, mut simulations, mut checksum) = (0, 0, 0u64);
    let mut searches = MeasuredSearches::new(&start);
    for seed in 0..SEARCH_POSITIONS {
        let game = middle_game(&start, seed);
        let found = alphabeta.add(|| searches.alphabeta(&game, args.nodes));
        nodes += found.nodes;
        // The tree's memory is there after the first search; that one warms up.
        searches.begin_tree(&game, args.simulations, seed);
        searches.grow_tree()?;
        searches.begin_tree(&game, args.simulations, seed);
        let tree = mcts.add(|| searches.grow_tree())?;
        simulations += u64::from(searches.simulations());
        let visits = tree.visits.iter().fold(0u64, |sum, &visits| sum.wrapping_mul(31) + u64::from(visits));
        checksum = checksum.rotate_left(9) ^ found.nodes ^ (found.score as u64) << 32 ^ visits;
    }
    Ok(Row {
        ruleset,
        alphabeta_nodes_per_sec: nodes as f64 / alphabeta.wall_secs,
        alphabeta_nodes_per_processor_sec: nodes as f64 / alphabeta.processor_secs,
        mcts_simulations_per_sec: simulations as f64 / mcts.wall_secs,
        mcts_simulations_per_processor_sec: simulations as f64 / mcts.processor_secs,
        checksum: format!("{checksum:016x}"),
    })
}

/// Returns a position of the movement phase some random turns in, always the same for the same seed.
fn middle_game(start: &GameState, seed: u64) -> GameState {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut state = start.clone();
    let mut legal = Vec::new();
    let mut turns_left = 6;
    loop {
        let mut next = state.clone();
        next.legal_actions(&mut legal);
        next.play(legal[random.random_range(0..legal.len())]);
        if next.outcome().is_some() {
            return state;
        }
        state = next;
        if state.position().phase() == Phase::Movement {
            if turns_left == 0 && !state.position().is_mid_turn() {
                return state;
            }
            turns_left = i32::max(turns_left - 1, 0);
        }
    }
}

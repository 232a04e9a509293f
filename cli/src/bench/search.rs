//! `bench search`: alpha-beta, and MCTS with a uniform evaluator.

use std::time::Instant;

use clap::Args;
use latrunculi_engine::{GameState, Phase};
use latrunculi_search::latrunculi::MeasuredSearches;
use latrunculi_train::rulesets;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::json;

use super::{names_or_all, processor_secs};

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
        let (begin, processor_begin) = (Instant::now(), processor_secs());
        let result = work();
        self.wall_secs += begin.elapsed().as_secs_f64();
        self.processor_secs += match processor_begin.zip(processor_secs()) {
            Some((begin, end)) => end - begin,
            None => begin.elapsed().as_secs_f64(),
        };
        result
    }
}

pub(super) fn run(args: &SearchArgs) -> anyhow::Result<()> {
    let mut rows = Vec::new();
    if !args.json {
        println!("per second of the clock, and in brackets per second of the processor");
        println!("{:<27} {:>24} {:>28}  checksum", "ruleset", "alpha-beta nodes/s", "MCTS simulations/s, uniform");
    }
    for name in &names_or_all(&args.rulesets) {
        let start = GameState::new(rulesets::load(name)?);
        let (mut alphabeta_spent, mut mcts_spent) = (Spent::default(), Spent::default());
        let (mut nodes, mut simulations, mut checksum) = (0, 0, 0u64);
        let mut searches = MeasuredSearches::new(&start);
        for seed in 0..SEARCH_POSITIONS {
            let game = middle_game(&start, seed);
            let found = alphabeta_spent.add(|| searches.alphabeta(&game, args.nodes));
            nodes += found.nodes;
            // The tree's memory is there after the first search; that one warms up.
            searches.begin_tree(&game, args.simulations, seed);
            searches.grow_tree()?;
            searches.begin_tree(&game, args.simulations, seed);
            let tree = mcts_spent.add(|| searches.grow_tree())?;
            simulations += u64::from(searches.simulations());
            let visits = tree.visits.iter().fold(0u64, |sum, &visits| sum.wrapping_mul(31) + u64::from(visits));
            checksum = checksum.rotate_left(9) ^ found.nodes ^ (found.score as u64) << 32 ^ visits;
        }
        let rates = |count: u64, spent: Spent| (count as f64 / spent.wall_secs, count as f64 / spent.processor_secs);
        let (alphabeta_rate, mcts_rate) = (rates(nodes, alphabeta_spent), rates(simulations, mcts_spent));
        if args.json {
            rows.push(json!({
                "ruleset": name, "alphabeta_nodes_per_sec": alphabeta_rate.0,
                "alphabeta_nodes_per_processor_sec": alphabeta_rate.1, "mcts_simulations_per_sec": mcts_rate.0,
                "mcts_simulations_per_processor_sec": mcts_rate.1, "checksum": format!("{checksum:016x}"),
            }));
        } else {
            let shown = |(wall, processor): (f64, f64)| format!("{wall:.0} ({processor:.0})");
            println!("{name:<27} {:>24} {:>28}  {checksum:016x}", shown(alphabeta_rate), shown(mcts_rate));
        }
    }
    if args.json {
        println!("{}", serde_json::to_string_pretty(&rows)?);
    }
    Ok(())
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

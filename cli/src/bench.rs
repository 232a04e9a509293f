//! `bench`: what this machine gives.

mod inference;
mod selfplay;
mod training;

use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

use clap::builder::RangedU64ValueParser;
use clap::{Args, Subcommand};
use latrunculi_engine::{GameState, Phase, play_out, presets};
use latrunculi_search::alphabeta::{AlphaBeta, AlphaBetaSettings, Limits};
use latrunculi_search::evaluators::Uniform;
use latrunculi_search::latrunculi::LatrunculiHeuristic;
use latrunculi_search::mcts::{Search, SearchBudget, Settings};
use latrunculi_train::rulesets;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::json;

#[derive(Args)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    command: BenchCommand,
}

#[derive(Subcommand)]
enum BenchCommand {
    /// Uniformly random playouts on one thread: actions per second, the legal list generated at each
    Engine(EngineArgs),
    /// Both searches on one thread: alpha-beta nodes per second, and MCTS simulations per second with a
    /// uniform evaluator, which is the cost of the tree itself
    Search(SearchArgs),
    /// The bare network: positions per second by batch and precision
    Inference(inference::InferenceArgs),
    /// Self-play beside the bare network: which share of its rate the games come to
    Selfplay(selfplay::SelfplayArgs),
    /// Training steps: positions per second, and what the drawing of batches takes of it
    Training(training::TrainingArgs),
}

#[derive(Args)]
struct EngineArgs {
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

#[derive(Args)]
struct SearchArgs {
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

pub(crate) fn run(args: BenchArgs) -> anyhow::Result<()> {
    match args.command {
        BenchCommand::Engine(args) => engine(&args),
        BenchCommand::Search(args) => search(&args),
        BenchCommand::Inference(args) => inference::run(&args),
        BenchCommand::Selfplay(args) => selfplay::run(&args),
        BenchCommand::Training(args) => training::run(&args),
    }
}

/// Reads a whole number within a range.
fn whole(range: RangeInclusive<u64>) -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(range)
}

fn names_or_all(names: &[String]) -> Vec<String> {
    if names.is_empty() { presets::NAMES.iter().map(|name| (*name).to_owned()).collect() } else { names.to_vec() }
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

fn engine(args: &EngineArgs) -> anyhow::Result<()> {
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
        let mut random = Xoshiro256PlusPlus::seed_from_u64(playouts.games);
        state.clone_from(start);
        let played = play_out(&mut state, &mut legal, |count| random.random_range(0..count));
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

/// Reads how long to measure, in seconds.
fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.trim().parse().ok().filter(|&seconds: &f64| seconds > 0.0 && seconds <= 3600.0);
    seconds.ok_or_else(|| "a number above 0, 3600 at most".to_owned())
}

/// Returns the processor seconds of this thread, where the system tells: under load they say more than
/// the clock on the wall.
fn processor_secs() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: u64 = text.split_whitespace().next()?.parse().ok()?;
    Some(nanoseconds as f64 * 1e-9)
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

fn search(args: &SearchArgs) -> anyhow::Result<()> {
    let mut rows = Vec::new();
    if !args.json {
        println!("per second of the clock, and in brackets per second of the processor");
        println!("{:<27} {:>24} {:>28}  checksum", "ruleset", "alpha-beta nodes/s", "MCTS simulations/s, uniform");
    }
    for name in &names_or_all(&args.rulesets) {
        let start = GameState::new(rulesets::load(name)?);
        let (mut alphabeta_spent, mut mcts_spent) = (Spent::default(), Spent::default());
        let (mut nodes, mut simulations, mut checksum) = (0, 0, 0u64);
        let heuristic = LatrunculiHeuristic::new(start.rules());
        let mut alphabeta = AlphaBeta::new(AlphaBetaSettings::default(), heuristic);
        let mut mcts = Search::new(Settings::gumbel(), &start);
        for seed in 0..SEARCH_POSITIONS {
            let game = middle_game(&start, seed);
            let found = alphabeta_spent.add(|| alphabeta.search(&game, Limits::nodes(args.nodes)));
            nodes += found.nodes;
            // The tree's memory is there after the first search; that one warms up.
            for is_measured in [false, true] {
                mcts.set_root(&game);
                let mut random = ChaCha8Rng::seed_from_u64(seed);
                mcts.start(SearchBudget { simulations: args.simulations, add_noise: false }, &mut random);
                let mut spent = Spent::default();
                spent.add(|| mcts.run(&mut Uniform))?;
                if is_measured {
                    mcts_spent.wall_secs += spent.wall_secs;
                    mcts_spent.processor_secs += spent.processor_secs;
                    simulations += u64::from(mcts.simulations());
                }
            }
            let visits =
                mcts.result().visits.iter().fold(0u64, |sum, &visits| sum.wrapping_mul(31) + u64::from(visits));
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

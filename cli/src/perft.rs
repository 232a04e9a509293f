//! `perft`: leaf counts of the action tree.

use std::time::Instant;

use clap::Args;
use latrunculi_engine::perft::{divide, perft};

use crate::position_args::PositionArgs;

#[derive(Args)]
pub(crate) struct PerftArgs {
    #[command(flatten)]
    position: PositionArgs,
    /// Actions from the position to the leaves
    #[arg(long)]
    depth: u32,
    /// Prints the count below each action
    #[arg(long)]
    divide: bool,
}

pub(crate) fn run(args: PerftArgs) -> anyhow::Result<()> {
    let state = args.position.state()?;
    let begin = Instant::now();
    let leaves = if args.divide && args.depth > 0 {
        let mut counts = divide(&state, args.depth);
        counts.sort_by_key(|(action, _)| state.action_text(*action));
        for (action, leaves) in &counts {
            println!("{} {leaves}", state.action_text(*action));
        }
        counts.iter().map(|(_, leaves)| leaves).sum()
    } else {
        perft(&state, args.depth)
    };
    println!("{leaves}");
    eprintln!("depth {} in {:.2} s", args.depth, begin.elapsed().as_secs_f64());
    Ok(())
}

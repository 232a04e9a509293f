//! `perft`: leaf counts of the action tree.

use std::time::Instant;

use clap::Args;
use latrunculi_engine::perft::{divide, perft};
use latrunculi_train::rulesets;

use crate::position_args::read_state;
use crate::ruleset_arg::RulesetArg;

#[derive(Args)]
pub(crate) struct PerftArgs {
    #[command(flatten)]
    ruleset: RulesetArg,
    /// Actions from the position to the leaves
    #[arg(long)]
    depth: u32,
    /// Where to begin: `initial`, a list of pieces (M:c2 D:a1 m:b3 d:h7), or the line of a position
    #[arg(long, default_value = "initial")]
    position: String,
    /// Who is to act in a list of pieces
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=2))]
    player: u64,
    /// Prints the count below each action
    #[arg(long)]
    divide: bool,
}

pub(crate) fn run(args: PerftArgs) -> anyhow::Result<()> {
    let state = read_state(&rulesets::load(args.ruleset.name())?, &args.position, args.player)?;
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

//! The options of commands that play many games; numbers within a range.

use std::ops::RangeInclusive;

use clap::Args;
use clap::builder::RangedU64ValueParser;

/// How many games are played side by side. It changes no result.
#[derive(Args)]
pub(crate) struct GamesArgs {
    /// Number of threads; 0 for one per core
    #[arg(long, default_value_t = 0, value_parser = whole(0..=1024))]
    pub(crate) threads: usize,
    /// Games that share the batches of a network
    #[arg(long, default_value_t = 64, value_name = "N", value_parser = whole(1..=4096))]
    pub(crate) games_at_once: usize,
}

/// Reads a number of games.
pub(crate) fn games() -> RangedU64ValueParser<usize> {
    whole(1..=1_000_000)
}

/// Reads a whole number within a range.
pub(crate) fn whole(range: RangeInclusive<u64>) -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(range)
}

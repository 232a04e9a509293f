//! The options of commands that play many games.

use clap::Args;

/// How many games are played side by side. It changes no result.
#[derive(Args, Clone)]
pub(crate) struct GamesArgs {
    /// Number of threads; 0 for one per core
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u16).range(..=1024))]
    threads: u16,
    /// Games that share the batches of a network
    #[arg(long, default_value_t = 64, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    games_at_once: u16,
}

impl GamesArgs {
    /// Returns the number of threads; 0 is one for each core.
    pub(crate) fn threads(&self) -> usize {
        self.threads.into()
    }

    /// Returns the number of games that share the batches of a network.
    pub(crate) fn at_once(&self) -> usize {
        self.games_at_once.into()
    }
}

//! The options of commands that play many games; numbers within a range.

use std::ops::{RangeBounds, RangeInclusive};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::Args;
use clap::builder::RangedU64ValueParser;
use latrunculi_eval::Players;
use latrunculi_eval::workers::Workers;
use latrunculi_store::{Store, StoreError};
use latrunculi_train::{error_chain, models};

use crate::interrupt::Stopped;
use crate::network::NetworkArgs;

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

/// Who plays the games of a match, a rating or a study, and whether it is shown.
#[derive(Args)]
pub(crate) struct PlayersArgs {
    #[command(flatten)]
    games: GamesArgs,
    #[command(flatten)]
    pub(crate) network: NetworkArgs,
    /// Lets workers on any machine play the games (`latrunculi worker --store URL`): a folder that they share, s3://, gs:// or
    /// az:// (docs/workers.md). The result is the same
    #[arg(long, value_name = "URL")]
    store: Option<String>,
    /// Shows no progress
    #[arg(long)]
    pub(crate) quiet: bool,
}

impl PlayersArgs {
    /// Opens and proves the store, if there is one; it gives up when `stop` is set.
    pub(crate) fn players(&self, stop: &Arc<AtomicBool>) -> anyhow::Result<Players> {
        let lead = |url: &String| -> anyhow::Result<Workers> {
            let store = Store::lead(url, Arc::clone(stop)).map_err(stopped)?;
            let models = |name: &str| models::bytes(name).map_err(|error| error_chain(&error));
            Ok(Workers { store, models: Arc::new(models), notice })
        };
        let GamesArgs { threads, games_at_once } = self.games;
        Ok(Players { threads, games_at_once, workers: self.store.as_ref().map(lead).transpose()? })
    }

    /// Returns the option `--store` as it was given, after a space; nothing without a store.
    pub(crate) fn store_as_given(&self) -> String {
        self.store.as_ref().map(|url| format!(" --store {url}")).unwrap_or_default()
    }
}

/// Prints a sentence about the work of others.
pub(crate) fn notice(text: &str) {
    eprintln!("note: {}", crate::shown(text));
}

/// Returns the end of a command that was stopped while it waited for its store.
pub(crate) fn stopped(error: StoreError) -> anyhow::Error {
    match error {
        StoreError::Stopped => Stopped::telling("stopped; the same command goes on").into(),
        error => error.into(),
    }
}

pub(crate) fn games() -> RangedU64ValueParser<usize> {
    whole(1..=1_000_000)
}

/// Reads a whole number within a range.
pub(crate) fn whole(range: RangeInclusive<u64>) -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(range)
}

/// Reads a number within a range; others are refused with `fault`.
pub(crate) fn number(
    range: impl RangeBounds<f64> + Clone,
    fault: &'static str,
) -> impl Fn(&str) -> Result<f64, &'static str> + Clone {
    move |text| text.trim().parse().ok().filter(|number| range.contains(number)).ok_or(fault)
}

//! The option of commands whose games workers may play.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::Args;
use latrunculi_eval::workers::Workers;
use latrunculi_store::Store;
use latrunculi_train::{error_chain, models};

use crate::interrupt::Stopped;

/// Who plays the games.
#[derive(Args, Clone)]
pub(crate) struct StoreArgs {
    /// Lets workers on any machine play the games (`latrunculi worker --store URL`): a folder that they share, s3://, gs:// or
    /// az:// (docs/workers.md). The result is the same
    #[arg(long, value_name = "URL")]
    store: Option<String>,
}

impl StoreArgs {
    /// Returns the option as it was given, after a space; nothing without a store.
    pub(crate) fn as_given(&self) -> String {
        self.store.as_ref().map(|url| format!(" --store {url}")).unwrap_or_default()
    }

    /// Opens and proves the store, if there is one; it gives up when `stop` is set.
    pub(crate) fn workers(&self, stop: &Arc<AtomicBool>) -> anyhow::Result<Option<Workers>> {
        let Some(url) = &self.store else { return Ok(None) };
        let store = Store::lead(url, Arc::clone(stop)).map_err(stopped)?;
        let models = |name: &str| models::bytes(name).map_err(|error| error_chain(&error));
        Ok(Some(Workers { store, models: Arc::new(models), notice }))
    }
}

/// Prints a sentence about the work of others.
pub(crate) fn notice(text: &str) {
    eprintln!("note: {}", crate::shown(text));
}

/// Returns the end of a command that was stopped while it waited for its store.
pub(crate) fn stopped(error: latrunculi_store::StoreError) -> anyhow::Error {
    match error {
        latrunculi_store::StoreError::Stopped => Stopped::telling("stopped; the same command goes on").into(),
        error => error.into(),
    }
}

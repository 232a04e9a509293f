//! Games that workers play, on any number of machines that share a store (docs/workers.md lists what is in it): who leads checks
//! every game as those of a ledger are checked, and counts it where it would count its own.

mod head;
mod lead;
mod unit;
pub(crate) mod work;

use std::fmt;
use std::sync::Arc;

use latrunculi_search::SEARCH_VERSION;
use latrunculi_store::{Store, Version};

pub(crate) use head::{SeriesHead, SharedPlay, read_ruleset};
pub use lead::is_replayed;
pub(crate) use lead::{SharedSource, play_by_workers};
pub use work::{GamesWork, GamesWorker, NetworkOf, SeriesStatus, series};

/// The version of this program, which workers and who leads must have in common.
pub const VERSION: Version = Version { program: env!("CARGO_PKG_VERSION"), searches: SEARCH_VERSION };

/// Reads the file of a network, whose agents name it so.
pub type ModelReader = dyn Fn(&str) -> Result<Vec<u8>, String> + Send + Sync;

/// Who plays the games of a study, match or rating instead of this program.
#[derive(Clone)]
pub struct Workers {
    /// The store that they share with it.
    pub store: Arc<Store>,
    /// Reads the networks, which workers then find in the store.
    pub models: Arc<ModelReader>,
    /// Is told, in a sentence, of what does not count.
    pub notice: fn(&str),
}

impl fmt::Debug for Workers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Workers({})", self.store)
    }
}

//! Games that workers play, on any number of machines that share a store.
//!
//! A study, match or rating asks for the games of a series; games are functions of their index. Whoever leads it writes
//! what the series is and which of its units, ranges of games, are wanted. Workers play units that are missing and write
//! each once. The leader reads the units, checks every game as those of a ledger are checked, and counts them where it
//! would count its own: the result is that of one machine.
//!
//! ```text
//! games/SERIES/head.json                  what is played
//! games/SERIES/wanted/00000004-00000040   units 4 to 39 are wanted
//! games/SERIES/closed                     nothing more is wanted
//! units/SERIES/00000007                   the games of a unit: a line about it, then a line of a ledger for each game
//! models/SHA256.safetensors               the networks
//! rejected/…                              what did not count, each with the reason
//! ```

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
pub use work::{GamesWork, GamesWorker, NetworkOf, SeriesStatus, WorkError, series};

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

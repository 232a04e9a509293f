//! Units of work: what a worker writes is one object, a line of JSON that says what it is, and its content.

use std::sync::atomic::Ordering;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::store::Store;

/// The folder of the units that workers write.
pub const UNITS: &str = "units";
/// For so long a unit may take before who leads says that none has come.
const SILENCE: Duration = Duration::from_secs(60);
/// No header is longer.
pub const HEADER_BYTES_MAX: usize = 4096;

impl Store {
    /// Returns, once, what who leads tells the user where no worker has delivered a unit in the time that was `waited`;
    /// nothing more once `has_units` was true.
    #[must_use]
    pub fn notice_without_workers(&self, has_units: bool, waited: Duration) -> Option<String> {
        let is_told = (has_units || waited >= SILENCE) && !self.knows_of_workers.swap(true, Ordering::Relaxed);
        (is_told && !has_units).then(|| {
            format!(
                "no worker has delivered anything in {} s; unless some are at work, start them with: latrunculi worker --store \
                 {self}",
                SILENCE.as_secs()
            )
        })
    }
}

/// What a unit says of itself in its first line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnitHeader {
    /// The version of the program that made it.
    pub program: String,
    /// The version of its searches.
    pub search_version: u32,
    /// What the games are part of: equal texts mean the same rules, players and settings.
    pub series: String,
    /// The first game, and the one after the last.
    pub games: [u64; 2],
    /// Who played: a name that no other worker has.
    pub worker: String,
    /// On which machine.
    pub host: String,
    /// What computed the network; empty where none took part.
    pub kernel: String,
    /// In how many seconds.
    pub secs: f64,
    /// Units that this worker has played in vain so far, because another had written them before.
    pub twice: u64,
    /// Units that it plays at once; 0 where an earlier version of the program did not say.
    #[serde(default)]
    pub at_once: u64,
}

impl UnitHeader {
    /// Returns the header as the first line of a unit.
    #[must_use]
    pub fn to_line(&self) -> Vec<u8> {
        let mut line = serde_json::to_vec(self).unwrap_or_default();
        line.push(b'\n');
        line
    }

    /// Reads the first line of a unit; returns the rest of it, too.
    ///
    /// # Errors
    /// In words, when it is none.
    pub fn read(unit: &[u8]) -> Result<(UnitHeader, &[u8]), String> {
        let end = unit.iter().take(HEADER_BYTES_MAX).position(|&byte| byte == b'\n');
        let Some(end) = end else { return Err("it has no first line that says what it is".to_owned()) };
        let header: UnitHeader = serde_json::from_slice(&unit[..end])
            .map_err(|error| format!("its first line is not that of a unit: {error}"))?;
        Ok((header, &unit[end + 1..]))
    }

    /// Checks that a unit is the one that was asked for: by the same program, of this series, with these games.
    ///
    /// # Errors
    /// In words, what differs.
    pub fn check(&self, program: &str, search_version: u32, series: &str, games: [u64; 2]) -> Result<(), String> {
        let differs = |what: &str, found: &dyn std::fmt::Display, wanted: &dyn std::fmt::Display| {
            Err(format!("{what} is {found}, not {wanted}"))
        };
        if self.program != program {
            return differs("the program that played it", &self.program, &program);
        }
        if self.search_version != search_version {
            return differs("the version of its searches", &self.search_version, &search_version);
        }
        if self.series != series {
            return differs("its series", &self.series, &series);
        }
        if self.games != games {
            let shown = |[from, to]: [u64; 2]| format!("{from} to {to}");
            return differs("its range of games", &shown(self.games), &shown(games));
        }
        match self.secs >= 0.0 && self.secs.is_finite() {
            true => Ok(()),
            false => differs("its time", &self.secs, &"a number of seconds"),
        }
    }
}

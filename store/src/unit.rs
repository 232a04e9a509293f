//! Units of work: what a worker writes is one object, a line of JSON that says what it is, and its content. Who leads checks
//! each, and moves aside what does not count.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::errors::StoreError;
use crate::store::{Store, sha256};

/// The folder of the units that workers write.
pub const UNITS: &str = "units";
/// For so long a unit may take before who leads says that none has come.
const SILENCE: Duration = Duration::from_secs(60);
/// The first wait between two looks for units.
const SHORTEST_WAIT: Duration = Duration::from_millis(250);
/// No header is longer.
pub const HEADER_BYTES_MAX: usize = 4096;

/// The folder of what was moved aside.
pub const REJECTED: &str = "rejected";

/// Why an object was moved aside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reason {
    /// The name that it had.
    pub(crate) name: String,
    pub(crate) reason: String,
    /// Its size; one that is too large to be read is not kept.
    pub(crate) bytes: u64,
}

/// What an object holds; its size where that is more than is read.
pub(crate) type Content = Result<Vec<u8>, u64>;

/// Returns the name that an object has once it was moved aside; `hash` is the SHA-256 of what it holds.
pub(crate) fn place_aside(name: &str, hash: &str) -> String {
    format!("{REJECTED}/{name}.{}", hash.get(..16).unwrap_or(hash))
}

impl Store {
    /// Reads an object as [`Store::read`] does, but one that has more than `bytes_max` bytes is no error.
    pub(crate) fn read_content(&self, name: &str, bytes_max: u64) -> Result<Option<Content>, StoreError> {
        match self.read(name, bytes_max) {
            Ok(content) => Ok(content.map(Ok)),
            Err(StoreError::TooLarge { bytes, .. }) => Ok(Some(Err(bytes))),
            Err(error) => Err(error),
        }
    }

    /// Reads a unit of at most `bytes_max` bytes and checks it; one that does not count is moved aside. Returns what `check` does,
    /// or in words why the unit does not count; `None` where there is none.
    pub fn read_unit<T>(
        &self,
        name: &str,
        bytes_max: u64,
        check: impl FnOnce(&[u8]) -> Result<T, String>,
    ) -> Result<Option<Result<T, String>>, StoreError> {
        let Some(content) = self.read_content(name, bytes_max)? else { return Ok(None) };
        let checked = match &content {
            Ok(read) => check(read),
            Err(bytes) => Err(format!("it has {bytes} bytes")),
        };
        if let Err(reason) = &checked {
            self.set_aside(name, &content, reason)?;
        }
        Ok(Some(checked))
    }

    /// Moves an object aside; returns whether there was one.
    pub fn reject(&self, name: &str, bytes_max: u64, reason: &str) -> Result<bool, StoreError> {
        let content = self.read_content(name, bytes_max)?;
        content.map_or(Ok(false), |content| self.set_aside(name, &content, reason).map(|()| true))
    }

    /// Moves an object aside, so that its name is free: what was read of it and the reason are kept in `rejected/`. An
    /// object that has been replaced meanwhile stays; one that is too large is not kept.
    fn set_aside(&self, name: &str, content: &Content, reason: &str) -> Result<(), StoreError> {
        let place = place_aside(name, &content.as_ref().map_or_else(|_| "large".to_owned(), |read| sha256(read)));
        let bytes = content.as_ref().map_or_else(|bytes| *bytes, |read| read.len() as u64);
        let reason = Reason { name: name.to_owned(), reason: reason.to_owned(), bytes };
        if let Ok(read) = content {
            self.create(&place, read)?;
            // Somebody else who moved it aside may have made room for a better one.
            if self.read_content(name, read.len() as u64)?.as_ref() != Some(content) {
                return Ok(());
            }
        }
        let text = serde_json::to_vec(&reason).unwrap_or_default();
        self.create(&format!("{place}.reason.json"), &text)?;
        self.remove(name)
    }
}

/// The waits of who leads between two looks for units.
#[derive(Debug)]
pub struct Waiting {
    notice: fn(&str),
    longest: Duration,
    begun: Instant,
    pause: Duration,
}

impl Waiting {
    /// Begins to wait, in the end for `longest` between two looks; `notice` is told where no worker seems to be there.
    #[must_use]
    pub fn new(longest: Duration, notice: fn(&str)) -> Waiting {
        Waiting { notice, longest, begun: Instant::now(), pause: SHORTEST_WAIT }
    }

    /// Waits after a look in which no unit had come, longer each time; not at all after one in which one had.
    pub fn after_look(&mut self, store: &Store, has_come: bool) -> Result<(), StoreError> {
        self.tell(store, has_come, self.begun.elapsed());
        if has_come {
            self.pause = SHORTEST_WAIT;
            return Ok(());
        }
        store.sleep(self.pause)?;
        self.pause = (self.pause * 2).min(self.longest);
        Ok(())
    }

    /// Returns the next wait.
    #[must_use]
    pub fn pause(&self) -> Duration {
        self.pause
    }

    /// Tells once where no worker has delivered a unit in the time that was `waited`.
    fn tell(&self, store: &Store, has_come: bool, waited: Duration) {
        let is_known = (has_come || waited >= SILENCE) && !store.knows_of_workers.swap(true, Ordering::Relaxed);
        if is_known && !has_come {
            (self.notice)(&format!(
                "no worker has delivered anything in {} s; unless some are at work, start them with: latrunculi worker --store \
                 {store}",
                SILENCE.as_secs()
            ));
        }
    }
}

/// The version of a program, and of the searches in it, on which games depend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// Of the program.
    pub program: &'static str,
    /// Of its searches.
    pub searches: u32,
}

impl Version {
    /// Checks that what is called `title` is asked for by the same version.
    pub fn check(self, title: &str, program: &str, searches: u32) -> Result<(), String> {
        if (program, searches) == (self.program, self.searches) {
            return Ok(());
        }
        Err(format!(
            "{title} is asked for by version {program} with searches of version {searches}; this is {} with {}",
            self.program, self.searches
        ))
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
    #[serde(rename = "twice")]
    pub duplicates: u64,
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
    pub fn read(unit: &[u8]) -> Result<(UnitHeader, &[u8]), String> {
        let end = unit.iter().take(HEADER_BYTES_MAX).position(|&byte| byte == b'\n');
        let Some(end) = end else { return Err("it has no first line that says what it is".to_owned()) };
        let header: UnitHeader = serde_json::from_slice(&unit[..end])
            .map_err(|error| format!("its first line is not that of a unit: {error}"))?;
        Ok((header, &unit[end + 1..]))
    }

    /// Reads the first line of a unit and checks that it is the one that was asked for: by the same program, of this series, with
    /// these games. Returns the rest of it, too.
    /// Error: in words, what differs.
    pub fn read_checked<'a>(
        unit: &'a [u8],
        version: Version,
        series: &str,
        games: [u64; 2],
    ) -> Result<(UnitHeader, &'a [u8]), String> {
        let (header, rest) = UnitHeader::read(unit)?;
        let range = |[from, to]: [u64; 2]| format!("{from} to {to}");
        let fields = [
            ("the program that played it", header.program.clone(), version.program.to_owned()),
            ("the version of its searches", header.search_version.to_string(), version.searches.to_string()),
            ("its series", header.series.clone(), series.to_owned()),
            ("its range of games", range(header.games), range(games)),
        ];
        for (what, found, wanted) in fields {
            if found != wanted {
                return Err(format!("{what} is {found}, not {wanted}"));
            }
        }
        match header.secs >= 0.0 && header.secs.is_finite() {
            true => Ok((header, rest)),
            false => Err(format!("its time is {}, not a number of seconds", header.secs)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use object_store::memory::InMemory;
    use object_store::path::Path;

    use super::*;

    #[test]
    fn who_waits_for_workers_in_vain_says_so_once_with_the_command_that_starts_them() {
        static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());
        let waiting = Waiting::new(Duration::ZERO, |text| TOLD.lock().unwrap().push(text.to_owned()));
        let store =
            || Store::of(Arc::new(InMemory::new()), Path::default(), "memory", crate::StopFlag::default()).unwrap();
        let told = |store: &Store, has_come, secs| {
            waiting.tell(store, has_come, Duration::from_secs(secs));
            std::mem::take(&mut *TOLD.lock().unwrap())
        };
        let silent = store();
        assert!(told(&silent, false, 59).is_empty());
        assert!(told(&silent, false, 61)[0].contains("latrunculi worker --store memory"));
        assert!(told(&silent, false, 100).is_empty());
        let lively = store();
        assert!(told(&lively, true, 10).is_empty() && told(&lively, false, 100).is_empty());
    }
}

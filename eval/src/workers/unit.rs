//! The games of a unit, as they are written and read.

use std::collections::BTreeMap;

use latrunculi_engine::GameRecord;
use latrunculi_search::SEARCH_VERSION;
use latrunculi_store::{UNITS, UnitHeader};

use super::head::{PROGRAM, SeriesHead};
use crate::matches::ledger::{Place, from_line};

/// No unit is larger: games of thousands of actions with the visits of each.
pub(super) const UNIT_BYTES_MAX: u64 = 256 << 20;

/// Returns the folder of a series' units.
pub(super) fn folder(id: &str) -> String {
    format!("{UNITS}/{id}")
}

/// Returns the name of a unit.
pub(super) fn name(id: &str, unit: u64) -> String {
    format!("{}/{unit:08}", folder(id))
}

/// Returns the number of the unit of a name, if it is that of one.
pub(super) fn number(name: &str) -> Option<u64> {
    let number = name.rsplit('/').next()?;
    (number.len() == 8).then(|| number.parse().ok()).flatten()
}

/// Reads the games of a unit, by index; each must be one of the unit's range, and none there twice.
///
/// # Errors
/// In words, what is wrong.
pub(super) fn read(
    head: &SeriesHead,
    unit: u64,
    bytes: &[u8],
    index_of: impl Fn(&Place) -> Option<usize>,
) -> Result<BTreeMap<usize, GameRecord>, String> {
    let (header, lines) = UnitHeader::read(bytes)?;
    let range = head.range(unit);
    header.check(PROGRAM, SEARCH_VERSION, &head.key, range.map(|index| index as u64))?;
    let text = std::str::from_utf8(lines).map_err(|_| "its games are no text".to_owned())?;
    if !text.is_empty() && !text.ends_with('\n') {
        return Err("it is cut off".to_owned());
    }
    let mut games = BTreeMap::new();
    for (number, line) in text.lines().enumerate() {
        let at = |fault: String| format!("line {}: {fault}", number + 2);
        let (place, record) = from_line(line).map_err(|fault| at(fault.to_string()))?;
        if place.series != head.key {
            return Err(at("the game is one of another series".to_owned()));
        }
        let index = index_of(&place).filter(|index| (range[0]..range[1]).contains(index));
        let Some(index) = index else { return Err(at(format!("game {} is outside the unit", place.pair))) };
        if games.insert(index, record).is_some() {
            return Err(at(format!("game {} is there twice", place.pair)));
        }
    }
    Ok(games)
}

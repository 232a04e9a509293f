//! The units of a series: their names, which of them are wanted, and their games.

use std::collections::BTreeMap;

use latrunculi_engine::GameRecord;
use latrunculi_store::{UNITS, UnitHeader};

use super::VERSION;
use super::head::{GAMES, SeriesHead};
use crate::matches::ledger::{Place, from_line};

/// No unit is larger: games of thousands of actions with the visits of each.
pub(super) const UNIT_BYTES_MAX: u64 = 256 << 20;

pub(super) fn folder(id: &str) -> String {
    format!("{UNITS}/{id}")
}

pub(super) fn name(id: &str, unit: u64) -> String {
    format!("{}/{unit:08}", folder(id))
}

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
    let range = head.range(unit);
    let (_, lines) = UnitHeader::read_checked(bytes, VERSION, &head.key, range.map(|index| index as u64))?;
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

/// The units of a series that are wanted: ranges of units, each a name in the store. Whoever leads asks for what it lacks, and
/// what another one asks for stays asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Wanted {
    /// By their beginnings; none touches another.
    ranges: Vec<[u64; 2]>,
}

/// Returns the name of what says that the units of a range are wanted: the first, and the one after the last.
pub(super) fn wanted_name(id: &str, [from, to]: [u64; 2]) -> String {
    format!("{GAMES}/{id}/wanted/{from:08}-{to:08}")
}

impl Wanted {
    /// Adds what the last part of a name says; nothing where it is none.
    pub(super) fn add(&mut self, name: &str) {
        let number = |digits: &str| (digits.len() == 8).then(|| digits.parse::<u64>().ok()).flatten();
        let Some((from, to)) = name.split_once('-') else { return };
        let (Some(from), Some(to)) = (number(from), number(to)) else { return };
        if from >= to {
            return;
        }
        let mut whole = [from, to];
        self.ranges.retain(|&[other_from, other_to]| {
            let is_apart = other_to < whole[0] || whole[1] < other_from;
            if !is_apart {
                whole = [whole[0].min(other_from), whole[1].max(other_to)];
            }
            is_apart
        });
        self.ranges.push(whole);
        self.ranges.sort_unstable();
    }

    /// Returns the units, of a schedule that has `units`.
    pub(super) fn of(&self, units: u64) -> impl Iterator<Item = u64> {
        self.ranges.iter().flat_map(move |&[from, to]| from..to.min(units))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_several_who_lead_are_joined() {
        let mut wanted = Wanted::default();
        for name in [
            "00000012-00000020",
            "00000030-00000040",
            "00000020-00000031",
            "00000002-00000004",
            "x-3",
            "00000009-00000003",
        ] {
            wanted.add(name);
        }
        assert_eq!(wanted.ranges, [[2, 4], [12, 40]]);
        assert_eq!(wanted.of(14).collect::<Vec<_>>(), [2, 3, 12, 13]);
        assert_eq!(wanted_name("a", [12, 20]), "games/a/wanted/00000012-00000020");
    }
}

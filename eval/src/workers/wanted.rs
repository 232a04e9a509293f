//! Which units of a series are wanted: ranges of units, each a name in the store. Whoever leads asks for what it lacks, and what
//! another one asks for stays asked for.

use super::head::GAMES;

/// The units that are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Wanted {
    /// By their beginnings; none touches another.
    ranges: Vec<[u64; 2]>,
}

/// Returns the name of what says that the units of a range are wanted: the first, and the one after the last.
pub(super) fn name(id: &str, [from, to]: [u64; 2]) -> String {
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
        assert_eq!(name("a", [12, 20]), "games/a/wanted/00000012-00000020");
    }
}

//! The order in which a worker takes what is missing.

use std::hash::{BuildHasher, Hasher, RandomState};

/// Which units a worker takes first. Workers that are told their place among all begin with units that no other begins with;
/// all go on with what is missing, each in another order, so that two rarely play the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkOrder {
    index: u64,
    of: u64,
    /// Differs from worker to worker.
    id: u64,
}

impl WorkOrder {
    /// Makes the order of worker `index` of `of`, which is at least 1.
    #[must_use]
    pub fn new(index: u64, of: u64) -> WorkOrder {
        WorkOrder { index, of: of.max(1), id: unique() }
    }

    /// Returns the order of the same worker at another place.
    #[must_use]
    pub fn with_place(self, index: u64, of: u64) -> WorkOrder {
        WorkOrder { index, of: of.max(1), ..self }
    }

    /// Returns whether the worker has a place among several.
    #[must_use]
    pub fn has_place(&self) -> bool {
        self.of > 1
    }

    /// Returns a name for the worker, which no other has.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{:016x}", self.id)
    }

    /// Returns what to take first of `units`, each a number; `None` where there is none.
    #[must_use]
    pub fn first(&self, units: impl IntoIterator<Item = u64>) -> Option<u64> {
        units.into_iter().min_by_key(|&unit| (unit % self.of != self.index, mixed(unit ^ self.id)))
    }
}

/// Returns a number that no other program, and no other call, has; the system's random numbers are in it.
pub(crate) fn unique() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// Source: Steele, Lea and Flood 2014 (SplitMix64).
pub(crate) fn mixed(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_knows_his_place_takes_his_own_units_first_and_then_all_others() {
        let order = WorkOrder::new(1, 3);
        let mut left: Vec<u64> = (0..12).collect();
        let mut taken = Vec::new();
        while let Some(unit) = order.first(left.iter().copied()) {
            left.retain(|other| *other != unit);
            taken.push(unit);
        }
        let mut own = taken[..4].to_vec();
        own.sort_unstable();
        assert_eq!(own, [1, 4, 7, 10]);
        assert_eq!(taken.len(), 12);
    }

    #[test]
    fn an_order_keeps_its_name_at_another_place() {
        let order = WorkOrder::new(0, 1);
        let placed = order.with_place(2, 5);
        assert!(placed.has_place() && !order.has_place());
        assert_eq!((placed.name(), placed.first(0..100).map(|unit| unit % 5)), (order.name(), Some(2)));
    }

    #[test]
    fn workers_without_a_place_seldom_take_the_same() {
        let firsts: std::collections::BTreeSet<u64> =
            (0..100).filter_map(|_| WorkOrder::new(0, 1).first(0..10_000)).collect();
        assert!(firsts.len() > 90, "{}", firsts.len());
    }
}

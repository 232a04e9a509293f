//! The transposition table.

/// What a stored score says about the true one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// Nothing: the entry holds an action only, since its score may rest on the history.
    None,
    /// The true score is at least this.
    Lower,
    /// The true score is at most this.
    Upper,
    /// The true score.
    Exact,
}

/// What is remembered of a position.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// For the player to act; ends of the game counted from this position.
    pub(crate) score: i32,
    /// The best action as a place in `legal_actions`.
    pub(crate) ordinal: u16,
    pub(crate) depth: i16,
    pub(crate) bound: Bound,
    /// Whether the score rests on the history; the key then holds it.
    pub(crate) touches_history: bool,
}

/// An entry in its place.
#[derive(Clone, Copy, Debug)]
struct Slot {
    key: u64,
    /// The search that wrote it.
    stamp: u32,
    entry: Entry,
}

const EMPTY: Slot = Slot {
    key: 0,
    stamp: 0,
    entry: Entry { score: 0, ordinal: NO_ORDINAL, depth: -1, bound: Bound::None, touches_history: false },
};

/// No action.
pub(crate) const NO_ORDINAL: u16 = u16::MAX;

/// A table of fixed size in buckets of two: one entry stays while it is deeper, one is always replaced.
///
/// Entries of earlier searches count as absent, so that the answer of a search does not depend on what
/// was searched before.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    buckets: Vec<[Slot; 2]>,
    stamp: u32,
}

impl Table {
    /// Creates a table of at most `bytes`, at least one bucket.
    pub(crate) fn new(bytes: usize) -> Table {
        let bucket_bytes = size_of::<[Slot; 2]>();
        let wanted = (bytes / bucket_bytes).max(1);
        let count = if wanted.is_power_of_two() { wanted } else { wanted.next_power_of_two() / 2 };
        Table { buckets: vec![[EMPTY; 2]; count], stamp: 0 }
    }

    /// Forgets everything, at no cost.
    pub(crate) fn clear(&mut self) {
        if self.stamp == u32::MAX {
            self.buckets.fill([EMPTY; 2]);
            self.stamp = 0;
        }
        self.stamp += 1;
    }

    fn bucket_index(&self, key: u64) -> usize {
        key as usize & (self.buckets.len() - 1)
    }

    pub(crate) fn probe(&self, key: u64) -> Option<Entry> {
        let bucket = &self.buckets[self.bucket_index(key)];
        bucket.iter().find(|slot| slot.key == key && slot.stamp == self.stamp).map(|slot| slot.entry)
    }

    pub(crate) fn store(&mut self, key: u64, mut entry: Entry) {
        let index = self.bucket_index(key);
        let stamp = self.stamp;
        let bucket = &mut self.buckets[index];
        let is_own = |slot: &Slot| slot.key == key && slot.stamp == stamp;
        let place = if is_own(&bucket[0]) {
            0
        } else if is_own(&bucket[1]) {
            1
        } else {
            usize::from(bucket[0].stamp == stamp && bucket[0].entry.depth > entry.depth)
        };
        let slot = &mut bucket[place];
        if is_own(slot) {
            if entry.ordinal == NO_ORDINAL {
                entry.ordinal = slot.entry.ordinal;
            }
            if entry.bound == Bound::None && slot.entry.bound != Bound::None {
                slot.entry.ordinal = entry.ordinal;
                return;
            }
        }
        *slot = Slot { key, stamp, entry };
    }
}

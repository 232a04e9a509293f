//! The transposition table.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// Unrelated: the entry holds an action only, since its score may depend on the history.
    None,
    /// The true score is at least this.
    Lower,
    /// The true score is at most this.
    Upper,
    /// The true score.
    Exact,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    /// For the player to act; ends of the game counted from this position.
    pub(crate) score: i32,
    /// The tag of the best action (`super::AlphaBeta::tag`), [`NO_TAG`] if there is none.
    pub(crate) tag: u32,
    pub(crate) depth: i16,
    pub(crate) bound: Bound,
    /// Whether the score depends on the history; the key then covers the history.
    pub(crate) touches_history: bool,
}

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
    entry: Entry { score: 0, tag: NO_TAG, depth: -1, bound: Bound::None, touches_history: false },
};

pub(crate) const NO_TAG: u32 = 0;

/// A table of fixed size in buckets of two: one entry stays while it is deeper, one is always replaced.
/// Entries of earlier searches count as absent, so that a search does not depend on the searches before it.
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

    /// Empties the table in constant time.
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
        let own = bucket.iter().position(is_own);
        let of_less_depth = usize::from(bucket[0].stamp == stamp && bucket[0].entry.depth > entry.depth);
        let slot = &mut bucket[own.unwrap_or(of_less_depth)];
        if own.is_some() {
            if entry.tag == NO_TAG {
                entry.tag = slot.entry.tag;
            }
            if entry.bound == Bound::None && slot.entry.bound != Bound::None {
                slot.entry.tag = entry.tag;
                return;
            }
        }
        *slot = Slot { key, stamp, entry };
    }
}

//! What was made for a ruleset, kept for the rulesets that were asked for last.

use std::sync::Arc;

use latrunculi_engine::Rules;
use latrunculi_engine::record::ruleset_fingerprint;

/// Rulesets that are kept; the one that was not asked for longest gives way.
const RULESETS_MAX: usize = 64;

/// A value for each of the last 64 rulesets that were asked for, by fingerprint.
#[derive(Debug)]
pub struct RulesetCache<T> {
    /// The last asked for comes last.
    entries: Vec<Entry<T>>,
}

#[derive(Debug)]
struct Entry<T> {
    /// The rules that were asked for last: the same again need no fingerprint.
    rules: Arc<Rules>,
    fingerprint: String,
    value: T,
}

impl<T> Default for RulesetCache<T> {
    fn default() -> Self {
        RulesetCache { entries: Vec::new() }
    }
}

impl<T> RulesetCache<T> {
    /// Returns the number of rulesets that have a value, at most 64.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Tells whether no ruleset has a value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the value for these rules, if there is one.
    pub fn get(&mut self, rules: &Arc<Rules>) -> Option<&mut T> {
        let is_last = self.entries.last().is_some_and(|last| Arc::ptr_eq(&last.rules, rules));
        if !is_last {
            let fingerprint = ruleset_fingerprint(rules.ruleset());
            let found = self.entries.iter().position(|entry| entry.fingerprint == fingerprint)?;
            let entry = self.entries.remove(found);
            self.entries.push(Entry { rules: Arc::clone(rules), ..entry });
        }
        self.entries.last_mut().map(|entry| &mut entry.value)
    }

    /// Keeps a value for these rules in place of any other.
    pub fn insert(&mut self, rules: &Arc<Rules>, value: T) {
        let fingerprint = ruleset_fingerprint(rules.ruleset());
        self.entries.retain(|entry| entry.fingerprint != fingerprint);
        if self.entries.len() == RULESETS_MAX {
            self.entries.remove(0);
        }
        self.entries.push(Entry { rules: Arc::clone(rules), fingerprint, value });
    }

    /// Returns the value for these rules, made now if there is none.
    pub fn get_or_make<E>(&mut self, rules: &Arc<Rules>, make: impl FnOnce() -> Result<T, E>) -> Result<&mut T, E> {
        if self.get(rules).is_none() {
            self.insert(rules, make()?);
        }
        Ok(&mut self.entries.last_mut().expect("it has just been asked for or inserted").value)
    }
}

#[cfg(test)]
mod tests {
    use latrunculi_engine::presets;

    use super::*;

    #[test]
    fn the_rulesets_asked_for_last_are_kept() {
        let rules_with = |more: u8| {
            let mut ruleset = presets::ruleset("bell").unwrap();
            ruleset.end.quiet_limit += u16::from(more);
            Arc::new(Rules::new(&ruleset).unwrap())
        };
        let mut cache = RulesetCache::default();
        let made = |cache: &mut RulesetCache<u8>, number| {
            let mut is_made = false;
            let value = cache.get_or_make(&rules_with(number), || {
                is_made = true;
                Ok::<u8, ()>(number)
            });
            assert_eq!(value, Ok(&mut { number }));
            is_made
        };
        for number in 0..RULESETS_MAX as u8 {
            assert!(made(&mut cache, number));
        }
        assert!(!made(&mut cache, 0), "equal rules, not the same ones, are known");
        assert!(made(&mut cache, RULESETS_MAX as u8));
        assert!(!made(&mut cache, 0) && made(&mut cache, 1), "the one not asked for longest has gone");
        assert_eq!(cache.get_or_make(&rules_with(200), || Err("no")), Err("no"));
        cache.insert(&rules_with(0), 7);
        assert_eq!(cache.get(&rules_with(0)), Some(&mut 7));
    }
}

//! A cache of evaluations, so that an actor does not evaluate a position twice.

use std::hash::{DefaultHasher, Hash, Hasher};

use latrunculi_engine::{Action, GameState, Player};
use latrunculi_search::Evaluation;

/// Evaluations by position. Each key has one entry; a later position with the same entry replaces it.
#[derive(Debug, Default)]
pub(crate) struct EvaluationCache {
    entries: Vec<Option<Box<Remembered>>>,
}

#[derive(Debug)]
struct Remembered {
    key: u64,
    evaluation: Evaluation,
}

impl EvaluationCache {
    /// Creates a cache of `entries` evaluations; 0 is no cache.
    pub(crate) fn new(entries: usize) -> EvaluationCache {
        EvaluationCache { entries: (0..entries).map(|_| None).collect() }
    }

    pub(crate) fn is_off(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the evaluation of the position with this [`key_of_question`] and so many legal actions.
    pub(crate) fn get(&self, key: u64, legal_actions: usize) -> Option<&Evaluation> {
        let remembered = self.entries.get(self.index_of(key)?)?.as_ref()?;
        let is_same = remembered.key == key && remembered.evaluation.policy_logits.len() == legal_actions;
        is_same.then_some(&remembered.evaluation)
    }

    pub(crate) fn insert(&mut self, key: u64, evaluation: &Evaluation) {
        let Some(index) = self.index_of(key) else { return };
        match &mut self.entries[index] {
            Some(remembered) => {
                remembered.key = key;
                remembered.evaluation.clone_from(evaluation);
            }
            empty => *empty = Some(Box::new(Remembered { key, evaluation: evaluation.clone() })),
        }
    }

    fn index_of(&self, key: u64) -> Option<usize> {
        // The high bits of the product spread the keys over any number of places.
        if self.is_off() { None } else { Some(((u128::from(key) * self.entries.len() as u128) >> 64) as usize) }
    }
}

/// Returns a hash of everything that an evaluator is given: what a network sees of a position (the pieces on the board and
/// in hand, what is bound by what, the turn under way, and every counter, that of all turns included), and the legal
/// actions, which depend on earlier positions where repetition is forbidden.
pub(crate) fn key_of_question(game: &GameState, legal_actions: &[Action]) -> u64 {
    let position = game.position();
    let mut hasher = DefaultHasher::new();
    position.key_with_holds().hash(&mut hasher);
    (position.quiet_turns(), position.turns(), position.passes(), game.repetitions() > 1).hash(&mut hasher);
    for shuttle in Player::BOTH.map(|player| position.shuttle(player)) {
        shuttle.map(|shuttle| (shuttle.from, shuttle.to, shuttle.moves)).hash(&mut hasher);
    }
    legal_actions.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

    use std::collections::HashMap;
    use std::sync::Arc;

    use latrunculi_data::EncodedPosition;
    use latrunculi_engine::{Rules, presets};

    use super::*;

    #[test]
    fn positions_that_look_different_have_different_keys() {
        for name in ["bell", "savard-delayed", "dutch", "x-schaedler-1994"] {
            let rules = Arc::new(Rules::new(&presets::ruleset(name).unwrap()).unwrap());
            let mut seen: HashMap<u64, EncodedPosition> = HashMap::new();
            let mut actions = Vec::new();
            for step in 1..40 {
                let mut game = GameState::new(Arc::clone(&rules));
                for count in 0..120 {
                    game.legal_actions(&mut actions);
                    let Some(&action) = actions.get((count * 7 + step * count / 3) % actions.len().max(1)) else {
                        break;
                    };
                    let sight = EncodedPosition::new(&rules, game.position(), game.repetitions());
                    let known = seen.entry(key_of_question(&game, &actions)).or_insert_with(|| sight.clone());
                    assert_eq!(*known, sight, "{name}");
                    game.play(action);
                }
            }
        }
    }

    #[test]
    fn a_position_with_other_legal_actions_has_another_key() {
        let rules = Arc::new(Rules::new(&presets::ruleset("x-schaedler-1994").unwrap()).unwrap());
        let game = GameState::new(rules);
        let mut actions = Vec::new();
        game.legal_actions(&mut actions);
        // As where repetition is forbidden: the same position, as many actions, and others.
        let (last, first) = (&actions[..actions.len() - 1], &actions[1..]);
        assert_ne!(key_of_question(&game, first), key_of_question(&game, last));
    }

    #[test]
    fn a_cache_returns_what_was_inserted_and_nothing_else() {
        let evaluation =
            |value: f32| Evaluation { policy_logits: vec![value; 3], win_draw_loss: [value, 0.0, 0.0], margin: value };
        let mut cache = EvaluationCache::new(4);
        let (one, other) = (u64::MAX / 2 + 5, u64::MAX / 2 + 6);
        cache.insert(one, &evaluation(1.0));
        assert_eq!(cache.get(one, 3).unwrap().win_draw_loss[0], 1.0);
        assert!(cache.get(one, 4).is_none() && cache.get(other, 3).is_none());
        cache.insert(other, &evaluation(2.0));
        assert!(cache.get(one, 3).is_none(), "the later one replaced it");
        assert_eq!(cache.get(other, 3).unwrap().win_draw_loss[0], 2.0);
        let mut off = EvaluationCache::new(0);
        off.insert(one, &evaluation(1.0));
        assert!(off.get(one, 3).is_none());
    }
}

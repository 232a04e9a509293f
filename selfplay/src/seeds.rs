//! Random numbers: one stream per game and purpose.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// What a stream of random numbers is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// Random actions at the start of a game.
    Opening,
    /// Noise of the searches.
    Search,
    /// The draw of the action that is played.
    Choice,
    /// The draw of training samples.
    Training,
    /// The budget of a search, and the weight of its position.
    Effort,
}

/// Names one game of a run; the same key gives the same streams on every machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GameKey {
    /// Seed of the run.
    pub run_seed: u64,
    /// Generation, from 0.
    pub generation: u64,
    /// Game in the generation, from 0.
    pub game: u64,
}

impl GameKey {
    /// Returns the stream of this game for `purpose`.
    #[must_use]
    pub fn stream(self, purpose: Purpose) -> ChaCha8Rng {
        let mut seed = [0; 32];
        let words = [self.run_seed, self.generation, self.game, 1 + purpose as u64];
        for (bytes, word) in seed.chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        ChaCha8Rng::from_seed(seed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;

    #[test]
    fn every_part_of_the_key_gives_another_stream() {
        let first = |run_seed, generation, game, purpose| -> u64 {
            GameKey { run_seed, generation, game }.stream(purpose).random()
        };
        let mut seen = vec![
            first(1, 2, 3, Purpose::Search),
            first(2, 2, 3, Purpose::Search),
            first(1, 3, 3, Purpose::Search),
            first(1, 2, 4, Purpose::Search),
            first(1, 2, 3, Purpose::Choice),
        ];
        assert_eq!(seen[0], first(1, 2, 3, Purpose::Search), "the same key gives the same stream");
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 5);
    }
}

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
    /// Whether a search is a full one.
    Effort,
    /// The draw of random mixes of rules; the game is the number of the mix.
    Mix,
    /// The draw among actions that alpha-beta holds equal.
    Ties,
}

/// Names one game of a run, or another thing that needs random numbers; the same key gives the same streams on every
/// machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GameKey {
    /// Seed of the run.
    pub run_seed: u64,
    /// What the game belongs to: the pool, by a hash of its name; for [`Purpose::Training`] the generation.
    pub series: u64,
    /// Game in the pool, from 0.
    pub game: u64,
}

impl GameKey {
    /// Returns the stream of this game for `purpose`.
    #[must_use]
    pub fn stream(self, purpose: Purpose) -> ChaCha8Rng {
        let mut seed = [0; 32];
        let words = [self.run_seed, self.series, self.game, 1 + purpose as u64];
        for (bytes, word) in seed.chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        ChaCha8Rng::from_seed(seed)
    }
}

/// Returns the hash of a pool's name that its games have in their keys (FNV-1a of 64 bits).
pub(crate) fn series_of(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;

    #[test]
    fn every_part_of_the_key_gives_another_stream() {
        let first =
            |run_seed, series, game, purpose| -> u64 { GameKey { run_seed, series, game }.stream(purpose).random() };
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

    #[test]
    fn names_that_differ_in_a_digit_are_other_series() {
        assert_eq!(series_of("a"), 0xaf63_dc4c_8601_ec8c, "the published value");
        assert_ne!(series_of("bell-0"), series_of("bell-1"));
    }
}

//! How games begin, so that they differ.

use std::sync::Arc;

use latrunculi_engine::{GameState, Player, Rules};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::settings::{SelfPlaySettings, StartSettings};

/// The start of one game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Start {
    /// Uniformly random actions before anything else.
    pub(crate) random_actions: u32,
    /// Actions of an uneven beginning, after them: drawn from the network's policy, those of the noisy player at random.
    pub(crate) policy_actions: u32,
}

impl Start {
    /// Draws the start of a game; draws nothing for what is off.
    pub(crate) fn draw(settings: &SelfPlaySettings, stream: &mut ChaCha8Rng) -> Start {
        let is_random = settings.opening_actions_max > 0 && stream.random_bool(settings.opening_probability);
        let random_actions = if is_random { stream.random_range(1..=settings.opening_actions_max) } else { 0 };
        Start { random_actions, policy_actions: 0 }
    }

    /// Draws whether the game begins unevenly; returns the player who then begins it at random.
    pub(crate) fn draw_uneven(&mut self, settings: &StartSettings, stream: &mut ChaCha8Rng) -> Option<Player> {
        if settings.uneven_probability == 0.0 || !stream.random_bool(settings.uneven_probability) {
            return None;
        }
        self.policy_actions = stream.random_range(1..=settings.uneven_actions_max.max(1));
        Some(Player::BOTH[stream.random_range(0..2)])
    }
}

/// Plays `count` random actions from the start, and begins again when the game ends before. Where it ends every time, no
/// action is played. Returns the game and the actions played, each as its index among the legal ones.
pub(crate) fn random_opening(rules: &Arc<Rules>, count: u32, stream: &mut ChaCha8Rng) -> (GameState, Vec<u16>) {
    let mut legal = Vec::new();
    let mut game = GameState::new(Arc::clone(rules));
    let mut played = Vec::new();
    // A ruleset in which a hundred random openings in a row end the game is no playable game.
    for _ in 0..100 {
        for _ in 0..count {
            if game.outcome().is_some() {
                break;
            }
            game.legal_actions(&mut legal);
            let index = stream.random_range(0..legal.len());
            game.play(legal[index]);
            played.push(index as u16);
        }
        if game.outcome().is_none() {
            return (game, played);
        }
        game = GameState::new(Arc::clone(rules));
        played.clear();
    }
    (game, played)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    #[test]
    fn starts_are_drawn_as_set() {
        let starts = StartSettings { uneven_probability: 0.5, uneven_actions_max: 9 };
        let settings = SelfPlaySettings { opening_probability: 0.0, starts, ..SelfPlaySettings::default() };
        let mut stream = ChaCha8Rng::seed_from_u64(1);
        let drawn: Vec<Start> = (0..4000).map(|_| Start::draw(&settings, &mut stream)).collect();
        assert!(drawn.iter().all(|start| *start == Start::default()));

        let mut weak = [0; 2];
        for mut start in drawn {
            match start.draw_uneven(&starts, &mut stream) {
                Some(player) => {
                    weak[player.index()] += 1;
                    assert!((1..=9).contains(&start.policy_actions));
                }
                None => assert_eq!(start.policy_actions, 0),
            }
        }
        assert!(weak.iter().all(|&games| (900..1100).contains(&games)), "{weak:?}");
    }
}

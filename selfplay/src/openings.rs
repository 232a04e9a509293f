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

/// Tells whether at least half of the turns without a capture that end the game are left after `more` further ones.
pub(crate) fn leaves_half(game: &GameState, more: u32) -> bool {
    let limit = u32::from(game.rules().ruleset().end.quiet_limit);
    limit == 0 || 2 * (u32::from(game.position().quiet_turns()) + more) <= limit
}

/// Plays `count` random actions from the start, and takes back the last ones until at least half of the turns without a
/// capture that end the game are left: what follows is to be decided on the board, not by the counter. Begins again when
/// the game ends otherwise. Where it ends every time, no action is played. Returns the game and the actions played, each
/// as its index among the legal ones.
pub(crate) fn random_opening(rules: &Arc<Rules>, count: u32, stream: &mut ChaCha8Rng) -> (GameState, Vec<u16>) {
    let mut legal = Vec::new();
    // A ruleset in which a hundred random openings in a row end the game is no playable game.
    for _ in 0..100 {
        let mut game = GameState::new(Arc::clone(rules));
        let (mut played, mut kept) = (Vec::new(), 0);
        while game.outcome().is_none() && played.len() < count as usize {
            game.legal_actions(&mut legal);
            let index = stream.random_range(0..legal.len());
            game.play(legal[index]);
            played.push(index as u16);
            if game.outcome().is_none() && leaves_half(&game, 0) {
                kept = played.len();
            }
        }
        if !leaves_half(&game, 0) {
            played.truncate(kept);
            game = GameState::new(Arc::clone(rules));
            for &index in &played {
                game.legal_actions(&mut legal);
                game.play(legal[usize::from(index)]);
            }
        }
        if game.outcome().is_none() {
            return (game, played);
        }
    }
    (GameState::new(Arc::clone(rules)), Vec::new())
}

#[cfg(test)]
mod tests {
    use super::*;
    use latrunculi_engine::presets;
    use rand::SeedableRng;

    #[test]
    fn an_opening_leaves_half_of_the_turns_without_a_capture() {
        for name in presets::NAMES {
            let rules = presets::rules(name);
            let quiet_limit = rules.ruleset().end.quiet_limit;
            let mut longest = 0;
            for seed in 0..20 {
                let mut stream = ChaCha8Rng::seed_from_u64(seed);
                let (game, played) = random_opening(&rules, 60, &mut stream);
                assert!(game.outcome().is_none(), "{name}");
                assert!(quiet_limit == 0 || 2 * game.position().quiet_turns() <= quiet_limit, "{name}");
                longest = longest.max(played.len());
                let mut again = GameState::new(Arc::clone(&rules));
                let mut legal = Vec::new();
                for index in played {
                    again.legal_actions(&mut legal);
                    again.play(legal[usize::from(index)]);
                }
                assert_eq!(again.position(), game.position(), "{name}");
            }
            assert!(longest >= 15, "{name}: {longest}");
        }
    }

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

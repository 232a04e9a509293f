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
    /// Actions after them that make no samples: drawn from the network's policy, those of a noisy player at random.
    pub(crate) policy_actions: u32,
    /// Index of the searched action that is replaced, from 0.
    pub(crate) fork_at: Option<u32>,
}

impl Start {
    /// Draws the start of a game; draws nothing for what is off.
    pub(crate) fn draw(settings: &SelfPlaySettings, stream: &mut ChaCha8Rng) -> Start {
        let is_random = settings.opening_actions_max > 0 && stream.random_bool(settings.opening_probability);
        let random_actions = if is_random { stream.random_range(1..=settings.opening_actions_max) } else { 0 };
        let StartSettings { policy_actions_mean, fork_probability, fork_actions, .. } = settings.starts;
        let policy_actions = if policy_actions_mean > 0.0 {
            // Inverse of the distribution function of the exponential distribution.
            (-f64::from(policy_actions_mean) * (1.0 - stream.random::<f64>()).ln()) as u32
        } else {
            0
        };
        let is_fork = fork_probability > 0.0 && stream.random_bool(fork_probability);
        let fork_at = is_fork.then(|| stream.random_range(0..fork_actions.max(1)));
        Start { random_actions, policy_actions, fork_at }
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

/// Returns the index of the most probable of 3 to 12 actions drawn evenly; `prior` has one probability per legal action.
pub(crate) fn fork_choice(prior: &[f32], stream: &mut ChaCha8Rng) -> usize {
    let drawn: Vec<usize> = (0..stream.random_range(3..=12)).map(|_| stream.random_range(0..prior.len())).collect();
    drawn.into_iter().max_by(|one, other| prior[*one].total_cmp(&prior[*other])).unwrap_or(0)
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
        let starts = StartSettings {
            policy_actions_mean: 3.0,
            fork_probability: 0.25,
            fork_actions: 40,
            uneven_probability: 0.5,
            uneven_actions_max: 9,
        };
        let settings = SelfPlaySettings { opening_probability: 0.0, starts, ..SelfPlaySettings::default() };
        let mut stream = ChaCha8Rng::seed_from_u64(1);
        let drawn: Vec<Start> = (0..4000).map(|_| Start::draw(&settings, &mut stream)).collect();
        let mean = |part: fn(&Start) -> f64| drawn.iter().map(part).sum::<f64>() / drawn.len() as f64;
        // The mean of an exponential distribution of mean m, rounded down, is 1 / (e^(1/m) - 1).
        let expected = 1.0 / ((1.0_f64 / 3.0).exp() - 1.0);
        assert!((mean(|start| start.policy_actions.into()) - expected).abs() < 0.2);
        assert!((mean(|start| f64::from(u8::from(start.fork_at.is_some()))) - 0.25).abs() < 0.03);
        assert!(drawn.iter().all(|start| start.random_actions == 0 && start.fork_at.is_none_or(|at| at < 40)));

        let mut weak = [0; 2];
        for mut start in drawn {
            let policy_actions = start.policy_actions;
            match start.draw_uneven(&starts, &mut stream) {
                Some(player) => {
                    weak[player.index()] += 1;
                    assert!((1..=9).contains(&start.policy_actions));
                }
                None => assert_eq!(start.policy_actions, policy_actions),
            }
        }
        assert!(weak.iter().all(|&games| (900..1100).contains(&games)), "{weak:?}");
    }

    #[test]
    fn a_fork_is_random_and_not_the_worst() {
        let prior: Vec<f32> = (0..50).map(|index| index as f32 / 1225.0).collect();
        let mut stream = ChaCha8Rng::seed_from_u64(1);
        let mean: f64 = (0..1000).map(|_| fork_choice(&prior, &mut stream) as f64).sum::<f64>() / 1000.0;
        assert!(mean > 36.0 && mean < 48.0, "the best of some seven of fifty: {mean}");
    }
}

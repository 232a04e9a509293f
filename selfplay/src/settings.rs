//! The knobs of self-play.

use latrunculi_search::mcts;
use serde::{Deserialize, Serialize};

/// How games are played.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelfPlaySettings {
    /// Simulations of each search; at least 1.
    pub simulations: u32,
    /// Share of games that begin with random actions, in `[0, 1]`.
    pub opening_share: f64,
    /// Most random actions at the start of such a game; their number is drawn evenly from 1 to this.
    pub opening_actions_max: u32,
    /// Temperature of the draw of an action from the improved policy, at least 0; 0 plays the searched choice.
    pub temperature: f32,
    /// Searched actions of a game that are drawn so; later ones are the searched choice.
    pub temperature_actions: u32,
    /// The search itself.
    pub search: mcts::Settings,
}

impl Default for SelfPlaySettings {
    fn default() -> Self {
        SelfPlaySettings {
            simulations: 16,
            opening_share: 0.5,
            opening_actions_max: 16,
            temperature: 1.0,
            temperature_actions: 16,
            search: mcts::Settings { edges_max: 1 << 16, ..mcts::Settings::default() },
        }
    }
}

impl SelfPlaySettings {
    /// Returns every reason why these settings cannot be used; empty when they can.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if self.simulations == 0 {
            faults.push("simulations = 0 must be at least 1".to_owned());
        }
        if !(0.0..=1.0).contains(&self.opening_share) {
            faults.push(format!("opening_share = {} must be in [0, 1]", self.opening_share));
        }
        if !(self.temperature >= 0.0 && self.temperature.is_finite()) {
            faults.push(format!("temperature = {} must be at least 0", self.temperature));
        }
        if self.search.edges_max < 1024 {
            faults.push(format!("search.edges_max = {} must be at least 1024", self.search.edges_max));
        }
        faults
    }
}

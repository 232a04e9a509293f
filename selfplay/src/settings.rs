//! Settings of self-play.

use latrunculi_data::ranges::{Range, faults};
use latrunculi_search::mcts;
use latrunculi_search::mcts::{SIMULATIONS_MAX, SearchBudget};
use serde::{Deserialize, Serialize};

/// Most actions of an opening.
pub const OPENING_ACTIONS_MAX: u32 = 1000;

/// How games are played.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelfPlaySettings {
    /// Simulations of each search; 1 to [`SIMULATIONS_MAX`].
    pub simulations: u32,
    /// Probability that a game begins with random actions, in `[0, 1]`.
    pub opening_probability: f64,
    /// Most random actions at the start of such a game, at most [`OPENING_ACTIONS_MAX`]; their number is drawn
    /// evenly from 1 to this. The last are taken back until at least half of the turns without a capture that end the game
    /// are left.
    pub opening_actions_max: u32,
    /// Temperature of the draw of an action from the improved policy, at least 0; 0 plays the searched choice.
    pub temperature: f32,
    /// Number of searched actions of a game that are drawn so; later ones are the searched choice.
    pub temperature_actions: u32,
    /// Other variety at the start of games.
    #[serde(default)]
    pub starts: StartSettings,
    /// Full and fast searches.
    #[serde(default)]
    pub playout_cap: PlayoutCapSettings,
    /// The search itself.
    pub search: mcts::Settings,
}

/// How games are made different, besides random actions. Nothing of it is used where a teacher plays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StartSettings {
    /// Probability that a game begins unevenly, in `[0, 1]`: of its first actions one player, drawn evenly, plays his at
    /// random and the other his from the network's policy. They make no samples; what follows begins with a lead, and shows
    /// how one is won where equals hardly ever gain one.
    pub uneven_probability: f64,
    /// Most actions of such a beginning, 1 to [`OPENING_ACTIONS_MAX`] where there are any; their number is drawn evenly from
    /// 1 to this. It ends before, where a further turn would leave less than half of the turns without a capture that end
    /// the game.
    pub uneven_actions_max: u32,
}

/// Playout-cap randomisation: a few full searches make targets, many fast ones play the games cheaply.
/// Source: Wu 2019, "Accelerating Self-Play Learning in Go", section 3.1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PlayoutCapSettings {
    /// Probability of a full search once more than half of the turns without a capture that end the game have passed, in
    /// `(0, 1]`; 1 is off. Before that all searches are full: with a quarter of them, as in KataGo, runs scored 3.4 points
    /// [0.5, 6.4] less in bell (docs/measurements.md).
    pub quiet_full_probability: f64,
    /// Simulations of a fast search, which adds no noise and makes no sample; 1 to [`SIMULATIONS_MAX`].
    pub fast_simulations: u32,
}

impl Default for PlayoutCapSettings {
    fn default() -> Self {
        PlayoutCapSettings { quiet_full_probability: 1.0, fast_simulations: 4 }
    }
}

impl Default for SelfPlaySettings {
    fn default() -> Self {
        SelfPlaySettings {
            simulations: 16,
            opening_probability: 0.5,
            opening_actions_max: 16,
            temperature: 1.0,
            temperature_actions: 16,
            starts: StartSettings::default(),
            playout_cap: PlayoutCapSettings::default(),
            search: mcts::Settings { edges_max: 1 << 16, ..mcts::Settings::default() },
        }
    }
}

impl SelfPlaySettings {
    /// Returns every reason why these settings cannot be used; empty when they can.
    #[must_use]
    pub fn validate(&self) -> Vec<String> {
        let SelfPlaySettings { starts, playout_cap, .. } = self;
        let (probability, effort) = (Range::Within(0.0, 1.0), Range::Whole(1, SIMULATIONS_MAX.into()));
        let openings = u64::from(OPENING_ACTIONS_MAX);
        let uneven = starts.uneven_probability;
        let mut reasons = faults([
            ("simulations", self.simulations.into(), effort),
            ("opening_probability", self.opening_probability, probability),
            ("opening_actions_max", self.opening_actions_max.into(), Range::AtMost(openings)),
            ("temperature", self.temperature.into(), Range::NotNegative),
            ("starts.uneven_probability", uneven, probability),
            (
                "starts.uneven_actions_max",
                starts.uneven_actions_max.into(),
                Range::Whole((uneven > 0.0).into(), openings),
            ),
            ("playout_cap.quiet_full_probability", playout_cap.quiet_full_probability, Range::UpTo(1.0)),
            ("playout_cap.fast_simulations", playout_cap.fast_simulations.into(), effort),
        ]);
        reasons.extend(self.search.validate().into_iter().map(|fault| format!("search.{fault}")));
        reasons
    }

    pub(crate) fn effort(&self, is_full: bool) -> SearchBudget {
        let simulations = if is_full { self.simulations } else { self.playout_cap.fast_simulations };
        SearchBudget { simulations, add_noise: is_full }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_out_of_range_are_refused() {
        assert!(SelfPlaySettings::default().validate().is_empty());
        let bad = SelfPlaySettings {
            simulations: u32::MAX,
            opening_actions_max: 1_000_000_000,
            search: mcts::Settings { draw_value: f32::NAN, ..mcts::Settings::default() },
            ..SelfPlaySettings::default()
        };
        let reasons = bad.validate().join("\n");
        for name in ["simulations = 4294967295", "opening_actions_max", "search.draw_value = NaN"] {
            assert!(reasons.contains(name), "{name}: {reasons}");
        }
    }

    #[test]
    fn fast_searches_cost_less_and_have_no_noise() {
        let playout_cap = PlayoutCapSettings { quiet_full_probability: 0.25, fast_simulations: 8 };
        let settings = SelfPlaySettings { simulations: 32, playout_cap, ..SelfPlaySettings::default() };
        assert_eq!(settings.effort(true), SearchBudget { simulations: 32, add_noise: true });
        assert_eq!(settings.effort(false), SearchBudget { simulations: 8, add_noise: false });
    }
}

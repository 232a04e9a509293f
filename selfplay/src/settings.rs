//! The knobs of self-play.

use latrunculi_search::mcts;
use latrunculi_search::mcts::Effort;
use serde::{Deserialize, Serialize};

use crate::weighting::{ResignationSettings, SurpriseSettings};

/// Most simulations of a search.
pub const SIMULATIONS_MAX: u32 = 10_000_000;
/// Most actions of an opening.
pub const OPENING_ACTIONS_MAX: u32 = 1000;
/// Most evaluations that a lane remembers: some tens of gigabytes.
pub const CACHE_ENTRIES_MAX: usize = 1 << 24;

/// How games are played.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelfPlaySettings {
    /// Simulations of each search; 1 to [`SIMULATIONS_MAX`].
    pub simulations: u32,
    /// Share of games that begin with random actions, in `[0, 1]`.
    pub opening_share: f64,
    /// Most random actions at the start of such a game, at most [`OPENING_ACTIONS_MAX`]; their number is drawn evenly from
    /// 1 to this.
    pub opening_actions_max: u32,
    /// Temperature of the draw of an action from the improved policy, at least 0; 0 plays the searched choice.
    pub temperature: f32,
    /// Searched actions of a game that are drawn so; later ones are the searched choice.
    pub temperature_actions: u32,
    /// What the temperature falls to, at least 0.
    #[serde(default)]
    pub temperature_end: f32,
    /// Turns in which it comes half the way there; 0: it does not fall.
    #[serde(default)]
    pub temperature_half_life: f32,
    /// Evaluations that each lane remembers, at most [`CACHE_ENTRIES_MAX`]; 0: none.
    #[serde(default)]
    pub cache_entries: usize,
    /// How games begin besides.
    #[serde(default)]
    pub starts: StartSettings,
    /// Full and fast searches.
    #[serde(default)]
    pub playout_cap: PlayoutCapSettings,
    /// What surprised the network counts more.
    #[serde(default)]
    pub surprise: SurpriseSettings,
    /// Decided games are searched less.
    #[serde(default)]
    pub resignation: ResignationSettings,
    /// The search itself.
    pub search: mcts::Settings,
}

/// How games begin besides random actions, so that no two are alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StartSettings {
    /// Mean of the number of actions drawn from the bare policy at the start of a game, an exponential distribution
    /// rounded down; they are not learnt from. 0.04 of the squares in KataGo; 0: none.
    pub policy_actions_mean: f32,
    /// Share of games in which one searched action is replaced by the likeliest of 3 to 12 random ones, in `[0, 1]`;
    /// 0.04 in KataGo, which takes the one of best value.
    pub fork_share: f64,
    /// Searched actions among which that one is chosen evenly; at least 1 where there are forks.
    pub fork_actions: u32,
}

/// Playout-cap randomisation: few full searches make targets, many fast ones make games, and so results, cheap.
///
/// Source: Wu 2019, "Accelerating Self-Play Learning in Go", section 3.1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PlayoutCapSettings {
    /// Share of full searches, in `(0, 1]`; 0.25 in KataGo, 1 is off.
    pub full_share: f64,
    /// Simulations of a fast search, which does not explore and is learnt from only as far as it surprised
    /// ([`SurpriseSettings`]); 1 to [`SIMULATIONS_MAX`].
    pub fast_simulations: u32,
}

impl Default for PlayoutCapSettings {
    /// Off.
    fn default() -> Self {
        PlayoutCapSettings { full_share: 1.0, fast_simulations: 4 }
    }
}

impl Default for SelfPlaySettings {
    fn default() -> Self {
        SelfPlaySettings {
            simulations: 16,
            opening_share: 0.5,
            opening_actions_max: 16,
            temperature: 1.0,
            temperature_actions: 16,
            temperature_end: 0.0,
            temperature_half_life: 0.0,
            cache_entries: 0,
            starts: StartSettings::default(),
            playout_cap: PlayoutCapSettings::default(),
            surprise: SurpriseSettings::default(),
            resignation: ResignationSettings::default(),
            search: mcts::Settings { edges_max: 1 << 16, ..mcts::Settings::default() },
        }
    }
}

impl SelfPlaySettings {
    /// Returns every reason why these settings cannot be used; empty when they can.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let mut require = |name: &str, value: f64, good: bool, range: &str| {
            if !good {
                faults.push(format!("{name} = {value} must be {range}"));
            }
        };
        let share = |value: f64| (0.0..=1.0).contains(&value);
        let is_effort = |simulations: u32| (1..=SIMULATIONS_MAX).contains(&simulations);
        let efforts = format!("1 to {SIMULATIONS_MAX}");
        let not_negative = |value: f32| value >= 0.0 && value.is_finite();
        let SelfPlaySettings { starts, playout_cap, surprise, resignation, .. } = self;
        require("simulations", self.simulations.into(), is_effort(self.simulations), &efforts);
        require("opening_share", self.opening_share, share(self.opening_share), "in [0, 1]");
        let actions = self.opening_actions_max;
        let openings = format!("at most {OPENING_ACTIONS_MAX}");
        require("opening_actions_max", actions.into(), actions <= OPENING_ACTIONS_MAX, &openings);
        let entries = self.cache_entries;
        let caches = format!("at most {CACHE_ENTRIES_MAX}");
        require("cache_entries", entries as f64, entries <= CACHE_ENTRIES_MAX, &caches);
        for (name, value) in [
            ("temperature", self.temperature),
            ("temperature_end", self.temperature_end),
            ("temperature_half_life", self.temperature_half_life),
        ] {
            require(name, value.into(), not_negative(value), "at least 0");
        }
        let mean = starts.policy_actions_mean;
        let is_mean = (0.0..=OPENING_ACTIONS_MAX as f32).contains(&mean);
        require("starts.policy_actions_mean", mean.into(), is_mean, &format!("0 to {OPENING_ACTIONS_MAX}"));
        require("starts.fork_share", starts.fork_share, share(starts.fork_share), "in [0, 1]");
        let forks_fit = starts.fork_share == 0.0 || starts.fork_actions > 0;
        require("starts.fork_actions", starts.fork_actions.into(), forks_fit, "at least 1 where there are forks");
        let full = playout_cap.full_share;
        require("playout_cap.full_share", full, full > 0.0 && full <= 1.0, "above 0 and at most 1");
        let fast = playout_cap.fast_simulations;
        require("playout_cap.fast_simulations", fast.into(), is_effort(fast), &efforts);
        let shares = f64::from(surprise.policy_share) + f64::from(surprise.value_share);
        let is_share = surprise.policy_share >= 0.0 && surprise.value_share >= 0.0 && shares <= 1.0;
        require("surprise.policy_share + surprise.value_share", shares, is_share, "in [0, 1], and neither below 0");
        let threshold = f64::from(resignation.threshold);
        require("resignation.threshold", threshold, threshold > 0.0 && threshold <= 1.0, "above 0 and at most 1");
        require("resignation.searches", resignation.searches as f64, resignation.searches > 0, "at least 1");
        let fewest = resignation.simulations;
        require("resignation.simulations", fewest.into(), is_effort(fewest), &efforts);
        require("resignation.weight", resignation.weight.into(), share(resignation.weight.into()), "in [0, 1]");
        if self.search.edges_max < 1024 {
            faults.push(format!("search.edges_max = {} must be at least 1024", self.search.edges_max));
        }
        faults.extend(self.search.faults().into_iter().map(|fault| format!("search.{fault}")));
        faults
    }

    /// Returns the temperature after `turns` turns of a game:
    /// `end + (start - end) / 2^(turns / half life)`.
    #[must_use]
    pub fn temperature_at(&self, turns: u32) -> f32 {
        if self.temperature_half_life == 0.0 {
            return self.temperature;
        }
        let left = (-(turns as f32) / self.temperature_half_life).exp2();
        self.temperature_end + (self.temperature - self.temperature_end) * left
    }

    /// Returns what a search may spend, where the game is decided to the degree `decided` in `[0, 1]`.
    pub(crate) fn effort(&self, is_full: bool, decided: f32) -> Effort {
        let simulations = if is_full { self.simulations } else { self.playout_cap.fast_simulations };
        let least = self.resignation.simulations.min(simulations);
        let reduced = ResignationSettings::reduced(decided, simulations as f32, least as f32);
        Effort { simulations: (reduced.round() as u32).max(1), explores: is_full }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_played_with_is_refused() {
        assert!(SelfPlaySettings::default().faults().is_empty());
        let bad = SelfPlaySettings {
            simulations: u32::MAX,
            opening_actions_max: 1_000_000_000,
            cache_entries: 10_000_000_000_000,
            search: mcts::Settings { draw_value: f32::NAN, ..mcts::Settings::default() },
            ..SelfPlaySettings::default()
        };
        let faults = bad.faults().join("\n");
        for name in ["simulations = 4294967295", "opening_actions_max", "cache_entries", "search.draw_value = NaN"] {
            assert!(faults.contains(name), "{name}: {faults}");
        }
    }

    #[test]
    fn the_temperature_halves_its_way() {
        let settings = SelfPlaySettings {
            temperature: 0.8,
            temperature_end: 0.2,
            temperature_half_life: 19.0,
            ..SelfPlaySettings::default()
        };
        for (turns, expected) in [(0, 0.8), (19, 0.5), (38, 0.35), (1000, 0.2)] {
            assert!((settings.temperature_at(turns) - expected).abs() < 1e-6, "{turns}");
        }
        let constant = SelfPlaySettings { temperature_half_life: 0.0, ..settings };
        assert_eq!(constant.temperature_at(500), 0.8);
    }

    #[test]
    fn fast_searches_and_decided_games_cost_less() {
        let playout_cap = PlayoutCapSettings { full_share: 0.25, fast_simulations: 8 };
        let settings = SelfPlaySettings { simulations: 32, playout_cap, ..SelfPlaySettings::default() };
        assert_eq!(settings.effort(true, 0.0), Effort { simulations: 32, explores: true });
        assert_eq!(settings.effort(false, 0.0), Effort { simulations: 8, explores: false });
        assert_eq!(settings.effort(true, 0.5), Effort { simulations: 18, explores: true });
        assert_eq!(settings.effort(false, 1.0), Effort { simulations: 4, explores: false });
    }
}

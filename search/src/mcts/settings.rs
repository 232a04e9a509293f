//! The settings of a search; each constant names its source.

use std::fmt::Display;

use serde::{Deserialize, Serialize};

/// The most simulations of one search.
pub const SIMULATIONS_MAX: u32 = 10_000_000;

/// The settings of a search, the same for all its runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// How the root spends the simulations and makes the policy target.
    pub mode: Mode,
    /// Contempt: the value of a draw for the player to act at the root, in `[-1, 1]`; his opponent has its negative, so that
    /// each search is zero-sum. A subtree that is kept is weighed anew for the player of the next root.
    pub draw_value: f32,
    /// Which ends may be proven.
    pub proofs: Proofs,
    /// Whether the subtree under a played action is kept for the next search.
    pub reuse_tree: bool,
    /// The most edges a tree holds, from 1024 to 2^31, 44 bytes and an action each; later leaves are evaluated and counted
    /// but not kept.
    pub edges_max: usize,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            mode: Mode::default(),
            draw_value: 0.0,
            proofs: Proofs::Positional,
            reuse_tree: true,
            edges_max: 1 << 23,
        }
    }
}

impl Settings {
    /// Returns the default search: Gumbel at the root, as mctx does it.
    #[must_use]
    pub fn gumbel() -> Settings {
        Settings::default()
    }

    /// Returns a search by PUCT with KataGo's constants.
    #[must_use]
    pub fn puct() -> Settings {
        Settings { mode: Mode::Puct(PuctSettings::default()), ..Settings::default() }
    }

    /// Returns every reason why these settings cannot be used; empty when they can.
    #[must_use]
    pub fn validate(&self) -> Vec<String> {
        let mut errors = Vec::new();
        let mut check = |name: &str, value: &dyn Display, good: bool, range: &str| {
            if !good {
                errors.push(format!("{name} = {value} must be {range}"));
            }
        };
        let is_not_negative = |value: f32| value >= 0.0 && value.is_finite();
        let is_above_zero = |value: f32| value > 0.0 && value.is_finite();
        check("draw_value", &self.draw_value, (-1.0..=1.0).contains(&self.draw_value), "in [-1, 1]");
        check("edges_max", &self.edges_max, (1024..=1 << 31).contains(&self.edges_max), "from 1024 to 2147483648");
        match self.mode {
            Mode::Gumbel(GumbelSettings {
                max_considered_actions,
                value_scale,
                range_min,
                shrinkage,
                maxvisit_init,
            }) => {
                check("mode.gumbel.maxvisit_init", &maxvisit_init, is_not_negative(maxvisit_init), "at least 0");
                check("mode.gumbel.value_scale", &value_scale, is_not_negative(value_scale), "at least 0");
                check("mode.gumbel.shrinkage", &shrinkage, is_not_negative(shrinkage), "at least 0");
                check("mode.gumbel.range_min", &range_min, is_above_zero(range_min), "above 0");
                let is_some = max_considered_actions != MaxConsideredActions::Fixed(0);
                check("mode.gumbel.max_considered_actions.fixed", &0, is_some, "at least 1");
            }
            Mode::Puct(PuctSettings { c_puct, c_puct_log, c_puct_base, fpu_reduction }) => {
                check("mode.puct.c_puct", &c_puct, is_not_negative(c_puct), "at least 0");
                check("mode.puct.c_puct_log", &c_puct_log, is_not_negative(c_puct_log), "at least 0");
                check("mode.puct.fpu_reduction", &fpu_reduction, is_not_negative(fpu_reduction), "at least 0");
                check("mode.puct.c_puct_base", &c_puct_base, is_above_zero(c_puct_base), "above 0");
            }
        }
        errors
    }
}

/// How the root spends the simulations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Mode {
    /// Gumbel root, sequential halving, completed-Q targets: most from 16 to 64 simulations.
    Gumbel(GumbelSettings),
    /// Upper confidence bounds with the prior; targets from visits.
    Puct(PuctSettings),
}

impl Default for Mode {
    fn default() -> Mode {
        Mode::Gumbel(GumbelSettings::default())
    }
}

/// Which ends of the game may be proven and backed up as exact bounds.
/// A proof lets the search skip a subtree and stop early; every end counts as an exact *value* in any case. But for `Off`,
/// all actions of a new node are tried at once, so that no end one action ahead is overlooked for want of visits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Proofs {
    /// None: ends are values only, found by visits, as in mctx.
    Off,
    /// Ends that follow from the position alone ([`crate::Game::outcome_is_positional`]).
    #[default]
    Positional,
    /// Every end. Sound because a node of the tree stands for its whole path, history included; the
    /// proof then holds for this game and not for the position elsewhere.
    Path,
}

/// The constants of the Gumbel mode.
/// Source: Danihelka et al. 2022, "Policy improvement by planning with Gumbel"; mctx, `gumbel_muzero_policy`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GumbelSettings {
    /// How many actions the root considers at first.
    pub max_considered_actions: MaxConsideredActions,
    /// Factor on the completed values of a node, which are rescaled to `[0, 1]` between the least and the greatest of them, and
    /// then multiplied by the visit scale: `sigma(q)` of the paper (equation 8) as in mctx; 0.1.
    pub value_scale: f32,
    /// The least difference that is rescaled, of values in `[-1, 1]`; above 0. Where all actions are about equal
    /// their differences are errors of the network, which mctx stretches to the whole scale. mctx has 1e-8, which
    /// in single precision magnifies rounding errors of equal values; 1e-6 here is the same otherwise.
    pub range_min: f32,
    /// Values of actions are mixed with `v_mix` as if that had been seen in so many visits more: `v_mix + (q - v_mix) n / (n + k)` of
    /// `n` visits. Ends and proven results are not. 0 leaves values as they are, as mctx does.
    #[serde(skip_serializing_if = "is_zero")]
    pub shrinkage: f32,
    /// `c_visit`: visits every value is credited with when it is weighed against the prior; 50 in the
    /// paper (section 3.4) and in mctx.
    pub maxvisit_init: f32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's form")]
fn is_zero(number: &f32) -> bool {
    *number == 0.0
}

impl Default for GumbelSettings {
    fn default() -> GumbelSettings {
        GumbelSettings {
            max_considered_actions: MaxConsideredActions::Auto,
            value_scale: 0.1,
            range_min: RANGE_MIN,
            shrinkage: 0.0,
            maxvisit_init: 50.0,
        }
    }
}

/// How many actions the root considers at first (`m` in the paper).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MaxConsideredActions {
    /// 8 below 64 simulations, 16 from there on: with 16 actions and 16 simulations nothing is halved.
    #[default]
    Auto,
    /// A fixed number, at most the number of legal actions.
    Fixed(u32),
}

impl MaxConsideredActions {
    /// Returns the number of actions considered, at least 1.
    #[must_use]
    pub fn count(self, simulations: u32, legal_actions: usize) -> usize {
        let wanted = match self {
            MaxConsideredActions::Auto if simulations < 64 => 8,
            MaxConsideredActions::Auto => 16,
            MaxConsideredActions::Fixed(count) => count as usize,
        };
        wanted.min(legal_actions).max(1)
    }
}

/// The least `range_min` that rounding stays below.
pub(crate) const RANGE_MIN: f32 = 1e-6;

/// The constants of the PUCT mode, KataGo's where not said otherwise. They hold where the values in the tree have a standard
/// deviation of 0.4, and change in proportion to it.
/// Source: Wu 2019 (arXiv 1902.10565) and KataGo's `searchexplorehelpers.cpp`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PuctSettings {
    /// `c0` of `c(W) = c0 + c_log * ln((W + c_base) / c_base)`; 1.05 in late self-play configs.
    pub c_puct: f32,
    /// `c_log`: how fast exploration grows with visits; 0.28 in late self-play configs.
    pub c_puct_log: f32,
    /// `c_base`: the visits at which that growth sets in; 500.
    pub c_puct_base: f32,
    /// How far below its parent an unvisited action is assumed, times `sqrt` of the visited prior; 0.2.
    pub fpu_reduction: f32,
}

impl Default for PuctSettings {
    fn default() -> PuctSettings {
        PuctSettings { c_puct: 1.05, c_puct_log: 0.28, c_puct_base: 500.0, fpu_reduction: 0.2 }
    }
}

/// The budget of one search, and whether the root is noised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchBudget {
    /// Visits below the root; the root's own evaluation is not counted (as in mctx). 0 is the network's policy alone.
    pub simulations: u32,
    /// Whether the root has Gumbel noise; PUCT has none. Off for evaluation matches and for the fast searches of playout-cap
    /// randomisation.
    pub add_noise: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_out_of_range_are_named_by_their_path() {
        assert!(Settings::gumbel().validate().is_empty() && Settings::puct().validate().is_empty());
        let puct = PuctSettings { c_puct_base: 0.0, c_puct: -1.0, ..PuctSettings::default() };
        let errors =
            Settings { mode: Mode::Puct(puct), draw_value: 5.0, edges_max: 0, ..Settings::default() }.validate();
        assert_eq!(
            errors,
            [
                "draw_value = 5 must be in [-1, 1]",
                "edges_max = 0 must be from 1024 to 2147483648",
                "mode.puct.c_puct = -1 must be at least 0",
                "mode.puct.c_puct_base = 0 must be above 0",
            ]
        );
        let gumbel = GumbelSettings {
            max_considered_actions: MaxConsideredActions::Fixed(0),
            value_scale: -1.0,
            range_min: 0.0,
            shrinkage: -1.0,
            maxvisit_init: -100.0,
        };
        let errors = Settings { mode: Mode::Gumbel(gumbel), ..Settings::default() }.validate();
        assert_eq!(errors.len(), 5, "{errors:?}");
        assert!(errors.contains(&"mode.gumbel.range_min = 0 must be above 0".to_owned()), "{errors:?}");
    }
}

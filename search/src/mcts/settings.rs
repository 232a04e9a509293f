//! The settings of a search; each constant names its source.

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
    /// `lambda` of the search's value `W - L + lambda * margin`, in `[0, 0.5]`: so that leads count where wins are not yet
    /// found. `margin` is the expected final margin ([`crate::Evaluation::margin`], at the end of the game
    /// [`crate::Game::final_margin_for`]) as it stands; the margin of pieces is a fraction, bounded and nearly linear in
    /// what it is to measure, and needs no saturating function. Up to 0.5 any win counts as much as any draw or more.
    /// Results and targets stay win, draw and loss.
    ///
    /// Source: Wu 2019 (arXiv 1902.10565), score utility, which saturates unbounded scores of Go by an arctangent.
    /// 0.2 showed no gain in learning (docs/measurements.md).
    pub margin_weight: f32,
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
            margin_weight: 0.0,
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
        require(&mut errors, "draw_value", self.draw_value, (-1.0..=1.0).contains(&self.draw_value), "in [-1, 1]");
        let weight = self.margin_weight;
        require(&mut errors, "margin_weight", weight, (0.0..=0.5).contains(&weight), "in [0, 0.5]");
        if !(1024..=1 << 31).contains(&self.edges_max) {
            errors.push(format!("edges_max = {} must be from 1024 to 2147483648", self.edges_max));
        }
        match &self.mode {
            Mode::Gumbel(gumbel) => gumbel.validate_into(&mut errors),
            Mode::Puct(puct) => puct.validate_into("mode.puct", &mut errors),
        }
        errors
    }
}

/// Adds an error that names the value and its range, unless the value is `good`.
fn require(errors: &mut Vec<String>, name: &str, value: f32, good: bool, range: &str) {
    if !good {
        errors.push(format!("{name} = {value} must be {range}"));
    }
}

fn is_not_negative(value: f32) -> bool {
    value >= 0.0 && value.is_finite()
}

fn is_above_zero(value: f32) -> bool {
    value > 0.0 && value.is_finite()
}

impl GumbelSettings {
    fn validate_into(&self, errors: &mut Vec<String>) {
        let mut check = |name: &str, value: f32, good: bool, range: &str| {
            require(errors, &format!("mode.gumbel.{name}"), value, good, range);
        };
        check("maxvisit_init", self.maxvisit_init, is_not_negative(self.maxvisit_init), "at least 0");
        check("value_scale", self.value_scale, is_not_negative(self.value_scale), "at least 0");
        check("range_min", self.range_min, is_above_zero(self.range_min), "above 0");
        if self.max_considered_actions == MaxConsideredActions::Fixed(0) {
            errors.push("mode.gumbel.max_considered_actions.fixed = 0 must be at least 1".to_owned());
        }
    }
}

impl PuctSettings {
    fn validate_into(&self, path: &str, errors: &mut Vec<String>) {
        let mut check = |name: &str, value: f32, good: bool, range: &str| {
            require(errors, &format!("{path}.{name}"), value, good, range);
        };
        for (name, value) in [
            ("c_puct", self.c_puct),
            ("c_puct_log", self.c_puct_log),
            ("fpu_reduction", self.fpu_reduction),
            ("fpu_reduction_noised_root", self.fpu_reduction_noised_root),
            ("forced_playouts", self.forced_playouts),
        ] {
            check(name, value, is_not_negative(value), "at least 0");
        }
        for (name, value) in [
            ("c_puct_base", self.c_puct_base),
            ("root_policy_temperature", self.root_policy_temperature),
            ("noise_concentration", self.noise_concentration),
        ] {
            check(name, value, is_above_zero(value), "above 0");
        }
        check("noise_share", self.noise_share, (0.0..=1.0).contains(&self.noise_share), "in [0, 1]");
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
///
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
///
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
    /// `c_visit`: visits every value is credited with when it is weighed against the prior; 50 in the
    /// paper (section 3.4) and in mctx.
    pub maxvisit_init: f32,
}

impl Default for GumbelSettings {
    fn default() -> GumbelSettings {
        GumbelSettings {
            max_considered_actions: MaxConsideredActions::Auto,
            value_scale: 0.1,
            range_min: RANGE_MIN,
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

/// The constants of the PUCT mode, KataGo's where not said otherwise.
///
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
    /// The same at a root under noise; 0.
    pub fpu_reduction_noised_root: f32,
    /// Exponent `1 / temperature` softens the root's prior before the noise; 1.1 (1.25 at the start of a
    /// game in KataGo).
    pub root_policy_temperature: f32,
    /// Fraction of noise in the root's prior; 0.25.
    pub noise_share: f32,
    /// Sum of the Dirichlet parameters; 10 (AlphaZero's rule of thumb, alpha about 10 / actions).
    pub noise_concentration: f32,
    /// `k` of the forced playouts `sqrt(k * P * W)`; 2. 0 turns them off.
    pub forced_playouts: f32,
}

impl Default for PuctSettings {
    fn default() -> PuctSettings {
        PuctSettings {
            c_puct: 1.05,
            c_puct_log: 0.28,
            c_puct_base: 500.0,
            fpu_reduction: 0.2,
            fpu_reduction_noised_root: 0.0,
            root_policy_temperature: 1.1,
            noise_share: 0.25,
            noise_concentration: 10.0,
            forced_playouts: 2.0,
        }
    }
}

/// The budget of one search, and whether the root is noised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchBudget {
    /// Visits below the root; the root's own evaluation is not counted (as in mctx). 0 is the network's policy alone.
    pub simulations: u32,
    /// Whether the root is noised: Gumbel noise, or Dirichlet noise with root temperature and forced
    /// playouts. Off for evaluation matches and for the fast searches of playout-cap randomisation.
    pub add_noise: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_out_of_range_are_named_by_their_path() {
        assert!(Settings::gumbel().validate().is_empty() && Settings::puct().validate().is_empty());
        let puct = PuctSettings { c_puct_base: 0.0, noise_share: 2.0, ..PuctSettings::default() };
        let errors = Settings {
            mode: Mode::Puct(puct),
            draw_value: 5.0,
            margin_weight: 0.6,
            edges_max: 0,
            ..Settings::default()
        }
        .validate();
        assert_eq!(
            errors,
            [
                "draw_value = 5 must be in [-1, 1]",
                "margin_weight = 0.6 must be in [0, 0.5]",
                "edges_max = 0 must be from 1024 to 2147483648",
                "mode.puct.c_puct_base = 0 must be above 0",
                "mode.puct.noise_share = 2 must be in [0, 1]",
            ]
        );
        let gumbel = GumbelSettings {
            max_considered_actions: MaxConsideredActions::Fixed(0),
            value_scale: -1.0,
            range_min: 0.0,
            maxvisit_init: -100.0,
        };
        let errors = Settings { mode: Mode::Gumbel(gumbel), ..Settings::default() }.validate();
        assert_eq!(errors.len(), 4, "{errors:?}");
        assert!(errors.contains(&"mode.gumbel.range_min = 0 must be above 0".to_owned()), "{errors:?}");
    }
}

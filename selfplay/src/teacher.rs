//! The teacher of the first generations: alpha-beta in place of a network.
//!
//! In the array rulesets random play shuffles to a draw, so that a fresh network would learn nothing from its own games.
//! Instead alpha-beta plays both sides of the first games, the bootstrap games.

use latrunculi_engine::{Action, GameState, Player, Rules};
use latrunculi_search::alphabeta::{AlphaBeta, AlphaBetaSettings, Limits};
use latrunculi_search::latrunculi::LatrunculiHeuristic;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// How a score of alpha-beta becomes probabilities of win, draw and loss.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ValueSettings {
    /// Score, in hundredths of a man, at which win minus loss is `tanh(1)` = 0.76; above 0.
    pub scale: f32,
    /// Probability of a draw at score 0, in `[0, 1)`.
    pub draw_probability: f32,
}

impl Default for ValueSettings {
    fn default() -> Self {
        ValueSettings { scale: 300.0, draw_probability: 0.1 }
    }
}

impl ValueSettings {
    /// Returns every reason why these settings cannot be used; empty when they can.
    #[must_use]
    pub fn validate(&self) -> Vec<String> {
        let mut reasons = Vec::new();
        if !(self.scale > 0.0 && self.scale.is_finite()) {
            reasons.push(format!("scale = {} must be above 0", self.scale));
        }
        if !(0.0..1.0).contains(&self.draw_probability) {
            reasons.push(format!("draw_probability = {} must be in [0, 1)", self.draw_probability));
        }
        reasons
    }

    /// Returns win, draw and loss for a score in hundredths of a man.
    fn win_draw_loss(&self, score: f32) -> [f32; 3] {
        let lead = (score / self.scale).tanh();
        let draw = self.draw_probability * (1.0 - lead.abs());
        [(1.0 - draw + lead) / 2.0, draw, (1.0 - draw - lead) / 2.0]
    }
}

/// How alpha-beta plays the bootstrap games, and their targets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TeacherSettings {
    /// Nodes per decision; at least 1.
    pub nodes: u64,
    /// Probability that an action is replaced by a random one, in `[0, 1]`; the policy target is still the action of
    /// alpha-beta.
    pub random_probability: f64,
    /// Probability that a game has a noisy player, on either side, in `[0, 1]`: where good play rarely captures, a fresh
    /// network learns from these games how games are won.
    #[serde(default)]
    pub noisy_player_probability: f64,
    /// Probability that an action of the noisy player is replaced by a random one, in `[0, 1]`.
    #[serde(default)]
    pub noisy_player_random_probability: f64,
    /// Part of the policy target that is spread evenly over all legal actions, in `[0, 1]`.
    pub policy_smoothing: f32,
    /// How scores become value targets.
    pub value: ValueSettings,
}

impl Default for TeacherSettings {
    fn default() -> Self {
        TeacherSettings {
            nodes: 500,
            random_probability: 0.05,
            noisy_player_probability: 0.0,
            noisy_player_random_probability: 0.0,
            policy_smoothing: 0.15,
            value: ValueSettings::default(),
        }
    }
}

impl TeacherSettings {
    /// Returns every reason why these settings cannot be used; empty when they can.
    #[must_use]
    pub fn validate(&self) -> Vec<String> {
        let mut reasons = self.value.validate();
        if self.nodes == 0 {
            reasons.push("nodes = 0 must be at least 1".to_owned());
        }
        for (name, probability) in [
            ("random_probability", self.random_probability),
            ("noisy_player_probability", self.noisy_player_probability),
            ("noisy_player_random_probability", self.noisy_player_random_probability),
        ] {
            if !(0.0..=1.0).contains(&probability) {
                reasons.push(format!("{name} = {probability} must be in [0, 1]"));
            }
        }
        if !(0.0..=1.0).contains(&self.policy_smoothing) {
            reasons.push(format!("policy_smoothing = {} must be in [0, 1]", self.policy_smoothing));
        }
        reasons
    }

    /// Draws the noisy player of a game, if it has one; draws nothing where the probability is 0.
    pub(crate) fn draw_noisy_player(&self, stream: &mut ChaCha8Rng) -> Option<Player> {
        let is_noisy = self.noisy_player_probability > 0.0 && stream.random_bool(self.noisy_player_probability);
        is_noisy.then(|| if stream.random_bool(0.5) { Player::First } else { Player::Second })
    }

    /// Returns the probability that an action of `player` is replaced by a random one.
    pub(crate) fn random_probability_of(&self, player: Player, noisy_player: Option<Player>) -> f64 {
        if noisy_player == Some(player) { self.noisy_player_random_probability } else { self.random_probability }
    }
}

/// A decision of alpha-beta as training targets.
pub(crate) struct Demonstration {
    /// The action that alpha-beta chose.
    pub(crate) action: Action,
    /// One probability per legal action; they sum to 1.
    pub(crate) policy: Vec<f32>,
    /// Expected result for the player to act.
    pub(crate) win_draw_loss: [f32; 3],
}

/// Bytes of the transposition table; every actor has one.
const TABLE_BYTES: usize = 1 << 20;

/// Alpha-beta, which plays both sides of a bootstrap game.
pub(crate) struct Teacher {
    search: AlphaBeta<GameState, LatrunculiHeuristic>,
}

impl Teacher {
    pub(crate) fn new(rules: &Rules) -> Teacher {
        let settings = AlphaBetaSettings { table_bytes: TABLE_BYTES, ..AlphaBetaSettings::default() };
        Teacher { search: AlphaBeta::new(settings, LatrunculiHeuristic::new(rules)) }
    }

    /// Searches a position; `legal` are its actions.
    pub(crate) fn demonstrate(
        &mut self,
        settings: &TeacherSettings,
        game: &GameState,
        legal: &[Action],
    ) -> Demonstration {
        let found = self.search.search(game, Limits::nodes(settings.nodes));
        let spread = settings.policy_smoothing / legal.len() as f32;
        let chosen = 1.0 - settings.policy_smoothing;
        let probability = |&action| if action == found.action { spread + chosen } else { spread };
        Demonstration {
            action: found.action,
            policy: legal.iter().map(probability).collect(),
            win_draw_loss: settings.value.win_draw_loss(found.score as f32),
        }
    }
}

//! The teacher of the first generations: alpha-beta in place of a network.
//!
//! In the array rulesets random play shuffles to a draw, so that a fresh network would learn nothing from its own games.
//! Alpha-beta plays both sides ([`AlphaBetaTeaching`]). That the tree search asks its static evaluation ([`Teacher`]) is
//! possible too, and much the weaker for the same time.

use latrunculi_engine::{Action, GameState, Player, Rules};
use latrunculi_search::alphabeta::{AlphaBeta, AlphaBetaSettings, Heuristic, Limits};
use latrunculi_search::latrunculi::LatrunculiHeuristic;
use latrunculi_search::{EvalError, Evaluation, Evaluator};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// How the static evaluation becomes an opinion.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TeacherSettings {
    /// Hundredths of a man that are worth `tanh(1)` = 0.76 of a certain win; above 0.
    pub scale: f32,
    /// Probability of a draw where the sides are level, in `[0, 1)`.
    pub draw_share: f32,
}

impl Default for TeacherSettings {
    fn default() -> Self {
        TeacherSettings { scale: 300.0, draw_share: 0.1 }
    }
}

impl TeacherSettings {
    /// Returns every reason why these settings cannot be used; empty when they can.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if !(self.scale > 0.0 && self.scale.is_finite()) {
            faults.push(format!("scale = {} must be above 0", self.scale));
        }
        if !(0.0..1.0).contains(&self.draw_share) {
            faults.push(format!("draw_share = {} must be in [0, 1)", self.draw_share));
        }
        faults
    }
}

impl TeacherSettings {
    /// Returns win, draw and loss for a score in hundredths of a man.
    fn win_draw_loss(&self, score: f32) -> [f32; 3] {
        let lead = (score / self.scale).tanh();
        let draw = self.draw_share * (1.0 - lead.abs());
        [(1.0 - draw + lead) / 2.0, draw, (1.0 - draw - lead) / 2.0]
    }
}

/// How alpha-beta plays the games of the first generation, and what is learnt from them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AlphaBetaTeaching {
    /// Nodes per decision; at least 1.
    pub nodes: u64,
    /// Share of the actions that are replaced by random ones, in `[0, 1]`; what is taught is still the action
    /// that alpha-beta chose.
    pub random_share: f64,
    /// Share of the games in which one side, either by chance, is weak, in `[0, 1]`: where good play on both sides hardly
    /// ever captures, a fresh network learns from these how games are won.
    #[serde(default)]
    pub weak_share: f64,
    /// Share of the weak side's actions that are replaced by random ones, in `[0, 1]`.
    #[serde(default)]
    pub weak_random_share: f64,
    /// Share of the policy target that is spread over all legal actions, in `[0, 1]`.
    pub policy_spread: f32,
    /// How scores become expectations.
    pub judgement: TeacherSettings,
}

impl Default for AlphaBetaTeaching {
    fn default() -> Self {
        AlphaBetaTeaching {
            nodes: 500,
            random_share: 0.05,
            weak_share: 0.0,
            weak_random_share: 0.0,
            policy_spread: 0.15,
            judgement: TeacherSettings::default(),
        }
    }
}

impl AlphaBetaTeaching {
    /// Returns every reason why these settings cannot be used; empty when they can.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        let mut faults = self.judgement.faults();
        if self.nodes == 0 {
            faults.push("nodes = 0 must be at least 1".to_owned());
        }
        for (name, share) in [
            ("random_share", self.random_share),
            ("weak_share", self.weak_share),
            ("weak_random_share", self.weak_random_share),
        ] {
            if !(0.0..=1.0).contains(&share) {
                faults.push(format!("{name} = {share} must be in [0, 1]"));
            }
        }
        if !(0.0..=1.0).contains(&self.policy_spread) {
            faults.push(format!("policy_spread = {} must be in [0, 1]", self.policy_spread));
        }
        faults
    }

    /// Draws who is weak in a game, if anybody. What is off draws nothing.
    pub(crate) fn draw_weak(&self, stream: &mut ChaCha8Rng) -> Option<Player> {
        let is_uneven = self.weak_share > 0.0 && stream.random_bool(self.weak_share);
        is_uneven.then(|| if stream.random_bool(0.5) { Player::First } else { Player::Second })
    }

    /// Returns the share of `player`'s actions that are replaced by random ones in a game where `weak` is.
    pub(crate) fn random_share_of(&self, player: Player, weak: Option<Player>) -> f64 {
        if weak == Some(player) { self.weak_random_share } else { self.random_share }
    }
}

/// What the teacher says about one position.
pub(crate) struct Lesson {
    pub(crate) action: Action,
    /// One share per legal action, sums to 1.
    pub(crate) policy: Vec<f32>,
    pub(crate) win_draw_loss: [f32; 3],
}

/// Bytes of the table of each game's alpha-beta; every lane has one.
const TABLE_BYTES: usize = 1 << 20;

/// Alpha-beta at work for both sides of one game.
pub(crate) struct AlphaBetaTeacher {
    search: AlphaBeta<GameState, LatrunculiHeuristic>,
}

impl AlphaBetaTeacher {
    pub(crate) fn new(rules: &Rules) -> AlphaBetaTeacher {
        let settings = AlphaBetaSettings { table_bytes: TABLE_BYTES, ..AlphaBetaSettings::default() };
        AlphaBetaTeacher { search: AlphaBeta::new(settings, LatrunculiHeuristic::new(rules)) }
    }

    pub(crate) fn teach(&mut self, teaching: &AlphaBetaTeaching, game: &GameState, legal: &[Action]) -> Lesson {
        let found = self.search.search(game, Limits::nodes(teaching.nodes));
        let spread = teaching.policy_spread / legal.len() as f32;
        let chosen = 1.0 - teaching.policy_spread;
        let share = |&action| if action == found.action { spread + chosen } else { spread };
        Lesson {
            action: found.action,
            policy: legal.iter().map(share).collect(),
            win_draw_loss: teaching.judgement.win_draw_loss(found.score as f32),
        }
    }
}

/// Logit of an action that takes a man at once, where one that takes nothing has 0.
const GAIN_LOGIT: f32 = 2.0;

/// Answers with alpha-beta's static evaluation, squashed, and a policy that prefers captures: an evaluator where there is
/// no network, as in tests.
#[derive(Clone, Debug)]
pub struct Teacher {
    heuristic: LatrunculiHeuristic,
    settings: TeacherSettings,
}

impl Teacher {
    /// Creates the teacher for a ruleset.
    #[must_use]
    pub fn new(rules: &Rules, settings: TeacherSettings) -> Teacher {
        Teacher { heuristic: LatrunculiHeuristic::new(rules), settings }
    }
}

impl Evaluator<GameState> for Teacher {
    fn evaluate(
        &mut self,
        games: &[&GameState],
        legal_actions: &[&[Action]],
        evaluations: &mut [Evaluation],
    ) -> Result<(), EvalError> {
        for ((game, actions), evaluation) in games.iter().zip(legal_actions).zip(evaluations) {
            let sign = if game.player_to_act() == Player::First { 1.0 } else { -1.0 };
            let score = self.heuristic.evaluate(game) as f32 * sign;
            evaluation.win_draw_loss = self.settings.win_draw_loss(score);
            evaluation.policy_logits.clear();
            evaluation.policy_logits.extend(actions.iter().map(|&action| {
                let men = self.heuristic.gain(game, action) as f32 / 100.0;
                men.clamp(0.0, 2.0) * GAIN_LOGIT
            }));
        }
        Ok(())
    }
}

//! The teacher of the first generations: alpha-beta in place of a network.
//! In the array rulesets random play shuffles to a draw, so that a fresh network would learn nothing from its own games.
//! Instead alpha-beta plays both sides of the first games.
//! What is learnt from them: all actions that alpha-beta holds equal are equally probable in the policy target, because
//! which of them it played cannot be learnt. The value target is a mixture of the result and of its score, and in a game
//! with a noisy player its score alone: the result then tells of the noise, which the position does not show.

use std::sync::Arc;

use latrunculi_data::ranges::{Range, faults};
use latrunculi_engine::{Action, GameState, Player, Rules};
use latrunculi_search::alphabeta::{AlphaBeta, AlphaBetaSettings, Limits};
use latrunculi_search::latrunculi::LatrunculiHeuristic;
use latrunculi_search::win_draw_loss;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// Highest temperature of the policy target, in hundredths of a man.
pub const TEMPERATURE_MAX: f32 = 1000.0;

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
    /// Returns win, draw and loss for a score in hundredths of a man.
    fn win_draw_loss(&self, score: f32) -> [f32; 3] {
        // In 64 bits and rounded once: the last bit of what a processor's library finds would differ between machines.
        let lead = (f64::from(score) / f64::from(self.scale)).tanh();
        win_draw_loss(lead, f64::from(self.draw_probability) * (1.0 - lead.abs()))
    }
}

/// How alpha-beta plays the first games, and their targets.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TeacherSettings {
    /// Nodes per decision; at least 1.
    pub nodes: u64,
    /// Probability that an action is replaced by a random one, in `[0, 1]`; the policy target is still that of alpha-beta.
    pub random_probability: f64,
    /// Probability that a game has a noisy player, on either side, in `[0, 1]`: where good play rarely captures, a fresh
    /// network learns from these games how games are won.
    #[serde(default)]
    pub noisy_player_probability: f64,
    /// Probability that an action of the noisy player is replaced by a random one, in `[0, 1]`.
    #[serde(default)]
    pub noisy_player_random_probability: f64,
    /// Temperature of the policy target `softmax(score / temperature)` over the legal actions, in hundredths of a man, above
    /// 0 and at most [`TEMPERATURE_MAX`]. All scores up to six temperatures below the best are searched exactly, which costs
    /// nodes. Measured in docs/measurements.md.
    #[serde(default = "policy_temperature")]
    pub policy_temperature: f32,
    /// Weight of the game's result in the value target, in `[0, 1]`; the rest is the score's. 0 in games with a noisy
    /// player, whatever is set. The replay window then mixes in more of the score, as it does with a search's value.
    #[serde(default = "result_weight")]
    pub result_weight: f32,
    /// How scores become value targets.
    pub value: ValueSettings,
}

/// A tenth of a man.
fn policy_temperature() -> f32 {
    10.0
}

/// Mostly the score.
fn result_weight() -> f32 {
    0.3
}

impl Default for TeacherSettings {
    fn default() -> Self {
        TeacherSettings {
            nodes: 500,
            random_probability: 0.05,
            noisy_player_probability: 0.0,
            noisy_player_random_probability: 0.0,
            policy_temperature: policy_temperature(),
            result_weight: result_weight(),
            value: ValueSettings::default(),
        }
    }
}

impl TeacherSettings {
    /// Returns every reason why these settings cannot be used; empty when they can.
    #[must_use]
    pub fn validate(&self) -> Vec<String> {
        let probability = Range::Within(0.0, 1.0);
        faults([
            ("scale", self.value.scale.into(), Range::Positive),
            ("draw_probability", self.value.draw_probability.into(), Range::Decay),
            ("nodes", self.nodes as f64, Range::AtLeast(1)),
            ("random_probability", self.random_probability, probability),
            ("noisy_player_probability", self.noisy_player_probability, probability),
            ("noisy_player_random_probability", self.noisy_player_random_probability, probability),
            ("policy_temperature", self.policy_temperature.into(), Range::UpTo(TEMPERATURE_MAX.into())),
            ("result_weight", self.result_weight.into(), probability),
        ])
    }

    /// Draws the noisy player of a game, if it has one; draws nothing where the probability is 0.
    pub(crate) fn draw_noisy_player(&self, stream: &mut ChaCha8Rng) -> Option<Player> {
        let is_noisy = self.noisy_player_probability > 0.0 && stream.random_bool(self.noisy_player_probability);
        is_noisy.then(|| if stream.random_bool(0.5) { Player::First } else { Player::Second })
    }

    pub(crate) fn result_weight_with(&self, noisy_player: Option<Player>) -> f32 {
        if noisy_player.is_some() { 0.0 } else { self.result_weight }
    }

    /// Returns the probability that an action of `player` is replaced by a random one.
    pub(crate) fn random_probability_of(&self, player: Player, noisy_player: Option<Player>) -> f64 {
        if noisy_player == Some(player) { self.noisy_player_random_probability } else { self.random_probability }
    }
}

/// A decision of alpha-beta as training targets.
pub(crate) struct Demonstration {
    /// Index of the action that alpha-beta chose among the legal ones.
    pub(crate) index: usize,
    /// One probability per legal action; they sum to 1.
    pub(crate) policy: Vec<f32>,
    /// Expected result for the player to act.
    pub(crate) win_draw_loss: [f32; 3],
}

/// Bytes of the transposition table; every teacher has one.
const TABLE_BYTES: usize = 1 << 20;

/// Alpha-beta, which plays both sides of a game.
pub(crate) struct Teacher {
    rules: Arc<Rules>,
    search: AlphaBeta<GameState, LatrunculiHeuristic>,
}

impl Teacher {
    pub(crate) fn new(rules: &Arc<Rules>) -> Teacher {
        // Exact scores: what is equal at some depth has equal scores.
        let settings = AlphaBetaSettings { table_bytes: TABLE_BYTES, ..AlphaBetaSettings::exact() };
        let search = AlphaBeta::new(settings, LatrunculiHeuristic::new(rules));
        Teacher { rules: Arc::clone(rules), search }
    }

    /// Sets the seed of the draw among equal actions.
    pub(crate) fn set_seed(&mut self, seed: u64) {
        self.search.set_seed(seed);
    }

    /// Tells whether this one plays under `rules`.
    pub(crate) fn plays(&self, rules: &Arc<Rules>) -> bool {
        Arc::ptr_eq(&self.rules, rules)
    }

    /// Searches a position; `legal` are its actions.
    pub(crate) fn demonstrate(
        &mut self,
        settings: &TeacherSettings,
        game: &GameState,
        legal: &[Action],
    ) -> Demonstration {
        // Further below the best score the probability is below a four-hundredth of the best one's, and counts as 0.
        let window = (6.0 * settings.policy_temperature).ceil() as i32;
        let found = self.search.search_scores(game, Limits::nodes(settings.nodes), window);
        Demonstration {
            index: legal.iter().position(|&action| action == found.action).unwrap_or(0),
            policy: softmax(&found.scores, found.score, settings.policy_temperature),
            win_draw_loss: settings.value.win_draw_loss(found.score as f32),
        }
    }
}

/// Returns `softmax(score / temperature)`; actions without a score get 0, and where none has one all get the same.
fn softmax(scores: &[Option<i32>], best: i32, temperature: f32) -> Vec<f32> {
    // In 64 bits, as in [`ValueSettings::win_draw_loss`].
    let power = |score: i32| (f64::from(score - best) / f64::from(temperature)).exp() as f32;
    let weight = |score: &Option<i32>| score.map_or(0.0, power);
    let weights: Vec<f32> = scores.iter().map(weight).collect();
    let sum: f32 = weights.iter().sum();
    if sum == 0.0 {
        return vec![1.0 / scores.len() as f32; scores.len()];
    }
    weights.into_iter().map(|weight| weight / sum).collect()
}

#[cfg(test)]
mod tests {
    use latrunculi_engine::presets;
    use latrunculi_search::alphabeta::minimax;

    use super::*;

    fn game(name: &str, actions: usize) -> GameState {
        let rules = presets::rules(name);
        let mut game = GameState::new(rules);
        let mut legal = Vec::new();
        for step in 0..actions {
            game.legal_actions(&mut legal);
            let mut next = game.clone();
            next.play(legal[step * 7 % legal.len()]);
            if next.outcome().is_some() {
                break;
            }
            game = next;
        }
        game
    }

    /// Returns the score of each action by minimax of depth 1, which a few hundred nodes are enough for.
    fn scores(game: &GameState, legal: &[Action]) -> Vec<i32> {
        let heuristic = LatrunculiHeuristic::new(game.rules());
        let score = |&action: &Action| {
            let mut child = game.clone();
            child.play(action);
            assert!(child.outcome().is_none());
            let score = minimax(&child, &heuristic, 0, 12);
            if child.player_to_act() == game.player_to_act() { score } else { -score }
        };
        legal.iter().map(score).collect()
    }

    #[test]
    fn the_policy_is_the_softmax_of_the_scores_and_ties_are_equal() {
        let settings = TeacherSettings { nodes: 90, policy_temperature: 25.0, ..TeacherSettings::default() };
        let mut ties = 0;
        for (name, actions) in [("bell", 0), ("bell", 20), ("dutch-8x8", 30), ("savard", 12)] {
            let game = game(name, actions);
            let mut legal = Vec::new();
            game.legal_actions(&mut legal);
            let mut teacher = Teacher::new(game.rules());
            let found = teacher.search.search_scores(&game, Limits { nodes: settings.nodes, depth: 1 }, 150);
            let expected = scores(&game, &legal);
            let best = *expected.iter().max().unwrap();
            let policy = softmax(&found.scores, found.score, settings.policy_temperature);
            assert!((policy.iter().sum::<f32>() - 1.0).abs() < 1e-5, "{name}");
            assert_eq!(found.score, best, "{name}");
            let top = policy[expected.iter().position(|&score| score == best).unwrap()];
            for (index, &score) in expected.iter().enumerate() {
                let ratio = if best - score < 150 { ((score - best) as f32 / 25.0).exp() } else { 0.0 };
                assert!((policy[index] / top - ratio).abs() < 1e-4, "{name}: {score} of {best}");
                ties += usize::from(score == best);
            }
            // As unsure as the scores are: at least as many actions count as are equal to the best one.
            let entropy = |policy: &[f32]| -policy.iter().filter(|p| **p > 0.0).map(|p| p * p.ln()).sum::<f32>();
            let tied = expected.iter().filter(|score| **score == best).count();
            assert!(entropy(&policy) >= (tied as f32).ln() - 1e-4, "{name}");
        }
        assert!(ties >= 6, "mirror images are equal: {ties}");
    }

    #[test]
    fn equal_actions_are_drawn_by_the_seed_and_the_targets_stay() {
        let game = game("bell", 0);
        let mut legal = Vec::new();
        game.legal_actions(&mut legal);
        let mut teacher = Teacher::new(game.rules());
        // Enough for each placement once.
        let settings = TeacherSettings { nodes: legal.len() as u64, ..TeacherSettings::default() };
        let demonstrations: Vec<Demonstration> = (0..12)
            .map(|seed| {
                teacher.set_seed(seed);
                teacher.demonstrate(&settings, &game, &legal)
            })
            .collect();
        let policy = &demonstrations[0].policy;
        let most = policy.iter().copied().fold(0.0, f32::max);
        for other in &demonstrations {
            assert_eq!((other.policy[other.index], &other.policy), (most, policy));
        }
        assert!(demonstrations.iter().any(|other| other.index != demonstrations[0].index));
    }

    #[test]
    fn actions_that_the_nodes_did_not_suffice_for_are_as_probable_as_others() {
        let game = game("bell", 0);
        let mut legal = Vec::new();
        game.legal_actions(&mut legal);
        let mut teacher = Teacher::new(game.rules());
        for nodes in [1, legal.len() as u64 - 1] {
            let settings = TeacherSettings { nodes, ..TeacherSettings::default() };
            let shown = teacher.demonstrate(&settings, &game, &legal);
            assert!(shown.policy.iter().all(|share| *share == shown.policy[0]), "{nodes} nodes: {:?}", shown.policy);
        }
    }

    #[test]
    fn without_any_score_all_actions_are_equally_probable() {
        assert_eq!(softmax(&[None, None], 0, 10.0), [0.5, 0.5]);
        assert_eq!(softmax(&[Some(-999_990), None, Some(-999_990)], -999_990, 0.1), [0.5, 0.0, 0.5]);
    }
}

//! The record of a game: everything that its continuation and its samples depend on besides the plan of its pool.

use std::sync::Arc;

use latrunculi_data::policy_index::action_indices;
use latrunculi_data::schema::PROBABILITY;
use latrunculi_data::{ActionIndices, EncodedPosition, Sample, Samples, Shape, sums_to_one};
use latrunculi_engine::{Action, ActionKind, GameState, Outcome, Player, Rules, SquareSet};
use latrunculi_search::mcts::SearchBudget;
use serde::{Deserialize, Serialize};

use crate::active_game::Start;
use crate::settings::SelfPlaySettings;

/// What a search is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum SearchPurpose {
    /// An action of the opening, drawn from the network's policy.
    Opening,
    /// A decision. Only that of a full search becomes a sample.
    Decision { is_full: bool },
}

/// A search that has been begun; it begins anew where a game goes on with another network.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PlannedSearch {
    pub(crate) budget: SearchBudget,
    pub(crate) purpose: SearchPurpose,
}

impl PlannedSearch {
    /// Returns the budget; `settings` may have been lowered since the search was planned. An action of the opening has no
    /// simulations: one would make its policy the sign of a single value.
    pub(crate) fn budget(&self, settings: &SelfPlaySettings) -> SearchBudget {
        let most = settings.simulations.max(settings.playout_cap.fast_simulations);
        SearchBudget { simulations: self.budget.simulations.min(most), ..self.budget }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Decision {
    /// Actions that had been played before.
    pub(crate) ply: usize,
    /// Policy target: one probability per legal action, in their order.
    pub(crate) policy: Vec<f32>,
    /// What the search expected for the player to act.
    pub(crate) win_draw_loss: [f32; 3],
    /// Whether it becomes a sample.
    pub(crate) is_kept: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct GameRecord {
    pub(crate) number: u64,
    pub(crate) start: Start,
    /// The actions played, random ones at the start included, each as its index among the legal actions.
    pub(crate) actions: Vec<u16>,
    /// The decisions so far, in the order of play.
    pub(crate) decisions: Vec<Decision>,
    /// The noisy player of a game of alpha-beta, or of an uneven beginning, if there is one.
    pub(crate) noisy_player: Option<Player>,
    /// The search under way, if any.
    pub(crate) search: Option<PlannedSearch>,
    /// Positions of the random streams of search, choice and effort, in words of 32 bits.
    pub(crate) stream_words: [u64; 3],
    /// Hash of the game as it stands, so that a record is not continued under another program's order of actions.
    pub(crate) game_key: u64,
}

impl GameRecord {
    /// Returns the number of samples so far.
    pub(crate) fn samples_count(&self) -> u64 {
        self.decisions.iter().filter(|decision| decision.is_kept).count() as u64
    }

    /// Plays the game anew; `visit` is called before each action with the game, its legal actions and the action's index
    /// among them.
    /// Fails when an action is not among the legal ones.
    fn replay(
        &self,
        rules: &Arc<Rules>,
        mut visit: impl FnMut(&GameState, &[Action], usize),
    ) -> Result<GameState, String> {
        let mut game = GameState::new(Arc::clone(rules));
        let mut legal = Vec::new();
        for (ply, &index) in self.actions.iter().enumerate() {
            game.legal_actions(&mut legal);
            let Some(&action) = legal.get(usize::from(index)).filter(|_| game.outcome().is_none()) else {
                return Err(format!("game {}: action {ply} is not legal", self.number));
            };
            visit(&game, &legal, usize::from(index));
            game.play(action);
        }
        Ok(game)
    }

    /// Returns the game as it stands.
    /// Fails when an action is not among the legal ones.
    pub(crate) fn game(&self, rules: &Arc<Rules>) -> Result<GameState, String> {
        self.replay(rules, |_, _, _| {})
    }

    /// Checks a record that was read from outside: the game can be played and is not over, and every decision is one of
    /// its positions, with a probability for each legal action.
    /// Error: what is wrong, with the number of the game.
    pub(crate) fn check(&self, rules: &Arc<Rules>) -> Result<(), String> {
        match self.check_targets(rules)?.outcome() {
            None => Ok(()),
            Some(_) => Err(format!("game {}: its position is not the recorded one", self.number)),
        }
    }

    /// Checks the record of a game that has ended as [`GameRecord::check`] does; returns the game and how it ended.
    /// Fails as [`GameRecord::check`], and when the game goes on.
    pub(crate) fn check_ended(&self, rules: &Arc<Rules>) -> Result<(GameState, Outcome), String> {
        let game = self.check_targets(rules)?;
        match game.outcome() {
            Some(outcome) if self.search.is_none() => Ok((game, outcome)),
            _ => Err(format!("game {}: it has not ended", self.number)),
        }
    }

    /// Checks all that is recorded of a game, whether it has ended or not; returns it as it stands.
    fn check_targets(&self, rules: &Arc<Rules>) -> Result<GameState, String> {
        let mut decisions = self.decisions.iter().peekable();
        let mut ply = 0;
        let mut fault = None;
        let game = self.replay(rules, |_, legal, _| {
            if let Some(decision) = decisions.next_if(|decision| decision.ply == ply) {
                let Decision { policy, win_draw_loss, .. } = decision;
                // What a shard would refuse must not be played on to its samples.
                let are_targets = [&policy[..], win_draw_loss].into_iter().all(|probabilities| {
                    let is_one = |&part: &f32| PROBABILITY.contains(&f64::from(part));
                    sums_to_one(probabilities) && probabilities.iter().all(is_one)
                });
                if policy.len() != legal.len() || !are_targets {
                    fault = Some(format!("game {}: the targets at action {ply} are damaged", self.number));
                }
            }
            ply += 1;
        })?;
        if let Some(fault) = fault {
            return Err(fault);
        }
        if decisions.next().is_some() {
            return Err(format!("game {}: a decision belongs to no position", self.number));
        }
        if game.full_key() != self.game_key {
            return Err(format!("game {}: its position is not the recorded one", self.number));
        }
        Ok(game)
    }

    /// Returns the samples of the finished game: the decisions that are kept. The result has
    /// `result_weight` in their results, in `[0, 1]`, the search's expectation the rest.
    /// Where a player was noisy to the end (`is_noisy`), the final margin tells of the noise as the result does: the margin of
    /// the position itself stands for it. Which pieces survive, and how long the game lasts, are those of the game as it was
    /// played.
    /// Panics when the record is not that of a game under `rules`.
    pub(crate) fn samples(&self, rules: &Arc<Rules>, outcome: Outcome, result_weight: f32, is_noisy: bool) -> Samples {
        let mut seen = Vec::with_capacity(self.decisions.len());
        let mut players = Vec::with_capacity(self.actions.len());
        let mut played = Vec::with_capacity(self.actions.len());
        let end = self.replay(rules, |game, legal, index| {
            if self.decisions.get(seen.len()).is_some_and(|decision| decision.ply == played.len()) {
                seen.push(Seen::new(game, legal));
            }
            players.push(game.player_to_act());
            played.push(legal[index]);
        });
        let end = end.expect("the actions that were played are legal");
        let survivors = survivors(&end, outcome, &played, self.decisions.iter().map(|decision| decision.ply));
        let next_of_opponent = next_of_opponent(&players);
        let last_turn = u32::from(end.position().turns());
        // The index of each decision among the samples.
        let mut kept = 0;
        let indices: Vec<Option<usize>> = self
            .decisions
            .iter()
            .map(|decision| {
                kept += usize::from(decision.is_kept);
                decision.is_kept.then(|| kept - 1)
            })
            .collect();
        // The opponent's very next action, if it was a decision that is kept. Where it was forced there is nothing to be
        // learnt, and a later decision of his is no reply.
        let reply = |ply: usize| {
            let decision = self.decisions.binary_search_by_key(&next_of_opponent[ply], |decision| decision.ply);
            decision.ok().and_then(|decision| indices[decision])
        };
        let mut samples = Samples::new(Shape::of(rules));
        for (index, (decision, seen)) in self.decisions.iter().zip(&seen).enumerate() {
            if indices[index].is_none() {
                continue;
            }
            let value = outcome.value_for(seen.player);
            let result = [value > 0.0, value == 0.0, value < 0.0].map(|is_so| f32::from(u8::from(is_so)));
            let expected = decision.win_draw_loss;
            let final_margin = rules.material_margin(end.position(), seen.player);
            samples.push(&Sample {
                planes: &seen.position.planes,
                scalars: &seen.position.scalars,
                action_indices: &seen.actions,
                policy: &decision.policy,
                win_draw_loss: std::array::from_fn(|part| {
                    result[part] * result_weight + expected[part] * (1.0 - result_weight)
                }),
                search_win_draw_loss: expected,
                margin: if is_noisy { seen.margin } else { final_margin },
                survival: rules.turn_squares(seen.player, survivors[index]),
                opponent_policy: reply(decision.ply),
                moves_left: last_turn - seen.turn,
                games: self.number as u32,
                turns: seen.turn,
            });
        }
        samples
    }
}

struct Seen {
    position: EncodedPosition,
    player: Player,
    actions: Vec<ActionIndices>,
    turn: u32,
    margin: f32,
}

impl Seen {
    fn new(game: &GameState, legal: &[Action]) -> Seen {
        let (rules, position) = (game.rules(), game.position());
        Seen {
            position: EncodedPosition::new(rules, position, game.repetitions()),
            player: position.player_to_act(),
            actions: legal.iter().map(|&action| action_indices(rules, position, action)).collect(),
            turn: u32::from(position.turns()),
            margin: rules.material_margin(position, position.player_to_act()),
        }
    }
}

/// Returns, for each action of a game by its player, the index of the first later action of the other player; the number
/// of actions where there is none.
fn next_of_opponent(players: &[Player]) -> Vec<usize> {
    let mut next = vec![players.len(); players.len()];
    for ply in (0..players.len().saturating_sub(1)).rev() {
        next[ply] = if players[ply + 1] == players[ply] { next[ply + 1] } else { ply + 1 };
    }
    next
}

/// Returns, for each of the rising numbers of actions `after`, which of the pieces on the board after so many of the
/// `played` actions are still there at the end, wherever they have gone; a dux whose enclosure lost the game is not.
fn survivors(
    end: &GameState,
    outcome: Outcome,
    played: &[Action],
    after: impl DoubleEndedIterator<Item = usize>,
) -> Vec<SquareSet> {
    let position = end.position();
    let mut alive = position.stones(Player::First) | position.stones(Player::Second);
    if let (true, Some(winner)) = (outcome.reason.is_dux_lost(), outcome.winner)
        && let Some(dux) = position.dux(winner.opponent())
    {
        alive.remove(dux);
    }
    let mut wanted = after.rev().peekable();
    let mut found = Vec::new();
    for count in (0..=played.len()).rev() {
        while wanted.next_if_eq(&count).is_some() {
            found.push(alive);
        }
        // Back over the action: a piece that survives where it moved to survives where it came from.
        match count.checked_sub(1).map(|last| played[last].kind()) {
            Some(ActionKind::Move { from, to } | ActionKind::MoveTaking { from, to, .. }) if alive.contains(to) => {
                alive.remove(to);
                alive.insert(from);
            }
            Some(ActionKind::PlaceMan(square) | ActionKind::PlaceDux(square)) => alive.remove(square),
            _ => {}
        }
    }
    found.reverse();
    found
}

#[cfg(test)]
mod tests {
    use latrunculi_engine::presets;
    use rand::RngExt;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    use super::*;

    #[test]
    fn an_action_of_the_opening_is_drawn_from_the_policy_of_the_network_alone() {
        let settings = SelfPlaySettings::default();
        let budget = |simulations| {
            let budget = SearchBudget { simulations, add_noise: false };
            PlannedSearch { budget, purpose: SearchPurpose::Opening }.budget(&settings).simulations
        };
        assert_eq!(budget(0), 0);
        assert_eq!(budget(u32::MAX), settings.simulations.max(settings.playout_cap.fast_simulations));
    }

    /// A game of random actions in which most positions with a choice are decisions; the others stand for forced moves,
    /// which are rare.
    fn random_game(rules: &Arc<Rules>, stream: &mut ChaCha8Rng) -> (GameRecord, Outcome) {
        let mut game = GameState::new(Arc::clone(rules));
        let mut record = GameRecord::default();
        let mut legal = Vec::new();
        loop {
            if let Some(outcome) = game.outcome() {
                return (record, outcome);
            }
            game.legal_actions(&mut legal);
            if legal.len() > 1 && stream.random_bool(0.8) {
                record.decisions.push(Decision {
                    ply: record.actions.len(),
                    policy: vec![1.0 / legal.len() as f32; legal.len()],
                    win_draw_loss: [0.0, 1.0, 0.0],
                    is_kept: true,
                });
            }
            let index = stream.random_range(0..legal.len());
            game.play(legal[index]);
            record.actions.push(index as u16);
        }
    }

    #[test]
    fn the_reply_is_the_very_next_action_of_the_opponent_or_nothing() {
        let mut stream = ChaCha8Rng::seed_from_u64(1);
        let (mut forced, mut chosen) = (0, 0);
        for name in ["savard", "dutch-8x8", "bell", "savard-displacement"] {
            let rules = presets::rules(name);
            for _ in 0..4 {
                let (record, outcome) = random_game(&rules, &mut stream);
                let mut players = Vec::new();
                record.replay(&rules, |game, _, _| players.push(game.player_to_act())).unwrap();
                let samples = record.samples(&rules, outcome, 1.0, false);
                assert_eq!(samples.len(), record.decisions.len());
                for (index, decision) in record.decisions.iter().enumerate() {
                    let own = players[decision.ply];
                    let Ok(reply) = usize::try_from(samples.opponent_policy[index]) else {
                        let next = (decision.ply..players.len()).find(|&ply| players[ply] != own);
                        let is_decision = |ply: usize| record.decisions.iter().any(|decision| decision.ply == ply);
                        assert!(next.is_none_or(|ply| !is_decision(ply)), "{name}: a reply was left out");
                        forced += usize::from(next.is_some());
                        continue;
                    };
                    let reply = record.decisions[reply].ply;
                    assert_ne!(players[reply], own, "{name}");
                    assert!(players[decision.ply..reply].iter().all(|player| *player == own), "{name}: not the next");
                    chosen += 1;
                }
            }
        }
        assert!(forced > 0 && chosen > 100, "both kinds are met: {forced} {chosen}");
    }

    #[test]
    fn a_turn_of_several_actions_is_answered_after_its_end() {
        use Player::{First, Second};
        assert_eq!(next_of_opponent(&[First, First, Second, First, Second, Second]), [2, 2, 3, 4, 6, 6]);
        assert!(next_of_opponent(&[]).is_empty());
    }
}

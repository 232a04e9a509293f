//! Latrunculi for the searches: the [`Game`] trait for [`GameState`], and alpha-beta's static evaluation.

mod board;
mod features;
mod heuristic;
mod measured;
mod solved;
mod weights;

use latrunculi_engine::ruleset::Repetition;
use latrunculi_engine::{Action, ActionKind, GameState, Outcome, Player, Position, Square};

use crate::game::Game;

pub use features::{Counts, FEATURE_COUNT, Feature, Stage};
pub use heuristic::LatrunculiHeuristic;
pub use measured::{MeasuredSearches, play_at_random};
pub use solved::{Solved, Value};
pub use weights::{RulesetWeights, Weights, WeightsFile};

impl Game for GameState {
    type Action = Action;

    #[inline]
    fn player_to_act(&self) -> Player {
        GameState::player_to_act(self)
    }

    #[inline]
    fn outcome(&self) -> Option<Outcome> {
        GameState::outcome(self)
    }

    #[inline]
    fn legal_actions(&self, actions: &mut Vec<Action>) {
        GameState::legal_actions(self, actions);
    }

    #[inline]
    fn play(&mut self, action: Action) {
        GameState::play(self, action);
    }

    fn may_end(&self) -> impl Fn(Action) -> bool {
        let may_end = GameState::may_end(self);
        move |action| may_end.includes(action)
    }

    #[inline]
    fn position_key(&self) -> u64 {
        self.position().key_with_holds()
    }

    fn full_key(&self) -> u64 {
        GameState::full_key(self)
    }

    fn own_position_key(&self) -> u64 {
        let position = self.position();
        match position.player_to_act() {
            Player::First => position.key_with_holds(),
            Player::Second => self.rules().exchange_sides(position).key_with_holds(),
        }
    }

    #[inline]
    fn own_action_key(&self, action: Action) -> u64 {
        let (rules, player) = (self.rules(), self.player_to_act());
        let own = |square: Square| rules.turn_square(player, square).index() as u64;
        let pack = |kind: u64, from: u64, to: u64, victim: u64| kind << 24 | victim << 16 | to << 8 | from;
        match action.kind() {
            ActionKind::Move { from, to } => pack(0, own(from), own(to), 0),
            ActionKind::MoveTaking { from, to, victim } => pack(1, own(from), own(to), own(victim)),
            ActionKind::PlaceMan(square) => pack(2, 0, own(square), 0),
            ActionKind::PlaceDux(square) => pack(3, 0, own(square), 0),
            ActionKind::Remove { .. } => {
                // The squares at the ends are those of lowest and highest index, which mirroring may exchange.
                let removed = rules.turn_squares(player, rules.chosen_victims(self.position(), action));
                let index = |square: Option<Square>| square.map_or(0, |square| square.index() as u64);
                pack(4, index(removed.first()), index(removed.iter().last()), 0)
            }
            ActionKind::Stop => pack(5, 0, 0, 0),
            ActionKind::Pass => pack(6, 0, 0, 0),
        }
    }

    #[inline]
    fn outcome_is_positional(&self) -> bool {
        GameState::outcome_is_positional(self)
    }

    /// Bounds from the counters and the number of repetitions: a position comes back after four turns at the earliest,
    /// and any capture clears the history.
    fn history_free_plies(&self) -> u32 {
        let position = self.position();
        let end = &self.rules().ruleset().end;
        // A second pass ends the game; the first one is not in the key.
        if position.passes() > 0 {
            return 0;
        }
        // Each limit is the number of actions after which the history first matters.
        let quiet = u32::from(position.quiet_turns());
        let cap = u32::from(end.max_plies).saturating_sub(u32::from(position.turns()));
        let blockade = match end.quiet_limit {
            0 => u32::MAX,
            limit => u32::from(limit).saturating_sub(quiet),
        };
        // A position of up to three turns ago can come back sooner; the third time takes four turns more.
        let third_time = if self.repetitions_max() > 1 { 1 } else { 8 - quiet.min(3) };
        let repetition = match end.repetition {
            Repetition::None => u32::MAX,
            Repetition::ThreefoldDraw => third_time,
            // The move that would bring the position back is already illegal.
            Repetition::ThreefoldForbidden => third_time - 1,
            Repetition::Superko => 3u32.saturating_sub(quiet),
            Repetition::Shuttle3 => {
                Player::BOTH.map(|player| shuttle_free_plies(position, player)).into_iter().fold(u32::MAX, u32::min)
            }
        };
        cap.min(blockade).min(repetition).saturating_sub(1)
    }
}

/// Returns the number of actions after which `player`'s run to and fro first limits his moves.
fn shuttle_free_plies(position: &Position, player: Player) -> u32 {
    /// Own turns there and back that are allowed (SPECIFICATION.md, N10).
    const MOVES_MAX: u32 = 6;
    let moves = position.shuttle(player).map_or(0, |shuttle| u32::from(shuttle.moves));
    2 * MOVES_MAX.saturating_sub(moves) + u32::from(position.player_to_act() != player)
}

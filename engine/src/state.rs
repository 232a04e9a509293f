//! A game in progress: rules, position and history.

use std::sync::Arc;

use crate::action::Action;
use crate::capture::by_words;
use crate::outcome::{EndReason, Outcome};
use crate::player::Player;
use crate::position::{Phase, Position};
use crate::rules::Rules;
use crate::ruleset::{Eliminate, NoMove, QuietResult, Repetition};
use crate::squares::SquareSet;
use crate::zobrist;

/// A game in progress: the rules, the position, and what repetition needs of the history.
#[derive(Debug)]
pub struct GameState {
    rules: Arc<Rules>,
    position: Position,
    /// Keys of the positions between turns since the last capture, the present one included.
    history: Vec<u64>,
    /// How often the most frequent of them stands there; not kept where the second occurrence is forbidden.
    repetitions_max: u8,
    outcome: Option<Outcome>,
    outcome_is_positional: bool,
    last_taken: SquareSet,
}

impl Clone for GameState {
    fn clone(&self) -> Self {
        GameState { rules: Arc::clone(&self.rules), history: self.history.clone(), ..*self }
    }

    fn clone_from(&mut self, source: &Self) {
        if !Arc::ptr_eq(&self.rules, &source.rules) {
            self.rules = Arc::clone(&source.rules);
        }
        self.history.clone_from(&source.history);
        self.repetitions_max = source.repetitions_max;
        self.position = source.position;
        self.outcome = source.outcome;
        self.outcome_is_positional = source.outcome_is_positional;
        self.last_taken = source.last_taken;
    }
}

impl GameState {
    /// Returns a new game.
    #[must_use]
    pub fn new(rules: Arc<Rules>) -> GameState {
        let position = rules.initial_position();
        GameState::from_position(rules, position)
    }

    /// Returns a game that begins at `position`, without history.
    /// The game is over at once where the rules say so: the player to act has no legal action, or a counter has reached
    /// its limit.
    #[must_use]
    pub fn from_position(rules: Arc<Rules>, position: Position) -> GameState {
        let mut state = GameState {
            rules,
            position,
            history: Vec::with_capacity(128),
            repetitions_max: 0,
            outcome: None,
            outcome_is_positional: true,
            last_taken: SquareSet::EMPTY,
        };
        if state.rules.remembers_positions {
            state.history.push(position.key());
            state.repetitions_max = 1;
        }
        if position.is_mid_turn() {
            return state;
        }
        if let Some(outcome) = state.rules.judge_counters(&position) {
            state.finish(outcome, false);
        } else if position.turns >= state.rules.ruleset.end.max_plies {
            state.finish(Outcome { winner: None, reason: EndReason::MaxPlies }, false);
        } else {
            state.judge_legal_actions();
        }
        state
    }

    /// Returns the rules.
    #[must_use]
    pub fn rules(&self) -> &Arc<Rules> {
        &self.rules
    }

    /// Returns the position.
    #[inline]
    #[must_use]
    pub fn position(&self) -> &Position {
        &self.position
    }

    /// Returns whose decision it is. Meaningless once the game is over.
    #[inline]
    #[must_use]
    pub fn player_to_act(&self) -> Player {
        self.position.to_act
    }

    /// Returns how the game ended, or `None` while it goes on.
    #[inline]
    #[must_use]
    pub fn outcome(&self) -> Option<Outcome> {
        self.outcome
    }

    /// Returns why no game can be under way here, a sentence for each reason: it is over, a side has more pieces than it begins
    /// with, or it has lost by what is missing. [`GameState::from_position`] accepts all of these but the first as they are.
    #[must_use]
    pub fn why_not_under_way(&self) -> Vec<String> {
        let (rules, position, end) = (&self.rules, &self.position, &self.rules.ruleset().end);
        let is_settled = position.phase() == Phase::Movement && !position.is_mid_turn();
        let mut faults = Vec::new();
        for player in Player::BOTH {
            let hand = position.hand(player);
            let men = position.men(player).len() as usize + usize::from(hand.men);
            let duces = usize::from(position.dux(player).is_some()) + usize::from(hand.dux);
            let most = [rules.men_at_start(player), rules.pieces_at_start(player) - rules.men_at_start(player)];
            let mut say = |text: String| faults.push(format!("player {} {text}", player.number()));
            if men + duces == 0 {
                say("has no pieces".to_owned());
                continue;
            }
            if men > most[0] {
                say(format!("has {men} men, but begins with {}", most[0]));
            }
            if duces > most[1] {
                say("has a dux, but begins without one".to_owned());
            }
            if duces < most[1] && end.win_dux {
                say("has no dux, and has lost by that".to_owned());
            }
            if end.win_dux && is_settled && rules.is_dux_enclosed(position, player) && rules.encloses_by_position() {
                say("has an enclosed dux, and has lost by that".to_owned());
            }
            if is_settled && rules.is_eliminated(position, player) {
                let what = if end.eliminate == Eliminate::AllPieces { "pieces" } else { "men" };
                say(match rules.pieces_that_count(position, player) {
                    0 => format!("has no {what}, and has lost by that"),
                    count => format!("has {count} {what}, and has lost with {} or fewer", end.eliminate_at),
                });
            }
        }
        if let (Some(outcome), true) = (self.outcome, faults.is_empty()) {
            let result =
                outcome.winner.map_or("a draw".to_owned(), |winner| format!("player {} has won", winner.number()));
            faults.push(format!("the game is over here: {result}, {}", self.end_words().unwrap_or_default()));
        }
        faults
    }

    /// Returns why the game ended in words for people, such as `30 turns without a capture, 14 pieces to 10`; `None` while it goes on.
    #[must_use]
    pub fn end_words(&self) -> Option<String> {
        let reason = self.outcome?.reason;
        let end = &self.rules.ruleset().end;
        if reason == EndReason::Eliminated {
            let what = if end.eliminate == Eliminate::AllPieces { "pieces" } else { "men" };
            return Some(match end.eliminate_at {
                0 => format!("all {what} captured"),
                limit => format!("{what} captured down to {limit}"),
            });
        }
        if reason != EndReason::Blockade {
            return Some(reason.words().to_owned());
        }
        let words = match self.position.passes {
            0 | 1 => format!("{} turns without a capture", self.position.quiet_turns()),
            _ => "both sides blocked".to_owned(),
        };
        let [first, second] = self.rules.counted_pieces(&self.position);
        Some(match end.quiet_result {
            QuietResult::Draw => words,
            QuietResult::MostPieces => format!("{words}, {} pieces to {}", first.max(second), first.min(second)),
        })
    }

    /// Tells whether the end of this game follows from the position alone, and not from repetition, from
    /// counters of turns, or from moves that history forbids.
    #[must_use]
    pub fn outcome_is_positional(&self) -> bool {
        self.outcome.is_some() && self.outcome_is_positional
    }

    /// Returns the squares that the last action emptied by capture.
    #[must_use]
    pub fn last_taken(&self) -> SquareSet {
        self.last_taken
    }

    /// Returns how often the present position has stood between turns since the last capture, at least 1
    /// where the rules remember positions, else 0.
    #[must_use]
    pub fn repetitions(&self) -> usize {
        occurrences(&self.history, self.position.key)
    }

    /// Returns how often the most frequent position between turns since the last capture has stood: 1 or 2 while
    /// the game goes on under a rule against the third time, at most 1 under one against the second, else 0.
    #[inline]
    #[must_use]
    pub fn repetitions_max(&self) -> u8 {
        self.repetitions_max
    }

    /// Returns the keys of the positions between turns since the last capture, the present one included, where the
    /// rules remember them.
    pub(crate) fn history(&self) -> &[u64] {
        &self.history
    }

    /// Replaces the content of `actions` by the legal actions, in a fixed order; empty once the game is over.
    pub fn legal_actions(&self, actions: &mut Vec<Action>) {
        if self.outcome.is_some() {
            actions.clear();
        } else {
            self.rules.legal_actions(&self.position, &self.history, actions);
        }
    }

    /// Tells whether `action` is legal now.
    #[must_use]
    pub fn is_legal(&self, action: Action) -> bool {
        let mut actions = Vec::new();
        self.legal_actions(&mut actions);
        actions.contains(&action)
    }

    /// Plays a legal action.
    /// Panics in debug builds when the action is not legal or the game is over; otherwise the state is then meaningless.
    pub fn play(&mut self, action: Action) {
        debug_assert!(self.is_legal(action), "{action:?} is not legal");
        by_words!(self.rules, self.play_in(action));
    }

    #[inline(always)]
    fn play_in<const N: usize>(&mut self, action: Action) {
        let rules = &*self.rules;
        let position = &mut self.position;
        let outside_key = position.key_without_stones();
        let made = rules.make::<N>(position, action);
        position.key ^= outside_key;
        self.last_taken = made.taken;
        if made.turn_goes_on && made.outcome.is_none() {
            position.key ^= position.key_without_stones();
            return;
        }
        position.continuation = None;
        position.removed_this_turn = false;
        position.key ^= position.key_without_stones();
        let end = rules.end_turn::<N>(position, &made);
        self.last_taken |= end.taken;
        self.outcome = end.outcome;
        if let Some(outcome) = end.outcome {
            self.outcome_is_positional =
                matches!(outcome.reason, EndReason::DuxCaptured | EndReason::DuxEnclosed | EndReason::Eliminated);
            return;
        }
        if rules.remembers_positions {
            if end.captured {
                self.history.clear();
                self.repetitions_max = 1;
            }
            self.history.push(position.key);
            let repetition = rules.ruleset.end.repetition;
            if repetition != Repetition::Superko {
                let count = occurrences(&self.history, position.key);
                self.repetitions_max = self.repetitions_max.max(count.min(3) as u8);
                if count >= 3 && repetition == Repetition::ThreefoldDraw {
                    self.finish(Outcome { winner: None, reason: EndReason::Repetition }, false);
                    return;
                }
            }
        }
        if self.position.turns >= rules.ruleset.end.max_plies {
            self.finish(Outcome { winner: None, reason: EndReason::MaxPlies }, false);
            return;
        }
        self.judge_legal_actions();
    }

    fn finish(&mut self, outcome: Outcome, positional: bool) {
        self.outcome = Some(outcome);
        self.outcome_is_positional = positional;
    }

    /// Ends the game where the player to act has no legal action and the rules do not let him pass.
    #[inline(always)]
    fn judge_legal_actions(&mut self) {
        let no_move = self.rules.ruleset.end.no_move;
        if no_move == NoMove::Pass {
            return;
        }
        let (any, any_but_for_history) = self.rules.has_legal_action(&self.position, &self.history);
        if any {
            return;
        }
        let winner = if no_move == NoMove::Loss { Some(self.position.to_act.opponent()) } else { None };
        self.finish(Outcome { winner, reason: EndReason::NoLegalMove }, !any_but_for_history);
    }

    /// Returns a game that begins here, without history and with every counter of turns at 0.
    #[must_use]
    pub fn without_history(&self) -> GameState {
        let position = Position { quiet_turns: 0, turns: 0, shuttles: [None; 2], ..self.position };
        GameState::from_position(Arc::clone(&self.rules), position)
    }

    /// Returns who would win if nobody ever captured again: who has more pieces, where the rules count them after so many turns
    /// without a capture.
    #[must_use]
    pub fn winner_without_captures(&self) -> Option<Player> {
        let has_limit = self.rules.ruleset.end.quiet_limit > 0;
        self.rules.blockade_winner(&self.position).filter(|_| has_limit)
    }

    /// Returns a hash of everything that the future depends on: the position, what holds bound pieces, the
    /// counters beside it, and how often each position of the history has stood.
    #[must_use]
    pub fn full_key(&self) -> u64 {
        let position = &self.position;
        let end = &self.rules.ruleset.end;
        let mut key = zobrist::with_counter(position.key_with_holds(), 0, position.turns.into());
        if end.quiet_limit > 0 {
            key = zobrist::with_counter(key, 1, position.quiet_turns.into());
        }
        key = zobrist::with_counter(key, 2, position.passes.into());
        for player in Player::BOTH {
            if let Some(shuttle) = position.shuttle(player) {
                let record = u64::from(shuttle.from.0) << 16 | u64::from(shuttle.to.0) << 8 | u64::from(shuttle.moves);
                key = zobrist::with_counter(key, 3 + player.index() as u64, record);
            }
        }
        // A sum does not depend on the order of the past.
        let past = self.history.iter().fold(0u64, |sum, &seen| sum.wrapping_add(zobrist::with_counter(seen, 5, 0)));
        zobrist::with_counter(key, 6, past).wrapping_add(past)
    }
}

#[inline]
pub(crate) fn occurrences(history: &[u64], key: u64) -> usize {
    history.iter().map(|&seen| usize::from(seen == key)).sum()
}

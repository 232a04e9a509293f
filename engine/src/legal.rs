//! Legal actions.

use crate::action::{Action, ActionKind};
use crate::capture::by_words;
use crate::movement::View;
use crate::outcome::EndReason;
use crate::position::{Continuation, Phase, Position};
use crate::rules::Rules;
use crate::ruleset::{DuxTime, ExtraMode, ExtraMoves, NoMove, RemovalScope, Repetition, Span, Timing, Trigger};
use crate::squares::{Bits, Square};
use crate::state::occurrences;

/// A piece may go there and back three times: six own turns, the seventh is illegal (SPECIFICATION.md, N10).
const SHUTTLE_MOVES_MAX: u8 = 6;

impl Rules {
    /// Replaces the content of `actions` by the legal actions, in a fixed order.
    /// `history` holds the keys of the positions between turns since the last capture, this one included;
    /// only rulesets whose legality depends on it look at it. The position must belong to an unfinished
    /// game; then the list is not empty.
    pub(crate) fn legal_actions(&self, position: &Position, history: &[u64], actions: &mut Vec<Action>) {
        actions.clear();
        by_words!(self, self.push_legal_actions(position, actions));
        if self.history_may_forbid(position, history) {
            actions.retain(|&action| !self.is_forbidden_by_history(position, history, action));
        }
        if actions.is_empty() && self.ruleset.end.no_move == NoMove::Pass {
            actions.push(Action::PASS);
        }
    }

    /// Tells whether there is a legal action other than a pass. Second answer: whether there would be
    /// one but for the game's history.
    pub(crate) fn has_legal_action(&self, position: &Position, history: &[u64]) -> (bool, bool) {
        if position.phase == Phase::Placement {
            return (true, true);
        }
        let any = by_words!(self, self.has_action(position));
        if !any || !self.history_may_forbid(position, history) {
            return (any, any);
        }
        (by_words!(self, self.has_action_that_history_allows(position, history)), true)
    }

    /// Tells whether the game's history leaves an action at the beginning of a turn.
    fn has_action_that_history_allows<const N: usize>(&self, position: &Position, history: &[u64]) -> bool {
        // A removal never repeats a position.
        let mut any = self.ruleset.capture.timing == Timing::Delayed
            && !self.removable::<N>(position, position.to_act).is_empty();
        View::<N>::new(self, position, position.to_act).each_move(&mut |from, to| {
            any = any || !self.is_forbidden_by_history(position, history, Action::moving(from, to));
        });
        any
    }

    fn has_action<const N: usize>(&self, position: &Position) -> bool {
        View::<N>::new(self, position, position.to_act).has_move()
            || self.ruleset.capture.timing == Timing::Delayed
                && !position.removed_this_turn
                && !self.removable::<N>(position, position.to_act).is_empty()
    }

    #[inline(always)]
    fn push_legal_actions<const N: usize>(&self, position: &Position, actions: &mut Vec<Action>) {
        if position.phase == Phase::Placement {
            self.push_placements::<N>(position, actions);
            return;
        }
        let view = View::<N>::new(self, position, position.to_act);
        if let Some(continuation) = position.continuation {
            self.push_continuations(&view, continuation, actions);
            return;
        }
        if self.chooses_victim {
            let may_flank_two = self.may_flank_two::<N>(&view);
            view.each_move(&mut |from, to| {
                if may_flank_two.contains(to) {
                    self.push_move_with_choice::<N>(position, from, to, actions);
                } else {
                    actions.push(Action::moving(from, to));
                }
            });
        } else {
            view.each_move(&mut |from, to| actions.push(Action::moving(from, to)));
        }
        if self.ruleset.capture.timing == Timing::Delayed && !position.removed_this_turn {
            self.push_removals::<N>(position, actions);
        }
    }

    fn push_placements<const N: usize>(&self, position: &Position, actions: &mut Vec<Action>) {
        let view = View::<N>::new(self, position, position.to_act);
        let hand = position.hand(position.to_act);
        let any_time = self.ruleset.placement.dux_time == DuxTime::Any;
        if hand.men > 0 {
            view.empty.each(|square| actions.push(Action::placing_man(square)));
        }
        if hand.dux > 0 && (hand.men == 0 || any_time) {
            view.empty.each(|square| actions.push(Action::placing_dux(square)));
        }
    }

    /// Returns the squares from which a move could flank two pieces at once; all of them where that cannot be
    /// told from single pieces between two.
    #[inline(always)]
    fn may_flank_two<const N: usize>(&self, view: &View<'_, N>) -> Bits<N> {
        let capture = &self.ruleset.capture;
        let only_single_pieces_between_two = !capture.corner
            && !capture.man_by_enclosure
            && capture.span == Span::One
            && capture.trigger == Trigger::Active;
        if !only_single_pieces_between_two {
            return self.geometry.board.resize();
        }
        let (mut once, mut twice) = (Bits::EMPTY, Bits::EMPTY);
        for direction in 0..self.capture_directions {
            let held = view.shifts.step(view.own, direction) & view.enemy;
            let flanking = view.shifts.step(held, direction);
            twice |= once & flanking;
            once |= flanking;
        }
        twice
    }

    /// Pushes one action for each victim of a move, or a plain one when there is no choice to make.
    fn push_move_with_choice<const N: usize>(
        &self,
        position: &Position,
        from: Square,
        to: Square,
        actions: &mut Vec<Action>,
    ) {
        let victims = self.victims_of_move::<N>(position, from, to);
        if victims.len() > 1 {
            victims.each(|victim| actions.push(Action::moving_taking(from, to, victim)));
        } else {
            actions.push(Action::moving(from, to));
        }
    }

    /// Returns what the piece on `from` would flank on `to`.
    pub(crate) fn victims_of_move<const N: usize>(&self, position: &Position, from: Square, to: Square) -> Bits<N> {
        let player = position.to_act;
        let mut after = *position;
        if after.stones(player.opponent()).contains(to) {
            after.take(player.opponent(), to);
        }
        after.relocate(player, from, to);
        self.taken_by_move::<N>(&after, player, to)
    }

    fn push_removals<const N: usize>(&self, position: &Position, actions: &mut Vec<Action>) {
        let player = position.to_act;
        match self.ruleset.capture.removal_scope {
            RemovalScope::All => {
                if let Some(action) = removal_of(self.removable::<N>(position, player)) {
                    actions.push(action);
                }
            }
            RemovalScope::One => {
                self.removable::<N>(position, player).each(|square| actions.push(Action::removing(square, square)));
            }
            RemovalScope::Line => self.each_removable_line::<N>(position, player, &mut |line| {
                if let Some(action) = removal_of(line)
                    && !actions.contains(&action)
                {
                    actions.push(action);
                }
            }),
        }
    }

    pub(crate) fn removed_by<const N: usize>(&self, position: &Position, first: Square, last: Square) -> Bits<N> {
        let player = position.to_act;
        match self.ruleset.capture.removal_scope {
            RemovalScope::All => self.removable(position, player),
            RemovalScope::One => Bits::of(first),
            RemovalScope::Line => {
                let mut removed = Bits::EMPTY;
                self.each_removable_line::<N>(position, player, &mut |line| {
                    if removal_of(line) == Some(Action::removing(first, last)) {
                        removed = line;
                    }
                });
                removed
            }
        }
    }

    fn push_continuations<const N: usize>(
        &self,
        view: &View<'_, N>,
        continuation: Continuation,
        actions: &mut Vec<Action>,
    ) {
        let extra = &self.ruleset.extra;
        self.push_continuation_moves(view, continuation.square, actions);
        if matches!(extra.mode, ExtraMode::Mandatory | ExtraMode::MustCapture) {
            let captures = |action: &Action| self.captures::<N>(view.position, *action);
            if extra.mode == ExtraMode::MustCapture || actions.iter().any(captures) {
                actions.retain(captures);
                return;
            }
        }
        actions.push(Action::STOP);
    }

    fn push_continuation_moves<const N: usize>(&self, view: &View<'_, N>, square: Square, actions: &mut Vec<Action>) {
        let mut push = |from, to| {
            if self.chooses_victim {
                self.push_move_with_choice::<N>(view.position, from, to, actions);
            } else {
                actions.push(Action::moving(from, to));
            }
        };
        match self.ruleset.extra.moves {
            ExtraMoves::Piece => view.each_move_from(square, &mut push),
            ExtraMoves::Step => view.each_step_from(square, &mut push),
        }
    }

    /// Tells whether the piece on `square` may make a continuation move now.
    pub(crate) fn may_continue<const N: usize>(&self, position: &Position, square: Square) -> bool {
        if position.bound.contains(square) {
            return false;
        }
        let view = View::<N>::new(self, position, position.to_act);
        if self.ruleset.extra.mode == ExtraMode::MustCapture {
            let mut actions = Vec::new();
            self.push_continuation_moves(&view, square, &mut actions);
            return actions.iter().any(|&action| self.captures::<N>(position, action));
        }
        match self.ruleset.extra.moves {
            ExtraMoves::Piece => view.has_move_from(square),
            ExtraMoves::Step => {
                let mut any = false;
                view.each_step_from(square, &mut |_, _| any = true);
                any
            }
        }
    }

    /// Tells whether a move captures: at once, by displacement, or by enclosing a dux.
    pub(crate) fn captures<const N: usize>(&self, position: &Position, action: Action) -> bool {
        let mut after = *position;
        let made = self.make::<N>(&mut after, action);
        made.captured || made.outcome.is_some()
    }

    /// Tells whether the game's history can forbid any action at all now; mostly it cannot.
    #[inline(always)]
    fn history_may_forbid(&self, position: &Position, history: &[u64]) -> bool {
        if !self.history_limits_moves || position.phase != Phase::Movement || position.is_mid_turn() {
            return false;
        }
        match self.ruleset.end.repetition {
            Repetition::Shuttle3 => {
                position.shuttle(position.to_act).is_some_and(|shuttle| shuttle.moves >= SHUTTLE_MOVES_MAX)
            }
            repetition => history.len() >= 4 * occurrences_allowed(repetition),
        }
    }

    /// Tells whether the game's history forbids an action that is otherwise legal.
    fn is_forbidden_by_history(&self, position: &Position, history: &[u64], action: Action) -> bool {
        let (ActionKind::Move { from, to } | ActionKind::MoveTaking { from, to, .. }) = action.kind() else {
            return false;
        };
        // A turn that has captured can neither repeat a position nor go on with a shuttle.
        if !self.history_may_forbid(position, history) {
            return false;
        }
        if self.ruleset.end.repetition == Repetition::Shuttle3 {
            let goes_on = position.shuttle(position.to_act).is_some_and(|last| (last.from, last.to) == (to, from));
            return goes_on && !by_words!(self, self.captures(position, action));
        }
        let allowed = occurrences_allowed(self.ruleset.end.repetition);
        // A move that captures nothing only shifts a piece and passes the turn: whether that has stood
        // before is soon told, and mostly it has not.
        let flags_stay = !self.binds || self.stores_holds;
        if flags_stay && occurrences(history, position.key_after_shift(from, to)) < allowed {
            return false;
        }
        let mut after = *position;
        let made = by_words!(self, self.make(&mut after, action));
        if made.captured || made.outcome.is_some() {
            return false;
        }
        let end = by_words!(self, self.end_turn(&mut after, &made));
        if end.captured || end.outcome.is_some_and(|outcome| outcome.reason == EndReason::DuxEnclosed) {
            return false;
        }
        // The games recorded with this rule compare the flags from before the move, so that a move that
        // binds or frees something may repeat a position.
        if self.stores_holds {
            after.set_bound(position.bound);
        }
        occurrences(history, after.key) >= allowed
    }
}

/// Returns how often a position may have stood before it must not be produced again. It comes back after
/// four turns at the earliest.
fn occurrences_allowed(repetition: Repetition) -> usize {
    if repetition == Repetition::Superko { 1 } else { 2 }
}

fn removal_of<const N: usize>(squares: Bits<N>) -> Option<Action> {
    let first = squares.first()?;
    let last = squares.iter().last()?;
    Some(Action::removing(first, last))
}

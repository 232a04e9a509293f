//! Playing an action: the order of resolution of SPECIFICATION.md, section 1.

use crate::action::{Action, ActionKind};
use crate::movement::View;
use crate::outcome::{EndReason, Outcome};
use crate::player::Player;
use crate::position::{Continuation, Phase, Piece, Position, Shuttle};
use crate::rules::Rules;
use crate::ruleset::{DuxCapture, Eliminate, ExtraMode, QuietResult, Removal, Repetition, Timing, Trigger};
use crate::squares::{Bits, Square, SquareSet};
use crate::zobrist;

/// What an action did, before the end of the turn is judged.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Made {
    /// The squares that captures emptied.
    pub(crate) taken: SquareSet,
    pub(crate) captured: bool,
    /// The turn has captured, by this action or one before it.
    pub(crate) turn_captured: bool,
    pub(crate) moved: Option<(Square, Square)>,
    pub(crate) passed: bool,
    /// The same player is to act again.
    pub(crate) turn_goes_on: bool,
    /// The game has ended in the middle of the turn.
    pub(crate) outcome: Option<Outcome>,
}

impl Rules {
    /// Makes a legal action: steps 1 to 4 of the order of resolution. Unless the turn goes on or the game
    /// is over, [`Rules::end_turn`] must follow.
    #[inline(always)]
    pub(crate) fn make<const N: usize>(&self, position: &mut Position, action: Action) -> Made {
        let mut made = Made { turn_captured: position.is_mid_turn(), ..Made::default() };
        match action.kind() {
            ActionKind::Move { from, to } => self.make_move::<N>(position, from, to, None, &mut made),
            ActionKind::MoveTaking { from, to, victim } => {
                self.make_move::<N>(position, from, to, Some(victim), &mut made);
            }
            ActionKind::PlaceMan(square) => self.make_placement::<N>(position, Piece::Man, square, &mut made),
            ActionKind::PlaceDux(square) => self.make_placement::<N>(position, Piece::Dux, square, &mut made),
            ActionKind::Remove { first, last } => self.make_removal::<N>(position, first, last, &mut made),
            ActionKind::Stop => {}
            ActionKind::Pass => made.passed = true,
        }
        made
    }

    fn make_placement<const N: usize>(&self, position: &mut Position, piece: Piece, square: Square, made: &mut Made) {
        let player = position.to_act;
        position.put(player, piece, square);
        let hand = &mut position.hands[player.index()];
        match piece {
            Piece::Man => hand.men -= 1,
            Piece::Dux => hand.dux -= 1,
        }
        if self.binds {
            self.update_bound::<N>(position, player, None);
        }
        position.group_left -= 1;
        made.turn_goes_on = position.group_left > 0;
    }

    fn make_removal<const N: usize>(&self, position: &mut Position, first: Square, last: Square, made: &mut Made) {
        let player = position.to_act;
        let removed: Bits<N> = self.removed_by(position, first, last);
        self.take_all(position, player.opponent(), removed, made);
        self.update_bound::<N>(position, player, None);
        if self.removes_before_moves()
            && made.outcome.is_none()
            && !self.is_eliminated(position, player.opponent())
            && View::<N>::new(self, position, player).has_move()
        {
            position.removed_this_turn = true;
            made.turn_goes_on = true;
        }
    }

    #[inline(always)]
    fn make_move<const N: usize>(
        &self,
        position: &mut Position,
        from: Square,
        to: Square,
        victim: Option<Square>,
        made: &mut Made,
    ) {
        let player = position.to_act;
        let opponent = player.opponent();
        made.moved = Some((from, to));
        position.removed_this_turn = false;
        if self.binds && position.stones(opponent).contains(to) {
            self.take_all(position, opponent, Bits::<N>::of(to), made);
        }
        position.relocate(player, from, to);
        if self.binds {
            self.update_bound::<N>(position, player, Some(to));
        } else {
            let mut victims: Bits<N> = self.taken_by_move(position, player, to);
            if let Some(victim) = victim {
                victims = Bits::of(victim);
            }
            if !victims.is_empty() {
                self.take_all(position, opponent, victims, made);
            }
        }
        self.judge_enclosure_by_move::<N>(position, player, to, made);
        if made.captured && made.outcome.is_none() {
            self.grant_continuation::<N>(position, to, made);
        }
    }

    /// Takes pieces of `owner` off the board and judges whether that ends the game.
    #[inline(always)]
    fn take_all<const N: usize>(&self, position: &mut Position, owner: Player, squares: Bits<N>, made: &mut Made) {
        let dux_before = position.dux(owner);
        squares.each(|square| position.take(owner, square));
        if self.binds {
            let bound = position.bound & !squares.resize();
            position.set_bound(bound);
            position.holds.sides &= !squares.resize();
            for inside in &mut position.holds.lines {
                *inside &= !squares.resize();
            }
        }
        made.taken |= squares.resize();
        made.captured = true;
        made.turn_captured = true;
        if made.outcome.is_some() {
            return;
        }
        if self.ruleset.end.win_dux && dux_before.is_some() && position.dux(owner).is_none() {
            made.outcome = Some(Outcome { winner: Some(owner.opponent()), reason: EndReason::DuxCaptured });
        }
    }

    /// Judges the enemy dux that the moved piece has enclosed (step 3).
    #[inline(always)]
    fn judge_enclosure_by_move<const N: usize>(
        &self,
        position: &mut Position,
        player: Player,
        to: Square,
        made: &mut Made,
    ) {
        let dux_rules = &self.ruleset.dux;
        if dux_rules.capture != DuxCapture::Enclosure
            || dux_rules.enclosure_trigger != Trigger::Active
            || self.ruleset.capture.timing == Timing::Displacement
            || made.outcome.is_some()
            || !self.move_encloses_dux(position, player, to)
        {
            return;
        }
        self.judge_enclosed_dux::<N>(position, player.opponent(), made);
    }

    /// Ends the game, or removes the dux and frees what it held, of an `owner` whose dux is enclosed.
    fn judge_enclosed_dux<const N: usize>(&self, position: &mut Position, owner: Player, made: &mut Made) {
        if self.ruleset.end.win_dux {
            made.outcome = Some(Outcome { winner: Some(owner.opponent()), reason: EndReason::DuxEnclosed });
        } else if let Some(dux) = position.dux(owner) {
            self.take_all(position, owner, Bits::<N>::of(dux), made);
            if self.binds {
                self.update_bound::<N>(position, owner.opponent(), None);
            }
        }
    }

    #[inline(always)]
    fn grant_continuation<const N: usize>(&self, position: &mut Position, square: Square, made: &mut Made) {
        let moves_made = position.continuation.map_or(0, |continuation| continuation.moves_made.saturating_add(1));
        position.continuation = None;
        if !self.may_go_on_after(moves_made)
            || self.is_eliminated(position, position.to_act.opponent())
            || !self.may_continue::<N>(position, square)
        {
            return;
        }
        position.continuation = Some(Continuation { square, moves_made });
        made.turn_goes_on = true;
    }

    /// Tells whether a piece that has made so many continuations in a turn may be granted one more. A displacement
    /// grants none: where pieces go on after a capture, they have captured by flanking or enclosing.
    pub(crate) fn may_go_on_after(&self, moves_made: u8) -> bool {
        let extra = &self.ruleset.extra;
        extra.mode != ExtraMode::None
            && self.ruleset.capture.timing != Timing::Displacement
            && extra.limit.is_none_or(|limit| moves_made < limit)
    }

    pub(crate) fn removes_before_moves(&self) -> bool {
        let capture = &self.ruleset.capture;
        capture.timing == Timing::Delayed && capture.removal == Removal::PrecedesMove
    }

    pub(crate) fn is_eliminated(&self, position: &Position, player: Player) -> bool {
        let end = &self.ruleset.end;
        end.eliminate != Eliminate::Off && self.pieces_that_count(position, player) <= u32::from(end.eliminate_at)
    }

    /// Counts those pieces of `player` that must be captured to win.
    pub(crate) fn pieces_that_count(&self, position: &Position, player: Player) -> u32 {
        let pieces = position.stones(player).len();
        match self.ruleset.end.eliminate {
            Eliminate::AllMen => pieces - u32::from(position.dux(player).is_some()),
            Eliminate::AllPieces | Eliminate::Off => pieces,
        }
    }

    /// Tells whether a dux that stands enclosed is judged at the end of each turn, however it came about.
    #[inline]
    pub(crate) fn encloses_by_position(&self) -> bool {
        let dux = &self.ruleset.dux;
        dux.enclosure_trigger == Trigger::Positional
            && dux.capture == DuxCapture::Enclosure
            && self.ruleset.capture.timing != Timing::Displacement
    }

    /// Ends the turn: step 5 of the order of resolution, up to the ply cap. Repetition and a lack of legal
    /// actions need the history and are judged after it.
    #[inline(always)]
    pub(crate) fn end_turn<const N: usize>(&self, position: &mut Position, made: &Made) -> TurnEnd {
        let player = position.to_act;
        let mut made = *made;
        position.continuation = None;
        position.removed_this_turn = false;
        if self.encloses_by_position() && position.phase == Phase::Movement {
            for owner in [player.opponent(), player] {
                if made.outcome.is_none() && self.is_dux_enclosed(position, owner) {
                    self.judge_enclosed_dux::<N>(position, owner, &mut made);
                }
            }
        }
        if made.outcome.is_none()
            && position.phase == Phase::Movement
            && self.is_eliminated(position, player.opponent())
        {
            made.outcome = Some(Outcome { winner: Some(player), reason: EndReason::Eliminated });
        }
        position.turns += 1;
        self.record_shuttle(position, player, &made);
        position.passes = if made.passed { position.passes + 1 } else { 0 };
        let was_placement = position.phase == Phase::Placement;
        if was_placement {
            self.next_placement_turn(position);
        } else {
            position.quiet_turns = if made.turn_captured { 0 } else { position.quiet_turns.saturating_add(1) };
            position.to_act = player.opponent();
        }
        self.rekey(position, player, was_placement);
        let outcome = made.outcome.or_else(|| self.judge_counters(position));
        TurnEnd { outcome, captured: made.turn_captured, taken: made.taken }
    }

    /// Brings the key up to date after the change of turn.
    #[inline(always)]
    fn rekey(&self, position: &mut Position, player: Player, was_placement: bool) {
        if was_placement {
            position.key = position.key_from_scratch();
        } else {
            position.key ^= zobrist::to_act(player) ^ zobrist::to_act(position.to_act);
        }
    }

    fn next_placement_turn(&self, position: &mut Position) {
        let next = position.to_act.opponent();
        let stones = |player: Player| position.hands[player.index()].stones();
        if stones(next) + stones(next.opponent()) == 0 {
            position.phase = Phase::Movement;
            position.to_act = next;
            position.group_left = 0;
            return;
        }
        // A side that has no stones left waits until the other has put down its own.
        position.to_act = if stones(next) > 0 { next } else { next.opponent() };
        let hand = position.hand(position.to_act);
        position.group_left = self.group_size(hand, self.ruleset.placement.group);
    }

    #[inline(always)]
    fn record_shuttle(&self, position: &mut Position, player: Player, made: &Made) {
        if self.ruleset.end.repetition != Repetition::Shuttle3 {
            return;
        }
        let record = &mut position.shuttles[player.index()];
        *record = match made.moved {
            Some((from, to)) if !made.turn_captured => {
                let goes_on = record.filter(|last| last.from == to && last.to == from);
                Some(Shuttle { from, to, moves: goes_on.map_or(1, |last| last.moves.saturating_add(1)) })
            }
            _ => None,
        };
    }

    /// Judges what runs with the turns: both passed, blockade.
    #[inline(always)]
    pub(crate) fn judge_counters(&self, position: &Position) -> Option<Outcome> {
        let end = &self.ruleset.end;
        if position.passes >= 2 || end.quiet_limit > 0 && position.quiet_turns >= end.quiet_limit {
            return Some(Outcome { winner: self.blockade_winner(position), reason: EndReason::Blockade });
        }
        None
    }

    /// Returns the pieces of both players that count at the end (`end.count_dux`).
    pub(crate) fn counted_pieces(&self, position: &Position) -> [u32; 2] {
        Player::BOTH.map(|player| {
            let dux = u32::from(position.dux(player).is_some() && !self.ruleset.end.count_dux);
            position.stones(player).len() - dux
        })
    }

    pub(crate) fn blockade_winner(&self, position: &Position) -> Option<Player> {
        if self.ruleset.end.quiet_result == QuietResult::Draw {
            return None;
        }
        let [first, second] = self.counted_pieces(position);
        match first.cmp(&second) {
            std::cmp::Ordering::Greater => Some(Player::First),
            std::cmp::Ordering::Less => Some(Player::Second),
            std::cmp::Ordering::Equal => None,
        }
    }
}

/// What the end of a turn came to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TurnEnd {
    pub(crate) outcome: Option<Outcome>,
    /// The turn captured something: repetition starts anew.
    pub(crate) captured: bool,
    /// The squares that the last action and the end of the turn emptied.
    pub(crate) taken: SquareSet,
}

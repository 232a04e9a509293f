//! What a player's next action could take.

use crate::action::{Action, ActionKind};
use crate::capture::by_words;
use crate::movement::View;
use crate::player::Player;
use crate::position::{Phase, Position};
use crate::rules::Rules;
use crate::ruleset::{DuxCapture, EnclosureBy, EnclosureSides, RemovalScope, Span, Timing, Trigger};
use crate::squares::{Bits, Square, SquareSet};

/// What one player's next action could take or bind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Threats {
    /// Enemy pieces that some action captures, binds or encloses, each by itself.
    pub pieces: SquareSet,
    /// Squares on which a move that does so ends.
    pub landings: SquareSet,
}

impl Position {
    /// Returns this position as it would be if it were `player`'s turn to move: where it is, as it is but for the
    /// shuttle records, which forbid moves; else at the beginning of a turn. While stones are placed, as if none
    /// were left. Its key is not brought up to date.
    #[must_use]
    pub fn as_turn_of(&self, player: Player) -> Position {
        let mut position = Position { phase: Phase::Movement, shuttles: [None; 2], ..*self };
        if position.to_act != player {
            position.to_act = player;
            position.continuation = None;
            position.removed_this_turn = false;
        }
        position
    }
}

impl Rules {
    /// Returns what `player` could take or bind by one move or removal if it were his turn now.
    /// For whose turn it is see [`Position::as_turn_of`]. What the game's history forbids is not looked at.
    #[must_use]
    pub fn threats(&self, position: &Position, player: Player) -> Threats {
        let position = position.as_turn_of(player);
        by_words!(self, self.threats_of_player_to_act(&position))
    }

    fn threats_of_player_to_act<const N: usize>(&self, position: &Position) -> Threats {
        let mut threats = Threats::default();
        let view = View::<N>::new(self, position, position.to_act);
        let landings = self.possible_landings(&view);
        if !landings.is_empty() {
            let mut try_move = |from: Square, to: Square| {
                if landings.contains(to) {
                    let hit = self.hit_by_move::<N>(position, from, to);
                    if !hit.is_empty() {
                        threats.pieces |= hit;
                        threats.landings.insert(to);
                    }
                }
            };
            if position.continuation.is_none() {
                view.each_move(&mut try_move);
            } else {
                // Rare, and the rules may let only some of the piece's moves go on.
                let mut actions = Vec::new();
                self.legal_actions(position, &[], &mut actions);
                for action in actions {
                    if let ActionKind::Move { from, to } | ActionKind::MoveTaking { from, to, .. } = action.kind() {
                        try_move(from, to);
                    }
                }
            }
        }
        if self.ruleset.capture.timing == Timing::Delayed && !position.is_mid_turn() {
            threats.pieces |= self.removable_by_some_action::<N>(position).resize();
        }
        threats
    }

    /// Returns the enemy pieces that a move takes, binds or encloses.
    fn hit_by_move<const N: usize>(&self, before: &Position, from: Square, to: Square) -> SquareSet {
        let enemy = before.to_act.opponent();
        let mut after = *before;
        let made = self.make::<N>(&mut after, Action::moving(from, to));
        let mut outcome = made.outcome;
        if !made.turn_goes_on && outcome.is_none() {
            outcome = self.end_turn::<N>(&mut after, &made).outcome;
        }
        let mut hit = before.stones(enemy) & !after.stones(enemy) | after.bound & after.stones(enemy) & !before.bound;
        if let Some(outcome) = outcome
            && outcome.winner == Some(before.to_act)
            && outcome.reason.is_dux_lost()
            && let Some(dux) = before.dux(enemy)
        {
            hit.insert(dux);
        }
        hit
    }

    fn removable_by_some_action<const N: usize>(&self, position: &Position) -> Bits<N> {
        let player = position.to_act;
        if self.ruleset.capture.removal_scope != RemovalScope::Line {
            return self.removable(position, player);
        }
        let mut removable = Bits::EMPTY;
        self.each_removable_line::<N>(position, player, &mut |line| removable |= line);
        removable
    }

    /// Returns the squares on which a move that takes or binds something may end; mostly few, and among them
    /// some from which nothing is taken after all.
    #[inline(always)]
    fn possible_landings<const N: usize>(&self, view: &View<'_, N>) -> Bits<N> {
        let board: Bits<N> = self.geometry.board.resize();
        if self.any_move_takes(view) {
            return board;
        }
        let Some(around_dux) = self.last_gap_around_dux(view) else { return board };
        self.gaps_of_flanks(view) | self.gaps_of_surrounded(view) | around_dux | self.displaced(view)
    }

    /// Tells whether a piece stands flanked that any move takes: where it counts however it came about.
    #[inline(always)]
    pub(crate) fn any_move_takes<const N: usize>(&self, view: &View<'_, N>) -> bool {
        let capture = &self.ruleset.capture;
        capture.timing == Timing::Immediate
            && capture.trigger == Trigger::Positional
            && !self.held::<N>(view.position, view.player, false).is_empty()
    }

    /// Returns the bound enemy pieces, which a move onto them may take.
    #[inline(always)]
    pub(crate) fn displaced<const N: usize>(&self, view: &View<'_, N>) -> Bits<N> {
        if self.binds { view.position.bound.resize() & view.enemy } else { Bits::EMPTY }
    }

    /// Returns the squares at one end of an enemy piece or row whose other end is closed by an own piece.
    #[inline(always)]
    pub(crate) fn gaps_of_flanks<const N: usize>(&self, view: &View<'_, N>) -> Bits<N> {
        let mut gaps = Bits::EMPTY;
        for direction in 0..self.capture_directions {
            let mut row = view.shifts.step(view.own, direction) & view.enemy;
            while !row.is_empty() {
                let behind = view.shifts.step(row, direction);
                gaps |= behind;
                if self.ruleset.capture.span == Span::One {
                    break;
                }
                row = behind & view.enemy;
            }
        }
        gaps & view.empty
    }

    /// Returns the last open sides of enemy pieces that are taken from all sides.
    #[inline(always)]
    pub(crate) fn gaps_of_surrounded<const N: usize>(&self, view: &View<'_, N>) -> Bits<N> {
        let capture = &self.ruleset.capture;
        let candidates = match (capture.man_by_enclosure, capture.corner) {
            (true, _) => view.enemy,
            (false, true) => view.enemy & self.geometry.corners.resize(),
            (false, false) => return Bits::EMPTY,
        };
        let (mut once, mut twice) = (Bits::EMPTY, Bits::EMPTY);
        let board: Bits<N> = self.geometry.board.resize();
        let open = board & !view.own;
        for direction in 0..4 {
            let beside_open = view.shifts.step(open, direction) & candidates;
            twice |= once & beside_open;
            once |= beside_open;
        }
        let almost = once & !twice;
        (0..4).fold(Bits::EMPTY, |gaps, direction| gaps | view.shifts.step(almost, direction)) & view.empty
    }

    /// Returns the one open side of the enemy dux where enclosure takes it, or nothing where more than one is
    /// open; `None` where any move at all may complete the enclosure.
    #[inline(always)]
    pub(crate) fn last_gap_around_dux<const N: usize>(&self, view: &View<'_, N>) -> Option<Bits<N>> {
        let rules = &self.ruleset.dux;
        let enemy = view.player.opponent();
        let Some(dux) = view.position.dux(enemy).filter(|_| rules.capture == DuxCapture::Enclosure) else {
            return Some(Bits::EMPTY);
        };
        let sides: Bits<N> = self.geometry.orthogonal(dux);
        if rules.enclosure_sides == EnclosureSides::Four && sides.len() < 4 {
            return Some(Bits::EMPTY);
        }
        let around = match rules.enclosure_by {
            EnclosureBy::Enemy => view.own,
            EnclosureBy::Any => view.own | view.enemy,
        };
        let open = sides & !around;
        match open.len() {
            // A move elsewhere may take the jump that saves it, or end the turn that is judged.
            0 if rules.enclosure_trigger == Trigger::Positional => None,
            0 | 1 => Some(open),
            _ => Some(Bits::EMPTY),
        }
    }
}

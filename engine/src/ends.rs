//! Which actions may end the game at once, told without playing them.

use crate::action::{Action, ActionKind};
use crate::capture::by_words;
use crate::geometry::each_direction;
use crate::movement::View;
use crate::player::Player;
use crate::position::{Phase, Position};
use crate::rules::Rules;
use crate::ruleset::{DuxCapture, Eliminate, EnclosureBy, NoMove, Repetition, Span, Timing, Trigger};
use crate::squares::{Bits, SquareSet};
use crate::state::{GameState, occurrences};

/// Legal actions of a position among which are all that end the game at once, and mostly few others.
#[derive(Clone, Copy, Debug)]
pub struct MayEnd<'a> {
    game: &'a GameState,
    reach: Reach,
    /// A position may stand for the third time.
    third_time: bool,
}

/// Which actions may end the game by what they do on the board.
#[derive(Clone, Copy, Debug)]
enum Reach {
    /// Any.
    Any,
    /// Removals, moves from one of the first squares, and moves to one of the second.
    Moves { from: SquareSet, to: SquareSet },
}

impl MayEnd<'_> {
    /// Tells whether a legal action is among them.
    #[must_use]
    pub fn includes(&self, action: Action) -> bool {
        let Reach::Moves { from: begins, to: ends } = self.reach else { return true };
        match action.kind() {
            ActionKind::Move { from, to } | ActionKind::MoveTaking { from, to, .. } => {
                begins.contains(from)
                    || ends.contains(to)
                    || self.third_time && {
                        let key = self.game.position().key_after_shift(from, to);
                        occurrences(self.game.history(), key) >= 2
                    }
            }
            ActionKind::Remove { .. } => true,
            ActionKind::Pass => self.third_time,
            ActionKind::PlaceMan(_) | ActionKind::PlaceDux(_) | ActionKind::Stop => false,
        }
    }
}

impl GameState {
    /// Returns which legal actions may end the game, which must not be over.
    #[must_use]
    pub fn may_end(&self) -> MayEnd<'_> {
        let third_time = self.rules().ruleset.end.repetition == Repetition::ThreefoldDraw && self.repetitions_max() > 1;
        MayEnd { game: self, reach: self.reach_of_ends(third_time), third_time }
    }

    fn reach_of_ends(&self, third_time: bool) -> Reach {
        let (rules, position) = (&**self.rules(), self.position());
        let end = &rules.ruleset.end;
        if position.turns + 1 >= end.max_plies {
            return Reach::Any;
        }
        if position.phase == Phase::Placement {
            // But for the cap, no end is possible before the last stone is placed.
            let in_hand: u32 = Player::BOTH.map(|player| u32::from(position.hand(player).stones())).iter().sum();
            return if in_hand > 1 {
                Reach::Moves { from: SquareSet::EMPTY, to: SquareSet::EMPTY }
            } else {
                Reach::Any
            };
        }
        let blockade = position.passes > 0 || end.quiet_limit > 0 && position.quiet_turns + 1 >= end.quiet_limit;
        // Where pieces are bound, a key is only known once the move is made.
        if blockade || position.is_mid_turn() || third_time && rules.binds {
            return Reach::Any;
        }
        // A reply that would bring back a position of the past may be forbidden; every second one had the same player to act.
        let past = self.history().len().div_ceil(2);
        let forbidden_max = match end.repetition {
            Repetition::Superko => past,
            Repetition::ThreefoldForbidden if self.repetitions_max() > 1 => past,
            Repetition::Shuttle3 => 1,
            _ => 0,
        };
        by_words!(rules, rules.reach_of_ends(position, forbidden_max))
    }
}

impl Rules {
    /// Returns which actions at the beginning of a turn may end the game by what they do on the board. The history
    /// forbids the reply at most `forbidden_max` moves.
    fn reach_of_ends<const N: usize>(&self, position: &Position, forbidden_max: usize) -> Reach {
        let player = position.to_act;
        let opponent = player.opponent();
        // How many steps the opponent can lose by an action before he may have none; `None`: none that counts.
        let spare_steps = match self.ruleset.end.no_move {
            NoMove::Pass => None,
            NoMove::Loss | NoMove::Draw => {
                Some(self.steps_of_men::<N>(position, opponent).saturating_sub(forbidden_max))
            }
        };
        // A move that takes and binds nothing prevents only the steps to where it ends.
        let directions = self.man.direction_count;
        if spare_steps.is_some_and(|spare| spare <= directions) || self.is_eliminated(position, opponent) {
            return Reach::Any;
        }
        let view = View::<N>::new(self, position, player);
        let capture = &self.ruleset.capture;
        if self.any_move_takes(&view) {
            return Reach::Any;
        }
        let Some(mut to) = self.last_gap_around_dux(&view) else { return Reach::Any };
        to |= self.displaced(&view);
        let harmless = if self.binds { spare_steps.is_none() } else { self.takes_end_nothing(position, spare_steps) };
        if !harmless {
            to |= self.gaps_of_flanks(&view) | self.gaps_of_surrounded(&view);
        }
        let mut from = SquareSet::EMPTY;
        let dux = &self.ruleset.dux;
        if dux.capture == DuxCapture::Enclosure
            && dux.enclosure_trigger == Trigger::Positional
            && capture.timing != Timing::Displacement
            && let Some(own_dux) = position.dux(player)
        {
            // The own dux is judged as well: it may walk in, or be walled in.
            let gap: Option<Bits<N>> = self.last_gap_around_dux(&View::new(self, position, opponent));
            let Some(gap) = gap else { return Reach::Any };
            if dux.enclosure_by == EnclosureBy::Any {
                to |= gap;
            }
            from.insert(own_dux);
        }
        Reach::Moves { from, to: to.resize() }
    }

    /// Tells whether no move can end the game by the pieces that it takes at once: the opponent keeps enough pieces and,
    /// of his `spare_steps`, one.
    fn takes_end_nothing(&self, position: &Position, spare_steps: Option<usize>) -> bool {
        let (capture, end, dux) = (&self.ruleset.capture, &self.ruleset.end, &self.ruleset.dux);
        if capture.span != Span::One || capture.trigger != Trigger::Active {
            return false;
        }
        let opponent = position.to_act.opponent();
        if dux.capture == DuxCapture::AsMan && end.win_dux && position.dux(opponent).is_some() {
            return false;
        }
        // All that a move takes stands beside the square where it ends.
        let most = self.capture_directions;
        let is_rich = end.eliminate == Eliminate::Off
            || self.pieces_that_count(position, opponent) as usize > usize::from(end.eliminate_at) + most;
        is_rich && spare_steps.is_none_or(|spare| spare > self.man.direction_count * (most + 1))
    }

    /// Counts the steps and first squares of slides of `player`'s men.
    fn steps_of_men<const N: usize>(&self, position: &Position, player: Player) -> usize {
        let view = View::<N>::new(self, position, player);
        let mut men = view.free();
        if let Some(dux) = position.dux(player) {
            men.remove(dux);
        }
        let mut steps = 0;
        each_direction(self.man.direction_count, |direction| {
            if self.man.steps(player, direction) {
                steps += (view.shifts.step(men, direction) & view.empty).len() as usize;
            }
        });
        steps
    }
}

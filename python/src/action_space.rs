//! A fixed number for every action of a ruleset.

use std::sync::Arc;

use latrunculi_engine::ruleset::{
    JumpChain, JumpRun, Lines, PerMove, PieceMovement, Range, RemovalScope, SetupMode, Span, StepDirections, Timing,
    Trigger,
};
use latrunculi_engine::{Action, ActionKind, GameState, Player, Rules, STEPS, Square};

/// No number: the pieces of this ruleset never move so.
const NONE: u32 = u32::MAX;

/// The numbers of the actions under one ruleset, from 0 to [`ActionSpace::len`]. Squares are as the player to act sees them: for
/// the second player the ranks are mirrored.
///
/// In this order: every move from a square to another that some piece could make on some board, by square of departure and then of
/// arrival; a man placed on each square and the dux placed on each square, if stones are placed; the removals, if there are any (all
/// bound pieces; or one by its square; or a line by its ends); stop; pass; and where the mover chooses what to take, every move with
/// every neighbour of its end in the lines of capture, or with every square if captures reach farther.
#[derive(Debug)]
pub(crate) struct ActionSpace {
    rules: Arc<Rules>,
    /// `[A, A]`: the number of each move, or [`NONE`].
    moves: Vec<u32>,
    move_count: usize,
    placements: usize,
    removals: usize,
    stop: usize,
    choices: Choices,
    len: usize,
}

/// What is told apart of a chosen victim.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Choices {
    None,
    /// One of so many neighbours of the square of arrival.
    Directions(usize),
    Squares,
}

impl ActionSpace {
    pub(crate) fn new(rules: &Arc<Rules>) -> ActionSpace {
        let (files, area) = (rules.files(), rules.square_count());
        let ruleset = rules.ruleset();
        let movers = [Some(&ruleset.man), rules.has_duces().then_some(&ruleset.dux_movement)];
        let slides_in_chains = [false, ruleset.dux.chain_slides];
        let mut moves = vec![NONE; area * area];
        let mut move_count = 0;
        for (pair, number) in moves.iter_mut().enumerate() {
            let [from, to] = [pair / area, pair % area].map(|square| [square % files, square / files]);
            let apart = [from[0].abs_diff(to[0]), from[1].abs_diff(to[1])];
            let may_move = movers.iter().zip(slides_in_chains).any(|(mover, slides)| {
                mover.is_some_and(|mover| reaches(mover, slides, ruleset.movement.lines, apart))
            });
            if may_move && apart != [0, 0] {
                *number = move_count;
                move_count += 1;
            }
        }
        let move_count = move_count as usize;
        let placements = if ruleset.setup.mode == SetupMode::Placement { 2 * area } else { 0 };
        let capture = &ruleset.capture;
        let removals = match capture.removal_scope {
            _ if capture.timing != Timing::Delayed => 0,
            RemovalScope::All => 1,
            RemovalScope::One => area,
            RemovalScope::Line => area * area,
        };
        let takes_neighbours = capture.span == Span::One && capture.trigger == Trigger::Active;
        let choices = match capture.lines {
            _ if capture.timing != Timing::Immediate || capture.per_move != PerMove::One => Choices::None,
            _ if !takes_neighbours => Choices::Squares,
            Lines::Orthogonal => Choices::Directions(4),
            Lines::All => Choices::Directions(8),
        };
        let stop = move_count + placements + removals;
        let len = stop + 2 + move_count * choices.count(area);
        ActionSpace { rules: Arc::clone(rules), moves, move_count, placements, removals, stop, choices, len }
    }

    /// Returns the number of numbers.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the number of an action that is legal for `player`; `None` for one that a position set up by hand alone can bring
    /// about, as one of a dux where games have none.
    pub(crate) fn index(&self, player: Player, action: Action) -> Option<u32> {
        let area = self.rules.square_count();
        let at = |square: Square| self.rules.turn_square(player, square).index();
        let move_of = |from: Square, to: Square| {
            let number = self.moves[at(from) * area + at(to)];
            (number != NONE).then_some(number as usize)
        };
        let removal = self.move_count + self.placements;
        let number = match action.kind() {
            ActionKind::Move { from, to } => move_of(from, to)?,
            ActionKind::MoveTaking { from, to, victim } => {
                let choice = match self.choices {
                    Choices::None => return None,
                    Choices::Directions(_) => self.direction(at(to), at(victim))?,
                    Choices::Squares => at(victim),
                };
                self.stop + 2 + move_of(from, to)? * self.choices.count(area) + choice
            }
            ActionKind::PlaceMan(_) | ActionKind::PlaceDux(_) if self.placements == 0 => return None,
            ActionKind::PlaceMan(square) => self.move_count + at(square),
            ActionKind::PlaceDux(square) => self.move_count + area + at(square),
            ActionKind::Remove { .. } if self.removals == 1 => removal,
            ActionKind::Remove { first, .. } if self.removals == area => removal + at(first),
            ActionKind::Remove { first, last } => {
                let ends = [at(first), at(last)];
                removal + ends[0].min(ends[1]) * area + ends[0].max(ends[1])
            }
            ActionKind::Stop => self.stop,
            ActionKind::Pass => self.stop + 1,
        };
        Some(number as u32)
    }

    /// Replaces `legal` and `indices` by the legal actions of a game and their numbers; `None` if one has no number.
    #[must_use]
    pub(crate) fn list(&self, state: &GameState, legal: &mut Vec<Action>, indices: &mut Vec<u32>) -> Option<()> {
        state.legal_actions(legal);
        let player = state.player_to_act();
        indices.clear();
        for &action in &*legal {
            indices.push(self.index(player, action)?);
        }
        Some(())
    }

    /// Returns the direction in which `victim` lies beside `to`.
    fn direction(&self, to: usize, victim: usize) -> Option<usize> {
        let files = self.rules.files();
        let step = |from: usize, to: usize| to as i8 - from as i8;
        let wanted = (step(to % files, victim % files), step(to / files, victim / files));
        STEPS.iter().position(|&known| known == wanted)
    }
}

impl Choices {
    fn count(self, area: usize) -> usize {
        match self {
            Choices::None => 0,
            Choices::Directions(count) => count,
            Choices::Squares => area,
        }
    }
}

/// Tells whether a kind of piece could move so many files and ranks if the other pieces stood right.
fn reaches(mover: &PieceMovement, slides_in_chains: bool, lines: Lines, [files, ranks]: [usize; 2]) -> bool {
    let jumps = mover.jump_over.any();
    if mover.jump_chain != JumpChain::None && (jumps || slides_in_chains) {
        return true;
    }
    let is_on_line = files == 0 || ranks == 0 || files == ranks && lines == Lines::All;
    let distance = files.max(ranks);
    let steps = mover.step != StepDirections::None && (distance == 1 || mover.range == Range::Slide);
    let lands = jumps && (distance == 2 || distance > 2 && mover.jump_run == JumpRun::Any);
    is_on_line && (steps || lands)
}

/// Returns the most actions that a game can have: of each turn a move and a removal or a stop, each stone that is placed, and a
/// further move after each capture.
pub(crate) fn actions_max(rules: &Rules) -> usize {
    let stones: usize = Player::BOTH.iter().map(|&player| rules.pieces_at_start(player)).sum();
    3 * usize::from(rules.ruleset().end.max_plies) + 2 * stones
}

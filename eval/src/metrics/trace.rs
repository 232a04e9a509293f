//! The data that the metrics need of one replayed game.

use std::collections::HashSet;
use std::sync::Arc;

use latrunculi_engine::record::RecordFault;
use latrunculi_engine::{
    Action, ActionKind, EndReason, GameRecord, GameState, Phase, Player, Position, Rules, SquareSet,
};

use super::GamePhase;
use super::detector::{Detector, MechanicSet};
use super::diversity::VisitTrace;
use super::material::{QUIET_DRAWS, QuietPosition};
use crate::matches::openings::canonical_key;
use latrunculi_stats::GameResult;

/// The first player and the second, to index arrays by seat.
pub(super) const FIRST: usize = 0;
/// See [`FIRST`].
pub(super) const SECOND: usize = 1;

/// What the metrics need of one finished game.
pub(super) struct Trace {
    /// Which opening it began with; `None` without a random one.
    pub(super) opening: Option<u64>,
    pub(super) beginner: Player,
    /// How it ended for who began.
    pub(super) result: GameResult,
    /// Why it ended; `None` if it was given up.
    pub(super) reason: Option<EndReason>,
    pub(super) actions: u32,
    pub(super) placement_turns: u32,
    /// What was chosen, in order.
    pub(super) choices: Vec<ChoiceTrace>,
    /// The beginning of every turn, in order.
    pub(super) turns: Vec<TurnTrace>,
    /// By seat, the pieces on the board at the end.
    pub(super) pieces_at_end: [u32; 2],
    /// By colour, what happened on each square.
    pub(super) squares: [SquareUse; 2],
    /// Beginnings of turns at which the position had stood before.
    pub(super) repeated: u64,
    pub(super) quiet: Option<QuietPosition>,
}

pub(super) struct ChoiceTrace {
    /// The number of the action in the game, from 0.
    pub(super) number: u32,
    /// Who chose: [`FIRST`] or [`SECOND`].
    pub(super) seat: usize,
    pub(super) phase: GamePhase,
    /// How many legal actions there were.
    pub(super) legal: u32,
    pub(super) used: MechanicSet,
    pub(super) visits: Option<VisitTrace>,
}

pub(super) struct TurnTrace {
    pub(super) phase: GamePhase,
    pub(super) seat: usize,
    /// By seat, the pieces on the board.
    pub(super) pieces: [u32; 2],
    /// The first value of the turn, in `[-1, 1]` for whoever acts.
    pub(super) value: Option<f32>,
}

/// What happened on each square to one colour.
pub(super) struct SquareUse {
    pub(super) moved_to: Vec<u32>,
    pub(super) captured_on: Vec<u32>,
    /// Beginnings of turns at which a piece stood there.
    pub(super) stood_on: Vec<u32>,
}

impl Trace {
    pub(super) fn turn_count(&self) -> u32 {
        self.turns.len() as u32
    }

    /// Returns the first player's score: 1, ½ or 0.
    pub(super) fn score(&self) -> f64 {
        self.result.score()
    }

    /// Returns the winner's seat; `None` is a draw.
    pub(super) fn winner(&self) -> Option<usize> {
        match self.result {
            GameResult::Win => Some(FIRST),
            GameResult::Draw => None,
            GameResult::Loss => Some(SECOND),
        }
    }

    /// Plays a game over; `None` if it is not finished.
    ///
    /// `draws` are numbers of actions, in the order in which they are tried for a quiet position.
    pub(super) fn of(
        rules: &Arc<Rules>,
        detector: &Detector,
        record: &GameRecord,
        opening_actions: u32,
        draws: &[usize; QUIET_DRAWS],
    ) -> Result<Option<Trace>, RecordFault> {
        let Some(result) = record.result else {
            return record.replay(rules).map(|_| None);
        };
        let squares = || vec![0; rules.square_count()];
        let square_use = || SquareUse { moved_to: squares(), captured_on: squares(), stood_on: squares() };
        let mut tracer = Tracer {
            rules,
            detector,
            record,
            opening_actions,
            draws,
            beginner: None,
            number: 0,
            turns_before: None,
            pending: None,
            positions: HashSet::new(),
            quiet: None,
            trace: Trace {
                opening: None,
                beginner: Player::First,
                result: GameResult::Draw,
                reason: None,
                actions: 0,
                placement_turns: 0,
                choices: Vec::with_capacity(record.actions.len()),
                turns: Vec::with_capacity(record.actions.len()),
                pieces_at_end: [0; 2],
                squares: [square_use(), square_use()],
                repeated: 0,
                quiet: None,
            },
        };
        let end = record.replay_among(rules, |state, legal, action| tracer.see(state, legal, action))?;
        tracer.finish_action(&end);
        let Tracer { beginner, mut trace, quiet, .. } = tracer;
        if record.opening > 0 && trace.opening.is_none() {
            trace.opening = Some(canonical_key(rules, end.position(), &[]));
        }
        trace.beginner = beginner.unwrap_or(end.player_to_act());
        trace.result = GameResult::for_player(result.winner(), trace.beginner);
        trace.reason = record.end_reason();
        trace.actions = record.actions.len() as u32;
        trace.pieces_at_end = pieces_by_seat(end.position(), trace.beginner);
        trace.quiet = quiet.map(|(_, mut position)| {
            let winner = result.winner();
            position.result = winner.map_or(0.0, |winner| if winner == position.player { 1.0 } else { -1.0 });
            position
        });
        Ok(Some(trace))
    }
}

fn pieces_by_seat(position: &Position, beginner: Player) -> [u32; 2] {
    [beginner, beginner.opponent()].map(|player| position.stones(player).len())
}

/// Watches a game being played over.
struct Tracer<'a> {
    rules: &'a Arc<Rules>,
    detector: &'a Detector,
    record: &'a GameRecord,
    /// Over how many choices visits are also counted by symmetry.
    opening_actions: u32,
    draws: &'a [usize; QUIET_DRAWS],
    beginner: Option<Player>,
    number: usize,
    turns_before: Option<u16>,
    pending: Option<(Position, Action)>,
    positions: HashSet<u64>,
    /// The quiet position of the earliest draw so far, with the place of the draw.
    quiet: Option<(usize, QuietPosition)>,
    trace: Trace,
}

impl Tracer<'_> {
    fn see(&mut self, state: &GameState, legal: &[Action], action: Action) -> Result<(), RecordFault> {
        self.finish_action(state);
        let position = state.position();
        let beginner = *self.beginner.get_or_insert(position.player_to_act());
        let seat = usize::from(position.player_to_act() != beginner);
        let phase = match position.phase() {
            Phase::Placement => GamePhase::Placement,
            Phase::Movement => GamePhase::Movement,
        };
        if self.number == self.record.opening && self.number > 0 {
            self.trace.opening = Some(canonical_key(self.rules, position, &[]));
        }
        let value = self.record.values.get(self.number).copied().flatten();
        if self.turns_before.replace(position.turns()) != Some(position.turns()) {
            self.begin_turn(position, legal, seat, phase, beginner);
        }
        if let Some(turn) = self.trace.turns.last_mut() {
            turn.value = turn.value.or(value);
        }
        if self.number >= self.record.opening {
            let visits = self.record.visits_among(self.number, state, legal)?;
            let reduces = (self.trace.choices.len() as u32) < self.opening_actions;
            self.trace.choices.push(ChoiceTrace {
                number: self.number as u32,
                seat,
                phase,
                legal: legal.len() as u32,
                used: MechanicSet::EMPTY,
                visits: visits
                    .and_then(|visits| VisitTrace::new(self.rules, position, legal, &visits, action, reduces)),
            });
        }
        self.pending = Some((*position, action));
        self.number += 1;
        Ok(())
    }

    fn begin_turn(&mut self, position: &Position, legal: &[Action], seat: usize, phase: GamePhase, beginner: Player) {
        let trace = &mut self.trace;
        trace.turns.push(TurnTrace { phase, seat, pieces: pieces_by_seat(position, beginner), value: None });
        trace.placement_turns += u32::from(phase == GamePhase::Placement);
        trace.repeated += u64::from(!self.positions.insert(position.key_with_holds()));
        for player in Player::BOTH {
            let stood_on = &mut trace.squares[player.index()].stood_on;
            position.stones(player).iter().for_each(|square| stood_on[square.index()] += 1);
        }
        if phase == GamePhase::Movement
            && let Some(draw) = self.draws.iter().position(|&number| number == self.number)
            && self.quiet.as_ref().is_none_or(|&(earlier, _)| draw < earlier)
            && let Some(quiet) = QuietPosition::new(self.rules, position, legal)
        {
            self.quiet = Some((draw, quiet));
        }
    }

    /// Looks at what the last action has come to.
    fn finish_action(&mut self, state: &GameState) {
        let Some((before, action)) = self.pending.take() else { return };
        let after = state.position();
        if self.number <= self.record.opening {
            return;
        }
        if let Some(choice) = self.trace.choices.last_mut() {
            choice.used = self.detector.used(&before, action, after, state.outcome());
        }
        let player = before.player_to_act();
        let mut left = SquareSet::EMPTY;
        if let ActionKind::Move { from, to } | ActionKind::MoveTaking { from, to, .. } = action.kind() {
            left.insert(from);
            self.trace.squares[player.index()].moved_to[to.index()] += 1;
        }
        for owner in Player::BOTH {
            let mut taken = before.stones(owner) & !after.stones(owner);
            if owner == player {
                taken &= !left;
            }
            let captured_on = &mut self.trace.squares[owner.index()].captured_on;
            taken.iter().for_each(|square| captured_on[square.index()] += 1);
        }
    }
}

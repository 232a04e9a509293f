//! The static evaluation of positions and the ordering of actions for alpha-beta.

use latrunculi_engine::ruleset::{DuxCapture, EnclosureBy, PerMove, RowWithDux, Span, Timing, Trigger};
use latrunculi_engine::{
    Action, ActionKind, Bits, GameState, Phase, Player, Position, Rules, Square, SquareSet, each_direction,
};

use super::board::{NOWHERE, Stones, by_words};
use super::features::{Counter, Counts, FEATURE_COUNT, Stage};
use super::weights::Weights;
use crate::alphabeta::Heuristic;

/// Gain of taking a man, in hundredths of a man.
const MAN: i32 = 100;

/// Gain of taking a dux where that does not decide the game.
const DUX: i32 = 140;

/// Gain of taking a dux where that decides the game.
const DECISIVE: i32 = 100_000;

/// Integer steps per hundredth of a man in the stored weights.
const FINENESS: i32 = 64;

/// The static evaluation of Latrunculi: the counts of each [`super::Feature`] times the [`Weights`] of the ruleset
/// and stage.
#[derive(Clone, Debug)]
pub struct LatrunculiHeuristic {
    /// The weights in parts of a hundredth of a man: placement, many pieces, few pieces.
    placement: Counts,
    many: Counts,
    few: Counts,
    counter: Counter,
    square_count: usize,
    /// Each square with its rank mirrored.
    mirrored: Vec<u16>,
    dux_armed: bool,
    dux_capture: DuxCapture,
    dux_decides: bool,
    enclosure_by: EnclosureBy,
    takes_rows: bool,
    rows_spare_dux: bool,
    takes_one: bool,
    takes_corners: bool,
    takes_enclosed_men: bool,
    /// A move takes everything that is flanked, also what walked in between.
    takes_all_flanked: bool,
    timing: Timing,
}

impl LatrunculiHeuristic {
    /// Creates the heuristic for a ruleset with [`Weights::for_ruleset`].
    #[must_use]
    pub fn new(rules: &Rules) -> LatrunculiHeuristic {
        LatrunculiHeuristic::with_weights(rules, Weights::for_ruleset(rules.ruleset()))
    }

    /// Creates the heuristic for a ruleset with the given weights.
    #[must_use]
    pub fn with_weights(rules: &Rules, weights: Weights) -> LatrunculiHeuristic {
        let ruleset = rules.ruleset();
        let in_parts = |weights: [f32; FEATURE_COUNT]| weights.map(|weight| (weight * FINENESS as f32).round() as i32);
        LatrunculiHeuristic {
            placement: in_parts(weights.placement),
            many: in_parts(weights.many),
            few: in_parts(weights.few),
            counter: Counter::new(rules),
            square_count: rules.square_count(),
            mirrored: (0..rules.square_count())
                .map(|index| rules.turn_square(Player::Second, Square::from_index(index)).index() as u16)
                .collect(),
            dux_armed: ruleset.dux.armed,
            dux_capture: ruleset.dux.capture,
            dux_decides: ruleset.end.win_dux,
            enclosure_by: ruleset.dux.enclosure_by,
            takes_rows: ruleset.capture.span == Span::Row,
            rows_spare_dux: ruleset.capture.row_with_dux == RowWithDux::Spared,
            takes_one: ruleset.capture.per_move == PerMove::One,
            takes_corners: ruleset.capture.corner,
            takes_enclosed_men: ruleset.capture.man_by_enclosure,
            takes_all_flanked: ruleset.capture.timing == Timing::Immediate
                && ruleset.capture.trigger == Trigger::Positional,
            timing: ruleset.capture.timing,
        }
    }

    /// Returns the count of each feature in a position: the first player's less the second's.
    #[must_use]
    pub fn counts(&self, position: &Position) -> Counts {
        self.counter.count(position)
    }

    /// Returns the stage of the game, which selects the weights.
    #[must_use]
    pub fn stage(&self, position: &Position) -> Stage {
        self.counter.stage(position)
    }

    /// Returns the squares on which a move of `player` may end that flanks something: from all others
    /// [`LatrunculiHeuristic::flanking_gain`] is 0.
    fn landings<const N: usize>(&self, position: &Position, player: Player) -> SquareSet {
        let terrain = &self.counter.terrain;
        let Stones { shifts, owned, empty }: Stones<N> = terrain.stones(position);
        let (own, enemy) = (owned[player.index()], owned[player.opponent().index()]);
        let mut flankers = own;
        if let Some(dux) = position.dux(player).filter(|_| !self.dux_armed) {
            flankers.remove(dux);
        }
        let mut landings = Bits::EMPTY;
        each_direction(self.counter.capture_directions, |direction| {
            let mut row = shifts.step(flankers, direction) & enemy;
            loop {
                let behind = shifts.step(row, direction);
                landings |= behind;
                row = behind & enemy;
                if !self.takes_rows || row.is_empty() {
                    break;
                }
            }
        });
        // What is taken from all sides has one open side at most before the last one is closed.
        let dux = position.dux(player.opponent()).filter(|_| self.dux_capture == DuxCapture::Enclosure);
        let by_man = match (self.takes_enclosed_men, self.takes_corners) {
            (true, _) => enemy,
            (false, true) => enemy & terrain.corners.resize(),
            (false, false) => Bits::EMPTY,
        };
        for (candidates, open) in [(by_man, enemy | empty), (dux.map_or(Bits::EMPTY, Bits::of), empty)] {
            if candidates.is_empty() {
                continue;
            }
            let (mut once, mut twice) = (Bits::EMPTY, Bits::EMPTY);
            each_direction(4, |direction| {
                let beside_open = shifts.step(open, direction) & candidates;
                twice |= once & beside_open;
                once |= beside_open;
            });
            each_direction(4, |direction| landings |= shifts.step(once & !twice, direction));
        }
        (landings & empty).resize()
    }

    /// Returns what [`Heuristic::capture_gain`] does, given the squares outside which no move flanks or takes anything.
    #[inline]
    fn gain(&self, game: &GameState, action: Action, landings: SquareSet) -> i32 {
        let position = game.position();
        let player = position.player_to_act();
        let enemy = player.opponent();
        match action.kind() {
            ActionKind::MoveTaking { victim, .. } => {
                let is_dux = position.dux(enemy) == Some(victim);
                if is_dux { DUX } else { MAN }
            }
            ActionKind::Move { to, .. } if position.stones(enemy).contains(to) => match position.dux(enemy) == Some(to)
            {
                true if self.dux_decides => DECISIVE,
                true => DUX,
                false => MAN,
            },
            ActionKind::Move { to, .. } if !landings.contains(to) => 0,
            ActionKind::Move { from, to } => {
                let gain = self.flanking_gain(position, player, from.index() as u16, to.index() as u16);
                match self.timing {
                    _ if self.takes_all_flanked => gain.max(self.gain_of_taken(game, action)),
                    Timing::Immediate => gain,
                    // A bound piece is not yet taken; a bound dux may decide the game all the same.
                    _ if gain >= DECISIVE => gain,
                    _ => gain * 2 / 5,
                }
            }
            ActionKind::Remove { .. } => {
                let bound = position.bound() & position.stones(enemy);
                MAN * (bound.len() as i32).max(1)
            }
            // Quiet: inner squares first.
            ActionKind::PlaceMan(square) | ActionKind::PlaceDux(square) => {
                -self.counter.terrain.places[square.index()].outwardness
            }
            ActionKind::Stop | ActionKind::Pass => 0,
        }
    }

    /// Sums the values of what a move takes at once.
    fn gain_of_taken(&self, game: &GameState, action: Action) -> i32 {
        let taken = game.rules().taken_by(game.position(), action);
        let dux = game.position().dux(game.player_to_act().opponent()).filter(|&dux| taken.contains(dux));
        let men = taken.len() as i32 - i32::from(dux.is_some());
        men * MAN + dux.map_or(0, |_| if self.dux_decides { DECISIVE } else { DUX })
    }

    /// Tells whether quiescence search looks at a legal action with that gain.
    #[inline]
    fn is_tactical_with(&self, position: &Position, action: Action, gain: i32) -> bool {
        match action.kind() {
            ActionKind::MoveTaking { .. } | ActionKind::Remove { .. } => true,
            ActionKind::Move { to, .. } => {
                let enemy = position.player_to_act().opponent();
                let takes_now = self.timing == Timing::Immediate || position.stones(enemy).contains(to);
                gain >= DECISIVE || takes_now && gain > 0
            }
            _ => false,
        }
    }

    /// Returns the squares outside which no move of the player to act flanks or takes anything.
    #[inline]
    fn landings_of_mover(&self, game: &GameState) -> SquareSet {
        let position = game.position();
        let enemy = position.player_to_act().opponent();
        if self.takes_all_flanked && !game.rules().flanked_now(position, enemy).is_empty() {
            return !SquareSet::EMPTY;
        }
        by_words!(self.counter.terrain, self.landings(position, position.player_to_act()))
    }

    /// Sums the values of the pieces that `player`'s move from `from` to `to` flanks.
    /// Follows the common rules of custodial capture. It only orders actions and selects those of quiescence, so rare
    /// cases (rows with a dux in them, bound flankers) may be missed.
    fn flanking_gain(&self, position: &Position, player: Player, from: u16, to: u16) -> i32 {
        let enemy = player.opponent();
        let board = Around { position, player, from };
        let dux = position.dux(enemy).map_or(NOWHERE, |square| square.index() as u16);
        let own_dux = position.dux(player).map_or(NOWHERE, |square| square.index() as u16);
        let value = |square| match square == dux {
            false => MAN,
            true if self.dux_capture != DuxCapture::AsMan => 0,
            true if self.dux_decides => DECISIVE,
            true => DUX,
        };
        let (mut sum, mut greatest) = (0, 0);
        let is_armed = self.dux_armed || from != own_dux;
        let is_flanker = |square: u16| board.is_own(square) && (self.dux_armed || square != own_dux);
        for direction in 0..if is_armed { self.counter.capture_directions } else { 0 } {
            let mut square = self.counter.terrain.neighbour(to, direction);
            let mut gain = 0;
            while board.is_enemy(square) && (value(square) > 0 || self.rows_spare_dux && square == dux) {
                gain += value(square);
                square = self.counter.terrain.neighbour(square, direction);
                if !self.takes_rows {
                    break;
                }
            }
            if gain > 0 && is_flanker(square) {
                sum += gain;
                greatest = greatest.max(gain);
            }
        }
        for direction in 0..4 {
            let beside = self.counter.terrain.neighbour(to, direction);
            if !board.is_enemy(beside) {
                continue;
            }
            let is_corner = self.takes_corners && self.counter.terrain.places[usize::from(beside)].is_corner;
            let by_enclosure = beside == dux && self.dux_capture == DuxCapture::Enclosure;
            if !(is_corner || by_enclosure || self.takes_enclosed_men) {
                continue;
            }
            let mut sides = self.counter.terrain.places[usize::from(beside)].neighbours[..4].iter();
            let is_closed = sides.all(|&side| {
                side == NOWHERE
                    || side == to
                    || board.is_own(side)
                    || by_enclosure && self.enclosure_by == EnclosureBy::Any && board.is_enemy(side)
            });
            if is_closed {
                let gain = match by_enclosure {
                    // Displacement only binds an enclosed dux.
                    true if self.timing == Timing::Displacement => MAN,
                    true if self.dux_decides => DECISIVE,
                    true => DUX,
                    false => value(beside),
                };
                sum += gain;
                greatest = greatest.max(gain);
            }
        }
        if self.takes_one { greatest } else { sum }
    }
}

/// The stones around a move, after the moved piece has left its square.
struct Around<'a> {
    position: &'a Position,
    player: Player,
    from: u16,
}

impl Around<'_> {
    #[inline]
    fn is_own(&self, square: u16) -> bool {
        square != NOWHERE
            && square != self.from
            && self.position.stones(self.player).contains(Square::from_index(usize::from(square)))
    }

    #[inline]
    fn is_enemy(&self, square: u16) -> bool {
        square != NOWHERE
            && self.position.stones(self.player.opponent()).contains(Square::from_index(usize::from(square)))
    }
}

impl Heuristic<GameState> for LatrunculiHeuristic {
    fn evaluate(&self, game: &GameState) -> i32 {
        let position = game.position();
        let counts = self.counts(position);
        let sum = |weights: &Counts| counts.iter().zip(weights).map(|(count, weight)| count * weight).sum::<i32>();
        match self.stage(position) {
            Stage::Placement => sum(&self.placement) / FINENESS,
            Stage::Movement { many } => (sum(&self.many) * many + sum(&self.few) * (64 - many)) / (64 * FINENESS),
        }
    }

    fn capture_gain(&self, game: &GameState, action: Action) -> i32 {
        self.gain(game, action, !SquareSet::EMPTY)
    }

    fn each_gain(&self, game: &GameState, actions: &[Action], mut visit: impl FnMut(usize, i32)) {
        let landings = self.landings_of_mover(game);
        for (ordinal, &action) in actions.iter().enumerate() {
            visit(ordinal, self.gain(game, action, landings));
        }
    }

    fn is_tactical(&self, game: &GameState, action: Action) -> bool {
        self.is_tactical_with(game.position(), action, self.capture_gain(game, action))
    }

    fn each_tactical(&self, game: &GameState, actions: &[Action], mut visit: impl FnMut(usize, i32)) {
        self.each_gain(game, actions, |ordinal, gain| {
            if self.is_tactical_with(game.position(), actions[ordinal], gain) {
                visit(ordinal, gain);
            }
        });
    }

    fn needs_quiescence(&self, game: &GameState) -> bool {
        let position = game.position();
        if position.phase() != Phase::Movement {
            return false;
        }
        // Where the player chooses what is taken, or takes what was bound before, the landings do not tell.
        let takes_elsewhere = match self.timing {
            Timing::Immediate => self.takes_one,
            Timing::Displacement => {
                !(position.bound() & position.stones(position.player_to_act().opponent())).is_empty()
            }
            Timing::Delayed => true,
        };
        takes_elsewhere || !self.landings_of_mover(game).is_empty()
    }

    fn action_index(&self, game: &GameState, action: Action) -> usize {
        let squares = self.square_count;
        let moves = squares * squares;
        let is_first = game.position().player_to_act() == Player::First;
        let own = |square: Square| match is_first {
            true => square.index(),
            false => usize::from(self.mirrored[square.index()]),
        };
        match action.kind() {
            ActionKind::Move { from, to } | ActionKind::MoveTaking { from, to, .. } => own(from) * squares + own(to),
            ActionKind::PlaceMan(square) => moves + own(square),
            ActionKind::PlaceDux(square) => moves + squares + own(square),
            ActionKind::Remove { .. } => moves + 2 * squares,
            ActionKind::Stop => moves + 2 * squares + 1,
            ActionKind::Pass => moves + 2 * squares + 2,
        }
    }

    fn action_index_count(&self) -> usize {
        self.square_count * (self.square_count + 2) + 3
    }
}

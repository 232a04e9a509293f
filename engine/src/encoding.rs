//! What a network sees of a position, and where its policy speaks of each action.
//!
//! Plain data, no tensors: binary planes as square sets, scalars, and indices into a vector of logits. The
//! scalars of the position are followed by those of the ruleset ([`rule_inputs`]), and nothing depends on the size
//! of the board, so that one network may serve several rulesets. The board is seen from the player to act: planes named "own" and "enemy", and for the second player the
//! ranks mirrored, so that forward is always up. The policy's squares are mirrored in the same way.
//!
//! Legend: `B` positions, `C` planes, `S` scalars, `H` ranks, `W` files, `A = H * W` squares, `L` legal actions of
//! all positions of a batch.

mod batch;
pub mod rule_inputs;

use serde::{Deserialize, Serialize};

use crate::action::{Action, ActionKind};
use crate::player::Player;
use crate::position::{Phase, Position};
use crate::rules::Rules;
use crate::ruleset::{RemovalScope, SetupMode};
use crate::squares::{Bits, Square, SquareSet};
use crate::symmetry::Symmetry;

pub use batch::{Targets, TrainingBatch};

/// Version of what a network sees and says: of [`PLANES`], [`SCALARS`] and [`rule_inputs`], and of where the policy speaks
/// of each action. To be raised with any change of these: weights and shards of another version are of no use.
pub const ENCODING_VERSION: u32 = 3;

/// Names of the binary planes, in order.
pub const PLANES: [&str; 18] = [
    "own men",
    "own dux",
    "enemy men",
    "enemy dux",
    "own bound pieces",
    "enemy bound pieces",
    "piece that may go on",
    "where the own shuttling piece came from",
    "where the own shuttling piece stands",
    "where the enemy shuttling piece came from",
    "where the enemy shuttling piece stands",
    "own pieces flanked now",
    "enemy pieces flanked now",
    "squares of the board",
    "own pieces that could be taken next",
    "enemy pieces that could be taken next",
    "where an own move would take",
    "where an enemy move would take",
];

/// Names of the position's scalars, in order; each in `[0, 1]`. Those of the ruleset follow them.
pub const SCALARS: [&str; 18] = [
    "placement phase",
    "own men in hand, of those at the start",
    "own dux in hand",
    "enemy men in hand, of those at the start",
    "enemy dux in hand",
    "stones left in the placement turn, of 8",
    "a continuation is under way",
    "a removal was made this turn",
    "quiet turns, of the limit",
    "turns played, of the cap",
    "the last turn was a pass",
    "own shuttle turns, of 6",
    "enemy shuttle turns, of 6",
    "the position has stood before",
    "own pieces on the board and in hand, of those at the start",
    "enemy pieces on the board and in hand, of those at the start",
    "nearness of the end without captures, 8 / (turns left + 8)",
    "nearness of the cap, 16 / (turns left + 16)",
];

/// Sizes of the input and of the policy for one board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Shape {
    /// Files, `W`.
    pub files: usize,
    /// Ranks, `H`.
    pub ranks: usize,
    /// Binary planes, `C`.
    pub planes: usize,
    /// Scalars of position and ruleset, `S`.
    pub scalars: usize,
}

impl Shape {
    /// Returns the shape for these rules.
    #[must_use]
    pub fn of(rules: &Rules) -> Shape {
        let scalars = SCALARS.len() + rule_inputs::count();
        Shape { files: rules.files(), ranks: rules.ranks(), planes: PLANES.len(), scalars }
    }

    /// Returns the number of squares, `A`.
    #[must_use]
    pub const fn area(&self) -> usize {
        self.files * self.ranks
    }

    /// Returns the length of a position's vector of policy logits: `A * A` moves by `from * A + to`, then per
    /// square: man placed, dux placed, end of a removed line, chosen victim; then stop, then pass, which also stands for
    /// the removal of all bound pieces where that is what a removal takes.
    #[must_use]
    pub const fn policy_len(&self) -> usize {
        self.area() * self.area() + 4 * self.area() + 2
    }
}

/// One position as a network sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct EncodedPosition {
    /// Binary planes, in the order of [`PLANES`].
    pub planes: [SquareSet; PLANES.len()],
    /// Scalars of the position, in the order of [`SCALARS`].
    pub scalars: [f32; SCALARS.len()],
}

/// Two places in a position's vector of policy logits, extended by one constant zero, the lower first; the logit of an
/// action is the sum of the two. The second is [`Shape::policy_len`], the zero, unless a victim was chosen or a line of
/// several pieces is removed.
pub type ActionIndices = [u32; 2];

/// Returns the symmetry that turns the board to the player to act.
fn turned(player: Player) -> Symmetry {
    Symmetry { mirror_ranks: player == Player::Second, ..Symmetry::IDENTITY }
}

/// Returns the places of an action with the lower first: their sum counts, and equal actions have equal places.
fn in_order([first, second]: ActionIndices) -> ActionIndices {
    [first.min(second), first.max(second)]
}

impl EncodedPosition {
    /// Encodes a position; `repetitions` is how often it has stood, as [`crate::GameState::repetitions`] says.
    #[must_use]
    pub fn new(rules: &Rules, position: &Position, repetitions: usize) -> EncodedPosition {
        let own = position.player_to_act();
        let enemy = own.opponent();
        let turn = |squares: SquareSet| rules.turn_squares(own, squares);
        let one = |square: Option<Square>| square.map_or(SquareSet::EMPTY, SquareSet::of);
        let shuttle = |player| position.shuttle(player);
        let flanked = |player: Player| rules.flanked_now(position, player);
        let (own_threats, enemy_threats) = (rules.threats(position, own), rules.threats(position, enemy));
        let planes = [
            position.men(own),
            one(position.dux(own)),
            position.men(enemy),
            one(position.dux(enemy)),
            position.bound() & position.stones(own),
            position.bound() & position.stones(enemy),
            one(position.continuation().map(|continuation| continuation.square)),
            one(shuttle(own).map(|shuttle| shuttle.from)),
            one(shuttle(own).map(|shuttle| shuttle.to)),
            one(shuttle(enemy).map(|shuttle| shuttle.from)),
            one(shuttle(enemy).map(|shuttle| shuttle.to)),
            flanked(own),
            flanked(enemy),
            rules.board(),
            enemy_threats.pieces,
            own_threats.pieces,
            own_threats.landings,
            enemy_threats.landings,
        ]
        .map(turn);
        let truth = |truth: bool| f32::from(u8::from(truth));
        let share = |count: f32, of: usize| if of == 0 { 0.0 } else { (count / of as f32).min(1.0) };
        let hand = |player| position.hand(player);
        let pieces = |player| position.stones(player).len() as f32 + f32::from(hand(player).stones());
        let left = |limit: u16, counter: u16| f32::from(limit.saturating_sub(counter));
        let end = &rules.ruleset().end;
        let scalars = [
            truth(position.phase() == Phase::Placement),
            share(hand(own).men.into(), rules.men_at_start(own)),
            hand(own).dux.into(),
            share(hand(enemy).men.into(), rules.men_at_start(enemy)),
            hand(enemy).dux.into(),
            share(position.group_left().into(), 8),
            truth(position.continuation().is_some()),
            truth(position.removed_this_turn()),
            share(position.quiet_turns().into(), end.quiet_limit.into()),
            share(position.turns().into(), end.max_plies.into()),
            truth(position.passes() > 0),
            share(shuttle(own).map_or(0, |shuttle| shuttle.moves).into(), 6),
            share(shuttle(enemy).map_or(0, |shuttle| shuttle.moves).into(), 6),
            truth(repetitions > 1),
            share(pieces(own), rules.pieces_at_start(own)),
            share(pieces(enemy), rules.pieces_at_start(enemy)),
            if end.quiet_limit == 0 { 0.0 } else { 8.0 / (left(end.quiet_limit, position.quiet_turns()) + 8.0) },
            16.0 / (left(end.max_plies, position.turns()) + 16.0),
        ];
        EncodedPosition { planes, scalars }
    }

    /// Returns the squares on which a piece stands.
    #[must_use]
    pub fn stones(&self) -> SquareSet {
        let [own_men, own_dux, enemy_men, enemy_dux, ..] = self.planes;
        own_men | own_dux | enemy_men | enemy_dux
    }

    /// Writes the planes as `[C, H, W]` f32, ranks from the player's own side up.
    ///
    /// # Panics
    /// When `values` does not have `C * H * W` entries.
    pub fn write_planes(&self, shape: &Shape, values: &mut [f32]) {
        assert_eq!(values.len(), shape.planes * shape.area(), "one entry per plane and square");
        values.fill(0.0);
        for (plane, squares) in values.chunks_exact_mut(shape.area()).zip(&self.planes) {
            for square in squares.iter() {
                plane[square.index()] = 1.0;
            }
        }
    }

    /// Appends the scalars of the position and those of the ruleset, `[S]`.
    pub fn extend_scalars(&self, rules: &Rules, values: &mut Vec<f32>) {
        values.extend_from_slice(&self.scalars);
        values.extend_from_slice(rules.rule_inputs());
    }

    /// Returns the image under one of [`Rules::augmentations`].
    #[must_use]
    pub fn mapped(&self, rules: &Rules, symmetry: Symmetry) -> EncodedPosition {
        let planes = self.planes.map(|plane| rules.map_squares(symmetry, plane));
        EncodedPosition { planes, scalars: self.scalars }
    }
}

impl Rules {
    /// Returns squares as `player` sees them: for the second player the ranks are mirrored.
    #[must_use]
    pub fn turn_squares(&self, player: Player, squares: SquareSet) -> SquareSet {
        if player == Player::First || squares.is_empty() {
            return squares;
        }
        let (files, ranks) = (self.files(), self.ranks());
        let mask = (1u64 << files) - 1;
        let mut turned = [0; 4];
        for rank in 0..ranks {
            // A rank may begin in one word and end in the next.
            let (from, to) = (rank * files, (ranks - 1 - rank) * files);
            let mut row = squares.0[from / 64] >> (from % 64);
            if from % 64 + files > 64 {
                row |= squares.0[from / 64 + 1] << (64 - from % 64);
            }
            row &= mask;
            turned[to / 64] |= row << (to % 64);
            if to % 64 + files > 64 {
                turned[to / 64 + 1] |= row >> (64 - to % 64);
            }
        }
        Bits(turned)
    }

    /// Returns `player`'s pieces that stand flanked now, bound or not: those that fall, or have walked in.
    fn flanked_now(&self, position: &Position, player: Player) -> SquareSet {
        match self.geometry.words {
            1 => self.held::<1>(position, player.opponent(), false).resize(),
            2 => self.held::<2>(position, player.opponent(), false).resize(),
            3 => self.held::<3>(position, player.opponent(), false).resize(),
            _ => self.held::<4>(position, player.opponent(), false),
        }
    }

    /// Returns where the policy speaks of an action that is legal at `position`, seen from the player to act.
    #[must_use]
    pub fn action_indices(&self, position: &Position, action: Action) -> ActionIndices {
        let symmetry = turned(position.player_to_act());
        let area = self.square_count();
        let at = |square: Square| self.map_square(symmetry, square).index();
        let squares = area * area;
        let none = squares + 4 * area + 2;
        let indices = match action.kind() {
            ActionKind::Move { from, to } => [at(from) * area + at(to), none],
            ActionKind::MoveTaking { from, to, victim } => [at(from) * area + at(to), squares + 3 * area + at(victim)],
            ActionKind::PlaceMan(square) => [squares + at(square), none],
            ActionKind::PlaceDux(square) => [squares + area + at(square), none],
            // Who may remove all bound pieces may not pass, so the two share a place that no mirroring moves.
            ActionKind::Remove { .. } if self.ruleset.capture.removal_scope == RemovalScope::All => {
                [squares + 4 * area + 1, none]
            }
            ActionKind::Remove { first, last } if first == last => [squares + 2 * area + at(first), none],
            ActionKind::Remove { first, last } => [first, last].map(|end| squares + 2 * area + at(end)),
            ActionKind::Stop => [squares + 4 * area, none],
            ActionKind::Pass => [squares + 4 * area + 1, none],
        };
        in_order(indices.map(|index| index as u32))
    }

    /// Returns the symmetries under which a position is as good an example as it is, the identity first: left and right,
    /// and where stones are placed also up and down. From an array nobody comes to stand on the other side, and what is
    /// learnt there would be of no use. Swapping files and ranks is left out.
    #[must_use]
    pub fn augmentations(&self) -> Vec<Symmetry> {
        let is_placed = self.ruleset.setup.mode == SetupMode::Placement;
        let serves = |symmetry: &Symmetry| !symmetry.transpose && (is_placed || !symmetry.mirror_ranks);
        self.symmetries().into_iter().filter(serves).collect()
    }

    /// Returns what [`Rules::action_indices`] would give on the board under one of [`Rules::augmentations`].
    #[must_use]
    pub fn mapped_indices(&self, symmetry: Symmetry, indices: ActionIndices) -> ActionIndices {
        in_order(indices.map(|index| self.mapped_index(symmetry, index)))
    }

    /// Returns the places of an action in the vector of policy logits as the other player sees it, who has the board
    /// turned.
    #[must_use]
    pub fn indices_for_opponent(&self, indices: ActionIndices) -> ActionIndices {
        self.mapped_indices(turned(Player::Second), indices)
    }

    /// Returns the place in the vector of policy logits of the same action on a board under `symmetry`.
    fn mapped_index(&self, symmetry: Symmetry, index: u32) -> u32 {
        let area = self.square_count() as u32;
        let map = |square: u32| self.map_square(symmetry, Square::from_index(square as usize)).index() as u32;
        if index < area * area {
            map(index / area) * area + map(index % area)
        } else if index < area * area + 4 * area {
            let square = (index - area * area) % area;
            index - square + map(square)
        } else {
            index
        }
    }

    /// Returns the material margin in `[-1, 1]` for `player`: pieces on the board and in hand, his minus
    /// the opponent's, of those that a side begins with.
    #[must_use]
    pub fn material_margin(&self, position: &Position, player: Player) -> f32 {
        let pieces = |player: Player| position.stones(player).len() as f32 + f32::from(position.hand(player).stones());
        let most = self.pieces_at_start(player).max(self.pieces_at_start(player.opponent())).max(1) as f32;
        ((pieces(player) - pieces(player.opponent())) / most).clamp(-1.0, 1.0)
    }
}

/// Bytes that one plane takes when packed, eight squares a byte, the first in the lowest bit.
#[must_use]
pub const fn packed_plane_len(area: usize) -> usize {
    area.div_ceil(8)
}

/// Appends a plane to `bytes`, eight squares a byte, the first in the lowest bit.
pub fn pack_plane(plane: SquareSet, area: usize, bytes: &mut Vec<u8>) {
    let all: Vec<u8> = plane.0.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.extend_from_slice(&all[..packed_plane_len(area)]);
}

/// Reads a plane that [`pack_plane`] wrote.
#[must_use]
pub fn unpack_plane(bytes: &[u8]) -> SquareSet {
    let mut words = [0u64; 4];
    for (index, &byte) in bytes.iter().take(32).enumerate() {
        words[index / 8] |= u64::from(byte) << (index % 8 * 8);
    }
    Bits(words)
}

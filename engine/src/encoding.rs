//! What a network sees of a position, and where its policy speaks of each action.
//!
//! Plain data, no tensors: binary planes as square sets, scalars, and indices into a vector of logits. The
//! board is seen from the player to act: planes named "own" and "enemy", and for the second player the
//! ranks mirrored, so that forward is always up. The policy's squares are mirrored in the same way.
//!
//! Legend: `B` positions, `C` planes, `S` scalars, `H` ranks, `W` files, `A = H * W` squares, `L` legal actions of
//! all positions of a batch.

use crate::action::{Action, ActionKind};
use crate::player::Player;
use crate::position::{Phase, Position};
use crate::rules::Rules;
use crate::squares::{Bits, Square, SquareSet};
use crate::symmetry::Symmetry;

/// Names of the binary planes, in order.
pub const PLANES: [&str; 14] = [
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
];

/// Names of the scalars, in order; each in `[0, 1]`.
pub const SCALARS: [&str; 14] = [
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
];

/// Sizes of the input and of the policy for one board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Files, `W`.
    pub files: usize,
    /// Ranks, `H`.
    pub ranks: usize,
    /// Binary planes, `C`.
    pub planes: usize,
    /// Scalars, `S`.
    pub scalars: usize,
}

impl Shape {
    /// Returns the shape for these rules.
    #[must_use]
    pub fn of(rules: &Rules) -> Shape {
        Shape { files: rules.files(), ranks: rules.ranks(), planes: PLANES.len(), scalars: SCALARS.len() }
    }

    /// Returns the number of squares, `A`.
    #[must_use]
    pub const fn area(&self) -> usize {
        self.files * self.ranks
    }

    /// Returns the length of a position's vector of policy logits: `A * A` moves by `from * A + to`, then per
    /// square: man placed, dux placed, first square of a removal, chosen victim; then stop, then pass.
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
    /// Scalars, in the order of [`SCALARS`].
    pub scalars: [f32; SCALARS.len()],
}

/// Two places in a position's vector of policy logits, extended by one constant zero; the logit of an
/// action is the sum of the two. The second is [`Shape::policy_len`], the zero, unless a victim was chosen.
pub type ActionIndices = [u32; 2];

/// Returns the symmetry that turns the board to the player to act.
fn turned(player: Player) -> Symmetry {
    Symmetry { mirror_ranks: player == Player::Second, ..Symmetry::IDENTITY }
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
        ]
        .map(turn);
        let truth = |truth: bool| f32::from(u8::from(truth));
        let share = |count: f32, of: usize| if of == 0 { 0.0 } else { (count / of as f32).min(1.0) };
        let hand = |player| position.hand(player);
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
        ];
        EncodedPosition { planes, scalars }
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

    /// Returns the left-right mirror image.
    #[must_use]
    pub fn mirrored(&self, rules: &Rules) -> EncodedPosition {
        let planes = self.planes.map(|plane| rules.map_squares(Symmetry::MIRROR, plane));
        EncodedPosition { planes, scalars: self.scalars }
    }
}

impl Rules {
    fn turn_squares(&self, player: Player, squares: SquareSet) -> SquareSet {
        match player {
            Player::First => squares,
            Player::Second => {
                let (files, ranks) = (self.files(), self.ranks());
                let mut turned = SquareSet::EMPTY;
                squares.each(|square| {
                    let (rank, file) = (square.index() / files, square.index() % files);
                    turned.insert(Square::from_index((ranks - 1 - rank) * files + file));
                });
                turned
            }
        }
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
            ActionKind::Remove { first, last } => [squares + 2 * area + at(first).min(at(last)), none],
            ActionKind::Stop => [squares + 4 * area, none],
            ActionKind::Pass => [squares + 4 * area + 1, none],
        };
        indices.map(|index| index as u32)
    }

    /// Returns what [`Rules::action_indices`] would give on the left-right mirrored board.
    #[must_use]
    pub fn mirrored_indices(&self, indices: ActionIndices) -> ActionIndices {
        let area = self.square_count() as u32;
        let mirror =
            |square: u32| self.map_square(Symmetry::MIRROR, Square::from_index(square as usize)).index() as u32;
        indices.map(|index| {
            if index < area * area {
                mirror(index / area) * area + mirror(index % area)
            } else if index < area * area + 4 * area {
                let square = (index - area * area) % area;
                index - square + mirror(square)
            } else {
                index
            }
        })
    }

    /// Returns the material margin in `[-1, 1]` for `player`: pieces on the board and in hand, his minus
    /// the opponent's, of those that a side begins with.
    #[must_use]
    pub fn material_margin(&self, position: &Position, player: Player) -> f32 {
        let pieces = |player: Player| position.stones(player).len() as f32 + f32::from(position.hand(player).stones());
        let start = Player::BOTH.map(|player| {
            let initial = self.initial_position();
            initial.stones(player).len() as f32 + f32::from(initial.hand(player).stones())
        });
        let most = start[0].max(start[1]).max(1.0);
        ((pieces(player) - pieces(player.opponent())) / most).clamp(-1.0, 1.0)
    }
}

/// Samples to train on, as plain vectors.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainingBatch {
    /// Sizes of the input and of the policy.
    pub shape: Shape,
    /// `[B, C, H, W]`, 0 or 1.
    pub planes: Vec<f32>,
    /// `[B, S]`, each in `[0, 1]`.
    pub scalars: Vec<f32>,
    /// `[B + 1]`: the legal actions of sample `b` are `action_offsets[b]..action_offsets[b + 1]` below.
    pub action_offsets: Vec<u32>,
    /// `[L]` places in the vector of policy logits.
    pub action_indices: Vec<ActionIndices>,
    /// `[L]` policy targets; the entries of one sample sum to 1.
    pub policy: Vec<f32>,
    /// `[B]` value targets: probabilities of win, draw and loss for the player to act.
    pub win_draw_loss: Vec<[f32; 3]>,
    /// `[B]` final material margin in `[-1, 1]` for the player to act.
    pub margin: Vec<f32>,
    /// `[B]` weights of the samples, at least 0.
    pub weights: Vec<f32>,
}

impl TrainingBatch {
    /// Returns an empty batch.
    #[must_use]
    pub fn new(shape: Shape) -> TrainingBatch {
        TrainingBatch {
            shape,
            planes: Vec::new(),
            scalars: Vec::new(),
            action_offsets: vec![0],
            action_indices: Vec::new(),
            policy: Vec::new(),
            win_draw_loss: Vec::new(),
            margin: Vec::new(),
            weights: Vec::new(),
        }
    }

    /// Returns the number of samples, `B`.
    #[must_use]
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Tells whether there are no samples.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// Adds a sample.
    ///
    /// # Panics
    /// When there is not one policy entry per action.
    pub fn push(
        &mut self,
        position: &EncodedPosition,
        actions: &[ActionIndices],
        policy: &[f32],
        win_draw_loss: [f32; 3],
        margin: f32,
        weight: f32,
    ) {
        assert_eq!(actions.len(), policy.len(), "one policy entry per action");
        let begin = self.planes.len();
        self.planes.resize(begin + self.shape.planes * self.shape.area(), 0.0);
        position.write_planes(&self.shape, &mut self.planes[begin..]);
        self.scalars.extend_from_slice(&position.scalars);
        self.action_indices.extend_from_slice(actions);
        self.policy.extend_from_slice(policy);
        self.action_offsets.push(self.action_indices.len() as u32);
        self.win_draw_loss.push(win_draw_loss);
        self.margin.push(margin);
        self.weights.push(weight);
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

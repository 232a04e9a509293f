//! What a network sees of a position: binary planes and scalars, those of the position and then those of the ruleset
//! ([`rule_inputs`]). It is seen from the player to act: his planes are "own", and for the second player the ranks are mirrored.

use std::sync::Arc;

use latrunculi_engine::{Bits, Phase, Player, Position, Rules, Square, SquareSet, Symmetry};
use serde::{Deserialize, Serialize};

use crate::rule_inputs;

/// Version of [`PLANES`], [`SCALARS`], [`rule_inputs`] and of the policy's indices. Raise it with any change of these:
/// weights and shards of another version are refused.
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
        Shape::board(rules.files(), rules.ranks())
    }

    /// Returns the shape for a board.
    #[must_use]
    pub fn board(files: usize, ranks: usize) -> Shape {
        Shape { files, ranks, planes: PLANES.len(), scalars: SCALARS.len() + rule_inputs::count() }
    }

    /// Returns the number of squares, `A`.
    #[must_use]
    pub const fn area(&self) -> usize {
        self.files * self.ranks
    }

    /// Returns the length of a position's vector of policy logits: `A * A` moves by `from * A + to`, then per square:
    /// man placed, dux placed, end of a removed line, chosen victim; then stop, then pass. Where a removal takes all
    /// bound pieces it shares the index of pass.
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

/// Features of positions under one ruleset; holds what depends on the rules alone.
#[derive(Clone, Debug)]
pub struct Encoder {
    rules: Arc<Rules>,
    shape: Shape,
    rule_inputs: Vec<f32>,
}

impl Encoder {
    /// Creates the encoder for these rules.
    #[must_use]
    pub fn new(rules: Arc<Rules>) -> Encoder {
        Encoder { shape: Shape::of(&rules), rule_inputs: rule_inputs::of(rules.ruleset()), rules }
    }

    /// Returns the rules.
    #[must_use]
    pub fn rules(&self) -> &Arc<Rules> {
        &self.rules
    }

    /// Returns the sizes of input and policy.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Returns the numbers of the ruleset, `[R]`.
    #[must_use]
    pub fn rule_inputs(&self) -> &[f32] {
        &self.rule_inputs
    }

    /// Appends the planes of a position as `[C, H, W]` f32, ranks from the player's own side up.
    pub fn extend_planes(&self, position: &EncodedPosition, values: &mut Vec<f32>) {
        position.planes.iter().for_each(|&plane| dense_plane(plane, self.shape.area(), values));
    }

    /// Appends the scalars of a position and those of the ruleset, `[S]`.
    pub fn extend_scalars(&self, position: &EncodedPosition, values: &mut Vec<f32>) {
        values.extend_from_slice(&position.scalars);
        values.extend_from_slice(&self.rule_inputs);
    }
}

/// Appends a plane as numbers, `[A]`.
pub(crate) fn dense_plane(plane: SquareSet, area: usize, values: &mut Vec<f32>) {
    let begin = values.len();
    values.resize(begin + area, 0.0);
    for square in plane.iter() {
        values[begin + square.index()] = 1.0;
    }
}

/// Names of the features, so that a model is not used with another encoding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EncodingNames {
    /// Names of the planes, in order.
    pub planes: Vec<String>,
    /// Names of the scalars, in order: those of the position, then those of the ruleset.
    pub scalars: Vec<String>,
}

impl Default for EncodingNames {
    /// Returns the names of this program's encoding.
    fn default() -> Self {
        let planes = PLANES.map(str::to_owned).to_vec();
        let scalars = SCALARS.into_iter().chain(rule_inputs::names()).map(str::to_owned).collect();
        EncodingNames { planes, scalars }
    }
}

impl EncodedPosition {
    /// Encodes a position; `repetitions` is how often it has stood, [`latrunculi_engine::GameState::repetitions`].
    #[must_use]
    pub fn new(rules: &Rules, position: &Position, repetitions: usize) -> EncodedPosition {
        EncodedPosition::seen_by(position.player_to_act(), rules, position, repetitions)
    }

    /// Encodes a position as [`EncodedPosition::new`] does, seen by `own`, whoever is to act.
    #[must_use]
    pub fn seen_by(own: Player, rules: &Rules, position: &Position, repetitions: usize) -> EncodedPosition {
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
        let fraction = |count: f32, of: usize| if of == 0 { 0.0 } else { (count / of as f32).min(1.0) };
        let hand = |player| position.hand(player);
        let pieces = |player| position.stones(player).len() as f32 + f32::from(hand(player).stones());
        let left = |limit: u16, counter: u16| f32::from(limit.saturating_sub(counter));
        let end = &rules.ruleset().end;
        let scalars = [
            truth(position.phase() == Phase::Placement),
            fraction(hand(own).men.into(), rules.men_at_start(own)),
            hand(own).dux.into(),
            fraction(hand(enemy).men.into(), rules.men_at_start(enemy)),
            hand(enemy).dux.into(),
            fraction(position.group_left().into(), 8),
            truth(position.continuation().is_some()),
            truth(position.removed_this_turn()),
            fraction(position.quiet_turns().into(), end.quiet_limit.into()),
            fraction(position.turns().into(), end.max_plies.into()),
            truth(position.passes() > 0),
            fraction(shuttle(own).map_or(0, |shuttle| shuttle.moves).into(), 6),
            fraction(shuttle(enemy).map_or(0, |shuttle| shuttle.moves).into(), 6),
            truth(repetitions > 1),
            fraction(pieces(own), rules.pieces_at_start(own)),
            fraction(pieces(enemy), rules.pieces_at_start(enemy)),
            if end.quiet_limit == 0 { 0.0 } else { 8.0 / (left(end.quiet_limit, position.quiet_turns()) + 8.0) },
            16.0 / (left(end.max_plies, position.turns()) + 16.0),
        ];
        EncodedPosition { planes, scalars }
    }

    /// Returns how much of the time to win in is left, in `[0, 1]`: the turns after the present one until the game ends without
    /// a further capture, at the quiet limit or the cap, as a fraction of as many as there can be. 0 before the last such
    /// turn; 1 where the rules have no quiet limit.
    #[must_use]
    pub fn time_left(&self, rules: &Rules) -> f32 {
        let end = &rules.ruleset().end;
        if end.quiet_limit == 0 {
            return 1.0;
        }
        let [_, _, _, _, _, _, _, _, quiet_turns, turns, ..] = self.scalars;
        let left = |limit: u16, part: f32| (f32::from(limit) * (1.0 - part)).round();
        let left = left(end.quiet_limit, quiet_turns).min(left(end.max_plies, turns));
        let most = f32::from(end.quiet_limit.min(end.max_plies));
        (left - 1.0).max(0.0) / (most - 1.0).max(1.0)
    }

    /// Returns the squares on which a piece stands.
    #[must_use]
    pub fn stones(&self) -> SquareSet {
        let [own_men, own_dux, enemy_men, enemy_dux, ..] = self.planes;
        own_men | own_dux | enemy_men | enemy_dux
    }

    /// Returns the image under one of the [`crate::policy_index::augmentations`].
    #[must_use]
    pub fn mapped(&self, rules: &Rules, symmetry: Symmetry) -> EncodedPosition {
        let planes = self.planes.map(|plane| rules.map_squares(symmetry, plane));
        EncodedPosition { planes, scalars: self.scalars }
    }
}

/// Bytes that one plane takes when packed, eight squares a byte, the first in the lowest bit.
#[must_use]
pub const fn packed_plane_len(area: usize) -> usize {
    area.div_ceil(8)
}

/// Appends a plane to `bytes`, eight squares a byte, the first in the lowest bit.
pub fn pack_plane(plane: SquareSet, area: usize, bytes: &mut Vec<u8>) {
    let all: Vec<u8> = plane.words().into_iter().flat_map(u64::to_le_bytes).collect();
    bytes.extend_from_slice(&all[..packed_plane_len(area)]);
}

/// Reads a plane that [`pack_plane`] wrote.
#[must_use]
pub fn unpack_plane(bytes: &[u8]) -> SquareSet {
    let mut words = [0u64; 4];
    for (index, &byte) in bytes.iter().take(32).enumerate() {
        words[index / 8] |= u64::from(byte) << (index % 8 * 8);
    }
    Bits::from_words(words)
}

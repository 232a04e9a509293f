//! The features that the evaluation counts in a position.

use latrunculi_engine::ruleset::{DuxCapture, EnclosureBy, EnclosureSides, Ruleset, SetupMode, StepDirections};
use latrunculi_engine::{Phase, Player, Position, Rules};

use super::board::{Board, EDGE, EMPTY, NOWHERE, Terrain, directions};

/// Declares the features in order, each with its name in data files.
macro_rules! features {
    ($($(#[$meta:meta])* $variant:ident = $name:literal,)+) => {
        /// Something counted for both sides; the evaluation weighs the first player's count less the second's.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Feature { $($(#[$meta])* $variant,)+ }

        impl Feature {
            /// Every feature, in the order of [`Counts`].
            pub const ALL: &'static [Feature] = &[$(Feature::$variant,)+];

            /// Returns the name used in data files.
            #[must_use]
            pub const fn name(self) -> &'static str {
                const NAMES: &[&str] = &[$($name,)+];
                NAMES[self as usize]
            }
        }

        /// The number of features.
        pub const FEATURE_COUNT: usize = [$($name,)+].len();
    };
}

features! {
    /// 1 for the player to act.
    ToAct = "to_act",
    /// Men, on the board and in hand.
    Men = "men",
    /// The dux, on the board or in hand.
    Dux = "dux",
    /// Lead in pieces in hundredths of all pieces: the side ahead profits from exchanges.
    Lead = "lead",
    /// Lead, times how close the sides have come, in hundredths of the board's length.
    Pursuit = "pursuit",
    /// Lead, times the enemy neighbours of pieces, by hundreds.
    Contact = "contact",
    /// Empty squares beside men that are not bound.
    Liberties = "liberties",
    /// Pieces with no empty square beside them.
    Immobile = "immobile",
    /// Empty squares in a straight line from men, where men slide.
    Reach = "reach",
    /// Men that the enemy could flank at once, with the enemy to act.
    AtRiskNow = "at_risk_now",
    /// Men that the enemy could flank if it were the enemy's turn.
    AtRiskLater = "at_risk_later",
    /// Men at risk less one, at least 0: a single threat can be parried.
    AtRiskMore = "at_risk_more",
    /// Men with an enemy on one side and nobody on the other.
    HalfFlanked = "half_flanked",
    /// A dux that is taken like a man and that the enemy could flank, with the enemy to act.
    DuxAtRiskNow = "dux_at_risk_now",
    /// The same if it were the enemy's turn.
    DuxAtRiskLater = "dux_at_risk_later",
    /// A dux that is taken by enclosure, with no side open.
    DuxOpenNone = "dux_open_none",
    /// With one side open.
    DuxOpenOne = "dux_open_one",
    /// With two sides open.
    DuxOpenTwo = "dux_open_two",
    /// With three sides open.
    DuxOpenThree = "dux_open_three",
    /// Enemies near the dux: `max(0, 5 - distance)`, summed.
    DuxHunted = "dux_hunted",
    /// Distance of the dux from the centre of the board, in half steps.
    DuxOutward = "dux_outward",
    /// Empty squares beside the dux.
    DuxLiberties = "dux_liberties",
    /// Bound men, where flanking binds.
    Bound = "bound",
    /// A bound dux.
    DuxBound = "dux_bound",
    /// Distance of men from the centre of the board, in half steps, summed.
    Outward = "outward",
    /// Men on the edge, corners apart.
    Edge = "edge",
    /// Men in corners.
    Corner = "corner",
    /// Ranks of men from their own side, where there is one: an array, or men that never step back.
    Advance = "advance",
    /// Own neighbours of men, orthogonal.
    Support = "support",
}

/// One number per [`Feature`]: the first player's count less the second's.
pub type Counts = [i32; FEATURE_COUNT];

/// The stages of a game; each has its own weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Stones are being placed.
    Placement,
    /// Pieces move; `many / 64` of the pieces of the start are left.
    Movement {
        /// 0 to 64.
        many: i32,
    },
}

/// Counts the features of positions of one ruleset.
#[derive(Clone, Debug)]
pub(super) struct Counter {
    pub(super) terrain: Terrain,
    pub(super) capture_directions: usize,
    pieces_at_start: i32,
    has_sides: bool,
    dux_capture: DuxCapture,
    enclosure_by: EnclosureBy,
    enclosure_needs_four: bool,
}

impl Counter {
    pub(super) fn new(rules: &Rules) -> Counter {
        let ruleset: &Ruleset = rules.ruleset();
        let start = rules.initial_position();
        Counter {
            terrain: Terrain::new(rules),
            capture_directions: directions(ruleset.capture.lines),
            pieces_at_start: Player::BOTH.map(|player| pieces(&start, player)).iter().sum::<i32>().max(1),
            has_sides: ruleset.setup.mode == SetupMode::Array || ruleset.man.step == StepDirections::ForwardSideways,
            dux_capture: ruleset.dux.capture,
            enclosure_by: ruleset.dux.enclosure_by,
            enclosure_needs_four: ruleset.dux.enclosure_sides == EnclosureSides::Four,
        }
    }

    pub(super) fn stage(&self, position: &Position) -> Stage {
        if position.phase() == Phase::Placement {
            return Stage::Placement;
        }
        let left: i32 = Player::BOTH.iter().map(|&player| pieces(position, player)).sum();
        Stage::Movement { many: 64 * left / self.pieces_at_start }
    }

    pub(super) fn count(&self, position: &Position) -> Counts {
        let board = Board::new(position);
        let mut counts = [0; FEATURE_COUNT];
        let first = self.count_side(position, &board, Player::First, &mut counts);
        counts.iter_mut().for_each(|count| *count = -*count);
        let second = self.count_side(position, &board, Player::Second, &mut counts);
        counts.iter_mut().for_each(|count| *count = -*count);
        let lead = 100 * (first.pieces - second.pieces) / (first.pieces + second.pieces).max(1);
        counts[Feature::ToAct as usize] = if position.player_to_act() == Player::First { 1 } else { -1 };
        counts[Feature::Lead as usize] = lead;
        counts[Feature::Contact as usize] = lead * (first.contacts + second.contacts) / 100;
        counts[Feature::Pursuit as usize] = lead * self.closeness(&first, &second) / 100;
        counts
    }

    /// Adds `player`'s counts.
    fn count_side(&self, position: &Position, board: &Board, player: Player, counts: &mut Counts) -> Side {
        let terrain = &self.terrain;
        let (own, enemy) = (player.number(), player.opponent().number());
        let (dux, enemy_dux) = (board.dux(player), board.dux(player.opponent()));
        let bound = position.bound();
        let hand = position.hand(player);
        let is_first = player == Player::First;
        let mut side = Side::default();
        let (mut men, mut liberties, mut immobile, mut reach, mut half_flanked) = (0, 0, 0, 0, 0);
        let (mut bound_men, mut outward, mut edge, mut corner, mut advance, mut support) = (0, 0, 0, 0, 0, 0);
        let (mut at_risk, mut hunting) = (0, 0);
        let mut dux_at_risk = false;
        for square in position.stones(player).iter() {
            let at = square.index() as u16;
            let place = &terrain.places[square.index()];
            let is_dux = at == dux;
            side.files += place.file;
            side.ranks += place.rank;
            side.stones += 1;
            if enemy_dux != NOWHERE {
                hunting += (5 - terrain.distance(at, enemy_dux)).max(0);
            }
            let mut owners = [0; 4];
            for &neighbour in &place.neighbours[..terrain.move_directions] {
                owners[usize::from(board.owner(neighbour))] += 1;
            }
            let free = owners[usize::from(EMPTY)];
            side.contacts += owners[usize::from(enemy)];
            if is_dux {
                counts[Feature::DuxOutward as usize] += place.outwardness;
                counts[Feature::DuxLiberties as usize] += free;
                counts[Feature::DuxBound as usize] += i32::from(bound.contains(square));
            } else {
                men += 1;
                outward += place.outwardness;
                edge += i32::from(place.is_edge);
                corner += i32::from(place.is_corner);
                advance += if is_first { place.rank } else { terrain.ranks - 1 - place.rank };
                support += owners[usize::from(own)];
            }
            if bound.contains(square) {
                bound_men += i32::from(!is_dux);
                continue;
            }
            immobile += i32::from(free == 0);
            if !is_dux {
                liberties += free;
                if terrain.slides {
                    reach += (0..terrain.move_directions).map(|way| terrain.ray(board, at, way)).sum::<i32>();
                }
            }
            if !is_dux || self.dux_capture == DuxCapture::AsMan {
                let threat = self.threat(board, player, &place.neighbours);
                half_flanked += i32::from(!is_dux && threat != Threat::None);
                at_risk += i32::from(!is_dux && threat == Threat::Next);
                dux_at_risk |= is_dux && threat == Threat::Next;
            }
        }
        side.pieces = pieces(position, player);
        let enemy_acts = position.player_to_act() != player;
        counts[Feature::Men as usize] += men + i32::from(hand.men);
        counts[Feature::Dux as usize] += i32::from(dux != NOWHERE) + i32::from(hand.dux);
        counts[Feature::Liberties as usize] += liberties;
        counts[Feature::Immobile as usize] += immobile;
        counts[Feature::Reach as usize] += reach;
        counts[if enemy_acts { Feature::AtRiskNow } else { Feature::AtRiskLater } as usize] += at_risk;
        counts[Feature::AtRiskMore as usize] += (at_risk - 1).max(0);
        counts[Feature::HalfFlanked as usize] += half_flanked;
        let dux_risk = if enemy_acts { Feature::DuxAtRiskNow } else { Feature::DuxAtRiskLater };
        counts[dux_risk as usize] += i32::from(dux_at_risk);
        // Counted against the side whose dux is hunted.
        counts[Feature::DuxHunted as usize] -= hunting;
        counts[Feature::Bound as usize] += bound_men;
        counts[Feature::Outward as usize] += outward;
        counts[Feature::Edge as usize] += edge;
        counts[Feature::Corner as usize] += corner;
        counts[Feature::Advance as usize] += if self.has_sides { advance } else { 0 };
        counts[Feature::Support as usize] += support;
        if dux != NOWHERE && self.dux_capture == DuxCapture::Enclosure {
            let open = self.open_sides(board, player, dux);
            if open < 4 {
                counts[Feature::DuxOpenNone as usize + open] += 1;
            }
        }
        side
    }

    /// Returns how close the centres of the two sides are, from 0 (farthest) to 100 (equal).
    fn closeness(&self, first: &Side, second: &Side) -> i32 {
        if first.stones == 0 || second.stones == 0 {
            return 0;
        }
        // Sixteenths of a square from the centre of the board, so that a mirrored position gives the same.
        let middle = |sum: i32, length: i32, count: i32| 8 * (2 * sum - (length - 1) * count) / count;
        let (width, height) = (self.terrain.files, self.terrain.ranks);
        let files = middle(first.files, width, first.stones) - middle(second.files, width, second.stones);
        let ranks = middle(first.ranks, height, first.stones) - middle(second.ranks, height, second.stones);
        100 - 100 * (files.abs() + ranks.abs()) / (16 * self.terrain.span)
    }

    /// Tells how close the enemy is to flanking a piece with these neighbours: an enemy on one side, the other side
    /// empty, and perhaps in the enemy's reach.
    fn threat(&self, board: &Board, player: Player, neighbours: &[u16; 8]) -> Threat {
        let enemy = player.opponent().number();
        let mut threat = Threat::None;
        for axis in 0..self.capture_directions / 2 {
            let (one, other) = (neighbours[axis * 2], neighbours[axis * 2 + 1]);
            let gap = match (board.owner(one), board.owner(other)) {
                (owner, EMPTY) if owner == enemy => other,
                (EMPTY, owner) if owner == enemy => one,
                _ => continue,
            };
            if self.terrain.is_in_reach(board, player.opponent(), gap) {
                return Threat::Next;
            }
            threat = Threat::Half;
        }
        threat
    }

    /// Counts the sides of `player`'s dux on `square` that are not yet closed; 4 where it cannot be enclosed.
    fn open_sides(&self, board: &Board, player: Player, square: u16) -> usize {
        let mut open = 0;
        for direction in 0..4 {
            let owner = board.owner(self.terrain.neighbour(square, direction));
            let is_closed = match owner {
                EDGE if self.enclosure_needs_four => return 4,
                EDGE => true,
                EMPTY => false,
                _ => self.enclosure_by == EnclosureBy::Any || owner == player.opponent().number(),
            };
            open += usize::from(!is_closed);
        }
        open
    }
}

/// Sums over one side.
#[derive(Default)]
struct Side {
    pieces: i32,
    stones: i32,
    files: i32,
    ranks: i32,
    contacts: i32,
}

/// How close a piece is to being flanked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Threat {
    None,
    /// An enemy on one side, the other side empty.
    Half,
    /// The same, and the empty side is in the enemy's reach.
    Next,
}

/// Counts `player`'s pieces, on the board and in hand.
fn pieces(position: &Position, player: Player) -> i32 {
    position.stones(player).len() as i32 + i32::from(position.hand(player).stones())
}

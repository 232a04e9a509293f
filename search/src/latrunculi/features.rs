//! The features that the evaluation counts in a position.

use latrunculi_engine::ruleset::{DuxCapture, EnclosureBy, EnclosureSides, Ruleset, SetupMode, StepDirections};
use latrunculi_engine::{Bits, Phase, Player, Position, Rules, Square, each_direction, named};

use super::board::{NOWHERE, Stones, Terrain, by_words, count, directions};

named! {
    /// Something counted for both sides, with its name in data files; the evaluation weighs the first player's count less the second's.
    pub Feature {
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
}

/// The number of features.
pub const FEATURE_COUNT: usize = Feature::ALL.len();

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
        by_words!(self.terrain, self.count_both(position))
    }

    fn count_both<const N: usize>(&self, position: &Position) -> Counts {
        let stones: Stones<N> = self.terrain.stones(position);
        let mut counts = [0; FEATURE_COUNT];
        let first = self.count_side(position, &stones, Player::First, &mut counts);
        counts.iter_mut().for_each(|count| *count = -*count);
        let second = self.count_side(position, &stones, Player::Second, &mut counts);
        counts.iter_mut().for_each(|count| *count = -*count);
        let lead = 100 * (first.pieces - second.pieces) / (first.pieces + second.pieces).max(1);
        counts[Feature::ToAct as usize] = if position.player_to_act() == Player::First { 1 } else { -1 };
        counts[Feature::Lead as usize] = lead;
        counts[Feature::Contact as usize] = lead * (first.contacts + second.contacts) / 100;
        counts[Feature::Pursuit as usize] = lead * self.closeness(&first, &second) / 100;
        counts
    }

    fn count_side<const N: usize>(
        &self,
        position: &Position,
        stones: &Stones<N>,
        player: Player,
        counts: &mut Counts,
    ) -> Side {
        let terrain = &self.terrain;
        let Stones { shifts, owned, empty } = stones;
        let (own, enemy) = (owned[player.index()], owned[player.opponent().index()]);
        let dux: Bits<N> = position.dux(player).map_or(Bits::EMPTY, Bits::of);
        let bound: Bits<N> = position.bound().resize();
        let (men, free) = (own & !dux, own & !bound);
        let free_men = men & free;
        let (mut contacts, mut support, mut liberties, mut dux_liberties, mut reach) = (0, 0, 0, 0, 0);
        let mut beside_empty = Bits::EMPTY;
        each_direction(terrain.move_directions, |direction| {
            contacts += count(shifts.step(own, direction) & enemy);
            support += count(shifts.step(men, direction) & own);
            dux_liberties += count(shifts.step(dux, direction) & *empty);
            beside_empty |= shifts.step(*empty, direction);
            let mut ray = shifts.step(free_men, direction) & *empty;
            liberties += count(ray);
            while terrain.slides && !ray.is_empty() {
                reach += count(ray);
                ray = shifts.step(ray, direction) & *empty;
            }
        });
        // Pieces that are flanked from one side, and those of them whose other side is in the enemy's reach.
        let (mut half_flanked, mut at_risk) = (Bits::EMPTY, Bits::EMPTY);
        let in_reach = terrain.in_reach(stones, player.opponent());
        each_direction(self.capture_directions, |direction| {
            let before_enemy = shifts.step(enemy, direction ^ 1);
            half_flanked |= before_enemy & shifts.step(*empty, direction);
            at_risk |= before_enemy & shifts.step(in_reach, direction);
        });
        let men_at_risk = count(at_risk & free_men);
        let dux_at_risk = self.dux_capture == DuxCapture::AsMan && !(at_risk & free & dux).is_empty();
        let hand = position.hand(player);
        let enemy_acts = position.player_to_act() != player;
        counts[Feature::Men as usize] += count(men) + i32::from(hand.men);
        counts[Feature::Dux as usize] += count(dux) + i32::from(hand.dux);
        counts[Feature::Liberties as usize] += liberties;
        counts[Feature::Immobile as usize] += count(free & !beside_empty);
        counts[Feature::Reach as usize] += reach;
        counts[if enemy_acts { Feature::AtRiskNow } else { Feature::AtRiskLater } as usize] += men_at_risk;
        counts[Feature::AtRiskMore as usize] += (men_at_risk - 1).max(0);
        counts[Feature::HalfFlanked as usize] += count(half_flanked & free_men);
        let dux_risk = if enemy_acts { Feature::DuxAtRiskNow } else { Feature::DuxAtRiskLater };
        counts[dux_risk as usize] += i32::from(dux_at_risk);
        if let Some(hunted) = position.dux(player.opponent()) {
            // Counted against the side whose dux is hunted.
            counts[Feature::DuxHunted as usize] -= terrain.hunting(own, hunted);
        }
        counts[Feature::Bound as usize] += count(men & bound);
        counts[Feature::Outward as usize] += terrain.outwardness.sum(men);
        counts[Feature::Edge as usize] += count(men & terrain.edge.resize());
        counts[Feature::Corner as usize] += count(men & terrain.corners.resize());
        if self.has_sides {
            let ranks = terrain.rank.sum(men);
            counts[Feature::Advance as usize] += match player {
                Player::First => ranks,
                Player::Second => (terrain.ranks - 1) * count(men) - ranks,
            };
        }
        counts[Feature::Support as usize] += support;
        if let Some(square) = position.dux(player) {
            counts[Feature::DuxOutward as usize] += terrain.places[square.index()].outwardness;
            counts[Feature::DuxLiberties as usize] += dux_liberties;
            counts[Feature::DuxBound as usize] += count(dux & bound);
            if self.dux_capture == DuxCapture::Enclosure {
                let open = self.open_sides(position, player, square);
                if open < 4 {
                    counts[Feature::DuxOpenNone as usize + open] += 1;
                }
            }
        }
        Side {
            pieces: pieces(position, player),
            stones: count(own),
            files: terrain.file.sum(own),
            ranks: terrain.rank.sum(own),
            contacts,
        }
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

    /// Counts the sides of `player`'s dux on `square` that are not yet closed; 4 where it cannot be enclosed.
    fn open_sides(&self, position: &Position, player: Player, square: Square) -> usize {
        let sides = &self.terrain.places[square.index()].neighbours[..4];
        let on_board = || sides.iter().filter(|&&side| side != NOWHERE).map(|&side| Square::from_index(side.into()));
        if self.enclosure_needs_four && on_board().count() < 4 {
            return 4;
        }
        let enemy = position.stones(player.opponent());
        let closing = match self.enclosure_by {
            EnclosureBy::Any => enemy | position.stones(player),
            EnclosureBy::Enemy => enemy,
        };
        on_board().filter(|&side| !closing.contains(side)).count()
    }
}

/// Sums over one side.
struct Side {
    pieces: i32,
    stones: i32,
    files: i32,
    ranks: i32,
    contacts: i32,
}

/// Counts `player`'s pieces, on the board and in hand.
fn pieces(position: &Position, player: Player) -> i32 {
    position.stones(player).len() as i32 + i32::from(position.hand(player).stones())
}

//! Keys of the incremental position hash (Zobrist 1970, "A new hashing method with application for game playing"). They
//! come from a fixed generator: the same in every build, so that they may be stored.

use crate::player::Player;
use crate::position::{Hand, Piece};
use crate::squares::{SQUARES_MAX, Square};

/// The splitmix64 finaliser. Source: Steele, Lea, Flood 2014, "Fast splittable pseudorandom number
/// generators", section 4.
const fn mix(seed: u64) -> u64 {
    let mut z = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

const fn table<const N: usize>(stream: u64) -> [u64; N] {
    let mut keys = [0; N];
    let mut index = 0;
    while index < N {
        keys[index] = mix(stream << 32 | index as u64);
        index += 1;
    }
    keys
}

static STONES: [[u64; SQUARES_MAX]; 4] = [table(1), table(2), table(3), table(4)];
static BOUND: [u64; SQUARES_MAX] = table(5);
static CONTINUATION: [u64; SQUARES_MAX] = table(6);

/// Toggled while a removal has been made and the move is still due.
pub(crate) const REMOVED_THIS_TURN: u64 = mix(7 << 32);

#[inline(always)]
pub(crate) fn stone(player: Player, piece: Piece, square: Square) -> u64 {
    STONES[player.index() * 2 + piece as usize][square.index()]
}

#[inline(always)]
pub(crate) fn bound(square: Square) -> u64 {
    BOUND[square.index()]
}

#[inline(always)]
pub(crate) const fn to_act(player: Player) -> u64 {
    const SECOND: u64 = mix(8 << 32);
    match player {
        Player::First => 0,
        Player::Second => SECOND,
    }
}

#[inline(always)]
pub(crate) fn continuation(square: Square, moves_made: u8) -> u64 {
    CONTINUATION[square.index()].wrapping_add(u64::from(moves_made) << 1)
}

pub(crate) fn placement(hands: [Hand; 2], group_left: u8) -> u64 {
    let [first, second] = hands;
    let counts = [first.men, first.dux, second.men, second.dux, group_left];
    mix(9 << 56 | counts.iter().fold(0, |all, &count| all << 8 | u64::from(count)))
}

/// Mixes a counter into a key, for hashes that cover more than the position.
#[inline]
pub(crate) const fn with_counter(key: u64, stream: u64, value: u64) -> u64 {
    key ^ mix((stream + 16) << 48 ^ value)
}

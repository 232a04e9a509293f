//! Numbers that look random from numbers that count.

/// Spreads the bits of a number over 64, so that neighbouring numbers give unrelated ones.
/// Source: Steele, Lea and Flood 2014 (SplitMix64).
#[must_use]
pub fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

//! Kernels for processors with AMX, on Linux.
//!
//! Sixteen positions are computed together: they are the sixteen rows of a tile. Activations lie as `[square][block of
//! channels][16 positions][channels of the block]`, so that a tap of a 3x3 convolution is the tile of the neighbouring
//! square, and taps beyond the board are left out.

mod bf16;
mod convolution;
mod gradient;
mod int8;
mod map;
mod parts;
mod products;
mod tiles;

use std::sync::LazyLock;

pub(crate) use bf16::{Buffers as Bf16Buffers, Network as Bf16Network};
pub(crate) use gradient::{Buffers as GradientBuffers, CHUNK, Network as GradientNetwork};
pub(crate) use int8::{Buffers as Int8Buffers, Network as Int8Network};

/// Tells whether this processor and system have AMX with bfloat16 and 8-bit integers, and AVX-512 with bfloat16.
pub(crate) fn is_available() -> bool {
    static HAS: LazyLock<bool> = LazyLock::new(|| {
        is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512bf16")
            && tiles::request()
    });
    *HAS
}

/// Rounds to bfloat16, ties to even.
fn bf16(value: f32) -> u16 {
    let bits = value.to_bits();
    ((bits + 0x7fff + (bits >> 16 & 1)) >> 16) as u16
}

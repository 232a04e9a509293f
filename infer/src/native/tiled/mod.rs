//! Kernels of tiles, 16 by 16 sums at a time, on AMX or AVX-512, for sixteen positions together: the rows of a tile.
//! Activations lie as `[square][block of channels][16 positions][channels of the block]`; taps beyond the board are left out.

mod aligned;
mod amx;
mod avx512;
mod bf16;
mod convolution;
mod gradient;
mod int8;
mod map;
mod parts;
mod products;
mod unit;

use std::sync::LazyLock;

pub(crate) use bf16::{Buffers as Bf16Buffers, Network as Bf16Network};
pub(crate) use gradient::{Buffers as GradientBuffers, CHUNK, Network as GradientNetwork};
pub(crate) use int8::{Buffers as Int8Buffers, Network as Int8Network};

use crate::kernel::Unit;

/// Tells whether this processor and system have a unit. AMX is used together with AVX-512.
pub(crate) fn is_available(unit: Unit) -> bool {
    static AVX512: LazyLock<bool> = LazyLock::new(avx512::is_available);
    static AMX: LazyLock<bool> = LazyLock::new(|| *AVX512 && amx::request());
    match unit {
        Unit::Avx512 => *AVX512,
        Unit::Amx => *AMX,
    }
}

/// Computes `$body` with `$unit`, a new unit of the kind `$kind`.
/// Panics when this processor or system does not have it.
macro_rules! with_unit {
    ($kind:expr, $unit:ident => $body:expr) => {{
        assert!($kind.is_available(), "a network of this kernel is made where the processor has it");
        match $kind {
            crate::kernel::Unit::Avx512 => {
                // SAFETY: it is available.
                let $unit = &mut unsafe { crate::native::tiled::avx512::Avx512::new() };
                $body
            }
            crate::kernel::Unit::Amx => {
                // SAFETY: it is available.
                let $unit = &mut unsafe { crate::native::tiled::amx::Amx::new() };
                $body
            }
        }
    }};
}
use with_unit;

/// Rounds to bfloat16, ties to even.
fn bf16(value: f32) -> u16 {
    let bits = value.to_bits();
    ((bits + 0x7fff + (bits >> 16 & 1)) >> 16) as u16
}

//! The tile registers of AMX. The compiler keeps nothing in them: their content lasts from one `asm!` to the next.

use std::arch::asm;

use super::aligned::{Element, TILE};
use super::convolution::{Arithmetic, Epilogue, SUMS, StripInput};
use super::unit::TileUnit;

/// Tells whether the processor has tiles of bfloat16 and of 8-bit integers, and asks the system for their use.
#[cfg(target_os = "linux")]
pub(super) fn request() -> bool {
    const ARCH_REQ_XCOMP_PERM: libc::c_int = 0x1023;
    const TILE_DATA: libc::c_ulong = 18;
    let leaf = std::arch::x86_64::__cpuid_count(7, 0);
    let has = |bit: u32| leaf.edx >> bit & 1 == 1;
    if !(has(22) && has(24) && has(25)) {
        return false;
    }
    // SAFETY: the call asks for a permission of this process; it reads and writes no memory of ours.
    unsafe { libc::syscall(libc::SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, TILE_DATA) == 0 }
}

/// Only on Linux is known how to ask for their use.
#[cfg(not(target_os = "linux"))]
pub(super) fn request() -> bool {
    false
}

/// The tile registers of this thread while they are configured: eight tiles of 16 rows of 64 bytes.
pub(super) struct Amx(());

impl Amx {
    /// Configures the tiles.
    /// Safety: [`request`] has returned true in this process.
    pub(super) unsafe fn new() -> Amx {
        #[repr(C, align(64))]
        struct Config([u8; 64]);
        let mut config = Config([0; 64]);
        config.0[0] = 1;
        for tile in 0..8 {
            config.0[16 + 2 * tile] = 64;
            config.0[48 + tile] = 16;
        }
        // SAFETY: the instruction is there (contract) and reads the 64 bytes of `config`.
        unsafe { asm!("ldtilecfg [{}]", in(reg) &raw const config, options(nostack, readonly, preserves_flags)) };
        Amx(())
    }
}

impl Drop for Amx {
    fn drop(&mut self) {
        // SAFETY: the instruction is there, as the tiles were configured; it clears registers that nobody reads after.
        unsafe { asm!("tilerelease", options(nostack, nomem, preserves_flags)) };
    }
}

impl TileUnit for Amx {
    #[inline(always)]
    unsafe fn load<const T: usize, E: Element>(&mut self, rows: *const E, stride: usize) {
        // SAFETY: contract of this function; the tiles are configured as long as `self` lives, here and below.
        unsafe {
            asm!("tileloadd tmm{t}, [{p} + {s}*1]", t = const T, p = in(reg) rows, s = in(reg) stride,
                options(nostack, readonly, preserves_flags));
        }
    }

    #[inline(always)]
    unsafe fn load_sums<const T: usize, E: Element>(&mut self, rows: *const E, stride: usize) {
        // SAFETY: contract of this function.
        unsafe { self.load::<T, E>(rows, stride) };
    }

    #[inline(always)]
    unsafe fn store_sums<const T: usize, E: Element>(&mut self, rows: *mut E, stride: usize) {
        // SAFETY: contract of this function.
        unsafe {
            asm!("tilestored [{p} + {s}*1], tmm{t}", t = const T, p = in(reg) rows, s = in(reg) stride,
                options(nostack, preserves_flags));
        }
    }

    #[inline(always)]
    unsafe fn zero<const T: usize>(&mut self) {
        // SAFETY: contract of this function.
        unsafe { asm!("tilezero tmm{t}", t = const T, options(nostack, nomem, preserves_flags)) };
    }

    #[inline(always)]
    unsafe fn multiply_bf16<const C: usize, const A: usize, const B: usize>(&mut self) {
        // SAFETY: contract of this function.
        unsafe {
            asm!("tdpbf16ps tmm{c}, tmm{a}, tmm{b}", c = const C, a = const A, b = const B,
                options(nostack, nomem, preserves_flags));
        }
    }

    #[inline(always)]
    unsafe fn multiply_u8_i8<const C: usize, const A: usize, const B: usize>(&mut self) {
        // SAFETY: contract of this function.
        unsafe {
            asm!("tdpbusd tmm{c}, tmm{a}, tmm{b}", c = const C, a = const A, b = const B,
                options(nostack, nomem, preserves_flags));
        }
    }

    /// Tiles 0 to 3 hold the sums of the squares; tile 4 holds inputs, tiles 5 to 7 the weights of three neighbouring taps,
    /// so that each input tile is loaded once for the up to three sums that it belongs to. The vector units would be idle
    /// between the products: there the pending epilogue is done.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
    unsafe fn strip<A: Arithmetic, E: Epilogue, const W: usize>(
        &mut self,
        strip: &StripInput,
        pending: &mut Option<E>,
    ) {
        let StripInput { bias, bias_stride, .. } = *strip;
        macro_rules! begin {
            ($sum:literal) => {
                if A::BEGINS_WITH_BIAS { self.load_sums::<$sum, f32>(bias, bias_stride) } else { self.zero::<$sum>() }
            };
        }
        // SAFETY: contract of this function.
        unsafe {
            begin!(0);
            if W > 1 {
                begin!(1);
            }
            if W > 2 {
                begin!(2);
            }
            if W > 3 {
                begin!(3);
            }
        }
        let next = strip.blocks * TILE;
        for tap in strip.taps[0]..strip.taps[1] {
            for block in 0..strip.blocks {
                let weights = strip.weights.wrapping_add((tap * strip.blocks + block) * 3 * TILE);
                let rank = strip.input.wrapping_add(tap * strip.rank_bytes).wrapping_sub(strip.rank_bytes);
                let input = rank.wrapping_add(block * TILE);
                // A product and a part of the pending epilogue.
                macro_rules! product {
                    ($sum:literal, $weight:literal) => {
                        A::multiply::<Amx, $sum, 4, $weight>(self);
                        if let Some(epilogue) = pending
                            && epilogue.left() > 0
                        {
                            epilogue.two_rows();
                        }
                    };
                }
                // SAFETY: contract of this function; a square's neighbour is loaded where it is on the board.
                unsafe {
                    self.load::<5, u8>(weights, 64);
                    self.load::<6, u8>(weights.wrapping_add(TILE), 64);
                    self.load::<7, u8>(weights.wrapping_add(2 * TILE), 64);
                    if strip.has_left {
                        self.load::<4, u8>(input.wrapping_sub(next), 64);
                        product!(0, 5);
                    }
                    self.load::<4, u8>(input, 64);
                    product!(0, 6);
                    if W > 1 {
                        product!(1, 5);
                        self.load::<4, u8>(input.wrapping_add(next), 64);
                        product!(0, 7);
                        product!(1, 6);
                    }
                    if W > 2 {
                        product!(2, 5);
                        self.load::<4, u8>(input.wrapping_add(2 * next), 64);
                        product!(1, 7);
                        product!(2, 6);
                    }
                    if W > 3 {
                        product!(3, 5);
                        self.load::<4, u8>(input.wrapping_add(3 * next), 64);
                        product!(2, 7);
                        product!(3, 6);
                    }
                    if strip.has_right {
                        self.load::<4, u8>(input.wrapping_add(W * next), 64);
                        match W {
                            1 => {
                                product!(0, 7);
                            }
                            2 => {
                                product!(1, 7);
                            }
                            3 => {
                                product!(2, 7);
                            }
                            _ => {
                                product!(3, 7);
                            }
                        }
                    }
                }
            }
        }
        // SAFETY: contract of this function.
        unsafe {
            self.store_sums::<0, f32>(strip.sums, 64);
            if W > 1 {
                self.store_sums::<1, f32>(strip.sums.wrapping_add(SUMS), 64);
            }
            if W > 2 {
                self.store_sums::<2, f32>(strip.sums.wrapping_add(2 * SUMS), 64);
            }
            if W > 3 {
                self.store_sums::<3, f32>(strip.sums.wrapping_add(3 * SUMS), 64);
            }
        }
    }
}

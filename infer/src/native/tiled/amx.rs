//! The tile registers of AMX.
//!
//! The compiler keeps nothing in tile registers, so that their content lasts from one `asm!` to the next.

use std::arch::asm;

use super::aligned::Element;
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
    ///
    /// # Safety
    /// [`request`] has returned true in this process.
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
}

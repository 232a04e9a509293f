//! The tile instructions of AMX, and memory for tiles.
//!
//! A tile has 16 rows of 64 bytes. The compiler keeps nothing in tile registers, so that their content lasts from one
//! `asm!` to the next.

use std::arch::asm;

/// Bytes of a tile.
pub(super) const TILE: usize = 1024;

/// A row of a tile, aligned to a line of the cache.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Line([u8; 64]);

/// A number that tiles and vectors hold: any bits are a value, and there is no padding.
pub(super) trait Element: Copy {}
impl Element for f32 {}
impl Element for i32 {}
impl Element for u16 {}
impl Element for u8 {}
impl Element for i8 {}

/// Numbers, aligned to lines of the cache and filled up with zeros to whole lines.
#[derive(Clone, Debug)]
pub(super) struct Aligned<T> {
    lines: Vec<Line>,
    len: usize,
    element: std::marker::PhantomData<T>,
}

impl<T: Element> Aligned<T> {
    /// Makes `len` zeros.
    pub(super) fn zeros(len: usize) -> Aligned<T> {
        let lines = vec![Line([0; 64]); (len * size_of::<T>()).div_ceil(64)];
        Aligned { lines, len, element: std::marker::PhantomData }
    }

    /// Returns all of it as bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        // SAFETY: the elements lie in the lines, without padding, and live as long as `self`.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.len * size_of::<T>()) }
    }
}

impl<T: Element> std::ops::Deref for Aligned<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the lines hold at least `len` elements, are aligned to more than an element needs, live as long as
        // `self`, and any bits are a value of an `Element`.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.len) }
    }
}

impl<T: Element> std::ops::DerefMut for Aligned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`; `self` is borrowed for writing.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.len) }
    }
}

/// Tells whether the processor has tiles of bfloat16 and of 8-bit integers, and asks the system for their use.
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

/// The tile registers of this thread while they are configured: eight tiles of 16 rows of 64 bytes.
pub(super) struct Configured(());

impl Configured {
    /// Configures the tiles.
    ///
    /// # Safety
    /// [`request`] has returned true in this process.
    pub(super) unsafe fn new() -> Configured {
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
        Configured(())
    }
}

impl Drop for Configured {
    fn drop(&mut self) {
        // SAFETY: the instruction is there, as the tiles were configured; it clears registers that nobody reads after.
        unsafe { asm!("tilerelease", options(nostack, nomem, preserves_flags)) };
    }
}

/// Loads tile `T` from 16 rows of 64 bytes that begin `stride` bytes apart.
///
/// # Safety
/// The tiles are configured, and all 16 rows can be read.
#[inline(always)]
pub(super) unsafe fn load<const T: u8, E: Element>(rows: *const E, stride: usize) {
    // SAFETY: contract of this function.
    unsafe {
        asm!("tileloadd tmm{t}, [{p} + {s}*1]", t = const T, p = in(reg) rows, s = in(reg) stride,
            options(nostack, readonly, preserves_flags));
    }
}

/// Stores tile `T` to 16 rows of 64 bytes that begin `stride` bytes apart.
///
/// # Safety
/// The tiles are configured, and all 16 rows can be written.
#[inline(always)]
pub(super) unsafe fn store<const T: u8, E: Element>(rows: *mut E, stride: usize) {
    // SAFETY: contract of this function.
    unsafe {
        asm!("tilestored [{p} + {s}*1], tmm{t}", t = const T, p = in(reg) rows, s = in(reg) stride,
            options(nostack, preserves_flags));
    }
}

/// Fills tile `T` with zeros.
///
/// # Safety
/// The tiles are configured.
#[inline(always)]
pub(super) unsafe fn zero<const T: u8>() {
    // SAFETY: contract of this function.
    unsafe { asm!("tilezero tmm{t}", t = const T, options(nostack, nomem, preserves_flags)) };
}

/// Adds the product of `A` (16 rows of 32 bf16) and `B` (32 by 16 bf16, pairs of rows together) to `C` (16 by 16 f32).
///
/// # Safety
/// The tiles are configured.
#[inline(always)]
pub(super) unsafe fn multiply_bf16<const C: u8, const A: u8, const B: u8>() {
    // SAFETY: contract of this function.
    unsafe {
        asm!("tdpbf16ps tmm{c}, tmm{a}, tmm{b}", c = const C, a = const A, b = const B,
            options(nostack, nomem, preserves_flags));
    }
}

/// Adds the product of `A` (16 rows of 64 u8) and `B` (64 by 16 i8, fours of rows together) to `C` (16 by 16 i32).
///
/// # Safety
/// The tiles are configured.
#[inline(always)]
pub(super) unsafe fn multiply_u8_i8<const C: u8, const A: u8, const B: u8>() {
    // SAFETY: contract of this function.
    unsafe {
        asm!("tdpbusd tmm{c}, tmm{a}, tmm{b}", c = const C, a = const A, b = const B,
            options(nostack, nomem, preserves_flags));
    }
}

//! Tiles as memory, multiplied by the vectors of AVX-512.

use std::arch::x86_64::*;

use super::aligned::{Element, TILE};
use super::convolution::{Arithmetic, Bf16, Epilogue, Int8, SUMS, StripInput};
use super::unit::TileUnit;

/// Tells whether this processor has AVX-512 with products of bfloat16 and of 8-bit integers.
pub(super) fn is_available() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512bf16")
        && is_x86_feature_detected!("avx512vnni")
}

/// The sums, and where the factors are.
pub(super) struct Avx512 {
    sums: [[__m512i; 16]; 6],
    /// The first row, and the bytes from one row to the next.
    factors: [(*const u8, usize); 8],
}

impl Avx512 {
    /// Makes sums of zero.
    /// Safety: [`is_available`] is true.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
    pub(super) unsafe fn new() -> Avx512 {
        Avx512 { sums: [[_mm512_setzero_si512(); 16]; 6], factors: [(std::ptr::null(), 0); 8] }
    }

    /// Adds to the sums `C`, row by row.
    /// Safety: as [`TileUnit::multiply_bf16`].
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
    unsafe fn multiply<A: Arithmetic>(&mut self, sums: usize, [a, b]: [usize; 2]) {
        let ((a, stride), (b, _)) = (self.factors[a], self.factors[b]);
        let mut rows = self.sums[sums];
        for inner in 0..16 {
            // SAFETY: the contract: sixteen rows of 64 bytes can be read from both.
            unsafe {
                let of_b = _mm512_loadu_si512(b.wrapping_add(64 * inner).cast());
                for (row, sum) in rows.iter_mut().enumerate() {
                    *sum = A::add_product(*sum, four_bytes(a.wrapping_add(row * stride + 4 * inner)), of_b);
                }
            }
        }
        self.sums[sums] = rows;
    }
}

/// Loads four bytes into all lanes.
/// Safety: they can be read.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
unsafe fn four_bytes(bytes: *const u8) -> __m512i {
    // SAFETY: contract of this function.
    _mm512_set1_epi32(unsafe { bytes.cast::<i32>().read_unaligned() })
}

/// Computes the strip for all sixteen positions, `ROWS` at a time: their sums stay in registers, and four bytes of an input
/// are loaded once for the up to three squares that they belong to.
/// Safety: as [`TileUnit::strip`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
unsafe fn strip_by_rows<A: Arithmetic, const W: usize, const ROWS: usize>(strip: &StripInput) {
    let next = strip.blocks * TILE;
    for first in (0..16).step_by(ROWS) {
        let mut sums = [[_mm512_setzero_si512(); W]; ROWS];
        if A::BEGINS_WITH_BIAS {
            for (row, sums) in sums.iter_mut().enumerate() {
                let bias = strip.bias.cast::<u8>().wrapping_add((first + row) * strip.bias_stride);
                // SAFETY: contract of this function.
                *sums = [unsafe { _mm512_loadu_si512(bias.cast()) }; W];
            }
        }
        for tap in strip.taps[0]..strip.taps[1] {
            for block in 0..strip.blocks {
                let weights = strip.weights.wrapping_add((tap * strip.blocks + block) * 3 * TILE);
                let rank = strip.input.wrapping_add(tap * strip.rank_bytes).wrapping_sub(strip.rank_bytes);
                let input = rank.wrapping_add(block * TILE + first * 64);
                for inner in 0..16 {
                    // SAFETY: contract of this function; a square's neighbour is loaded where it is on the board.
                    unsafe {
                        let [left, middle, right] = [0, 1, 2]
                            .map(|file| _mm512_loadu_si512(weights.wrapping_add(file * TILE + 64 * inner).cast()));
                        for (row, sums) in sums.iter_mut().enumerate() {
                            let place = input.wrapping_add(64 * row + 4 * inner);
                            if strip.has_left {
                                sums[0] = A::add_product(sums[0], four_bytes(place.wrapping_sub(next)), left);
                            }
                            for square in 0..W {
                                let input = four_bytes(place.wrapping_add(square * next));
                                if square > 0 {
                                    sums[square - 1] = A::add_product(sums[square - 1], input, right);
                                }
                                sums[square] = A::add_product(sums[square], input, middle);
                                if square + 1 < W {
                                    sums[square + 1] = A::add_product(sums[square + 1], input, left);
                                }
                            }
                            if strip.has_right {
                                let input = four_bytes(place.wrapping_add(W * next));
                                sums[W - 1] = A::add_product(sums[W - 1], input, right);
                            }
                        }
                    }
                }
            }
        }
        for (row, sums) in sums.iter().enumerate() {
            for (square, &sums) in sums.iter().enumerate() {
                // SAFETY: contract of this function: there are `W` tiles of sums.
                unsafe {
                    _mm512_storeu_si512(strip.sums.wrapping_add(square * SUMS + (first + row) * 16).cast(), sums)
                };
            }
        }
    }
}

impl TileUnit for Avx512 {
    #[inline(always)]
    unsafe fn load<const T: usize, E: Element>(&mut self, rows: *const E, stride: usize) {
        self.factors[T] = (rows.cast(), stride);
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
    unsafe fn load_sums<const T: usize, E: Element>(&mut self, rows: *const E, stride: usize) {
        for (row, sum) in self.sums[T].iter_mut().enumerate() {
            // SAFETY: contract of this function.
            *sum = unsafe { _mm512_loadu_si512(rows.cast::<u8>().wrapping_add(row * stride).cast()) };
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
    unsafe fn store_sums<const T: usize, E: Element>(&mut self, rows: *mut E, stride: usize) {
        for (row, &sum) in self.sums[T].iter().enumerate() {
            // SAFETY: contract of this function.
            unsafe { _mm512_storeu_si512(rows.cast::<u8>().wrapping_add(row * stride).cast(), sum) };
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
    unsafe fn zero<const T: usize>(&mut self) {
        self.sums[T] = [_mm512_setzero_si512(); 16];
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
    unsafe fn multiply_bf16<const C: usize, const A: usize, const B: usize>(&mut self) {
        // SAFETY: contract of this function.
        unsafe { self.multiply::<Bf16>(C, [A, B]) }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
    unsafe fn multiply_u8_i8<const C: usize, const A: usize, const B: usize>(&mut self) {
        // SAFETY: contract of this function.
        unsafe { self.multiply::<Int8>(C, [A, B]) }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
    unsafe fn strip<A: Arithmetic, E: Epilogue, const W: usize>(&mut self, strip: &StripInput, _: &mut Option<E>) {
        // SAFETY: contract of this function. Twelve or sixteen sums stay in registers.
        unsafe {
            match W {
                1 => strip_by_rows::<A, W, 16>(strip),
                2 => strip_by_rows::<A, W, 8>(strip),
                _ => strip_by_rows::<A, W, 4>(strip),
            }
        }
    }
}

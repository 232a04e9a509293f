//! Tiles as memory, multiplied by the vectors of AVX-512.

use std::arch::x86_64::*;

use super::aligned::Element;
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
    ///
    /// # Safety
    /// [`is_available`] is true.
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
    pub(super) unsafe fn new() -> Avx512 {
        Avx512 { sums: [[_mm512_setzero_si512(); 16]; 6], factors: [(std::ptr::null(), 0); 8] }
    }

    /// Adds to the sums `C`, row by row: `product(sum, four bytes of a row of A in all lanes, a row of B)`.
    ///
    /// # Safety
    /// As [`TileUnit::multiply_bf16`].
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
    unsafe fn multiply(
        &mut self,
        sums: usize,
        [a, b]: [usize; 2],
        product: impl Fn(__m512i, __m512i, __m512i) -> __m512i,
    ) {
        let ((a, stride), (b, _)) = (self.factors[a], self.factors[b]);
        let mut rows = self.sums[sums];
        for inner in 0..16 {
            // SAFETY: the contract: sixteen rows of 64 bytes can be read from both.
            unsafe {
                let of_b = _mm512_loadu_si512(b.wrapping_add(64 * inner).cast());
                for (row, sum) in rows.iter_mut().enumerate() {
                    let of_a = a.wrapping_add(row * stride + 4 * inner).cast::<i32>().read_unaligned();
                    *sum = product(*sum, _mm512_set1_epi32(of_a), of_b);
                }
            }
        }
        self.sums[sums] = rows;
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
        let product = |sum: __m512i, a: __m512i, b: __m512i| {
            // SAFETY: a vector of bfloat16 is one of 512 bits.
            let [a, b] = unsafe { [a, b].map(|factor| std::mem::transmute::<__m512i, __m512bh>(factor)) };
            _mm512_castps_si512(_mm512_dpbf16_ps(_mm512_castsi512_ps(sum), a, b))
        };
        // SAFETY: contract of this function.
        unsafe { self.multiply(C, [A, B], product) }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,avx512vnni")]
    unsafe fn multiply_u8_i8<const C: usize, const A: usize, const B: usize>(&mut self) {
        // SAFETY: contract of this function.
        unsafe { self.multiply(C, [A, B], |sum, a, b| _mm512_dpbusd_epi32(sum, a, b)) }
    }
}

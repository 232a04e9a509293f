//! Sixteen floats that are computed at once. Loops over arrays do not reliably become vector instructions, so that on x86-64
//! these are named. The arithmetic is the same everywhere: a product is added in one rounding.

pub(crate) const LANES: usize = 16;

/// Begins to load the vector that lies `distance` vectors behind `values`, if there is one.
#[inline(always)]
pub(crate) fn prefetch(values: &[f32; LANES], distance: usize) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: an address that cannot be read is passed over.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(values.as_ptr().wrapping_add(distance * LANES).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (values, distance);
}

#[cfg(all(target_arch = "x86_64", target_feature = "avx2", target_feature = "fma"))]
mod implementation {
    use std::arch::x86_64::*;

    use super::LANES;

    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Lanes([__m256; 2]);

    impl Lanes {
        #[inline(always)]
        pub(crate) fn all(value: f32) -> Lanes {
            // SAFETY: the program is compiled for processors with AVX2 (condition of this module).
            Lanes([unsafe { _mm256_set1_ps(value) }; 2])
        }

        #[inline(always)]
        pub(crate) fn load(values: &[f32; LANES]) -> Lanes {
            let begin = values.as_ptr();
            // SAFETY: sixteen floats are read from `values`; AVX2 as above.
            Lanes(unsafe { [_mm256_loadu_ps(begin), _mm256_loadu_ps(begin.wrapping_add(8))] })
        }

        #[inline(always)]
        pub(crate) fn store(self, values: &mut [f32; LANES]) {
            let begin = values.as_mut_ptr();
            // SAFETY: sixteen floats are written to `values`; AVX2 as above.
            unsafe {
                _mm256_storeu_ps(begin, self.0[0]);
                _mm256_storeu_ps(begin.wrapping_add(8), self.0[1]);
            }
        }

        /// Returns `self + factor * values`, rounded once.
        #[inline(always)]
        pub(crate) fn add_product(self, factor: Lanes, values: Lanes) -> Lanes {
            // SAFETY: the program is compiled for processors with FMA (condition of this module).
            Lanes(std::array::from_fn(|half| unsafe { _mm256_fmadd_ps(factor.0[half], values.0[half], self.0[half]) }))
        }

        #[inline(always)]
        pub(crate) fn add(self, other: Lanes) -> Lanes {
            // SAFETY: AVX2 as above.
            Lanes(std::array::from_fn(|half| unsafe { _mm256_add_ps(self.0[half], other.0[half]) }))
        }

        #[inline(always)]
        pub(crate) fn max(self, other: Lanes) -> Lanes {
            // SAFETY: AVX2 as above.
            Lanes(std::array::from_fn(|half| unsafe { _mm256_max_ps(self.0[half], other.0[half]) }))
        }

        /// Returns 0 where `other` is not above 0.
        #[inline(always)]
        pub(crate) fn masked(self, other: Lanes) -> Lanes {
            // SAFETY: AVX2 as above.
            Lanes(std::array::from_fn(|half| unsafe {
                _mm256_and_ps(self.0[half], _mm256_cmp_ps::<_CMP_GT_OQ>(other.0[half], _mm256_setzero_ps()))
            }))
        }

        #[inline(always)]
        pub(crate) fn sum(self) -> f32 {
            // SAFETY: AVX2 as above.
            unsafe {
                let eight = _mm256_add_ps(self.0[0], self.0[1]);
                let four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps::<1>(eight));
                let two = _mm_add_ps(four, _mm_movehl_ps(four, four));
                _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)))
            }
        }
    }
}

#[cfg(not(all(target_arch = "x86_64", target_feature = "avx2", target_feature = "fma")))]
mod implementation {
    use super::LANES;

    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Lanes([f32; LANES]);

    impl Lanes {
        #[inline(always)]
        pub(crate) fn all(value: f32) -> Lanes {
            Lanes([value; LANES])
        }

        #[inline(always)]
        pub(crate) fn load(values: &[f32; LANES]) -> Lanes {
            Lanes(*values)
        }

        #[inline(always)]
        pub(crate) fn store(self, values: &mut [f32; LANES]) {
            *values = self.0;
        }

        #[inline(always)]
        pub(crate) fn add_product(self, factor: Lanes, values: Lanes) -> Lanes {
            Lanes(std::array::from_fn(|lane| factor.0[lane].mul_add(values.0[lane], self.0[lane])))
        }

        #[inline(always)]
        pub(crate) fn add(self, other: Lanes) -> Lanes {
            Lanes(std::array::from_fn(|lane| self.0[lane] + other.0[lane]))
        }

        #[inline(always)]
        pub(crate) fn max(self, other: Lanes) -> Lanes {
            Lanes(std::array::from_fn(|lane| self.0[lane].max(other.0[lane])))
        }

        #[inline(always)]
        pub(crate) fn masked(self, other: Lanes) -> Lanes {
            Lanes(std::array::from_fn(|lane| if other.0[lane] > 0.0 { self.0[lane] } else { 0.0 }))
        }

        #[inline(always)]
        pub(crate) fn sum(self) -> f32 {
            let eight: [f32; 8] = std::array::from_fn(|lane| self.0[lane] + self.0[lane + 8]);
            let four: [f32; 4] = std::array::from_fn(|lane| eight[lane] + eight[lane + 4]);
            (four[0] + four[2]) + (four[1] + four[3])
        }
    }
}

pub(crate) use implementation::Lanes;

//! Sums over vectors of `f32`, in a form that the compiler turns into vector instructions.

use crate::native::lanes::LANES;

/// Adds `values` to `sums`.
pub(super) fn add(sums: &mut [f32], values: &[f32]) {
    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
}

/// Adds `factor` times `values` to `sums`.
#[inline(always)]
pub(crate) fn add_product(sums: &mut [f32], factor: f32, values: &[f32]) {
    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum = factor.mul_add(*value, *sum));
}

/// Returns `e` to the power of `x`, for `x` of at most 0; below -87 that of -87, 2e-38. The relative error is below 3e-7.
/// Source: Moshier, Cephes Mathematical Library, `expf`: the polynomial.
#[inline(always)]
fn exp(x: f32) -> f32 {
    let x = x.max(-87.0);
    // The number of halvings, found by its place among the lowest bits of a large float.
    const LARGE: f32 = 12_582_912.0;
    let shifted = x.mul_add(std::f32::consts::LOG2_E, LARGE);
    let power = shifted - LARGE;
    let rest = power.mul_add(-0.693_359_4, x);
    let rest = power.mul_add(2.121_944_4e-4, rest);
    let mut sum = 1.987_569_1e-4_f32;
    for term in [1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 0.166_666_66, 0.5] {
        sum = sum.mul_add(rest, term);
    }
    let sum = sum.mul_add(rest * rest, rest) + 1.0;
    let scale = f32::from_bits((shifted.to_bits() << 23).wrapping_add(127 << 23));
    sum * scale
}

/// Replaces logits by their softmax, and returns the logarithm of the sum of their powers.
#[inline(always)]
pub(super) fn softmax(values: &mut [f32]) -> f32 {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let greatest = chunks.iter().fold([f32::NEG_INFINITY; LANES], |greatest, chunk| {
        std::array::from_fn(|lane| if chunk[lane] > greatest[lane] { chunk[lane] } else { greatest[lane] })
    });
    let greatest = greatest.iter().chain(rest).fold(f32::NEG_INFINITY, |greatest, &value| greatest.max(value));
    let mut sums = [0.0_f32; LANES];
    let (chunks, rest) = values.as_chunks_mut::<LANES>();
    for chunk in chunks {
        for (value, sum) in chunk.iter_mut().zip(&mut sums) {
            *value = exp(*value - greatest);
            *sum += *value;
        }
    }
    let mut sum = sums.iter().sum::<f32>();
    for value in rest {
        *value = exp(*value - greatest);
        sum += *value;
    }
    let scale = 1.0 / sum;
    values.iter_mut().for_each(|value| *value *= scale);
    greatest + sum.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_those_of_the_standard_library() {
        for step in 0..8_700 {
            let x = -(step as f32) / 100.0;
            let (found, expected) = (f64::from(exp(x)), f64::from(x).exp());
            assert!((found - expected).abs() <= 3e-7 * expected + 1e-37, "{x}: {found} and {expected}");
        }
    }

    #[test]
    fn softmax_sums_to_one_and_keeps_differences() {
        let logits: Vec<f32> = (0..37).map(|index| (index * 17 % 23) as f32 * 3.0 - 40.0).collect();
        let mut values = logits.clone();
        let log_sum = softmax(&mut values);
        assert!((values.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        for (value, logit) in values.iter().zip(&logits) {
            assert!((value - (logit - log_sum).exp()).abs() < 1e-5, "{value} of {logit}");
        }
    }
}

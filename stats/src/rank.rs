//! Rank correlation.

/// Returns Kendall's `τ_b = (C − D)/√((P − T₁)(P − T₂))` of paired values, in `[-1, 1]`.
/// `C` and `D` count the concordant and discordant pairs of positions, `P` all pairs, and `T₁`, `T₂` the pairs tied
/// in each list. `None` when all values of a list are tied.
/// Panics when the lists differ in length.
/// Source: Kendall 1945, Biometrika 33, 239-251.
#[must_use]
pub fn kendall_tau(one: &[f64], other: &[f64]) -> Option<f64> {
    assert_eq!(one.len(), other.len(), "values come in pairs");
    let (mut sum, mut ordered_by_one, mut ordered_by_other) = (0.0, 0.0, 0.0);
    for later in 0..one.len() {
        for earlier in 0..later {
            let sign = |values: &[f64]| {
                let difference = values[later] - values[earlier];
                if difference == 0.0 { 0.0 } else { difference.signum() }
            };
            let (a, b) = (sign(one), sign(other));
            sum += a * b;
            ordered_by_one += a * a;
            ordered_by_other += b * b;
        }
    }
    let scale: f64 = ordered_by_one * ordered_by_other;
    (scale > 0.0).then(|| sum / scale.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tau_is_that_of_the_textbook() {
        assert_eq!(kendall_tau(&[1.0, 2.0, 3.0], &[10.0, 20.0, 30.0]), Some(1.0));
        assert_eq!(kendall_tau(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]), Some(-1.0));
        // Two rankings of ten with 35 pairs alike and 10 contrary.
        let other = [3.0, 1.0, 4.0, 2.0, 6.0, 5.0, 9.0, 10.0, 8.0, 7.0];
        let one: Vec<f64> = (1..=10).map(f64::from).collect();
        let contrary = 3.0 + 1.0 + 5.0;
        assert!((kendall_tau(&one, &other).unwrap() - (45.0 - 2.0 * contrary) / 45.0).abs() < 1e-12);
    }

    #[test]
    fn ties_are_taken_out_of_the_scale() {
        // Of six pairs five are alike, and the first list does not order one.
        let tau = kendall_tau(&[1.0, 1.0, 2.0, 3.0], &[1.0, 2.0, 3.0, 4.0]).unwrap();
        assert!((tau - 5.0 / 30f64.sqrt()).abs() < 1e-12);
        assert_eq!(kendall_tau(&[1.0, 1.0], &[1.0, 2.0]), None);
        assert_eq!(kendall_tau(&[], &[]), None);
    }
}

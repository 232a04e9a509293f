//! The sequential test against fastchess's own examples.

use latrunculi_stats::sprt::SprtVerdict;
use latrunculi_stats::{Pentanomial, Sprt, SprtBounds};

use crate::assert_near;
use crate::vectors::{at, list};

/// References are printed to six decimals.
const REFERENCE_TOLERANCE: f64 = 1e-6;

#[test]
fn likelihood_ratios_are_those_of_fastchess() {
    for vector in list("llr", 2) {
        let source: String = at(&vector, "/src");
        let [elo0, elo1, reference, published] = ["/elo0", "/elo1", "/ref", "/published"].map(|name| at(&vector, name));
        let sprt = Sprt { elo0, elo1, bounds: SprtBounds::new(0.05, 0.05).unwrap() };
        let (found, verdict) = sprt.test(Pentanomial { counts: at(&vector, "/counts") }).unwrap();
        assert_near(&source, found, reference, REFERENCE_TOLERANCE);
        assert_near(&source, found, published, 0.01);
        let expected = match found {
            ratio if ratio >= 2.944_439 => SprtVerdict::AcceptH1,
            ratio if ratio <= -2.944_439 => SprtVerdict::AcceptH0,
            _ => SprtVerdict::Continue,
        };
        assert_eq!(verdict, expected, "{source}");
    }
}

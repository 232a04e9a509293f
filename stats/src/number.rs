//! Numbers as text.

use std::fmt;

/// A number that is shown as its format says, but without the minus sign where nothing is left of it: -0.04 with one digit
/// after the point is 0.0.
#[derive(Clone, Copy, Debug)]
pub struct Number(pub f64);

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_nothing = match f.precision() {
            Some(digits) => format!("{:.digits$}", self.0.abs()).bytes().all(|letter| matches!(letter, b'0' | b'.')),
            None => self.0 == 0.0,
        };
        fmt::Display::fmt(&if is_nothing { 0.0 } else { self.0 }, f)
    }
}

#[cfg(test)]
mod tests {
    use super::Number;
    use crate::Interval;

    #[test]
    fn nothing_has_no_minus_sign() {
        let shown =
            [-0.0, -0.04, -0.05, 0.04, -1.25].map(|value| format!("{:.1} {:+6.1}", Number(value), Number(value)));
        assert_eq!(shown, ["0.0   +0.0", "0.0   +0.0", "-0.1   -0.1", "0.0   +0.0", "-1.2   -1.2"]);
        let interval = Interval { lower: -0.04, upper: 0.52 }.percent();
        assert_eq!(format!("{interval:+.0} {interval:5.1}"), "[-4, +52] [ -4.0,  52.0]");
        assert_eq!(format!("{} {} {:.0}", Number(-0.0), Number(-1e-300), Number(-0.5)), format!("0 {} 0", -1e-300));
    }
}

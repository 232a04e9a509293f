//! The heads of the network that have a loss, in the order in which their losses and weights stand everywhere.

/// How many there are.
pub const COUNT: usize = 6;
/// Their names: in metrics, and with `_weight` in configurations.
pub const NAMES: [&str; COUNT] = ["policy", "value", "margin", "survival", "opponent_policy", "moves_left"];

/// Cross-entropy of the policy to its target.
pub const POLICY: usize = 0;
/// Cross-entropy of win, draw, loss to their target.
pub const VALUE: usize = 1;
/// Squared error of the final margin.
pub const MARGIN: usize = 2;
/// Cross-entropy of the survival of a piece, mean over the pieces of a position. It and those after it exist in training
/// alone.
pub const SURVIVAL: usize = 3;
/// Cross-entropy of the opponent's next decision to its target, over the positions where it is known.
pub const OPPONENT_POLICY: usize = 4;
/// Squared error of `ln(1 + turns left)`.
pub const MOVES_LEFT: usize = 5;

/// Numbers of the heads in files: each under its name, 0 where it is missing.
pub(crate) mod by_name {
    use std::collections::HashMap;

    use serde::{Deserialize, Deserializer, Serializer};
    use serde_json::Value;

    use super::{COUNT, NAMES};

    pub(crate) fn serialize<S: Serializer>(numbers: &[f64; COUNT], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(NAMES.into_iter().zip(numbers))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[f64; COUNT], D::Error> {
        let found = HashMap::<String, Value>::deserialize(deserializer)?;
        Ok(NAMES.map(|name| found.get(name).and_then(Value::as_f64).unwrap_or_default()))
    }
}

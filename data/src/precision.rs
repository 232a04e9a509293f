//! The precision of the trunk.

use std::fmt;

use latrunculi_engine::named;
use serde::{Deserialize, Deserializer, Serialize};

named! {
    /// The precision of the trunk, in play and in training. Weights in files, heads and optimiser are always 32 bits.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub Precision as "precision" {
        /// In play the fewest bits whose answers agree with those in 32 bits; in a search by itself 16 with AMX, else 32, the
        /// fastest then. In training 16 bits where the processor multiplies them itself, and on a GPU; else 32.
        #[default]
        Auto = "auto",
        /// 32 bits.
        F32 = "f32",
        /// 16 bits (bfloat16).
        Bf16 = "bf16",
        /// In play alone, on a processor with AMX, or AVX-512 with bf16 and VNNI: 8-bit integers.
        Int8 = "int8",
    }
}

/// How far the answers in fewer bits differ from those in 32 bits, mean over positions; infinite where an answer is not
/// finite.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PrecisionDifference {
    /// Total variation distance of the policies over the legal actions, in `[0, 1]`.
    #[serde(deserialize_with = "number_or_infinity")]
    pub policy: f64,
    /// Absolute difference of the expected results (win minus loss), in `[0, 2]`.
    #[serde(deserialize_with = "number_or_infinity")]
    pub value: f64,
}

/// Reads a number; JSON has `null` for infinity.
fn number_or_infinity<'de, D: Deserializer<'de>>(number: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(number)?.unwrap_or(f64::INFINITY))
}

impl PrecisionDifference {
    /// Largest mean difference, of the policy and of the value, with which fewer bits are used.
    const MAX: f64 = 0.03;

    /// Tells whether the fewer bits are exact enough.
    #[must_use]
    pub fn is_small(&self) -> bool {
        self.policy <= PrecisionDifference::MAX && self.value <= PrecisionDifference::MAX
    }
}

impl fmt::Display for PrecisionDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PrecisionDifference { policy, value } = self;
        write!(f, "policy {policy:.4}, value {value:.4}, allowed {}", PrecisionDifference::MAX)
    }
}

/// Tells whether this processor has instructions that multiply bfloat16 numbers.
#[must_use]
pub fn cpu_has_bf16() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        std::arch::is_x86_feature_detected!("avx512bf16")
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}

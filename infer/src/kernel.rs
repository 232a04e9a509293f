//! The kernels, and which of them this processor has.

use std::fmt;
use std::str::FromStr;

use latrunculi_data::Error;

use crate::native::tiled;

/// Positions that the kernels of these units compute together: a batch of 17 takes as long as one of 32.
pub const GROUP: usize = 16;

/// What of a processor multiplies tiles of 16 by 16 sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// The vectors of AVX-512, with products of bfloat16 and of 8-bit integers (VNNI).
    Avx512,
    /// The tile registers of AMX.
    Amx,
}

impl Unit {
    /// All units, the slower first.
    pub const ALL: [Unit; 2] = [Unit::Avx512, Unit::Amx];

    /// Returns the fastest that this processor and system have, or if they have none, the slowest.
    #[must_use]
    pub fn best() -> Unit {
        if Unit::Amx.is_available() { Unit::Amx } else { Unit::Avx512 }
    }

    /// Tells whether this processor and system have it.
    #[must_use]
    pub fn is_available(self) -> bool {
        tiled::is_available(self)
    }
}

/// How the arithmetic is done. The same kernel gives the same answers on every processor that has it; different
/// kernels differ by rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kernel {
    /// 32-bit floats, in plain Rust, on every processor.
    F32,
    /// 16-bit floats (bfloat16), sums in 32 bits.
    Bf16(Unit),
    /// 8-bit integers in the trunk; its sums, stem and heads in 16- and 32-bit floats.
    Int8(Unit),
}

impl Kernel {
    /// All kernels, the most exact first.
    pub const ALL: [Kernel; 5] = [
        Kernel::F32,
        Kernel::Bf16(Unit::Avx512),
        Kernel::Bf16(Unit::Amx),
        Kernel::Int8(Unit::Avx512),
        Kernel::Int8(Unit::Amx),
    ];

    /// Returns its name, which belongs to what makes a game repeatable.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Kernel::F32 => "f32-winograd",
            Kernel::Bf16(Unit::Avx512) => "bf16-avx512",
            Kernel::Bf16(Unit::Amx) => "bf16-amx",
            Kernel::Int8(Unit::Avx512) => "int8-avx512",
            Kernel::Int8(Unit::Amx) => "int8-amx",
        }
    }

    /// Returns how many positions it computes together: up to so many take as long as one.
    #[must_use]
    pub const fn positions_at_once(self) -> usize {
        match self {
            Kernel::F32 => 1,
            Kernel::Bf16(_) | Kernel::Int8(_) => GROUP,
        }
    }

    /// Tells whether this processor and system have it.
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            Kernel::F32 => true,
            Kernel::Bf16(unit) | Kernel::Int8(unit) => unit.is_available(),
        }
    }

    pub(crate) fn check_available(self) -> Result<(), Error> {
        if self.is_available() {
            return Ok(());
        }
        let known = Kernel::available().into_iter().map(Kernel::name).collect::<Vec<_>>().join(", ");
        let reason = "cannot be used: this processor or system lacks what it needs";
        Err(Error(format!("the kernel '{self}' {reason} (known here: {known})")))
    }

    /// Returns the kernels that this processor and system have, the most exact first.
    #[must_use]
    pub fn available() -> Vec<Kernel> {
        Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()).collect()
    }

    /// Returns the fastest kernel that needs no calibration.
    #[must_use]
    pub fn best() -> Kernel {
        let kernel = Kernel::Bf16(Unit::best());
        if kernel.is_available() { kernel } else { Kernel::F32 }
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Kernel {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = || Kernel::ALL.map(Kernel::name).join(", ");
        let found = Kernel::ALL.into_iter().find(|kernel| kernel.name() == text);
        found.ok_or_else(|| format!("unknown kernel '{text}' (known: {})", known()))
    }
}

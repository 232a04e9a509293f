//! The device that a user asks for.

use std::fmt;
use std::str::FromStr;

/// The device that a user asks for: `auto`, `cpu`, `cuda`, `cuda:N`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// The first GPU if there is one, otherwise the processor.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// The GPU with this number, from 0.
    Cuda(usize),
}

impl FromStr for DeviceChoice {
    type Err = UnknownDevice;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => Ok(DeviceChoice::Auto),
            "cpu" => Ok(DeviceChoice::Cpu),
            "cuda" => Ok(DeviceChoice::Cuda(0)),
            _ => text
                .strip_prefix("cuda:")
                .and_then(|number| number.parse().ok())
                .map(DeviceChoice::Cuda)
                .ok_or_else(|| UnknownDevice(text.to_owned())),
        }
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DeviceChoice::Auto => f.write_str("auto"),
            DeviceChoice::Cpu => f.write_str("cpu"),
            DeviceChoice::Cuda(number) => write!(f, "cuda:{number}"),
        }
    }
}

/// The text names no device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown device '{0}' (known: auto, cpu, cuda, cuda:N)")]
pub struct UnknownDevice(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_read_from_text() {
        for text in ["auto", "cpu", "cuda:0", "cuda:3"] {
            assert_eq!(text.parse::<DeviceChoice>().unwrap().to_string(), text);
        }
        assert_eq!("cuda".parse::<DeviceChoice>().unwrap(), DeviceChoice::Cuda(0));
        for text in ["", "gpu", "cuda:", "cuda:x", "cuda:-1"] {
            assert!(text.parse::<DeviceChoice>().unwrap_err().to_string().contains("cuda:N"), "{text}");
        }
    }
}

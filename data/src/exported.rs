//! Files for other programs: which formats there are, and what is read of such files without running them.

mod archive;
pub mod onnx;

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde_json::Value;

use crate::error::Error;
use crate::tensor_file::{TensorFile, TensorFileHeader, WEIGHTS};

/// Name of the description within a file.
pub const DESCRIPTION: &str = "description";

/// A format of exported files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExportFormat {
    /// For `torch.jit.load` in Python and `torch::jit::load` in C++; the description is the extra file
    /// `meta.json`.
    TorchScript,
    /// For onnxruntime and whatever else reads ONNX, operators in version 17; the description is among the
    /// metadata.
    Onnx,
    /// The weights for play, by name, with the description in the metadata.
    Safetensors,
    /// The same for `numpy.load`; the description is the array of that name, UTF-8.
    Npz,
}

impl ExportFormat {
    /// Every format.
    pub const ALL: [ExportFormat; 4] =
        [ExportFormat::TorchScript, ExportFormat::Onnx, ExportFormat::Safetensors, ExportFormat::Npz];

    /// Returns the usual ending of such a file, without the first dot.
    #[must_use]
    pub const fn extension(self) -> &'static str {
        match self {
            ExportFormat::TorchScript => "pt",
            ExportFormat::Onnx => "onnx",
            // The model itself is a safetensors file too.
            ExportFormat::Safetensors => "weights.safetensors",
            ExportFormat::Npz => "weights.npz",
        }
    }
}

impl fmt::Display for ExportFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ExportFormat::TorchScript => "torchscript",
            ExportFormat::Onnx => "onnx",
            ExportFormat::Safetensors => "safetensors",
            ExportFormat::Npz => "npz",
        })
    }
}

impl FromStr for ExportFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = ExportFormat::ALL.into_iter().find(|format| format.to_string() == text);
        known.ok_or_else(|| {
            let names: Vec<String> = ExportFormat::ALL.iter().map(ToString::to_string).collect();
            format!("unknown format '{text}' (known: {})", names.join(", "))
        })
    }
}

/// Reads the description that stands in an exported file; `verify` reads the rest of the file too and checks what can be
/// checked: the checksums of TorchScript and npz, that the weights of ONNX and safetensors are finite numbers of the
/// announced shapes.
///
/// # Errors
/// What is wrong with the file: cut off, damaged, of another version, without a description.
pub fn read_exported(format: ExportFormat, path: &Path, verify: bool) -> Result<Value, Error> {
    let broken = |reason: String| Error::of_file(path, reason);
    let text = match format {
        ExportFormat::TorchScript => archive::text(path, "extra/meta.json", verify).map_err(broken)?,
        ExportFormat::Npz => archive::array_text(path, DESCRIPTION, verify).map_err(broken)?,
        ExportFormat::Onnx => onnx::description(path, DESCRIPTION, verify).map_err(broken)?,
        ExportFormat::Safetensors => {
            if verify {
                TensorFile::read(path, WEIGHTS)?;
            }
            let mut header = TensorFileHeader::read(path)?;
            header.metadata.remove(DESCRIPTION).unwrap_or_default()
        }
    };
    serde_json::from_str(&text).map_err(|error| broken(format!("its description is missing or unreadable: {error}")))
}

/// Reads an archive with positions and the network's answers to them to its end, whose checksums tell whether it is whole.
pub fn verify_check_data(path: &Path) -> Result<(), Error> {
    archive::verify(path).map_err(|reason| Error::of_file(path, reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_read_from_text() {
        assert_eq!("torchscript".parse(), Ok(ExportFormat::TorchScript));
        assert_eq!("npz".parse(), Ok(ExportFormat::Npz));
        assert!("onnxx".parse::<ExportFormat>().unwrap_err().contains("safetensors"));
    }
}

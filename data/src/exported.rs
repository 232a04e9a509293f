//! Files for other programs: which formats there are, and what is read of such files without running them.

mod archive;
pub mod onnx;

use std::path::Path;

use latrunculi_engine::named;
use serde_json::Value;

use crate::error::Error;
use crate::tensor_file::{TensorFile, TensorFileHeader, WEIGHTS};

/// Name of the description within a file.
pub const DESCRIPTION: &str = "description";

named! {
    /// A format of exported files.
    pub ExportFormat as "format" {
        /// For `torch.jit.load` in Python and `torch::jit::load` in C++; the description is the extra file
        /// `meta.json`.
        TorchScript = "torchscript",
        /// For onnxruntime and whatever else reads ONNX, operators in version 17; the description is among the
        /// metadata.
        Onnx = "onnx",
        /// The weights for play, by name, with the description in the metadata.
        Safetensors = "safetensors",
        /// The same for `numpy.load`; the description is the array of that name, UTF-8.
        Npz = "npz",
    }
}

impl ExportFormat {
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

/// Reads the description that stands in an exported file; `verify` reads the rest of the file too and checks what can be
/// checked: the checksums of TorchScript and npz, that the weights of ONNX and safetensors are finite numbers of the
/// announced shapes.
/// Error: what is wrong with the file: cut off, damaged, of another version, without a description.
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

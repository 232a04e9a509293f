//! `export`: a model in the formats of other programs.

use std::path::PathBuf;

use clap::Args;
use latrunculi_data::ExportFormat;

/// Arguments of `export`
#[derive(Args)]
pub struct ExportArgs {
    /// A model file, or the folder of a run
    pub model: PathBuf,
    /// Formats, comma separated: torchscript, onnx, safetensors, npz
    #[arg(long, value_delimiter = ',', default_value = "torchscript,onnx,safetensors,npz")]
    pub format: Vec<ExportFormat>,
    /// Folder to write to
    #[arg(long)]
    pub out: PathBuf,
    /// Also writes that many positions of games with the network's answers to them, for comparison elsewhere
    #[arg(long, value_name = "POSITIONS", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub check_data: Option<u32>,
    /// Replaces existing files
    #[arg(long, alias = "force")]
    pub overwrite: bool,
}

//! `export`: a model in the formats of other programs.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use latrunculi_model::{Device, ExportFormat};
use latrunculi_train::export::Exports;
use latrunculi_train::models::load_model;

#[derive(Args)]
pub(crate) struct ExportArgs {
    /// A model file, or the folder of a run
    model: PathBuf,
    /// Formats, comma separated: torchscript, onnx, safetensors, npz
    #[arg(long, value_delimiter = ',', default_value = "torchscript,onnx,safetensors,npz")]
    format: Vec<ExportFormat>,
    /// Folder to write to
    #[arg(long)]
    out: PathBuf,
    /// Also writes that many positions of games with the network's answers to them, for comparison elsewhere
    #[arg(long, value_name = "POSITIONS", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    check_data: Option<u32>,
    /// Replaces existing files
    #[arg(long, alias = "force")]
    overwrite: bool,
}

pub(crate) fn run(args: ExportArgs) -> anyhow::Result<()> {
    let (path, model) = load_model(&args.model, Device::CPU)?;
    std::fs::create_dir_all(&args.out).with_context(|| format!("cannot make the folder {}", args.out.display()))?;
    let name = path.file_stem().map_or_else(|| "model".into(), |stem| stem.to_string_lossy().into_owned());
    let exports = Exports {
        folder: args.out,
        name,
        formats: args.format,
        check_positions: args.check_data.map_or(0, |positions| positions as usize),
        overwrite: args.overwrite,
    };
    exports.write(&model, &mut |line| println!("{line}"))?;
    Ok(())
}

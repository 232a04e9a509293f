//! `export`: a model in the formats of other programs.

use anyhow::Context;
use latrunculi_cli::export::ExportArgs;
use latrunculi_learner::export::Exports;
use latrunculi_learner::play_network::load_model;
use latrunculi_model::Device;

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

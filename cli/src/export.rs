//! `export`: a model in the formats of other programs, each read back and compared before it counts.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use latrunculi_engine::encoding::{EncodedPosition, Shape};
use latrunculi_engine::{GameState, Rules, RulesetFile, presets};
use latrunculi_model::{Device, ExportFormat, ExportSample, Model};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Positions of random games on which an exported file is compared with the network.
const SAMPLE_POSITIONS: usize = 1000;

#[derive(Args)]
pub(crate) struct ExportArgs {
    /// A model file
    model: PathBuf,
    /// Formats, comma separated: torchscript, safetensors
    #[arg(long, value_delimiter = ',', default_value = "torchscript,safetensors", value_parser = parse_format)]
    format: Vec<ExportFormat>,
    /// Folder to write to
    #[arg(long)]
    out: PathBuf,
    /// Replaces files that are there
    #[arg(long)]
    overwrite: bool,
}

fn parse_format(text: &str) -> Result<ExportFormat, String> {
    match text {
        "torchscript" => Ok(ExportFormat::TorchScript),
        "safetensors" => Ok(ExportFormat::Safetensors),
        _ => Err(format!("{text:?} is not one of torchscript, safetensors")),
    }
}

pub(crate) fn run(args: ExportArgs) -> anyhow::Result<()> {
    let model = Model::load(&args.model, Device::CPU)?;
    let rules = rules_of(&model)?;
    std::fs::create_dir_all(&args.out).with_context(|| format!("cannot make the folder {}", args.out.display()))?;
    let name = args.model.file_stem().map_or_else(|| "model".into(), |stem| stem.to_string_lossy().into_owned());
    let (planes, scalars) = sample_positions(rules, SAMPLE_POSITIONS, 1);
    for format in args.format {
        let ending = match format {
            ExportFormat::TorchScript => "pt",
            ExportFormat::Safetensors => "weights.safetensors",
        };
        let path = args.out.join(format!("{name}.{ending}"));
        let sample = ExportSample { planes: &planes, scalars: &scalars };
        let report = model.export(format, &path, &sample, args.overwrite)?;
        println!(
            "{}: {} bytes, equal to the network on {} positions within {:.1e} (policy), {:.1e} (win, draw, loss)",
            path.display(),
            report.file_bytes,
            report.positions,
            report.policy_logits,
            report.win_draw_loss
        );
    }
    Ok(())
}

/// Returns the rules that a model's file carries.
pub(crate) fn rules_of(model: &Model) -> anyhow::Result<Rules> {
    let file = RulesetFile::parse(&model.info.ruleset_text, &presets::file, presets::NAMES)
        .context("the ruleset in the model file cannot be read")?;
    Ok(Rules::new(&file.ruleset)?)
}

/// Returns planes `[B, C, H, W]` and scalars `[B, S]` of positions of random games.
pub(crate) fn sample_positions(rules: Rules, count: usize, seed: u64) -> (Vec<f32>, Vec<f32>) {
    let shape = Shape::of(&rules);
    let rules = std::sync::Arc::new(rules);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let plane_len = shape.planes * shape.area();
    let (mut planes, mut scalars) = (vec![0.0; count * plane_len], Vec::with_capacity(count * shape.scalars));
    let mut state = GameState::new(std::sync::Arc::clone(&rules));
    let mut actions = Vec::new();
    for values in planes.chunks_exact_mut(plane_len) {
        state.legal_actions(&mut actions);
        if actions.is_empty() {
            state = GameState::new(std::sync::Arc::clone(&rules));
            state.legal_actions(&mut actions);
        }
        let encoded = EncodedPosition::new(&rules, state.position(), state.repetitions());
        encoded.write_planes(&shape, values);
        encoded.extend_scalars(&rules, &mut scalars);
        if let Some(&action) = actions.get(random.random_range(0..actions.len().max(1))) {
            state.play(action);
        }
    }
    (planes, scalars)
}
